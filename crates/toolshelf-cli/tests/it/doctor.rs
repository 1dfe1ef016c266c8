//! What `doctor` finds, and how it says so.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Value, json};

use crate::helpers::{Ran, TestConfig, faulty, faulty_server, run, sample_entry, toolshelf};

/// What an `env` holds in these tests; the server quotes it when it refuses to start.
const SECRET: &str = "s3cret";

/// Severities and codes, in order.
type Codes<'a> = &'a [(&'a str, &'a str)];

/// Runs the doctor with a cache of its own.
fn doctor(config: &TestConfig, arguments: &[&str]) -> Ran {
    let output = toolshelf()
        .args(["doctor", "--config", config.path()])
        .args(arguments)
        .env("TOOLSHELF_CACHE_DIR", config.folder.path().join("cache"))
        .output()
        .unwrap();
    output.into()
}

/// Severities and codes of findings.
fn codes(findings: &Value) -> Vec<(&str, &str)> {
    let findings = findings.as_array().unwrap();
    let word = |finding: &'_ Value, field: &str| finding[field].as_str().unwrap().to_owned();
    findings
        .iter()
        .map(|finding| {
            assert!(!word(finding, "text").is_empty(), "{finding}");
            assert!(!word(finding, "mend").is_empty(), "{finding}");
            (
                finding["severity"].as_str().unwrap(),
                finding["code"].as_str().unwrap(),
            )
        })
        .collect()
}

fn finding<'a>(findings: &'a Value, code: &str) -> &'a Value {
    let mut findings = findings.as_array().unwrap().iter();
    findings.find(|finding| finding["code"] == code).unwrap()
}

/// Examines one server and returns what is said of it.
fn examined(entry: Value, code: i32) -> Value {
    let config = TestConfig::of(&json!({ "server": entry }));
    let ran = doctor(&config, &["--json"]).ended(code);
    assert!(ran.err.is_empty(), "{}", ran.err);
    let report = ran.json();
    assert_eq!(report["ok"], code == 0);
    report["servers"][0].clone()
}

#[test]
fn a_sound_server_has_nothing_to_mend() {
    let server = examined(sample_entry("issues"), 0);
    assert_eq!(codes(&server["findings"]), []);
    assert_eq!(server["state"], "ready");
    assert_eq!(server["command"]["path"], env!("CARGO_BIN_EXE_toolshelf"));
    assert_eq!(
        server["protocol"],
        json!({"revision": "2026-07-28", "handshake": false})
    );
    assert_eq!(server["tools"]["count"], 20);
    assert_eq!(server["seconds_allowed"], 60.0);
    assert!(server["seconds"].as_f64().unwrap() > 0.0);
}

#[test]
fn what_keeps_a_server_from_starting_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let plain_file = folder.path().join("no-program");
    std::fs::write(&plain_file, "#!/bin/sh\n").unwrap();
    let mut refused = faulty(&["exit=7"]);
    refused["env"] = json!({"TOKEN": SECRET});
    let mut hangs = faulty(&["start=60000"]);
    hangs["timeout"] = json!(0.5);
    let mut homeless = faulty(&[]);
    homeless["cwd"] = json!("/no/such/folder");
    let cases = [
        (
            json!({"command": "toolshelf-test-no-such-program"}),
            "command-not-found",
            "install it",
        ),
        (
            json!({"command": "toolshelf-test-no-such npx"}),
            "command-not-found",
            "'args'",
        ),
        (
            json!({"command": "/no/such/uvx"}),
            "command-not-found",
            "docs.astral.sh/uv",
        ),
        #[cfg(unix)]
        (json!({"command": plain_file}), "not-executable", "chmod +x"),
        (homeless, "entry", "'cwd'"),
        (refused, "exited", "'env'"),
        (hangs, "timed-out", "\"timeout\": 1"),
        (faulty(&["connect=error"]), "refused", "message"),
        (faulty(&["list=error"]), "refused", "message"),
        (faulty(&["list=null"]), "protocol", "standard input"),
        (
            json!({"command": "x", "env": {"TOKEN": "${TOOLSHELF_TEST_UNSET}"}}),
            "variable",
            "default",
        ),
        (json!({"command": "x", "timeout": "soon"}), "entry", "field"),
        (
            json!({"url": "https://example.com/mcp"}),
            "transport",
            "command",
        ),
        (
            json!({"command": "toolshelf", "args": ["serve"]}),
            "recursion",
            "remove this entry",
        ),
    ];
    for (entry, code, mend) in cases {
        let server = examined(entry.clone(), 1);
        assert_eq!(codes(&server["findings"]), [("error", code)], "{entry}");
        let found = &server["findings"][0];
        assert!(found["mend"].as_str().unwrap().contains(mend), "{found}");
        assert!(!server.to_string().contains(SECRET), "{server}");
        match code {
            "exited" => {
                assert_eq!(found["facts"]["exit"], "exit status: 7");
                let stderr = found["facts"]["stderr"].as_str().unwrap();
                assert!(
                    stderr.contains("the token [env.TOKEN] is not valid"),
                    "{stderr}"
                );
            }
            "variable" => {
                let text = found["text"].as_str().unwrap();
                assert!(text.contains("env.TOKEN"), "{text}");
                assert!(text.contains("TOOLSHELF_TEST_UNSET"), "{text}");
            }
            _ => {}
        }
    }
}

#[cfg(unix)]
#[test]
fn a_gateway_behind_itself_is_recognised_through_a_wrapper() {
    let config = TestConfig::new("");
    let script = format!(
        "exec '{}' serve --no-cache --config '{}'",
        env!("CARGO_BIN_EXE_toolshelf"),
        config.path()
    );
    let entry = json!({"command": "sh", "args": ["-c", script]});
    let text = json!({"mcpServers": {"wrapped": entry}}).to_string();
    std::fs::write(&config.path, text).unwrap();
    let report = doctor(&config, &["--json"]).ended(1).json();
    assert_eq!(
        codes(&report["servers"][0]["findings"]),
        [("error", "recursion")]
    );
}

#[test]
fn what_is_odd_about_tools_is_no_error() {
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("tools.json");
    let tools = json!([
        {"name": "broken", "description": "B", "inputSchema": {"properties": {"x": {"type": "strin"}}}},
        {"name": "remote", "description": "R", "inputSchema": {"$ref": "https://example.com/x.json"}},
    ]);
    std::fs::write(&list, tools.to_string()).unwrap();
    let list = format!("list=file:{}", list.display());
    let cases: [(&[&str], Codes<'_>); 8] = [
        (&["banner"], &[("warning", "noise")]),
        (&["list=empty"], &[("warning", "no-tools")]),
        (&["list=twins"], &[("warning", "duplicate")]),
        (&["list=many:3"], &[]),
        (
            &["list=wide:85000"],
            &[("warning", "large"), ("note", "no-description")],
        ),
        (
            &[&list],
            &[("warning", "schema"), ("warning", "remote-schema")],
        ),
        (
            &["list=malformed"],
            &[
                ("warning", "set-aside"),
                ("note", "odd-fields"),
                ("note", "no-description"),
            ],
        ),
        (
            &["list=hostile"],
            &[
                ("warning", "set-aside"),
                ("warning", "large"),
                ("note", "no-description"),
                ("note", "reserved-name"),
                ("note", "wire-name"),
            ],
        ),
    ];
    let mut off = faulty(&["exit=3"]);
    off["disabled"] = json!(true);
    let mut servers: serde_json::Map<String, Value> = cases
        .iter()
        .enumerate()
        .map(|(at, (words, _))| (format!("s{at}"), faulty(words)))
        .collect();
    servers.insert("z".to_owned(), off);
    let config = TestConfig::of(&Value::Object(servers));
    let report = doctor(&config, &["--json"]).ended(0).json();
    let servers = &report["servers"];
    for (at, (words, expected)) in cases.iter().enumerate() {
        let found = codes(&servers[at]["findings"]);
        assert_eq!(found, *expected, "{words:?}");
        assert_eq!(servers[at]["state"], "ready");
    }
    assert_eq!(codes(&servers[8]["findings"]), [("note", "disabled")]);

    let remote = finding(&servers[5]["findings"], "remote-schema");
    assert_eq!(remote["tools"][0]["about"], "https://example.com/x.json");
    assert_eq!(servers[6]["tools"]["set_aside"], 11);
    let aside = finding(&servers[6]["findings"], "set-aside");
    assert_eq!(aside["tools_total"], 11);
    assert_eq!(aside["tools"][0]["name"], "null_schema");
    let about = aside["tools"][0]["about"].as_str().unwrap();
    assert!(about.contains("null"), "{about}");
    let mend = aside["mend"].as_str().unwrap();
    assert!(mend.contains("`toolshelf tools --raw s6`"), "{mend}");
}

#[test]
fn a_start_that_needs_much_of_its_time_is_a_warning() {
    let mut slow = faulty(&["start=2300", "list=many:1"]);
    slow["timeout"] = json!(6);
    let server = examined(slow, 0);
    assert_eq!(
        codes(&server["findings"]),
        [("warning", "slow-start")],
        "{server}"
    );
}

#[test]
fn names_that_several_servers_have_are_told_with_their_owners() {
    let config = TestConfig::of(&json!({
        "one": faulty(&["list=named:search"]),
        "two": faulty(&["list=named:search"]),
        "three": faulty(&["list=named:other"]),
    }));
    let report = doctor(&config, &["--json"]).ended(0).json();
    assert_eq!(codes(&report["findings"]), [("note", "shared-name")]);
    assert_eq!(
        report["findings"][0]["tools"],
        json!([{"name": "search", "about": "one/search, two/search"}])
    );
    // Of one server alone there is nothing to say.
    let report = doctor(&config, &["--json", "one"]).ended(0).json();
    assert_eq!(codes(&report["findings"]), []);
    assert_eq!(report["summary"]["servers"], 1);
    doctor(&config, &["four"]).ended(2);
}

#[test]
fn configuration_and_cache_are_looked_at() {
    let mut entry = faulty(&["list=empty"]);
    entry["autoApprove"] = json!([]);
    let config = TestConfig::of(&json!({ "a": entry }));
    let cache = config.folder.path().join("cache");
    let report = doctor(&config, &["--json"]).ended(0).json();
    assert_eq!(report["version"], 1);
    assert_eq!(
        report["config"],
        json!({"path": config.path(), "because": "--config"})
    );
    assert_eq!(report["cache"]["because"], "TOOLSHELF_CACHE_DIR");
    assert_eq!(codes(&report["findings"]), [("warning", "configuration")]);
    assert!(
        report["findings"][0]["text"]
            .as_str()
            .unwrap()
            .contains("autoApprove")
    );
    // What it tries out is gone again.
    let left: Vec<_> = std::fs::read_dir(&cache).unwrap().flatten().collect();
    assert_eq!(left.len(), 2, "its key and the list that came: {left:?}");

    // In the way of the folder is a file.
    std::fs::remove_dir_all(&cache).unwrap();
    std::fs::write(&cache, "").unwrap();
    let report = doctor(&config, &["--json"]).ended(0).json();
    let found = codes(&report["findings"]);
    assert!(found.contains(&("warning", "cache")), "{found:?}");

    // Found without being named, beside another one.
    let beside = config.folder.path();
    std::fs::copy(&config.path, beside.join("toolshelf.json")).unwrap();
    std::fs::copy(&config.path, beside.join(".mcp.json")).unwrap();
    let output = toolshelf()
        .args(["doctor", "--json"])
        .current_dir(beside)
        .env("TOOLSHELF_CACHE_DIR", beside.join("other"))
        .env("XDG_CONFIG_HOME", beside)
        .output();
    let report = Ran::from(output.unwrap()).ended(0).json();
    let place = json!({"path": "toolshelf.json", "because": "the working directory"});
    assert_eq!(report["config"], place);
    let unused = finding(&report["findings"], "configuration-unused");
    assert!(
        unused["text"].as_str().unwrap().ends_with(": .mcp.json"),
        "{unused}"
    );
}

#[cfg(unix)]
#[test]
fn doors_that_stand_open_are_warned_of() {
    use std::os::unix::fs::PermissionsExt as _;
    let config = TestConfig::of(&json!({}));
    let cache = config.folder.path().join("cache");
    std::fs::create_dir(&cache).unwrap();
    for (path, mode) in [(&config.path, 0o666), (&cache, 0o755)] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }
    let report = doctor(&config, &["--json"]).ended(0).json();
    let expected = [
        ("warning", "configuration-writable"),
        ("warning", "cache-readable"),
    ];
    assert_eq!(codes(&report["findings"]), expected);
}

#[test]
fn no_more_than_four_servers_start_at_once() {
    let log = tempfile::NamedTempFile::new().unwrap();
    let note = format!("log={}", log.path().display());
    let servers: serde_json::Map<String, Value> = (0..9)
        .map(|n| (format!("s{n}"), faulty(&["start=200", &note])))
        .collect();
    let config = TestConfig::of(&Value::Object(servers));
    let report = doctor(&config, &["--json"]).ended(0).json();
    assert_eq!(report["summary"]["ready"], 9);
    let (mut starting, mut most) = (0_i32, 0_i32);
    for line in std::fs::read_to_string(log.path()).unwrap().lines() {
        match line.split(' ').next() {
            Some("pid") => starting += 1,
            Some("ready") => starting -= 1,
            _ => {}
        }
        most = most.max(starting);
    }
    assert!((2..=4).contains(&most), "{most} at once");
}

/// Every kind of finding once, as people read it.
#[cfg(unix)]
#[test]
fn the_report_for_people() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("bin")).unwrap();
    let program = folder.path().join("bin/faulty-server");
    std::os::unix::fs::symlink(faulty_server(), program).unwrap();
    let server = |words: &[&str]| json!({"command": "faulty-server", "args": words});
    let mut refused = server(&["exit=7"]);
    refused["env"] = json!({"TOKEN": SECRET});
    let mut off = server(&[]);
    off["disabled"] = json!(true);
    let config = json!({"mcpServers": {
        "banner": server(&["banner", "list=named:tool"]),
        "exits": refused,
        "gone": {"command": "npx", "args": ["-y", "some-server"]},
        "hostile": server(&["list=hostile"]),
        "malformed": server(&["list=malformed"]),
        "modern": server(&["modern", "list=named:tool"]),
        "off": off,
        "self": {"command": "toolshelf", "args": ["serve"]},
        "twins": server(&["list=twins"]),
        "unset": {"command": "x", "env": {"TOKEN": "${TOOLSHELF_TEST_UNSET}"}},
        "wide": server(&["list=wide:85000"]),
    }});
    std::fs::write(folder.path().join("mcp.json"), config.to_string()).unwrap();
    let output = toolshelf()
        .args(["doctor", "--config", "mcp.json"])
        .current_dir(folder.path())
        .env("PATH", "bin")
        .env("TOOLSHELF_CACHE_DIR", "cache")
        .output();
    let ran = Ran::from(output.unwrap()).ended(1);
    assert!(ran.err.is_empty(), "{}", ran.err);
    let widest = ran.out.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(100), "{widest:?}: {}", ran.out);
    let unsafe_characters: BTreeSet<char> = ran
        .out
        .chars()
        .filter(|c| (c.is_control() && *c != '\n') || matches!(c, '\u{200b}' | '\u{202e}'))
        .collect();
    assert_eq!(unsafe_characters, BTreeSet::new());
    assert!(!ran.out.contains(SECRET), "{}", ran.out);
    // All but the times.
    let lines = ran.out.lines().map(|line| match line.split_once("in ") {
        Some(("  started   ", _)) => "  started   in …".to_owned(),
        _ => line.to_owned(),
    });
    let report = lines.collect::<Vec<_>>().join("\n");
    insta::assert_snapshot!(report);
}

#[test]
fn an_entry_of_a_loader_that_there_is_not_is_faulty_and_nowhere_sound() {
    let server = examined(json!({"type": "script"}), 1);
    assert_eq!(server["state"], "faulty");
    assert_eq!(codes(&server["findings"]), [("error", "entry")]);
    let text = server["findings"][0]["text"].as_str().unwrap();
    assert!(text.contains("there is no loader 'script'"), "{text}");
    let config = TestConfig::of(&json!({"server": {"type": "script"}}));
    let people = doctor(&config, &[]).ended(1).out;
    assert!(!people.contains("sound"), "{people}");
}

#[test]
fn without_a_configuration_there_is_nothing_to_examine() {
    run(&["doctor", "--config", "no/such/file.json"]).ended(2);
    let samples = run(&["doctor", "--samples", "--json"]).ended(0).json();
    assert_eq!(samples["config"], Value::Null);
    assert_eq!(samples["summary"]["ready"], 3);
    assert!(Path::new(samples["servers"][0]["command"]["path"].as_str().unwrap()).is_file());
}

#[test]
fn a_list_that_is_another_one_than_what_was_kept_is_told_and_kept() {
    let config = TestConfig::new("");
    let list = config.folder.path().join("list.json");
    let file = format!("list=file:{}", list.display());
    let servers = json!({"mcpServers": {"server": faulty(&[&file])}});
    std::fs::write(&config.path, servers.to_string()).unwrap();
    let tool = |name: &str, about: &str| json!({"name": name, "description": about, "inputSchema": {"type": "object"}});
    let offers = |tools: Value| std::fs::write(&list, tools.to_string()).unwrap();
    let changed = || -> Option<Value> {
        let report = doctor(&config, &["--json"]).ended(0).json();
        let findings = report["servers"][0]["findings"].as_array().unwrap();
        let mut findings = findings.iter();
        findings.find(|one| one["code"] == "list-changed").cloned()
    };
    offers(json!([tool("buy", "Orders."), tool("sell", "Sells.")]));
    assert_eq!(changed(), None, "nothing was kept before");
    assert_eq!(changed(), None, "the same as was kept");
    offers(json!([tool("buy", "Orders much."), tool("rent", "Rents.")]));
    let told = changed().unwrap();
    assert_eq!(told["severity"], "note");
    assert_eq!(
        told["text"],
        "the list that was kept of it was another one: 1 new, 1 gone, 1 with another definition"
    );
    assert_eq!(told["tools"].as_array().unwrap().len(), 3, "{told}");
    assert_eq!(changed(), None, "the present list is kept");
}

#[test]
fn a_list_of_very_many_tools_is_a_warning_and_not_a_long_report() {
    let config = TestConfig::of(&json!({"server": faulty(&["list=many:1001"])}));
    let report = doctor(&config, &["--json"]).ended(0).json();
    let large = finding(&report["servers"][0]["findings"], "very-large-list");
    assert_eq!(large["severity"], "warning");
    let text = large["text"].as_str().unwrap();
    assert!(text.contains("very large: 1,001 tools, "), "{text}");
    let people = doctor(&config, &[]).ended(0).out;
    assert!(people.lines().count() < 40, "{people}");
    let fewer = examined(faulty(&["list=many:1000"]), 0);
    let fewer = codes(&fewer["findings"]);
    assert!(
        !fewer.contains(&("warning", "very-large-list")),
        "{fewer:?}"
    );
}
