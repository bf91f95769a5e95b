//! Load: workers that each do one pair after the other, for a time.

use anyhow::{Context as _, Result};
use std::future::Future;
use std::pin::Pin;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// A client with a connection and a resource of its own.
pub trait Worker: Send {
    /// Acquires and releases once; answers how long the acquire took.
    fn pair(&mut self) -> Pin<Box<dyn Future<Output = Result<Duration>> + Send + '_>>;
}

/// What was found on one side.
#[derive(Default)]
pub struct Found {
    pairs: usize,
    elapsed: Duration,
    grants: Vec<u64>,
}

impl Found {
    pub fn merge(&mut self, other: Self) {
        self.pairs += other.pairs;
        self.elapsed += other.elapsed;
        self.grants.extend(other.grants);
    }

    /// Nanoseconds that pass for each pair of all workers together.
    pub fn pair_ns(&self) -> f64 {
        self.elapsed.as_nanos() as f64 / self.pairs.max(1) as f64
    }

    /// How long half of the grants take at most, and how long 99 of 100 do, in nanoseconds.
    pub fn grant_ns(&self) -> (f64, f64) {
        let mut grants = self.grants.clone();
        grants.sort_unstable();
        let at = |share: f64| {
            let index = (grants.len() as f64 * share) as usize;
            grants.get(index.min(grants.len().saturating_sub(1))).copied().unwrap_or(0) as f64
        };
        (at(0.5), at(0.99))
    }
}

/// Lets all workers work at one time.
pub async fn run(workers: Vec<Box<dyn Worker>>, time: Duration) -> Result<(Vec<Box<dyn Worker>>, Found)> {
    let start = Instant::now();
    let end = start + time;
    let mut tasks = JoinSet::new();
    for mut worker in workers {
        tasks.spawn(async move {
            let mut grants = Vec::new();
            while Instant::now() < end {
                let grant = worker.pair().await?;
                grants.push(u64::try_from(grant.as_nanos()).unwrap_or(u64::MAX));
            }
            anyhow::Ok((worker, grants))
        });
    }
    let (mut workers, mut found) = (Vec::new(), Found::default());
    while let Some(done) = tasks.join_next().await {
        let (worker, grants) = done.context("a worker broke")??;
        workers.push(worker);
        found.pairs += grants.len();
        found.grants.extend(grants);
    }
    found.elapsed = start.elapsed();
    Ok((workers, found))
}
