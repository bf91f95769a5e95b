//! Fifty agents want one resource: how many requests and how long it takes until all were served, by asking again as
//! refusals say, by long polls, and by asking every second.

use super::Given;
use super::http::{Connection, LEASE, RELEASE};
use super::servers::Leasebook;
use crate::report::{Peer, Row};
use anyhow::{Context as _, Result, bail};
use hyper::StatusCode;
use hyper::body::Bytes;
use serde_json::Value;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// How long each works on what it leased.
const WORK: Duration = Duration::from_millis(5);

#[derive(Clone, Copy)]
enum Manner {
    /// Stay away as long as the refusal says, and a jitter.
    Hints,
    /// Wait for the answer.
    LongPoll,
    /// Ask every second, as without any hint.
    EverySecond,
}

pub async fn measure(given: &Given, server: &Leasebook, count: usize, add: &mut dyn FnMut(Row)) -> Result<()> {
    let agents = server.agents(given, count)?;
    let agents = agents.as_slice();
    let (polled, poll_requests) = served(server.address, agents, Manner::EverySecond).await?;
    for (manner, name) in
        [(Manner::Hints, "asking again as refusals say"), (Manner::LongPoll, "waiting for the answer")]
    {
        let (time, requests) = served(server.address, agents, manner).await?;
        let what = format!("{count} agents on one resource until all were served, {name} ({requests} requests)");
        let (peer, ns) = (Peer::new("asking every second", polled.as_nanos() as f64), time.as_nanos() as f64);
        add(Row::nanos(what, ns, peer, None));
    }
    let what = format!("requests of {count} agents that ask every second, each as if it were a nanosecond");
    add(Row::nanos(what, poll_requests as f64, Peer::new("one each", count as f64), None));
    Ok(())
}

async fn served(address: SocketAddr, agents: &[(String, String)], manner: Manner) -> Result<(Duration, usize)> {
    let requests = Arc::new(AtomicUsize::new(0));
    let start = Instant::now();
    let mut tasks = JoinSet::new();
    for agent in agents {
        let (key, actor) = agent.clone();
        let requests = Arc::clone(&requests);
        tasks.spawn(async move {
            let mut connection = Connection::open(address, &key).await?;
            let wait = if matches!(manner, Manner::LongPoll) { r#","waitMs":60000"# } else { "" };
            let body = |wait| Bytes::from(format!(r#"{{"resource":"repo/one","actorDid":"{actor}"{wait}}}"#));
            loop {
                requests.fetch_add(1, Ordering::Relaxed);
                let (status, answer) = connection.post(LEASE, body(wait)).await?;
                if status == StatusCode::OK {
                    break;
                }
                let answer: Value = serde_json::from_slice(&answer)?;
                let hint = answer["stampede"]["waitMs"].as_u64().with_context(|| format!("refused: {answer}"))?;
                let away = match manner {
                    Manner::Hints => Duration::from_millis(hint + fastrand::u64(0..=hint / 4)),
                    Manner::LongPoll => bail!("a long poll was refused: {answer}"),
                    Manner::EverySecond => Duration::from_secs(1),
                };
                tokio::time::sleep(away).await;
            }
            tokio::time::sleep(WORK).await;
            requests.fetch_add(1, Ordering::Relaxed);
            let (status, answer) = connection.post(RELEASE, body("")).await?;
            if status != StatusCode::OK {
                bail!("not released: {}", String::from_utf8_lossy(&answer));
            }
            Ok(())
        });
    }
    while let Some(done) = tasks.join_next().await {
        done.context("an agent broke")??;
    }
    Ok((start.elapsed(), requests.load(Ordering::Relaxed)))
}
