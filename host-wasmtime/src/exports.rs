//! The exports of the component, looked up and checked once for each instance, called with borrowed arguments.

use crate::bindings::leasebook::lease::table::{
    Containment, Covering, Event, Extent, InvalidOptions, Lease, LimitReached, Mode, Options, PinRefused, PinToken,
    Record, RefreshRefused, Refused, Released, RestoreError, Revoked, Status,
};
use crate::types::{LoweredAttempt, Release, Wish};
use wasmtime::AsContextMut;
use wasmtime::component::{Func, Instance, ResourceAny, TypedFunc};

/// The instance of the component that holds the exports below.
pub const INTERFACE: &str = "leasebook:lease/table@0.1.0";

macro_rules! exports {
    ($($name:ident: $export:literal ($($argument:ident: $type:ty),*) -> $answer:ty;)*) => {
        /// Every function of the interface `table`.
        pub struct Exports {
            $($name: Func,)*
        }

        impl Exports {
            /// Finds all of them in an instance; fails where one is missing or has another type.
            pub fn find(instance: &Instance, mut store: impl AsContextMut) -> wasmtime::Result<Self> {
                let missing = |name: &str| wasmtime::format_err!("the component does not export `{name}`");
                let interface = instance
                    .get_export_index(&mut store, None, INTERFACE)
                    .ok_or_else(|| missing(INTERFACE))?;
                $(
                    let index = instance
                        .get_export_index(&mut store, Some(&interface), $export)
                        .ok_or_else(|| missing($export))?;
                    let $name = *instance.get_typed_func::<($($type,)*), ($answer,)>(&mut store, &index)?.func();
                )*
                Ok(Self { $($name,)* })
            }

            $(
                // An answer is as large as what it says; it is moved once, and a refusal no more often than a grant.
                #[allow(clippy::too_many_arguments, clippy::result_large_err)]
                pub fn $name(&self, store: impl AsContextMut, $($argument: $type),*) -> wasmtime::Result<$answer> {
                    // SAFETY: `find` checked this function against these very types; the lifetimes of borrowed
                    // arguments play no part in how they are lowered.
                    let function = unsafe { TypedFunc::<($($type,)*), ($answer,)>::new_unchecked(self.$name) };
                    function.call(store, ($($argument,)*)).map(|(answer,)| answer)
                }
            )*
        }
    };
}

exports! {
    make: "[static]table.new" (options: &Options) -> Result<ResourceAny, InvalidOptions>;
    restore: "[static]table.restore" (options: &Options, records: &[Record]) -> Result<ResourceAny, RestoreError>;
    acquire: "[method]table.acquire"
        (table: ResourceAny, holder: &str, wishes: &[Wish<'_>], ttl_ms: Option<f64>) -> Result<Vec<Lease>, Refused>;
    wait_attempt: "[method]table.wait-attempt"
        (table: ResourceAny, attempt: LoweredAttempt<'_>) -> Result<Vec<Lease>, Refused>;
    cancel_wait: "[method]table.cancel-wait" (table: ResourceAny, waiter_id: &str) -> bool;
    refresh: "[method]table.refresh"
        (table: ResourceAny, holder: &str, generation: u64, ttl_ms: Option<f64>) -> Result<Lease, RefreshRefused>;
    release: "[method]table.release"
        (table: ResourceAny, holder: &str, what: Release<'_>) -> Result<Released, LimitReached>;
    release_holder: "[method]table.release-holder" (table: ResourceAny, holder: &str) -> u32;
    release_all: "[method]table.release-all" (table: ResourceAny) -> u32;
    end_session: "[method]table.end-session" (table: ResourceAny, holder: &str) -> u32;
    revoke: "[method]table.revoke" (table: ResourceAny, generation: u64, force: bool) -> Option<Revoked>;
    covering: "[method]table.covering" (table: ResourceAny, holder: &str, path: &str, mode: Mode) -> Covering;
    pin: "[method]table.pin"
        (table: ResourceAny, holder: &str, paths: &[&str], mode: Mode, deadline_ms: Option<u64>)
        -> Result<PinToken, PinRefused>;
    unpin: "[method]table.unpin" (table: ResourceAny, token: PinToken) -> bool;
    ready: "[method]table.ready" (table: ResourceAny) -> Vec<String>;
    next_deadline: "[method]table.next-deadline" (table: ResourceAny) -> Option<u64>;
    leases: "[method]table.leases" (table: ResourceAny) -> Vec<Lease>;
    status: "[method]table.status" (table: ResourceAny) -> Status;
    take_events: "[method]table.take-events" (table: ResourceAny) -> Vec<Event>;
    records: "[method]table.records" (table: ResourceAny, which: Extent) -> Vec<Record>;
    contains: "contains" (path: &str, directory: &str) -> Containment;
}
