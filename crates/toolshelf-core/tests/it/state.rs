use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::{Value, json};
use toolshelf_core::{Delta, Digest, ErrorKind, GroupId, STATE_VERSION, State, ToolKey, ToolName};

use crate::generate::{group_id, tool_name};

fn group(id: &str) -> GroupId {
    GroupId::new(id).unwrap()
}

fn names(names: &[&str]) -> Vec<ToolName> {
    names
        .iter()
        .map(|name| ToolName::new(name).unwrap())
        .collect()
}

fn all(id: &str) -> Delta {
    Delta::Expand {
        group: group(id),
        tools: None,
    }
}

fn some(id: &str, tools: &[&str]) -> Delta {
    Delta::Expand {
        group: group(id),
        tools: Some(names(tools)),
    }
}

fn after(deltas: &[Delta]) -> State {
    let mut state = State::new("dispatch");
    for delta in deltas {
        state.apply(delta);
    }
    state
}

#[track_caller]
fn check(deltas: &[Delta], expanded: Value) {
    let written = serde_json::to_value(after(deltas)).unwrap();
    assert_eq!(written["expanded_groups"], expanded);
}

#[test]
fn loads_add_up() {
    check(&[], json!({}));
    check(&[all("g")], json!({"g": null}));
    check(&[some("g", &["b", "a"])], json!({"g": ["b", "a"]}));
    check(&[all("g"), some("g", &["a"])], json!({"g": null}));
    check(&[some("g", &["a"]), all("g")], json!({"g": null}));
    check(
        &[some("g", &["b"]), some("g", &["a", "b"])],
        json!({"g": ["b", "a"]}),
    );
    check(&[some("g", &["a", "a"])], json!({"g": ["a"]}));
    check(&[some("g", &[])], json!({"g": []}));
    check(
        &[all("b"), some("a", &["x"])],
        json!({"a": ["x"], "b": null}),
    );
}

#[test]
fn order_of_loading_is_kept() {
    let state = after(&[all("b"), some("a", &["x"]), all("b"), all("a"), all("c")]);
    let order: Vec<&str> = state
        .expanded_in_order()
        .iter()
        .map(|(id, _)| id.as_str())
        .collect();
    assert_eq!(order, ["b", "a", "c"]);
    assert_eq!(state.load_order, [group("b"), group("a"), group("c")]);
}

#[test]
fn the_record_has_this_shape() {
    let mut state = after(&[some("g", &["a"]), all("b")]);
    let key = ToolKey::new(group("g"), ToolName::new("a").unwrap());
    state.apply(&Delta::Fingerprint {
        key: key.clone(),
        digest: Digest::of_parts(["x"]),
    });
    state.apply(&Delta::Discover(vec![key.clone(), key]));
    state.apply(&Delta::Latch {
        name: "mode".to_owned(),
        value: json!("tst"),
    });
    assert_eq!(
        serde_json::to_value(&state).unwrap(),
        json!({
            "version": 1,
            "strategy": "dispatch",
            "expanded_groups": {"b": null, "g": ["a"]},
            "load_order": ["g", "b"],
            "discovered": [{"group": "g", "tool": "a"}],
            "fingerprints": {"g/a": Digest::of_parts(["x"]).to_string()},
            "latched": {"mode": "tst"},
        })
    );
    assert_eq!(
        serde_json::to_string(&State::new("inject")).unwrap(),
        r#"{"version":1,"strategy":"inject","expanded_groups":{},"load_order":[]}"#
    );
}

#[test]
fn a_record_of_the_source_system_is_read() {
    let state: State =
        serde_json::from_value(json!({"expanded_groups": {"b": null, "a": ["y", "x"]}})).unwrap();
    state.check("dispatch").unwrap();
    state.check("inject").unwrap();
    let order: Vec<(&str, usize)> = state
        .expanded_in_order()
        .iter()
        .map(|(id, tools)| (id.as_str(), tools.map_or(0, <[ToolName]>::len)))
        .collect();
    assert_eq!(order, [("a", 2), ("b", 0)]);
}

#[test]
fn a_load_after_a_record_without_order_comes_last() {
    // What was loaded before stays where it stood in the request, or its cache is lost.
    let mut state: State =
        serde_json::from_value(json!({"expanded_groups": {"c": null, "b": null}})).unwrap();
    state.apply(&all("a"));
    let order: Vec<&str> = state
        .expanded_in_order()
        .iter()
        .map(|(id, _)| id.as_str())
        .collect();
    assert_eq!(order, ["b", "c", "a"]);
    assert_eq!(state.load_order.len(), 3);
}

#[test]
fn what_is_not_known_is_kept() {
    let record = json!({
        "version": 1, "strategy": "dispatch", "expanded_groups": {}, "load_order": [],
        "host": {"a": 1.5}, "later": null,
    });
    let state: State = serde_json::from_value(record.clone()).unwrap();
    assert_eq!(state.extensions["host"], json!({"a": 1.5}));
    assert_eq!(serde_json::to_value(&state).unwrap(), record);
}

#[test]
fn a_mismatch_is_refused() {
    let state = State::new("dispatch");
    state.check("dispatch").unwrap();
    let error = state.check("inject").err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Mismatch);
    let said = error.to_string();
    assert!(
        said.contains("'dispatch'") && said.contains("'inject'"),
        "{said}"
    );
    let newer = State {
        version: STATE_VERSION + 1,
        ..State::new("dispatch")
    };
    assert_eq!(
        newer.check("dispatch").err().unwrap().kind(),
        ErrorKind::Mismatch
    );
}

#[test]
fn a_decision_is_made_once() {
    let latch = |value: &str| Delta::Latch {
        name: "mode".to_owned(),
        value: json!(value),
    };
    assert_eq!(
        after(&[latch("first"), latch("second")]).latched["mode"],
        "first"
    );
}

fn delta() -> impl Strategy<Value = Delta> {
    // Few names, so that changes meet.
    let group = prop_oneof![3 => "[ab]".prop_map(|id| group(&id)), 1 => group_id()];
    let tool =
        prop_oneof![3 => "[xyz]".prop_map(|name| ToolName::new(name).unwrap()), 1 => tool_name()];
    let tools = prop::option::of(prop::collection::vec(tool.clone(), 0..4));
    let key = (group.clone(), tool).prop_map(|(group, tool)| ToolKey::new(group, tool));
    prop_oneof![
        3 => (group, tools).prop_map(|(group, tools)| Delta::Expand { group, tools }),
        1 => (key.clone(), any::<String>()).prop_map(|(key, text)| Delta::Fingerprint {
            key,
            digest: Digest::of_parts([text.as_str()]),
        }),
        1 => prop::collection::vec(key, 0..3).prop_map(Delta::Discover),
        1 => ("[ab]", any::<i64>()).prop_map(|(name, value)| Delta::Latch { name, value: json!(value) }),
    ]
}

proptest! {
    #[test]
    fn what_is_written_is_read(deltas in prop::collection::vec(delta(), 0..12)) {
        let state = after(&deltas);
        let written = serde_json::to_string(&state).unwrap();
        prop_assert_eq!(serde_json::from_str::<State>(&written).unwrap(), state);
    }

    #[test]
    fn stopping_in_between_changes_nothing(
        deltas in prop::collection::vec(delta(), 0..12),
        cut in any::<prop::sample::Index>(),
    ) {
        let (before, rest) = deltas.split_at(cut.index(deltas.len() + 1));
        let written = serde_json::to_string(&after(before)).unwrap();
        let mut resumed: State = serde_json::from_str(&written).unwrap();
        for delta in rest {
            resumed.apply(delta);
        }
        prop_assert_eq!(resumed, after(&deltas));
    }

    #[test]
    fn a_load_twice_is_a_load_once(deltas in prop::collection::vec(delta(), 0..8), delta in delta()) {
        let mut once = after(&deltas);
        once.apply(&delta);
        let mut twice = once.clone();
        twice.apply(&delta);
        prop_assert_eq!(once, twice);
    }

    #[test]
    fn lists_hold_everything_once_and_nothing_moves(deltas in prop::collection::vec(delta(), 0..12)) {
        let mut state = State::new("inject");
        for delta in &deltas {
            let before = state.clone();
            state.apply(delta);
            prop_assert!(state.load_order.starts_with(&before.load_order));
            prop_assert!(state.discovered.starts_with(&before.discovered));
            for (group, known) in &before.expanded_groups {
                let now = &state.expanded_groups[group];
                let grows = match (known, now) {
                    (_, None) => true,
                    (Some(known), Some(now)) => now.starts_with(known),
                    (None, Some(_)) => false,
                };
                prop_assert!(grows, "{:?} became {:?}", known, now);
            }
        }
        let once = |len: usize, distinct: usize| len == distinct;
        prop_assert!(once(state.discovered.len(), state.discovered.iter().collect::<BTreeSet<_>>().len()));
        prop_assert_eq!(
            state.load_order.iter().collect::<BTreeSet<_>>(),
            state.expanded_groups.keys().collect::<BTreeSet<_>>()
        );
        prop_assert_eq!(state.load_order.len(), state.expanded_groups.len());
        prop_assert_eq!(state.expanded_in_order().len(), state.expanded_groups.len());
        for tools in state.expanded_groups.values().flatten() {
            prop_assert!(once(tools.len(), tools.iter().collect::<BTreeSet<_>>().len()));
        }
    }
}
