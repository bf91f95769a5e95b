//! What is no lease component is refused when it is loaded, with a reason.

use leasebook_wasmtime::wasmtime::Engine;
use leasebook_wasmtime::{LeaseTable, LoadError, Options, TableComponent, Wish};
use std::error::Error as _;

const WITH_ANOTHER_IMPORT: &str = r#"(component (import "other" (func)))"#;

fn failure(loaded: Result<LeaseTable, LoadError>) -> String {
    let Err(error @ LoadError::Component(_)) = loaded else { panic!("it was loaded") };
    format!("{error}: {:#}", error.source().unwrap())
}

#[test]
fn precompiled_code_is_a_table_too() {
    let code = TableComponent::precompile(TableComponent::BINARY).unwrap();
    // SAFETY: they come from the line above.
    let component = unsafe { TableComponent::from_precompiled(&code) }.unwrap();
    let mut table = LeaseTable::builder(Options::default()).component(&component).build().unwrap();
    assert!(table.acquire("a", &[Wish::exclusive("/a")], None).unwrap().is_ok());
}

#[test]
fn what_is_no_lease_component_is_not_loaded() {
    let engine = Engine::new(&TableComponent::config()).unwrap();
    let build = |component: TableComponent| LeaseTable::builder(Options::default()).component(&component).build();
    let cases = [("(module)", ""), ("(component)", "leasebook:lease/table@0.1.0"), (WITH_ANOTHER_IMPORT, "other")];
    for (text, expected) in cases {
        let bytes = wat::parse_str(text).unwrap();
        let failure = failure(TableComponent::from_binary(&engine, &bytes).and_then(build));
        assert!(failure.contains(expected), "{failure}");
    }
    failure(TableComponent::from_binary(&engine, b"no wasm").and_then(build));
    // SAFETY: no header of precompiled code, so that nothing is run.
    let failure = failure(unsafe { TableComponent::from_precompiled(b"\x7fELF and so on") }.and_then(build));
    assert!(failure.starts_with("the lease component cannot be loaded: "), "{failure}");
}
