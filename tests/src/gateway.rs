//! A gateway of this process, and a host before it.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "helpers of tests are tests"
)]

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use toolshelf_core::{Error, Registry};
use toolshelf_gateway::config::{Config, ProcessEnvironment};
use toolshelf_gateway::{Gateway, GatewayOptions};
use toolshelf_mcp::Lifecycle;

use crate::Connected;

/// No test with servers of ours takes longer, however busy the machine is.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// All strategies of ours, and no index.
pub fn strategies() -> Registry {
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

/// A gateway before the servers of an `mcpServers` object.
///
/// # Errors
///
/// As [`Gateway::new`].
pub fn gateway(
    servers: &Value,
    options: GatewayOptions,
    registry: &Registry,
) -> Result<Arc<Gateway>, Error> {
    let text = json!({ "mcpServers": servers }).to_string();
    let config = Config::parse(&text, &ProcessEnvironment).unwrap();
    Gateway::new(&config, options, registry)
}

/// Starts a gateway, runs a test with a host before it, and ends all processes.
///
/// # Panics
///
/// When the test takes longer than [`PATIENCE`].
pub async fn with_host(
    gateway: Arc<Gateway>,
    lifecycle: Lifecycle,
    test: impl AsyncFnOnce(&Connected),
) {
    gateway.start();
    let host = Connected::to(gateway.clone(), lifecycle).await.unwrap();
    tokio::time::timeout(PATIENCE, test(&host))
        .await
        .expect("the test ends in time");
    host.close().await.unwrap();
    gateway.close().await;
}

/// The arguments with which `deferred_tool_call` calls a tool.
pub fn forward(tool: &str, arguments: Value) -> Value {
    json!({"tool_name": tool, "arguments": arguments})
}

/// The names in a tools array.
pub fn names(list: &[String]) -> Vec<String> {
    let names = list.iter().map(|tool| {
        let tool: Value = serde_json::from_str(tool).unwrap();
        tool["name"].as_str().unwrap().to_owned()
    });
    names.collect()
}

/// How often a server was started that notes its starts in a folder.
pub fn starts(folder: &Path) -> usize {
    std::fs::read_to_string(folder.join("starts")).map_or(0, |text| text.lines().count())
}
