//! Generated from `wit/`: the types of the interfaces, and what a host must answer to a guest that imports them.
#![allow(missing_docs, unused_qualifications, clippy::all)]

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

/// What the component exports for writer leases, and what it imports for them.
pub mod writer {
    wasmtime::component::bindgen!({
        path: "../wit",
        inline: "
            package leasebook:host;
            world writer {
                import leasebook:lease/marker-files@0.1.0;
                export leasebook:lease/writer-lease@0.1.0;
            }
        ",
        world: "leasebook:host/writer",
        imports: { default: trappable },
        with: { "leasebook:lease/marker-files.place": crate::writer::Place },
        additional_derives: [PartialEq],
    });
}
