//! Generated from `wit/`: the types of the interfaces, and what a host must answer to a guest that imports them.
#![allow(unused_qualifications, clippy::all)]

wasmtime::component::bindgen!({
    path: "../wit",
    world: "guest",
    imports: { default: trappable },
    with: { "leasebook:lease/table.table": crate::SharedLeaseTable },
    additional_derives: [PartialEq],
});

/// The same for plugins, whose session shares the types of the table.
pub mod plugin {
    wasmtime::component::bindgen!({
        path: "../wit",
        world: "plugin",
        imports: { default: trappable },
        with: {
            "leasebook:lease/table": crate::bindings::leasebook::lease::table,
            "leasebook:lease/session.pinned": crate::session::Pinned,
        },
        additional_derives: [PartialEq],
    });
}
