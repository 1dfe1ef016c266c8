//! The one way of a call: decode, resolve, policy on the name, load, repair, validate,
//! hooks, validate again, policy on the arguments, execute.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use serde_json::json;
use tokio::sync::Notify;
use toolshelf_core::{
    Arguments, CallContext, Error, ErrorKind, FnTool, JsonText, LoadContext, Loaded, Repair, Tool,
    ToolDefinition, ToolGroup, ToolKey, ToolResult,
};
use toolshelf_shelf::{
    AnsweredBy, BeforeCall, CallHook, Permission, Policy, Session, Shelf, ShelfBuilder, Validation,
};
use toolshelf_strategies::{Dispatch, DispatchOptions};

use crate::fixtures::{
    Log, call, definition, dispatch, echo, echoes, forward, forward_request, group, id, inject,
    load, load_request, returning, shelf,
};

/// Says what it is asked, and permits everything.
struct Asks(Log);

#[async_trait]
impl Policy for Asks {
    async fn permit_name(&self, key: &ToolKey, _context: &CallContext) -> Permission {
        self.0.note(format!("may {key}?"));
        Permission::Allow
    }

    async fn permit_call(
        &self,
        key: &ToolKey,
        definition: &ToolDefinition,
        arguments: &Arguments,
        _context: &CallContext,
    ) -> Permission {
        let read_only = definition.annotations().read_only;
        self.0
            .note(format!("may {key} {}? {read_only:?}", show(arguments)));
        Permission::Allow
    }
}

fn show(arguments: &Arguments) -> String {
    serde_json::Value::Object(arguments.clone()).to_string()
}

/// Repairs `x` to a number, and adds one to it before the call.
struct Edits(Log);

#[async_trait]
impl CallHook for Edits {
    async fn repair(
        &self,
        key: &ToolKey,
        _definition: &ToolDefinition,
        arguments: &Arguments,
    ) -> Option<Arguments> {
        self.0.note(format!("repair {key} {}", show(arguments)));
        let number: i64 = arguments.get("x")?.as_str()?.parse().ok()?;
        let mut repaired = arguments.clone();
        repaired.insert("x".to_owned(), number.into());
        Some(repaired)
    }

    async fn before_tool_call(
        &self,
        key: &ToolKey,
        _definition: &ToolDefinition,
        arguments: &Arguments,
    ) -> BeforeCall {
        self.0.note(format!("before {key} {}", show(arguments)));
        let mut edited = arguments.clone();
        let next = arguments["x"].as_i64().unwrap_or_default() + 1;
        edited.insert("x".to_owned(), next.into());
        BeforeCall::Edit(edited)
    }
}

const NUMBER: &str = r#"{"type":"object","properties":{"x":{"type":"integer","maximum":9}},
    "required":["x"],"additionalProperties":false}"#;

fn numbers(log: &Log) -> ToolGroup {
    let log = log.clone();
    let loader = move |_: LoadContext| {
        log.note("load g");
        let loaded = Loaded::new([echo(&log, "g", "t", NUMBER)]);
        async move { Ok(loaded) }
    };
    ToolGroup::new(id("g"), loader)
        .declared_tools(["t"])
        .unwrap()
}

fn with_everybody(log: &Log) -> ShelfBuilder {
    let validations = log.clone();
    Shelf::builder()
        .group(numbers(log))
        .policy(Asks(log.clone()))
        .hook(Edits(log.clone()))
        .validation(move |key| {
            validations.note(format!("validate {key}"));
            Validation::Strict
        })
}

#[tokio::test(start_paused = true)]
async fn every_call_goes_the_same_way() {
    let log = Log::default();
    let session = dispatch(&with_everybody(&log).build().unwrap());
    // Flattened, and a number as a string: decoded first, repaired after the load.
    let flat = json!({"tool_name": "t", "x": "7"});
    let report = call(&session, "deferred_tool_call", flat).await;
    assert_eq!(report.text(), "g/t {\"x\":8}");
    assert_eq!(report.repairs, [Repair::Flattened, Repair::Host]);
    assert_eq!(
        log.take(),
        [
            "may g/t?",
            "load g",
            "repair g/t {\"x\":\"7\"}",
            "validate g/t",
            "before g/t {\"x\":7}",
            "validate g/t",
            "may g/t {\"x\":8}? None",
            "execute g/t",
        ]
    );
    // The same way for a native call of a tool that is loaded, without the load.
    call(&session, "g__t", json!({"x": 1})).await;
    assert_eq!(
        log.take(),
        [
            "may g/t?",
            "repair g/t {\"x\":1}",
            "validate g/t",
            "before g/t {\"x\":1}",
            "validate g/t",
            "may g/t {\"x\":2}? None",
            "execute g/t",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn an_edit_is_validated_again() {
    let log = Log::default();
    let session = dispatch(&with_everybody(&log).build().unwrap());
    let report = forward(&session, "t", json!({"x": 9})).await;
    assert!(report.text().contains("- x: expected at most 9, got 10"));
    assert_eq!(log.count("execute g/t"), 0);
}

#[tokio::test(start_paused = true)]
async fn invalid_arguments_reach_no_hook_before_the_call_and_no_policy_on_arguments() {
    let log = Log::default();
    let session = dispatch(&with_everybody(&log).build().unwrap());
    let report = forward(&session, "t", json!({"y": 1})).await;
    assert_eq!(report.answered_by, AnsweredBy::Driver);
    assert_eq!(
        log.take(),
        ["may g/t?", "load g", "repair g/t {\"y\":1}", "validate g/t"]
    );
}

/// Permits until it is told otherwise; frozen for a batch.
#[derive(Clone, Default)]
struct Switch {
    denies: Arc<AtomicBool>,
    of_arguments: bool,
}

#[async_trait]
impl Policy for Switch {
    async fn permit_name(&self, _key: &ToolKey, _context: &CallContext) -> Permission {
        match !self.of_arguments && self.denies.load(Ordering::SeqCst) {
            true => Permission::Deny("not on a Sunday".to_owned()),
            false => Permission::Allow,
        }
    }

    async fn permit_call(
        &self,
        _key: &ToolKey,
        _definition: &ToolDefinition,
        _arguments: &Arguments,
        _context: &CallContext,
    ) -> Permission {
        match self.of_arguments && self.denies.load(Ordering::SeqCst) {
            true => Permission::Deny("not on a Sunday".to_owned()),
            false => Permission::Allow,
        }
    }

    fn for_batch(&self) -> Option<Arc<dyn Policy>> {
        let denies = self.denies.load(Ordering::SeqCst);
        Some(Arc::new(Self {
            denies: Arc::new(AtomicBool::new(denies)),
            of_arguments: self.of_arguments,
        }))
    }
}

fn denying(of_arguments: bool) -> Switch {
    Switch {
        denies: Arc::new(AtomicBool::new(true)),
        of_arguments,
    }
}

#[tokio::test(start_paused = true)]
async fn a_denied_call_starts_no_loader() {
    async fn check(session: fn(&Shelf) -> Session, name: &str, arguments: serde_json::Value) {
        let log = Log::default();
        let shelf = Shelf::builder()
            .group(group(&log, "g", &["t"]))
            .policy(denying(false))
            .build()
            .unwrap();
        let report = call(&session(&shelf), name, arguments).await;
        assert_eq!(
            report.text(),
            "The call of `g/t` was not permitted: not on a Sunday"
        );
        assert_eq!(report.key.unwrap().to_string(), "g/t");
        assert!(log.take().is_empty());
    }
    let forwarded = |name| json!({"tool_name": name, "arguments": {}});
    check(dispatch, "deferred_tool_call", forwarded("t")).await;
    check(dispatch, "deferred_tool_call", forwarded("g/t")).await;
    check(dispatch, "deferred_tool_call", forwarded("g__t")).await;
    check(dispatch, "g__t", json!({})).await;
    check(inject, "g__t", json!({})).await;
    check(inject, "t", json!({})).await;
    // Nor do arguments that are of no use.
    check(
        dispatch,
        "deferred_tool_call",
        json!({"tool_name": "t", "arguments": 1}),
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_bare_name_starts_no_server_of_which_the_tool_is_denied() {
    /// Denies everything of one group.
    struct NotThere;
    #[async_trait]
    impl Policy for NotThere {
        async fn permit_name(&self, key: &ToolKey, _context: &CallContext) -> Permission {
            match key.group.as_str() {
                "production" => Permission::Deny("hands off".to_owned()),
                _ => Permission::Allow,
            }
        }
    }
    let log = Log::default();
    // The names of neither are known.
    let shelf = Shelf::builder()
        .groups([
            returning(&log, "production", &["restart"]),
            returning(&log, "staging", &["restart"]),
        ])
        .policy(NotThere)
        .build()
        .unwrap();
    let report = forward(&dispatch(&shelf), "restart", json!({})).await;
    assert_eq!(report.text(), "staging/restart {}");
    assert_eq!(log.take(), ["load staging", "execute staging/restart"]);
    let report = forward(&dispatch(&shelf), "production/restart", json!({})).await;
    assert_eq!(
        report.text(),
        "The call of `production/restart` was not permitted: hands off"
    );
    assert!(log.take().is_empty());
}

#[tokio::test(start_paused = true)]
async fn what_is_loaded_does_not_matter_to_a_policy() {
    for of_arguments in [false, true] {
        let log = Log::default();
        let shelf = Shelf::builder()
            .group(group(&log, "g", &["t"]))
            .policy(denying(of_arguments))
            .build()
            .unwrap();
        let session = dispatch(&shelf);
        assert!(!load(&session, "g").await.is_error());
        let report = forward(&session, "t", json!({})).await;
        assert_eq!(
            report.text(),
            "The call of `g/t` was not permitted: not on a Sunday"
        );
        assert_eq!(log.take(), ["load g"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_batch_is_judged_by_the_policy_from_before_it() {
    let log = Log::default();
    for of_arguments in [false, true] {
        let switch = Switch {
            of_arguments,
            ..Switch::default()
        };
        // The first call of the batch changes what the policy would say, and the second is
        // judged after it has.
        let flipped = Arc::new(Notify::new());
        let flips = {
            let (denies, flipped) = (switch.denies.clone(), flipped.clone());
            move |_: LoadContext| {
                denies.store(true, Ordering::SeqCst);
                flipped.notify_one();
                async { Ok(Loaded::default()) }
            }
        };
        let waits = {
            let log = log.clone();
            move |_: LoadContext| {
                let (log, flipped) = (log.clone(), flipped.clone());
                async move {
                    flipped.notified().await;
                    Ok(echoes(&log, "g", &["t"]))
                }
            }
        };
        let shelf = Shelf::builder()
            .group(ToolGroup::new(id("flips"), flips))
            .group(
                ToolGroup::new(id("g"), waits)
                    .declared_tools(["t"])
                    .unwrap(),
            )
            .policy(switch)
            .build()
            .unwrap();
        let session = dispatch(&shelf);
        let calls = vec![
            (load_request("flips"), CallContext::new()),
            (forward_request("g/t", json!({})), CallContext::new()),
        ];
        let reports = session.call_batch(calls).await;
        assert_eq!(reports[1].text(), "g/t {}");
        // The next batch is judged anew.
        let report = forward(&session, "g/t", json!({})).await;
        assert!(report.text().contains("was not permitted"));
    }
}

#[tokio::test(start_paused = true)]
async fn a_hook_can_block_and_the_first_block_ends_the_call() {
    struct Blocks(Log, &'static str);
    #[async_trait]
    impl CallHook for Blocks {
        async fn before_tool_call(
            &self,
            _key: &ToolKey,
            _definition: &ToolDefinition,
            _arguments: &Arguments,
        ) -> BeforeCall {
            self.0.note(self.1);
            match self.1 {
                "second" => BeforeCall::Block("two\nlines\u{202e}".to_owned()),
                _ => BeforeCall::Continue,
            }
        }
    }
    let log = Log::default();
    let shelf = Shelf::builder()
        .group(group(&log, "g", &["t"]))
        .hook(Blocks(log.clone(), "first"))
        .hook(Blocks(log.clone(), "second"))
        .hook(Blocks(log.clone(), "third"))
        .build()
        .unwrap();
    let report = forward(&dispatch(&shelf), "t", json!({})).await;
    assert_eq!(
        report.text(),
        "The call of `g/t` was not permitted: two lines"
    );
    assert_eq!(log.take(), ["load g", "first", "second"]);
}

#[tokio::test(start_paused = true)]
async fn the_id_of_a_call_is_never_changed() {
    let log = Log::default();
    let session = dispatch(&shelf([group(&log, "g", &["t"])]));
    for (name, arguments) in [
        (
            "deferred_tool_call",
            json!({"tool_name": "t", "arguments": "{}"}),
        ),
        ("deferred_tool_call", json!({"tool_name": "nope"})),
        ("deferred_tool_call", json!(17)),
        ("load_tools", json!({"group_id": "g"})),
        ("g__t", json!({})),
        ("nobody", json!({})),
    ] {
        let call = crate::fixtures::request(name, arguments);
        let report = session.call(call.clone(), CallContext::new()).await;
        assert_eq!(report.envelope, call);
    }
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_finds_itself_out_of_date_is_looked_up_permitted_and_called_anew_once() {
    let log = Log::default();
    // Its group has the current tool when the call comes, or never.
    for current in [true, false] {
        let shelf = with_everybody(&log).build().unwrap();
        let weak = shelf.downgrade();
        let noted = log.clone();
        let outdated = FnTool::new(definition("t", NUMBER), move |arguments: Arguments, _| {
            noted.note(format!("outdated {}", show(&arguments)));
            if current && let Some(shelf) = weak.upgrade() {
                let loaded = Loaded::new([echo(&noted, "g", "t", NUMBER)]);
                shelf.hand_over(&id("g"), loaded).unwrap();
            }
            async { Err(Error::new(ErrorKind::Changed, "out of date")) }
        });
        let outdated: Arc<dyn Tool> = Arc::new(outdated);
        shelf.hand_over(&id("g"), Loaded::new([outdated])).unwrap();
        let report = forward(&dispatch(&shelf), "t", json!({"x": "1"})).await;
        let calls: Vec<String> = log.take();
        let calls = calls.into_iter().filter(|line| {
            line.starts_with("outdated") || line.starts_with("execute") || line.starts_with("may")
        });
        let calls: Vec<String> = calls.collect();
        let expect = [
            "may g/t?",
            "may g/t {\"x\":2}? None",
            "outdated {\"x\":2}",
            "may g/t {\"x\":2}? None",
        ];
        assert_eq!(calls[..4], expect);
        if current {
            assert_eq!(calls[4..], ["execute g/t"]);
            assert_eq!(report.text(), "g/t {\"x\":2}");
            assert_eq!(report.repairs, [Repair::Host]);
            assert!(report.error.is_none());
        } else {
            assert_eq!(calls[4..], ["outdated {\"x\":2}"]);
            assert_eq!(report.text(), "The call of `g/t` failed: changed.");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_decided_of_one_definition_does_not_hold_for_another() {
    /// What happens in the time that a permission takes.
    type Meanwhile = Arc<Mutex<Option<Box<dyn FnOnce() + Send>>>>;
    struct Slow(Meanwhile);
    #[async_trait]
    impl Policy for Slow {
        async fn permit_name(&self, _key: &ToolKey, _context: &CallContext) -> Permission {
            let meanwhile = self.0.lock().unwrap().take();
            if let Some(meanwhile) = meanwhile {
                meanwhile();
            }
            Permission::Allow
        }
    }
    let log = Log::default();
    let tool = |hints: &str| -> Arc<dyn Tool> {
        let descriptor =
            format!(r#"{{"name":"t","inputSchema":{{"type":"object"}},"annotations":{hints}}}"#);
        let descriptor = JsonText::parse(&descriptor).unwrap();
        let definition = ToolDefinition::from_descriptor(descriptor)
            .unwrap()
            .definition;
        let log = log.clone();
        Arc::new(FnTool::new(definition, move |_: Arguments, _| {
            log.note("execute");
            async { Ok::<_, Error>(ToolResult::text("done")) }
        }))
    };
    let reads = tool(r#"{"readOnlyHint":true}"#);
    for (becomes, runs) in [
        (r#"{"readOnlyHint":true}"#, true),
        (r#"{"readOnlyHint":false,"destructiveHint":true}"#, false),
    ] {
        let meanwhile = Meanwhile::default();
        let shelf = Shelf::builder()
            .group(group(&Log::default(), "g", &["t"]))
            .policy(Slow(Arc::clone(&meanwhile)))
            .build()
            .unwrap();
        shelf
            .hand_over(&id("g"), Loaded::new([reads.clone()]))
            .unwrap();
        let (weak, other) = (shelf.downgrade(), tool(becomes));
        *meanwhile.lock().unwrap() = Some(Box::new(move || {
            let loaded = Loaded::new([other]);
            weak.upgrade().unwrap().hand_over(&id("g"), loaded).unwrap();
        }));
        let split = DispatchOptions {
            split_calls: true,
            ..DispatchOptions::default()
        };
        let session = crate::fixtures::begin(&shelf, Arc::new(Dispatch::new(split)));
        let report = call(&session, "deferred_tool_read", json!({"tool_name": "t"})).await;
        assert_eq!(!report.is_error(), runs, "{}", report.text());
        assert_eq!(log.take().len(), usize::from(runs));
        if !runs {
            assert_eq!(report.answered_by, AnsweredBy::Strategy);
            assert!(
                report.text().contains("deferred_tool_destr"),
                "{}",
                report.text()
            );
        }
    }
}
