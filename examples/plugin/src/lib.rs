//! A plugin that acts on shared paths: it asks for leases before it does, waits for its turn, and sometimes breaks.
//!
//! It imports `leasebook:lease/session` and nothing else. Under whose name it acts, its host decided.

mod bindings {
    #![allow(missing_docs, unused_qualifications, clippy::all)]
    wit_bindgen::generate!({ path: ["../../wit", "wit"], world: "example:plugin/plugin", generate_all });
    use super::Example;
    export!(Example);
}

use bindings::leasebook::lease::session::{self, Attempt};
use bindings::leasebook::lease::table::{Mode, PinRefused, Refused, Release, Wish};
use std::cell::RefCell;

struct Example;

thread_local! {
    /// A pin lasts as long as its handle.
    static PINS: RefCell<Vec<session::Pinned>> = const { RefCell::new(Vec::new()) };
}

impl bindings::Guest for Example {
    fn perform(task: String) -> Result<String, String> {
        let (verb, path) = task.split_once(' ').unwrap_or((&task, ""));
        match verb {
            "acquire" => acquire(path),
            "wait" => wait("turn", path),
            "wait-as" => {
                path.split_once(' ').map_or_else(|| Err("wait-as ID PATH".into()), |(id, path)| wait(id, path))
            }
            "ready" => Ok(session::ready().join(" ")),
            "cancel" => Ok(session::cancel_wait("turn").to_string()),
            "pin" => pin(path, None),
            "brief-pin" => pin(path, Some(1_000)),
            "unpin" => Ok(PINS.take().into_iter().map(session::unpin).filter(|unpinned| *unpinned).count().to_string()),
            "release" => Ok(released()),
            "end" => Ok(session::end_session().to_string()),
            // Waits under one new id after the other, until it is stopped.
            "flood" => (0..100).try_fold(String::new(), |_, n| match wait(&n.to_string(), path) {
                Err(sentence) if sentence.contains("limit") => Err(sentence),
                Err(sentence) | Ok(sentence) => Ok(sentence),
            }),
            "trap" => panic!("as asked"),
            "spin" => loop {
                std::hint::black_box(());
            },
            _ => Err(format!("{verb:?} is no task of this plugin")),
        }
    }
}

fn acquire(path: &str) -> Result<String, String> {
    let leases = session::acquire(&[wish(path)], None).map_err(said)?;
    Ok(format!("{} has {path}, generation {}", session::holder(), leases[0].generation))
}

fn wait(waiter_id: &str, path: &str) -> Result<String, String> {
    let attempt = Attempt {
        waiter_id: waiter_id.into(),
        wishes: vec![wish(path)],
        ttl_ms: None,
        allow_hold: false,
        keep_ms: Some(60_000.0),
    };
    let leases = session::wait_attempt(&attempt).map_err(said)?;
    Ok(format!("{} has {path}, generation {}", session::holder(), leases[0].generation))
}

fn pin(path: &str, for_ms: Option<u64>) -> Result<String, String> {
    let pinned = session::pin(&[path.into()], Mode::Exclusive, for_ms)
        .map_err(|PinRefused { sentence, reason }| sentence.unwrap_or_else(|| format!("{reason:?}")))?;
    PINS.with_borrow_mut(|pins| pins.push(pinned));
    Ok(format!("{path} stays in place"))
}

fn released() -> String {
    match session::release(&Release::All) {
        Ok(released) => released.released.join(" "),
        Err(limit) => format!("{limit:?}"),
    }
}

fn wish(path: &str) -> Wish {
    Wish { path: path.into(), mode: Mode::Exclusive }
}

fn said(refused: Refused) -> String {
    refused.sentence.unwrap_or_else(|| format!("{:?}", refused.reason))
}
