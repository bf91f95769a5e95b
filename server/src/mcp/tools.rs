//! The tools, as a model sees them.

use super::front::{Call, Front};
use crate::client::Answered;
use crate::http::{LeaseRequest, ReleaseRequest};
use rmcp::model::{
    CallToolRequestMethod, CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    JsonObject, ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, ServerCapabilities, ServerConfig,
    Tool, ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use utoipa::PartialSchema;

/// How often a call that waits says so, where it was asked to.
const PROGRESS: Duration = Duration::from_secs(5);

const INSTRUCTIONS: &str = "\
Before you change a shared resource, call coordination.lease.acquire for it; release it as soon as you are done.
- Granted: yours until expiresAtMs. Ask again for the same to extend it. Ask for all that you need in one call.
- lease_held or queued: another has it. You have a place in the queue; stay away stampede.waitMs and ask again, or ask
  with waitMs (at most 60000) and the call waits. Do something else meanwhile.
- deadlock: the holder waits for what you hold. Release what you hold, then ask for the whole set in one call.
- A lease that runs out before you release it is taken from you: stop writing then.";

/// The names of the tools, with what each is.
const CALLS: [(Call, &str, &str); 3] = [
    (
        Call::Acquire,
        "coordination.lease.acquire",
        "Ask for a lease on one resource or several: all of them, or none. A refusal says who holds what, for how long, and when to ask again.",
    ),
    (
        Call::Release,
        "coordination.lease.release",
        "Give a lease back, by its resources, by its leaseId, or both. An obsolete leaseId is refused.",
    ),
    (
        Call::Wait,
        "coordination.wait",
        "See who waits for what, and which requests were refused as deadlocks in the last 10 minutes.",
    ),
];

/// The tools, with whoever answers them.
#[derive(Clone)]
pub(super) struct Tools<F> {
    front: F,
}

impl<F: Front> Tools<F> {
    pub(super) fn new(front: F) -> Self {
        Self { front }
    }
}

impl<F: Front> ServerHandler for Tools<F> {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("leasebook", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(CALLS.iter().map(|(call, name, said)| tool(*call, name, said)).collect()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        CALLS.iter().find(|(_, known, _)| *known == name).map(|(call, name, said)| tool(*call, name, said))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let known = CALLS.iter().find(|(_, name, _)| *name == request.name);
        let (call, ..) = known.ok_or_else(ErrorData::method_not_found::<CallToolRequestMethod>)?;
        let fields = Value::Object(request.arguments.unwrap_or_default());
        let answer = self.front.answer(*call, fields, &context.extensions);
        let mut alive = tokio::time::interval(PROGRESS);
        alive.tick().await;
        let token = context.meta.get_progress_token();
        tokio::pin!(answer);
        let mut waited = 0.0;
        let answered = loop {
            tokio::select! {
                answered = &mut answer => break answered,
                // Dropping the answer cancels the request: nothing is granted to it any more.
                () = context.ct.cancelled() => return Err(ErrorData::internal_error("cancelled", None)),
                _ = alive.tick(), if token.is_some() => {
                    waited += PROGRESS.as_secs_f64();
                    if let Some(token) = token.clone() {
                        let said = ProgressNotificationParam::new(token, waited).with_message("waiting for a grant");
                        // Whoever does not hear it gets the answer all the same.
                        let _ = context.peer.notify_progress(said).await;
                    }
                }
            }
        };
        Ok(result(*call, answered).into())
    }
}

/// An answer as the result of a call: one sentence, and the fields.
fn result(call: Call, answered: Answered) -> CallToolResult {
    let Answered { status, body } = answered;
    let said = sentence(call, &body);
    let mut result =
        if status == 200 { CallToolResult::structured(body) } else { CallToolResult::structured_error(body) };
    result.content = vec![ContentBlock::text(said)];
    result
}

fn sentence(call: Call, body: &Value) -> String {
    if let Some(message) = body["message"].as_str() {
        return format!("{}: {message}", body["error"].as_str().unwrap_or("error"));
    }
    let names = |field: &Value| {
        let names = field.as_array().into_iter().flatten().filter_map(Value::as_str).collect::<Vec<_>>();
        names.join(", ")
    };
    match call {
        Call::Acquire => {
            let lease = &body["lease"];
            let ended = if body["ended"] == true { " It is over by now." } else { "" };
            format!(
                "granted: {} for {} ms from now or its last refresh, as {}, generation {}.{ended}",
                names(&lease["resources"]),
                lease["ttlMs"],
                lease["leaseId"].as_str().unwrap_or("?"),
                lease["generation"]
            )
        }
        Call::Release => format!("released: {}", names(&body["released"])),
        Call::Wait => {
            let queues = body["queues"].as_array().into_iter().flatten().map(|queue| {
                let waiters = queue["waiters"].as_array().into_iter().flatten();
                let waiters = waiters.filter_map(|waiter| waiter["actorDid"].as_str()).collect::<Vec<_>>();
                format!("{}: {}", queue["resource"].as_str().unwrap_or("?"), waiters.join(", "))
            });
            let queues = queues.collect::<Vec<_>>();
            if queues.is_empty() { "nobody waits".into() } else { format!("waiting for {}", queues.join("; ")) }
        }
    }
}

fn tool(call: Call, name: &'static str, said: &'static str) -> Tool {
    let (schema, annotations) = match call {
        Call::Acquire => (schema::<LeaseRequest>(), ToolAnnotations::new().destructive(false).idempotent(true)),
        Call::Release => (schema::<ReleaseRequest>(), ToolAnnotations::new().destructive(false).idempotent(false)),
        Call::Wait => (
            json!({ "type": "object", "properties": {}, "additionalProperties": false }),
            ToolAnnotations::new().read_only(true),
        ),
    };
    let schema: JsonObject = match schema {
        Value::Object(schema) => schema,
        _ => JsonObject::new(),
    };
    Tool::new(name, said, Arc::new(schema)).with_annotations(annotations.open_world(false))
}

/// The fields of a request as JSON Schema: as the OpenAPI document has them.
fn schema<T: PartialSchema>() -> Value {
    serde_json::to_value(T::schema()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_describes_its_fields_without_a_reference() {
        for (call, name, said) in CALLS {
            let schema = Value::Object((*tool(call, name, said).input_schema).clone());
            assert_eq!((&schema["type"], &schema["additionalProperties"]), (&json!("object"), &json!(false)), "{name}");
            assert!(!schema.to_string().contains("$ref"), "{schema}");
        }
        let lease = schema::<LeaseRequest>();
        assert_eq!(lease["required"], json!(["actorDid"]));
        assert_eq!(lease["properties"]["ttlMs"]["maximum"], 3_600_000);
    }
}
