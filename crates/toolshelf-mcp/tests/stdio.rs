//! Servers that are child processes: the start, the calls, the end.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test states its expectation by failing on the spot"
)]

mod support;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use serde_json::{Value, json};
use support::within;
use toolshelf_core::{
    CallContext, Cancellation, Elicitor, Error, ErrorKind, JsonText, LoadContext, PluginKind,
    Progress, ProgressSink, Registry, ToolLoader, ToolOutcome, ToolResult,
};
use toolshelf_mcp::{Lifecycle, StdioConfig, StdioServer};

const FIXTURE: &str = env!("CARGO_BIN_EXE_toolshelf-mcp-fixture");

/// Times that are long for the fixture and short for a test.
fn config(words: &[&str]) -> StdioConfig {
    let mut config = StdioConfig::new("fixture", FIXTURE).args(words.iter().copied());
    config.probe_timeout = Duration::from_millis(300);
    config.connect_timeout = Duration::from_secs(10);
    config.close_grace = Duration::from_millis(500);
    config
}

fn server(words: &[&str]) -> StdioServer {
    StdioServer::new(config(words))
}

async fn revision(server: &StdioServer) -> Result<String, Error> {
    let info = server.server_info(&LoadContext::default()).await?;
    Ok(info.protocol.unwrap())
}

async fn call(server: &StdioServer, tool: &str, arguments: Value) -> Result<ToolResult, Error> {
    call_with(server, tool, arguments, CallContext::new()).await
}

async fn call_with(
    server: &StdioServer,
    tool: &str,
    arguments: Value,
    context: CallContext,
) -> Result<ToolResult, Error> {
    match server.call_tool(tool, arguments, context).await? {
        ToolOutcome::Complete(result) => Ok(result),
        other => panic!("{other:?}"),
    }
}

fn context_of<'a>(error: &'a Error, key: &str) -> Option<&'a str> {
    let found = error.contexts().iter().find(|(name, _)| *name == key);
    found.map(|(_, value)| value.as_str())
}

/// Nothing of the configuration, the machine or the server's own words.
fn assert_safe(error: &Error) {
    let text = error.for_model();
    assert!(text.contains("'fixture'"), "{text}");
    for secret in [
        "hunter2",
        "/",
        "PATH",
        "Traceback",
        "toolshelf-mcp-fixture",
        "\n",
    ] {
        assert!(!text.contains(secret), "{secret:?} in {text:?}");
    }
}

// ---- the start

#[tokio::test]
async fn every_kind_of_server_is_spoken_to_in_its_revision() {
    within(async {
        for (words, expected) in [
            (&["legacy"][..], "2025-11-25"),
            (&["legacy", "version", "2024-11-05"], "2024-11-05"),
            (&["legacy", "version", "2025-03-26"], "2025-03-26"),
            (&["legacy", "version", "2025-06-18"], "2025-06-18"),
            (&["modern"], "2026-07-28"),
            (&["retry"], "2026-07-28"),
            (&["reprobe"], "2026-07-28"),
            (&["silent"], "2025-11-25"),
            (&["late-probe"], "2025-11-25"),
            (&["late-modern"], "2026-07-28"),
            (&["exits-on-probe"], "2025-11-25"),
            (&["legacy-versions"], "2025-11-25"),
            (&["discover-lists-legacy"], "2025-11-25"),
            (&["empty-discover"], "2025-11-25"),
            (&["null-id"], "2025-11-25"),
            (&["banner", "legacy"], "2025-11-25"),
        ] {
            let server = server(words);
            assert_eq!(revision(&server).await.unwrap(), expected, "{words:?}");
            let list = server.list_tools(&LoadContext::default()).await.unwrap();
            assert_eq!(list.tools[0].name().as_str(), "echo", "{words:?}");
            server.close().await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_slow_start_outlasts_the_probe() {
    within(async {
        for era in ["modern", "legacy"] {
            let server = server(&["slow", "900", era]);
            // A modern server that starts late answers the probe late, too; it has no
            // `initialize`, so that the late answer decides.
            let expected = if era == "modern" {
                "2026-07-28"
            } else {
                "2025-11-25"
            };
            assert_eq!(revision(&server).await.unwrap(), expected);
            server.close().await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_server_wedged_by_the_probe_is_started_again_without_it() {
    within(async {
        let mut config = config(&["wedged"]);
        config.connect_timeout = Duration::from_secs(3);
        let server = StdioServer::new(config);
        assert_eq!(revision(&server).await.unwrap(), "2025-11-25");
        // Remembered: the next start needs no second one.
        server.disconnect().await;
        let begun = Instant::now();
        assert_eq!(revision(&server).await.unwrap(), "2025-11-25");
        assert!(begun.elapsed() < Duration::from_millis(1_400));
        server.close().await;
    })
    .await;
}

#[tokio::test]
async fn revisions_unknown_here_are_an_error_that_names_them() {
    within(async {
        for (words, version) in [
            (&["future"][..], "2027-01-01"),
            (&["legacy", "version", "1999-01-01"], "1999-01-01"),
        ] {
            let error = revision(&server(words)).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Protocol);
            assert!(error.to_string().contains(version), "{error}");
            assert_safe(&error);
        }
    })
    .await;
}

#[tokio::test]
async fn initialize_only_sends_no_probe() {
    within(async {
        let mut config = config(&["exits-on-probe"]);
        config.lifecycle = Lifecycle::Initialize;
        assert_eq!(
            revision(&StdioServer::new(config)).await.unwrap(),
            "2025-11-25"
        );
    })
    .await;
}

#[tokio::test]
async fn a_program_that_does_not_exist_is_named_to_the_operator_only() {
    within(async {
        let server = StdioServer::new(StdioConfig::new("fixture", "no-such-program-here"));
        let error = revision(&server).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert!(
            error.to_string().contains("no-such-program-here"),
            "{error}"
        );
        assert!(error.to_string().contains("PATH"), "{error}");
        assert_safe(&error);

        let mut config = config(&["legacy"]);
        config.cwd = Some("/no/such/folder".into());
        let error = revision(&StdioServer::new(config)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidConfig);
        assert_safe(&error);
    })
    .await;
}

#[tokio::test]
async fn a_server_that_ends_at_once_is_quoted_to_the_operator_only() {
    within(async {
        let error = revision(&server(&["dies"])).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Exited);
        assert_eq!(
            context_of(&error, "stderr"),
            Some("Error: API_KEY hunter2 is not valid")
        );
        assert!(context_of(&error, "exit").unwrap().contains('3'));
        assert_safe(&error);
    })
    .await;
}

#[tokio::test]
async fn a_start_takes_no_longer_than_it_may() {
    within(async {
        let mut slow = config(&["silent", "slow", "60000", "banner"]);
        slow.connect_timeout = Duration::from_millis(800);
        let begun = Instant::now();
        let error = revision(&StdioServer::new(slow)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TimedOut);
        assert_safe(&error);
        let mut hanging = config(&["legacy", "list-hangs"]);
        hanging.connect_timeout = Duration::from_millis(800);
        let error = StdioServer::new(hanging)
            .load(LoadContext::default())
            .await
            .err()
            .unwrap();
        assert_eq!(error.kind(), ErrorKind::TimedOut);
        assert!(begun.elapsed() < Duration::from_secs(6));
    })
    .await;
}

#[tokio::test]
async fn who_waits_for_a_start_shares_its_failure() {
    within(async {
        let server = server(&["slow", "400", "dies"]);
        let begun = Instant::now();
        let (a, b, c) = tokio::join!(revision(&server), revision(&server), revision(&server));
        for error in [a, b, c] {
            assert_eq!(error.unwrap_err().kind(), ErrorKind::Exited);
        }
        // Two starts (with and without the probe), not six.
        assert!(begun.elapsed() < Duration::from_millis(2_000));
    })
    .await;
}

#[tokio::test]
async fn a_start_can_be_cancelled_and_waits_for_nobody() {
    within(async {
        let server = server(&["silent", "slow", "60000"]);
        let mut context = LoadContext::default();
        context.cancellation = Cancellation::new();
        let cancel = context.cancellation.clone();
        let (result, ()) = tokio::join!(server.load(context), async { cancel.cancel() });
        assert_eq!(result.err().unwrap().kind(), ErrorKind::Cancelled);
        let mut context = LoadContext::default();
        context.deadline = Some(Instant::now() + Duration::from_millis(50));
        let error = server.load(context).await.err().unwrap();
        assert_eq!(error.kind(), ErrorKind::TimedOut);
        server.close().await;
        let error = revision(&server).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable);
    })
    .await;
}

// ---- the list

#[tokio::test]
async fn all_pages_are_read_and_a_circle_ends() {
    within(async {
        let loaded = server(&["legacy", "pages"])
            .load(LoadContext::default())
            .await
            .unwrap();
        let names: Vec<&str> = loaded
            .tools
            .iter()
            .map(|tool| tool.definition().name().as_str())
            .collect();
        assert_eq!(names, ["tool0", "tool1", "tool2"]);
        let error = server(&["legacy", "cursor-loop"])
            .load(LoadContext::default())
            .await
            .err()
            .unwrap();
        assert_eq!(error.kind(), ErrorKind::Protocol);
        assert!(error.to_string().contains("'round'"), "{error}");
        assert_safe(&error);
    })
    .await;
}

#[tokio::test]
async fn descriptors_come_as_they_were_sent_and_bad_ones_are_set_aside() {
    within(async {
        let good = r#"{"name":"z","inputSchema":{"type":"object","properties":{"z":{"maximum":1e400,"default":1.0},"a":{}}},"execution":{"taskSupport":"forbidden"},"annotations":{"readOnlyHint":true,"vendor":18446744073709551617}}"#;
        let tools = format!(r#"{{"tools":[{good},{{"name":"bad","inputSchema":true}},{{"name":7}}]}}"#);
        for era in ["modern", "legacy"] {
            let server = StdioServer::new(config(&[era]).env("FIXTURE_TOOLS", &tools));
            let loaded = server.load(LoadContext::default()).await.unwrap();
            assert_eq!(loaded.tools.len(), 1);
            assert_eq!(loaded.tools[0].definition().descriptor().as_str(), good);
            assert_eq!(loaded.server.instructions.as_deref(), Some(era));
            let aside: Vec<&str> = loaded.set_aside.iter().map(|tool| &*tool.name).collect();
            assert_eq!(aside, ["bad", "(no name)"]);
            assert!(loaded.set_aside[0].reason.contains("boolean"));
        }
    })
    .await;
}

#[tokio::test]
async fn a_list_can_be_had_as_the_server_wrote_it() {
    within(async {
        let tools = [
            r#"{"name":"z","x":1.50,"x":2,"inputSchema":{}}"#,
            r#"{"name":"\u007a"}"#,
            "null",
        ];
        let list = format!(r#"{{"tools":[{}]}}"#, tools.join(","));
        let server = StdioServer::new(config(&["modern", "banner"]).env("FIXTURE_TOOLS", &list));
        assert_eq!(server.sidelights().await, None);
        let kept = server.list_verbatim(&LoadContext::default()).await.unwrap();
        let kept: Vec<&str> = kept.iter().map(|tool| tool.get()).collect();
        assert_eq!(kept, tools);

        let seen = server.sidelights().await.unwrap();
        assert!(seen.modern);
        let (lines, first) = seen.noise.unwrap();
        assert_eq!((lines, &*first), (2, "Welcome to the fixture!"));
        assert_eq!(seen.stderr, None);
    })
    .await;
}

#[tokio::test]
async fn what_a_server_quotes_of_its_configuration_is_named_only() {
    within(async {
        let dying = config(&["dies"]).env("API_KEY", "hunter2");
        let error = revision(&StdioServer::new(dying)).await.unwrap_err();
        assert_eq!(
            context_of(&error, "stderr"),
            Some("Error: API_KEY [env.API_KEY] is not valid")
        );
    })
    .await;
}

// ---- calls

#[tokio::test]
async fn every_kind_of_content_comes_as_it_was_sent() {
    within(async {
        let server = server(&["modern"]);
        let result = concat!(
            r#"{"content":[{"type":"text","text":"é\n","annotations":{"z":1,"a":2}},"#,
            r#"{"type":"image","data":"AA==","mimeType":"image/png"},"#,
            r#"{"type":"audio","data":"AA==","mimeType":"audio/wav","_meta":{"k":1}},"#,
            r#"{"type":"resource","resource":{"blob":"AA==","uri":"x://y"}},"#,
            r#"{"type":"resource_link","uri":"x://y","name":"y"},"#,
            r#"{"a":[1],"type":"hologram"}],"#,
            r#""structuredContent":{"z":1.50,"a":100000000000000000000001},"#,
            r#""isError":true,"_meta":{"vendor":1},"extra":[null]}"#
        );
        let got = call(&server, "raw", json!({ "result": result }))
            .await
            .unwrap();
        let expected = ToolResult::from_json(result).unwrap();
        assert_eq!(got, expected);
        assert_eq!(
            got.structured_content.as_ref().unwrap().as_str(),
            r#"{"z":1.50,"a":100000000000000000000001}"#
        );
        // The order of keys within a block depends on features of serde_json that
        // others switch on; the blocks above are in both orders the same, but for the
        // first.
        let written = serde_json::to_value(&got).unwrap();
        assert_eq!(written, serde_json::from_str::<Value>(result).unwrap());
    })
    .await;
}

#[tokio::test]
async fn other_outcomes_are_told_apart() {
    within(async {
        let server = server(&["modern"]);
        let outcome = |result: &'static str| {
            let server = server.clone();
            async move {
                let arguments = json!({ "result": result });
                server.call_tool("raw", arguments, CallContext::new()).await
            }
        };
        let input =
            r#"{"resultType":"input_required","requestState":"s","inputRequests":{"b":1,"a":2}}"#;
        match outcome(input).await.unwrap() {
            ToolOutcome::InputRequired(required) => assert_eq!(required.result.as_str(), input),
            other => panic!("{other:?}"),
        }
        match outcome(r#"{"resultType":"task","task":{"taskId":"t"}}"#)
            .await
            .unwrap()
        {
            ToolOutcome::Task(task) => assert!(task.result.as_str().contains("taskId")),
            other => panic!("{other:?}"),
        }
        assert!(matches!(
            outcome(r#"{"resultType":"complete","content":[]}"#).await.unwrap(),
            ToolOutcome::Complete(result) if result == ToolResult::default()
        ));
        let error = outcome(r#"{"resultType":"novel"}"#).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Protocol);
        assert_safe(&error);
    })
    .await;
}

#[tokio::test]
async fn a_call_carries_what_its_context_holds() {
    within(async {
        for (era, modern) in [("modern", true), ("legacy", false)] {
            let server = server(&[era]);
            let mut context = CallContext::new();
            context.meta.insert("vendor/x".to_owned(), json!(1));
            context.trace.traceparent = Some("00-a-b-01".to_owned());
            context.resume.insert("requestState".to_owned(), json!("s"));
            let sent = call_with(&server, "echo", json!({ "b": 1, "a": [2.5] }), context)
                .await
                .unwrap();
            let sent: Value = serde_json::from_str(&sent.joined_text()).unwrap();
            let params = &sent["params"];
            assert_eq!(params["arguments"], json!({ "b": 1, "a": [2.5] }));
            assert_eq!(params["requestState"], "s");
            let meta = &params["_meta"];
            assert_eq!(meta["vendor/x"], 1);
            assert_eq!(meta["traceparent"], "00-a-b-01");
            assert!(meta["progressToken"].is_number());
            let version = &meta["io.modelcontextprotocol/protocolVersion"];
            assert_eq!(version.as_str(), modern.then_some("2026-07-28"));
            let client = &meta["io.modelcontextprotocol/clientInfo"]["name"];
            assert_eq!(client.as_str(), modern.then_some("toolshelf"));
            let able = &meta["io.modelcontextprotocol/clientCapabilities"];
            assert_eq!(able.as_object().is_some(), modern);
            // No arguments are no arguments.
            let sent = call(&server, "echo", Value::Null).await.unwrap();
            assert!(!sent.joined_text().contains("arguments"));
        }
    })
    .await;
}

#[tokio::test]
async fn a_crash_costs_the_calls_in_flight_and_nothing_else() {
    within(async {
        let server = server(&["legacy"]);
        let before = call(&server, "pid", json!({})).await.unwrap().joined_text();
        let (hanging, crash) = tokio::join!(
            call(&server, "hang", json!({})),
            call(&server, "crash", json!({}))
        );
        for error in [hanging.unwrap_err(), crash.unwrap_err()] {
            assert_eq!(error.kind(), ErrorKind::Exited);
            assert_eq!(
                context_of(&error, "stderr"),
                Some("Traceback: the token hunter2 was wrong")
            );
            assert!(context_of(&error, "exit").unwrap().contains('7'));
            assert_safe(&error);
        }
        assert!(!server.is_connected().await);
        let after = call(&server, "pid", json!({})).await.unwrap().joined_text();
        assert_ne!(before, after);
        server.close().await;
    })
    .await;
}

/// Calls `cancelled` until the server has been told of a cancellation.
async fn until_cancelled(server: &StdioServer) {
    while call(server, "cancelled", json!({}))
        .await
        .unwrap()
        .joined_text()
        == "[]"
    {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_cancelled_call_is_withdrawn_from_the_server() {
    within(async {
        let first = server(&["legacy"]);
        let mut context = CallContext::new();
        context.cancellation = Cancellation::new();
        let cancel = context.cancellation.clone();
        let hanging = call_with(&first, "hang", json!({}), context);
        let (result, ()) = tokio::join!(hanging, async {
            // Another call has gone through, so that the first one is on its way.
            call(&first, "pid", json!({})).await.unwrap();
            cancel.cancel();
        });
        let error = result.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Cancelled);
        until_cancelled(&first).await;

        // So is one whose future is dropped.
        let second = server(&["legacy"]);
        tokio::select! {
            _ = call(&second, "hang", json!({})) => panic!("it hangs"),
            _ = async {
                call(&second, "pid", json!({})).await.unwrap();
                call(&second, "pid", json!({})).await.unwrap();
            } => {}
        }
        until_cancelled(&second).await;
    })
    .await;
}

#[tokio::test]
async fn deadlines_and_the_idle_limit_end_a_call() {
    within(async {
        let first = server(&["legacy"]);
        call(&first, "pid", json!({})).await.unwrap();
        let mut context = CallContext::new();
        context.deadline = Some(Instant::now() + Duration::from_millis(100));
        let error = call_with(&first, "hang", json!({}), context)
            .await
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TimedOut);
        assert_safe(&error);
        until_cancelled(&first).await;

        let mut config = config(&["legacy"]);
        config.call_timeout = Duration::from_millis(100);
        let second = StdioServer::new(config);
        let error = call(&second, "hang", json!({})).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TimedOut);
        assert!(error.to_string().contains("100 ms"), "{error}");
        // The connection is as good as before.
        call(&second, "pid", json!({})).await.unwrap();
    })
    .await;
}

#[derive(Default)]
struct Reports(Mutex<Vec<Progress>>);

impl ProgressSink for Reports {
    fn report(&self, progress: Progress) {
        self.0.lock().unwrap().push(progress);
    }
}

#[tokio::test]
async fn progress_comes_in_order_and_not_after_the_answer() {
    within(async {
        for era in ["modern", "legacy"] {
            let server = server(&[era]);
            let reports = Arc::new(Reports::default());
            let mut context = CallContext::new();
            context.progress = Some(reports.clone());
            call_with(&server, "progress", json!({}), context)
                .await
                .unwrap();
            // The fourth report is read before the answer to this.
            call(&server, "pid", json!({})).await.unwrap();
            let reports = reports.0.lock().unwrap();
            let seen: Vec<f64> = reports.iter().map(|report| report.progress).collect();
            assert_eq!(seen, [1.0, 2.0, 3.0]);
            assert_eq!(reports[0].total, Some(3.0));
        }
    })
    .await;
}

#[tokio::test]
async fn calls_in_flight_are_answered_in_any_order() {
    within(async {
        let server = server(&["legacy"]);
        call(&server, "pid", json!({})).await.unwrap();
        let (first, second) = tokio::join!(
            biased;
            call(&server, "first", json!({})),
            call(&server, "second", json!({}))
        );
        assert_eq!(first.unwrap().joined_text(), "first");
        assert_eq!(second.unwrap().joined_text(), "second");
    })
    .await;
}

#[tokio::test]
async fn odd_answers_are_understood_or_end_their_own_call_only() {
    within(async {
        let mut config = config(&["legacy"]);
        config.max_message_bytes = 1_000_000;
        let server = StdioServer::new(config);
        for tool in ["text-id", "batch"] {
            call(&server, tool, json!({})).await.unwrap();
        }
        let pid = call(&server, "pid", json!({})).await.unwrap();
        for (tool, kind) in [
            ("no-result", ErrorKind::Protocol),
            ("not-a-result", ErrorKind::Protocol),
            ("huge", ErrorKind::TooLarge),
            ("error", ErrorKind::Server),
            ("nonsense", ErrorKind::Server),
        ] {
            let error = call(&server, tool, json!({})).await.unwrap_err();
            assert_eq!(error.kind(), kind, "{tool}: {error}");
            assert_safe(&error);
        }
        let error = call(&server, "error", json!({})).await.unwrap_err();
        assert!(
            error
                .for_model()
                .ends_with("an error: database # is 'down'"),
            "{error:?}"
        );
        assert_eq!(context_of(&error, "code"), Some("-32603"));
        assert_eq!(call(&server, "pid", json!({})).await.unwrap(), pid);
    })
    .await;
}

struct Answer(&'static str);

#[async_trait]
impl Elicitor for Answer {
    async fn elicit(&self, request: JsonText) -> Result<JsonText, Error> {
        assert_eq!(
            request.as_str(),
            r#"{"message":"Name?","requestedSchema":{"type":"object"}}"#
        );
        JsonText::parse(self.0)
    }
}

#[tokio::test]
async fn a_question_reaches_the_one_who_can_answer_it() {
    within(async {
        let mut config = config(&["legacy"]);
        config.elicitation = true;
        let server = StdioServer::new(config);
        let question = json!({ "message": "Name?", "requestedSchema": { "type": "object" } });
        let mut context = CallContext::new();
        context.elicitor = Some(Arc::new(Answer(
            r#"{"action":"accept","content":{"n":1.0}}"#,
        )));
        let answer = call_with(&server, "ask", question.clone(), context)
            .await
            .unwrap();
        assert!(
            answer.joined_text().contains(r#""action":"accept""#),
            "{answer:?}"
        );
        // Nobody to ask: declined.
        let answer = call(&server, "ask", question.clone()).await.unwrap();
        assert!(
            answer.joined_text().contains(r#""action":"decline""#),
            "{answer:?}"
        );
        // Not offered: an error of the protocol; a ping is always answered.
        let plain = self::server(&["legacy"]);
        let answer = call(&plain, "ask", question).await.unwrap();
        assert!(answer.joined_text().contains("-32601"), "{answer:?}");
        let answer = call(&plain, "ping", json!({})).await.unwrap();
        assert!(
            answer.joined_text().contains(r#""result":{}"#),
            "{answer:?}"
        );
    })
    .await;
}

#[tokio::test]
async fn a_change_of_the_tools_is_told() {
    within(async {
        let count = Arc::new(AtomicUsize::new(0));
        let seen = count.clone();
        let server = StdioServer::on_list_changed(config(&["legacy"]), move || {
            seen.fetch_add(1, Ordering::SeqCst);
        });
        call(&server, "changed", json!({})).await.unwrap();
        assert_eq!(count.load(Ordering::SeqCst), 1);
    })
    .await;
}

#[tokio::test]
async fn a_modern_server_is_asked_to_tell_changes() {
    within(async {
        let count = Arc::new(AtomicUsize::new(0));
        let told = |words: &[&str]| {
            let seen = count.clone();
            seen.store(0, Ordering::SeqCst);
            StdioServer::on_list_changed(config(words), move || {
                seen.fetch_add(1, Ordering::SeqCst);
            })
        };
        let changes = async |server: &StdioServer| {
            call(server, "changed", json!({})).await.unwrap();
            count.load(Ordering::SeqCst)
        };
        let server = told(&["modern", "tells-changes"]);
        assert_eq!(changes(&server).await, 1);
        assert_eq!(changes(&server).await, 2);
        // The open request does not stand in the way of others.
        let error = call(&server, "null-id", json!({})).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Server);
        // A new connection, a new subscription.
        call(&server, "crash", json!({})).await.unwrap_err();
        assert_eq!(changes(&server).await, 3);
        // A server may end it in either way, and everything else goes on.
        for end in ["ends-listen", "cancels-listen"] {
            let server = told(&["modern", "tells-changes"]);
            assert_eq!(changes(&server).await, 1);
            call(&server, end, json!({})).await.unwrap();
            assert_eq!(changes(&server).await, 1);
            assert_eq!(server.generation(), 1);
        }
        // Or refuse it, or not offer it.
        for words in [
            &["modern", "tells-changes", "refuses-listen"][..],
            &["modern"],
        ] {
            let server = told(words);
            assert_eq!(changes(&server).await, 0);
            server.list_tools(&LoadContext::default()).await.unwrap();
        }
    })
    .await;
}

#[tokio::test]
async fn a_server_is_asked_for_changes_only_where_somebody_wants_to_know() {
    within(async {
        let server = server(&["modern", "tells-changes"]);
        // The fixture would panic without a subscription.
        call(&server, "ends-listen", json!({})).await.unwrap_err();
        assert!(!server.is_connected().await);
    })
    .await;
}

#[tokio::test]
async fn an_open_subscription_does_not_keep_an_idle_process() {
    within(async {
        let mut config = config(&["modern", "tells-changes"]);
        config.idle_timeout = Some(Duration::from_millis(50));
        let server = StdioServer::on_list_changed(config, || {});
        call(&server, "changed", json!({})).await.unwrap();
        until_ended(&server).await;
        call(&server, "changed", json!({})).await.unwrap();
        assert_eq!(server.generation(), 2);
    })
    .await;
}

// ---- idle and limited

/// Waits until the process of a server was ended.
async fn until_ended(server: &StdioServer) {
    while server.is_connected().await {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn a_process_that_nobody_uses_is_ended_and_comes_back() {
    within(async {
        let mut config = config(&["modern"]);
        config.idle_timeout = Some(Duration::from_millis(100));
        let server = StdioServer::new(config);
        let before = call(&server, "pid", json!({})).await.unwrap().joined_text();
        assert_eq!(server.generation(), 1);
        until_ended(&server).await;
        // Gone with all that belongs to it, and not only forgotten.
        #[cfg(target_os = "linux")]
        assert!(!std::fs::exists(format!("/proc/{before}")).unwrap());
        assert_eq!(server.generation(), 1);
        let after = call(&server, "pid", json!({})).await.unwrap().joined_text();
        assert_ne!(before, after);
        assert_eq!(server.generation(), 2);
        // A list is a use like any other, and so is the mere question who it is.
        until_ended(&server).await;
        server.list_tools(&LoadContext::default()).await.unwrap();
        assert_eq!(server.generation(), 3);
        until_ended(&server).await;
        revision(&server).await.unwrap();
        assert_eq!(server.generation(), 4);
        server.close().await;
    })
    .await;
}

#[tokio::test]
async fn a_call_in_flight_keeps_the_process_however_long_it_takes() {
    within(async {
        const IDLE: Duration = Duration::from_millis(100);
        let mut config = config(&["legacy"]);
        config.idle_timeout = Some(IDLE);
        let server = StdioServer::new(config);
        let (first, second) = tokio::join!(biased; call(&server, "first", json!({})), async {
            tokio::time::sleep(IDLE * 4).await;
            call(&server, "second", json!({})).await
        });
        assert_eq!(first.unwrap().joined_text(), "first");
        assert_eq!(second.unwrap().joined_text(), "second");
        assert_eq!(server.generation(), 1);
        until_ended(&server).await;
    })
    .await;
}

#[tokio::test]
async fn no_call_fails_because_the_process_was_just_ended() {
    within(async {
        let mut config = config(&["legacy"]);
        // Ended as soon as nobody uses it.
        config.idle_timeout = Some(Duration::from_nanos(1));
        let server = StdioServer::new(config);
        let mut pauses = (0..6).cycle();
        while server.generation() < 12 {
            let (a, b) = tokio::join!(
                call(&server, "pid", json!({})),
                call(&server, "pid", json!({}))
            );
            // Both found the same process.
            assert_eq!(a.unwrap(), b.unwrap());
            // The next ones come before the end, in the middle of it, or after it.
            for _ in 0..pauses.next().unwrap() {
                tokio::task::yield_now().await;
            }
        }
        server.close().await;
    })
    .await;
}

#[tokio::test]
async fn calls_beyond_the_limit_wait_for_their_turn() {
    // Many calls side by side make a large future.
    within(Box::pin(async {
        let mut config = config(&["legacy"]);
        config.max_concurrent_calls = Some(2);
        let server = StdioServer::new(config);
        // Both are in flight at once: the first is answered after the second only.
        let order = Mutex::new(Vec::new());
        let calling = async |tool: &'static str| {
            call(&server, tool, json!({})).await.unwrap();
            order.lock().unwrap().push(tool);
        };
        let cancelled = CallContext::new();
        let cancel = cancelled.cancellation.clone();
        let mut late = CallContext::new();
        late.deadline = Some(Instant::now() + Duration::from_millis(100));
        let hang = Cancellation::new();
        let hanging = || {
            let mut context = CallContext::new();
            context.cancellation = hang.clone();
            call_with(&server, "hang", json!({}), context)
        };
        tokio::join!(
            biased;
            async { assert_eq!(hanging().await.unwrap_err().kind(), ErrorKind::Cancelled) },
            async { assert_eq!(hanging().await.unwrap_err().kind(), ErrorKind::Cancelled) },
            async {
                let error = call_with(&server, "pid", json!({}), cancelled).await.unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Cancelled);
            },
            calling("first"),
            calling("second"),
            async {
                let error = call_with(&server, "pid", json!({}), late).await.unwrap_err();
                assert_eq!(error.kind(), ErrorKind::TimedOut);
                assert!(error.for_model().contains("was not made"), "{error:?}");
                assert_safe(&error);
                // Nobody was served meanwhile, and a list needs no turn.
                assert!(order.lock().unwrap().is_empty());
                server.list_tools(&LoadContext::default()).await.unwrap();
                hang.cancel();
            },
            calling("pid"),
            async { cancel.cancel() },
        );
        let order = order.into_inner().unwrap();
        assert_eq!(order.last(), Some(&"pid"), "{order:?}");
        // All turns were given back.
        let (first, second) = tokio::join!(
            biased;
            call(&server, "first", json!({})),
            call(&server, "second", json!({}))
        );
        assert_eq!(first.unwrap().joined_text(), "first");
        assert_eq!(second.unwrap().joined_text(), "second");
    }))
    .await;
}

#[tokio::test]
async fn who_waits_for_a_turn_does_not_outlast_the_server() {
    within(async {
        let mut config = config(&["legacy"]);
        config.max_concurrent_calls = Some(1);
        let server = StdioServer::new(config);
        let (hanging, waiting, ()) = tokio::join!(
            biased;
            call(&server, "hang", json!({})),
            call(&server, "pid", json!({})),
            async {
                server.list_tools(&LoadContext::default()).await.unwrap();
                server.close().await;
            }
        );
        assert_eq!(hanging.unwrap_err().kind(), ErrorKind::Exited);
        assert_eq!(waiting.unwrap_err().kind(), ErrorKind::Unavailable);
    })
    .await;
}

#[tokio::test]
async fn a_server_that_keeps_ending_is_started_less_and_less_often() {
    within(async {
        let server = server(&["legacy", "quits"]);
        let ends = async || {
            let error = call(&server, "pid", json!({})).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Exited);
        };
        // Refused at once, whatever is wanted of it.
        let refused = async || {
            let begun = Instant::now();
            let error = call(&server, "pid", json!({})).await.unwrap_err();
            let list = server.load(LoadContext::default()).await.err().unwrap();
            assert!(begun.elapsed() < Duration::from_millis(500));
            for error in [&error, &list] {
                assert_eq!(error.kind(), ErrorKind::Unavailable);
                assert_safe(error);
                assert!(error.for_model().contains("Try again in"), "{error:?}");
                assert!(context_of(error, "exit").unwrap().contains('4'));
                assert!(context_of(error, "stderr").unwrap().contains("hunter2"));
            }
            error.retry_delay().unwrap()
        };
        for _ in 0..3 {
            ends().await;
        }
        let pause = refused().await;
        assert!(pause <= Duration::from_secs(1), "{pause:?}");
        assert_eq!(server.generation(), 3);
        tokio::time::sleep(pause).await;
        ends().await;
        assert_eq!(server.generation(), 4);
        let pause = refused().await;
        assert!(pause > Duration::from_secs(1) && pause <= Duration::from_secs(2));
    })
    .await;
}

#[tokio::test]
async fn a_server_that_does_not_even_start_is_not_started_for_ever() {
    within(async {
        let server = server(&["dies"]);
        for _ in 0..3 {
            let error = revision(&server).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Exited);
        }
        let error = revision(&server).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        assert_eq!(
            context_of(&error, "stderr"),
            Some("Error: API_KEY hunter2 is not valid")
        );
        assert_safe(&error);
    })
    .await;
}

#[tokio::test]
async fn ends_after_an_answer_and_ends_that_were_asked_for_cost_no_pause() {
    within(async {
        let crashing = server(&["legacy"]);
        let closed = server(&["legacy"]);
        for _ in 0..5 {
            call(&crashing, "pid", json!({})).await.unwrap();
            let error = call(&crashing, "crash", json!({})).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Exited);
            revision(&closed).await.unwrap();
            closed.disconnect().await;
        }
        // Two ends without an answer, then one with: counted from the beginning again.
        for tool in ["crash", "crash", "pid", "crash", "crash", "crash", "crash"] {
            let error = call(&crashing, tool, json!({})).await.err();
            let kind = error.map(|error| error.kind());
            assert_eq!(kind, (tool == "crash").then_some(ErrorKind::Exited));
        }
        let error = call(&crashing, "pid", json!({})).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable);
    })
    .await;
}

// ---- the process

#[tokio::test]
async fn a_server_sees_little_of_our_environment() {
    within(async {
        let folder = tempfile::tempdir().unwrap();
        let mut config = config(&["legacy"]).env("OWN_KEY", "x");
        config.cwd = Some(folder.path().to_owned());
        let server = StdioServer::new(config);
        let seen = call(&server, "env", json!({})).await.unwrap().joined_text();
        let seen: Value = serde_json::from_str(&seen).unwrap();
        let names: Vec<&str> = seen["env"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(Value::as_str)
            .collect();
        assert!(
            names.contains(&"OWN_KEY") && names.contains(&"PATH"),
            "{names:?}"
        );
        let known = [
            "OWN_KEY", "PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "LANGUAGE",
            "TMPDIR", "TZ",
        ];
        for name in names {
            let family = name.starts_with("LC_") || name.starts_with("XDG_");
            assert!(family || known.contains(&name), "{name}");
        }
        let cwd = std::path::PathBuf::from(seen["cwd"].as_str().unwrap());
        assert_eq!(
            cwd.canonicalize().unwrap(),
            folder.path().canonicalize().unwrap()
        );
    })
    .await;
}

/// Waits until a process is gone, or only waits to be collected by the system.
#[cfg(target_os = "linux")]
async fn until_gone(pid: &str) {
    loop {
        match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
            Err(_) => return,
            Ok(stat)
                if stat
                    .rsplit(')')
                    .next()
                    .is_some_and(|rest| rest.starts_with(" Z")) =>
            {
                return;
            }
            Ok(_) => tokio::time::sleep(Duration::from_millis(10)).await,
        }
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_stubborn_family_is_ended_whole() {
    within(async {
        for by_drop in [false, true] {
            // Both ignore the polite signal; one does not even read the end of input.
            let folder = tempfile::tempdir().unwrap();
            let note = folder.path().join("pid");
            let script =
                r#"trap "" TERM; sleep 1000 & echo $! > "$1"; exec "$0" legacy ignores-eof"#;
            let mut config = StdioConfig::new("fixture", "sh");
            config.args = vec![
                "-c".into(),
                script.into(),
                FIXTURE.into(),
                note.display().to_string(),
            ];
            config.close_grace = Duration::from_millis(200);
            let server = StdioServer::new(config);
            let own = call(&server, "pid", json!({})).await.unwrap().joined_text();
            let child = std::fs::read_to_string(&note).unwrap();
            assert!(std::fs::exists(format!("/proc/{}", child.trim())).unwrap());
            if by_drop {
                drop(server);
            } else {
                let begun = Instant::now();
                server.close().await;
                assert!(begun.elapsed() < Duration::from_secs(3));
                // Collected, too.
                assert!(!std::fs::exists(format!("/proc/{own}")).unwrap());
            }
            until_gone(&own).await;
            until_gone(child.trim()).await;
        }
    })
    .await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn what_a_crashed_server_started_is_ended_with_it() {
    within(async {
        let folder = tempfile::tempdir().unwrap();
        let note = folder.path().join("pid");
        let script = r#"sleep 1000 2>/dev/null & echo $! > "$1"; exec "$0" legacy"#;
        let mut config = StdioConfig::new("fixture", "sh");
        config.args = vec![
            "-c".into(),
            script.into(),
            FIXTURE.into(),
            note.display().to_string(),
        ];
        let server = StdioServer::new(config);
        // The other end of the pipe is held by the sleeper: the crash must be seen all
        // the same.
        let error = call(&server, "crash", json!({})).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Exited);
        until_gone(std::fs::read_to_string(&note).unwrap().trim()).await;
    })
    .await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_crash_is_seen_although_a_stranger_holds_the_pipe() {
    within(async {
        let folder = tempfile::tempdir().unwrap();
        // In a session of its own the sleeper escapes the group. The server begins
        // when it has done so.
        let script = r#"setsid sh -c 'echo $$ > "$0"; exec sleep 1000' "$1" &
            until [ -s "$1" ]; do :; done; exec "$0" "$2""#;
        for (word, tool) in [("legacy", "crash"), ("dies", "never")] {
            let note = folder.path().join(word);
            let mut config = StdioConfig::new("fixture", "sh");
            config.args = vec![
                "-c".into(),
                script.into(),
                FIXTURE.into(),
                note.display().to_string(),
                word.into(),
            ];
            // One start, and so one sleeper.
            config.lifecycle = Lifecycle::Initialize;
            let server = StdioServer::new(config);
            let error = call(&server, tool, json!({})).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Exited);
            assert!(context_of(&error, "exit").is_some());
            let stranger = std::fs::read_to_string(&note).unwrap();
            std::process::Command::new("kill")
                .arg(stranger.trim())
                .status()
                .unwrap();
        }
    })
    .await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_load_that_is_given_up_leaves_no_process() {
    within(async {
        let folder = tempfile::tempdir().unwrap();
        let note = folder.path().join("pid");
        let script = r#"echo $$ > "$0"; exec sleep 1000"#;
        let mut config = StdioConfig::new("fixture", "sh");
        config.args = vec!["-c".into(), script.into(), note.display().to_string()];
        // That is for a server; what has not come to be one gets less.
        config.close_grace = Duration::from_secs(3_600);
        let server = StdioServer::new(config);
        let started = async {
            while std::fs::read_to_string(&note)
                .unwrap_or_default()
                .trim()
                .is_empty()
            {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::select! {
            _ = server.load(LoadContext::default()) => panic!("there is nothing to load"),
            () = started => {}
        }
        server.close().await;
        until_gone(std::fs::read_to_string(&note).unwrap().trim()).await;
    })
    .await;
}

#[tokio::test]
async fn a_runtime_that_ends_takes_its_servers_with_it() {
    let runtime = || {
        tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .unwrap()
    };
    let pid = std::thread::spawn(move || {
        let runtime = runtime();
        let server = server(&["legacy", "ignores-eof"]);
        let pid = runtime
            .block_on(within(call(&server, "pid", json!({}))))
            .unwrap();
        drop(runtime);
        pid.joined_text()
    })
    .join()
    .unwrap();
    #[cfg(target_os = "linux")]
    within(until_gone(&pid)).await;
    #[cfg(not(target_os = "linux"))]
    drop(pid);
}

#[tokio::test]
async fn the_plugin_builds_a_loader_from_options() {
    within(async {
        let registry = Registry::linked().unwrap();
        assert_eq!(registry.names(PluginKind::Loader), ["stdio"]);
        let options =
            json!({ "id": "fixture", "command": FIXTURE, "args": ["modern"], "call_timeout": 0.5,
                "idle_timeout": 1.5, "max_concurrent_calls": 4 });
        let loader = registry.loader("stdio", &options).unwrap();
        let loaded = loader.load(LoadContext::default()).await.unwrap();
        assert_eq!(loaded.tools.len(), 1);
        for wrong in [
            json!({ "id": "x" }),
            json!({ "id": "x", "command": "y", "comand": "z" }),
            json!({ "id": "x", "command": "y", "call_timeout": -1 }),
            json!({ "id": "x", "command": "y", "idle_timeout": 0 }),
            json!({ "id": "x", "command": "y", "max_concurrent_calls": 0 }),
        ] {
            let error = registry.loader("stdio", &wrong).err().unwrap();
            assert_eq!(error.kind(), ErrorKind::InvalidConfig);
        }
        let read = |idle: Value| -> StdioConfig {
            let options = json!({ "id": "x", "command": "y", "idle_timeout": idle });
            serde_json::from_value(options).unwrap()
        };
        assert_eq!(read(json!(null)), StdioConfig::new("x", "y"));
        let config = read(json!(1.5));
        assert_eq!(config.idle_timeout, Some(Duration::from_millis(1_500)));
        let written = serde_json::to_value(&config).unwrap();
        assert_eq!(serde_json::from_value::<StdioConfig>(written).unwrap(), config);
        let shown = format!(
            "{:?}",
            StdioConfig::new("a", "b")
                .args(["--token=hunter2"])
                .env("K", "hunter2")
        );
        assert!(!shown.contains("hunter2"), "{shown}");
    })
    .await;
}
