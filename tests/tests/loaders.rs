//! The loader of child processes keeps to the contract of a loader, and so does what a gateway
//! makes of it, before a server that notes each process of its own. Processes are looked for
//! on Linux only.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::json;
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};
use toolshelf_core::{Error, LoadContext, Loaded, Registry, ToolLoader};
use toolshelf_gateway::cache::DescriptorCache;
use toolshelf_gateway::config::{Config, ProcessEnvironment};
use toolshelf_gateway::{Gateway, GatewayOptions};
use toolshelf_mcp::{StdioConfig, StdioServer};
use toolshelf_testkit::loader::Subject;
use toolshelf_testkit::loader_tests;

const TOOLS: [&str; 11] = [
    "echo", "crash", "hang", "huge", "odd", "together", "steps", "asks", "flood", "change", "fails",
];

/// A server, what is told to it, and the file into which it writes what its processes are.
fn server(log: &Path, words: &[&str]) -> StdioServer {
    let log = format!("log={}", log.display());
    let words = words.iter().copied().chain([&*log]);
    let program = env!("CARGO_BIN_EXE_faulty-server");
    let mut config = StdioConfig::new("faulty", program).args(words);
    config.probe_timeout = Duration::from_millis(300);
    config.connect_timeout = Duration::from_secs(30);
    config.close_grace = Duration::from_millis(300);
    StdioServer::new(config)
}

/// Whether a process runs; one that only waits to be collected does not.
fn is_alive(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit(')').next().unwrap_or_default().trim_start();
    !stat.is_empty() && !state.starts_with('Z')
}

/// The processes that run of those that noted themselves.
fn processes(log: &Path) -> Vec<String> {
    let noted = std::fs::read_to_string(log).unwrap_or_default();
    let pids = noted.lines().filter_map(|line| line.strip_prefix("pid "));
    pids.filter(|pid| is_alive(pid))
        .map(str::to_owned)
        .collect()
}

/// What a gateway loads a server's group with, and the gateway: it keeps lists of tools, and
/// asks the server anew before the first call.
struct InGateway {
    loader: Arc<dyn ToolLoader>,
    _gateway: Arc<Gateway>,
}

#[async_trait]
impl ToolLoader for InGateway {
    async fn load(&self, context: LoadContext) -> Result<Loaded, Error> {
        self.loader.load(context).await
    }
}

fn in_gateway(log: &Path, words: &[&str]) -> InGateway {
    let log_word = format!("log={}", log.display());
    let args: Vec<&str> = words.iter().copied().chain([&*log_word]).collect();
    let entry = json!({"command": env!("CARGO_BIN_EXE_faulty-server"), "args": args});
    let text = json!({"mcpServers": {"faulty": entry}}).to_string();
    let config = Config::parse(&text, &ProcessEnvironment).unwrap();
    let mut registry = Registry::new();
    registry
        .register(toolshelf_strategies::dispatch::PLUGIN)
        .unwrap();
    let mut options = GatewayOptions::default();
    let cache = log.parent().unwrap().join("cache");
    options.cache = Some(DescriptorCache::open(cache).unwrap());
    let gateway = Gateway::new(&config, options, &registry).unwrap();
    let loader = gateway.shelf().with_groups(|groups| {
        let entry = groups.get("faulty").unwrap();
        entry.group.loader.clone()
    });
    InGateway {
        loader,
        _gateway: gateway,
    }
}

fn subject<L: ToolLoader + 'static>(
    words: &'static [&'static str],
    server: fn(&Path, &[&str]) -> L,
) -> Subject {
    let folder = Arc::new(TempDir::new().unwrap());
    let runtime: Runtime = Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let log: PathBuf = folder.path().join("log");
    let build = |more: &'static [&'static str]| {
        let log = log.clone();
        move || server(&log, &[words, more].concat())
    };
    Subject::new(build(&[]), &TOOLS)
        .call("echo", json!({"text": "hello"}))
        .long_call("hang", json!({}))
        .failing(build(&["exit=3", "child"]))
        .hanging(build(&["list=hang", "child"]))
        .secrets(&["hunter2", env!("CARGO_BIN_EXE_faulty-server"), "log="])
        .leftovers({
            let log = log.clone();
            move || {
                let _kept = &folder;
                processes(&log)
            }
        })
        .running(move |future| runtime.block_on(future))
}

fn of_2025() -> Subject {
    subject(&[], server)
}

fn of_2026() -> Subject {
    subject(&["modern"], server)
}

/// Its start takes so long that a load is dropped meanwhile, and it starts a process of its own.
fn that_is_slow() -> Subject {
    subject(&["start=50", "child"], server)
}

fn of_a_gateway() -> Subject {
    subject(&[], in_gateway)
}

loader_tests!(of_a_gateway: calls, waits, fails, hangs, owns);
loader_tests!(of_2025: calls, waits, fails, hangs, owns);
loader_tests!(of_2026: calls, waits, fails, hangs, owns);
loader_tests!(that_is_slow: calls, waits, fails, hangs, owns);

/// As a plugin of a registry: an entry of a configuration is its options.
fn stdio() -> toolshelf_testkit::plugin::Subject {
    toolshelf_testkit::plugin::Subject::new(toolshelf_mcp::PLUGIN)
        .options(json!({"id": "faulty", "command": env!("CARGO_BIN_EXE_faulty-server")}))
}

toolshelf_testkit::plugin_tests!(stdio);
