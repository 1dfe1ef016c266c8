//! No process is left behind, however a command ends. Looks at `/proc`.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::helpers::{TestConfig, faulty, toolshelf};

/// Processes that carry a mark in their environment: a command and all that it starts,
/// since servers inherit variables that begin with `LC_`.
struct Marked(String);

impl Marked {
    fn new(name: &str) -> (Self, Command) {
        let mark = format!("{name}-{}", std::process::id());
        let mut command = toolshelf();
        command.env("LC_TOOLSHELF_TEST", &mark);
        (Self(mark), command)
    }

    fn alive(&self) -> BTreeSet<u32> {
        let wanted = format!("LC_TOOLSHELF_TEST={}", self.0);
        let entries = std::fs::read_dir("/proc").unwrap().flatten();
        entries
            .filter_map(|entry| {
                let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
                let variables = std::fs::read(entry.path().join("environ")).ok()?;
                let marked = variables
                    .split(|byte| *byte == 0)
                    .any(|variable| variable == wanted.as_bytes());
                marked.then_some(pid)
            })
            .collect()
    }

    /// The sample servers among them.
    fn servers(&self) -> usize {
        let is_server = |pid: &u32| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            line.split(|byte| *byte == 0)
                .any(|argument| argument == b"sample-server")
        };
        self.alive().iter().filter(|pid| is_server(pid)).count()
    }
}

#[track_caller]
fn wait_until(what: &str, so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !so() {
        assert!(begun.elapsed() < Duration::from_secs(20), "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill")
        .args([name, &child.id().to_string()])
        .status();
    assert!(sent.unwrap().success());
}

fn serve(name: &str) -> (Marked, Child) {
    let (marked, mut command) = Marked::new(name);
    let child = command
        .args(["serve", "--samples"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_until("three servers", || marked.servers() == 3);
    (marked, child)
}

#[test]
fn a_tour_leaves_nothing() {
    let (marked, mut command) = Marked::new("tour");
    assert!(
        command
            .arg("tour")
            .stdout(Stdio::null())
            .status()
            .unwrap()
            .success()
    );
    assert!(marked.alive().is_empty());
}

#[test]
fn the_listing_and_a_call_leave_nothing() {
    for arguments in [
        &["tools", "--samples"][..],
        &["call", "--samples", "issues/list_projects"],
    ] {
        let (marked, mut command) = Marked::new("once");
        assert!(
            command
                .args(arguments)
                .stdout(Stdio::null())
                .status()
                .unwrap()
                .success()
        );
        assert!(marked.alive().is_empty(), "{arguments:?}");
    }
}

#[test]
fn serve_ends_with_its_input() {
    let (marked, mut child) = serve("input");
    drop(child.stdin.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(marked.alive().is_empty());
}

#[test]
fn serve_ends_on_signals() {
    for name in ["-INT", "-TERM"] {
        let (marked, mut child) = serve(name);
        signal(&child, name);
        assert_eq!(child.wait().unwrap().code(), Some(0), "{name}");
        assert!(marked.alive().is_empty(), "{name}");
    }
}

#[test]
fn serve_that_ends_while_servers_start_does_not_blame_them() {
    // It never says a word, and does not look at its input either.
    let config = TestConfig::of(&serde_json::json!({
        "mute": {"command": "sleep", "args": ["600"]},
    }));
    let (marked, mut command) = Marked::new("starting");
    let mut child = command
        .args(["serve", "--no-cache", "-vv", "--config", config.path()])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let starting = |line: &str| line.contains("starting") && line.contains("server=mute");
    let began = lines.by_ref().any(|line| starting(&line.unwrap()));
    assert!(began);
    signal(&child, "-TERM");
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(marked.alive().is_empty());
    let rest: Vec<String> = lines.map(Result::unwrap).collect();
    assert!(!rest.iter().any(|line| line.contains("WARN")), "{rest:?}");
}

#[test]
fn the_servers_end_when_serve_is_killed() {
    let (marked, mut child) = serve("killed");
    child.kill().unwrap();
    child.wait().unwrap();
    wait_until("nothing is left", || marked.alive().is_empty());
}

#[test]
fn a_call_that_is_interrupted_is_130_and_leaves_nothing() {
    let (marked, mut command) = Marked::new("interrupted");
    let mut child = command
        .args(["call", "--samples", "calendar/optimize_week"])
        .arg(r#"{"people": ["mara"], "rounds": 600}"#)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(lines.next().unwrap().unwrap().starts_with("1 of 600"));
    signal(&child, "-INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(marked.alive().is_empty());
}

#[test]
fn commands_that_are_interrupted_while_servers_start_leave_nothing() {
    let config = TestConfig::of(&serde_json::json!({
        "one": faulty(&["start=60000"]),
        "two": faulty(&["start=60000", "child"]),
    }));
    for (command, name, code) in [
        ("tools", "-INT", 130),
        ("refresh", "-TERM", 143),
        ("doctor", "-INT", 130),
        ("catalog", "-TERM", 143),
    ] {
        let (marked, mut toolshelf) = Marked::new(command);
        let mut child = toolshelf
            .args([command, "--config", config.path()])
            .env("TOOLSHELF_CACHE_DIR", config.folder.path().join("cache"))
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        wait_until("two servers and a child", || marked.alive().len() == 4);
        signal(&child, name);
        assert_eq!(child.wait().unwrap().code(), Some(code), "{command}");
        assert!(marked.alive().is_empty(), "{command}");
    }
}

#[test]
fn a_tour_that_is_interrupted_leaves_nothing() {
    let (marked, mut command) = Marked::new("broken-off");
    let mut child = command.arg("tour").stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    lines.next().unwrap().unwrap();
    signal(&child, "-TERM");
    assert_eq!(child.wait().unwrap().code(), Some(143));
    assert!(marked.alive().is_empty());
}

#[test]
fn standard_output_of_serve_holds_the_protocol_only() {
    let mut child = toolshelf()
        .args(["serve", "--samples", "-vvv", "--wait", "10"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    for line in [
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#,
    ] {
        writeln!(input, "{line}").unwrap();
    }
    drop(input);
    let output = child.wait_with_output().unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    let answers: Vec<serde_json::Value> = out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(answers.len(), 2, "{out}");
    assert_eq!(answers[1]["result"]["tools"].as_array().unwrap().len(), 3);
    let log = String::from_utf8(output.stderr).unwrap();
    assert!(log.contains("client connected"), "{log}");
}
