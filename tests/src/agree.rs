//! Does one answer agree with another? Equal, but for the cycle of a deadlock, which may be any valid one.

use crate::model::Edges;
use crate::op::Answer;
use leasebook::{Holder, Refusal};

/// Where two answers differ, in words; `None` where they agree. The edges are the lease edges that a cycle may use.
pub fn difference(expected: &Answer, found: &Answer, edges: &Edges) -> Option<String> {
    if let (
        Answer::Grant(Err(Refusal::Deadlock { blocked: expected, .. })),
        Answer::Grant(Err(Refusal::Deadlock { blocked: found, cycle })),
    ) = (expected, found)
    {
        if expected != found {
            return Some(format!("expected {expected:?}\n   found {found:?}"));
        }
        return fault_of_cycle(cycle, edges).map(|fault| format!("{fault}: {cycle:?} among {edges:?}"));
    }
    departure(expected, found)
}

/// Where two answers of one table and its twin differ, in words; `None` where they are the same to the last byte.
pub fn departure(expected: &Answer, found: &Answer) -> Option<String> {
    // A ttl that is not a number is not equal to itself, but is written alike.
    let same = expected == found || format!("{expected:?}") == format!("{found:?}");
    (!same).then(|| format!("expected {expected:?}\n   found {found:?}"))
}

/// What is wrong with a cycle of holders.
pub fn fault_of_cycle(cycle: &[Holder], edges: &Edges) -> Option<&'static str> {
    if cycle.len() < 3 {
        return Some("a cycle has two holders at least, and says the first again");
    }
    if cycle.first() != cycle.last() {
        return Some("a cycle ends where it begins");
    }
    let is_edge = |pair: &[Holder]| edges.get(&*pair[0]).is_some_and(|to| to.contains(&*pair[1]));
    if !cycle.windows(2).all(is_edge) {
        return Some("each holder of a cycle waits for the next");
    }
    let mut once = cycle[1..].to_vec();
    once.sort();
    once.dedup();
    (once.len() + 1 != cycle.len()).then_some("a cycle passes through a holder once")
}
