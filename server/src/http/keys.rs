//! Routes of keys: whom one speaks for, and keys for trying out, which anybody may make where that is enabled.

use super::Service;
use super::auth::Caller;
use super::problem::{Code, Problem, json};
use crate::keys::{Grant, TEST_CALLS_MAX, TEST_MS, WORKSPACE_DEFAULT};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use leasebook::Millis;
use serde::Serialize;
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use utoipa::ToSchema;

/// How many test keys can be made in a minute.
pub const TEST_KEYS_MAX: usize = 20;
/// The time over which they are counted, in milliseconds: a minute.
pub const WINDOW_MS: u64 = 60_000;

/// A key for trying out.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TestKey {
    /// Always true.
    pub ok: bool,
    /// The key. It is shown this once.
    pub key: String,
    /// Whom it speaks for.
    pub actor_did: String,
    /// For how many calls it is good.
    pub calls: u64,
    /// Until when, in milliseconds of the Unix epoch.
    pub expires_at_ms: u64,
}

/// When the latest test keys were made.
#[derive(Debug, Default)]
pub(crate) struct Rate(Mutex<VecDeque<u64>>);

impl Rate {
    /// Counts one more, unless there were too many.
    fn admits(&self, now: Millis) -> bool {
        let mut made = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        while made.front().is_some_and(|at| at + WINDOW_MS <= now.get()) {
            made.pop_front();
        }
        let admits = made.len() < TEST_KEYS_MAX;
        if admits {
            made.push_back(now.get());
        }
        admits
    }
}

/// Whom a key speaks for.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OwnKey {
    /// Always true.
    pub ok: bool,
    /// The actor.
    pub actor_did: String,
    /// Its workspace.
    pub workspace: String,
}

/// Whom the key speaks for.
#[utoipa::path(
    get,
    path = "/api/v1/acp/keys/own",
    tag = "keys",
    responses(
        (status = 200, description = "whom", body = OwnKey),
        (status = 401, description = "the key is not good", body = Problem),
        (status = 429, description = "all calls of the key are used", body = Problem),
        (status = 503, description = "the keys cannot be read", body = Problem),
    ),
    security(("key" = []))
)]
pub(crate) async fn own(caller: Caller) -> Response {
    json(StatusCode::OK, &OwnKey { ok: true, actor_did: caller.actor, workspace: caller.workspace.to_string() })
}

/// Make a key for trying out: good for 35 calls in 7 days, without an account. Only where the service allows it.
#[utoipa::path(
    post,
    path = "/api/v1/acp/keys/test",
    tag = "keys",
    responses(
        (status = 200, description = "a key", body = TestKey),
        (status = 403, description = "a page of another site asks", body = Problem),
        (status = 404, description = "the service does not allow it", body = Problem),
        (status = 429, description = "too many were made in the last minute", body = Problem),
        (status = 503, description = "the store fails", body = Problem),
    )
)]
pub(crate) async fn make(State(service): State<Service>, headers: HeaderMap) -> Result<Response, Problem> {
    // It needs no key, so that a page of another site must not reach it by a name of its own.
    service.sites.check(&headers)?;
    if !service.test_keys {
        return Err(Problem::new(Code::NotFound, "test keys are not enabled on this service"));
    }
    let now = service.clock.now();
    if !service.rate.admits(now) {
        let message = format!("{TEST_KEYS_MAX} test keys were made in the last minute, and no more may be");
        return Err(Problem::new(Code::LimitExceeded, message));
    }
    let unavailable = || Problem::new(Code::Unavailable, "the store failed, and no key was made");
    let mut random = [0; 8];
    getrandom::fill(&mut random).map_err(|_| unavailable())?;
    let actor_did = format!("did:web:playground.invalid:{}", crate::keys::hex(&random));
    let expires_at_ms = now.get() + TEST_MS;
    let grant = Grant {
        workspace: WORKSPACE_DEFAULT.into(),
        actor: actor_did.clone(),
        expires_ms: Some(expires_at_ms),
        calls_max: Some(TEST_CALLS_MAX),
    };
    let keys = service.keys.clone();
    let made = tokio::task::spawn_blocking(move || keys.create(&grant, now.get())).await.map_err(|_| unavailable())?;
    let key = made.map_err(|error| {
        tracing::error!(%error, "a test key cannot be made");
        unavailable()
    })?;
    let calls = TEST_CALLS_MAX;
    Ok(json(StatusCode::OK, &TestKey { ok: true, key: key.reveal(), actor_did, calls, expires_at_ms }))
}
