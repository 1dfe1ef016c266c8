//! What a turn and a call cost.

#![allow(
    clippy::unwrap_used,
    reason = "a benchmark that cannot be set up has to stop"
)]

use std::sync::Arc;

use divan::Bencher;
use serde_json::json;
use tokio::runtime::Runtime;
use toolshelf_benches::{group, groups};
use toolshelf_core::{Call, CallContext, Cancellation, Delta, State, Strategy};
use toolshelf_shelf::{Session, SessionOptions, Shelf};
use toolshelf_strategies::{Dispatch, Inject};

fn main() {
    divan::main();
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap()
}

fn session(strategy: Arc<dyn Strategy>, count: usize, tools: usize) -> Session {
    let shelf = Shelf::builder()
        .groups(groups(count, tools).unwrap())
        .build()
        .unwrap();
    shelf.session(strategy, SessionOptions::default()).unwrap()
}

fn load(session: &Session, runtime: &Runtime) {
    runtime.block_on(session.shelf().load_all(&Cancellation::new()));
}

fn call(name: &str, arguments: serde_json::Value) -> Call {
    Call {
        id: "call_1".to_owned(),
        name: name.to_owned(),
        arguments,
    }
}

/// The surface of a turn with so many tools loaded but hidden.
#[divan::bench(args = [0, 200, 2_000])]
fn turn_dispatch(bencher: Bencher<'_, '_>, hidden: usize) {
    let runtime = runtime();
    let session = session(Arc::new(Dispatch::default()), (hidden / 20).max(1), 20);
    if hidden > 0 {
        load(&session, &runtime);
    }
    let cancellation = Cancellation::new();
    bencher.bench_local(|| runtime.block_on(session.surface(&cancellation)).unwrap());
}

/// The surface of a turn after a load, which inject makes anew.
#[divan::bench(args = [10, 100])]
fn turn_inject_after_a_load(bencher: Bencher<'_, '_>, groups: usize) {
    let runtime = runtime();
    let session = session(Arc::new(Inject::default()), groups, 20);
    let mut names = (0..groups).cycle();
    let cancellation = Cancellation::new();
    bencher
        .with_inputs(|| {
            let group = format!("group{:04}", names.next().unwrap());
            let fork = session.fork();
            runtime.block_on(fork.call(
                call("load_tools", json!({ "group_id": group })),
                CallContext::new(),
            ));
            fork
        })
        .bench_local_values(|fork| runtime.block_on(fork.surface(&cancellation)).unwrap());
}

/// `load_tools` of 20 tools: the loader has to run.
#[divan::bench]
fn load_tools_cold(bencher: Bencher<'_, '_>) {
    let runtime = runtime();
    let made = group("group0000", 20).unwrap();
    bencher
        .with_inputs(|| {
            let shelf = Shelf::builder().group(made.clone()).build().unwrap();
            shelf
                .session(Arc::new(Dispatch::default()), SessionOptions::default())
                .unwrap()
        })
        .bench_local_values(|session| {
            runtime.block_on(session.call(
                call("load_tools", json!({"group_id": "group0000"})),
                CallContext::new(),
            ))
        });
}

/// `load_tools` of 20 tools that are loaded already.
#[divan::bench]
fn load_tools_repeated(bencher: Bencher<'_, '_>) {
    let runtime = runtime();
    let session = session(Arc::new(Dispatch::default()), 1, 20);
    load(&session, &runtime);
    bencher.bench_local(|| {
        runtime.block_on(session.call(
            call("load_tools", json!({"group_id": "group0000"})),
            CallContext::new(),
        ))
    });
}

/// A forwarded call: resolve, validate, call a tool that does nothing.
#[divan::bench(args = [1, 200, 2_000])]
fn forwarded_call(bencher: Bencher<'_, '_>, loaded: usize) {
    let runtime = runtime();
    let (count, tools) = if loaded == 1 {
        (1, 1)
    } else {
        (loaded / 20, 20)
    };
    let session = session(Arc::new(Dispatch::default()), count, tools);
    load(&session, &runtime);
    let arguments = json!({
        "tool_name": "group0000/group0000_action_000",
        "arguments": {"repo": "octo/hello", "title": "A title", "limit": 5},
    });
    bencher
        .with_inputs(|| call("deferred_tool_call", arguments.clone()))
        .bench_local_values(|call| runtime.block_on(session.call(call, CallContext::new())));
}

/// Taking up a session of 100 groups that are loaded already.
#[divan::bench]
fn resume_100_groups(bencher: Bencher<'_, '_>) {
    let runtime = runtime();
    let made = groups(100, 20).unwrap();
    let mut state = State::new("dispatch");
    for group in &made {
        state.apply(&Delta::Expand {
            group: group.id.clone(),
            tools: None,
        });
    }
    let strategy: Arc<dyn Strategy> = Arc::new(Dispatch::default());
    let cancellation = Cancellation::new();
    bencher
        .with_inputs(|| {
            let shelf = Shelf::builder().groups(made.clone()).build().unwrap();
            (shelf, state.clone())
        })
        .bench_local_values(|(shelf, state)| {
            let options = SessionOptions::default();
            runtime
                .block_on(shelf.resume(strategy.clone(), options, state, &cancellation))
                .unwrap()
        });
}
