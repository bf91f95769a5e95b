//! Plugins with a session: they contend, none acts for another, and nothing of one outlives it.
//!
//! The plugin is the example of the repository; `cargo xtask wasm` builds it.

use super::table_with;
use leasebook_wasmtime::wasmtime::component::{Component, Linker, ResourceTable, TypedFunc};
use leasebook_wasmtime::wasmtime::{Config, Engine, Store};
use leasebook_wasmtime::{
    Fairness, Limits, ManualClock, Mode, Options, Session, SessionView, SharedLeaseTable, Wish, add_session_to_linker,
    call_plugin,
};
use std::sync::LazyLock;

static ENGINE: LazyLock<Engine> = LazyLock::new(|| Engine::new(Config::new().consume_fuel(true)).unwrap());

static PLUGIN: LazyLock<Component> = LazyLock::new(|| {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/wasm/leasebook-plugin.component.wasm");
    Component::from_file(&ENGINE, file).expect("the example plugin, which `cargo xtask wasm` builds")
});

const FUEL: u64 = 50_000_000;

struct Data {
    session: Session,
    handles: ResourceTable,
}

struct Plugin {
    store: Store<Data>,
    perform: TypedFunc<(String,), (Result<String, String>,)>,
}

impl Plugin {
    fn new(table: &SharedLeaseTable, holder: &str) -> Self {
        let mut linker = Linker::<Data>::new(&ENGINE);
        add_session_to_linker(&mut linker, |data| SessionView::new(&mut data.session, &mut data.handles)).unwrap();
        let session = Session::new(table.clone(), holder);
        let mut store = Store::new(&ENGINE, Data { session, handles: ResourceTable::new() });
        store.set_fuel(FUEL).unwrap();
        let instance = linker.instantiate(&mut store, &PLUGIN).unwrap();
        let perform = instance.get_typed_func(&mut store, "perform").unwrap();
        Self { store, perform }
    }

    /// What the plugin says; the reason where it trapped.
    fn perform(&mut self, task: &str) -> Result<Result<String, String>, String> {
        let Self { store, perform } = self;
        let called = call_plugin(
            store,
            |data| &mut data.session,
            |store| {
                store.set_fuel(FUEL)?;
                perform.call(store, (task.to_owned(),))
            },
        );
        called.map(|(said,)| said).map_err(|error| error.root_cause().to_string())
    }

    fn good(&mut self, task: &str) -> String {
        self.perform(task).expect("no trap").unwrap_or_else(|refused| panic!("{task}: {refused}"))
    }

    fn refused(&mut self, task: &str) -> String {
        self.perform(task).expect("no trap").expect_err(task)
    }
}

fn table(options: Options) -> (SharedLeaseTable, ManualClock) {
    let (table, clock) = table_with(options);
    (table.share(), clock)
}

/// (leases, waiters, pins) that stand.
fn standing(table: &SharedLeaseTable) -> (usize, usize, usize) {
    let status = table.status().unwrap();
    (status.leases.len(), status.waiters.len(), status.pins.len())
}

#[test]
fn two_plugins_contend_each_under_the_holder_that_the_host_chose() {
    let (table, clock) = table(Options::default());
    let (mut sync, mut index) = (Plugin::new(&table, "sync"), Plugin::new(&table, "index"));
    assert_eq!(sync.good("acquire /srv/docs"), "sync has /srv/docs, generation 1");
    clock.advance(12_000);
    assert_eq!(
        index.refused("acquire /srv/docs/a.md"),
        "/srv/docs/a.md is inside /srv/docs, held by sync for 12 s, free in at most 288 s"
    );
    index.refused("wait /srv/docs/a.md");
    assert_eq!(index.good("ready"), "");
    assert_eq!(sync.good("release"), "/srv/docs");
    assert_eq!(index.good("ready"), "turn");
    assert_eq!(index.good("wait /srv/docs/a.md"), "index has /srv/docs/a.md, generation 2");
    assert_eq!(standing(&table), (1, 0, 0));
}

#[test]
fn a_plugin_neither_sees_nor_ends_what_is_anothers() {
    let (table, _) = table(Options::default());
    table.acquire("host", &[Wish::exclusive("/a")], None).unwrap().unwrap();
    let (mut sync, mut index) = (Plugin::new(&table, "sync"), Plugin::new(&table, "index"));
    // The same id of both, and neither is told that it is taken.
    for plugin in [&mut sync, &mut index] {
        assert!(plugin.refused("wait /a").contains("held by host"));
    }
    assert_eq!(standing(&table).1, 2);
    assert_eq!(sync.good("cancel"), "true");
    assert_eq!(sync.good("cancel"), "false", "the other's waiter of that id is not its own");
    assert_eq!(standing(&table).1, 1);
    table.release_holder("host").unwrap();
    assert_eq!((sync.good("ready"), index.good("ready")), (String::new(), "turn".to_owned()));
    assert_eq!(index.good("wait /a"), "index has /a, generation 2");
    assert_eq!(sync.good("release"), "");
    assert_eq!(sync.good("end"), "0");
    assert_eq!(standing(&table), (1, 0, 0));
}

#[test]
fn a_plugin_that_traps_or_runs_out_of_fuel_is_gone_with_its_waits_pins_and_leases() {
    for (end, why) in [("trap", "unreachable"), ("spin", "fuel")] {
        let (table, _) = table(Options::default());
        table.acquire("host", &[Wish::exclusive("/b")], None).unwrap().unwrap();
        let (mut sync, mut index) = (Plugin::new(&table, "sync"), Plugin::new(&table, "index"));
        sync.refused("wait /b");
        sync.good("acquire /a");
        sync.good("pin /a");
        index.refused("wait /a");
        assert_eq!(standing(&table), (2, 2, 1));

        let cause = sync.perform(end).expect_err("it breaks");
        assert!(cause.contains(why), "{cause}");
        assert_eq!(standing(&table), (1, 1, 0), "its store is still there, and yet it is gone");
        assert_eq!(index.good("wait /a"), "index has /a, generation 3");
        assert!(sync.store.data_mut().session.end().is_ok(), "ending twice is ending once");
        drop(sync);
        assert_eq!(standing(&table), (2, 0, 0));
    }
}

#[test]
fn a_plugin_whose_store_is_dropped_leaves_nothing() {
    let (table, _) = table(Options::default());
    let mut sync = Plugin::new(&table, "sync");
    sync.good("acquire /a");
    sync.good("pin /a");
    drop(sync);
    assert_eq!(standing(&table), (0, 0, 0));
}

#[test]
fn what_is_called_after_the_end_traps_and_changes_nothing() {
    let (table, _) = table(Options::default());
    let mut sync = Plugin::new(&table, "sync");
    sync.good("acquire /a");
    sync.good("pin /a");
    assert_eq!(sync.store.data_mut().session.end(), Ok(1));
    let cause = sync.perform("acquire /b").expect_err("over");
    assert_eq!(cause, "the session of this plugin is over");
    assert_eq!(standing(&table), (0, 0, 0));
}

#[test]
fn a_plugin_that_floods_the_waiters_meets_its_quota_and_the_others_wait_on() {
    let limits = Limits { waiters_per_holder: 4, ..Options::default().limits };
    let (table, _) = table(Options { limits, ..Options::default() });
    table.acquire("host", &[Wish::exclusive("/a")], None).unwrap().unwrap();
    let (mut sync, mut index) = (Plugin::new(&table, "sync"), Plugin::new(&table, "index"));
    assert_eq!(sync.refused("flood /a"), "the limit of 4 is reached for waiters-per-holder");
    assert_eq!(standing(&table).1, 4);
    assert!(index.refused("wait /a").contains("held by host"));
    assert_eq!(standing(&table).1, 5);
}

#[test]
fn the_quotas_of_leases_and_pins_are_those_of_one_holder() {
    let limits = Limits { leases_per_holder: 1, pins_per_holder: 2, ..Options::default().limits };
    let (table, _) = table(Options { limits, fairness: Fairness::Fifo, ..Options::default() });
    let (mut sync, mut index) = (Plugin::new(&table, "sync"), Plugin::new(&table, "index"));
    sync.good("acquire /a");
    assert_eq!(sync.refused("acquire /b"), "the limit of 1 is reached for leases-per-holder");
    index.good("acquire /b");
    sync.good("pin /a");
    sync.good("pin /a");
    assert_eq!(sync.refused("pin /a"), "the limit of 2 is reached for pins-per-holder");
    index.good("pin /b");
    assert_eq!(sync.good("unpin"), "2");
    sync.good("pin /a");
}

#[test]
fn ending_its_session_a_plugin_begins_anew() {
    let (table, _) = table(Options::default());
    let mut sync = Plugin::new(&table, "sync");
    sync.good("acquire /a");
    sync.good("pin /a");
    assert_eq!(sync.good("end"), "1");
    assert_eq!(standing(&table), (0, 0, 0));
    assert_eq!(sync.good("unpin"), "0", "its pins went with the session");
    assert_eq!(sync.good("acquire /a"), "sync has /a, generation 2");
    assert_eq!(table.covering("sync", "/a", Mode::Exclusive).unwrap().lease.unwrap().holder, "sync");
}

#[test]
fn a_holder_that_the_table_does_not_take_is_granted_nothing() {
    let (table, _) = table(Options { events: 8, ..Options::default() });
    for holder in ["", "a\nb", &"x".repeat(257)] {
        let refused = Plugin::new(&table, holder).refused("acquire /a");
        assert!(refused.starts_with("the holder must be"), "{refused}");
    }
    assert_eq!(table.take_events().unwrap().len(), 3, "a session alone is no event");
    Plugin::new(&table, &"x".repeat(256)).good("acquire /a");
}

#[test]
fn the_host_sees_when_a_plugin_is_ready_by_the_ids_that_the_plugin_knows() {
    let (table, _) = table(Options { fairness: Fairness::Fifo, ..Options::default() });
    let (mut sync, mut index) = (Plugin::new(&table, "sync"), Plugin::new(&table, "index"));
    let ready = |plugin: &Plugin| plugin.store.data().session.ready().unwrap();
    table.acquire("host", &[Wish::exclusive("/a")], None).unwrap().unwrap();
    sync.refused("wait /a");
    index.refused("wait /a");
    table.release_holder("host").unwrap();
    assert_eq!((ready(&sync), ready(&index)), (vec!["turn".to_owned()], vec![]), "the first in the queue");
    assert_eq!(sync.good("wait /a"), "sync has /a, generation 2");
    drop(sync);
    assert_eq!(ready(&index), ["turn"]);
    index.good("wait /a");
}

#[test]
fn a_bounded_pin_runs_out_and_its_handle_counts_until_it_is_dropped() {
    let limits = Limits { pins_per_holder: 1, ..Options::default().limits };
    let (table, clock) = table(Options { limits, ..Options::default() });
    let mut sync = Plugin::new(&table, "sync");
    sync.good("acquire /a");
    sync.good("brief-pin /a");
    assert_eq!(standing(&table).2, 1);
    clock.advance(1_000);
    assert_eq!(standing(&table).2, 0, "it ran out");
    assert_eq!(sync.refused("pin /a"), "the limit of 1 is reached for pins-per-holder");
    assert_eq!(standing(&table).2, 0, "and nothing is left of the one that was refused");
    assert_eq!(sync.good("unpin"), "0");
    sync.good("pin /a");
}

#[test]
fn a_waiter_id_is_bounded_less_what_the_session_adds() {
    let (table, _) = table(Options::default());
    table.acquire("host", &[Wish::exclusive("/a")], None).unwrap().unwrap();
    let mut sync = Plugin::new(&table, "sync");
    for (bytes, words) in [(239, "held by host"), (240, "the limit of 239 is reached for waiter-id")] {
        let refused = sync.refused(&format!("wait-as {} /a", "w".repeat(bytes)));
        assert!(refused.contains(words), "{bytes}: {refused}");
    }
    // The reasons come in the order of the table.
    let refused = sync.refused(&format!("wait-as {} /a/../b", "w".repeat(240)));
    assert!(!refused.contains("waiter-id"), "{refused}");
}
