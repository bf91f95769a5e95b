//! Acquire and release through the component, beside a component of the same exports whose answers are constants.
//!
//! So the ratio says what the table adds to a call that has to be made anyway. The other component is built for this
//! alone, by `cargo xtask bench`.

use crate::measure::in_turns;
use crate::report::{Peer, Row, thousands};
use crate::run::{Effort, target_dir};
use crate::standing::{self, ASKER, NOW, Whose};
use anyhow::{Context, Result, anyhow};
use leasebook_wasmtime::wasmtime::Engine;
use leasebook_wasmtime::{LeaseTable, ManualClock, Options, Period, Release, TableComponent, Wish};
use std::fs;
use std::hint::black_box;
use std::ops::Range;

/// Measures the rows of this part.
pub fn measure(effort: Effort, add: &mut dyn FnMut(Row)) -> Result<()> {
    let ours = TableComponent::embedded()?;
    let constant = constant()?;
    for &size in effort.standing {
        let standing = standing::count(size);
        let keys = standing::keys(standing);
        let mut table = table(&ours)?;
        let mut peer = self::table(&constant)?;
        fill(&mut table, standing)?;
        let sweeps = effort.pairs.div_ceil(keys.len());
        let sides = in_turns(
            keys.len(),
            sweeps,
            |turn: Range<usize>| keys[turn].iter().for_each(|key| pair(&mut table, key)),
            |turn: Range<usize>| keys[turn].iter().for_each(|key| pair(&mut peer, key)),
        );
        let what = format!("acquire + release through the component, {} standing leases", thousands(size));
        add(Row::nanos(what, sides.ours, Peer::new("the same calls, answered by constants", sides.peer), Some(1.5)));
    }
    Ok(())
}

fn constant() -> Result<TableComponent> {
    let file = target_dir().join("wasm/leasebook-baseline.component.wasm");
    let bytes = fs::read(&file).with_context(|| format!("read {}; run `cargo xtask bench table`", file.display()))?;
    let engine = Engine::new(&TableComponent::config()).map_err(|error| anyhow!("{error}"))?;
    Ok(TableComponent::from_binary(&engine, &bytes)?)
}

fn table(component: &TableComponent) -> Result<LeaseTable> {
    let options = Options { hash_key: 0x5eed, ..Options::default() };
    Ok(LeaseTable::builder(options).component(component).clock(ManualClock::new(NOW.get())).build()?)
}

fn fill(table: &mut LeaseTable, standing: usize) -> Result<()> {
    let day = Some(Period::from(24 * 60 * 60 * 1000_u64));
    for lease in 0..standing {
        let (holder, path) = (Whose::Sixteen.holder(lease), standing::path(lease));
        let answer = table.acquire(&holder, &[Wish::exclusive(&path)], day)?;
        answer.map_err(|refusal| anyhow!("{path}: {}", refusal.reason.reason()))?;
    }
    Ok(())
}

fn pair(table: &mut LeaseTable, key: &str) {
    let leases = table.acquire(ASKER, &[Wish::exclusive(key)], None).expect("the table is sound");
    assert!(black_box(leases).is_ok(), "nobody else is there");
    let _ = black_box(table.release(ASKER, Release::Paths(&[key])).expect("the table is sound"));
}
