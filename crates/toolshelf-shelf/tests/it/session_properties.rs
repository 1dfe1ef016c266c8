//! What holds of sessions whatever the model does.

use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};
use toolshelf_core::{
    Call, CallContext, Cancellation, LoadContext, Loaded, State, Surface, ToolGroup,
};
use toolshelf_shelf::{Session, SessionOptions, Shelf};
use toolshelf_strategies::{Dispatch, Inject, Standard};

use crate::fixtures::{Log, echo, group, id, prefix, request, shelf, surface};

/// Stands in every schema, and so nowhere else than there.
const SCHEMA: &str = r#"{"type":"object","properties":{"marker_of_a_schema":{}}}"#;

const GROUPS: [(&str, &[&str]); 4] = [
    ("a", &["a1", "a2", "a3", "same"]),
    ("mcp:b", &["b1", "same"]),
    ("later", &["l1", "l2"]),
    ("empty", &[]),
];

const NAMES: [&str; 10] = [
    "a1",
    "a/a2",
    "a__a3",
    "same",
    "mcp:b/b1",
    "l2",
    "later/nope",
    "nope",
    "core",
    "load_tools",
];

/// A shelf that does not know the names of one group before it is loaded.
fn world(log: &Log) -> Shelf {
    world_with(log, &["a", "mcp:b", "empty"])
}

fn world_with(log: &Log, declared: &[&str]) -> Shelf {
    let mut groups: Vec<ToolGroup> = GROUPS
        .iter()
        .map(|(group_id, names)| {
            let log = log.clone();
            let loader = move |_: LoadContext| {
                log.note(format!("load {group_id}"));
                let tools = names.iter().map(|name| echo(&log, group_id, name, SCHEMA));
                let loaded = Loaded::new(tools);
                async move { Ok(loaded) }
            };
            let group = ToolGroup::new(id(group_id), loader);
            match declared.contains(group_id) {
                true => group.declared_tools(*names).unwrap(),
                false => group,
            }
        })
        .collect();
    groups.push(ToolGroup::core(
        id("host"),
        vec![echo(log, "host", "core", SCHEMA)],
    ));
    shelf(groups)
}

#[derive(Debug, Clone)]
enum Act {
    Call(&'static str, Value),
    Invalidate(&'static str),
}

fn a_group() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["a", "mcp:b", "later", "empty", "nope"])
}

fn act() -> impl Strategy<Value = Act> {
    let name = || prop::sample::select(NAMES.to_vec());
    let picks = prop::collection::vec(
        prop::sample::select(vec!["a1", "a3", "same", "b1", "l2", "nope"]),
        0..3,
    );
    prop_oneof![
        4 => a_group().prop_map(|group| Act::Call("load_tools", json!({"group_id": group}))),
        4 => (a_group(), picks).prop_map(|(group, picks)| {
            Act::Call("load_tools", json!({"group_id": group, "tool_names": picks}))
        }),
        3 => name().prop_map(|name| {
            Act::Call("deferred_tool_call", json!({"tool_name": name, "arguments": {"x": 1}}))
        }),
        2 => name().prop_map(|name| Act::Call(name, json!({"x": 1}))),
        1 => a_group().prop_map(Act::Invalidate),
    ]
}

/// What is done between two requests: a batch.
fn turns() -> impl Strategy<Value = Vec<Vec<Act>>> {
    prop::collection::vec(prop::collection::vec(act(), 0..4), 1..10)
}

fn begin(shelf: &Shelf, name: &str) -> Session {
    crate::fixtures::begin(shelf, strategy(name))
}

fn strategy(name: &str) -> Arc<dyn toolshelf_core::Strategy> {
    match name {
        "dispatch" => Arc::new(Dispatch::default()),
        "inject" => Arc::new(Inject::default()),
        _ => Arc::new(Standard::default()),
    }
}

/// Plays one turn and gives what was answered.
async fn play(session: &Session, turn: &[Act]) -> Vec<String> {
    let mut calls: Vec<(Call, CallContext)> = Vec::new();
    for act in turn {
        match act {
            Act::Call(name, arguments) => {
                calls.push((request(name, arguments.clone()), CallContext::new()));
            }
            Act::Invalidate(group) if *group != "nope" => session.shelf().invalidate(&id(group)),
            Act::Invalidate(_) => {}
        }
    }
    let asked: Vec<Call> = calls.iter().map(|(call, _)| call.clone()).collect();
    let reports = session.call_batch(calls).await;
    let envelopes: Vec<Call> = reports
        .iter()
        .map(|report| report.envelope.clone())
        .collect();
    assert_eq!(
        envelopes, asked,
        "in the order of the calls, under their ids"
    );
    reports.iter().map(|report| report.text()).collect()
}

/// What every request must be.
fn check(session: &Session, surface: &Surface) {
    let names: Vec<&str> = surface.tools.iter().map(|slot| &*slot.name).collect();
    let unique: BTreeSet<&str> = names.iter().copied().collect();
    assert_eq!(unique.len(), names.len(), "{names:?}");
    for name in &names {
        let legal = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        assert!(name.len() <= 64 && name.chars().all(legal), "{name}");
    }
    let strategy = session.strategy().name();
    assert_eq!(strategy != "standard", unique.contains("load_tools"));
    assert_eq!(
        strategy == "dispatch",
        unique.contains("deferred_tool_call")
    );
    session.shelf().with_groups(|groups| {
        for key in surface.tools.iter().filter_map(|slot| slot.key.as_ref()) {
            assert!(groups.get(key.group.as_str()).is_some(), "{key}");
        }
    });
    let section = surface.prompt_section.as_deref().unwrap_or_default();
    assert!(!section.contains("marker_of_a_schema"));
}

/// The keys of the deferred tools in the array.
fn joined(surface: &Surface) -> Vec<String> {
    let keys = surface.tools.iter().filter_map(|slot| slot.key.as_ref());
    let keys = keys.filter(|key| key.group != *"host");
    keys.map(ToString::to_string).collect()
}

/// Runs in a paused time.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(future)
}

fn stored(session: &Session) -> State {
    let record = serde_json::to_string(&*session.state()).unwrap();
    serde_json::from_str(&record).unwrap()
}

const STRATEGIES: [&str; 3] = ["dispatch", "inject", "standard"];

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn every_request_is_one_that_a_provider_takes(
        name in prop::sample::select(STRATEGIES.to_vec()),
        turns in turns(),
    ) {
        block_on(async {
            let session = begin(&world(&Log::default()), name);
            let first = surface(&session).await;
            let mut before = joined(&first);
            for turn in &turns {
                play(&session, turn).await;
                let now = surface(&session).await;
                check(&session, &now);
                match name {
                    "dispatch" => assert_eq!(prefix(&now), prefix(&first)),
                    // Tools are appended and never move.
                    "inject" => assert!(joined(&now).starts_with(&before), "{before:?}"),
                    _ => {}
                }
                before = joined(&now);
            }
        });
    }

    #[test]
    fn loading_twice_is_loading_once(
        name in prop::sample::select(vec!["dispatch", "inject"]),
        turns in turns(),
        group in a_group(),
        picks in prop::option::of(prop::collection::vec(
            prop::sample::select(vec!["a1", "a3", "same", "b1"]), 1..3)),
    ) {
        block_on(async {
            let log = Log::default();
            let session = begin(&world(&log), name);
            for turn in &turns {
                play(&session, turn).await;
            }
            let load = Act::Call("load_tools", json!({"group_id": group, "tool_names": picks}));
            let first = play(&session, std::slice::from_ref(&load)).await;
            let (state, bytes) = (session.state(), prefix(&*surface(&session).await));
            let state = if name == "inject" { session.state() } else { state };
            log.take();
            let second = play(&session, std::slice::from_ref(&load)).await;
            assert_eq!(first, second);
            assert_eq!(session.state(), state);
            assert_eq!(prefix(&*surface(&session).await), bytes);
            assert!(log.take().is_empty());
        });
    }

    #[test]
    fn resuming_is_never_having_stopped(
        name in prop::sample::select(STRATEGIES.to_vec()),
        before in turns(),
        after in turns(),
    ) {
        block_on(async {
            let (log, other) = (Log::default(), Log::default());
            // Names that an implicit load, or another session, brought are the shelf's:
            // inject lists them from then on, and who resumes elsewhere does not know them.
            let world = |log| world_with(log, &["a", "mcp:b", "empty", "later"]);
            let session = begin(&world(&log), name);
            surface(&session).await;
            for turn in &before {
                play(&session, turn).await;
            }
            let state = stored(&session);
            let expanded: BTreeSet<String> = state
                .expanded_groups
                .keys()
                .map(|group| format!("load {group}"))
                .collect();
            let (resumed, report) = world(&other)
                .resume(strategy(name), SessionOptions::default(), state, &Cancellation::new())
                .await
                .unwrap();
            assert!(report.failed.is_empty() && report.unknown.is_empty());
            assert!(report.gone.is_empty() && report.changed.is_empty());
            assert_eq!(resumed.state(), session.state());
            // Each loader ran once, and does not run again for the first call.
            let mut ran = other.take();
            ran.retain(|line| line.starts_with("load "));
            if name != "standard" {
                assert_eq!(ran.len(), expanded.len());
                assert_eq!(ran.into_iter().collect::<BTreeSet<_>>(), expanded);
            }
            for turn in &after {
                assert_eq!(
                    prefix(&*surface(&resumed).await),
                    prefix(&*surface(&session).await)
                );
                assert_eq!(play(&resumed, turn).await, play(&session, turn).await);
                assert_eq!(resumed.state(), session.state());
            }
        });
    }

    #[test]
    fn a_fork_never_changes_its_parent(
        name in prop::sample::select(STRATEGIES.to_vec()),
        before in turns(),
        after in turns(),
    ) {
        // Invalidations are the shelf's, which both share.
        let calls = |turns: Vec<Vec<Act>>| -> Vec<Vec<Act>> {
            let only = |turn: Vec<Act>| turn.into_iter().filter(|act| matches!(act, Act::Call(..)));
            turns.into_iter().map(|turn| only(turn).collect()).collect()
        };
        let (before, after) = (calls(before), calls(after));
        block_on(async {
            let session = begin(&world(&Log::default()), name);
            for turn in &before {
                play(&session, turn).await;
                surface(&session).await;
            }
            let bytes = prefix(&*surface(&session).await);
            let state = session.state();
            let fork = session.fork();
            assert_eq!(prefix(&*surface(&fork).await), bytes);
            for turn in &after {
                play(&fork, turn).await;
                surface(&fork).await;
            }
            assert_eq!(session.state(), state);
            if name != "inject" {
                assert_eq!(prefix(&*surface(&session).await), bytes);
            } else {
                // Names that a load of the fork brought may stand in the catalog.
                let now = surface(&session).await;
                assert_eq!(joined(&now).len() + 2, now.tools.len());
            }
            assert_eq!(session.state(), state);
        });
    }

    #[test]
    fn whatever_a_model_writes_is_answered(name in ".{0,40}", arguments in any_json()) {
        block_on(async {
            let log = Log::default();
            let shelf = shelf([group(&log, "g", &["t"])]);
            for strategy in STRATEGIES {
                let session = begin(&shelf, strategy);
                for called in [name.as_str(), "load_tools", "deferred_tool_call", "g__t"] {
                    let wrapped = json!({"tool_name": name, "arguments": arguments,
                        "group_id": name, "tool_names": arguments});
                    for arguments in [arguments.clone(), wrapped] {
                        let report = session
                            .call(request(called, arguments), CallContext::new())
                            .await;
                        let text = report.text();
                        assert!(!text.is_empty() && text.len() < 8_000);
                    }
                }
            }
        });
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
        Just(json!("{\"tool_name\":\"t\",\"arguments\":\"{}\"}")),
        Just(json!("deferred_tool_call")),
        Just(json!("g/t")),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        let key = prop_oneof![
            Just("tool_name".to_owned()),
            Just("arguments".to_owned()),
            Just("group_id".to_owned()),
            Just("tool_names".to_owned()),
            "[a-c]",
        ];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(key, inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}
