//! One instance of the component with one table in it, until it traps.
//!
//! Invariants: an operation is given its moment before it starts, so that none of the embedder's code runs while a
//! caller of a shared table holds its lock. After the first failure of a call the instance is gone, and every later
//! call is told so: what a call that trapped had done by then is not known.

use crate::component::{State, TableComponent};
use crate::error::{CallError, LoadError};
use crate::exports::Exports;
use crate::options::Options;
use crate::{Record, sizes};
use std::sync::Arc;
use wasmtime::component::ResourceAny;
use wasmtime::{Store, StoreLimitsBuilder};

pub struct Book {
    state: Result<Box<Live>, Arc<str>>,
}

struct Live {
    store: Store<State>,
    exports: Exports,
    table: ResourceAny,
    call_ticks: u64,
}

/// How an instance is made.
pub struct Plan<'a> {
    pub component: &'a TableComponent,
    pub options: &'a Options,
    /// Bytes.
    pub instance_bytes_max: u64,
    /// How far the epoch may get during one call.
    pub call_ticks: Option<u64>,
}

/// Epochs that pass during no call.
pub const TICKS_UNBOUNDED: u64 = 1 << 62;

impl Book {
    pub fn new(plan: &Plan<'_>) -> Result<Self, LoadError> {
        let (mut store, exports) = instantiate(plan)?;
        let made = exports.make(&mut store, &plan.options.for_component()).map_err(LoadError::component)?;
        Ok(Self::with(plan, store, exports, made.map_err(LoadError::Options)?))
    }

    pub fn restore(plan: &Plan<'_>, records: &[Record]) -> Result<Self, LoadError> {
        sizes::check_records(records, plan.options.memory_bytes_max).map_err(LoadError::Restore)?;
        let (mut store, exports) = instantiate(plan)?;
        let made = exports.restore(&mut store, &plan.options.for_component(), records).map_err(LoadError::component)?;
        Ok(Self::with(plan, store, exports, made.map_err(LoadError::Restore)?))
    }

    /// Runs one operation at a moment.
    pub fn call<T>(
        &mut self,
        now_ms: u64,
        operation: impl FnOnce(&Exports, &mut Store<State>, ResourceAny) -> wasmtime::Result<T>,
    ) -> Result<T, CallError> {
        let live = self.state.as_mut().map_err(|cause| CallError::Poisoned { cause: cause.clone() })?;
        live.store.data_mut().now_ms = now_ms;
        live.store.set_epoch_deadline(live.call_ticks);
        operation(&live.exports, &mut live.store, live.table).map_err(|error| {
            let cause: Arc<str> = error.root_cause().to_string().into();
            self.state = Err(cause.clone());
            CallError::Poisoned { cause }
        })
    }

    fn with(plan: &Plan<'_>, store: Store<State>, exports: Exports, table: ResourceAny) -> Self {
        let call_ticks = plan.call_ticks.unwrap_or(TICKS_UNBOUNDED);
        Self { state: Ok(Box::new(Live { store, exports, table, call_ticks })) }
    }
}

fn instantiate(plan: &Plan<'_>) -> Result<(Store<State>, Exports), LoadError> {
    let bytes_max = usize::try_from(plan.instance_bytes_max).unwrap_or(usize::MAX);
    // Growth beyond the bound traps by that name, instead of by the `unreachable` that an allocator ends in.
    let limits = StoreLimitsBuilder::new().memory_size(bytes_max).trap_on_grow_failure(true).build();
    let mut store = Store::new(plan.component.engine(), State { now_ms: 0, limits, files: None });
    store.limiter(|state| &mut state.limits);
    store.set_epoch_deadline(TICKS_UNBOUNDED);
    // Answers are copies of what the instance holds, and its memory is bounded already.
    store.set_hostcall_fuel(bytes_max);
    let instance = plan.component.pre().instantiate(&mut store).map_err(LoadError::component)?;
    let exports = Exports::find(&instance, &mut store).map_err(LoadError::component)?;
    Ok((store, exports))
}
