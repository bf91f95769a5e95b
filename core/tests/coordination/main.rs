//! The authority of a coordination service, as its host sees it.

mod graph;
mod late;
mod names;
mod never_granted;
mod numbers;
mod retries;
mod stories;
mod upgrade;
mod whole_leases;

use leasebook::coordination::{Answer, Authority, Grant, LeaseId, Options, Refused, Request};
use leasebook::{Millis, Mode};

/// An authority with a clock that the test sets, and tickets that count up.
struct Desk {
    authority: Authority,
    now: u64,
    ticket: u64,
}

impl Desk {
    fn new() -> Self {
        Self::with(Options { events: 10_000, journal: true, ..Options::default() })
    }

    fn with(options: Options) -> Self {
        Self { authority: Authority::new(options).unwrap(), now: 1_000, ticket: 0 }
    }

    fn at(&self) -> Millis {
        Millis::new(self.now)
    }

    /// Asks for one resource, exclusively, without waiting.
    fn ask(&mut self, actor: &str, resource: &str) -> Answer {
        self.request(&request(actor, &[resource]))
    }

    fn request(&mut self, request: &Request<'_>) -> Answer {
        self.ticket += 1;
        self.authority.ask(self.at(), self.ticket, request)
    }

    /// Asks and waits: the ticket of a parked request.
    fn park(&mut self, actor: &str, resource: &str, wait_ms: u64) -> u64 {
        let answer = self.request(&Request { wait: Some(wait_ms.into()), ..request(actor, &[resource]) });
        assert_eq!(answer, Answer::Parked, "{actor} {resource}");
        self.ticket
    }

    fn grant(&mut self, actor: &str, resource: &str) -> Grant {
        granted(self.ask(actor, resource))
    }

    fn release(&mut self, actor: &str, lease_id: LeaseId) {
        let giving = leasebook::coordination::Giving { actor, resources: &[], lease_id: Some(lease_id) };
        self.authority.release(self.at(), &giving).unwrap();
    }

    /// Lets time pass.
    fn pass(&mut self, ms: u64) {
        self.now += ms;
        self.authority.tick(self.at());
    }
}

fn request<'a>(actor: &'a str, resources: &'a [&'a str]) -> Request<'a> {
    Request { actor, resources, mode: Mode::Exclusive, ttl: None, wait: None, idempotency: None }
}

fn granted(answer: Answer) -> Grant {
    match answer {
        Answer::Granted(grant) => grant,
        other => panic!("expected a grant, found {other:?}"),
    }
}

fn refused(answer: Answer) -> Refused {
    match answer {
        Answer::Refused(refused) => refused,
        other => panic!("expected a refusal, found {other:?}"),
    }
}
