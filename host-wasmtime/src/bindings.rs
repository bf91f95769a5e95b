//! Generated from `wit/`: the types of the interfaces, and what a host must answer to a guest that imports them.
#![allow(unused_qualifications, clippy::all)]

wasmtime::component::bindgen!({
    path: "../wit",
    world: "guest",
    imports: { default: trappable },
    with: { "leasebook:lease/table.table": crate::SharedLeaseTable },
    additional_derives: [PartialEq],
});
