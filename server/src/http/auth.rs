//! Who asks: the bearer of a key.

use super::Service;
use super::problem::{Code, Problem};
use crate::keys::{Denied, Key};
use axum::extract::FromRequestParts;
use axum::http::header;
use axum::http::request::Parts;
use std::sync::Arc;

/// Whoever a key speaks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// In which workspace.
    pub workspace: Arc<str>,
    /// In whose name.
    pub actor: String,
}

impl Caller {
    /// A key names only its own actor.
    pub(crate) fn is(&self, actor_did: &str) -> Result<(), Problem> {
        if self.actor == actor_did {
            return Ok(());
        }
        let message = format!("the key belongs to {}; it cannot speak for another actor", self.actor);
        Err(Problem { field: Some("actorDid".into()), ..Problem::new(Code::WrongActor, message) })
    }
}

impl FromRequestParts<Service> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, service: &Service) -> Result<Self, Problem> {
        let value = parts.headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        service.caller(value).await
    }
}

impl Service {
    /// Who the bearer of an authorization header is.
    pub(crate) async fn caller(&self, authorization: Option<&str>) -> Result<Caller, Problem> {
        let unauthorized = |message: &str| Problem::new(Code::Unauthorized, message);
        let (scheme, text) = authorization
            .and_then(|value| value.split_once(' '))
            .ok_or_else(|| unauthorized("expected the header authorization: Bearer <key>"))?;
        if !scheme.eq_ignore_ascii_case("bearer") {
            return Err(unauthorized("expected the header authorization: Bearer <key>"));
        }
        let key: Key = text.trim().parse().map_err(|error| unauthorized(&format!("{error}")))?;
        let now_ms = self.clock.now().get();
        let found = match self.keys.known(&key, now_ms) {
            Some(found) => found,
            None => {
                let keys = Arc::clone(&self.keys);
                let looked = tokio::task::spawn_blocking(move || keys.look_up(&key, now_ms)).await;
                looked.map_err(|_| Problem::new(Code::Unavailable, "the keys cannot be read"))?
            }
        };
        match found {
            Ok(grant) => Ok(Caller { workspace: grant.workspace.into(), actor: grant.actor }),
            Err(Denied::Store(error)) => {
                tracing::error!(%error, "the keys cannot be read");
                Err(Problem::new(Code::Unavailable, "the keys cannot be read; nothing was granted"))
            }
            Err(denied @ Denied::Used { .. }) => Err(Problem::new(Code::QuotaExhausted, denied.to_string())),
            Err(denied) => Err(unauthorized(&denied.to_string())),
        }
    }
}
