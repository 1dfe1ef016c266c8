//! A host before a gateway, and a look at what the servers noted and left behind.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use toolshelf_core::{
    CallContext, ContentBlock, GroupId, Progress, ProgressSink, Registry, ToolResult,
};
use toolshelf_gateway::config::{Config, ProcessEnvironment};
use toolshelf_gateway::{Gateway, GatewayOptions};
use toolshelf_mcp::Lifecycle;
use toolshelf_tests::Connected;

/// The server with faults.
pub(crate) const FAULTY: &str = env!("CARGO_BIN_EXE_faulty-server");

/// The server without, to stand beside it.
pub(crate) const WELL: &str = env!("CARGO_BIN_EXE_fixture-server");

/// What only the operator may read; the fixtures write it to their standard error.
pub(crate) const SECRET: &str = "s3cret";

/// No test takes longer, however busy the machine is.
const PATIENCE: Duration = Duration::from_secs(120);

/// Runs a test within its time.
pub(crate) async fn within<T>(test: impl Future<Output = T>) -> T {
    Box::pin(tokio::time::timeout(PATIENCE, test))
        .await
        .expect("the test ends in time")
}

/// The entry of a server with these faults, separated by blanks.
pub(crate) fn faulty(words: &str) -> Value {
    let words: Vec<&str> = words.split_whitespace().collect();
    json!({"command": FAULTY, "args": words})
}

/// The same, with a time-out in seconds for connecting and for calls.
pub(crate) fn impatient(words: &str, seconds: f64) -> Value {
    let mut entry = faulty(words);
    entry["timeout"] = json!(seconds);
    entry
}

/// The entry of a server without faults.
pub(crate) fn well() -> Value {
    json!({"command": WELL, "args": ["basic", "well"]})
}

/// A gateway to be.
pub(crate) struct Setup {
    servers: Value,
    strategy: &'static str,
    lifecycle: Lifecycle,
    wait: Duration,
    backoff: Duration,
}

impl Setup {
    /// Before these servers, under dispatch, for a client without handshake, with a list
    /// that does not wait for the servers.
    pub(crate) fn new(servers: Value) -> Self {
        Self {
            servers,
            strategy: "dispatch",
            lifecycle: Lifecycle::Auto,
            wait: Duration::ZERO,
            backoff: Duration::from_secs(1),
        }
    }

    pub(crate) fn strategy(mut self, strategy: &'static str) -> Self {
        self.strategy = strategy;
        self
    }

    /// For a client with a handshake.
    pub(crate) fn handshake(mut self) -> Self {
        self.lifecycle = Lifecycle::Initialize;
        self
    }

    /// With a first list that waits until every server has started or failed.
    pub(crate) fn settled(mut self) -> Self {
        self.wait = PATIENCE;
        self
    }

    /// With another pause after the first failure of a server.
    pub(crate) fn backoff(mut self, backoff: Duration) -> Self {
        self.backoff = backoff;
        self
    }

    pub(crate) async fn start(self) -> Host {
        let text = json!({ "mcpServers": self.servers }).to_string();
        let config = Config::parse(&text, &ProcessEnvironment).unwrap();
        let mut options = GatewayOptions::default();
        options.strategy = Some(self.strategy.into());
        options.wait = Some(self.wait);
        options.limits.backoff = self.backoff;
        let mut registry = Registry::new();
        for plugin in [
            toolshelf_strategies::dispatch::PLUGIN,
            toolshelf_strategies::inject::PLUGIN,
            toolshelf_strategies::standard::PLUGIN,
        ] {
            registry.register(plugin).unwrap();
        }
        let gateway = Gateway::new(&config, options, &registry).unwrap();
        gateway.start();
        let connected = Connected::to(gateway.clone(), self.lifecycle)
            .await
            .unwrap();
        Host { gateway, connected }
    }
}

/// A host whose model has nothing but the gateway.
pub(crate) struct Host {
    pub(crate) gateway: Arc<Gateway>,
    connected: Connected,
}

/// A host before these servers, as [`Setup::new`] has it.
pub(crate) async fn host(servers: Value) -> Host {
    Setup::new(servers).start().await
}

impl Host {
    /// The list of tools, a descriptor each.
    pub(crate) async fn list(&self) -> Vec<Value> {
        let list = self.connected.list().await.unwrap();
        list.iter()
            .map(|tool| serde_json::from_str(tool).unwrap())
            .collect()
    }

    /// The names in the list of tools.
    pub(crate) async fn names(&self) -> Vec<String> {
        let list = self.list().await;
        list.iter()
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect()
    }

    /// The list as text, byte for byte.
    pub(crate) async fn list_text(&self) -> Vec<String> {
        self.connected.list().await.unwrap()
    }

    /// The description of `load_tools`, which holds the catalog.
    pub(crate) async fn catalog(&self) -> String {
        let list = self.list().await;
        list[0]["description"].as_str().unwrap().to_owned()
    }

    /// Calls a tool of the list.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> ToolResult {
        self.connected.call(tool, arguments).await.unwrap()
    }

    /// The same, in a context.
    pub(crate) async fn call_in(
        &self,
        tool: &str,
        arguments: Value,
        context: CallContext,
    ) -> Result<ToolResult, toolshelf_core::Error> {
        self.connected.call_in(tool, arguments, context).await
    }

    /// Calls a tool of a server.
    pub(crate) async fn forward(&self, tool: &str, arguments: Value) -> ToolResult {
        self.call("deferred_tool_call", forwarded(tool, arguments))
            .await
    }

    /// The text of a call that succeeds.
    pub(crate) async fn said(&self, tool: &str, arguments: Value) -> String {
        let result = self.forward(tool, arguments).await;
        assert!(!result.is_error, "{tool}: {}", result.joined_text());
        result.joined_text()
    }

    /// The text of a call that fails. It holds no secret and is short.
    pub(crate) async fn refused(&self, tool: &str, arguments: Value) -> String {
        let result = self.forward(tool, arguments).await;
        assert!(result.is_error, "{tool}: {}", result.joined_text());
        safe(result.joined_text())
    }

    /// The answer to the load of a group.
    pub(crate) async fn load(&self, group: &str) -> Value {
        self.load_some(json!({"group_id": group})).await
    }

    /// The answer to a call of `load_tools`.
    pub(crate) async fn load_some(&self, arguments: Value) -> Value {
        let result = self.call("load_tools", arguments).await;
        // News of servers may follow in a block of their own.
        let ContentBlock::Text { text, .. } = &result.content[0] else {
            panic!("{result:?}");
        };
        let answer: Value = serde_json::from_str(text).unwrap();
        assert_eq!(result.is_error, answer["expanded"] == false, "{text}");
        answer
    }

    /// The error of a load that fails. It holds no secret and is short.
    pub(crate) async fn load_refused(&self, group: &str) -> String {
        let answer = self.load(group).await;
        assert_eq!(answer["expanded"], false, "{answer}");
        // There are none, or the answer of this strategy never has any.
        let schemas = answer.get("schemas");
        assert!(
            schemas.is_none_or(|schemas| *schemas == json!([])),
            "{answer}"
        );
        safe(answer["error"].as_str().unwrap().to_owned())
    }

    /// The server without faults still does what it does.
    pub(crate) async fn others_go_on(&self) {
        let said = self.said("well/echo", json!({"text": "on"})).await;
        assert_eq!(said, "well says: on");
    }

    /// What the operator is told of a group that failed.
    pub(crate) fn for_operator(&self, group: &str) -> String {
        let group = GroupId::new(group).unwrap();
        self.gateway.shelf().with_groups(|groups| {
            let entry = groups.get(group.as_str()).unwrap();
            entry
                .condition
                .failure()
                .map_or_else(String::new, ToString::to_string)
        })
    }

    /// Ends everything.
    pub(crate) async fn end(self) {
        self.connected.close().await.unwrap();
        self.gateway.close().await;
    }
}

/// The arguments of the forwarder.
pub(crate) fn forwarded(tool: &str, arguments: Value) -> Value {
    json!({"tool_name": tool, "arguments": arguments})
}

/// What a model may read: no secret, no path of this machine, and little of it.
fn safe(text: String) -> String {
    assert!(!text.contains(SECRET), "{text}");
    assert!(!text.contains(FAULTY), "{text}");
    assert!(text.len() < 2_048, "{} bytes: {text}", text.len());
    assert!(
        text.chars().all(|c| c == '\n' || !c.is_control()),
        "{text:?}"
    );
    text
}

/// That a text holds all of these.
pub(crate) fn holds(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is missing in: {text}");
    }
}

/// A file that a server writes to, and the folder that it stands in.
pub(crate) struct Log {
    path: PathBuf,
    folder: tempfile::TempDir,
}

impl Log {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self {
            path: folder.path().join("log"),
            folder,
        }
    }

    /// The word that has a server write here.
    pub(crate) fn word(&self) -> String {
        format!("log={}", self.path.display())
    }

    /// Another file in its folder.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The lines so far.
    pub(crate) fn lines(&self) -> Vec<String> {
        let text = std::fs::read_to_string(&self.path).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// How many lines begin like this.
    pub(crate) fn count(&self, begin: &str) -> usize {
        let lines = self.lines();
        lines.iter().filter(|line| line.starts_with(begin)).count()
    }

    /// Waits until a line begins like this, `times` times.
    pub(crate) async fn until(&self, begin: &str, times: usize) {
        until(|| self.count(begin) >= times).await;
    }

    /// The processes that noted themselves.
    pub(crate) fn pids(&self) -> Vec<u32> {
        pids(&self.path)
    }
}

/// The processes that are named in a file, one a line as `pid N`.
pub(crate) fn pids(path: &Path) -> Vec<u32> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines()
        .filter_map(|line| line.strip_prefix("pid "))
        .map(|pid| pid.trim().parse().unwrap())
        .collect()
}

/// Waits until something is so. The test's own deadline ends the wait.
pub(crate) async fn until(is_so: impl Fn() -> bool) {
    while !is_so() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Whether a process runs; one that only waits to be collected does not.
#[cfg(target_os = "linux")]
pub(crate) fn is_alive(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit(')').next().unwrap_or_default().trim_start();
    !stat.is_empty() && !state.starts_with('Z')
}

/// That none of these processes exists any more, not even to be collected.
#[cfg(target_os = "linux")]
pub(crate) fn assert_gone(pids: &[u32]) {
    assert!(!pids.is_empty(), "no process noted itself");
    for pid in pids {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        // One that was never our child is collected by the system, when it gets to it.
        assert!(!is_alive(*pid), "process {pid} is left behind: {stat}");
    }
}

/// Elsewhere this is not looked at.
#[cfg(not(target_os = "linux"))]
pub(crate) fn assert_gone(pids: &[u32]) {
    assert!(!pids.is_empty(), "no process noted itself");
}

/// Takes progress.
#[derive(Default)]
pub(crate) struct Reports(pub(crate) Mutex<Vec<Progress>>);

impl ProgressSink for Reports {
    fn report(&self, progress: Progress) {
        self.0.lock().unwrap().push(progress);
    }
}

impl Reports {
    /// The steps so far.
    pub(crate) fn steps(&self) -> Vec<f64> {
        let reports = self.0.lock().unwrap();
        reports.iter().map(|report| report.progress).collect()
    }
}
