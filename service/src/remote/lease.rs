//! `leasebook lease` and `leasebook release`.

use super::{Where, all_shown, exit, shown, time};
use crate::exit::Exit;
use leasebook_server::client::{Answered, Client, ClientError};
use serde_json::{Map, Value, json};
use std::time::{Duration, Instant};

/// How long one request waits at most: what a service allows unless configured otherwise.
const WAIT_MAX: Duration = Duration::from_secs(60);
/// The longest wait of the command, in seconds: a day.
const WAIT_S_MAX: u64 = 86_400;

/// The arguments of `leasebook lease`.
#[derive(clap::Args, Debug)]
#[command(after_help = help())]
pub struct LeaseArguments {
    /// The resources: names like lock:deploy/production; all of them, or none
    #[arg(required = true, value_name = "RESOURCE")]
    resources: Vec<String>,
    /// For how many seconds
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=WAIT_S_MAX))]
    ttl: Option<u64>,
    /// Beside other shared ones, where the resource may be read concurrently
    #[arg(long)]
    shared: bool,
    /// Wait so many seconds for a grant
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=WAIT_S_MAX))]
    wait: Option<u64>,
    /// The same key with the same request gets the same grant for 10 minutes
    #[arg(long, value_name = "KEY", conflicts_with = "wait")]
    idempotency_key: Option<String>,
    #[command(flatten)]
    at: Where,
}

/// The arguments of `leasebook release`.
#[derive(clap::Args, Debug)]
#[command(after_help = Exit::help())]
pub struct ReleaseArguments {
    /// The resources; may be absent where --lease is given back whole
    #[arg(value_name = "RESOURCE", required_unless_present = "lease")]
    resources: Vec<String>,
    /// The lease, as its grant named it
    #[arg(long, value_name = "ID")]
    lease: Option<String>,
    #[command(flatten)]
    at: Where,
}

fn help() -> String {
    format!(
        "Example:
  export LEASEBOOK_KEY=lb_...
  leasebook lease lock:deploy/production --ttl 600 --wait 60 && ./deploy; leasebook release lock:deploy/production

{}",
        Exit::help()
    )
}

/// Asks for leases.
pub fn lease(arguments: &LeaseArguments) -> anyhow::Result<Exit> {
    let mut fields = Map::new();
    fields.insert("resources".into(), json!(arguments.resources));
    if let Some(ttl) = arguments.ttl {
        fields.insert("ttlMs".into(), json!(ttl * 1_000));
    }
    if arguments.shared {
        fields.insert("mode".into(), json!("shared"));
    }
    if let Some(key) = &arguments.idempotency_key {
        fields.insert("idempotencyKey".into(), json!(key));
    }
    let wait = arguments.wait.map(Duration::from_secs);
    let answered = arguments.at.ask(|client| async move {
        let own = client.own().await?;
        if own.status != 200 {
            return Ok(own);
        }
        fields.insert("actorDid".into(), own.body["actorDid"].clone());
        waited(&client, fields, wait).await
    })?;
    match answered {
        Ok(answered) => arguments.at.say(&answered, granted),
        Err(exit) => Ok(exit),
    }
}

/// Asks until there is a grant, a refusal that waiting does not help, or no time left.
async fn waited(
    client: &Client,
    mut fields: Map<String, Value>,
    wait: Option<Duration>,
) -> Result<Answered, ClientError> {
    let start = Instant::now();
    loop {
        let left = wait.unwrap_or_default().saturating_sub(start.elapsed());
        if !left.is_zero() {
            fields.insert("waitMs".into(), json!(left.min(WAIT_MAX).as_millis().max(1) as u64));
        } else {
            fields.remove("waitMs");
        }
        let answered = client.lease(&Value::Object(fields.clone())).await?;
        let helps = matches!(answered.body["error"].as_str(), Some("lease_held" | "queued" | "superseded"));
        if left.is_zero() || !helps || exit(&answered) != Exit::Busy {
            return Ok(answered);
        }
        // The place in the queue is kept for longer than this.
        let hint = answered.body["stampede"]["waitMs"].as_u64().unwrap_or(25);
        let away = Duration::from_millis(hint + fastrand::u64(0..=hint / 4));
        tokio::time::sleep(away.min(left)).await;
    }
}

fn granted(body: &Value) -> String {
    let lease = &body["lease"];
    let ttl = time(lease["ttlMs"].as_i64().unwrap_or(0));
    let resources = all_shown(&lease["resources"]);
    let (id, generation) = (shown(&lease["leaseId"]), &lease["generation"]);
    let note = body["note"].as_str().map(|_| format!("note: {}\n", shown(&body["note"]))).unwrap_or_default();
    format!("granted {id}: {resources}, for {ttl}, generation {generation}\n{note}")
}

/// Gives leases back.
pub fn release(arguments: &ReleaseArguments) -> anyhow::Result<Exit> {
    let mut fields = Map::new();
    if !arguments.resources.is_empty() {
        fields.insert("resources".into(), json!(arguments.resources));
    }
    if let Some(lease) = &arguments.lease {
        fields.insert("leaseId".into(), json!(lease));
    }
    let answered = arguments.at.ask(|client| async move {
        let own = client.own().await?;
        if own.status != 200 {
            return Ok(own);
        }
        fields.insert("actorDid".into(), own.body["actorDid"].clone());
        client.release(&Value::Object(fields)).await
    })?;
    match answered {
        Ok(answered) => arguments.at.say(&answered, |body| format!("released {}\n", all_shown(&body["released"]))),
        Err(exit) => Ok(exit),
    }
}
