//! Commands: help texts, exit codes, what is printed where.

use serde_json::json;

use crate::helpers::{TestConfig, faulty, run, run_with_input, sample_entry, toolshelf};

const COMMANDS: &[&str] = &[
    "serve",
    "tools",
    "catalog",
    "call",
    "search",
    "eval-search",
    "plugins",
    "tour",
    "refresh",
    "doctor",
    "completions",
    "sample-server",
];

#[test]
fn every_command_has_a_help_with_examples() {
    let main = run(&["--help"]).ended(0);
    assert!(main.out.contains("Exit codes:"), "{}", main.out);
    for command in COMMANDS {
        assert!(main.out.contains(command), "{command} in {}", main.out);
        let help = run(&[command, "--help"]).ended(0);
        assert!(help.out.contains("Examples:"), "{}", help.out);
        assert!(help.err.is_empty(), "{}", help.err);
    }
    run(&["--version"]).ended(0);
}

#[test]
fn usage_errors_are_2_and_help() {
    let none = run(&[]).ended(2);
    assert!(none.err.contains("Usage:"), "{}", none.err);
    let near = run(&["tool"]).ended(2);
    assert!(near.err.contains("'tools'"), "{}", near.err);
    run(&["serve", "--wait", "soon"]).ended(2);
    run(&["serve", "--samples", "--config", "x"]).ended(2);
    run(&["tools", "--log-level", "loud"]).ended(2);
}

#[test]
fn a_wrong_configuration_is_2_and_names_the_file() {
    for (text, says) in [
        ("{", "JSON"),
        ("[]", "mcpServers"),
        ("{}", "mcpServers"),
        (r#"{"mcpServers": []}"#, "mcpServers"),
    ] {
        let config = TestConfig::new(text);
        for command in ["serve", "tools", "catalog"] {
            let ran = run(&[command, "--config", config.path()]).ended(2);
            assert!(ran.err.contains(says), "{text}: {}", ran.err);
            assert!(ran.err.contains("mcp.json"), "{}", ran.err);
            assert!(ran.out.is_empty(), "{}", ran.out);
        }
    }
    let missing = run(&["tools", "--config", "no/such/file.json"]).ended(2);
    assert!(missing.err.contains("file.json"), "{}", missing.err);
}

#[test]
fn without_a_configuration_it_says_where_it_looked() {
    let folder = tempfile::tempdir().unwrap();
    let output = toolshelf()
        .arg("tools")
        .current_dir(folder.path())
        .env("HOME", folder.path())
        .env("XDG_CONFIG_HOME", folder.path())
        .output()
        .unwrap();
    let ran = crate::helpers::Ran::from(output).ended(2);
    assert!(ran.err.contains("TOOLSHELF_CONFIG"), "{}", ran.err);
    assert!(ran.err.contains("--samples"), "{}", ran.err);
}

#[test]
fn a_configuration_is_found_here_and_by_the_environment() {
    let text = json!({"mcpServers": {"tracker": sample_entry("issues")}}).to_string();
    let config = TestConfig::new(&text);
    let beside = config.folder.path().join(".mcp.json");
    std::fs::copy(&config.path, beside).unwrap();
    let output = toolshelf()
        .args(["tools", "--json"])
        .current_dir(config.folder.path())
        .output()
        .unwrap();
    let here = crate::helpers::Ran::from(output).ended(0).json();
    assert_eq!(here["servers"][0]["id"], "tracker");
    let output = toolshelf()
        .args(["tools", "--json"])
        .env("TOOLSHELF_CONFIG", &config.path)
        .output()
        .unwrap();
    let named = crate::helpers::Ran::from(output).ended(0).json();
    assert_eq!(named["totals"]["tools"], 20);
}

#[test]
fn a_fault_disables_one_server_only() {
    let mut unset = sample_entry("calendar");
    unset["env"] = json!({"TOKEN": "${TOOLSHELF_TEST_NOT_SET}"});
    let mut off = sample_entry("warehouse");
    off["disabled"] = json!(true);
    let servers = json!({
        "good": sample_entry("issues"),
        "unset": unset,
        "off": off,
        "gone": {"command": "toolshelf-test-no-such-program"},
    });
    let config = TestConfig::new(&json!({"mcpServers": servers}).to_string());
    let ran = run(&["tools", "--json", "--config", config.path()]).ended(1);
    let document = ran.json();
    let states: Vec<(&str, &str)> = document["servers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|server| {
            (
                server["id"].as_str().unwrap(),
                server["state"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        states,
        [
            ("gone", "failed"),
            ("good", "ready"),
            ("off", "disabled"),
            ("unset", "failed")
        ]
    );
    let reason = document["servers"][3]["error"]["message"].as_str().unwrap();
    assert!(reason.contains("TOOLSHELF_TEST_NOT_SET"), "{reason}");
    assert!(reason.contains("env.TOKEN"), "{reason}");

    let table = run(&["tools", "--config", config.path()]).ended(1);
    for text in [
        "transition_issue",
        "TOOLSHELF_TEST_NOT_SET",
        "disabled",
        "toolshelf-test-no-such-program",
    ] {
        assert!(table.out.contains(text), "{text} in {}", table.out);
    }
    assert!(!table.out.contains('\x1b'), "colour in a pipe");

    // The tools of the others can be called.
    let call = run(&["call", "--config", config.path(), "good/list_projects"]).ended(0);
    assert!(call.out.contains("WEB"), "{}", call.out);
    let call = run(&["call", "--config", config.path(), "unset/list_rooms"]).ended(2);
    assert!(call.err.contains("TOOLSHELF_TEST_NOT_SET"), "{}", call.err);
    let call = run(&["call", "--config", config.path(), "gone/x"]).ended(1);
    assert!(
        call.err.contains("toolshelf-test-no-such-program"),
        "{}",
        call.err
    );
}

#[test]
fn tools_of_some_servers() {
    let some = run(&["tools", "--samples", "--json", "issues"])
        .ended(0)
        .json();
    assert_eq!(some["totals"]["servers"], 1);
    let tool = &some["servers"][0]["tools"][0];
    assert_eq!(tool["id"], "issues/search");
    assert_eq!(tool["wire_name"], "issues__search");
    assert_eq!(tool["digest"].as_str().unwrap().len(), 64);
    assert!(tool["bytes"].as_u64().unwrap() > tool["tokens"].as_u64().unwrap());
    let none = run(&["tools", "--samples", "isues"]).ended(2);
    assert!(none.err.contains("issues"), "{}", none.err);
}

#[test]
fn the_raw_list_is_what_the_server_wrote() {
    let folder = tempfile::tempdir().unwrap();
    let tools = [
        r#"{"name":"z","x":1.50,"x":2,"inputSchema":{}}"#,
        r#"{"name":"\u0061","inputSchema":null}"#,
        r#"{"name":"a\u001b\u202e"}"#,
        "null",
        r#""a tool""#,
    ];
    let list = folder.path().join("tools.json");
    std::fs::write(&list, format!("[{}]", tools.join(","))).unwrap();
    let mut off = faulty(&[]);
    off["disabled"] = json!(true);
    let config = TestConfig::of(&json!({
        "odd": faulty(&[&format!("list=file:{}", list.display())]),
        "paged": faulty(&["pages=3"]),
        "endless": faulty(&["pages=circle"]),
        "exits": faulty(&["exit=3"]),
        "off": off,
        "wrong": {"command": 7},
    }));
    let raw = |server: &str| run(&["tools", "--config", config.path(), "--raw", server]);
    let odd = raw("odd").ended(0);
    assert_eq!(
        odd.out,
        format!("{{\"tools\":[\n{}\n]}}\n", tools.join(",\n"))
    );
    assert!(odd.err.is_empty(), "{}", odd.err);
    let paged = raw("paged").ended(0).json();
    assert_eq!(paged["tools"].as_array().unwrap().len(), 3);

    for (server, code, says) in [
        ("endless", 1, "came twice"),
        ("exits", 1, "exit status: 3"),
        ("off", 2, "disabled"),
        ("wrong", 2, "'command' is not a string"),
        ("od", 2, "did you mean odd"),
    ] {
        let ran = raw(server).ended(code);
        assert!(ran.err.contains(says), "{}", ran.err);
        assert!(ran.out.is_empty(), "{}", ran.out);
    }
    for other in ["--json", "odd"] {
        let both = ["tools", "--config", config.path(), "--raw", "odd", other];
        run(&both).ended(2);
    }
}

#[test]
fn a_log_of_json_is_nothing_but_json() {
    let mut quoting = faulty(&["exit=3"]);
    quoting["env"] = json!({"TOKEN": "s3cret"});
    let mut odd = faulty(&["banner"]);
    odd["unknown"] = json!(1);
    let config = TestConfig::of(
        &json!({"quoting": quoting, "odd": odd, "hostile": faulty(&["list=hostile"])}),
    );
    let steps = r#"{"count": 3, "every_ms": 1}"#;
    let runs: &[(&[&str], i32)] = &[
        (&["tools", "-vvv"], 1),
        (&["tools", "--raw", "quoting"], 1),
        (&["tools", "nobody"], 2),
        (&["call", "odd/steps", steps], 0),
        (&["call", "odd/echo"], 2),
        (&["catalog"], 1),
        (&["doctor", "-v"], 1),
        (&["nonsense"], 2),
    ];
    for (arguments, code) in runs {
        let mut arguments = arguments.to_vec();
        arguments.push("--log-json");
        if !arguments.contains(&"nonsense") {
            arguments.extend(["--config", config.path()]);
        }
        let ran = run(&arguments).ended(*code);
        let mut last = json!(null);
        for line in ran.err.lines() {
            last = serde_json::from_str(line).unwrap_or_else(|_| panic!("{arguments:?}: {line}"));
            for field in ["timestamp", "level", "target"] {
                assert!(last[field].is_string(), "{line}");
            }
            assert!(last["fields"]["message"].is_string(), "{line}");
        }
        // Who reads the log learns of the end; where the output says why, there is none.
        if *code == 2 {
            assert_eq!(last["fields"]["exit_code"], 2, "{arguments:?}: {}", ran.err);
            assert_eq!(last["level"], "ERROR");
            let message = last["fields"]["message"].as_str().unwrap();
            assert!(!message.starts_with("error:"), "{message}");
        }
        for text in [&ran.out, &ran.err] {
            assert!(!text.contains("s3cret"), "{arguments:?}: {text}");
        }
    }
}

#[test]
fn exit_codes_are_those_of_the_help() {
    let config = TestConfig::of(&json!({
        "fine": faulty(&["list=empty"]),
        "dead": faulty(&["exit=9"]),
        "wrong": {"command": 7},
    }));
    let cache = config.folder.path().join("cache");
    let code = |arguments: &[&str]| {
        let output = toolshelf()
            .args(arguments)
            .args(["--config", config.path()])
            .env("TOOLSHELF_CACHE_DIR", &cache)
            .output();
        crate::helpers::Ran::from(output.unwrap()).code
    };
    for command in ["tools", "refresh", "doctor"] {
        for (server, expected) in [("fine", 0), ("dead", 1), ("wrong", 1), ("nobody", 2)] {
            assert_eq!(code(&[command, server]), expected, "{command} {server}");
        }
    }
    for (server, expected) in [("fine", 0), ("dead", 1), ("wrong", 2), ("nobody", 2)] {
        assert_eq!(
            code(&["tools", "--raw", server]),
            expected,
            "--raw {server}"
        );
    }
    for (tool, expected) in [
        ("fine/x", 2),
        ("dead/x", 1),
        ("wrong/x", 2),
        ("nobody/x", 2),
    ] {
        assert_eq!(code(&["call", tool]), expected, "call {tool}");
    }
    assert_eq!(code(&["catalog"]), 1);
    assert_eq!(code(&["catalog", "--strategy", "none"]), 2);
    assert_eq!(code(&["serve", "--strategy", "none"]), 2);
}

#[test]
fn completions_know_all_commands() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = run(&["completions", shell]).ended(0);
        for word in ["doctor", "raw", "log-json", "defer-above", "explain"]
            .iter()
            .chain(COMMANDS)
        {
            assert!(script.out.contains(word), "{word} in {shell}");
        }
    }
}

#[test]
fn the_catalog_is_what_a_model_reads() {
    let text = run(&["catalog", "--samples"]).ended(0);
    assert!(
        text.out.contains("- `issues` — Issue tracker"),
        "{}",
        text.out
    );
    assert!(text.err.contains("gateway/1"), "{}", text.err);
    let named = run(&["catalog", "--samples", "--catalog", "gateway/1"]).ended(0);
    assert_eq!(named.out, text.out);
    let document = run(&["catalog", "--samples", "--json"]).ended(0).json();
    assert_eq!(
        document["text"].as_str().unwrap().trim_end(),
        text.out.trim_end()
    );
    assert_eq!(document["bytes"], document["text"].as_str().unwrap().len());
    assert_eq!(document["tier"], "everything");

    for (strategy, format) in [("dispatch", "dispatch/1"), ("inject", "inject/1")] {
        let arguments = [
            "catalog",
            "--samples",
            "--json",
            "--placement",
            "prompt",
            "--strategy",
            strategy,
        ];
        let document = run(&arguments).ended(0).json();
        assert_eq!(document["format"], format);
        assert!(
            document["text"].as_str().unwrap().starts_with("# "),
            "{document}"
        );
    }
    let standard = run(&["catalog", "--samples", "--strategy", "standard"]).ended(0);
    assert!(standard.out.is_empty(), "{}", standard.out);
    assert!(standard.err.contains("60 tools"), "{}", standard.err);
    let unknown = run(&["catalog", "--samples", "--strategy", "dispach"]).ended(2);
    assert!(unknown.err.contains("'dispatch'"), "{}", unknown.err);
}

#[test]
fn calls_print_the_answer_and_nothing_else() {
    let arguments = [
        "call",
        "--samples",
        "warehouse/search",
        r#"{"query": "lamp"}"#,
    ];
    let ran = run(&arguments).ended(0);
    assert!(ran.out.starts_with("LMP-001"), "{}", ran.out);
    assert!(ran.err.is_empty(), "{}", ran.err);

    let piped = run_with_input(
        &["call", "--samples", "warehouse/search", "-"],
        r#"{"query": "lamp"}"#,
    );
    assert_eq!(piped.ended(0).out, ran.out);
    let file = TestConfig::new(r#"{"query": "lamp"}"#);
    let from_file = format!("@{}", file.path());
    assert_eq!(
        run(&["call", "--samples", "warehouse/search", &from_file])
            .ended(0)
            .out,
        ran.out
    );

    let json = run(&[
        "call",
        "--samples",
        "issues/burndown_chart",
        r#"{"project": "WEB"}"#,
        "--json",
    ]);
    let json = json.ended(0).json();
    assert_eq!(json["content"][1]["mimeType"], "image/png");
    assert_eq!(json["structuredContent"]["project"], "WEB");
    let text = run(&[
        "call",
        "--samples",
        "issues/burndown_chart",
        r#"{"project": "WEB"}"#,
    ])
    .ended(0);
    assert!(text.out.contains("[image, image/png,"), "{}", text.out);

    let progress = run(&["call", "--samples", "warehouse/stocktake"]).ended(0);
    assert_eq!(progress.err.lines().count(), 7, "{}", progress.err);
    assert!(progress.out.starts_with("Counted"), "{}", progress.out);
}

#[test]
fn calls_that_fail_say_whose_fault_it_is() {
    // The tool's: 1.
    let ran = run(&[
        "call",
        "--samples",
        "issues/get_issue",
        r#"{"key": "WEB-999"}"#,
    ])
    .ended(1);
    assert!(ran.out.contains("WEB-999"), "{}", ran.out);
    let json = run(&[
        "call",
        "--samples",
        "--json",
        "issues/get_issue",
        r#"{"key": "WEB-999"}"#,
    ]);
    assert_eq!(json.ended(1).json()["isError"], true);
    let slow = [
        "call",
        "--samples",
        "calendar/optimize_week",
        "--timeout",
        "0.3",
        r#"{"people": ["mara"], "rounds": 600}"#,
    ];
    run(&slow).ended(1);
    // The start of the server counts, whatever its entry says.
    let mut hangs = faulty(&["start=600000"]);
    hangs["timeout"] = json!(300);
    let config = TestConfig::of(&json!({"hangs": hangs}));
    let ran = run(&[
        "call",
        "-c",
        config.path(),
        "hangs/echo",
        "--timeout",
        "0.3",
    ])
    .ended(1);
    assert!(ran.err.contains("not ready within"), "{}", ran.err);

    // The caller's: 2, and nothing ran.
    let faults: &[(&[&str], &str)] = &[
        (&["issues/get_issue", "{"], "not JSON"),
        (&["issues/get_issue", "[]"], "object"),
        (&["issues/get_issue", "@no/such/file"], "no/such/file"),
        (&["issues/get_issue"], "key"),
        (&["issues/get_issue", r#"{"key": 1}"#], "expected"),
        (&["issues/get_isue", "{}"], "get_issue"),
        (&["isues/get_issue", "{}"], "issues"),
        (&["get_issue", "{}"], "GROUP/TOOL"),
    ];
    for (arguments, says) in faults {
        let arguments = [&["call", "--samples"], *arguments].concat();
        let ran = run(&arguments).ended(2);
        assert!(ran.err.contains(says), "{arguments:?}: {}", ran.err);
        assert!(ran.out.is_empty(), "{arguments:?}: {}", ran.out);
    }
}

#[test]
fn arguments_keep_their_order() {
    let arguments =
        r#"{"project":"WEB","title":"Order","environment":{"z":"1","version":"2","a":"3"}}"#;
    let ran = run(&[
        "call",
        "--samples",
        "issues/create_issue",
        arguments,
        "--json",
    ])
    .ended(0);
    assert!(
        ran.out.contains(r#"{"z":"1","version":"2","a":"3"}"#),
        "{}",
        ran.out
    );
}

#[test]
fn plugins_are_listed_with_their_options() {
    let table = run(&["plugins"]).ended(0);
    for name in [
        "dispatch",
        "inject",
        "standard",
        "gateway/1",
        "stdio",
        "toolshelf-mcp",
    ] {
        assert!(table.out.contains(name), "{name} in {}", table.out);
    }
    let document = run(&["plugins", "--json"]).ended(0).json();
    for plugin in document.as_array().unwrap() {
        assert!(plugin["options"].is_object(), "{plugin}");
        jsonschema::meta::validate(&plugin["options"]).unwrap();
    }
}

#[test]
fn colour_only_where_it_is_wanted() {
    assert!(!run(&["plugins"]).ended(0).out.contains('\x1b'));
    assert!(
        run(&["plugins", "--color", "always"])
            .ended(0)
            .out
            .contains('\x1b')
    );
    let plain = toolshelf()
        .args(["plugins", "--color", "never"])
        .output()
        .unwrap();
    assert!(!plain.stdout.contains(&0x1b));
}

#[test]
fn a_closed_pipe_is_no_failure() {
    for arguments in [
        &["tools", "--samples", "--json"][..],
        &["plugins", "--json"],
        &["--help"],
        &["tour"],
    ] {
        let mut child = toolshelf()
            .args(arguments)
            .stdin(std::process::Stdio::null())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {err}");
        assert!(!err.contains("panicked") && !err.contains("error"), "{err}");
    }
}

#[test]
fn a_list_that_was_asked_for_anyway_is_kept_for_the_next_start() {
    let config = TestConfig::of(&json!({"tracker": sample_entry("issues")}));
    let cache = config.folder.path().join("cache");
    let ran = |arguments: &[&str]| -> crate::helpers::Ran {
        let mut command = toolshelf();
        command.args(arguments).args(["--config", config.path()]);
        let output = command.env("TOOLSHELF_CACHE_DIR", &cache).output();
        crate::helpers::Ran::from(output.unwrap()).ended(0)
    };
    for command in ["tools", "doctor"] {
        ran(&[command]);
        let found = ran(&["search", "create an issue", "--json"]).json();
        assert_eq!(found["started"], json!([]), "{command}");
        std::fs::remove_dir_all(&cache).unwrap();
    }
    let cold = ran(&["search", "create an issue", "--json"]).json();
    assert_eq!(cold["started"], json!(["tracker"]));
}
