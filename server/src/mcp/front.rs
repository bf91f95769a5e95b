//! Where tools get their answers: from the service they run in, or from another one.

use super::tools::Tools;
use crate::client::{Answered, Client, ClientError};
use crate::http::{Caller, LEASE_FIELDS, LeaseRequest, Problem, RELEASE_FIELDS, ReleaseRequest, Sent, Service};
use rmcp::model::Extensions;
use rmcp::{ServiceExt as _, transport};
use serde_json::{Value, json};
use std::future::Future;
use std::io;
use tokio::io::{AsyncRead, AsyncWrite};

/// Which tool is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Call {
    Acquire,
    Release,
    Wait,
}

/// Who answers calls.
pub(super) trait Front: Clone + Send + Sync + 'static {
    /// Answers a call. `about`: what is known of the request that brought it.
    fn answer(&self, call: Call, fields: Value, about: &Extensions) -> impl Future<Output = Answered> + Send;
}

/// The service that the tools run in.
impl Front for Service {
    async fn answer(&self, call: Call, fields: Value, about: &Extensions) -> Answered {
        let parts = about.get::<axum::http::request::Parts>();
        let Some(caller) = parts.and_then(|parts| parts.extensions.get::<Caller>()).cloned() else {
            // The routes of MCP let nobody through without a key.
            return ClientError::Stranger { server: "the route of MCP".into(), status: 401 }.answered();
        };
        match here(self, &caller, call, fields).await {
            Ok(answered) => answered,
            Err(problem) => Answered {
                status: problem.error.status().as_u16(),
                body: serde_json::to_value(&problem).unwrap_or_default(),
            },
        }
    }
}

async fn here(service: &Service, caller: &Caller, call: Call, fields: Value) -> Result<Answered, Problem> {
    let sent = Sent(fields.to_string().into());
    let outcome = match call {
        Call::Acquire => service.lease(caller, sent.read::<LeaseRequest>(&LEASE_FIELDS)?).await?,
        Call::Release => service.release(caller, sent.read::<ReleaseRequest>(&RELEASE_FIELDS)?).await?,
        Call::Wait => {
            nothing(&fields)?;
            let body = serde_json::to_value(service.waiting(caller).await?).unwrap_or_default();
            return Ok(Answered { status: 200, body });
        }
    };
    let body = service.with_receipt(caller, &fields, outcome.fields());
    Ok(Answered { status: outcome.status().as_u16(), body })
}

/// Refuses the fields of a call that has none.
fn nothing(fields: &Value) -> Result<(), Problem> {
    match fields.as_object().and_then(|fields| fields.keys().next()) {
        None => Ok(()),
        Some(name) => Err(Problem::unknown_field(name, &[])),
    }
}

/// A service elsewhere.
impl Front for Client {
    async fn answer(&self, call: Call, fields: Value, _: &Extensions) -> Answered {
        let answered = match call {
            Call::Acquire => self.lease(&fields).await,
            Call::Release => self.release(&fields).await,
            Call::Wait => match nothing(&fields) {
                Ok(()) => self.wait().await,
                Err(problem) => {
                    let body = json!({ "ok": false, "error": problem.error, "message": problem.message, "field": problem.field });
                    Ok(Answered { status: 400, body })
                }
            },
        };
        answered.unwrap_or_else(|error| error.answered())
    }
}

/// Offers the tools of a service elsewhere over the standard streams of this process, until their other end is closed.
pub async fn stdio(client: Client) -> io::Result<()> {
    let (input, output) = transport::stdio();
    over(client, input, output).await
}

/// Offers the tools of a service elsewhere over two streams of lines, until the first is closed.
pub async fn over<I, O>(client: Client, input: I, output: O) -> io::Result<()>
where
    I: AsyncRead + Send + Unpin + 'static,
    O: AsyncWrite + Send + Unpin + 'static,
{
    let running = Tools::new(client).serve((input, output)).await.map_err(io::Error::other)?;
    running.waiting().await.map_err(io::Error::other)?;
    Ok(())
}
