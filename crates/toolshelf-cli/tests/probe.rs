//! `toolshelf probe`: our own gateway behaves, and each behaviour can be seen to be missing.
//! In a process of its own, since it is about time and processes.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests are tests"
)]

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;

use serde_json::{Value, json};

const TOOLSHELF: &str = env!("CARGO_BIN_EXE_toolshelf");

/// How many probes of broken gateways run at a time: most of them wait for what never comes.
const AT_A_TIME: usize = 8;

/// Each behaviour, and what is seen of a gateway that has not got it.
const BROKEN: [(&str, &str); 31] = [
    (
        "slow",
        "no answer to tools/list within 2 s, while a server was still starting",
    ),
    ("warm-up", "given up"),
    ("dead", "a call to the dead server was no error"),
    ("crash", "given up, after a crash"),
    ("banner", "lines that are no messages"),
    ("stderr-flood", "given up"),
    ("pages", "paged's tool_5 failed: given up"),
    ("repeated-cursor", "circle's tool_1: no answer"),
    ("malformed-tool", "a strict host refuses: {\"name\":17}"),
    ("one-process", "five calls started 5 processes"),
    ("list-changed", "the new tool is not shown"),
    ("changed-schema", "the old schema is still shown"),
    ("images", "instead of {\"type\":\"image\""),
    ("structured", "no structuredContent"),
    ("meta", "of _meta came null"),
    ("error-result", "no result with isError any more"),
    ("unknown-content", "instead of {\"type\":\"hologram\""),
    (
        "arguments-as-text",
        "the server was called with echo {\"text\":\"\"}",
    ),
    (
        "arguments-flattened",
        "the server was called with echo {\"text\":\"\"}",
    ),
    (
        "missing-arguments",
        "the server was called: echo {\"text\":\"\"}",
    ),
    ("progress", "of three reports came []"),
    ("cancellation", "the server heard nothing of it"),
    ("parallel", "of three calls at once 1 reached the server"),
    (
        "hanging-call",
        "no answer to tools/call within 2 s, while another call hung",
    ),
    ("same-name", "alpha was called with"),
    ("ambiguous-name", "'echo' ran alpha's echo"),
    (
        "unknown-name",
        "'alpha/no_such_tool_at_all' ran alpha's echo",
    ),
    ("near-miss", "the answer names no candidate"),
    ("orphans-close", "processes were left after 5 s: sleep"),
    ("orphans-kill", "processes were left after 5 s: sleep"),
    ("list-bytes", "later, but others"),
];

fn probe(arguments: &[&str]) -> (i32, String, String) {
    let output = Command::new(TOOLSHELF)
        .arg("probe")
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    (
        output.status.code().expect("ended by itself"),
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    )
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|fault| panic!("{fault}: {text}"))
}

/// What counts processes cannot be looked at elsewhere, and says so.
fn is_counted(name: &str) -> bool {
    cfg!(target_os = "linux") || !name.starts_with("orphans")
}

#[test]
fn our_own_gateway_has_every_behaviour() {
    let (code, out, err) = probe(&["--json", "--jobs", "8", "--", TOOLSHELF, "serve"]);
    let report = parsed(&out);
    assert_eq!(report["adapter"], "toolshelf");
    let findings = report["behaviours"].as_array().unwrap();
    assert_eq!(findings.len(), BROKEN.len());
    for finding in findings {
        let name = finding["name"].as_str().unwrap();
        let wanted = if is_counted(name) { "pass" } else { "skipped" };
        assert_eq!(finding["outcome"], wanted, "{finding:#}");
        assert!(!finding["seen"].as_str().unwrap().is_empty());
        // Somebody who looks on sees what was done.
        assert!(err.contains(&format!(" {name} (")), "{err}");
    }
    assert_eq!(code, 0, "{err}");
}

#[test]
fn each_behaviour_is_seen_to_be_missing() {
    let (_, list, _) = probe(&["--list", "--json"]);
    let names: Vec<String> = parsed(&list)["behaviours"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["name"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(
        names,
        BROKEN.map(|(name, _)| name),
        "each has a gateway that breaks it"
    );

    let gateway = &broken_gateway();
    let left = Mutex::new(BROKEN.iter());
    std::thread::scope(|scope| {
        for _ in 0..AT_A_TIME {
            scope.spawn(|| {
                loop {
                    let Some((name, seen)) = left.lock().unwrap().next() else {
                        break;
                    };
                    is_missing(gateway, name, seen);
                }
            });
        }
    });
}

/// The program that breaks a behaviour.
fn broken_gateway() -> String {
    let gateway = Path::new(TOOLSHELF)
        .with_file_name("examples")
        .join(format!("broken-gateway{}", std::env::consts::EXE_SUFFIX));
    assert!(
        gateway.exists(),
        "`cargo build -p toolshelf-cli --examples` makes {}",
        gateway.display()
    );
    gateway.display().to_string()
}

#[test]
fn calls_in_processes_of_their_own_are_not_said_to_wait_for_each_other() {
    let gateway = broken_gateway();
    let probed = [
        "--json",
        "--patience",
        "5",
        "--gateway",
        "toolshelf",
        "--only",
        "parallel",
        "--",
        &gateway,
        "process-per-call",
        TOOLSHELF,
        "serve",
        "--config",
        "{config}",
    ];
    let (code, out, err) = probe(&probed);
    let finding = &parsed(&out)["behaviours"][0];
    assert_eq!(finding["outcome"], "not-applicable", "{finding:#} {err}");
    assert_eq!(code, 0, "{err}");
}

fn is_missing(gateway: &str, name: &str, seen: &str) {
    // Ending a stubborn server takes our gateway two seconds.
    let patience = if name.starts_with("orphans") {
        "5"
    } else {
        "2"
    };
    let probed = [
        "--json",
        "--patience",
        patience,
        "--gateway",
        "toolshelf",
        "--only",
        name,
        "--",
    ];
    let broken = [gateway, name, TOOLSHELF, "serve", "--config", "{config}"];
    let (code, out, err) = probe(&[probed.as_slice(), &broken].concat());
    if !is_counted(name) {
        return assert_eq!(code, 0, "{name}: {err}");
    }
    assert!(code == 1 && !out.is_empty(), "{name}: {code} {out}{err}");
    let finding = &parsed(&out)["behaviours"][0];
    assert_eq!(finding["outcome"], "fail", "{finding:#}");
    assert!(
        finding["seen"].as_str().unwrap().contains(seen),
        "expected '{seen}' in {finding:#}"
    );
}

#[test]
fn what_cannot_be_probed_is_said() {
    let config = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(config.path(), r#"{"name":"mine"}"#).unwrap();
    let file = config.path().to_str().unwrap();
    for (arguments, code, said) in [
        (vec![], 2, "COMMAND"),
        (
            vec!["--only", "sloww", "--", "x"],
            2,
            "there is no behaviour 'sloww'; there are: slow",
        ),
        (
            vec!["--gateway", "unheard", "--", "x"],
            2,
            "there is no gateway 'unheard'",
        ),
        (
            vec!["--gateway", file, "--", "x"],
            2,
            "describes no gateway: missing field `config`",
        ),
        (
            vec!["--", "no-such-program-at-all"],
            1,
            "cannot start 'no-such-program-at-all'",
        ),
        (
            vec!["--", TOOLSHELF, "plugins"],
            1,
            "a plain call does not come through",
        ),
        (
            vec!["--patience", "1", "--", "sh", "-c", "sleep 60"],
            1,
            "no answer to initialize within 3 s",
        ),
    ] {
        let (ended, out, err) = probe(&arguments);
        assert_eq!(ended, code, "{arguments:?}: {out}{err}");
        assert!(err.contains(said), "{arguments:?}: {err}");
    }
}

#[test]
fn a_gateway_is_known_by_its_list_or_told_by_a_file() {
    // By its list: the name of this program says nothing.
    let wrapped = [
        "sh",
        "-c",
        "exec \"$0\" serve --config \"$1\"",
        TOOLSHELF,
        "{config}",
    ];
    let probed = ["--json", "--only", "same-name", "--"];
    let (code, out, err) = probe(&[probed.as_slice(), &wrapped].concat());
    assert_eq!(code, 0, "{err}");
    assert_eq!(parsed(&out)["adapter"], "toolshelf");

    // By a file: under another strategy the same program is another gateway.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.json");
    // Its configuration is written as text, server by server, as formats like TOML want it.
    let mine = json!({
        "name": "passes all",
        "config": {
            "file": "servers.json",
            "content": "// Trailing commas are fine.\n{\"mcpServers\": {{servers}}}",
            "server": "\"{name}\": {\"command\": {command}, \"args\": {args}},",
        },
        "arguments": [
            "serve", "--strategy", "standard", "--no-cache", "--wait", "10", "--config", "{config}",
        ],
        "tool_name": "{server}__{tool}",
        "call": {"tool": "{name}", "arguments": "{arguments}"},
        "not_claimed": {"progress": "just because"},
    });
    std::fs::write(&file, mine.to_string()).unwrap();
    let (code, out, err) = probe(&[
        "--gateway",
        file.to_str().unwrap(),
        "--only",
        "same-name,near-miss,progress,list-changed",
        "--",
        TOOLSHELF,
    ]);
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.contains("n/a      near-miss"), "{out}");
    assert!(
        out.contains("n/a      progress             just because"),
        "{out}"
    );
    assert!(
        out.contains("2 of 4 passed, 0 failed, 2 not applicable"),
        "{out}"
    );
    assert!(out.contains("(spoken to as passes all)"), "{out}");
}

#[cfg(target_os = "linux")]
#[test]
fn control_c_ends_everything() {
    let folder = tempfile::tempdir().unwrap();
    let mut probe = Command::new(TOOLSHELF)
        .args(["probe", "--only", "warm-up", "--", TOOLSHELF, "serve"])
        .env("TMPDIR", folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // The server that takes its time has been started.
    let late = until(|| servers(folder.path(), "late.log"));
    let pid = probe.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-INT", &pid])
            .status()
            .unwrap()
            .success()
    );
    assert_eq!(probe.wait().unwrap().code(), Some(130));
    until(|| late.iter().all(|pid| !runs(pid)).then_some(()));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// The processes that servers noted in logs of a name, once there is one.
#[cfg(target_os = "linux")]
fn servers(folder: &Path, log: &str) -> Option<Vec<String>> {
    let runs = std::fs::read_dir(folder).ok()?.flatten();
    let logs = runs.filter_map(|run| std::fs::read_to_string(run.path().join(log)).ok());
    let pids: Vec<String> = logs
        .flat_map(|text| {
            let pids = text.lines().filter_map(|line| line.strip_prefix("pid "));
            pids.map(str::to_owned).collect::<Vec<_>>()
        })
        .collect();
    (!pids.is_empty()).then_some(pids)
}

#[cfg(target_os = "linux")]
fn runs(pid: &String) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| {
        !stat
            .rsplit(')')
            .next()
            .unwrap_or_default()
            .starts_with(" Z")
    })
}

/// Waits until there is something; nothing here takes longer than a minute.
#[cfg(target_os = "linux")]
fn until<T>(so: impl Fn() -> Option<T>) -> T {
    let end = std::time::Instant::now() + std::time::Duration::from_secs(60);
    loop {
        match so() {
            Some(it) => return it,
            None if std::time::Instant::now() > end => panic!("not in time"),
            None => std::thread::sleep(std::time::Duration::from_millis(10)),
        }
    }
}
