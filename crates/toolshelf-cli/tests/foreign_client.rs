//! `toolshelf serve` as a host of somebody else's makes sees it: the official Python SDK,
//! in its automatic and in its legacy mode, in front of real servers.
//!
//! `cargo xtask fixtures` installs what this needs.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests are tests"
)]

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

const TOOLSHELF: &str = env!("CARGO_BIN_EXE_toolshelf");

fn fixtures() -> Value {
    let path = std::env::var_os("TOOLSHELF_FIXTURES").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target/fixtures/servers.json"),
        PathBuf::from,
    );
    let text = std::fs::read_to_string(&path).unwrap_or_else(|cause| {
        panic!(
            "{}: {cause}; install what this test needs with `cargo xtask fixtures`",
            path.display()
        )
    });
    serde_json::from_str(&text).unwrap()
}

/// The Python client with `toolshelf serve` behind it.
struct Host {
    process: Child,
    steps: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Host {
    fn start(mode: &str, config: &Path, args: &[&str]) -> Self {
        let python = fixtures()["python-client"]["command"]
            .as_str()
            .unwrap()
            .to_owned();
        let script = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
            .join("../../tests/fixtures/python/host_session.py");
        let mut process = Command::new(python)
            .arg(script)
            .args([
                "--mode",
                mode,
                "--",
                TOOLSHELF,
                "serve",
                "--wait",
                "120",
                "--no-cache",
                "--config",
            ])
            .arg(config)
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let steps = process.stdin.take();
        let answers = BufReader::new(process.stdout.take().unwrap());
        Self {
            process,
            steps,
            answers,
        }
    }

    /// Does one step; whatever comes back.
    fn raw(&mut self, step: Value) -> Value {
        let steps = self.steps.as_mut().unwrap();
        writeln!(steps, "{step}").unwrap();
        steps.flush().unwrap();
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        assert!(!line.is_empty(), "the client ended at {step}");
        serde_json::from_str(&line).unwrap()
    }

    fn step(&mut self, step: Value) -> Value {
        let answer = self.raw(step.clone());
        assert_eq!(answer["ok"], true, "{step}: {answer}");
        answer
    }

    fn call(&mut self, name: &str, arguments: Value) -> Value {
        self.step(json!({"op": "call", "name": name, "arguments": arguments}))["result"].take()
    }

    fn forward(&mut self, tool: &str, arguments: Value) -> Value {
        self.call(
            "deferred_tool_call",
            json!({"tool_name": tool, "arguments": arguments}),
        )
    }

    fn names(&mut self) -> Vec<String> {
        let list = self.step(json!({"op": "list_tools"}));
        let tools = list["result"]["tools"].as_array().unwrap();
        tools
            .iter()
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect()
    }

    fn end(mut self) {
        drop(self.steps.take());
        let status = self.process.wait().unwrap();
        assert!(status.success(), "the client ended with {status}");
    }
}

fn text(result: &Value) -> String {
    let blocks = result["content"].as_array().unwrap();
    let texts: Vec<&str> = blocks
        .iter()
        .filter_map(|block| block["text"].as_str())
        .collect();
    texts.join("\n")
}

/// A configuration of real servers, one that is dead, and one whose variable is not set.
fn config(folder: &Path) -> PathBuf {
    let fixtures = fixtures();
    let config = json!({"mcpServers": {
        "everything": fixtures["everything"],
        "time": fixtures["time"],
        "dead": {"command": "false"},
        "unset": {"command": "true", "env": {"KEY": "${TOOLSHELF_TEST_UNSET}"}},
    }});
    let path = folder.join("mcp.json");
    std::fs::write(&path, config.to_string()).unwrap();
    path
}

#[test]
fn dispatch_for_both_modes_of_the_python_sdk() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(folder.path());
    for (mode, protocol) in [("auto", "2026-07-28"), ("legacy", "2025-11-25")] {
        let mut host = Host::start(mode, &config, &[]);
        let info = host.step(json!({"op": "info"}));
        assert_eq!(info["result"]["protocolVersion"], protocol);
        assert_eq!(info["result"]["serverInfo"]["name"], "toolshelf");
        let instructions = info["result"]["instructions"].as_str().unwrap();
        assert!(instructions.chars().count() <= 512, "{instructions}");

        let list = host.step(json!({"op": "list_tools"}));
        let tools = list["result"]["tools"].as_array().unwrap();
        assert_eq!(tools.len(), 3);
        for tool in tools {
            assert_eq!(tool["_meta"]["anthropic/alwaysLoad"], true);
        }
        let description = tools[1]["description"].as_str().unwrap();
        assert!(description.contains("- `time`") && description.contains("convert_time"));

        let loaded = host.call("load_tools", json!({"group_id": "time"}));
        let answer: Value = serde_json::from_str(&text(&loaded)).unwrap();
        assert_eq!(
            answer["tool_names"],
            json!(["get_current_time", "convert_time"])
        );
        let again = host.call("load_tools", json!({"group_id": "time"}));
        assert_eq!(text(&again), text(&loaded));

        let found = host.call("search_tools", json!({"query": "convert a time"}));
        assert!(text(&found).contains("- time/convert_time("), "{found}");

        let now = host.forward("time/get_current_time", json!({"timezone": "UTC"}));
        assert!(text(&now).contains("UTC"), "{now}");
        // A bare name, not loaded before, its arguments as a string.
        let sum = host.call(
            "deferred_tool_call",
            json!({"tool_name": "get-sum", "arguments": "{\"a\":40,\"b\":2}"}),
        );
        assert!(text(&sum).contains("42"), "{sum}");
        let image = host.forward("get-tiny-image", json!({}));
        let blocks = image["content"].as_array().unwrap();
        assert!(
            blocks.iter().any(|block| block["type"] == "image"),
            "{image}"
        );

        let wrong = host.forward("get-sum", json!({"a": "many"}));
        assert_eq!(wrong["isError"], true);
        let fault = text(&wrong);
        for part in ["a: expected a number", "b: expected", "\"properties\""] {
            assert!(fault.contains(part), "{part:?} is missing in {fault}");
        }
        for (group, part) in [("dead", "dead"), ("unset", "env.KEY"), ("tiem", "time")] {
            let refused = host.call("load_tools", json!({"group_id": group}));
            assert_eq!(refused["isError"], true);
            assert!(text(&refused).contains(part), "{refused}");
        }

        let progress = host.step(json!({
            "op": "call", "name": "deferred_tool_call", "progress": true,
            "arguments": {"tool_name": "trigger-long-running-operation",
                          "arguments": {"duration": 0.2, "steps": 2}},
        }));
        assert_eq!(
            progress["progress"].as_array().unwrap().len(),
            2,
            "{progress}"
        );

        let last = host.step(json!({"op": "list_tools"}));
        assert_eq!(last["result"]["tools"], list["result"]["tools"]);
        host.end();
    }
}

#[test]
fn inject_tells_a_legacy_client_that_its_list_grew() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(folder.path());
    let mut host = Host::start("legacy", &config, &["--strategy", "inject"]);
    assert_eq!(host.names(), ["load_tools"]);
    let loaded = host.call("load_tools", json!({"group_id": "time"}));
    assert_eq!(loaded.get("isError").unwrap_or(&json!(false)), false);
    let told = host.step(json!({
        "op": "notifications", "method": "notifications/tools/list_changed", "timeout": 60,
    }));
    assert!(!told["result"].to_string().is_empty());
    assert_eq!(
        host.names(),
        ["load_tools", "time__get_current_time", "time__convert_time"]
    );
    let now = host.call("time__get_current_time", json!({"timezone": "UTC"}));
    assert!(text(&now).contains("UTC"), "{now}");
    host.end();
}

#[test]
fn tst_tells_a_legacy_client_what_a_search_added() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(folder.path());
    let mut host = Host::start("legacy", &config, &["--strategy", "tst"]);
    assert_eq!(host.names(), ["search_tools"]);
    let found = host.call("search_tools", json!({"query": "select:convert_time"}));
    assert!(text(&found).contains("Found 1 deferred tool(s)"), "{found}");
    let told = host.step(json!({
        "op": "notifications", "method": "notifications/tools/list_changed", "timeout": 60,
    }));
    assert!(!told["result"].to_string().is_empty());
    assert_eq!(host.names(), ["search_tools", "time__convert_time"]);
    host.end();
}

#[test]
fn standard_shows_every_tool_under_a_name_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(folder.path());
    let mut host = Host::start("auto", &config, &["--strategy", "standard"]);
    let names = host.names();
    assert!(
        names.contains(&"time__convert_time".to_owned()),
        "{names:?}"
    );
    assert!(names.contains(&"everything__echo".to_owned()), "{names:?}");
    let echo = host.call("everything__echo", json!({"message": "hi"}));
    assert_eq!(text(&echo), "Echo: hi");
    host.end();
}
