//! One table for many threads.

use super::{table, table_with};
use leasebook_wasmtime::{Clock, LeaseTable, Options, Release, SharedLeaseTable, Wish};
use std::sync::{Arc, Mutex};

#[test]
fn a_table_and_its_clocks_go_to_any_thread() {
    fn any_thread<T: Send + Sync + 'static>() {}
    any_thread::<SharedLeaseTable>();
    any_thread::<Arc<dyn Clock>>();
    fn moved<T: Send + 'static>() {}
    moved::<LeaseTable>();
}

#[test]
fn of_many_threads_one_at_a_time_has_the_path() {
    let table = table().0.share();
    let generations = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for n in 0..8 {
            let (table, generations) = (table.clone(), &generations);
            scope.spawn(move || {
                let holder = format!("holder-{n}");
                let mut granted = 0;
                while granted < 25 {
                    let Ok(leases) = table.acquire(&holder, &[Wish::exclusive("/a")], None).unwrap() else { continue };
                    granted += 1;
                    let held = table.leases().unwrap();
                    assert_eq!((held.len(), held[0].holder.as_str()), (1, holder.as_str()));
                    generations.lock().unwrap().push(leases[0].generation);
                    assert_eq!(table.release(&holder, Release::All).unwrap().unwrap().released, ["/a"]);
                }
            });
        }
    });
    let generations = generations.into_inner().unwrap();
    assert_eq!(generations, (1..=200).collect::<Vec<u64>>());
}

#[test]
fn the_clock_of_a_shared_table_may_use_the_table() {
    // It would deadlock if the clock were read under the lock.
    let (table, _) = table_with(Options::default());
    let shared = table.share();
    let inner = shared.clone();
    let clock = move || {
        inner.leases().unwrap();
        5_000
    };
    let outer = LeaseTable::builder(Options::default()).component(&super::COMPONENT).clock(clock).build().unwrap();
    let lease = outer.share().acquire("a", &[Wish::exclusive("/a")], None).unwrap().unwrap().remove(0);
    assert_eq!(lease.acquired_at_ms, 5_000);
}

#[cfg(feature = "tokio")]
#[tokio::test]
async fn a_task_asks_on_a_blocking_thread() {
    use leasebook_wasmtime::AsyncLeaseTable;
    let table = AsyncLeaseTable::from(table().0.share());
    let asking = std::thread::current().id();
    let (granted, asked) = table
        .call(move |table| {
            let granted = table.acquire("a", &[Wish::exclusive("/a")], None)?;
            Ok((granted, std::thread::current().id()))
        })
        .await
        .unwrap();
    assert_eq!(granted.unwrap()[0].generation, 1);
    assert_ne!(asked, asking);
    assert_eq!(table.shared().leases().unwrap().len(), 1);
}
