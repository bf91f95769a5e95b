//! What a service counts, in the format that Prometheus reads.

use crate::http::Service;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;
use std::fmt;

/// The labels of an answer: the route and the status.
type Labels = [(&'static str, String); 2];

/// The metrics of a service.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    answers: Family<Labels, Counter>,
    seconds: Histogram,
    commits: Gauge,
    commit_failures: Gauge,
    store_failing: Gauge,
    polls: Gauge,
    watchers: Gauge,
    ledger_failing: Gauge,
    ledger_pending: Gauge,
    ledger_outages: Gauge,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("leasebook");
        let answers = Family::default();
        // From 50 microseconds to a long poll.
        let seconds = Histogram::new(exponential_buckets(0.000_05, 2.5, 16));
        let (commits, commit_failures, store_failing) = (Gauge::default(), Gauge::default(), Gauge::default());
        let (polls, watchers) = (Gauge::default(), Gauge::default());
        let (ledger_failing, ledger_pending, ledger_outages) = (Gauge::default(), Gauge::default(), Gauge::default());
        registry.register("answers", "Requests answered, by route and status", answers.clone());
        registry.register("answer_seconds", "How long requests took, waits included", seconds.clone());
        registry.register("commits", "Commits of the store since the start", commits.clone());
        registry.register("commit_failures", "Commits that failed since the start", commit_failures.clone());
        registry.register("store_failing", "1 where the last commit or load failed", store_failing.clone());
        registry.register("polls", "Requests that wait for a grant", polls.clone());
        registry.register("watchers", "Streams of events that are open", watchers.clone());
        registry.register("ledger_failing", "1 where the ledger cannot be written", ledger_failing.clone());
        registry.register("ledger_pending", "Events that wait for the ledger in an outage", ledger_pending.clone());
        registry.register("ledger_outages", "Outages of the ledger since the start", ledger_outages.clone());
        Self {
            registry,
            answers,
            seconds,
            commits,
            commit_failures,
            store_failing,
            polls,
            watchers,
            ledger_failing,
            ledger_pending,
            ledger_outages,
        }
    }
}

impl Metrics {
    /// Counts an answer. `route`: as it is documented, so that there are only so many.
    pub(crate) fn answered(&self, route: &str, status: u16, seconds: f64) {
        self.answers.get_or_create(&[("route", route.into()), ("status", status.to_string())]).inc();
        self.seconds.observe(seconds);
    }

    /// All of it, as it is now.
    pub(crate) fn text(&self, service: &Service) -> Result<String, fmt::Error> {
        let health = service.driver_health();
        let number = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        self.commits.set(number(health.commits));
        self.commit_failures.set(number(health.failures));
        self.store_failing.set(i64::from(health.failing.is_some()));
        let (polls, watchers) = service.busy();
        self.polls.set(number(polls as u64));
        self.watchers.set(number(watchers as u64));
        let ledger = service.ledger.health();
        self.ledger_failing.set(i64::from(!ledger.is_ok()));
        self.ledger_pending.set(number(ledger.pending));
        self.ledger_outages.set(number(ledger.outages));
        let mut text = String::new();
        encode(&mut text, &self.registry)?;
        Ok(text)
    }
}
