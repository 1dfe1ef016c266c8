//! Taking up a session again, and forking it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use toolshelf_core::{
    Cancellation, Error, ErrorKind, LoadContext, Loaded, State, Strategy, ToolGroup,
};
use toolshelf_shelf::{Limits, ResumeReport, Session, SessionOptions, Shelf};
use toolshelf_strategies::{Dispatch, Inject};

use crate::fixtures::{
    Log, call, dispatch, echo, echoes, failing, forward, group, id, inject, key, load, offered,
    pick, prefix, returning, shelf, surface,
};

fn strategy(name: &str) -> Arc<dyn Strategy> {
    match name {
        "dispatch" => Arc::new(Dispatch::default()),
        _ => Arc::new(Inject::default()),
    }
}

async fn try_resume(
    shelf: &Shelf,
    name: &str,
    state: State,
    cancellation: &Cancellation,
) -> Result<(Session, ResumeReport), Error> {
    let options = SessionOptions::default();
    shelf
        .resume(strategy(name), options, state, cancellation)
        .await
}

/// Takes a session up again under the strategy that wrote its state.
async fn resume(shelf: &Shelf, state: State) -> (Session, ResumeReport) {
    let name = state.strategy.clone();
    try_resume(shelf, &name, state, &Cancellation::new())
        .await
        .unwrap()
}

/// The state as a checkpoint brings it back.
fn stored(session: &Session) -> State {
    let record = serde_json::to_string(&*session.state()).unwrap();
    serde_json::from_str(&record).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_session_that_is_resumed_is_as_if_it_had_never_stopped() {
    for name in ["dispatch", "inject"] {
        let log = Log::default();
        // Of one group not even the names are known before a load.
        let groups = || {
            [
                group(&log, "a", &["a1", "a2"]),
                returning(&log, "b", &["b1", "b2"]),
                group(&log, "c", &["c1"]),
            ]
        };
        let first = shelf(groups());
        let session = first
            .session(strategy(name), SessionOptions::default())
            .unwrap();
        surface(&session).await;
        pick(&session, "b", json!(["b2"])).await;
        load(&session, "a").await;
        pick(&session, "b", json!(["b1"])).await;
        let before = prefix(&*surface(&session).await);

        // Another process.
        let state = stored(&session);
        let second = shelf(groups());
        log.take();
        let (resumed, report) = resume(&second, state).await;
        assert_eq!(resumed.state(), session.state());
        assert_eq!(prefix(&*surface(&resumed).await), before, "{name}");
        assert_eq!(report.loaded, [id("b"), id("a")]);
        // The first call runs no loader again.
        for (group, tool) in [("a", "a1"), ("b", "b1")] {
            let report = call(&resumed, &format!("{group}/{tool}"), json!({})).await;
            assert_eq!(report.text(), format!("{group}/{tool} {{}}"));
        }
        // What is loaded already is answered with the same bytes and changes nothing.
        let again = load(&resumed, "a").await.text();
        assert_eq!(again, load(&session, "a").await.text());
        assert_eq!(resumed.state(), session.state());
        let mut loads = log.take();
        loads.retain(|line| line.starts_with("load"));
        assert_eq!(loads.len(), 2, "{loads:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_fails_or_is_gone_is_reported_and_touches_nothing_else() {
    let log = Log::default();
    let session = inject(&shelf([
        group(&log, "good", &["kept", "changed", "gone"]),
        group(&log, "picked", &["x", "y"]),
        group(&log, "broken", &["t"]),
        group(&log, "removed", &["t"]),
    ]));
    for group in ["good", "broken", "removed"] {
        load(&session, group).await;
    }
    pick(&session, "picked", json!(["x"])).await;
    surface(&session).await;

    let good = {
        let log = log.clone();
        move |_: LoadContext| {
            let mut loaded = echoes(&log, "good", &["kept"]);
            let schema = r#"{"type":"object","title":"another"}"#;
            let changed = Loaded::new([echo(&log, "good", "changed", schema)]);
            loaded.tools.extend(changed.tools);
            async move { Ok(loaded) }
        }
    };
    let second = shelf([
        ToolGroup::new(id("good"), good),
        group(&log, "picked", &["y"]),
        failing(&log, "broken", &["t"]),
    ]);
    let (resumed, report) = resume(&second, stored(&session)).await;
    assert_eq!(report.loaded, [id("good"), id("picked")]);
    assert_eq!(report.unknown, [id("removed")]);
    assert_eq!(report.changed, [key("good", "changed")]);
    assert_eq!(report.gone, [key("good", "gone"), key("picked", "x")]);
    let failed: Vec<_> = report
        .failed
        .iter()
        .map(|(group, error)| (group.as_str(), error.kind()))
        .collect();
    assert_eq!(failed, [("broken", ErrorKind::Unavailable)]);
    // No request refers to what does not exist.
    assert_eq!(
        offered(&resumed).await,
        ["load_tools", "good__kept", "good__changed"]
    );
    // The state keeps everything, for a shelf that has it again.
    let groups = |session: &Session| session.state().expanded_groups.clone();
    assert_eq!(groups(&resumed), groups(&session));
}

#[tokio::test(start_paused = true)]
async fn loaders_run_in_parallel_under_the_limit_when_a_session_is_resumed() {
    let running = Arc::new(AtomicUsize::new(0));
    let most = Arc::new(AtomicUsize::new(0));
    let loader = {
        let (running, most) = (running.clone(), most.clone());
        move |_: LoadContext| {
            let (running, most) = (running.clone(), most.clone());
            async move {
                most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                tokio::time::sleep(Duration::from_secs(1)).await;
                running.fetch_sub(1, Ordering::SeqCst);
                Ok::<_, Error>(Loaded::default())
            }
        }
    };
    let mut state = State::new("dispatch");
    let ids: Vec<_> = (0..9).map(|n| id(&format!("g{n}"))).collect();
    for group in &ids {
        state.apply(&toolshelf_core::Delta::Expand {
            group: group.clone(),
            tools: None,
        });
    }
    let shelf = Shelf::builder()
        .groups(
            ids.iter()
                .map(|id| ToolGroup::new(id.clone(), loader.clone())),
        )
        .limits(Limits {
            concurrent_loads: 3,
            ..Limits::default()
        })
        .build()
        .unwrap();
    let begun = tokio::time::Instant::now();
    let (_, report) = resume(&shelf, state).await;
    assert_eq!(report.loaded, ids);
    assert_eq!(most.load(Ordering::SeqCst), 3);
    assert_eq!(begun.elapsed().as_secs(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_state_of_another_strategy_or_a_newer_version_is_refused() {
    let shelf = shelf([group(&Log::default(), "g", &["t"])]);
    let mut newer = State::new("dispatch");
    newer.version += 1;
    for state in [State::new("inject"), newer] {
        let resumed = try_resume(&shelf, "dispatch", state, &Cancellation::new()).await;
        assert_eq!(resumed.err().unwrap().kind(), ErrorKind::Mismatch);
    }
}

#[tokio::test(start_paused = true)]
async fn a_record_of_the_system_that_the_strategies_come_from_is_read() {
    let log = Log::default();
    let record = r#"{"expanded_groups":{"b":null,"a":["y","x"],"none":[]},"elsewhere":{"x":1}}"#;
    let state: State = serde_json::from_str(record).unwrap();
    let shelf = shelf([
        group(&log, "a", &["x", "y", "z"]),
        group(&log, "b", &["t"]),
        group(&log, "none", &["t"]),
    ]);
    let resumed = try_resume(&shelf, "inject", state, &Cancellation::new()).await;
    let (session, report) = resumed.unwrap();
    assert_eq!(report.loaded, [id("a"), id("b")]);
    assert_eq!(
        offered(&session).await,
        ["load_tools", "a__y", "a__x", "b__t"]
    );
    // An empty list asks for nothing.
    assert_eq!(log.count("load none"), 0);
    // What this system does not know is written back.
    let written = serde_json::to_value(&*session.state()).unwrap();
    assert_eq!(written["elsewhere"], json!({"x": 1}));
    assert_eq!(written["strategy"], "inject");
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_resume_starts_nothing_and_loses_nothing() {
    let log = Log::default();
    let session = dispatch(&shelf([group(&log, "g", &["t"])]));
    load(&session, "g").await;
    log.take();
    let second = shelf([group(&log, "g", &["t"])]);
    let cancelled = Cancellation::new();
    cancelled.cancel();
    let resumed = try_resume(&second, "dispatch", stored(&session), &cancelled).await;
    let (resumed, report) = resumed.unwrap();
    assert_eq!(report.failed[0].1.kind(), ErrorKind::Cancelled);
    assert!(log.take().is_empty());
    assert_eq!(resumed.state(), session.state());
    assert_eq!(forward(&resumed, "g/t", json!({})).await.text(), "g/t {}");
}

#[tokio::test(start_paused = true)]
async fn a_fork_loads_and_calls_and_never_changes_its_parent() {
    for name in ["dispatch", "inject"] {
        let log = Log::default();
        let shelf = shelf([group(&log, "a", &["t"]), group(&log, "b", &["u"])]);
        let parent = shelf
            .session(strategy(name), SessionOptions::default())
            .unwrap();
        load(&parent, "a").await;
        let (state, bytes) = (parent.state(), prefix(&*surface(&parent).await));
        let state = match name {
            // Making the surface wrote down what joined it.
            "inject" => parent.state(),
            _ => state,
        };
        let fork = parent.fork();
        assert_eq!(prefix(&*surface(&fork).await), bytes);
        load(&fork, "b").await;
        surface(&fork).await;
        assert_eq!(call(&fork, "b/u", json!({})).await.text(), "b/u {}");
        assert_eq!(fork.state().expanded_groups.len(), 2);
        assert_eq!(parent.state(), state);
        assert_eq!(prefix(&*surface(&parent).await), bytes);
        // Nor the other way round.
        let before = fork.state();
        call(&parent, "load_tools", json!({"group_id": "b"})).await;
        assert_eq!(fork.state(), before);
        assert_eq!(log.count("load b"), 1, "they share what is loaded");
    }
}

#[tokio::test(start_paused = true)]
async fn the_stable_surface_of_a_fork_is_that_of_its_parent() {
    let log = Log::default();
    let shelf = shelf([group(&log, "a", &["t"])]);
    let parent = dispatch(&shelf);
    let bytes = prefix(&*surface(&parent).await);
    shelf.insert(group(&log, "later", &["t"])).unwrap();
    // It goes on with the same history, so a prompt cache must not lose it.
    assert_eq!(prefix(&*surface(&parent.fork()).await), bytes);
    assert!(prefix(&*surface(&dispatch(&shelf)).await).contains("later"));
}
