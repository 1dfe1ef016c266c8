//! What is different at a terminal: colour, and the line that says what is waited for.

use std::fs::File;
use std::io::Read;
use std::process::{Command, Stdio};

use nix::pty::{Winsize, openpty};
use serde_json::json;

use crate::helpers::{TestConfig, faulty, toolshelf};

/// What takes the line away.
const CLEAR: &str = "\r\u{1b}[2K";

/// Where a stream goes.
#[derive(Clone, Copy, PartialEq)]
enum Stream {
    Pipe,
    Terminal,
}

/// What came through the pipe, and what the terminal got.
struct Seen {
    pipe: String,
    terminal: String,
}

fn run(mut command: Command, out: Stream, err: Stream) -> Seen {
    let size = Winsize {
        ws_row: 24,
        ws_col: 100,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    let pty = openpty(Some(&size), None).unwrap();
    let stream = |stream: Stream| match stream {
        Stream::Pipe => Stdio::piped(),
        Stream::Terminal => Stdio::from(pty.slave.try_clone().unwrap()),
    };
    command
        .env("TERM", "xterm")
        .stdin(Stdio::null())
        .stdout(stream(out))
        .stderr(stream(err));
    let child = command.spawn().unwrap();
    // The terminal ends with the last process that has it open.
    drop(command);
    drop(pty.slave);
    let mut master = File::from(pty.master);
    let reading = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let mut chunk = [0; 4_096];
        // The end of a terminal is an error.
        while let Ok(read @ 1..) = master.read(&mut chunk) {
            bytes.extend_from_slice(&chunk[..read]);
        }
        String::from_utf8(bytes).unwrap()
    });
    let output = child.wait_with_output().unwrap();
    let pipe = [output.stdout, output.stderr].concat();
    Seen {
        pipe: String::from_utf8(pipe).unwrap(),
        terminal: reading.join().unwrap(),
    }
}

#[test]
fn colour_is_for_terminals() {
    let plugins = |variable: Option<(&str, &str)>, out| {
        let mut command = toolshelf();
        command.arg("plugins").envs(variable);
        let seen = run(command, out, Stream::Pipe);
        match out {
            Stream::Pipe => seen.pipe,
            Stream::Terminal => seen.terminal,
        }
    };
    assert!(plugins(None, Stream::Terminal).contains("\u{1b}["));
    assert!(!plugins(None, Stream::Pipe).contains('\u{1b}'));
    let without = plugins(Some(("NO_COLOR", "1")), Stream::Terminal);
    assert!(
        without.contains("dispatch") && !without.contains('\u{1b}'),
        "{without}"
    );
}

fn slow() -> TestConfig {
    TestConfig::of(&json!({"slow": faulty(&["start=900", "banner"]), "quick": faulty(&[])}))
}

#[test]
fn who_is_waited_for_is_shown_at_a_terminal_only() {
    let config = slow();
    for arguments in [
        &["tools"][..],
        &["tools", "--raw", "slow"],
        &["doctor"],
        &["catalog"],
        &["refresh"],
        &["call", "slow/echo", r#"{"text": "x"}"#],
    ] {
        let mut command = toolshelf();
        command
            .args(arguments)
            .args(["--config", config.path()])
            .env("TOOLSHELF_CACHE_DIR", config.folder.path().join("cache"));
        let seen = run(command, Stream::Pipe, Stream::Terminal);
        let line = seen.terminal.contains("waiting for slow 0 s");
        assert!(line, "{arguments:?}: {:?}", seen.terminal);
        // It is gone at the end; what follows it are whole lines.
        let (_, after) = seen.terminal.rsplit_once(CLEAR).unwrap();
        assert!(
            !after.contains("waiting"),
            "{arguments:?}: {:?}",
            seen.terminal
        );
        assert!(after.is_empty() || after.ends_with('\n'), "{after:?}");
        assert!(
            !seen.pipe.contains('\u{1b}'),
            "{arguments:?}: {}",
            seen.pipe
        );
    }
    for json in [false, true] {
        let mut command = toolshelf();
        command.args(["tools", "--raw", "slow", "--config", config.path()]);
        if json {
            command.arg("--log-json");
        } else {
            command.env("CI", "true");
        }
        let seen = run(command, Stream::Pipe, Stream::Terminal);
        assert!(!seen.terminal.contains("waiting"), "{:?}", seen.terminal);
    }
}

#[test]
fn the_log_is_not_written_into_the_line() {
    let config = slow();
    let mut command = toolshelf();
    command.args([
        "tools",
        "-vv",
        "--color",
        "never",
        "--config",
        config.path(),
    ]);
    let seen = run(command, Stream::Pipe, Stream::Terminal);
    assert!(
        seen.terminal.contains("waiting for slow"),
        "{:?}",
        seen.terminal
    );
    let mut records = 0;
    for line in seen.terminal.split("\r\n").filter(|line| !line.is_empty()) {
        let record = line.rsplit_once(CLEAR).map_or(line, |(_, record)| record);
        if record.is_empty() {
            continue;
        }
        let level = record.split_whitespace().next().unwrap_or_default();
        assert!(["WARN", "INFO", "DEBUG"].contains(&level), "{line:?}");
        records += 1;
    }
    assert!(records >= 4, "{:?}", seen.terminal);
}

#[test]
fn raw_data_does_not_command_a_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("tools.json");
    std::fs::write(&list, "[{\"name\":\"a\u{9b}31m\u{202e}b\"}]").unwrap();
    let words = format!("list=file:{}", list.display());
    let config = TestConfig::of(&json!({"odd": faulty(&[&words])}));
    let raw = |out| {
        let mut command = toolshelf();
        command.args(["tools", "--raw", "odd", "--config", config.path()]);
        run(command, out, Stream::Pipe)
    };
    let shown = raw(Stream::Terminal).terminal;
    assert!(
        shown.contains(r#"{"name":"a\u009b31m\u202eb"}"#),
        "{shown:?}"
    );
    assert!(raw(Stream::Pipe).pipe.contains("a\u{9b}31m\u{202e}b"));
}
