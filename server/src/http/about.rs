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
}

/// Whether the service is there at all.
#[utoipa::path(get, path = "/healthz", tag = "service", responses((status = 200, description = "it is", body = Health)))]
pub(crate) async fn live() -> Response {
    json(StatusCode::OK, &Health { ok: true, store: None })
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
    json(status, &Health { ok: store.is_none(), store })
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
