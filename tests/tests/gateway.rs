//! The gateway as a host sees it: real server processes behind it, a client in front.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests are tests"
)]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use toolshelf_core::{CallContext, ContentBlock, Progress, ProgressSink, ToolOutcome, ToolResult};
use toolshelf_gateway::config::{Config, EntryState, ProcessEnvironment, Selection};
use toolshelf_gateway::{Gateway, GatewayOptions};
use toolshelf_mcp::{Lifecycle, StdioConfig, StdioServer};
use toolshelf_tests::Connected;
use toolshelf_tests::gateway::{PATIENCE, forward, names, strategies, with_host};

const FIXTURE: &str = env!("CARGO_BIN_EXE_fixture-server");

fn basic(name: &str) -> Value {
    json!({"command": FIXTURE, "args": ["basic", name]})
}

fn gateway(servers: Value, strategy: &str, wait: Option<Duration>) -> Arc<Gateway> {
    let mut options = GatewayOptions::default();
    options.strategy = Some(match strategy {
        "split" => Selection::new("dispatch", json!({"splitCalls": true})),
        name => name.into(),
    });
    options.wait = wait;
    toolshelf_tests::gateway::gateway(&servers, options, &strategies()).unwrap()
}

/// Runs a test against a gateway within its time, and ends all processes.
async fn with_gateway(
    servers: Value,
    strategy: &str,
    lifecycle: Lifecycle,
    test: impl AsyncFnOnce(&Connected),
) {
    let gateway = gateway(servers, strategy, Some(Duration::from_secs(30)));
    with_host(gateway, lifecycle, test).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_sees_two_tools_that_never_change() {
    for lifecycle in [Lifecycle::Initialize, Lifecycle::Auto] {
        let servers = json!({"one": basic("one"), "two": basic("two")});
        with_gateway(servers, "dispatch", lifecycle, async |host| {
            let before = host.list().await.unwrap();
            assert_eq!(names(&before), ["load_tools", "deferred_tool_call"]);
            for tool in &before {
                let tool: Value = serde_json::from_str(tool).unwrap();
                assert_eq!(tool["_meta"]["anthropic/alwaysLoad"], true);
            }
            let catalog = &before[0];
            assert!(catalog.contains("- `one` — The one server: Tools to test with. (9 tools)"));
            assert!(
                !catalog.contains("Further text"),
                "one sentence only: {catalog}"
            );
            assert!(catalog.contains("echo, add, fail"));

            let loaded = host
                .call("load_tools", json!({"group_id": "one"}))
                .await
                .unwrap();
            assert!(!loaded.is_error);
            host.call(
                "deferred_tool_call",
                forward("two/echo", json!({"text": "hi"})),
            )
            .await
            .unwrap();
            host.call("load_tools", json!({"group_id": "none"}))
                .await
                .unwrap();
            assert_eq!(host.list().await.unwrap(), before);
        })
        .await;
    }
}

/// A session of many turns: loads, repeated and partial ones, calls that succeed, fail and
/// crash their server, and names that do not exist. The host asks for the list in between.
#[tokio::test(flavor = "multi_thread")]
async fn two_hundred_turns_do_not_change_a_byte_of_the_list() {
    let servers = json!({"one": basic("one"), "two": basic("two"), "dead": {"command": "false"}});
    with_gateway(servers, "dispatch", Lifecycle::Auto, async |host| {
        let before = host.list().await.unwrap();
        for turn in 0..200 {
            let server = if turn % 2 == 0 { "one" } else { "two" };
            let (tool, arguments) = match turn % 10 {
                0 | 1 => ("load_tools", json!({"group_id": server})),
                2 => (
                    "load_tools",
                    json!({"group_id": server, "tool_names": ["add", "fail"]}),
                ),
                3 => ("load_tools", json!({"group_id": "dead"})),
                4 => ("load_tools", json!({"group_id": "nowhere"})),
                5 => (
                    "deferred_tool_call",
                    forward(&format!("{server}/fail"), json!({})),
                ),
                6 => ("deferred_tool_call", forward("echo", json!({"text": "hi"}))),
                7 => (
                    "deferred_tool_call",
                    forward(&format!("{server}/add"), json!({"a": turn})),
                ),
                8 if turn == 108 => ("deferred_tool_call", forward("one/crash", json!({}))),
                _ => (
                    "deferred_tool_call",
                    forward(&format!("{server}/echo"), json!({"text": "x"})),
                ),
            };
            host.call(tool, arguments).await.unwrap();
            assert_eq!(host.list().await.unwrap(), before, "turn {turn}");
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_load_gives_the_schemas_as_the_server_wrote_them() {
    with_gateway(json!({"one": basic("one")}), "dispatch", Lifecycle::Auto, async |host| {
        let load = json!({"group_id": "one", "tool_names": ["echo"]});
        let first = host.call("load_tools", load.clone()).await.unwrap();
        let text = first.joined_text();
        assert!(
            text.contains(
                r#""parameters":{"type":"object","required":["text"],"properties":{"text":{"description":"What to say","type":"string","minLength":1},"loud":{"type":"boolean","default":false}},"additionalProperties":false}"#
            ),
            "{text}"
        );
        assert_eq!(host.call("load_tools", load).await.unwrap(), first);
        let answer: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(answer["expanded"], true);
        assert_eq!(answer["remaining"], 8);
        assert_eq!(answer["tool_names"], json!(["echo"]));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn it_answers_at_once_while_servers_hang_or_are_dead() {
    let servers = json!({
        "dead": {"command": FIXTURE, "args": ["exit", "7"]},
        "hanging": {"command": FIXTURE, "args": ["hang"], "timeout": 600},
        "missing": {"command": "no-such-program-anywhere"},
        "well": basic("well"),
    });
    let gateway = gateway(servers, "dispatch", None);
    gateway.start();
    let test = async {
        let host = Connected::to(gateway.clone(), Lifecycle::Auto)
            .await
            .unwrap();
        // 600 s is what the hanging server may take; the list does not wait for it.
        let list = host.list().await.unwrap();
        for group in ["dead", "hanging", "missing", "well"] {
            assert!(list[0].contains(&format!("- `{group}`")), "{}", list[0]);
        }
        let called = host
            .call(
                "deferred_tool_call",
                forward("well/echo", json!({"text": "hi"})),
            )
            .await
            .unwrap();
        assert_eq!(called.joined_text(), "well says: hi");

        let dead = host
            .call("load_tools", json!({"group_id": "dead"}))
            .await
            .unwrap();
        assert!(dead.is_error);
        let text = dead.joined_text();
        assert!(text.contains("dead"), "{text}");
        assert!(
            !text.contains("s3cret"),
            "what a server writes is not for the model: {text}"
        );
        let missing = host
            .call("load_tools", json!({"group_id": "missing"}))
            .await
            .unwrap();
        assert!(missing.is_error);
        host.close().await.unwrap();
    };
    tokio::time::timeout(PATIENCE, test).await.unwrap();
    gateway.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn results_pass_as_they_are() {
    let direct = StdioServer::new(StdioConfig::new("direct", FIXTURE).args(["basic", "one"]));
    let expected = direct
        .call_tool("kinds", json!({}), CallContext::new())
        .await
        .unwrap();
    let ToolOutcome::Complete(expected) = expected else {
        panic!("{expected:?}");
    };
    assert_eq!(expected.content.len(), 6);
    assert!(matches!(expected.content[5], ContentBlock::Other(_)));
    for lifecycle in [Lifecycle::Initialize, Lifecycle::Auto] {
        let expected = &expected;
        with_gateway(
            json!({"one": basic("one")}),
            "dispatch",
            lifecycle,
            async |host| {
                let result = host
                    .call("deferred_tool_call", forward("one/kinds", json!({})))
                    .await
                    .unwrap();
                assert_eq!(result.content, expected.content);
                assert_eq!(result.structured_content, expected.structured_content);
                let cost = |result: &ToolResult| {
                    result
                        .meta
                        .as_ref()
                        .and_then(|meta| meta.get("example.org/cost").cloned())
                };
                assert_eq!(cost(&result), Some(json!(0.25)));
                assert_eq!(cost(&result), cost(expected));

                let failed = host
                    .call("deferred_tool_call", forward("one/fail", json!({})))
                    .await
                    .unwrap();
                assert!(failed.is_error);
                assert_eq!(failed.joined_text(), "It failed, as it does.");
            },
        )
        .await;
    }
    direct.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_argument_is_corrected_by_the_error() {
    with_gateway(
        json!({"one": basic("one")}),
        "dispatch",
        Lifecycle::Auto,
        async |host| {
            let refused = host
                .call("deferred_tool_call", forward("echo", json!({"txt": "hi"})))
                .await
                .unwrap();
            assert!(refused.is_error);
            let text = refused.joined_text();
            for part in ["text: expected", "txt: expected", r#""required":["text"]"#] {
                assert!(text.contains(part), "{part:?} is missing in: {text}");
            }
            let empty = host
                .call("deferred_tool_call", json!({"tool_name": "echo"}))
                .await
                .unwrap();
            assert!(empty.is_error && empty.joined_text().contains("text: expected"));
        },
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn repairs_are_said_in_the_meta_of_the_result() {
    with_gateway(
        json!({"one": basic("one")}),
        "dispatch",
        Lifecycle::Auto,
        async |host| {
            let cases = [
                (
                    json!({"tool_name": "echo", "arguments": "{\"text\":\"hi\"}"}),
                    "json-string",
                ),
                (json!({"tool_name": "echo", "text": "hi"}), "flattened"),
                (
                    json!({"arguments": {"tool_name": "echo", "text": "hi"}}),
                    "nested-tool-name",
                ),
            ];
            for (arguments, repair) in cases {
                let result = host
                    .call("deferred_tool_call", arguments.clone())
                    .await
                    .unwrap();
                assert_eq!(result.joined_text(), "one says: hi", "{arguments}");
                let meta = result.meta.unwrap_or_default();
                assert_eq!(
                    meta.get("toolshelf/repairs"),
                    Some(&json!([repair])),
                    "{arguments}"
                );
            }
            let untouched = host
                .call("deferred_tool_call", forward("echo", json!({"text": "hi"})))
                .await
                .unwrap();
            assert!(
                !untouched
                    .meta
                    .unwrap_or_default()
                    .contains_key("toolshelf/repairs")
            );
        },
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_two_servers_have_is_never_guessed() {
    let servers = json!({"one": basic("one"), "two": basic("two")});
    with_gateway(servers, "dispatch", Lifecycle::Auto, async |host| {
        host.list().await.unwrap();
        let refused = host
            .call("deferred_tool_call", forward("echo", json!({"text": "hi"})))
            .await
            .unwrap();
        assert!(refused.is_error);
        let text = refused.joined_text();
        assert!(
            text.contains("one/echo") && text.contains("two/echo"),
            "{text}"
        );
        let named = host
            .call(
                "deferred_tool_call",
                forward("two/echo", json!({"text": "hi"})),
            )
            .await
            .unwrap();
        assert_eq!(named.joined_text(), "two says: hi");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn inject_adds_loaded_tools_for_clients_with_a_handshake() {
    let servers = json!({"one": basic("one")});
    with_gateway(
        servers.clone(),
        "inject",
        Lifecycle::Initialize,
        async |host| {
            assert_eq!(names(&host.list().await.unwrap()), ["load_tools"]);
            let load = json!({"group_id": "one", "tool_names": ["add", "echo"]});
            let loaded = host.call("load_tools", load).await.unwrap();
            let answer: Value = serde_json::from_str(&loaded.joined_text()).unwrap();
            assert_eq!(answer["call_as"], json!(["one__echo", "one__add"]));
            assert!(answer.get("schemas").is_none());
            assert_eq!(
                names(&host.list().await.unwrap()),
                ["load_tools", "one__echo", "one__add"]
            );
            let called = host.call("one__echo", json!({"text": "hi"})).await.unwrap();
            assert_eq!(called.joined_text(), "one says: hi");
        },
    )
    .await;
    with_gateway(servers, "inject", Lifecycle::Auto, async |host| {
        assert!(host.client.is_modern());
        assert_eq!(
            names(&host.list().await.unwrap()),
            ["load_tools", "deferred_tool_call"],
            "a list that must not depend on the connection cannot grow"
        );
        let instructions = host.client.server_info().instructions.clone().unwrap();
        assert!(instructions.contains("cannot grow"), "{instructions}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn standard_passes_everything_through() {
    with_gateway(json!({"one": basic("one")}), "standard", Lifecycle::Auto, async |host| {
        let list = host.list().await.unwrap();
        assert_eq!(list.len(), 9);
        assert_eq!(
            list[0],
            r##"{"name":"one__echo","title":"Echo","description":"Says the text again.\n# Not a heading","inputSchema":{"type":"object","required":["text"],"properties":{"text":{"description":"What to say","type":"string","minLength":1},"loud":{"type":"boolean","default":false}},"additionalProperties":false},"annotations":{"readOnlyHint":true},"execution":{"taskSupport":"forbidden"},"x-vendor":{"z":1,"a":2}}"##
        );
        let called = host.call("one__add", json!({"a": 1, "b": 2})).await.unwrap();
        assert_eq!(called.structured_content.unwrap().as_str(), r#"{"sum":3.0}"#);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_faulty_entry_disables_itself_alone_and_says_why() {
    let servers = json!({
        "unset": {"command": FIXTURE, "args": ["basic", "x"], "env": {"TOKEN": "${TOOLSHELF_TEST_UNSET}"}},
        "remote": {"url": "https://example.org/mcp"},
        "itself": {"command": "toolshelf", "args": ["serve"]},
        "off": {"command": FIXTURE, "disabled": true},
        "well": {"command": FIXTURE, "args": ["basic", "${TOOLSHELF_TEST_UNSET:-fallback}"],
                 "env": {"GREETING": "hello"}, "description": "Well"},
    });
    with_gateway(servers, "dispatch", Lifecycle::Auto, async |host| {
        let list = host.list().await.unwrap();
        assert!(!list[0].contains("`off`"), "a disabled server is not there");
        let cases = [
            (
                "unset",
                vec!["env.TOKEN", "TOOLSHELF_TEST_UNSET", "not set"],
            ),
            ("remote", vec!["url", "later version"]),
            ("itself", vec!["toolshelf itself"]),
        ];
        for (group, parts) in cases {
            let refused = host
                .call("load_tools", json!({"group_id": group}))
                .await
                .unwrap();
            assert!(refused.is_error, "{group}");
            for part in parts {
                let text = refused.joined_text();
                assert!(text.contains(part), "{part:?} is missing in: {text}");
            }
        }
        let called = host
            .call(
                "deferred_tool_call",
                forward("well/environment", json!({"name": "GREETING"})),
            )
            .await
            .unwrap();
        assert_eq!(called.joined_text(), "hello");
        let clean = host
            .call(
                "deferred_tool_call",
                forward("well/environment", json!({"name": "CARGO_MANIFEST_DIR"})),
            )
            .await
            .unwrap();
        assert_eq!(
            clean.joined_text(),
            "(not set)",
            "a server does not inherit our environment"
        );
        let called = host
            .call(
                "deferred_tool_call",
                forward("well/echo", json!({"text": "hi"})),
            )
            .await
            .unwrap();
        assert_eq!(called.joined_text(), "fallback says: hi");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_read_forwarder_never_reaches_a_tool_that_is_not_marked_read_only() {
    with_gateway(
        json!({"one": basic("one")}),
        "split",
        Lifecycle::Auto,
        async |host| {
            let list = host.list().await.unwrap();
            let forwarders = [
                "deferred_tool_read",
                "deferred_tool_write",
                "deferred_tool_destroy",
            ];
            assert_eq!(names(&list)[1..], forwarders);
            let hints: Value = serde_json::from_str(&list[1]).unwrap();
            assert_eq!(hints["annotations"]["readOnlyHint"], true);
            // `echo` is marked read-only, of `add` its server says nothing.
            for forwarder in forwarders {
                let echo = host
                    .call(forwarder, forward("echo", json!({"text": "hi"})))
                    .await
                    .unwrap();
                assert_eq!(echo.joined_text(), "one says: hi", "{forwarder}");
                let add = host
                    .call(forwarder, forward("add", json!({"a": 1, "b": 2})))
                    .await
                    .unwrap();
                let reached = forwarder == "deferred_tool_destroy";
                assert_eq!(add.is_error, !reached, "{forwarder}: {}", add.joined_text());
                if !reached {
                    assert!(add.joined_text().contains("`deferred_tool_destroy`"));
                }
            }
            let unknown = host
                .call("deferred_tool_call", forward("echo", json!({"text": "hi"})))
                .await
                .unwrap();
            assert!(
                unknown.is_error,
                "the one forwarder is not there beside the three"
            );
        },
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pinned_tools_stand_beside_our_own() {
    let mut one = basic("one");
    one["alwaysVisible"] = json!(["add", "c*"]);
    let servers = json!({"one": one, "two": basic("two")});
    with_gateway(servers, "dispatch", Lifecycle::Auto, async |host| {
        let list = host.list().await.unwrap();
        assert_eq!(
            names(&list),
            [
                "one__add",
                "one__count",
                "one__crash",
                "load_tools",
                "deferred_tool_call"
            ]
        );
        let load_tools = &list[3];
        assert!(
            load_tools.contains("(6 tools)"),
            "what is shown is not on the shelf: {load_tools}"
        );
        let sum = host
            .call("one__add", json!({"a": 1, "b": 2}))
            .await
            .unwrap();
        assert_eq!(sum.structured_content.unwrap().as_str(), r#"{"sum":3.0}"#);
        let wrong = host.call("one__add", json!({"a": 1})).await.unwrap();
        assert!(wrong.is_error && wrong.joined_text().contains("b: expected"));
    })
    .await;
}

#[test]
fn a_configuration_fault_names_its_place() {
    let cases = [
        ("{", "not valid JSON"),
        ("[]", "mcpServers"),
        (r#"{"servers":{}}"#, "another host"),
        (r#"{"mcpServers":[]}"#, "not an object"),
    ];
    for (text, part) in cases {
        let error = Config::parse(text, &ProcessEnvironment).unwrap_err();
        assert!(
            error.to_string().contains(part),
            "{part:?} is missing in: {error}"
        );
    }
    let text = json!({"mcpServers": {
        "a": {"command": 5}, "b": {"command": "x", "args": "y"}, "c": {"command": "x", "env": ["no assignment"]},
        "d": {"command": "x", "timeout": -1}, "e": {}, "f": 3,
        "g": {"command": "x", "args": ["${OPEN"]}, "h": {"command": "x", "disabled": "yes"},
        "i": {"command": "x", "alwaysVisible": ["[a-"]},
        "j": {"command": "x", "idleTimeout": -1}, "k": {"command": "x", "idleTimeout": "soon"},
        "l": {"command": "x", "maxConcurrentCalls": 0}, "m": {"command": "x", "maxConcurrentCalls": 1.5},
        "n": {"command": "x", "env": {"TOKEN=s3cret": ""}}, "o": {"command": "x", "args": ["${s3cret!}"]},
        "p": {"command": "x", "env": ["s3cret"]},
    }})
    .to_string();
    let config = Config::parse(&text, &ProcessEnvironment).unwrap();
    let faults: Vec<String> = config
        .servers
        .iter()
        .map(|entry| match &entry.state {
            EntryState::Faulty(fault) => fault.clone(),
            other => panic!("{}: {other:?}", entry.id),
        })
        .collect();
    let parts = [
        "command",
        "args",
        "env",
        "timeout",
        "command",
        "not a JSON object",
        "args[0]",
        "disabled",
        "alwaysVisible[0]",
        "'idleTimeout' is not a number of seconds",
        "'idleTimeout' is not a number of seconds",
        "'maxConcurrentCalls' is not a whole number",
        "'maxConcurrentCalls' is not a whole number",
        "'env.TOKEN' is not the name of a variable",
        "in 'args[0]' a '${…}' is not of the form ${NAME}",
        "'env[0]' is not of the form NAME=value",
    ];
    assert_eq!(faults.len(), parts.len());
    for (fault, part) in faults.iter().zip(parts) {
        // A model reads it too.
        assert!(!fault.contains("s3cret"), "{fault}");
        assert!(fault.contains(part), "{part:?} is missing in: {fault}");
    }
}

#[test]
fn a_configuration_is_read_as_editors_write_it() {
    let text = "\u{feff}{
        // The servers that everybody has.
        \"mcpServers\": {
            \"one\": { \"command\": \"x\", \"env\": [\"A=1\", \"B=2=3\"], /* all of it */ },
            \"two\": { \"command\": \"x\", \"enabled\": false, },
            \"three\": { \"command\": \"x\", \"enabled\": true, \"disabled\": false, },
        },
    }";
    let config = Config::parse(text, &ProcessEnvironment).unwrap();
    let ids: Vec<&str> = config.enabled().map(|entry| entry.id.as_str()).collect();
    assert_eq!(ids, ["one", "three"]);
    let EntryState::Stdio { env, .. } = &config.servers[0].state else {
        panic!("{:?}", config.servers[0]);
    };
    assert_eq!(env["A"], "1");
    assert_eq!(env["B"], "2=3");
}

#[test]
fn a_key_that_stands_twice_is_pointed_out() {
    let text = r#"{"mcpServers": {
        "one": {"command": "x", "env": {"A": "1", "A": "2"}},
        "two": {"command": "x"},
        "one": {"command": "y", "args": ["a", "a"]}
    }}"#;
    let config = Config::parse(text, &ProcessEnvironment).unwrap();
    assert_eq!(
        config.warnings,
        [
            "mcpServers.one.env.A stands twice; the last one counts",
            "mcpServers.one stands twice; the last one counts",
        ]
    );
    let EntryState::Stdio { command, .. } = &config.servers[0].state else {
        panic!("{:?}", config.servers[0]);
    };
    assert_eq!(command, "y");
}

#[test]
fn idle_servers_end_after_half_an_hour_where_an_entry_does_not_say() {
    let text = json!({"mcpServers": {
        "a": {"command": "x"}, "b": {"command": "x", "idleTimeout": 0},
        "c": {"command": "x", "idleTimeout": 1.5, "maxConcurrentCalls": 4},
        "d": {"command": "x", "idleTimeout": "7200", "maxConcurrentCalls": "2"},
    }})
    .to_string();
    let config = Config::parse(&text, &ProcessEnvironment).unwrap();
    assert_eq!(config.warnings, [""; 0]);
    let read = config.servers.iter().map(|entry| match &entry.state {
        EntryState::Stdio {
            idle_timeout,
            max_concurrent_calls,
            ..
        } => (
            idle_timeout.map(|time| time.as_millis()),
            *max_concurrent_calls,
        ),
        other => panic!("{}: {other:?}", entry.id),
    });
    assert_eq!(
        read.collect::<Vec<_>>(),
        [
            (Some(1_800_000), None),
            (None, None),
            (Some(1_500), Some(4)),
            (Some(7_200_000), Some(2)),
        ]
    );
}

/// The server is wrapped in a script that notes each start and each end of it.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn an_idle_server_ends_and_comes_back_unnoticed() {
    let folder = tempfile::tempdir().unwrap();
    let notes = folder.path().join("notes");
    let script = r#"echo start >> "$0"; "$1" basic one; echo end >> "$0""#;
    let servers = json!({"one": {
        "command": "sh",
        "args": ["-c", script, notes.display().to_string(), FIXTURE],
        "idleTimeout": 0.2,
        "maxConcurrentCalls": 1,
    }});
    let noted = || std::fs::read_to_string(&notes).unwrap_or_default();
    with_gateway(servers, "dispatch", Lifecycle::Auto, async |host| {
        for times in 1..=2 {
            let echo = || {
                let arguments = forward("one/echo", json!({"text": "hi"}));
                host.call("deferred_tool_call", arguments)
            };
            let (a, b) = tokio::join!(echo(), echo());
            for result in [a, b] {
                assert_eq!(result.unwrap().joined_text(), "one says: hi");
            }
            while noted() != "start\nend\n".repeat(times) {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        }
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

#[tokio::test(flavor = "multi_thread")]
async fn progress_passes_through() {
    for lifecycle in [Lifecycle::Initialize, Lifecycle::Auto] {
        with_gateway(
            json!({"one": basic("one")}),
            "dispatch",
            lifecycle,
            async |host| {
                let reports = Arc::new(Reports::default());
                let mut context = CallContext::new();
                context.progress = Some(reports.clone());
                let result = host
                    .call_in(
                        "deferred_tool_call",
                        forward("one/count", json!({"to": 3})),
                        context,
                    )
                    .await
                    .unwrap();
                assert_eq!(result.joined_text(), "counted to 3");
                let reports = reports.0.lock().unwrap();
                let steps: Vec<f64> = reports.iter().map(|report| report.progress).collect();
                assert_eq!(steps, [1.0, 2.0, 3.0]);
                assert_eq!(reports[2].message.as_deref(), Some("step 3"));
                assert_eq!(reports[2].total, Some(3.0));
            },
        )
        .await;
    }
}

/// Waits until a file holds a text.
async fn until_file_holds(path: &std::path::Path, text: &str) {
    loop {
        if std::fs::read_to_string(path).is_ok_and(|held| held == text) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn cancellation_reaches_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let marker = folder.path().join("marker");
    let marker = &marker;
    with_gateway(
        json!({"one": basic("one")}),
        "dispatch",
        Lifecycle::Auto,
        async |host| {
            let context = CallContext::new();
            let cancellation = context.cancellation.clone();
            let arguments = forward("one/wait", json!({"marker": marker}));
            let call = host.call_in("deferred_tool_call", arguments, context);
            let cancel = async {
                until_file_holds(marker, "waiting").await;
                cancellation.cancel();
            };
            let (called, ()) = tokio::join!(call, cancel);
            assert!(called.is_err(), "{called:?}");
            until_file_holds(marker, "cancelled").await;
        },
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crash_costs_the_call_in_flight_and_nothing_else() {
    let servers = json!({"one": basic("one"), "two": basic("two")});
    with_gateway(servers, "dispatch", Lifecycle::Auto, async |host| {
        let crashed = host
            .call("deferred_tool_call", forward("one/crash", json!({})))
            .await
            .unwrap();
        assert!(crashed.is_error);
        let text = crashed.joined_text();
        assert!(!text.contains("last words"), "{text}");
        for server in ["one", "two"] {
            let called = host
                .call(
                    "deferred_tool_call",
                    forward(&format!("{server}/echo"), json!({"text": "on"})),
                )
                .await
                .unwrap();
            assert_eq!(called.joined_text(), format!("{server} says: on"));
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_hangs_costs_its_wait_once_and_not_each_list() {
    let hanging = json!({"command": FIXTURE, "args": ["hang"], "timeout": 600});
    let wait = Duration::from_secs(1);
    // If each list waited, they would take longer than the patience of any test here.
    let lists = 2 * PATIENCE.as_secs();
    let gateway = gateway(json!({"hanging": hanging}), "dispatch", Some(wait));
    gateway.start();
    let host = Connected::to(gateway.clone(), Lifecycle::Auto)
        .await
        .unwrap();
    let all = async {
        for _ in 0..lists {
            host.list().await.unwrap();
        }
    };
    tokio::time::timeout(PATIENCE, all).await.unwrap();
    host.close().await.unwrap();
    gateway.close().await;
}
