//! Another component is given a table: it imports `leasebook:lease/table`, and the host chooses which one it gets.

use super::table;
use leasebook_wasmtime::wasmtime::component::{Component, Instance, Linker, Resource, ResourceTable};
use leasebook_wasmtime::wasmtime::{self, Engine, Store};
use leasebook_wasmtime::{LeaseCtx, LeaseView, SharedLeaseTable, Wish, add_to_linker};
use std::path::Path;
use std::sync::LazyLock;

/// The guest's interface.
const WORLD: &str = "
    package test:plugin;
    world plugin {
        use leasebook:lease/table@0.1.0.{table};
        /// Makes a table, `fifo` or of the host's choice, and acquires this many wishes for one path of so many bytes.
        /// Answers 0 = granted, 1 + n = refused by the n-th reason, 100 = no table.
        export acquire: func(fifo: bool, wishes: u32, path-bytes: u32) -> u32;
        export release-all: func() -> u32;
        export count-of: func(table: table) -> u32;
    }
";

/// The guest: it lays out its arguments by hand, as the canonical ABI has them.
const MODULE: &str = r#"
(module
    (import "leasebook:lease/table@0.1.0" "[static]table.new" (func $new (param i32 i32)))
    (import "leasebook:lease/table@0.1.0" "[method]table.acquire"
        (func $acquire (param i32 i32 i32 i32 i32 i32 f64 i32)))
    (import "leasebook:lease/table@0.1.0" "[method]table.release-all" (func $release-all (param i32) (result i32)))
    (import "leasebook:lease/table@0.1.0" "[method]table.release-holder"
        (func $release-holder (param i32 i32 i32) (result i32)))
    (import "leasebook:lease/table@0.1.0" "[resource-drop]table" (func $drop (param i32)))
    (memory (export "memory") 1100)
    (global $free (mut i32) (i32.const 0x4000000))
    (data (i32.const 16) "plugin-1")
    (data (i32.const 32) "writer-1")

    (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
        (local $at i32)
        (local.set $at (i32.and (i32.add (global.get $free) (i32.const 7)) (i32.const -8)))
        (global.set $free (i32.add (local.get $at) (local.get 3)))
        (local.get $at))

    ;; Options at 64, all none but the fairness; the answer at 256.
    (func $table (param $fifo i32) (result i32)
        (i32.store8 (i32.const 80) (local.get $fifo))
        (i32.store8 (i32.const 81) (local.get $fifo))
        (call $new (i32.const 64) (i32.const 256))
        (if (i32.load8_u (i32.const 256)) (then (return (i32.const -1))))
        (i32.load (i32.const 260)))

    ;; Wishes from 0x1000 on, each 12 bytes, all for the path at 0x200000; the answer at 512.
    (func (export "acquire") (param $fifo i32) (param $wishes i32) (param $bytes i32) (result i32)
        (local $table i32) (local $n i32) (local $wish i32)
        (local.set $table (call $table (local.get $fifo)))
        (if (i32.eq (local.get $table) (i32.const -1)) (then (return (i32.const 100))))
        (memory.fill (i32.const 0x200000) (i32.const 0x2f) (local.get $bytes))
        (loop $next
            (if (i32.lt_u (local.get $n) (local.get $wishes)) (then
                (local.set $wish (i32.add (i32.const 0x1000) (i32.mul (local.get $n) (i32.const 12))))
                (i32.store (local.get $wish) (i32.const 0x200000))
                (i32.store offset=4 (local.get $wish) (local.get $bytes))
                (i32.store8 offset=8 (local.get $wish) (i32.const 1))
                (local.set $n (i32.add (local.get $n) (i32.const 1)))
                (br $next))))
        (call $acquire (local.get $table) (i32.const 16) (i32.const 8)
            (i32.const 0x1000) (local.get $wishes) (i32.const 0) (f64.const 0) (i32.const 512))
        (call $drop (local.get $table))
        (if (result i32) (i32.load8_u (i32.const 512))
            (then (i32.add (i32.const 1) (i32.load8_u (i32.const 520))))
            (else (i32.const 0))))

    (func (export "release-all") (result i32)
        (call $release-all (call $table (i32.const 0))))

    (func (export "count-of") (param $table i32) (result i32)
        (local $count i32)
        (local.set $count (call $release-holder (local.get $table) (i32.const 32) (i32.const 8)))
        (call $drop (local.get $table))
        (local.get $count)))
"#;

static ENGINE: LazyLock<Engine> = LazyLock::new(Engine::default);

static PLUGIN: LazyLock<Component> = LazyLock::new(|| {
    let mut resolve = wit_parser::Resolve::default();
    resolve.push_path(Path::new(env!("CARGO_MANIFEST_DIR")).join("../wit")).unwrap();
    let package = resolve.push_str("plugin.wit", WORLD).unwrap();
    let world = resolve.select_world(&[package], None).unwrap();
    let mut module = wat::parse_str(MODULE).unwrap();
    wit_component::embed_component_metadata(&mut module, &resolve, world, Default::default()).unwrap();
    let mut encoder = wit_component::ComponentEncoder::default();
    let component = encoder.validate(true).module(&module).unwrap().encode().unwrap();
    Component::new(&ENGINE, component).unwrap()
});

struct Data {
    leases: LeaseCtx,
    handles: ResourceTable,
}

struct Plugin {
    store: Store<Data>,
    instance: Instance,
}

impl Plugin {
    fn given(table: &SharedLeaseTable, operator: bool) -> Self {
        let mut linker = Linker::<Data>::new(&ENGINE);
        add_to_linker(&mut linker, |data| LeaseView::new(&data.leases, &mut data.handles)).unwrap();
        let leases = LeaseCtx::builder(table.clone()).operator(operator).build();
        let mut store = Store::new(&ENGINE, Data { leases, handles: ResourceTable::new() });
        let instance = linker.instantiate(&mut store, &PLUGIN).unwrap();
        Self { store, instance }
    }

    fn acquire(&mut self, fifo: bool, wishes: u32, path_bytes: u32) -> wasmtime::Result<u32> {
        let function = self.instance.get_typed_func::<(bool, u32, u32), (u32,)>(&mut self.store, "acquire")?;
        function.call(&mut self.store, (fifo, wishes, path_bytes)).map(|(answer,)| answer)
    }

    fn release_all(&mut self) -> wasmtime::Result<u32> {
        let function = self.instance.get_typed_func::<(), (u32,)>(&mut self.store, "release-all")?;
        function.call(&mut self.store, ()).map(|(answer,)| answer)
    }
}

/// 1 + the place of a case in `refusal`.
const LIMIT_EXCEEDED: u32 = 6;
const BLOCKED: u32 = 9;
const UNEVALUABLE: u32 = 5;
const NO_PATHS: u32 = 4;

#[test]
fn a_guest_is_refused_what_the_host_holds_and_holds_what_it_is_granted() {
    let table = table().0.share();
    let mut plugin = Plugin::given(&table, false);
    table.acquire("writer-1", &[Wish::exclusive("/")], None).unwrap().unwrap();
    assert_eq!(plugin.acquire(false, 1, 1).unwrap(), BLOCKED);
    assert_eq!(table.release_holder("writer-1").unwrap(), 1);
    assert_eq!(plugin.acquire(false, 1, 1).unwrap(), 0);
    let leases = table.leases().unwrap();
    assert_eq!((leases.len(), leases[0].holder.as_str(), leases[0].path.as_str()), (1, "plugin-1", "/"));
    assert!(plugin.store.data().handles.is_empty(), "dropped handles are forgotten");
}

#[test]
fn a_guest_that_asks_for_another_table_gets_none() {
    let table = table().0.share();
    assert_eq!(Plugin::given(&table, false).acquire(true, 1, 1).unwrap(), 100);
    assert!(table.leases().unwrap().is_empty());
}

#[test]
fn a_guest_may_be_handed_a_table_as_an_argument() {
    let [given, handed] = [table().0.share(), table().0.share()];
    handed.acquire("writer-1", &[Wish::exclusive("/a"), Wish::exclusive("/b")], None).unwrap().unwrap();
    let Plugin { mut store, instance } = Plugin::given(&given, false);
    let function = instance.get_typed_func::<(Resource<SharedLeaseTable>,), (u32,)>(&mut store, "count-of").unwrap();
    let handle = store.data_mut().handles.push(handed.clone()).unwrap();
    assert_eq!(function.call(&mut store, (handle,)).unwrap(), (2,));
    assert!(handed.leases().unwrap().is_empty());
}

#[test]
fn only_a_guest_with_an_operators_rights_releases_everything() {
    let table = table().0.share();
    table.acquire("writer-1", &[Wish::exclusive("/a")], None).unwrap().unwrap();
    let error = Plugin::given(&table, false).release_all().unwrap_err();
    assert!(error.root_cause().to_string().contains("may not release everything"), "{error:?}");
    assert_eq!(table.leases().unwrap().len(), 1);
    assert_eq!(Plugin::given(&table, true).release_all().unwrap(), 1);
}

#[test]
fn what_a_guest_overdoes_is_refused_and_the_table_answers_on() {
    let table = table().0.share();
    let mut plugin = Plugin::given(&table, false);
    assert_eq!(plugin.acquire(false, 0, 1).unwrap(), NO_PATHS);
    assert_eq!(plugin.acquire(false, 1, 1_000_000).unwrap(), UNEVALUABLE);
    assert_eq!(plugin.acquire(false, 100_000, 1).unwrap(), LIMIT_EXCEEDED);
    assert_eq!(plugin.acquire(false, 20, 1_000_000).unwrap(), LIMIT_EXCEEDED);
    // More than its store lets it pass to a host at all.
    let error = plugin.acquire(false, 1_000, 1_000_000).unwrap_err();
    assert!(error.root_cause().to_string().contains("fuel"), "{error:?}");
    assert_eq!(Plugin::given(&table, false).acquire(false, 1, 1).unwrap(), 0);
}
