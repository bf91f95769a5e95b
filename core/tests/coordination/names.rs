//! Spelling: of one resource there is one name, and what could be read as another is refused.

use crate::{Desk, granted, refused, request};
use leasebook::coordination::Refused;

const A: &str = "did:web:agent-a";
const B: &str = "did:web:agent-b";

#[test]
fn names_that_are_no_plain_relative_path_are_refused_by_field() {
    let mut desk = Desk::new();
    let deep = ["a"; 10_000].join("/");
    let long = "a".repeat(4_097);
    let odd = [
        "", "/", "/a", "a/", "a//b", ".", "./a", "a/.", "..", "a/..", "a/b/..", "../a", "a\\b", "a\0", "a\nb",
        "a\u{7f}", "a\u{85}", &deep, &long,
    ];
    for name in odd {
        let Refused::Invalid(invalid) = refused(desk.ask(A, name)) else { panic!("{name:?}") };
        assert_eq!(invalid.field, "resource", "{name:?}");
        assert_eq!(invalid.found.as_deref(), Some(name));
    }
    let said = refused(desk.ask(A, "a\u{1b}[2J/")).to_string();
    assert!(said.contains("found \"a\\u{1b}[2J/\"") && said.len() < 500, "{said}");
    assert!(refused(desk.ask(A, &deep)).to_string().len() < 500);
}

#[test]
fn names_are_compared_by_whole_segments_and_bytes_as_they_are() {
    let overlap = [("a", "a"), ("a/b", "a"), ("a", "a/b/c"), ("é", "é")];
    let apart =
        [("a", "ab"), ("a/b", "a_b"), ("a", "A"), ("\u{e9}", "e\u{301}"), ("a/b", "a/c"), ("a", "a "), ("...", "a")];
    for (held, asked) in overlap {
        let mut desk = Desk::new();
        desk.grant(A, held);
        assert_eq!(refused(desk.ask(B, asked)).error(), "lease_held", "{held} {asked}");
    }
    for (held, asked) in apart {
        let mut desk = Desk::new();
        desk.grant(A, held);
        desk.grant(B, asked);
    }
}

#[test]
fn the_longest_and_the_deepest_name_are_granted() {
    let mut desk = Desk::new();
    let (long, deep) = ("a".repeat(4_096), ["b"; 255].join("/"));
    for name in [&long, &deep] {
        assert_eq!(desk.grant(A, name).lease.resources, [name.as_str()]);
    }
    assert_eq!(refused(desk.ask(B, &["b"; 256].join("/"))).error(), "invalid_field");
}

#[test]
fn a_request_names_1_to_1024_resources_and_one_named_twice_is_one() {
    let mut desk = Desk::new();
    let names: Vec<String> = (0..1_025).map(|n| format!("r{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    for odd in [&[][..], &names] {
        let Refused::Invalid(invalid) = refused(desk.request(&request(A, odd))) else { panic!("{}", odd.len()) };
        assert_eq!(invalid.field, "resources");
    }
    assert_eq!(granted(desk.request(&request(A, &names[..1_024]))).lease.resources.len(), 1_024);
    assert_eq!(granted(desk.request(&request(B, &["x", "y", "x"]))).lease.resources, ["x", "y"]);
}

#[test]
fn an_actor_that_is_no_did_is_refused_by_field() {
    let mut desk = Desk::new();
    for actor in ["", "agent-a", "did:web:", "did:WEB:a", "did:web:a b", "did:web:a\n"] {
        let Refused::Invalid(invalid) = refused(desk.ask(actor, "file")) else { panic!("{actor:?}") };
        assert_eq!(invalid.field, "actorDid", "{actor:?}");
    }
}
