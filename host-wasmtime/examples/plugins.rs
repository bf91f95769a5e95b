//! Two plugins of one host act on the same paths, and neither can do so while the other does.
//!
//!     cargo xtask wasm && cargo run -p leasebook-wasmtime --example plugins
//!
//! The host chooses the table and under which holder each plugin acts. What a plugin has ends with it, however it ends.

use leasebook_wasmtime::wasmtime::component::{Component, Linker, ResourceTable, TypedFunc};
use leasebook_wasmtime::wasmtime::{self, Config, Engine, Store};
use leasebook_wasmtime::{
    LeaseTable, Limits, Options, Session, SessionView, SharedLeaseTable, add_session_to_linker, call_plugin,
};

/// What the host keeps for each plugin.
struct Data {
    session: Session,
    handles: ResourceTable,
}

struct Plugin {
    store: Store<Data>,
    perform: TypedFunc<(String,), (Result<String, String>,)>,
}

/// What one task of a plugin may cost: some milliseconds.
const FUEL: u64 = 10_000_000;

impl Plugin {
    fn load(component: &Component, table: &SharedLeaseTable, holder: &str) -> wasmtime::Result<Self> {
        let mut linker = Linker::<Data>::new(component.engine());
        add_session_to_linker(&mut linker, |data| SessionView::new(&mut data.session, &mut data.handles))?;
        let data = Data { session: Session::new(table.clone(), holder), handles: ResourceTable::new() };
        let mut store = Store::new(component.engine(), data);
        store.set_fuel(FUEL)?;
        let instance = linker.instantiate(&mut store, component)?;
        let perform = instance.get_typed_func(&mut store, "perform")?;
        Ok(Self { store, perform })
    }

    /// Lets the plugin do a task, and says what came of it.
    fn perform(&mut self, task: &str) -> String {
        let Self { store, perform } = self;
        let done = call_plugin(
            store,
            |data| &mut data.session,
            |store| {
                store.set_fuel(FUEL)?;
                perform.call(store, (task.to_owned(),))
            },
        );
        let holder = store.data().session.holder();
        match done {
            Ok((Ok(said) | Err(said),)) => format!("{holder}: {task}\n    {said}"),
            Err(error) => format!("{holder}: {task}\n    the plugin is gone: {}", error.root_cause()),
        }
    }
}

fn main() -> wasmtime::Result<()> {
    let engine = Engine::new(Config::new().consume_fuel(true))?;
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/wasm/leasebook-plugin.component.wasm");
    let component = Component::from_file(&engine, file)?;

    // No plugin may wait for more than four things.
    let limits = Limits { waiters_per_holder: 4, ..Options::default().limits };
    let table = LeaseTable::new(Options { limits, ..Options::default() })?.share();
    let mut sync = Plugin::load(&component, &table, "sync")?;
    let mut index = Plugin::load(&component, &table, "index")?;

    println!("{}", sync.perform("acquire /srv/docs"));
    println!("{}", index.perform("acquire /srv/docs/readme.md"));
    println!("{}", index.perform("wait /srv/docs/readme.md"));
    println!("{}", index.perform("flood /srv/docs"));
    println!("{}", sync.perform("spin"));
    println!("{}", index.perform("wait /srv/docs/readme.md"));
    Ok(())
}
