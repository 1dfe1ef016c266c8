//! Loading: once at a time for a group, in parallel for several, in time, with back-off.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use tokio::sync::{Barrier, Notify, Semaphore};
use tokio::time::Instant;
use toolshelf_core::{Cancellation, Error, ErrorKind, LoadContext, Loaded, ToolGroup};
use toolshelf_shelf::{Limits, Shelf};
use toolshelf_testkit::faulty::{Faulty, Gate, Load};

use crate::fixtures::{self, Log, echoes, failing, group, id, observer, shelf};

fn never() -> Cancellation {
    Cancellation::new()
}

/// A group whose loader waits for a turn.
fn gated(log: &Log, group_id: &str) -> (ToolGroup, Arc<Semaphore>) {
    let gate = Arc::new(Semaphore::new(0));
    let (log, own_id, turns) = (log.clone(), group_id.to_owned(), gate.clone());
    let loader = move |_: LoadContext| {
        log.note(format!("load {own_id}"));
        let (log, own_id, turns) = (log.clone(), own_id.clone(), turns.clone());
        async move {
            turns.acquire().await.unwrap().forget();
            Ok(echoes(&log, &own_id, &["t"]))
        }
    };
    let group = ToolGroup::new(id(group_id), loader)
        .declared_tools(["t"])
        .unwrap();
    (group, gate)
}

/// Lets every task that can run do so.
async fn settle() {
    tokio::time::sleep(Duration::from_nanos(1)).await;
}

fn condition(shelf: &Shelf, group: &str) -> String {
    shelf.with_groups(|groups| groups.get(group).unwrap().condition.as_str().to_owned())
}

#[tokio::test(start_paused = true)]
async fn everybody_who_waits_gets_the_result_of_one_load() {
    let log = Log::default();
    let (group, gate) = gated(&log, "g");
    let shelf = shelf([group]);
    let (group, cancellation) = (id("g"), never());
    let waiters = futures::future::join_all((0..5).map(|_| shelf.load(&group, &cancellation)));
    gate.add_permits(1);
    let results: Vec<_> = waiters.await.into_iter().map(Result::unwrap).collect();
    assert!(
        results
            .iter()
            .all(|loaded| Arc::ptr_eq(loaded, &results[0]))
    );
    // Nor does one follow.
    shelf.load(&group, &cancellation).await.unwrap();
    assert_eq!(log.take(), ["load g"]);
}

#[tokio::test(start_paused = true)]
async fn groups_are_loaded_in_parallel() {
    // Each loader ends only when the other has begun.
    let both = Arc::new(Barrier::new(2));
    let loader = move |_: LoadContext| {
        let both = both.clone();
        async move {
            both.wait().await;
            Ok(Loaded::default())
        }
    };
    let shelf = shelf([
        ToolGroup::new(id("a"), loader.clone()),
        ToolGroup::new(id("b"), loader),
    ]);
    let results = shelf.load_all(&never()).await;
    assert!(results.iter().all(|(_, result)| result.is_ok()));
}

#[tokio::test(start_paused = true)]
async fn no_more_loaders_run_at_once_than_the_limit_says() {
    let gate = Gate::new();
    let loader = Faulty::new([Load::brings(&[]).after(&gate)]);
    let groups = (0..10).map(|n| loader.group(&format!("g{n}")));
    let shelf = Shelf::builder()
        .groups(groups)
        .limits(Limits {
            concurrent_loads: 3,
            ..Limits::default()
        })
        .build()
        .unwrap();
    let (never, opens) = (never(), async {
        settle().await;
        gate.open();
    });
    let (results, ()) = futures::future::join(shelf.load_all(&never), opens).await;
    assert!(results.iter().all(|(_, result)| result.is_ok()));
    assert_eq!((loader.begun(), loader.most_at_once()), (10, 3));
}

#[tokio::test(start_paused = true)]
async fn who_stops_waiting_does_not_end_the_load_of_others() {
    let log = Log::default();
    let (group, gate) = gated(&log, "g");
    let shelf = shelf([group]);
    let impatient = never();
    let (first, second) = (shelf.clone(), shelf.clone());
    let cancelled = {
        let impatient = impatient.clone();
        tokio::spawn(async move { first.load(&id("g"), &impatient).await })
    };
    let patient = tokio::spawn(async move { second.load(&id("g"), &never()).await });
    settle().await;
    impatient.cancel();
    assert_eq!(
        cancelled.await.unwrap().unwrap_err().kind(),
        ErrorKind::Cancelled
    );
    gate.add_permits(1);
    assert!(patient.await.unwrap().is_ok());
    assert_eq!(log.take(), ["load g"]);
}

#[tokio::test(start_paused = true)]
async fn who_has_cancelled_already_starts_nothing() {
    let log = Log::default();
    let shelf = shelf([group(&log, "g", &["t"])]);
    let cancelled = never();
    cancelled.cancel();
    let error = shelf.load(&id("g"), &cancelled).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Cancelled);
    settle().await;
    assert!(log.take().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_loader_that_breaks_its_contract_is_a_failure_within_its_time() {
    async fn check<Fut>(
        loader: impl Fn(LoadContext) -> Fut + Send + Sync + 'static,
        kind: ErrorKind,
        for_model: &str,
    ) where
        Fut: Future<Output = Result<Loaded, Error>> + Send + 'static,
    {
        let shelf = shelf([ToolGroup::new(id("g"), loader)]);
        let begun = Instant::now();
        let error = shelf.load(&id("g"), &never()).await.unwrap_err();
        assert_eq!((error.kind(), error.for_model()), (kind, for_model));
        assert!(begun.elapsed() <= Limits::default().load_timeout + Duration::from_millis(1));
        assert_eq!(condition(&shelf, "g"), "failed");
    }
    check(
        |_| std::future::pending(),
        ErrorKind::TimedOut,
        "Group 'g' did not answer within 120 s.",
    )
    .await;
    check(
        |_| async { panic!("a secret") },
        ErrorKind::Internal,
        "internal error",
    )
    .await;
    // Panics before there is a future.
    check::<std::future::Ready<_>>(
        |_| panic!("a secret"),
        ErrorKind::Internal,
        "internal error",
    )
    .await;
    check(
        |_| async { Ok(echoes(&Log::default(), "g", &["t", "t"])) },
        ErrorKind::InvalidDefinition,
        "Group 'g' cannot be loaded: it offers two tools of the same name.",
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_loader_is_told_its_deadline_its_tenant_and_when_nobody_wants_it_any_more() {
    let told = Arc::new(std::sync::Mutex::new(None));
    let loader = {
        let told = told.clone();
        move |context: LoadContext| {
            *told.lock().unwrap() = Some(context);
            std::future::pending::<Result<Loaded, Error>>()
        }
    };
    let mut context = LoadContext::default();
    context.tenant = Some(Arc::from("acme"));
    let shelf = Shelf::builder()
        .group(ToolGroup::new(id("g"), loader))
        .load_context(context)
        .build()
        .unwrap();
    let impatient = never();
    let waiting = tokio::spawn({
        let (shelf, impatient) = (shelf.clone(), impatient.clone());
        async move { shelf.load(&id("g"), &impatient).await.map(drop) }
    });
    settle().await;
    let context = told.lock().unwrap().clone().unwrap();
    assert_eq!(context.tenant.as_deref(), Some("acme"));
    assert!(context.deadline.is_some());
    impatient.cancel();
    waiting.await.unwrap().unwrap_err();
    assert!(!context.cancellation.is_cancelled());
    drop(shelf);
    assert!(context.cancellation.is_cancelled());
}

#[tokio::test(start_paused = true)]
async fn the_pause_after_a_failure_doubles_up_to_a_cap() {
    let log = Log::default();
    let shelf = Shelf::builder()
        .group(failing(&log, "g", &["t"]))
        .limits(Limits {
            backoff: Duration::from_secs(1),
            max_backoff: Duration::from_secs(5),
            ..Limits::default()
        })
        .build()
        .unwrap();
    for pause in [1, 2, 4, 5, 5].map(Duration::from_secs) {
        assert!(shelf.load(&id("g"), &never()).await.is_err());
        assert_eq!(log.take(), ["load g"]);
        // Up to the end of the pause nothing is started, and the error says how long.
        let error = shelf.load(&id("g"), &never()).await.unwrap_err();
        assert_eq!(error.retry_delay(), Some(pause));
        assert_eq!(error.for_model(), "The server could not be started.");
        tokio::time::advance(pause - Duration::from_millis(1)).await;
        assert!(shelf.load(&id("g"), &never()).await.is_err());
        assert!(log.take().is_empty());
        tokio::time::advance(Duration::from_millis(1)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn success_and_invalidation_end_the_pauses() {
    let fails = || Load::Fails(ErrorKind::Unavailable);
    let third = Faulty::new([fails(), fails(), Load::brings(&[]), fails()]);
    let shelf = shelf([third.group("g")]);
    let pause = async || {
        assert!(shelf.load(&id("g"), &never()).await.is_err());
        let refused = shelf.load(&id("g"), &never()).await.unwrap_err();
        refused.retry_delay().unwrap().as_secs()
    };
    assert_eq!(pause().await, 1);
    tokio::time::advance(Duration::from_secs(1)).await;
    assert_eq!(pause().await, 2);
    tokio::time::advance(Duration::from_secs(2)).await;
    assert!(shelf.load(&id("g"), &never()).await.is_ok());
    shelf.invalidate(&id("g"));
    assert_eq!(pause().await, 1, "a success forgets the failures before it");
    shelf.invalidate(&id("g"));
    assert_eq!(pause().await, 1, "so does an invalidation, without a wait");
}

#[tokio::test(start_paused = true)]
async fn endless_limits_are_no_fault() {
    let log = Log::default();
    let shelf = Shelf::builder()
        .groups([group(&log, "a", &["t"]), failing(&log, "b", &["t"])])
        .limits(Limits {
            load_timeout: Duration::MAX,
            call_timeout: Duration::MAX,
            backoff: Duration::MAX,
            max_backoff: Duration::MAX,
            ..Limits::default()
        })
        .build()
        .unwrap();
    assert!(shelf.load(&id("a"), &never()).await.is_ok());
    let error = shelf.load(&id("b"), &never()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    let session = fixtures::dispatch(&shelf);
    let report = fixtures::forward(&session, "a/t", serde_json::json!({})).await;
    assert_eq!(report.text(), "a/t {}");
}

#[tokio::test(start_paused = true)]
async fn a_group_that_is_invalidated_while_it_is_loaded_is_loaded_again_for_those_who_wait() {
    let log = Log::default();
    let (group, gate) = gated(&log, "g");
    let shelf = shelf([group]);
    let waiting = tokio::spawn({
        let shelf = shelf.clone();
        async move { shelf.load(&id("g"), &never()).await.map(drop) }
    });
    settle().await;
    shelf.invalidate(&id("g"));
    assert_eq!(condition(&shelf, "g"), "pending");
    settle().await;
    // Never two at once, not even now.
    assert_eq!(log.count("load g"), 1);
    gate.add_permits(1);
    settle().await;
    assert!(!waiting.is_finished());
    assert_eq!(log.count("load g"), 2);
    gate.add_permits(1);
    waiting.await.unwrap().unwrap();
    assert_eq!(condition(&shelf, "g"), "ready");
}

#[tokio::test(start_paused = true)]
async fn tools_that_are_handed_over_during_a_load_stay() {
    let (log, events) = (Log::default(), Log::default());
    let (group, gate) = gated(&log, "g");
    let shelf = Shelf::builder()
        .group(group)
        .observer(observer(&events))
        .build()
        .unwrap();
    let waiting = tokio::spawn({
        let shelf = shelf.clone();
        async move { shelf.load(&id("g"), &never()).await }
    });
    settle().await;
    shelf
        .hand_over(&id("g"), echoes(&log, "g", &["handed", "over"]))
        .unwrap();
    assert_eq!(condition(&shelf, "g"), "ready");
    let loaded = waiting.await.unwrap().unwrap();
    assert!(loaded.get("handed").is_some());
    gate.add_permits(1);
    settle().await;
    assert_eq!(condition(&shelf, "g"), "ready");
    assert!(
        shelf
            .load(&id("g"), &never())
            .await
            .unwrap()
            .get("over")
            .is_some()
    );
    assert_eq!(log.take(), ["load g"]);
    assert_eq!(
        events.take(),
        ["started g host", "failed g host (cancelled)"]
    );
}

#[tokio::test(start_paused = true)]
async fn a_load_that_outlives_its_group_is_not_taken_for_one_of_its_successor() {
    let log = Log::default();
    let (old, gate) = gated(&log, "g");
    let shelf = shelf([old]);
    let waiting = tokio::spawn({
        let shelf = shelf.clone();
        async move { shelf.load(&id("g"), &never()).await }
    });
    settle().await;
    assert!(shelf.remove(&id("g")));
    shelf.insert(group(&log, "g", &["new"])).unwrap();
    gate.add_permits(1);
    // Its load begins before the end of the old one is seen.
    let (group, cancellation) = (id("g"), never());
    let (first, second) = futures::future::join(waiting, shelf.load(&group, &cancellation)).await;
    let (first, second) = (first.unwrap().unwrap(), second.unwrap());
    assert!(Arc::ptr_eq(&first, &second));
    assert!(first.get("new").is_some() && first.get("t").is_none());
    // Once for the old group, once for the new one.
    assert_eq!(log.count("load g"), 2);
}

#[tokio::test(start_paused = true)]
async fn who_waits_for_a_group_that_is_removed_is_told() {
    let log = Log::default();
    let (group, _gate) = gated(&log, "g");
    let shelf = shelf([group]);
    let waiting = tokio::spawn({
        let shelf = shelf.clone();
        async move { shelf.load(&id("g"), &never()).await }
    });
    settle().await;
    assert!(shelf.remove(&id("g")) && !shelf.remove(&id("g")));
    let error = waiting.await.unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert_eq!(error.for_model(), "There is no group 'g'.");
}

#[test]
fn a_runtime_that_ends_does_not_leave_a_load_pending_for_ever() {
    let runtime = || {
        tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap()
    };
    let (log, events) = (Log::default(), Log::default());
    let (group, gate) = gated(&log, "g");
    let shelf = Shelf::builder()
        .group(group)
        .observer(observer(&events))
        .build()
        .unwrap();
    let first = runtime();
    first.block_on(async {
        let impatient = never();
        let waiting = tokio::spawn({
            let (shelf, impatient) = (shelf.clone(), impatient.clone());
            async move { shelf.load(&id("g"), &impatient).await.map(drop) }
        });
        settle().await;
        impatient.cancel();
        waiting.await.unwrap().unwrap_err();
    });
    drop(first);
    assert_eq!(condition(&shelf, "g"), "failed");
    assert_eq!(
        events.take(),
        ["started g host", "failed g host (unavailable)"]
    );
    shelf.invalidate(&id("g"));
    gate.add_permits(1);
    runtime().block_on(async { shelf.load(&id("g"), &never()).await.unwrap() });
}

#[test]
fn without_a_runtime_a_load_is_an_error_and_not_a_panic() {
    let shelf = shelf([group(&Log::default(), "g", &["t"])]);
    let (group, cancellation) = (id("g"), never());
    let load = shelf.load(&group, &cancellation);
    let error = load.now_or_never().unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Internal);
}

#[tokio::test(start_paused = true)]
async fn an_observer_that_panics_does_not_disturb_what_it_looks_at() {
    let shelf = Shelf::builder()
        .group(group(&Log::default(), "g", &["t"]))
        .observer(|_: &toolshelf_shelf::ShelfEvent| panic!("of the observer"))
        .build()
        .unwrap();
    assert!(shelf.load(&id("g"), &never()).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_host_is_told_of_each_load_and_how_it_ended() {
    let (log, events) = (Log::default(), Log::default());
    let begun = Arc::new(Notify::new());
    let slow = {
        let begun = begun.clone();
        move |_: LoadContext| {
            let begun = begun.clone();
            async move {
                begun.notify_one();
                tokio::time::sleep(Duration::from_secs(3)).await;
                Ok(Loaded::default())
            }
        }
    };
    let took = Arc::new(std::sync::Mutex::new(Vec::new()));
    let notes = {
        let (events, took) = (events.clone(), took.clone());
        move |event: &toolshelf_shelf::ShelfEvent| {
            events.note(fixtures::line(event));
            if let toolshelf_shelf::ShelfEvent::Loaded { took: time, .. } = event {
                took.lock().unwrap().push(*time);
            }
        }
    };
    let shelf = Shelf::builder()
        .groups([
            ToolGroup::new(id("slow"), slow),
            failing(&log, "broken", &["t"]),
        ])
        .observer(notes)
        .build()
        .unwrap();
    for (_, result) in shelf.load_all(&never()).await {
        let _ = result;
    }
    begun.notified().await;
    let mut told = events.take();
    told.sort();
    assert_eq!(
        told,
        [
            "failed broken host (unavailable)",
            "loaded slow host",
            "started broken host",
            "started slow host",
        ]
    );
    assert_eq!(*took.lock().unwrap(), [Duration::from_secs(3)]);
}

#[tokio::test(start_paused = true)]
async fn two_groups_of_one_id_are_refused() {
    let log = Log::default();
    let twice = Shelf::builder()
        .group(group(&log, "g", &["a"]))
        .group(group(&log, "g", &["b"]))
        .build();
    assert_eq!(twice.err().unwrap().kind(), ErrorKind::InvalidDefinition);
    let shelf = shelf([group(&log, "g", &["a"])]);
    assert!(shelf.insert(group(&log, "g", &["b"])).is_err());
    assert!(shelf.hand_over(&id("none"), Loaded::default()).is_err());
    assert_eq!(
        shelf.load(&id("none"), &never()).await.unwrap_err().kind(),
        ErrorKind::NotFound
    );
}
