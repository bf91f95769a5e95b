//! The coordination service over loopback, beside what else one would take: etcd, Redis, and an empty route of the same
//! HTTP library as the limit.

mod agents;
#[cfg(feature = "etcd")]
mod etcd;
mod http;
mod load;
mod redis;
mod servers;

use crate::report::{Peer, Row};
use anyhow::{Context, Result};
use load::{Found, Worker};
use std::path::PathBuf;
use std::time::Duration;

pub use servers::empty_route;

/// How many clients ask at one time.
const CONNECTIONS: [usize; 3] = [1, 32, 256];

/// What the run is given beside its own code.
pub struct Given {
    /// The `leasebook` command, built as it is shipped.
    pub command: PathBuf,
}

/// How much work a run takes on.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// How long each side of a row is loaded in one turn.
    pub turn: Duration,
    /// How many turns each side gets; the sides alternate.
    pub turns: usize,
    /// How many agents want one resource.
    pub agents: usize,
}

impl Effort {
    pub const WHOLE: Self = Self { turn: Duration::from_secs(2), turns: 3, agents: 50 };
    pub const QUICK: Self = Self { turn: Duration::from_millis(100), turns: 1, agents: 5 };
}

/// Measures all rows.
pub fn measure(effort: Effort, given: &Given, add: &mut dyn FnMut(Row)) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().context("start the runtime")?;
    runtime.block_on(async {
        let folder = crate::writer::folder()?;
        let plain = servers::leasebook(given, folder.path(), "plain", &["--no-receipts"])?;
        let signed = servers::leasebook(given, folder.path(), "signed", &[])?;
        let empty = servers::empty()?;
        #[cfg(feature = "etcd")]
        let etcd = servers::etcd(folder.path())?;
        let redis = servers::redis(folder.path())?;
        for connections in CONNECTIONS {
            let mut sides = vec![
                Side::new("leasebook, without receipts", http::leases(&plain, connections).await?),
                Side::new("leasebook, with receipts", http::leases(&signed, connections).await?),
                Side::new("an empty route of axum, twice a pair", http::empties(&empty, connections).await?),
                Side::new(
                    "Redis, appendfsync always: SET NX PX, compare and delete",
                    redis::workers(&redis, connections).await?,
                ),
            ];
            #[cfg(feature = "etcd")]
            sides.push(Side::new("etcd: lease, transaction, revocation", etcd::workers(&etcd, connections).await?));
            for _ in 0..effort.turns {
                for side in &mut sides {
                    let workers = std::mem::take(&mut side.workers);
                    let (workers, found) = load::run(workers, effort.turn).await?;
                    side.workers = workers;
                    side.found.merge(found);
                }
            }
            rows(connections, &sides, add);
        }
        agents::measure(given, &plain, effort.agents, add).await
    })
}

/// One side: who loads it, and what was found.
struct Side {
    name: &'static str,
    workers: Vec<Box<dyn Worker>>,
    found: Found,
}

impl Side {
    fn new(name: &'static str, workers: Vec<Box<dyn Worker>>) -> Self {
        Self { name, workers, found: Found::default() }
    }
}

/// A pair of acquire and release, as the time that passes for each where so many ask at one time.
fn rows(connections: usize, sides: &[Side], add: &mut dyn FnMut(Row)) {
    let [plain, signed, empty, redis, etcd @ ..] = sides else { return };
    let clients = if connections == 1 { "1 client".to_owned() } else { format!("{connections} clients") };
    let what = |side: &Side| format!("a pair, {clients}, {}", side.name.trim_start_matches("leasebook, "));
    let beside = |ours: &Side, peer: &Side, at_most| {
        Row::nanos(what(ours), ours.found.pair_ns(), Peer::new(peer.name, peer.found.pair_ns()), at_most)
    };
    for etcd in etcd {
        add(beside(plain, etcd, Some(1.0 / 3.0)));
    }
    add(beside(plain, empty, (connections == 256).then_some(5.0)));
    add(beside(plain, redis, None));
    add(beside(signed, plain, None));
    let (p50, p99) = plain.found.grant_ns();
    let grant = format!("99 of 100 grants, {clients}");
    add(Row::nanos(grant, p99, Peer::new("half of them", p50), Some(10.0)));
    for etcd in etcd {
        let (etcd_p50, _) = etcd.found.grant_ns();
        add(Row::nanos(format!("half of the grants, {clients}"), p50, Peer::new("of etcd", etcd_p50), None));
    }
}
