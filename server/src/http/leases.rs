//! The routes of leases: ask, give back, look.

use super::Service;
use super::answer::{Granted, Lease, Leases, Refused, Released, Trusted, Waiting};
use super::ask::{LEASE_FIELDS, LeaseRequest, RELEASE_FIELDS, ReleaseRequest, resources};
use super::auth::Caller;
use super::body::Sent;
use super::problem::{Code, Problem, json};
use crate::driver::{Ask, Unavailable};
use crate::receipts;
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use leasebook::Period;
use leasebook::coordination::{Answer, Given, Giving, LeaseId};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

impl From<Unavailable> for Problem {
    fn from(unavailable: Unavailable) -> Self {
        Self::new(Code::Unavailable, unavailable.to_string())
    }
}

/// What a request was answered, before it is written.
pub(crate) enum Outcome {
    Granted(Granted),
    Released(Released),
    Refused(Box<Refused>),
}

impl Outcome {
    pub(crate) fn status(&self) -> StatusCode {
        match self {
            Self::Granted(_) | Self::Released(_) => StatusCode::OK,
            Self::Refused(refused) => refused.error.status(),
        }
    }

    pub(crate) fn fields(&self) -> Value {
        let fields = match self {
            Self::Granted(granted) => serde_json::to_value(granted),
            Self::Released(released) => serde_json::to_value(released),
            Self::Refused(refused) => serde_json::to_value(refused),
        };
        match fields {
            Ok(fields) => fields,
            // Only a map with keys that are no texts fails.
            Err(error) => unreachable!("an answer is not JSON: {error}"),
        }
    }
}

/// Ask for a lease on one resource or several: all of them, or none.
///
/// A refusal says who is in the way and when to ask again; it takes a place in the queue, which is kept for the hint
/// and 2 seconds. With `waitMs` the request waits, and is granted in queue order.
#[utoipa::path(
    post,
    path = "/api/v1/acp/coordination/lease",
    tag = "leases",
    request_body = LeaseRequest,
    responses(
        (status = 200, description = "granted", body = Granted),
        (status = 400, description = "a field is not usable", body = Problem),
        (status = 401, description = "the key is not good", body = Problem),
        (status = 403, description = "the key belongs to another actor", body = Problem),
        (status = 408, description = "the body was too slow", body = Problem),
        (status = 409, description = "somebody is in the way", body = Refused),
        (status = 413, description = "the body is too large", body = Problem),
        (status = 415, description = "the body is no JSON", body = Problem),
        (status = 429, description = "a bound is reached", body = Refused),
        (status = 503, description = "the authority cannot be reached; nothing was granted", body = Problem),
    ),
    security(("key" = []))
)]
pub(crate) async fn lease(State(service): State<Service>, caller: Caller, sent: Sent) -> Result<Response, Problem> {
    let request: LeaseRequest = sent.read(&LEASE_FIELDS)?;
    let outcome = service.lease(&caller, request).await?;
    Ok(service.write(&caller, &sent.0, &outcome))
}

/// Give a lease back, whole or in part.
#[utoipa::path(
    post,
    path = "/api/v1/acp/coordination/release",
    tag = "leases",
    request_body = ReleaseRequest,
    responses(
        (status = 200, description = "given back", body = Released),
        (status = 400, description = "a field is not usable", body = Problem),
        (status = 401, description = "the key is not good", body = Problem),
        (status = 403, description = "the key belongs to another actor", body = Problem),
        (status = 408, description = "the body was too slow", body = Problem),
        (status = 409, description = "the lease is over, or the resource is not held", body = Refused),
        (status = 413, description = "the body is too large", body = Problem),
        (status = 415, description = "the body is no JSON", body = Problem),
        (status = 429, description = "all calls of the key are used", body = Problem),
        (status = 503, description = "the authority cannot be reached; nothing was released", body = Problem),
    ),
    security(("key" = []))
)]
pub(crate) async fn release(State(service): State<Service>, caller: Caller, sent: Sent) -> Result<Response, Problem> {
    let request: ReleaseRequest = sent.read(&RELEASE_FIELDS)?;
    let outcome = service.release(&caller, request).await?;
    Ok(service.write(&caller, &sent.0, &outcome))
}

/// Who waits for what, and what was refused as a deadlock.
#[utoipa::path(
    get,
    path = "/api/v1/acp/coordination/wait",
    tag = "leases",
    responses(
        (status = 200, description = "the queues", body = Waiting),
        (status = 401, description = "the key is not good", body = Problem),
        (status = 429, description = "all calls of the key are used", body = Problem),
        (status = 503, description = "the authority cannot be reached", body = Problem),
    ),
    security(("key" = []))
)]
pub(crate) async fn wait(State(service): State<Service>, caller: Caller) -> Result<Response, Problem> {
    service.waiting(&caller).await.map(|waiting| json(StatusCode::OK, &waiting))
}

/// Who holds what.
#[utoipa::path(
    get,
    path = "/api/v1/acp/coordination/leases",
    tag = "leases",
    responses(
        (status = 200, description = "the standing leases", body = Leases),
        (status = 401, description = "the key is not good", body = Problem),
        (status = 429, description = "all calls of the key are used", body = Problem),
        (status = 503, description = "the authority cannot be reached", body = Problem),
    ),
    security(("key" = []))
)]
pub(crate) async fn leases(State(service): State<Service>, caller: Caller) -> Result<Response, Problem> {
    let look = service.handle.with(&caller.workspace, |authority, now| Leases {
        ok: true,
        now_ms: now.get(),
        leases: authority.leases(now).iter().map(Lease::from).collect(),
    });
    Ok(json(StatusCode::OK, &look.await?))
}

/// The score of an actor of the workspace.
#[utoipa::path(
    get,
    path = "/api/v1/acp/coordination/trust/{did}",
    tag = "leases",
    params(("did" = String, Path, description = "the actor", example = "did:web:agent-a.example")),
    responses(
        (status = 200, description = "the score", body = Trusted),
        (status = 401, description = "the key is not good", body = Problem),
        (status = 429, description = "all calls of the key are used", body = Problem),
        (status = 503, description = "the authority cannot be reached", body = Problem),
    ),
    security(("key" = []))
)]
pub(crate) async fn trust(
    State(service): State<Service>,
    caller: Caller,
    Path(did): Path<String>,
) -> Result<Response, Problem> {
    let actor = did.clone();
    let score = service.handle.with(&caller.workspace, move |authority, _| authority.trust(&actor).score()).await?;
    Ok(json(StatusCode::OK, &Trusted { ok: true, actor_did: did, score }))
}

impl Service {
    /// What a request for leases is answered, whichever way it came.
    pub(crate) async fn lease(&self, caller: &Caller, request: LeaseRequest) -> Result<Outcome, Problem> {
        caller.is(&request.actor_did)?;
        let waits = request.wait_ms.is_some_and(|wait_ms| wait_ms > 0.0);
        // Held as long as the request waits.
        let _poll = match waits.then(|| self.polls.try_acquire()) {
            Some(Err(_)) => {
                return Err(Problem::new(Code::Unavailable, "too many requests wait already; nothing was granted"));
            }
            Some(Ok(poll)) => Some(poll),
            None => None,
        };
        let body = digest(&request);
        let ask = Ask {
            workspace: caller.workspace.clone(),
            actor: request.actor_did,
            resources: resources(request.resource, request.resources)?,
            mode: request.mode.map(Into::into).unwrap_or_default(),
            ttl: request.ttl_ms.map(Period::from),
            wait: request.wait_ms.map(Period::from),
            idempotency: request.idempotency_key.map(|key| (key, body)),
        };
        match self.handle.ask(ask).await? {
            Answer::Granted(grant) => Ok(Outcome::Granted((&grant).into())),
            Answer::Refused(refused) => Ok(Outcome::Refused(Box::new(Refused::new(&refused)))),
            Answer::Parked => Err(Unavailable("the request was parked and not answered".into()).into()),
        }
    }

    /// What a release is answered, whichever way it came.
    pub(crate) async fn release(&self, caller: &Caller, request: ReleaseRequest) -> Result<Outcome, Problem> {
        caller.is(&request.actor_did)?;
        let read = |text: &str| text.parse::<LeaseId>().map_err(|error| Problem::field("leaseId", error.to_string()));
        let lease_id = request.lease_id.as_deref().map(read).transpose()?;
        let resources = resources(request.resource, request.resources)?;
        let actor = request.actor_did;
        let given = self.handle.with(&caller.workspace, move |authority, now| {
            let resources: Vec<&str> = resources.iter().map(String::as_str).collect();
            authority.release(now, &Giving { actor: &actor, resources: &resources, lease_id })
        });
        let given: Result<Given, _> = given.await?;
        Ok(match given {
            Ok(given) => Outcome::Released((&given).into()),
            Err(refused) => Outcome::Refused(Box::new(Refused::new(&refused))),
        })
    }

    /// The queues of a workspace.
    pub(crate) async fn waiting(&self, caller: &Caller) -> Result<Waiting, Problem> {
        let look = self
            .handle
            .with(&caller.workspace, |authority, now| Waiting::new(&authority.queue(now), &authority.deadlocks(now)));
        Ok(look.await?)
    }

    /// Writes an answer, with its receipt.
    fn write(&self, caller: &Caller, sent: &[u8], outcome: &Outcome) -> Response {
        let request = serde_json::from_slice(sent).unwrap_or_default();
        let fields = self.with_receipt(caller, &request, outcome.fields());
        let mut response = json(outcome.status(), &fields).into_response();
        if let Outcome::Refused(refused) = outcome
            && let Some(seconds) = refused.retry_after_s()
        {
            response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
        }
        response
    }

    /// An answer with a receipt of it, where this service signs receipts.
    pub(crate) fn with_receipt(&self, caller: &Caller, request: &Value, mut outcome: Value) -> Value {
        let Some(signing) = &self.signing else { return outcome };
        let signed = receipts::request_digest(request).and_then(|request| {
            signing.sign(&receipts::Outcome {
                actor: caller.actor.clone(),
                at_ms: self.clock.now().get(),
                outcome: outcome.clone(),
                request,
                workspace: caller.workspace.to_string(),
            })
        });
        match signed {
            Ok(receipt) => outcome["receipt"] = receipt.into(),
            // The answer stands without it.
            Err(error) => tracing::error!(%error, "an answer cannot be signed"),
        }
        outcome
    }
}

/// What makes two requests under one idempotency key the same: everything but the key.
fn digest(request: &LeaseRequest) -> [u8; 32] {
    let LeaseRequest { resource, resources, actor_did, ttl_ms, mode, wait_ms, idempotency_key: _ } = request;
    Sha256::digest(format!("{:?}", (resource, resources, actor_did, ttl_ms, mode, wait_ms))).into()
}
