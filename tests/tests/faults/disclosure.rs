//! What is shown, what it costs, and how calls reach what is not shown.

use serde_json::{Value, json};

use crate::host::{Log, Setup, faulty, holds, host, impatient, until, well, within};

fn text(text: &str) -> Value {
    json!({ "text": text })
}

/// Every list of a session whose strategy defers holds the tool that loads, and hosts are
/// asked not to hide it.
#[tokio::test(flavor = "multi_thread")]
async fn the_tool_that_loads_is_in_every_list() {
    within(async {
        let cases = [
            json!({}),
            json!({"dead": faulty("exit=1")}),
            json!({"empty": faulty("list=empty")}),
            json!({"one": faulty(""), "dead": faulty("list=error")}),
        ];
        for servers in cases {
            for strategy in ["dispatch", "inject"] {
                let setup = Setup::new(servers.clone()).strategy(strategy);
                let host = setup.handshake().settled().start().await;
                for _ in 0..2 {
                    let list = host.list().await;
                    let load = list.iter().find(|tool| tool["name"] == "load_tools");
                    let load = load.unwrap_or_else(|| panic!("{strategy}: {servers}"));
                    assert_eq!(load["_meta"]["anthropic/alwaysLoad"], true);
                    host.load("one").await;
                }
                host.end().await;
            }
        }
    })
    .await;
}

/// A client that never asks for the list again, or never did, reaches every tool.
#[tokio::test(flavor = "multi_thread")]
async fn a_call_needs_no_list() {
    within(async {
        let frozen = host(json!({"one": faulty("start=200")})).await;
        assert_eq!(frozen.said("one/echo", text("a")).await, "a");
        assert_eq!(frozen.said("echo", text("b")).await, "b");
        frozen.end().await;

        let setup = Setup::new(json!({"one": faulty("")}))
            .strategy("inject")
            .handshake();
        let frozen = setup.settled().start().await;
        frozen.list().await;
        let answer = frozen.load("one").await;
        let name = answer["call_as"][0].as_str().unwrap();
        assert_eq!(frozen.call(name, text("c")).await.joined_text(), "c");
        frozen.end().await;
    })
    .await;
}

/// A model that calls a tool by its name, although it was never loaded, gets its answer;
/// one that calls it wrongly gets the schema.
#[tokio::test(flavor = "multi_thread")]
async fn a_direct_call_of_a_deferred_tool_runs_or_gets_the_schema() {
    within(async {
        for (strategy, name) in [
            ("dispatch", "one__echo"),
            ("dispatch", "one/echo"),
            ("dispatch", "echo"),
            ("inject", "one__echo"),
            ("inject", "one/echo"),
            ("inject", "echo"),
        ] {
            let setup = Setup::new(json!({"one": faulty("")})).strategy(strategy);
            let host = setup.handshake().start().await;
            let before = host.names().await;
            let result = host.call(name, text("hi")).await;
            assert_eq!(result.joined_text(), "hi", "{strategy} {name}");
            assert!(!result.is_error);
            let wrong = host.call(name, json!({"txt": "hi"})).await;
            assert!(wrong.is_error);
            holds(
                &wrong.joined_text(),
                &["text: expected", r#""required":["text"]"#],
            );
            // It was not loaded by that.
            assert_eq!(host.names().await, before, "{strategy} {name}");
            host.end().await;
        }
    })
    .await;
}

/// Nothing that was not empty becomes `{}`, and what cannot be read runs nothing.
#[tokio::test(flavor = "multi_thread")]
async fn arguments_that_cannot_be_read_run_nothing_and_get_the_schema() {
    within(async {
        let log = Log::new();
        let host = Setup::new(json!({"one": faulty(&log.word())})).settled();
        let host = host.start().await;
        host.load("one").await;
        for arguments in [
            json!("{\"text\":"),
            json!("text"),
            json!([]),
            json!(5),
            json!(true),
        ] {
            for tool in ["one/echo", "one/hang"] {
                let said = host.refused(tool, arguments.clone()).await;
                holds(&said, &["Input schema of", tool]);
            }
        }
        let both = json!({"tool_name": "one/echo", "arguments": {"text": "a"}, "text": "b"});
        let result = host.call("deferred_tool_call", both).await;
        assert!(result.is_error);
        holds(
            &result.joined_text(),
            &["Put all arguments into `arguments`", "Input schema"],
        );
        for arguments in [
            json!({}),
            json!({"tool_name": 5}),
            json!({"arguments": {"text": "a"}}),
        ] {
            let result = host.call("deferred_tool_call", arguments).await;
            assert!(result.is_error);
            holds(&result.joined_text(), &["`tool_name` is missing"]);
        }
        assert_eq!(log.count("call"), 0);
        host.end().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn empty_arguments_for_a_tool_that_needs_some_are_refused_before_the_call() {
    within(async {
        let log = Log::new();
        let host = host(json!({"one": faulty(&log.word())})).await;
        for arguments in [json!({}), Value::Null] {
            let said = host.refused("one/echo", arguments).await;
            holds(
                &said,
                &["text: expected", "got nothing", r#""required":["text"]"#],
            );
        }
        assert_eq!(log.count("call"), 0, "the server was not bothered");
        // A tool that needs none runs without.
        assert!(host.forward("one/fails", Value::Null).await.is_error);
        assert_eq!(log.count("call fails"), 1);
        host.end().await;
    })
    .await;
}

/// A server that comes, goes or fails changes no byte of the list: what is new is said
/// where it is asked for.
#[tokio::test(flavor = "multi_thread")]
async fn servers_that_come_and_go_change_no_byte_of_the_list() {
    within(async {
        let log = Log::new();
        let servers = json!({
            "late": faulty(&format!("start=300 {}", log.word())),
            "dead": faulty("exit=1"),
            "mute": impatient("list=hang", 0.8),
            "well": well(),
        });
        let host = host(servers).await;
        // Made before any server is known.
        let before = host.list_text().await;
        log.until("list", 1).await;
        host.load("late").await;
        assert_eq!(host.list_text().await, before, "one came");
        host.refused("late/crash", json!({})).await;
        assert_eq!(host.list_text().await, before, "one crashed");
        host.load_refused("dead").await;
        host.load_refused("mute").await;
        assert_eq!(host.list_text().await, before, "two failed");
        host.others_go_on().await;
        host.end().await;
    })
    .await;
}

/// "Is not there", "does not run" and "has no such tool" are three different things.
#[tokio::test(flavor = "multi_thread")]
async fn absent_and_failed_are_told_apart() {
    within(async {
        let servers = json!({"dead": faulty("exit=1"), "one": faulty("")});
        let host = Setup::new(servers).settled().start().await;
        host.list().await;
        let absent = host.load_refused("onne").await;
        holds(&absent, &["no group `onne`", "`one`"]);
        let failed = host.load_refused("dead").await;
        holds(
            &failed,
            &["`dead` cannot be loaded", "ended while it was starting"],
        );
        let unknown = host.refused("one/ecko", text("x")).await;
        holds(&unknown, &["has no tool `ecko`", "`echo`"]);
        let failed = host.refused("dead/echo", text("x")).await;
        holds(&failed, &["`dead`", "ended while it was starting"]);
        let mistaken = host.load_refused("echo").await;
        holds(&mistaken, &["is a tool, not a group", "`one`"]);
        host.end().await;
    })
    .await;
}

/// Under `standard` and `inject` a client is told that the list has grown, and need not
/// listen.
#[tokio::test(flavor = "multi_thread")]
async fn a_list_that_is_all_tools_grows_when_a_server_comes_late() {
    within(async {
        let log = Log::new();
        let late = faulty(&format!("start=300 {}", log.word()));
        let setup = Setup::new(json!({"late": late}))
            .strategy("standard")
            .handshake();
        let host = setup.start().await;
        assert_eq!(host.names().await.len(), 0);
        log.until("list", 1).await;
        assert_eq!(host.call("late__echo", text("x")).await.joined_text(), "x");
        assert_eq!(host.names().await.len(), 11);
        until(|| log.count("call") == 1).await;
        host.end().await;
    })
    .await;
}
