//! What a host hears of servers whose list of tools changes.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests are tests"
)]

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};
use toolshelf_core::Cancellation;
use toolshelf_gateway::cache::DescriptorCache;
use toolshelf_gateway::{Gateway, GatewayOptions};
use toolshelf_mcp::{McpServer, ServeOptions};
use toolshelf_tests::gateway::{PATIENCE, gateway, starts, strategies};

const FIXTURE: &str = env!("CARGO_BIN_EXE_fixture-server");

/// A host that speaks for itself, so that every notification is seen.
struct Host {
    reads: tokio::io::Lines<BufReader<ReadHalf<DuplexStream>>>,
    writes: WriteHalf<DuplexStream>,
    notifications: VecDeque<Value>,
    next: u64,
    gateway: Arc<Gateway>,
}

impl Host {
    async fn start(folder: &Path, strategy: &str, wait: Duration) -> Self {
        let entry = json!({
            "command": FIXTURE,
            "args": ["listed", folder.join("starts"), folder.join("tools")],
        });
        let mut options = GatewayOptions::default();
        options.strategy = Some(strategy.into());
        options.cache = Some(DescriptorCache::open(folder.join("cache")).unwrap());
        options.wait = Some(wait);
        let servers = json!({ "shop": entry });
        let gateway = gateway(&servers, options, &strategies()).unwrap();
        gateway.start();
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        let (reads, writes) = tokio::io::split(theirs);
        tokio::spawn(toolshelf_mcp::serve(
            reads,
            writes,
            gateway.clone() as Arc<dyn McpServer>,
            ServeOptions::default(),
            Cancellation::new(),
        ));
        let (reads, writes) = tokio::io::split(ours);
        let mut host = Self {
            reads: BufReader::new(reads).lines(),
            writes,
            notifications: VecDeque::new(),
            next: 0,
            gateway,
        };
        let client = json!({"name": "host", "version": "1"});
        let hello =
            json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
        let answer = host.ask("initialize", hello).await;
        let changes = &answer["capabilities"]["tools"]["listChanged"];
        assert_eq!(*changes == json!(true), strategy != "dispatch", "{answer}");
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        host.send(&ready).await;
        host
    }

    async fn send(&mut self, message: &Value) {
        let line = format!("{message}\n");
        self.writes.write_all(line.as_bytes()).await.unwrap();
    }

    async fn read(&mut self) -> Value {
        let line = tokio::time::timeout(PATIENCE, self.reads.next_line()).await;
        let line = line.expect("a message in time").unwrap().unwrap();
        serde_json::from_str(&line).unwrap()
    }

    /// Asks, and keeps the notifications that come before the answer.
    async fn ask(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        let id = json!(self.next);
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
            .await;
        loop {
            let message = self.read().await;
            if message["id"] == id {
                assert!(message["error"].is_null(), "{message}");
                return message["result"].clone();
            }
            self.notifications.push_back(message);
        }
    }

    async fn list(&mut self) -> String {
        self.ask("tools/list", json!({})).await["tools"].to_string()
    }

    async fn call(&mut self, name: &str, arguments: Value) -> String {
        let params = json!({"name": name, "arguments": arguments});
        let result = self.ask("tools/call", params).await;
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }

    async fn forward(&mut self, tool: &str, arguments: Value) -> String {
        let arguments = json!({"tool_name": tool, "arguments": arguments});
        self.call("deferred_tool_call", arguments).await
    }

    /// Waits until the host has been told that its list is another one.
    async fn until_told(&mut self) {
        let message = match self.notifications.pop_front() {
            Some(message) => message,
            None => self.read().await,
        };
        assert_eq!(message["method"], "notifications/tools/list_changed");
    }

    async fn end(self) {
        self.gateway.close().await;
        assert!(self.notifications.is_empty(), "{:?}", self.notifications);
    }
}

fn write_tools(folder: &Path, names: &[&str]) {
    let schema = json!({"type": "object", "properties": {"item": {"type": "string"}}});
    let tools = names
        .iter()
        .map(|name| json!({"name": name, "inputSchema": schema}));
    let tools = Value::from_iter(tools);
    std::fs::write(folder.join("tools"), tools.to_string()).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_lists_every_tool_is_told_once_that_a_server_changed_its_list() {
    for strategy in ["standard", "inject"] {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        write_tools(folder, &["buy"]);
        let mut host = Host::start(folder, strategy, PATIENCE).await;
        host.list().await;
        if strategy == "inject" {
            host.call("load_tools", json!({"group_id": "shop"})).await;
            host.until_told().await;
        }
        assert!(host.list().await.contains("shop__buy"));
        write_tools(folder, &["buy", "gift"]);
        host.call("shop__buy", json!({"item": "announce"})).await;
        host.until_told().await;
        assert!(host.list().await.contains("gift"));
        // What is the same again is no news.
        host.call("shop__buy", json!({"item": "announce"})).await;
        host.call("shop__buy", json!({"item": "tea"})).await;
        host.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_from_the_cache_that_is_out_of_date_is_told_at_the_first_call() {
    for (strategy, told) in [("standard", true), ("dispatch", false)] {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        write_tools(folder, &["buy"]);
        let mut host = Host::start(folder, "dispatch", PATIENCE).await;
        host.list().await;
        host.end().await;

        write_tools(folder, &["buy", "gift"]);
        let mut host = Host::start(folder, strategy, Duration::ZERO).await;
        let before = host.list().await;
        assert!(!before.contains("gift"));
        if strategy == "dispatch" {
            host.forward("shop/buy", json!({"item": "tea"})).await;
        } else {
            host.call("shop__buy", json!({"item": "tea"})).await;
        }
        if told {
            host.until_told().await;
            assert!(host.list().await.contains("gift"), "{strategy}");
        } else {
            assert_eq!(host.list().await, before);
        }
        host.end().await;
    }
}

/// A list that was kept does not decide what a server has now.
#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_the_cache_does_not_have_is_looked_for_once() {
    let load = json!({"group_id": "shop", "tool_names": ["gift"]});
    for load in [None, Some(load)] {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        write_tools(folder, &["buy"]);
        let mut host = Host::start(folder, "dispatch", PATIENCE).await;
        host.list().await;
        host.end().await;

        write_tools(folder, &["buy", "gift"]);
        let mut host = Host::start(folder, "dispatch", Duration::ZERO).await;
        host.list().await;
        assert_eq!(starts(folder), 1);
        match load {
            Some(load) => {
                let loaded = host.call("load_tools", load).await;
                assert!(loaded.contains(r#""expanded":true"#), "{loaded}");
            }
            None => {
                let said = host.forward("shop/gift", json!({"item": "tea"})).await;
                assert_eq!(said, r#"gift: {"item":"tea"}"#);
            }
        }
        assert_eq!(starts(folder), 2);
        // What its server does not have either is not looked for again.
        let said = host.forward("shop/none", json!({})).await;
        assert!(said.contains("has no tool `none`"), "{said}");
        assert_eq!(starts(folder), 2);
        host.end().await;
    }
}

/// A server that has announced a change is listed again before a tool is refused.
#[tokio::test(flavor = "multi_thread")]
async fn a_tool_is_there_as_soon_as_its_server_has_announced_it() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_tools(folder, &["buy"]);
    let mut host = Host::start(folder, "dispatch", PATIENCE).await;
    host.list().await;
    for name in ["gift", "swap", "rent", "lend"] {
        write_tools(folder, &["buy", name]);
        host.forward("shop/buy", json!({"item": "announce"})).await;
        let said = host.forward(&format!("shop/{name}"), json!({})).await;
        assert_eq!(said, format!("{name}: {{}}"));
    }
    host.end().await;
}
