//! The four stories that a coordination service is for.

use crate::{Desk, granted, refused};
use leasebook::coordination::{Answer, Fact, Refused};

const A: &str = "did:web:agent-a";
const B: &str = "did:web:agent-b";

#[test]
fn two_release_agents_ask_for_production_and_one_is_told_who_has_it_and_when_to_ask_again() {
    let mut desk = Desk::new();
    let first = desk.grant(A, "lock:deploy/production");
    assert_eq!((first.lease.ttl_ms, first.lease.expires_at_ms), (30_000, 31_000));
    desk.now += 5_000;
    let second = refused(desk.ask(B, "lock:deploy/production"));
    assert_eq!(second.error(), "lease_held");
    assert_eq!(
        second.to_string(),
        "lock:deploy/production is held by did:web:agent-a for 5 s, free in at most 25 s; ask again in 25 ms"
    );
    let Refused::Held(held) = second else { panic!("not held") };
    assert_eq!((&*held.holders[0], held.stampede.wait_ms, held.stampede.position), (A, 25, 1));
    assert_eq!(held.stampede.admitted.iter().map(|actor| &**actor).collect::<Vec<_>>(), [B]);
    desk.release(A, first.lease.lease_id);
    let third = desk.grant(B, "lock:deploy/production");
    assert!(third.lease.generation > first.lease.generation);
    assert_eq!(desk.authority.trust(A).score(), 50.5);
}

#[test]
fn a_holder_crashes_the_alarm_takes_its_lease_and_the_next_in_the_queue_gets_it() {
    let mut desk = Desk::new();
    desk.grant(A, "lock:deploy/production");
    let ticket = desk.park(B, "lock:deploy/production", 60_000);
    let alarm = desk.authority.next_deadline(desk.at()).unwrap();
    assert_eq!(alarm, 31_000);
    desk.now = alarm - 1;
    desk.pass(0);
    assert_eq!(desk.authority.settled(), []);
    desk.pass(1);
    let [(found, answer)] = &desk.authority.settled()[..] else { panic!("nobody was granted") };
    assert_eq!(*found, ticket);
    assert_eq!(&*granted(answer.clone()).lease.holder, B);
    assert_eq!(desk.authority.trust(A).score(), 45.0);
    let expired = desk.authority.take_events().into_iter().find(|event| matches!(event.what, Fact::Expired { .. }));
    assert_eq!(expired.unwrap().at_ms, 31_000);
}

#[test]
fn a_deadlock_is_broken_and_the_refusal_says_what_the_holder_waits_for() {
    let mut desk = Desk::new();
    let a = desk.grant(A, "repo/docs");
    desk.grant(B, "repo/src");
    let ticket = desk.park(A, "repo/src/app.rs", 60_000);
    let deadlock = refused(desk.ask(B, "repo/docs"));
    assert_eq!(deadlock.error(), "deadlock");
    assert_eq!(
        deadlock.to_string(),
        "deadlock: did:web:agent-b waits for repo/docs held by did:web:agent-a, did:web:agent-a waits for \
         repo/src/app.rs held by did:web:agent-b; release what you hold, then ask for the whole set at once"
    );
    let Refused::Deadlock(deadlock) = deadlock else { panic!("no deadlock") };
    assert_eq!((&*deadlock.holder, deadlock.waiting_on.as_str()), (A, "repo/src/app.rs"));
    assert_eq!(desk.authority.deadlocks(desk.at()).len(), 1);
    // The one who waits is served once the other gives way.
    let giving = leasebook::coordination::Giving { actor: B, resources: &["repo/src"], lease_id: None };
    desk.authority.release(desk.at(), &giving).unwrap();
    let settled = desk.authority.settled();
    assert!(matches!(&settled[..], [(found, Answer::Granted(_))] if *found == ticket));
    assert_eq!(desk.authority.lease(desk.at(), a.lease.lease_id), Some(a.lease));
    desk.pass(600_000);
    assert_eq!(desk.authority.deadlocks(desk.at()), []);
}

#[test]
fn fifty_agents_want_one_file_and_all_are_served_in_order_without_hammering() {
    let names: Vec<String> = (0..50).map(|n| format!("did:web:agent-{n}")).collect();
    let mut desk = Desk::new();
    // When each asks again, as its refusal said.
    let mut due: Vec<(u64, usize)> = (0..50).map(|n| (desk.now, n)).collect();
    let (mut served, mut attempts) = (Vec::new(), 0);
    let mut holding: Option<(u64, usize, leasebook::coordination::LeaseId)> = None;
    while served.len() < 50 {
        due.sort_unstable();
        let release = holding.as_ref().map_or(u64::MAX, |(until, ..)| *until);
        let next = due.first().map_or(u64::MAX, |(at, _)| *at);
        desk.now = desk.now.max(release.min(next));
        if release <= next {
            let (_, who, lease) = holding.take().unwrap();
            desk.release(&names[who], lease);
            continue;
        }
        let (_, who) = due.remove(0);
        attempts += 1;
        match desk.ask(&names[who], "repo/src/app.rs") {
            Answer::Granted(grant) => {
                served.push(who);
                holding = Some((desk.now + 100, who, grant.lease.lease_id));
            }
            Answer::Refused(Refused::Held(held)) => due.push((desk.now + held.stampede.wait_ms, who)),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(served, (0..50).collect::<Vec<_>>());
    // Half of them wait on average, at most 800 ms between two attempts, while one is served every 100 to 125 ms.
    assert!((50..=50 * 12).contains(&attempts), "{attempts}");
}
