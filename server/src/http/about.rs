//! Routes about the service itself: whether it works, what it counts, what it can be asked.

use super::Service;
use super::problem::{Code, Problem, json};
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

/// How the service does.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Health {
    /// It can grant leases.
    pub ok: bool,
    /// Why it cannot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub store: Option<String>,
    /// How the ledger does: an outage of it stops no lease.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ledger: Option<LedgerHealth>,
}

/// How the ledger does.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LedgerHealth {
    /// It is written.
    pub ok: bool,
    /// Why it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Since when it is not, in milliseconds of the Unix epoch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since_ms: Option<u64>,
    /// How many events wait for it, as far as that is known.
    pub pending: u64,
}

/// Whether the service is there at all.
#[utoipa::path(get, path = "/healthz", tag = "service", responses((status = 200, description = "it is", body = Health)))]
pub(crate) async fn live() -> Response {
    json(StatusCode::OK, &Health { ok: true, store: None, ledger: None })
}

/// Whether the service can grant leases.
#[utoipa::path(
    get,
    path = "/readyz",
    tag = "service",
    responses(
        (status = 200, description = "it can", body = Health),
        (status = 503, description = "it cannot: the store fails, or the service is shutting down", body = Health),
    )
)]
pub(crate) async fn ready(State(service): State<Service>) -> Response {
    let ending = *service.ending.borrow();
    let store = if ending { Some("the service is shutting down".into()) } else { service.handle.health().failing };
    let status = if store.is_none() { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let found = service.ledger.health();
    let ledger =
        LedgerHealth { ok: found.is_ok(), error: found.error, since_ms: found.since_ms, pending: found.pending };
    json(status, &Health { ok: store.is_none(), store, ledger: Some(ledger) })
}

/// The public keys of receipts, as a JWK set. Keys that sign no more stay in it.
#[utoipa::path(
    get,
    path = "/.well-known/jwks.json",
    tag = "service",
    responses(
        (status = 200, description = "the keys", body = serde_json::Value),
        (status = 404, description = "this service signs no receipts", body = Problem),
    )
)]
pub(crate) async fn jwks(State(service): State<Service>) -> Result<Response, Problem> {
    let Some(signing) = service.signing else {
        return Err(Problem::new(Code::NotFound, "this service signs no receipts"));
    };
    let shown = tokio::task::spawn_blocking(move || signing.refresh().map(|()| signing.jwks().to_json())).await;
    match shown {
        Ok(Ok(keys)) => Ok(json(StatusCode::OK, &keys)),
        _ => Err(Problem::new(Code::Unavailable, "the keys cannot be read")),
    }
}

/// The OpenAPI document of this service.
pub(crate) async fn openapi() -> Response {
    json(StatusCode::OK, &super::document())
}

/// What the service counts, for Prometheus.
pub(crate) async fn metrics(State(service): State<Service>) -> Response {
    match service.metrics.text(&service) {
        Ok(text) => {
            let kind = HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");
            ([(header::CONTENT_TYPE, kind)], text).into_response()
        }
        Err(_) => Problem::new(Code::Unavailable, "the metrics cannot be written").into_response(),
    }
}

pub(crate) async fn not_found() -> Problem {
    Problem::new(Code::NotFound, "there is no such route; GET /api/v1/openapi.json lists them")
}

pub(crate) async fn method_not_allowed() -> Problem {
    Problem::new(Code::MethodNotAllowed, "the route does not know this method; GET /api/v1/openapi.json lists them")
}
