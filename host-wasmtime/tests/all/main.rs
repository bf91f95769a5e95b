//! The table through the component, as a host and as a guest sees it.

mod durable;
mod guest;
mod hostile;
mod loading;
mod operations;
mod poisoned;
mod session;
mod shared;
mod time;
mod writer;

use leasebook_wasmtime::{LeaseTable, ManualClock, Options, TableComponent};
use std::sync::LazyLock;

/// The component, compiled once for all tests.
static COMPONENT: LazyLock<TableComponent> = LazyLock::new(|| TableComponent::embedded().unwrap());

/// A table and its clock, which stands at 1 000 ms.
fn table_with(options: Options) -> (LeaseTable, ManualClock) {
    let clock = ManualClock::new(1_000);
    let table = LeaseTable::builder(options).component(&COMPONENT).clock(clock.clone()).build().unwrap();
    (table, clock)
}

fn table() -> (LeaseTable, ManualClock) {
    table_with(Options::default())
}
