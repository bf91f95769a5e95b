//! A service that is killed under load, again and again: what its clients were told stays true.

use super::serve::{Served, try_ask};
use leasebook_server::keys::{Grant, KeyRing, WORKSPACE_DEFAULT};
use leasebook_server::ledger;
use serde_json::{Value, json};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

/// How often it is killed, unless `LEASEBOOK_CRASHES` says otherwise.
const ROUNDS: u64 = 30;
const CLIENTS: usize = 32;
const RESOURCES: usize = 8;
/// Longer than the whole test, so that nothing runs out.
const TTL_MS: u64 = 3_600_000;

const LEASE: &str = "/api/v1/acp/coordination/lease";
const RELEASE: &str = "/api/v1/acp/coordination/release";

/// What clients know of a resource by what they were answered.
#[derive(Clone, Debug, PartialEq)]
enum Known {
    Free,
    /// Granted, and the answer was heard.
    Held {
        client: usize,
        generation: u64,
    },
    /// Asked for or released by somebody who was not answered.
    Open,
}

struct History {
    resources: Vec<Known>,
    highest: Vec<u64>,
}

struct Client {
    number: usize,
    did: String,
    key: String,
}

impl Client {
    fn fields(&self, resource: usize) -> Value {
        json!({ "resource": format!("repo/file-{resource}"), "actorDid": self.did })
    }

    /// Leases and releases until the service is gone.
    fn work(&self, address: &str, history: &Mutex<History>, granted: &AtomicUsize, over: &AtomicBool) {
        let mut choose = fastrand::Rng::with_seed(self.number as u64);
        while !over.load(Ordering::Relaxed) {
            let resource = choose.usize(..RESOURCES);
            let mut fields = self.fields(resource);
            fields["ttlMs"] = TTL_MS.into();
            let Some(answer) = try_ask(address, &self.key, LEASE, Some(&fields)) else {
                // Perhaps it was granted. Nobody else may be told that it is theirs, and this client asks again.
                let mut history = history.lock().unwrap();
                if history.resources[resource] == Known::Free {
                    history.resources[resource] = Known::Open;
                }
                return;
            };
            if answer["ok"] != true {
                continue;
            }
            granted.fetch_add(1, Ordering::Relaxed);
            let generation = answer["lease"]["generation"].as_u64().unwrap();
            {
                let mut history = history.lock().unwrap();
                if let Known::Held { client, generation: held } = history.resources[resource] {
                    assert_eq!(client, self.number, "two hold file-{resource}: {answer}");
                    assert_eq!(held, generation, "a lease became another one: {answer}");
                } else if answer["refreshed"] != true {
                    assert!(generation > history.highest[resource], "a number was given twice: {answer}");
                }
                history.highest[resource] = history.highest[resource].max(generation);
                history.resources[resource] = Known::Held { client: self.number, generation };
            }
            if choose.u8(..4) == 0 {
                continue;
            }
            history.lock().unwrap().resources[resource] = Known::Open;
            let Some(released) = try_ask(address, &self.key, RELEASE, Some(&self.fields(resource))) else { return };
            assert_eq!(released["ok"], true, "{released}");
            let mut history = history.lock().unwrap();
            if history.resources[resource] == Known::Open {
                history.resources[resource] = Known::Free;
            }
        }
    }
}

#[test]
fn however_often_it_is_killed_no_lease_is_lost_and_none_has_two_holders() {
    let rounds = std::env::var("LEASEBOOK_CRASHES").ok().and_then(|text| text.parse().ok()).unwrap_or(ROUNDS);
    let folder = tempfile::tempdir().unwrap();
    let keys = KeyRing::open(&folder.path().join("book.sqlite")).unwrap();
    let client = |number| {
        let did = format!("did:web:client-{number}");
        let grant =
            Grant { workspace: WORKSPACE_DEFAULT.into(), actor: did.clone(), expires_ms: None, calls_max: None };
        Client { number, key: keys.create(&grant, 1).unwrap().reveal(), did }
    };
    let clients: Vec<Client> = (0..CLIENTS).map(client).collect();
    let history = Mutex::new(History { resources: vec![Known::Free; RESOURCES], highest: vec![0; RESOURCES] });
    let granted = AtomicUsize::new(0);
    let mut seed = fastrand::Rng::with_seed(7);
    for round in 0..rounds {
        let mut served = Served::start_in(folder.path(), &["--no-receipts"]);
        let address = served.address().to_owned();
        // What was acknowledged before is there: the holder is told so, under the same number.
        for resource in 0..RESOURCES {
            let known = history.lock().unwrap().resources[resource].clone();
            if let Known::Held { client, generation } = known {
                let mut fields = clients[client].fields(resource);
                fields["ttlMs"] = TTL_MS.into();
                let answer = try_ask(&address, &clients[client].key, LEASE, Some(&fields)).unwrap();
                assert_eq!(answer["lease"]["generation"], generation, "round {round}: {answer}");
                assert_eq!(answer["refreshed"], true, "round {round}: {answer}");
            }
        }
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for client in &clients {
                scope.spawn(|| client.work(&address, &history, &granted, &over));
            }
            std::thread::sleep(Duration::from_millis(seed.u64(20..150)));
            served.kill();
            over.store(true, Ordering::Relaxed);
        });
    }
    assert!(granted.load(Ordering::Relaxed) > rounds as usize, "there was no load");
    let mut served = Served::start_in(folder.path(), &[]);
    assert_eq!(served.end(), 0);
    let verified = ledger::verify_file(&folder.path().join("ledger/default.jsonl")).unwrap();
    assert_eq!((verified.missing, verified.gaps.len()), (0, 0));
    assert!(verified.lines > granted.load(Ordering::Relaxed) as u64, "every grant that was heard has its line");
}
