//! `leasebook status` and `leasebook wait`: who holds what at a service, and who waits.

use super::{Where, all_shown, shown, time};
use crate::exit::Exit;
use crate::rows;
use leasebook_server::client::Answered;
use serde_json::Value;

/// The arguments of `leasebook status`.
#[derive(clap::Args, Debug)]
#[command(after_help = Exit::help())]
pub struct StatusArguments {
    #[command(flatten)]
    at: Where,
}

/// The arguments of `leasebook wait`.
#[derive(clap::Args, Debug)]
#[command(after_help = Exit::help())]
pub struct WaitArguments {
    #[command(flatten)]
    at: Where,
}

/// Says who holds what, and who waits for what.
pub fn status(arguments: &StatusArguments) -> anyhow::Result<Exit> {
    let both = arguments.at.ask(|client| async move {
        let mut leases = client.leases().await?;
        if leases.status != 200 {
            return Ok(leases);
        }
        let wait = client.wait().await?;
        if wait.status != 200 {
            return Ok(wait);
        }
        leases.body["queues"] = wait.body["queues"].clone();
        leases.body["deadlocks"] = wait.body["deadlocks"].clone();
        Ok(leases)
    })?;
    say(&arguments.at, both, |body| format!("{}{}", leases(body), waiters(body)))
}

/// Says who waits for what.
pub fn wait(arguments: &WaitArguments) -> anyhow::Result<Exit> {
    let answered = arguments.at.ask(|client| async move { client.wait().await })?;
    say(&arguments.at, answered, |body| {
        let said = waiters(body);
        if said.is_empty() { "nobody waits\n".into() } else { said }
    })
}

fn say(at: &Where, answered: Result<Answered, Exit>, words: impl FnOnce(&Value) -> String) -> anyhow::Result<Exit> {
    match answered {
        Ok(answered) => at.say(&answered, words),
        Err(exit) => Ok(exit),
    }
}

fn leases(body: &Value) -> String {
    let now = body["nowMs"].as_i64().unwrap_or(0);
    let rows = body["leases"].as_array().into_iter().flatten().map(|lease| {
        let at = |field: &str| lease[field].as_i64().unwrap_or(0);
        vec![
            all_shown(&lease["resources"]),
            shown(&lease["holder"]),
            shown(&lease["mode"]),
            time(now - at("acquiredAtMs")),
            time(at("expiresAtMs") - now),
            shown(&lease["leaseId"]),
        ]
    });
    rows::table(&["RESOURCE", "HOLDER", "MODE", "HELD FOR", "FREE IN", "LEASE"], rows)
}

fn waiters(body: &Value) -> String {
    let queues = body["queues"].as_array().into_iter().flatten();
    let rows: Vec<Vec<String>> = queues
        .flat_map(|queue| {
            let waiters = queue["waiters"].as_array().into_iter().flatten().enumerate();
            waiters.map(move |(n, waiter)| {
                let ahead = waiter["waitsFor"].as_array().into_iter().flatten();
                let ahead = ahead.map(|edge| shown(&edge["holder"])).collect::<Vec<_>>().join(", ");
                vec![shown(&queue["resource"]), (n + 1).to_string(), shown(&waiter["actorDid"]), ahead]
            })
        })
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    format!("\n{}", rows::table(&["WAITED FOR", "PLACE", "BY", "BEHIND"], rows))
}
