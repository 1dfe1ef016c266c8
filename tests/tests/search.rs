//! Search through the gateway: what a host sees of it, over servers that are processes.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests are tests"
)]

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use toolshelf_core::tokens::TokenCounter;
use toolshelf_core::{Cancellation, Error, ErrorKind, Registry};
use toolshelf_gateway::cache::DescriptorCache;
use toolshelf_gateway::config::{Config, ProcessEnvironment};
use toolshelf_gateway::{Gateway, GatewayOptions};
use toolshelf_mcp::{Lifecycle, McpServer, ServeOptions};
use toolshelf_tests::Connected;

const FIXTURE: &str = env!("CARGO_BIN_EXE_fixture-server");

/// Nothing here takes longer, however busy the machine is.
const PATIENCE: Duration = Duration::from_secs(60);

fn basic(name: &str) -> Value {
    json!({"command": FIXTURE, "args": ["basic", name]})
}

/// A server that notes each of its starts in a folder, and whose tools stand there.
fn shop(folder: &Path) -> Value {
    json!({
        "command": FIXTURE,
        "args": ["listed", folder.join("starts"), folder.join("tools")],
        "title": "Shop",
    })
}

fn starts(folder: &Path) -> usize {
    std::fs::read_to_string(folder.join("starts")).map_or(0, |text| text.lines().count())
}

fn write_tools(folder: &Path, tools: &[(&str, &str)]) {
    let tools: Vec<Value> = tools
        .iter()
        .map(|(name, about)| {
            json!({"name": name, "description": about, "inputSchema": {"type": "object"}})
        })
        .collect();
    std::fs::write(folder.join("tools"), json!(tools).to_string()).unwrap();
}

/// A token a byte.
struct Bytes;

impl TokenCounter for Bytes {
    fn name(&self) -> &str {
        "bytes"
    }

    fn count(&self, text: &str) -> usize {
        text.len()
    }
}

fn options(strategy: &str) -> GatewayOptions {
    let mut options = GatewayOptions::default();
    options.strategy = strategy.to_owned();
    options.counter = Some(Arc::new(Bytes));
    options.wait = Some(Duration::from_secs(30));
    options
}

fn registry() -> Registry {
    let mut registry = strategies();
    registry.register(toolshelf_search::PLUGIN).unwrap();
    registry
}

/// All strategies, and no index.
fn strategies() -> Registry {
    let mut registry = Registry::new();
    for plugin in [
        toolshelf_strategies::dispatch::PLUGIN,
        toolshelf_strategies::inject::PLUGIN,
        toolshelf_strategies::standard::PLUGIN,
        toolshelf_strategies::tst::PLUGIN,
        toolshelf_strategies::tst_auto::PLUGIN,
    ] {
        registry.register(plugin).unwrap();
    }
    registry
}

fn make(servers: &Value, options: GatewayOptions) -> Result<Arc<Gateway>, Error> {
    let text = json!({ "mcpServers": servers }).to_string();
    let config = Config::parse(&text, &ProcessEnvironment).unwrap();
    Gateway::new(&config, options, &registry())
}

/// Runs a test against a gateway within its time, and ends all processes.
async fn with_gateway(
    servers: Value,
    options: GatewayOptions,
    lifecycle: Lifecycle,
    test: impl AsyncFnOnce(&Connected),
) {
    let gateway = make(&servers, options).unwrap();
    gateway.start();
    let connected = Connected::to(gateway.clone(), lifecycle).await.unwrap();
    tokio::time::timeout(PATIENCE, test(&connected))
        .await
        .expect("the test ends in time");
    connected.close().await.unwrap();
    gateway.close().await;
}

fn names(list: &[String]) -> Vec<String> {
    list.iter()
        .map(|tool| {
            let tool: Value = serde_json::from_str(tool).unwrap();
            tool["name"].as_str().unwrap().to_owned()
        })
        .collect()
}

async fn search(host: &Connected, query: &str) -> String {
    let query = json!({ "query": query });
    let found = host.call("search_tools", query).await.unwrap();
    assert!(!found.is_error, "{found:?}");
    found.joined_text()
}

fn instructions(host: &Connected) -> String {
    let info = host.client.server_info();
    info.instructions.clone().unwrap_or_default()
}

const DISPATCH: [&str; 3] = ["search_tools", "load_tools", "deferred_tool_call"];

#[tokio::test(flavor = "multi_thread")]
async fn a_host_finds_tools_of_all_servers_and_its_list_stays() {
    for lifecycle in [Lifecycle::Initialize, Lifecycle::Auto] {
        let servers =
            json!({"one": basic("one"), "two": basic("two"), "dead": {"command": "false"}});
        with_gateway(servers, options("dispatch"), lifecycle, async |host| {
            let before = host.list().await.unwrap();
            assert_eq!(names(&before), DISPATCH);
            for tool in &before {
                let tool: Value = serde_json::from_str(tool).unwrap();
                assert_eq!(tool["_meta"], json!({"anthropic/alwaysLoad": true}));
            }
            assert!(instructions(host).contains("`search_tools` finds"));

            let found = search(host, "add two numbers").await;
            assert!(
                found.contains("- one/add(b*, a*) — Adds two numbers."),
                "{found}"
            );
            assert!(found.contains("- two/add("), "{found}");
            assert_eq!(search(host, "add two numbers").await, found);
            let named = search(host, "select:environment").await;
            assert!(named.contains("one/environment(name*)"), "{named}");
            let none = search(host, "zebra crossing").await;
            assert!(none.contains("No tool fits"), "{none}");
            assert!(none.contains("dead"), "says what was not searched: {none}");
            let wrong = host.call("search_tools", json!({"query": ""})).await;
            assert!(wrong.unwrap().is_error);

            let called = json!({"tool_name": "two/add", "arguments": {"a": 40, "b": 2}});
            let called = host.call("deferred_tool_call", called).await.unwrap();
            let sum = called.structured_content.unwrap().to_value();
            assert_eq!(sum["sum"], 42.0);
            assert_eq!(host.list().await.unwrap(), before, "the same bytes");
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_searches_do_not_change_a_byte_of_the_list() {
    let servers = json!({"one": basic("one"), "two": basic("two")});
    with_gateway(
        servers,
        options("dispatch"),
        Lifecycle::Auto,
        async |host| {
            let before = host.list().await.unwrap();
            for turn in 0..100 {
                let (tool, arguments) = match turn % 5 {
                    0 => ("search_tools", json!({"query": "echo", "max_results": 2})),
                    1 => ("search_tools", json!({"query": "+numbers add"})),
                    2 => ("search_tools", json!({"query": "", "max_results": 99})),
                    3 => ("load_tools", json!({"group_id": "one"})),
                    _ => (
                        "deferred_tool_call",
                        json!({"tool_name": "search_tools",
                      "arguments": {"query": "count"}}),
                    ),
                };
                host.call(tool, arguments).await.unwrap();
                assert_eq!(host.list().await.unwrap(), before, "turn {turn}");
            }
        },
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_warm_start_searches_without_starting_a_server() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_tools(
        folder,
        &[
            ("buy", "Orders an article."),
            ("refund", "Pays money back."),
        ],
    );
    let servers = json!({"shop": shop(folder)});
    let kept = |strategy: &str| {
        let mut options = options(strategy);
        options.cache = Some(DescriptorCache::open(folder.join("cache")).unwrap());
        options
    };
    let cold = async |host: &Connected| {
        host.list().await.unwrap();
        assert!(search(host, "money back").await.contains("shop/refund"));
    };
    with_gateway(servers.clone(), kept("dispatch"), Lifecycle::Auto, cold).await;
    assert_eq!(starts(folder), 1);
    let warm = async |host: &Connected| {
        let found = search(host, "money back").await;
        assert!(
            found.contains("- shop/refund() — Pays money back."),
            "{found}"
        );
        let found = search(host, "shop").await;
        assert!(found.contains("shop/buy"), "by the group's title: {found}");
        assert_eq!(starts(folder), 1, "a search starts nothing");
        let call = json!({"tool_name": "refund", "arguments": {}});
        host.call("deferred_tool_call", call).await.unwrap();
        assert_eq!(starts(folder), 2, "a call does");
    };
    with_gateway(servers.clone(), kept("dispatch"), Lifecycle::Auto, warm).await;
    let tst = async |host: &Connected| {
        assert!(search(host, "money back").await.contains("shop__refund"));
        let list = host.list().await.unwrap();
        assert_eq!(names(&list), ["search_tools", "shop__refund"]);
        assert_eq!(starts(folder), 2);
    };
    with_gateway(servers, kept("tst"), Lifecycle::Initialize, tst).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_does_not_wait_for_a_server_that_hangs() {
    let servers = json!({
        "hanging": {"command": FIXTURE, "args": ["hang"], "timeout": 600},
        "well": basic("well"),
    });
    let mut options = options("dispatch");
    options.wait = None;
    with_gateway(servers, options, Lifecycle::Auto, async |host| {
        let load = json!({"group_id": "well", "tool_names": ["echo"]});
        host.call("load_tools", load).await.unwrap();
        let found = search(host, "say a text again").await;
        assert!(found.contains("well/echo"), "{found}");
        let none = search(host, "zebra").await;
        assert!(none.contains("`hanging` (still starting)"), "{none}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tst_adds_what_was_found_for_clients_with_a_handshake() {
    let servers = json!({"one": basic("one")});
    with_gateway(
        servers.clone(),
        options("tst"),
        Lifecycle::Initialize,
        async |host| {
            let list = host.list().await.unwrap();
            assert_eq!(names(&list), ["search_tools"]);
            let own: Value = serde_json::from_str(&list[0]).unwrap();
            assert_eq!(own["_meta"]["anthropic/alwaysLoad"], true);
            assert!(instructions(host).contains("joins your list"));
            let found = search(host, "select:echo,add").await;
            assert!(
                found.contains("Found 2 deferred tool(s): one__echo, one__add."),
                "{found}"
            );
            let grown = host.list().await.unwrap();
            assert_eq!(names(&grown), ["search_tools", "one__echo", "one__add"]);
            assert_eq!(grown[0], list[0]);
            search(host, "select:echo").await;
            assert_eq!(
                host.list().await.unwrap(),
                grown,
                "found again changes nothing"
            );
            let called = host.call("one__echo", json!({"text": "hi"})).await.unwrap();
            assert_eq!(called.joined_text(), "one says: hi");
        },
    )
    .await;
    for strategy in ["tst", "tst-auto", "inject"] {
        with_gateway(
            servers.clone(),
            options(strategy),
            Lifecycle::Auto,
            async |host| {
                assert!(host.client.is_modern());
                assert_eq!(names(&host.list().await.unwrap()), DISPATCH, "{strategy}");
                let text = instructions(host);
                assert!(text.contains("`search_tools` finds"), "{text}");
                assert!(text.contains("cannot grow"), "{text}");
                assert!(text.chars().count() <= 512, "{text}");
            },
        )
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tst_auto_decides_by_all_definitions() {
    let servers = json!({"one": basic("one"), "dead": {"command": "false"}});
    for (threshold, defers) in [(100, true), (1_000_000, false)] {
        let mut options = options("tst-auto");
        if defers {
            options.strategy_options = json!({ "thresholdTokens": threshold });
        } else {
            // The share of a window that is known goes before.
            options.strategy_options = json!({"thresholdTokens": 1, "percent": 50});
            options.context_window = Some(2 * threshold);
        }
        with_gateway(
            servers.clone(),
            options,
            Lifecycle::Initialize,
            async |host| {
                let list = names(&host.list().await.unwrap());
                if defers {
                    assert_eq!(list, ["search_tools"]);
                } else {
                    assert_eq!(list.len(), 9, "{list:?}");
                    assert!(list.contains(&"one__echo".to_owned()), "{list:?}");
                }
                assert_eq!(names(&host.list().await.unwrap()), list);
            },
        )
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tst_auto_defers_where_a_server_is_not_there_in_time() {
    let servers = json!({
        "hanging": {"command": FIXTURE, "args": ["hang"], "timeout": 600},
        "well": basic("well"),
    });
    let mut options = options("tst-auto");
    options.strategy_options = json!({"thresholdTokens": 1_000_000});
    options.wait = Some(Duration::ZERO);
    with_gateway(servers, options, Lifecycle::Initialize, async |host| {
        assert_eq!(names(&host.list().await.unwrap()), ["search_tools"]);
        search(host, "select:well/echo").await;
        let list = names(&host.list().await.unwrap());
        assert_eq!(list, ["search_tools", "well__echo"]);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn auto_decides_by_what_is_known_of_the_servers() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_tools(
        folder,
        &[
            ("buy", "Orders an article."),
            ("refund", "Pays money back."),
        ],
    );
    let servers = json!({"shop": shop(folder), "broken": {"command": 7}});
    let auto = |threshold: u64| {
        let mut options = options("auto");
        options.defer_above = threshold;
        options.cache = Some(DescriptorCache::open(folder.join("cache")).unwrap());
        options
    };
    let decision = |servers: &Value, threshold: u64| {
        let gateway = make(servers, auto(threshold)).unwrap();
        gateway.decision().unwrap().to_owned()
    };
    assert_eq!(
        decision(&servers, 20_000),
        "the tools of 'shop' are not known yet, which counts as 20,000 tokens or more: tools are \
         deferred"
    );
    let deferred = async |host: &Connected| {
        assert_eq!(names(&host.list().await.unwrap()), DISPATCH);
    };
    with_gateway(servers.clone(), auto(20_000), Lifecycle::Auto, deferred).await;
    assert_eq!(starts(folder), 1);

    // Known now. A token is a byte of this.
    let definition = |name: &str, about: &str| {
        format!(
            r#"{{"name":"shop__{name}","description":"{about}","input_schema":{{"type":"object"}}}}"#
        )
    };
    let first = definition("buy", "Orders an article.").len() as u64;
    let all = first + definition("refund", "Pays money back.").len() as u64;
    assert_eq!(
        decision(&servers, all + 1),
        format!(
            "{all} of {} tokens known: every tool is passed through",
            all + 1
        )
    );
    assert_eq!(
        decision(&servers, all),
        format!("{all} tokens known so far, which reaches {all}: tools are deferred")
    );
    assert_eq!(
        decision(&servers, first),
        format!("{first} tokens known so far, which reaches {first}: tools are deferred"),
        "nobody counts on from there"
    );
    let passed = async |host: &Connected| {
        assert_eq!(
            names(&host.list().await.unwrap()),
            ["shop__buy", "shop__refund"]
        );
    };
    for lifecycle in [Lifecycle::Initialize, Lifecycle::Auto] {
        with_gateway(servers.clone(), auto(20_000), lifecycle, passed).await;
        assert_eq!(starts(folder), 1, "no server is started for it");
    }
    with_gateway(servers.clone(), auto(all), Lifecycle::Auto, deferred).await;

    // One more that nobody has seen.
    let more = json!({"shop": shop(folder), "one": basic("one")});
    assert!(decision(&more, 20_000).contains("'one'"));
    assert_eq!(
        make(&servers, options("dispatch")).unwrap().decision(),
        None
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_index_is_chosen_by_name_and_options_have_the_last_word() {
    let servers = json!({"one": basic("one")});
    let mut unsearched = options("dispatch");
    unsearched.strategy_options = json!({"search": false});
    with_gateway(servers.clone(), unsearched, Lifecycle::Auto, async |host| {
        assert_eq!(names(&host.list().await.unwrap()), DISPATCH[1..]);
        assert!(!instructions(host).contains("search_tools"));
    })
    .await;
    let mut split = options("dispatch");
    split.strategy_options = json!({"splitCalls": true});
    with_gateway(servers.clone(), split, Lifecycle::Auto, async |host| {
        let list = names(&host.list().await.unwrap());
        assert_eq!(list.len(), 5, "{list:?}");
        assert_eq!(list[..2], DISPATCH[..2]);
        assert!(instructions(host).contains("deferred_tool_read"));
    })
    .await;
    let mut unknown = options("dispatch");
    unknown.index = Some("lexicla/1".to_owned());
    let error = make(&servers, unknown).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(error.to_string().contains("'lexical/1'"), "{error}");

    let config = json!({ "mcpServers": servers }).to_string();
    let config = Config::parse(&config, &ProcessEnvironment).unwrap();
    for strategy in ["tst", "tst-auto"] {
        let error = Gateway::new(&config, options(strategy), &strategies());
        let error = error.err().unwrap().to_string();
        assert!(error.contains("needs a search index"), "{error}");
    }
}

/// A search that adds to the list is followed by a notification, one that does not is not.
#[tokio::test(flavor = "multi_thread")]
async fn the_host_is_told_when_a_search_added_tools() {
    let gateway = make(&json!({"one": basic("one")}), options("tst")).unwrap();
    gateway.start();
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    let (reads, writes) = tokio::io::split(theirs);
    let shutdown = Cancellation::new();
    let server: Arc<dyn McpServer> = gateway.clone();
    let serve = toolshelf_mcp::serve(reads, writes, server, ServeOptions::default(), shutdown);
    let serving = tokio::spawn(serve);
    let (reads, mut writes) = tokio::io::split(ours);
    let mut lines = BufReader::new(reads).lines();
    let mut told = 0;
    let find = |query: &str| json!({"name": "search_tools", "arguments": {"query": query}});
    let steps = [
        (
            "initialize",
            json!({"protocolVersion": "2025-06-18", "capabilities": {},
                              "clientInfo": {"name": "raw", "version": "1"}}),
            0,
        ),
        ("tools/list", json!({}), 0),
        ("tools/call", find("select:echo"), 1),
        ("tools/call", find("select:echo"), 1),
        ("tools/call", find("zebra"), 1),
        ("tools/call", find("select:add"), 2),
    ];
    let test = async {
        for (id, (method, params, expected)) in steps.into_iter().enumerate() {
            // What was sent before the answer to a ping came before it.
            let requests = [
                json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}),
                json!({"jsonrpc": "2.0", "id": format!("ping {id}"), "method": "ping"}),
            ];
            for request in requests {
                writes
                    .write_all(format!("{request}\n").as_bytes())
                    .await
                    .unwrap();
                loop {
                    let line = lines.next_line().await.unwrap().unwrap();
                    let message: Value = serde_json::from_str(&line).unwrap();
                    if message["method"] == "notifications/tools/list_changed" {
                        told += 1;
                    }
                    if message["id"] == request["id"] {
                        assert!(message.get("error").is_none(), "{message}");
                        break;
                    }
                }
                if request["method"] == "initialize" {
                    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
                    writes
                        .write_all(format!("{ready}\n").as_bytes())
                        .await
                        .unwrap();
                }
            }
            // It may come just after the answer.
            while told < expected {
                let line = lines.next_line().await.unwrap().unwrap();
                told += usize::from(line.contains("notifications/tools/list_changed"));
            }
            assert_eq!(told, expected, "after {method} {id}");
        }
    };
    tokio::time::timeout(PATIENCE, test).await.unwrap();
    drop((lines, writes));
    serving.await.unwrap().unwrap();
    gateway.close().await;
}
