//! The loader of child processes keeps to the contract of a loader, before a server that
//! notes each process of its own. Processes are looked for on Linux only.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};
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

fn subject(words: &'static [&'static str]) -> Subject {
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
    subject(&[])
}

fn of_2026() -> Subject {
    subject(&["modern"])
}

/// Its start takes so long that a load is dropped meanwhile, and it starts a process of its own.
fn that_is_slow() -> Subject {
    subject(&["start=50", "child"])
}

loader_tests!(of_2025: calls, waits, fails, hangs, owns);
loader_tests!(of_2026: calls, waits, fails, hangs, owns);
loader_tests!(that_is_slow: calls, waits, fails, hangs, owns);
