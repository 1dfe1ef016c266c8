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
use toolshelf_gateway::config::{Config, ProcessEnvironment, Selection};
use toolshelf_gateway::{Gateway, GatewayOptions};
use toolshelf_mcp::{Lifecycle, McpServer, ServeOptions};
use toolshelf_tests::Connected;
use toolshelf_tests::gateway::{PATIENCE, gateway, names, starts, strategies, with_host};

const FIXTURE: &str = env!("CARGO_BIN_EXE_fixture-server");

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
    options.strategy = Some(strategy.into());
    options.counter = Some(Arc::new(Bytes));
    options.wait = Some(Duration::from_secs(30));
    options
}

fn with_options(strategy: &str, chosen: Value) -> GatewayOptions {
    let mut options = options(strategy);
    options.strategy = Some(Selection::new(strategy, chosen));
    options
}

fn registry() -> Registry {
    let mut registry = strategies();
    registry.register(toolshelf_search::PLUGIN).unwrap();
    registry
}

fn make(servers: &Value, options: GatewayOptions) -> Result<Arc<Gateway>, Error> {
    gateway(servers, options, &registry())
}

/// Runs a test against a gateway within its time, and ends all processes.
async fn with_gateway(
    servers: Value,
    options: GatewayOptions,
    lifecycle: Lifecycle,
    test: impl AsyncFnOnce(&Connected),
) {
    with_host(make(&servers, options).unwrap(), lifecycle, test).await;
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
    with_gateway(servers.clone(), kept("tst"), Lifecycle::Initialize, tst).await;
    let tst_auto = async |host: &Connected| {
        let list = host.list().await.unwrap();
        assert_eq!(names(&list), ["shop__buy", "shop__refund"]);
        assert_eq!(starts(folder), 2, "nor does counting");
    };
    with_gateway(servers, kept("tst-auto"), Lifecycle::Initialize, tst_auto).await;
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
        let chosen = if defers {
            json!({ "thresholdTokens": threshold })
        } else {
            // The share of a window that is known goes before.
            json!({"thresholdTokens": 1, "percent": 50})
        };
        let mut options = with_options("tst-auto", chosen);
        if !defers {
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
    let mut options = with_options("tst-auto", json!({"thresholdTokens": 1_000_000}));
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
    let unsearched = with_options("dispatch", json!({"search": false}));
    with_gateway(servers.clone(), unsearched, Lifecycle::Auto, async |host| {
        assert_eq!(names(&host.list().await.unwrap()), DISPATCH[1..]);
        assert!(!instructions(host).contains("search_tools"));
    })
    .await;
    let split = with_options("dispatch", json!({"splitCalls": true}));
    with_gateway(servers.clone(), split, Lifecycle::Auto, async |host| {
        let list = names(&host.list().await.unwrap());
        assert_eq!(list.len(), 5, "{list:?}");
        assert_eq!(list[..2], DISPATCH[..2]);
        assert!(instructions(host).contains("deferred_tool_read"));
    })
    .await;
    let mut unknown = options("dispatch");
    unknown.index = Some("lexicla/1".into());
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

/// A host that reads and writes lines, and counts how often it is told that its list is
/// another one.
struct Raw {
    lines: tokio::io::Lines<BufReader<tokio::io::ReadHalf<tokio::io::DuplexStream>>>,
    writes: tokio::io::WriteHalf<tokio::io::DuplexStream>,
    told: usize,
    requests: usize,
}

impl Raw {
    /// Connects with a handshake, and asks for the list.
    async fn to(gateway: &Arc<Gateway>) -> Self {
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        let (reads, writes) = tokio::io::split(theirs);
        let server: Arc<dyn McpServer> = gateway.clone();
        let serving = ServeOptions::default();
        tokio::spawn(toolshelf_mcp::serve(
            reads,
            writes,
            server,
            serving,
            Cancellation::new(),
        ));
        let (reads, writes) = tokio::io::split(ours);
        let mut raw = Self {
            lines: BufReader::new(reads).lines(),
            writes,
            told: 0,
            requests: 0,
        };
        let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {},
                           "clientInfo": {"name": "raw", "version": "1"}});
        raw.ask("initialize", hello).await;
        raw.write(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
            .await;
        raw.ask("tools/list", json!({})).await;
        raw
    }

    async fn write(&mut self, message: Value) {
        let line = format!("{message}\n");
        self.writes.write_all(line.as_bytes()).await.unwrap();
    }

    async fn read(&mut self) -> Value {
        let line = self.lines.next_line().await.unwrap().unwrap();
        let message: Value = serde_json::from_str(&line).unwrap();
        self.told += usize::from(message["method"] == "notifications/tools/list_changed");
        message
    }

    async fn ask(&mut self, method: &str, params: Value) -> Value {
        self.requests += 1;
        let id = self.requests;
        self.write(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
            .await;
        loop {
            let message = self.read().await;
            if message["id"] == id {
                assert!(message.get("error").is_none(), "{message}");
                return message;
            }
        }
    }

    async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let call = json!({"name": tool, "arguments": arguments});
        self.ask("tools/call", call).await
    }

    /// Waits for what comes after an answer.
    async fn is_told(&mut self, times: usize) {
        while self.told < times {
            self.read().await;
        }
        // One too many would have come before this answer or comes before a later one.
        self.ask("ping", json!({})).await;
        assert_eq!(self.told, times);
    }

    async fn names(&mut self) -> Vec<String> {
        let list = self.ask("tools/list", json!({})).await;
        let tools = list["result"]["tools"].as_array().unwrap();
        let names = tools.iter().map(|tool| tool["name"].as_str().unwrap());
        names.map(str::to_owned).collect()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_host_is_told_when_a_search_added_tools() {
    let gateway = make(&json!({"one": basic("one")}), options("tst")).unwrap();
    gateway.start();
    let test = async {
        let mut host = Raw::to(&gateway).await;
        for (query, told) in [
            ("select:echo", 1),
            ("select:echo", 1),
            ("zebra", 1),
            ("select:add", 2),
        ] {
            host.call("search_tools", json!({ "query": query })).await;
            host.is_told(told).await;
        }
    };
    tokio::time::timeout(PATIENCE, test).await.unwrap();
    gateway.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_host_is_not_told_of_a_search_where_every_tool_is_in_its_list() {
    let chosen = json!({"thresholdTokens": 1_000_000});
    let gateway = make(
        &json!({"one": basic("one")}),
        with_options("tst-auto", chosen),
    )
    .unwrap();
    gateway.start();
    let test = async {
        let mut host = Raw::to(&gateway).await;
        let before = host.names().await;
        let told = host.told;
        assert!(before.contains(&"one__echo".to_owned()), "{before:?}");
        // Models search from habit, though the tool is not offered.
        let found = host
            .call("search_tools", json!({"query": "select:echo"}))
            .await;
        let found = found["result"]["content"][0]["text"].as_str().unwrap();
        assert!(found.contains("Already loaded"), "{found}");
        host.is_told(told).await;
        assert_eq!(host.names().await, before);
    };
    tokio::time::timeout(PATIENCE, test).await.unwrap();
    gateway.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn searches_that_begin_together_see_all_servers_that_are_known() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let names: Vec<String> = (0..12).map(|at| format!("shop{at:02}")).collect();
    let servers: serde_json::Map<String, Value> = names
        .iter()
        .map(|name| {
            let folder = folder.join(name);
            std::fs::create_dir(&folder).unwrap();
            write_tools(&folder, &[("refund", "Pays money back.")]);
            (name.clone(), shop(&folder))
        })
        .collect();
    let servers = Value::Object(servers);
    let kept = |strategy: &str| {
        let mut options = options(strategy);
        options.cache = Some(DescriptorCache::open(folder.join("cache")).unwrap());
        options
    };
    let cold = make(&servers, kept("dispatch")).unwrap();
    cold.start();
    cold.shelf().load_all(&Cancellation::new()).await;
    cold.close().await;
    for strategy in ["dispatch", "tst"] {
        for _ in 0..5 {
            let warm = async |host: &Connected| {
                let query = json!({"query": "money back", "max_results": 20});
                let ask = || Box::pin(host.call("search_tools", query.clone()));
                let (a, b, c, d, e) = tokio::join!(ask(), ask(), ask(), ask(), ask());
                for found in [a, b, c, d, e] {
                    let found = found.unwrap().joined_text();
                    for name in &names {
                        assert!(found.contains(name), "{strategy}: {name}: {found}");
                    }
                }
            };
            with_gateway(servers.clone(), kept(strategy), Lifecycle::Initialize, warm).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_host_is_told_when_a_tool_in_its_list_is_another_one() {
    for (strategy, before, after) in [
        (
            "tst",
            vec!["search_tools", "shop__buy"],
            vec!["search_tools"],
        ),
        (
            "standard",
            vec!["shop__buy", "shop__sell"],
            vec!["shop__sell"],
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        write_tools(folder, &[("buy", "Orders."), ("sell", "Sells.")]);
        let gateway = make(&json!({"shop": shop(folder)}), options(strategy)).unwrap();
        gateway.start();
        let test = async {
            let mut host = Raw::to(&gateway).await;
            if strategy == "tst" {
                let query = json!({"query": "select:buy"});
                host.call("search_tools", query).await;
                host.is_told(1).await;
            }
            assert_eq!(host.names().await, before, "{strategy}");
            let told = host.told;
            write_tools(folder, &[("sell", "Sells.")]);
            // The fixture says that its list has changed when this argument comes.
            host.call("shop__buy", json!({"item": "announce"})).await;
            host.is_told(told + 1).await;
            assert_eq!(host.names().await, after, "{strategy}");
        };
        tokio::time::timeout(PATIENCE, test).await.unwrap();
        gateway.close().await;
    }
}
