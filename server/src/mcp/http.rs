//! The tools over streamable HTTP.

use super::tools::Tools;
use crate::http::{Caller, Code, Problem, Service};
use axum::Router;
use axum::extract::{Request, State};
use axum::http::HeaderMap;
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The most sessions at one time.
pub const SESSIONS_MAX: usize = 1_024;
/// How long a session may be idle before it ends.
const IDLE: Duration = Duration::from_secs(300);
/// How long a client may take between the making of a session and its first request.
const FIRST: Duration = Duration::from_secs(15);

/// The route of MCP. Whoever asks has a key, as on every other route.
pub(crate) fn routes(service: &Service, ending: CancellationToken) -> Router<Service> {
    let mut sessions = LocalSessionManager::default();
    sessions.session_config.keep_alive = Some(IDLE);
    sessions.session_config.init_timeout = Some(FIRST);
    let sessions = Arc::new(sessions);
    let config = StreamableHttpServerConfig::default()
        .with_max_request_body_bytes(crate::http::BODY_BYTES_MAX)
        // The guard checks both.
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_cancellation_token(ending);
    let tools = Tools::new(service.clone());
    let mcp = StreamableHttpService::new(move || Ok(tools.clone()), Arc::clone(&sessions), config);
    let guard = Guard { service: service.clone(), sessions };
    Router::new().route_service("/mcp", mcp).layer(from_fn_with_state(guard, guarded))
}

#[derive(Clone)]
struct Guard {
    service: Service,
    sessions: Arc<LocalSessionManager>,
}

async fn guarded(State(guard): State<Guard>, mut request: Request, next: Next) -> Response {
    match guard.admit(request.headers().clone()).await {
        Ok(caller) => {
            request.extensions_mut().insert(caller);
            next.run(request).await
        }
        Err(problem) => problem.into_response(),
    }
}

impl Guard {
    async fn admit(&self, headers: HeaderMap) -> Result<Caller, Problem> {
        self.service.sites.check(&headers)?;
        let value = headers.get(axum::http::header::AUTHORIZATION);
        let caller = self.service.caller(value.and_then(|value| value.to_str().ok())).await?;
        let makes_one = !headers.contains_key("mcp-session-id");
        if makes_one && self.sessions.sessions.read().await.len() >= SESSIONS_MAX {
            return Err(Problem::new(Code::Unavailable, "too many sessions are open; nothing was granted"));
        }
        Ok(caller)
    }
}
