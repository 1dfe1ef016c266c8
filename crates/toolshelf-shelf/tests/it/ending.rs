//! Calls that do not end by themselves: deadlines, cancellation, panics, and what a host
//! is told of calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::json;
use tokio::sync::Notify;
use tokio::time::Instant;
use toolshelf_core::{
    Arguments, CallContext, Error, ErrorKind, FnTool, LoadContext, Loaded, Tool, ToolDefinition,
    ToolGroup, ToolKey, ToolOutcome, ToolResult,
};
use toolshelf_shelf::{
    AnsweredBy, BeforeCall, CallHook, Limits, Permission, Policy, Shelf, ShelfBuilder,
};

use toolshelf_testkit::faulty::{Faulty, Gate, Load};

use crate::fixtures::{
    ANY, Log, definition, dispatch, echo, forward, forward_request, group, id, load, observer,
    standard, surface,
};

/// A tool that runs until it is dropped, and says when it begins and ends.
fn endless(log: &Log) -> Arc<dyn Tool> {
    struct Runs(Log);
    impl Drop for Runs {
        fn drop(&mut self) {
            self.0.note("dropped");
        }
    }
    let log = log.clone();
    let tool = FnTool::new(definition("endless", ANY), move |_: Arguments, _| {
        log.note("begun");
        let runs = Runs(log.clone());
        async move {
            let _runs = runs;
            std::future::pending().await
        }
    });
    Arc::new(tool)
}

fn panicking() -> Arc<dyn Tool> {
    let panics = FnTool::new(definition("panics", ANY), |_: Arguments, _| async {
        panic!("of the tool")
    });
    Arc::new(panics)
}

fn with_tools(log: &Log) -> ShelfBuilder {
    let log = log.clone();
    let loader = move |_: LoadContext| {
        let tools = [endless(&log), panicking(), echo(&log, "g", "ok", ANY)];
        async move { Ok(Loaded::new(tools)) }
    };
    Shelf::builder().group(
        ToolGroup::new(id("g"), loader)
            .declared_tools(["endless", "panics", "ok"])
            .unwrap(),
    )
}

fn due_in(left: Duration) -> CallContext {
    let mut context = CallContext::new();
    context.deadline = Some(std::time::Instant::now() + left);
    context
}

#[tokio::test(start_paused = true)]
async fn a_call_ends_at_the_deadline_of_its_caller_and_the_tool_is_dropped() {
    let log = Log::default();
    let session = dispatch(&with_tools(&log).build().unwrap());
    let begun = Instant::now();
    let request = forward_request("endless", json!({}));
    let report = session.call(request, due_in(Duration::from_secs(5))).await;
    assert_eq!(report.error.unwrap().kind(), ErrorKind::TimedOut);
    assert_eq!(report.answered_by, AnsweredBy::Driver);
    assert!(begun.elapsed() <= Duration::from_secs(5));
    assert_eq!(log.take(), ["begun", "dropped"]);
}

#[tokio::test(start_paused = true)]
async fn without_a_deadline_the_limit_of_the_shelf_counts() {
    let log = Log::default();
    let limits = Limits {
        call_timeout: Duration::from_secs(7),
        ..Limits::default()
    };
    let session = dispatch(&with_tools(&log).limits(limits).build().unwrap());
    let begun = Instant::now();
    let report = forward(&session, "endless", json!({})).await;
    assert_eq!(
        report.text(),
        "The call of `g/endless` failed: it did not end within 7 s."
    );
    assert_eq!(begun.elapsed().as_secs(), 7);
}

#[tokio::test(start_paused = true)]
async fn nothing_is_begun_after_the_deadline_or_the_cancellation() {
    let late = || due_in(Duration::ZERO);
    let cancelled = || {
        let context = CallContext::new();
        context.cancellation.cancel();
        context
    };
    for (context, kind) in [
        (late(), ErrorKind::TimedOut),
        (cancelled(), ErrorKind::Cancelled),
    ] {
        let log = Log::default();
        let session = dispatch(&with_tools(&log).build().unwrap());
        for loaded in [false, true] {
            if loaded {
                load(&session, "g").await;
            }
            let request = forward_request("ok", json!({}));
            let report = session.call(request, context.clone()).await;
            assert_eq!(report.error.unwrap().kind(), kind);
            assert!(report.outcome != ToolOutcome::Complete(ToolResult::default()));
            assert!(log.take().is_empty());
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_call_ends_at_once_wherever_it_waits() {
    /// Never answers.
    struct Never(&'static str, Arc<Notify>);
    impl Never {
        async fn at(&self, place: &'static str) {
            if self.0 == place {
                self.1.notify_one();
                std::future::pending().await
            }
        }
    }
    #[async_trait]
    impl Policy for Never {
        async fn permit_name(&self, _: &ToolKey, _: &CallContext) -> Permission {
            self.at("name").await;
            Permission::Allow
        }
        async fn permit_call(
            &self,
            _: &ToolKey,
            _: &ToolDefinition,
            _: &Arguments,
            _: &CallContext,
        ) -> Permission {
            self.at("call").await;
            Permission::Allow
        }
    }
    #[async_trait]
    impl CallHook for Never {
        async fn repair(
            &self,
            _: &ToolKey,
            _: &ToolDefinition,
            _: &Arguments,
        ) -> Option<Arguments> {
            self.at("repair").await;
            None
        }
        async fn before_tool_call(
            &self,
            _: &ToolKey,
            _: &ToolDefinition,
            _: &Arguments,
        ) -> BeforeCall {
            self.at("before").await;
            BeforeCall::Continue
        }
    }
    for place in ["name", "repair", "before", "call"] {
        for by_deadline in [false, true] {
            let log = Log::default();
            let there = Arc::new(Notify::new());
            let shelf = with_tools(&log)
                .policy(Never(place, there.clone()))
                .hook(Never(place, there.clone()))
                .build()
                .unwrap();
            let session = dispatch(&shelf);
            let context = match by_deadline {
                false => CallContext::new(),
                true => due_in(Duration::from_secs(1)),
            };
            let cancellation = context.cancellation.clone();
            let call = session.call(forward_request("ok", json!({})), context);
            let (report, ()) = futures::future::join(call, async {
                there.notified().await;
                if !by_deadline {
                    cancellation.cancel();
                }
            })
            .await;
            let expect = match by_deadline {
                false => "The call of `g/ok` was cancelled.",
                true => "The call of `g/ok` failed: it did not end within 1 s.",
            };
            assert_eq!(report.text(), expect, "{place}");
            assert_eq!(report.key.unwrap().to_string(), "g/ok");
            assert!(log.take().is_empty());
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_call_does_not_end_the_load_that_it_waited_for() {
    let gate = Gate::new();
    let slow = Load::brings(&["t"]).after(&gate);
    let shelf = crate::fixtures::shelf([Faulty::new([slow]).group("g")]);
    let session = dispatch(&shelf);
    let impatient = CallContext::new();
    let cancellation = impatient.cancellation.clone();
    let calls = vec![
        (forward_request("g/t", json!({})), impatient),
        (forward_request("g/t", json!({})), CallContext::new()),
    ];
    let (reports, ()) = futures::future::join(session.call_batch(calls), async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        cancellation.cancel();
        tokio::time::sleep(Duration::from_secs(1)).await;
        gate.open();
    })
    .await;
    assert_eq!(
        reports[0].text(),
        "The call of `deferred_tool_call` was cancelled."
    );
    assert_eq!(reports[1].text(), "done");
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_panics_is_an_error_and_the_session_goes_on() {
    let log = Log::default();
    let session = dispatch(&with_tools(&log).build().unwrap());
    for _ in 0..2 {
        let report = forward(&session, "panics", json!({})).await;
        assert_eq!(
            report.text(),
            "The call of `g/panics` failed: internal error."
        );
        assert_eq!(report.error.unwrap().kind(), ErrorKind::Internal);
        assert_eq!(forward(&session, "ok", json!({})).await.text(), "g/ok {}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_error_of_the_tool_itself_is_its_answer() {
    let fails = FnTool::new(definition("t", ANY), |_: Arguments, _| async {
        Ok(ToolResult::error("no such file"))
    });
    let fails: Arc<dyn Tool> = Arc::new(fails);
    let session = dispatch(&crate::fixtures::shelf([ToolGroup::new(
        id("g"),
        move |_: LoadContext| {
            let fails = fails.clone();
            async move { Ok(Loaded::new([fails])) }
        },
    )]));
    let report = forward(&session, "g/t", json!({})).await;
    assert_eq!(
        (
            report.text().as_str(),
            report.is_error(),
            report.answered_by
        ),
        ("no such file", true, AnsweredBy::Tool)
    );
    assert!(report.error.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_host_is_told_of_each_call_under_its_id_and_of_its_end() {
    let (log, events) = (Log::default(), Log::default());
    let shelf = with_tools(&log)
        .observer(observer(&events))
        .build()
        .unwrap();
    let session = dispatch(&shelf);
    for (tool, id) in [("ok", "one"), ("panics", "two"), ("endless", "three")] {
        let mut request = forward_request(tool, json!({}));
        request.id = id.to_owned();
        session.call(request, due_in(Duration::from_secs(1))).await;
    }
    assert_eq!(
        events.take(),
        [
            "started g implicit",
            "loaded g implicit",
            "call g/ok as one",
            "ended g/ok as one, error: false",
            "call g/panics as two",
            "ended g/panics as two, error: true",
            "call g/endless as three",
            "ended g/endless as three, error: true",
        ]
    );
    // Calls that do not reach their tool are not calls.
    forward(&session, "nope", json!({})).await;
    forward(&session, "ok", json!([])).await;
    assert!(events.take().is_empty());
    // A host that drops a call is told of its end as well.
    let mut request = forward_request("endless", json!({}));
    request.id = "four".to_owned();
    let dropped = tokio::time::timeout(
        Duration::from_secs(1),
        session.call(request, CallContext::new()),
    );
    assert!(dropped.await.is_err());
    assert_eq!(
        events.take(),
        [
            "call g/endless as four",
            "ended g/endless as four, error: true"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_load_is_told_with_its_cause() {
    for (cause, strategy) in [
        ("explicit", "dispatch"),
        ("implicit", "dispatch"),
        ("surface", "standard"),
        ("host", "dispatch"),
    ] {
        let (log, events) = (Log::default(), Log::default());
        let shelf = Shelf::builder()
            .group(group(&log, "g", &["t"]))
            .observer(observer(&events))
            .build()
            .unwrap();
        let session = match strategy {
            "standard" => standard(&shelf),
            _ => dispatch(&shelf),
        };
        match cause {
            "explicit" => drop(load(&session, "g").await),
            "implicit" => drop(forward(&session, "g/t", json!({})).await),
            "surface" => drop(surface(&session).await),
            _ => drop(shelf.load_all(&Default::default()).await),
        }
        let loads = events.take().into_iter().take(2);
        assert_eq!(
            loads.collect::<Vec<_>>(),
            [format!("started g {cause}"), format!("loaded g {cause}")]
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_tool_gets_what_the_caller_gave() {
    let seen = Arc::new(AtomicBool::new(false));
    let tool = {
        let seen = seen.clone();
        FnTool::new(
            definition("t", ANY),
            move |_: Arguments, context: CallContext| {
                let right = context.meta["trace"] == "x"
                    && context.deadline.is_some()
                    && context.trace.traceparent.as_deref() == Some("00-1-2-01");
                seen.store(right, Ordering::SeqCst);
                async { Ok::<_, Error>(ToolResult::text("")) }
            },
        )
    };
    let tool: Arc<dyn Tool> = Arc::new(tool);
    let session = dispatch(&crate::fixtures::shelf([ToolGroup::new(
        id("g"),
        move |_: LoadContext| {
            let tool = tool.clone();
            async move { Ok(Loaded::new([tool])) }
        },
    )]));
    let mut context = due_in(Duration::from_secs(5));
    context.meta.insert("trace".to_owned(), "x".into());
    context.trace.traceparent = Some("00-1-2-01".to_owned());
    session
        .call(forward_request("g/t", json!({})), context)
        .await;
    assert!(seen.load(Ordering::SeqCst));
}
