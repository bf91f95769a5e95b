//! How an answer is compared with a recorded one. An implementation may say more; it never says less or otherwise.
//!
//! Lists keep their order, but for pins and waiters, which are sets. Pin tokens are compared by what they were given
//! for, not by their spelling. A cycle may be another valid one: this file says what remains to be asked, and judges it.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::{Map, Value};

/// One field that an answer lacks or says otherwise.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FieldDifference {
    /// Where in the answer: `conflicts[0].holder`.
    pub at: String,
    /// What was recorded; none where nothing more was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<Value>,
    /// What was answered; none where nothing was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answered: Option<Value>,
}

/// The pin tokens of a run: recorded to answered, one to one.
#[derive(Debug, Default)]
pub struct Tokens(BTreeMap<String, String>);

impl Tokens {
    /// The token to send where the run names this one; one that no run was given where it names an unknown one.
    pub fn translated(&self, recorded: &str) -> String {
        self.0.get(recorded).cloned().unwrap_or_else(|| "never-given".to_owned())
    }

    /// Remembers that two tokens are one pin; false where either already belongs to another.
    fn bind(&mut self, recorded: &str, answered: &str) -> bool {
        if let Some(bound) = self.0.get(recorded) {
            return bound == answered;
        }
        let taken = self.0.values().any(|bound| bound == answered);
        if !taken {
            self.0.insert(recorded.to_owned(), answered.to_owned());
        }
        !taken
    }
}

/// What a comparison found.
#[derive(Debug, Default, PartialEq)]
pub struct Compared {
    /// What differs.
    pub fields: Vec<FieldDifference>,
    /// Another cycle than the recorded one was answered: it is right if [`is_cycle`] says so.
    pub cycle: Option<Vec<String>>,
}

/// Compares an answer with the recorded one.
pub fn compare(expected: &Value, answered: &Value, tokens: &mut Tokens) -> Compared {
    let mut walk = Walk { found: Compared::default(), tokens };
    walk.values("", expected, answered);
    walk.found
}

struct Walk<'t> {
    found: Compared,
    tokens: &'t mut Tokens,
}

impl Walk<'_> {
    fn differs(&mut self, at: &str, expected: Option<&Value>, answered: Option<&Value>) {
        let (expected, answered) = (expected.cloned(), answered.cloned());
        self.found.fields.push(FieldDifference { at: at.to_owned(), expected, answered });
    }

    fn values(&mut self, at: &str, expected: &Value, answered: &Value) {
        match (expected, answered) {
            (Value::Object(expected), Value::Object(answered)) => self.objects(at, expected, answered),
            (Value::Array(these), Value::Array(those)) if these.len() == those.len() => {
                for (n, (this, that)) in these.iter().zip(those).enumerate() {
                    self.values(&format!("{at}[{n}]"), this, that);
                }
            }
            _ if expected == answered => {}
            _ => self.differs(at, Some(expected), Some(answered)),
        }
    }

    fn objects(&mut self, at: &str, expected: &Map<String, Value>, answered: &Map<String, Value>) {
        for (name, this) in expected {
            let at = if at.is_empty() { name.clone() } else { format!("{at}.{name}") };
            let Some(that) = answered.get(name) else {
                self.differs(&at, Some(this), None);
                continue;
            };
            match (name.as_str(), this, that) {
                ("token", Value::String(recorded), Value::String(token)) => {
                    if !self.tokens.bind(recorded, token) {
                        self.differs(&at, Some(this), Some(that));
                    }
                }
                ("pins", Value::Array(these), Value::Array(those)) => self.sets(&at, "token", these, those),
                ("waiters", Value::Array(these), Value::Array(those)) => self.sets(&at, "id", these, those),
                ("cycle", Value::Array(_), Value::Array(those)) if this != that => {
                    let cycle: Option<Vec<_>> = those.iter().map(|holder| holder.as_str().map(str::to_owned)).collect();
                    match cycle {
                        Some(cycle) => self.found.cycle = Some(cycle),
                        None => self.differs(&at, Some(this), Some(that)),
                    }
                }
                _ => self.values(&at, this, that),
            }
        }
    }

    /// Compares two lists as sets whose elements are told apart by one field.
    fn sets(&mut self, at: &str, key: &str, these: &[Value], those: &[Value]) {
        let mut left: Vec<&Value> = those.iter().collect();
        for this in these {
            let named = this[key].as_str().unwrap_or_default();
            let sought = if key == "token" { self.tokens.translated(named) } else { named.to_owned() };
            let at = format!("{at}[{named}]");
            match left.iter().position(|that| that[key] == sought.as_str()) {
                Some(place) => self.values(&at, this, left.swap_remove(place)),
                None => self.differs(&at, Some(this), None),
            }
        }
        for that in left {
            self.differs(&format!("{at}[{}]", that[key].as_str().unwrap_or_default()), None, Some(that));
        }
    }
}

/// Is this a cycle that the asking holder leads to? First = last, and each step is an edge: a waiting holder to the
/// holder of a lease in its way. `status` is what stands beside the attempt, `answered` names what is in its way.
pub fn is_cycle(cycle: &[String], asker: &str, status: &Value, answered: &Value) -> bool {
    let mut edges: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for waiter in list(status, "waiters") {
        let holder = text(waiter, "holder");
        for (path, mode) in list(waiter, "paths").iter().zip(list(waiter, "modes")) {
            let wish = (path.as_str().unwrap_or_default(), mode.as_str().unwrap_or_default());
            for lease in list(status, "leases") {
                if text(lease, "holder") != holder && clash(wish, (text(lease, "path"), text(lease, "mode"))) {
                    edges.entry(holder).or_default().insert(text(lease, "holder"));
                }
            }
        }
    }
    let in_the_way = list(answered, "conflicts").iter().map(|conflict| text(conflict, "holder"));
    edges.entry(asker).or_default().extend(in_the_way.filter(|holder| *holder != asker));

    let is_edge = |from: &str, to: &str| edges.get(from).is_some_and(|ends| ends.contains(to));
    let closed = cycle.len() >= 2 && cycle.first() == cycle.last();
    let mut reached: Vec<&str> = vec![asker];
    let mut next = 0;
    while let Some(&holder) = reached.get(next) {
        next += 1;
        let ends = edges.get(holder).into_iter().flatten().copied();
        let new: Vec<&str> = ends.filter(|end| !reached.contains(end)).collect();
        reached.extend(new);
    }
    closed && reached.contains(&cycle[0].as_str()) && cycle.windows(2).all(|step| is_edge(&step[0], &step[1]))
}

fn list<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value[name].as_array().map_or(&[], Vec::as_slice)
}

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value[name].as_str().unwrap_or_default()
}

/// Do two claims, each a path and a mode, exclude each other? What cannot be compared does.
fn clash(one: (&str, &str), other: (&str, &str)) -> bool {
    let segments = |path: &str| -> Vec<String> {
        path.split('/').filter(|segment| !matches!(*segment, "" | ".")).map(str::to_owned).collect()
    };
    let (a, b) = (segments(one.0), segments(other.0));
    let comparable = one.0.starts_with('/') == other.0.starts_with('/');
    (one.1, other.1) != ("shared", "shared") && (!comparable || a.starts_with(&b) || b.starts_with(&a))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn differing(expected: Value, answered: Value) -> Vec<String> {
        compare(&expected, &answered, &mut Tokens::default()).fields.into_iter().map(|field| field.at).collect()
    }

    #[test]
    fn more_is_allowed_less_and_otherwise_are_not() {
        let recorded = json!({"granted": false, "conflicts": [{"holder": "a", "held-for-ms": 3}]});
        let more = json!({"granted": false, "sentence": "…", "conflicts": [{"holder": "a", "held-for-ms": 3, "mode": "shared"}]});
        assert_eq!(differing(recorded.clone(), more), [""; 0]);
        let otherwise = json!({"granted": true, "conflicts": [{"holder": "b"}]});
        assert_eq!(
            differing(recorded.clone(), otherwise),
            ["conflicts[0].held-for-ms", "conflicts[0].holder", "granted"]
        );
        assert_eq!(differing(recorded, json!({"granted": false})), ["conflicts"]);
    }

    #[test]
    fn lists_keep_order_and_length() {
        assert_eq!(differing(json!({"released": ["/a", "/b"]}), json!({"released": ["/b", "/a"]})).len(), 2);
        assert_eq!(differing(json!({"released": ["/a"]}), json!({"released": ["/a", "/b"]})), ["released"]);
        assert_eq!(differing(json!({"not-held": [7]}), json!({"not-held": ["7"]})), ["not-held[0]"]);
        assert_eq!(differing(json!({"deadline-ms": null}), json!({"deadline-ms": 5})), ["deadline-ms"]);
        assert_eq!(differing(json!({"deadline-ms": null}), json!({})), ["deadline-ms"]);
    }

    #[test]
    fn waiters_are_a_set() {
        let recorded = json!({"waiters": [{"id": "x", "holder": "a"}, {"id": "y", "holder": "b"}]});
        assert_eq!(
            differing(recorded.clone(), json!({"waiters": [{"id": "y", "holder": "b"}, {"id": "x", "holder": "a"}]})),
            [""; 0]
        );
        assert_eq!(differing(recorded.clone(), json!({"waiters": [{"id": "x", "holder": "a"}]})), ["waiters[y]"]);
        let more = json!({"waiters": [{"id": "x", "holder": "a"}, {"id": "y", "holder": "c"}, {"id": "z"}]});
        assert_eq!(differing(recorded, more), ["waiters[y].holder", "waiters[z]"]);
    }

    #[test]
    fn tokens_are_one_to_one() {
        let mut tokens = Tokens::default();
        let mut pinned = |recorded: &str, answered: &str| {
            let (expected, said) = (json!({"token": recorded}), json!({"token": answered}));
            compare(&expected, &said, &mut tokens).fields.is_empty()
        };
        assert!(pinned("pin-1", "pin-7"));
        assert!(pinned("pin-2", "pin-8"));
        assert!(pinned("pin-1", "pin-7"));
        assert!(!pinned("pin-3", "pin-7"), "one answered token for two recorded ones");
        assert!(!pinned("pin-2", "pin-9"), "two answered tokens for a recorded one");

        assert_eq!((tokens.translated("pin-1"), tokens.translated("pin-0")), ("pin-7".into(), "never-given".into()));
        let status = |token: &str| json!({"pins": [{"token": token, "holder": "a"}]});
        assert_eq!(compare(&status("pin-1"), &status("pin-7"), &mut tokens).fields, []);
        assert_eq!(compare(&status("pin-1"), &status("pin-8"), &mut tokens).fields.len(), 2);
        // Of a lease, `pins` is a number.
        assert_eq!(compare(&json!({"pins": 1}), &json!({"pins": 2}), &mut tokens).fields.len(), 1);
    }

    #[test]
    fn another_cycle_is_judged_by_the_edges_of_leases() {
        let lease = |holder: &str, path: &str| json!({"holder": holder, "path": path, "mode": "exclusive"});
        let waiter = |holder: &str, path: &str| json!({"holder": holder, "paths": [path], "modes": ["shared"]});
        let status = json!({
            "leases": [lease("a", "/a"), lease("b", "/b"), lease("c", "/c")],
            "waiters": [waiter("b", "/c//x"), waiter("c", "/b"), waiter("c", "/ax")],
        });
        let answered = json!({"conflicts": [{"holder": "b"}, {"holder": "a"}]});
        let judged = |cycle: &[&str]| {
            is_cycle(&cycle.iter().map(|&holder| holder.to_owned()).collect::<Vec<_>>(), "a", &status, &answered)
        };
        assert!(judged(&["b", "c", "b"]));
        assert!(judged(&["c", "b", "c"]));
        assert!(!judged(&["a", "b", "a"]), "b does not wait for a");
        assert!(!judged(&["c", "a", "c"]), "/ax is not in /a");
        assert!(!judged(&["b", "c"]), "not closed");
        assert!(!judged(&["b"]) && !judged(&[]));
        assert!(!is_cycle(&["b".into(), "c".into(), "b".into()], "a", &status, &json!({})), "not reached");

        let found =
            compare(&json!({"cycle": ["a", "b", "a"]}), &json!({"cycle": ["a", "c", "a"]}), &mut Tokens::default());
        assert_eq!((found.fields.len(), found.cycle.unwrap()), (0, vec!["a".to_owned(), "c".into(), "a".into()]));
        assert_eq!(differing(json!({"cycle": ["a", "a"]}), json!({})), ["cycle"]);
    }

    #[test]
    fn claims_exclude_each_other_by_whole_segments() {
        for (one, other, answer) in [
            (("/a", "exclusive"), ("/a/b", "shared"), true),
            (("/a/./b/", "exclusive"), ("//a", "exclusive"), true),
            (("/a", "exclusive"), ("/ab", "exclusive"), false),
            (("a", "exclusive"), ("/b", "shared"), true),
            (("a", "shared"), ("/b", "shared"), false),
            (("/", "exclusive"), ("/b", "exclusive"), true),
        ] {
            assert_eq!(clash(one, other), answer, "{one:?} {other:?}");
            assert_eq!(clash(other, one), answer, "{other:?} {one:?}");
        }
    }
}
