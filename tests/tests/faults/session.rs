//! A session that outlives its servers, its context, and what it was told.

use serde_json::{Value, json};
use toolshelf_core::GroupId;

use crate::host::{Log, Setup, faulty, holds, host, well, within};

fn text(text: &str) -> Value {
    json!({ "text": text })
}

/// A model that has forgotten a schema, as after a compaction, gets it again: the same
/// bytes, by loading, and in the error of a call that it makes from memory.
#[tokio::test(flavor = "multi_thread")]
async fn a_schema_that_was_forgotten_is_served_again() {
    within(async {
        let host = host(json!({"one": faulty("")})).await;
        let load = json!({"group_id": "one"});
        let first = host.call("load_tools", load.clone()).await;
        for _ in 0..3 {
            assert_eq!(host.call("load_tools", load.clone()).await, first);
        }
        // An array as a string, as models write it from memory.
        let said = host.refused("one/huge", json!({"bytes": "[1]"})).await;
        holds(
            &said,
            &["bytes: expected", "integer", r#""required":["bytes"]"#],
        );
        host.end().await;
    })
    .await;
}

/// Tools of a server that is taken away are not in the list any more, so that no request
/// refers to what does not exist; a call says so.
#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_is_removed_leaves_the_list_and_its_calls_are_answered() {
    within(async {
        let servers = json!({"one": faulty(""), "well": well()});
        let setup = Setup::new(servers).strategy("inject").handshake();
        let host = setup.settled().start().await;
        host.load("one").await;
        host.load("well").await;
        assert!(host.names().await.contains(&"one__echo".to_owned()));
        assert!(host.gateway.shelf().remove(&GroupId::new("one").unwrap()));
        let names = host.names().await;
        assert!(
            !names.iter().any(|name| name.starts_with("one__")),
            "{names:?}"
        );
        assert!(names.contains(&"well__echo".to_owned()));
        let gone = host.call("one__echo", text("x")).await;
        assert!(gone.is_error);
        holds(&gone.joined_text(), &["no tool `one__echo`"]);
        let on = host.call("well__echo", text("on")).await;
        assert_eq!(on.joined_text(), "well says: on");
        host.end().await;
    })
    .await;
}

/// A server that crashed is not a server without tools: they stay in the list in their
/// order, and the next call starts it again.
#[tokio::test(flavor = "multi_thread")]
async fn a_crash_takes_no_tool_away() {
    within(async {
        let log = Log::new();
        let servers = json!({"one": faulty(&log.word()), "well": well()});
        let setup = Setup::new(servers).strategy("inject").handshake();
        let host = setup.settled().start().await;
        host.load("one").await;
        let before = host.list_text().await;
        let crashed = host.call("one__crash", json!({})).await;
        assert!(crashed.is_error);
        assert_eq!(host.list_text().await, before);
        let again = host.call("one__echo", text("back")).await;
        assert_eq!(again.joined_text(), "back");
        assert_eq!(host.list_text().await, before);
        assert_eq!(log.pids().len(), 2);
        assert_eq!(
            log.count("list"),
            2,
            "the new process was asked for its list"
        );
        host.end().await;
    })
    .await;
}

/// A new process may offer other tools than the one that crashed. Its list is asked for
/// before the next call, which is judged by what it says.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_comes_back_is_asked_for_its_list() {
    within(async {
        for (state, parts) in [
            (
                "schema",
                ["currency: expected", r#""required":["amount","currency"]"#],
            ),
            ("gone", ["no tool", "pay"]),
        ] {
            let log = Log::new();
            let file = log.beside("state");
            let words = format!("changes crash-on=2 state={} {}", file.display(), log.word());
            let host = Setup::new(json!({"shop": faulty(&words)})).settled();
            let host = host.start().await;
            let before = host.list_text().await;
            let amount = json!({"amount": 1});
            host.said("shop/pay", amount.clone()).await;
            std::fs::write(&file, state).unwrap();
            host.refused("shop/pay", amount.clone()).await;
            let said = host.refused("shop/pay", amount).await;
            holds(&said, &parts);
            assert_eq!(log.pids().len(), 2);
            assert_eq!(
                log.count("call pay"),
                2,
                "not with what the old process asked for"
            );
            // It is said once, where the model reads it; the list stays.
            let load = json!({"group_id": "shop", "tool_names": ["change"]});
            let first = host.call("load_tools", load.clone()).await.joined_text();
            holds(&first, &["Tools of group `shop`", "`pay`"]);
            let second = host.call("load_tools", load).await.joined_text();
            assert!(!second.contains("Tools of group"), "{second}");
            assert_eq!(host.list_text().await, before);
            host.end().await;
        }
    })
    .await;
}

/// A server that fails to load tells its own group only, in `inject` as well.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_fails_later_costs_the_session_nothing() {
    within(async {
        let servers = json!({"dead": faulty("exit=1"), "one": faulty("")});
        let setup = Setup::new(servers).strategy("inject").handshake();
        let host = setup.start().await;
        host.load("one").await;
        let before = host.names().await;
        host.load_refused("dead").await;
        assert_eq!(host.names().await, before);
        assert_eq!(host.call("one__echo", text("x")).await.joined_text(), "x");
        host.end().await;
    })
    .await;
}
