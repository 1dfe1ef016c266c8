//! What is left of a gateway's servers when the gateway ends: nothing, however it ends.

#![cfg(target_os = "linux")]
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests are tests"
)]

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

const TOOLSHELF: &str = env!("CARGO_BIN_EXE_toolshelf");

/// Nothing here takes longer, however busy the machine is.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server in a shell that starts a process of its own, and neither ends with its input
/// nor when it is asked to. All of them note their process numbers in a file.
fn stubborn(folder: &Path) -> serde_json::Value {
    let script = r#"trap '' TERM HUP
        sh -c 'trap "" TERM HUP; echo $$ >> "$0"; while :; do sleep 1; done' "$0" &
        echo $$ >> "$0"
        exec 3<&0
        "$1" sample-server issues <&3
        while :; do sleep 1; done"#;
    json!({"command": "sh", "args": ["-c", script, folder.join("pids"), TOOLSHELF]})
}

fn gateway(folder: &Path) -> Child {
    let config = json!({"mcpServers": {"stubborn": stubborn(folder)}});
    let path = folder.join("mcp.json");
    std::fs::write(&path, config.to_string()).unwrap();
    Command::new(TOOLSHELF)
        .args(["serve", "--no-cache", "--config"])
        .arg(path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Waits until something is so.
fn until(what: &str, so: impl Fn() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !so() {
        assert!(Instant::now() < end, "{what} in time");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn pids(folder: &Path) -> Vec<u32> {
    let text = std::fs::read_to_string(folder.join("pids")).unwrap_or_default();
    text.lines().filter_map(|line| line.parse().ok()).collect()
}

/// Whether a process runs; one that has ended and was not waited for does not.
fn runs(pid: &u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| {
        !stat
            .rsplit(')')
            .next()
            .unwrap_or_default()
            .starts_with(" Z")
    })
}

/// Starts a gateway, calls a tool through it, and returns it with what its server runs.
fn called(folder: &Path) -> (Child, Vec<u32>) {
    let mut gateway = gateway(folder);
    let mut requests = gateway.stdin.take().unwrap();
    let call = json!({"tool_name": "stubborn/list_projects", "arguments": {}});
    for message in [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"}}}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
            "name": "deferred_tool_call", "arguments": call}}),
    ] {
        writeln!(requests, "{message}").unwrap();
    }
    let mut answers = BufReader::new(gateway.stdout.take().unwrap()).lines();
    let answer = answers
        .by_ref()
        .map(Result::unwrap)
        .find(|line| line.contains("\"id\":2"))
        .unwrap();
    assert!(!answer.contains("\"isError\":true"), "{answer}");
    until("both processes note their numbers", || {
        pids(folder).len() >= 2
    });
    let pids = pids(folder);
    assert!(pids.iter().all(runs));
    // The pipes stay open for as long as the gateway runs.
    gateway.stdin = Some(requests);
    std::mem::forget(answers);
    (gateway, pids)
}

#[test]
fn nothing_is_left_after_the_gateway_was_killed() {
    let folder = tempfile::tempdir().unwrap();
    let (mut gateway, pids) = called(folder.path());
    gateway.kill().unwrap();
    gateway.wait().unwrap();
    until("all processes end", || !pids.iter().any(runs));
}

#[test]
fn nothing_is_left_after_the_host_closed_the_connection() {
    let folder = tempfile::tempdir().unwrap();
    let (mut gateway, pids) = called(folder.path());
    drop(gateway.stdin.take());
    let status = gateway.wait().unwrap();
    assert!(status.success(), "{status}");
    // It has waited for them.
    assert!(!pids.iter().any(runs), "{pids:?}");
}

#[test]
fn nothing_is_left_after_the_gateway_was_asked_to_end() {
    let folder = tempfile::tempdir().unwrap();
    let (mut gateway, pids) = called(folder.path());
    let asked = Command::new("kill")
        .arg(gateway.id().to_string())
        .status()
        .unwrap();
    assert!(asked.success());
    gateway.wait().unwrap();
    assert!(!pids.iter().any(runs), "{pids:?}");
}
