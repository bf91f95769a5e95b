//! REST: what is asked over HTTP, and how it is answered.

mod about;
mod answer;
mod ask;
mod auth;
mod body;
mod connections;
mod keys;
mod leases;
mod problem;
mod sites;
mod watch;

pub use answer::{
    Conflict, Deadlocked, Granted, Lease, Leases, Queue, Refused, Released, Stampede, Trusted, Waiter, Waiting, Waits,
    WaitsFor,
};
pub use ask::{LEASE_FIELDS, LeaseRequest, Mode, RELEASE_FIELDS, ReleaseRequest};
pub use auth::Caller;
pub use body::{BODY_BYTES_MAX, Sent};
pub use connections::{CONNECTIONS_MAX, HEAD, HEAD_BYTES_MAX, HEADERS_MAX, SHUTDOWN};
pub use keys::{TEST_KEYS_MAX, TestKey};
pub use problem::{CODES, Code, Problem};
pub use sites::Sites;
pub use watch::WATCHERS_MAX;

pub(crate) use connections::serve;

use crate::clock::Clock;
use crate::driver::{Handle, Health};
use crate::feed::Feeds;
use crate::keys::KeyRing;
use crate::ledger::Ledger;
use crate::metrics::Metrics;
use crate::receipts::SigningKeys;
use axum::Router;
use axum::extract::{MatchedPath, Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use axum::routing::{get, post};
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::{Semaphore, watch as channel};
use tokio_util::sync::CancellationToken;
use utoipa::OpenApi;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};

/// What the routes work with. Cheap to clone.
#[derive(Clone)]
pub struct Service {
    pub(crate) handle: Handle,
    pub(crate) keys: Arc<KeyRing>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) feeds: Arc<Feeds>,
    /// The keys that sign receipts; `None`: answers have none.
    pub(crate) signing: Option<Arc<SigningKeys>>,
    pub(crate) ledger: Arc<Ledger>,
    pub(crate) sites: Arc<Sites>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) polls: Arc<Semaphore>,
    pub(crate) polls_max: usize,
    pub(crate) watchers: Arc<Semaphore>,
    pub(crate) test_keys: bool,
    pub(crate) rate: Arc<keys::Rate>,
    /// True from the moment that the service is to end.
    pub(crate) ending: channel::Receiver<bool>,
}

impl Service {
    pub(crate) fn driver_health(&self) -> Health {
        self.handle.health()
    }

    /// How many requests wait, and how many watch.
    pub(crate) fn busy(&self) -> (usize, usize) {
        let polls = self.polls_max.saturating_sub(self.polls.available_permits());
        (polls, WATCHERS_MAX.saturating_sub(self.watchers.available_permits()))
    }
}

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Leasebook",
        description = "Who may write what, until when, and why not: leases on named resources for agents.",
        license(name = "MIT OR Apache-2.0")
    ),
    paths(
        leases::lease,
        leases::release,
        leases::wait,
        leases::leases,
        leases::trust,
        watch::events,
        keys::own,
        keys::make,
        about::live,
        about::ready,
        about::jwks,
    ),
    modifiers(&Bearer)
)]
struct Document;

struct Bearer;

impl utoipa::Modify for Bearer {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let bearer = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build();
        document.components.get_or_insert_default().add_security_scheme("key", SecurityScheme::Http(bearer));
    }
}

/// The OpenAPI document of a service.
pub fn document() -> utoipa::openapi::OpenApi {
    let mut document = Document::openapi();
    document.info.version = env!("CARGO_PKG_VERSION").into();
    document
}

/// The routes of a service.
pub(crate) fn router(service: Service, ending: CancellationToken) -> Router {
    let api = Router::new()
        .route("/api/v1/acp/coordination/lease", post(leases::lease))
        .route("/api/v1/acp/coordination/release", post(leases::release))
        .route("/api/v1/acp/coordination/wait", get(leases::wait))
        .route("/api/v1/acp/coordination/leases", get(leases::leases))
        .route("/api/v1/acp/coordination/trust/{did}", get(leases::trust))
        .route("/api/v1/acp/coordination/events", get(watch::events))
        .route("/api/v1/acp/keys/own", get(keys::own))
        .route("/api/v1/acp/keys/test", post(keys::make))
        .route("/api/v1/openapi.json", get(about::openapi))
        .route("/.well-known/jwks.json", get(about::jwks))
        .route("/healthz", get(about::live))
        .route("/readyz", get(about::ready))
        .route("/metrics", get(about::metrics))
        .fallback(about::not_found)
        .method_not_allowed_fallback(about::method_not_allowed);
    let api = api.merge(crate::mcp::routes(&service, ending));
    api.layer(from_fn_with_state(service.clone(), counted)).with_state(service)
}

/// Counts and logs every answer.
async fn counted(State(service): State<Service>, request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>().map_or("none", MatchedPath::as_str).to_owned();
    let (method, start) = (request.method().clone(), Instant::now());
    let response = next.run(request).await;
    let (status, seconds) = (response.status().as_u16(), start.elapsed().as_secs_f64());
    service.metrics.answered(&route, status, seconds);
    tracing::info!(%method, route, status, ms = seconds * 1_000.0, "answered");
    response
}
