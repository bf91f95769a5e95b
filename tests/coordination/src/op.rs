//! Operations of an authority as values, so that they can be done to it, to the model and to twins alike.

use crate::model::Model;
use leasebook::coordination::{Answer, Authority, Given, Giving, Idempotency, LeaseId, Refused, Request};
use leasebook::{Millis, Mode};

/// An operation.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// Asks for leases.
    Ask(Ask),
    /// Gives resources back.
    Release {
        /// Who gives.
        actor: String,
        /// What.
        resources: Vec<String>,
        /// Of which lease.
        lease_id: Option<LeaseId>,
    },
    /// Ends the wait of a parked request.
    Cancel(u64),
    /// Takes back a grant that reached nobody.
    Withdraw(LeaseId),
    /// Takes a lease away.
    Revoke(LeaseId),
    /// Lets time pass.
    Tick,
}

/// What is asked for.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // the fields are those of `Request`
pub struct Ask {
    pub ticket: u64,
    pub actor: String,
    pub resources: Vec<String>,
    pub mode: Mode,
    pub ttl: Option<f64>,
    pub wait: Option<f64>,
    pub key: Option<(String, [u8; 32])>,
}

/// What an operation answered.
#[derive(Clone, Debug, PartialEq)]
pub enum Said {
    /// To a request.
    Asked(Answer),
    /// To a release.
    Released(Result<Given, Refused>),
    /// To a cancellation, a withdrawal or a revocation: was there such a thing?
    Found(bool),
    /// Nothing.
    Ticked,
}

impl Ask {
    /// Lends it in the form that an authority takes.
    pub fn with<T>(&self, use_it: impl FnOnce(&Request<'_>) -> T) -> T {
        let resources: Vec<&str> = self.resources.iter().map(String::as_str).collect();
        use_it(&Request {
            actor: &self.actor,
            resources: &resources,
            mode: self.mode,
            ttl: self.ttl.map(Into::into),
            wait: self.wait.map(Into::into),
            idempotency: self.key.as_ref().map(|(key, body)| Idempotency { key, body: *body }),
        })
    }
}

impl Op {
    /// Does it to an authority.
    pub fn on_authority(&self, authority: &mut Authority, now: Millis) -> Said {
        match self {
            Self::Ask(ask) => Said::Asked(ask.with(|request| authority.ask(now, ask.ticket, request))),
            Self::Release { actor, resources, lease_id } => {
                let resources: Vec<&str> = resources.iter().map(String::as_str).collect();
                Said::Released(authority.release(now, &Giving { actor, resources: &resources, lease_id: *lease_id }))
            }
            Self::Cancel(ticket) => Said::Found(authority.cancel(now, *ticket)),
            Self::Withdraw(id) => Said::Found(authority.withdraw(now, *id)),
            Self::Revoke(id) => Said::Found(authority.revoke(now, *id)),
            Self::Tick => {
                authority.tick(now);
                Said::Ticked
            }
        }
    }

    /// Does it to the model.
    pub fn on_model(&self, model: &mut Model, now: Millis) -> Said {
        match self {
            Self::Ask(ask) => Said::Asked(model.ask(now, ask)),
            Self::Release { actor, resources, lease_id } => {
                Said::Released(model.release(now, actor, resources, *lease_id))
            }
            Self::Cancel(ticket) => Said::Found(model.cancel(now, *ticket)),
            Self::Withdraw(id) | Self::Revoke(id) => Said::Found(model.take_away(now, *id)),
            Self::Tick => {
                model.tick(now);
                Said::Ticked
            }
        }
    }
}
