//! The binary has every command of `toolshelf`, with the plugins of this workspace in them.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

/// A folder with a configuration and a file of canned tools.
fn folder(extra: Value) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let tools = json!({"tools": [
        {"name": "forecast", "description": "The weather tomorrow.", "answer": "Rain."},
        {"name": "today", "description": "The weather today.", "answer": "Sunny."},
    ]});
    let file = folder.path().join("tools.json");
    std::fs::write(&file, tools.to_string()).unwrap();
    let mut config = json!({"mcpServers": {"weather": {"type": "canned", "file": file}}});
    for (key, value) in extra.as_object().unwrap() {
        config[key] = value.clone();
    }
    std::fs::write(folder.path().join("mcp.json"), config.to_string()).unwrap();
    folder
}

/// Runs a command. Its exit code, standard output and standard error.
fn run(folder: &Path, arguments: &[&str], input: &str) -> (i32, String, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_outside-my-toolshelf"))
        .args(arguments)
        .current_dir(folder)
        .env("TOOLSHELF_CONFIG", folder.join("mcp.json"))
        .env("TOOLSHELF_CACHE_DIR", folder.join("cache"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(input.as_bytes()).unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    (
        output.status.code().unwrap(),
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    )
}

fn well(folder: &Path, arguments: &[&str]) -> String {
    let (code, out, err) = run(folder, arguments, "");
    assert_eq!(code, 0, "{arguments:?}: {err}");
    out
}

/// Serves, and asks one after the other. The results by their order.
fn serve(folder: &Path, requests: &[(&str, Value)]) -> Vec<Value> {
    let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}});
    let mut lines = vec![
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
    ];
    for (id, (method, params)) in (1..).zip(requests) {
        lines.push(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
    }
    let input: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let (code, out, err) = run(folder, &["serve"], &input);
    assert_eq!(code, 0, "{err}");
    let answers = out
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut answers: Vec<Value> = answers.filter(|answer| answer["id"].is_u64()).collect();
    answers.sort_by_key(|answer| answer["id"].as_u64());
    assert_eq!(answers.len(), requests.len() + 1, "{out}\n{err}");
    answers
        .drain(1..)
        .map(|mut answer| answer["result"].take())
        .collect()
}

fn call(arguments: Value) -> (&'static str, Value) {
    (
        "tools/call",
        json!({"name": "menu", "arguments": arguments}),
    )
}

#[test]
fn its_plugins_stand_beside_ours_with_the_schemas_of_their_options() {
    let folder = folder(json!({}));
    let plugins: Value =
        serde_json::from_str(&well(folder.path(), &["plugins", "--json"])).unwrap();
    let find = |name: &str| {
        let mut all = plugins.as_array().unwrap().iter();
        all.find(|plugin| plugin["name"] == name).unwrap().clone()
    };
    for (kind, name, provider) in [
        ("strategy", "menu", "outside-menu"),
        ("catalog format", "table/1", "outside-table"),
        ("discovery codec", "json-list/1", "outside-json-list"),
        ("search index", "overlap/1", "outside-overlap"),
        ("loader", "canned", "outside-canned"),
        ("strategy", "dispatch", "toolshelf-strategies"),
    ] {
        let plugin = find(name);
        assert_eq!(
            (&plugin["kind"], &plugin["provider"]),
            (&json!(kind), &json!(provider))
        );
    }
    assert_eq!(
        find("overlap/1")["options"]["properties"]["percent"]["maximum"],
        100
    );
}

#[test]
fn every_command_works_with_them() {
    let folder = folder(json!({}));
    let here = folder.path();
    assert_eq!(well(here, &["call", "weather/today"]).trim(), "Sunny.");
    assert!(well(here, &["tools"]).contains("weather"));
    assert!(well(here, &["doctor"]).contains("weather"));
    let catalog = well(
        here,
        &["catalog", "--format", "table/1", "--placement", "prompt"],
    );
    assert!(
        catalog.contains("| `weather` |  | forecast, today |"),
        "{catalog}"
    );
    let found = well(
        here,
        &["search", "weather tomorrow", "--index", "overlap/1"],
    );
    assert!(found.contains("weather/forecast"), "{found}");
    assert!(well(here, &["completions", "bash"]).contains("toolshelf"));
}

#[test]
fn the_catalog_is_what_the_own_tools_of_a_strategy_say() {
    let folder = folder(json!({"strategy": "menu", "catalog": "table/1"}));
    let catalog = well(folder.path(), &["catalog"]);
    let list = serve(folder.path(), &[("tools/list", json!({}))]);
    let said = list[0]["tools"][0]["description"].as_str().unwrap();
    assert_eq!(catalog.trim_end(), said.trim_end());
    assert!(!said.is_empty());
}

#[test]
fn a_search_is_by_the_index_of_the_configuration() {
    let folder = folder(json!({"index": {"name": "overlap/1", "percent": 100}}));
    let found = well(folder.path(), &["search", "tomorrow", "--json"]);
    let found: Value = serde_json::from_str(&found).unwrap();
    assert_eq!(found["index"], "overlap/1");
}

#[test]
fn the_gateway_serves_the_strategy_that_the_configuration_names() {
    let folder = folder(json!({"strategy": {"name": "menu"}}));
    let answers = serve(
        folder.path(),
        &[
            ("tools/list", json!({})),
            call(json!({})),
            call(json!({"tool": "weather/today"})),
            call(json!({"tool": "weather/today", "input": {}})),
        ],
    );
    assert_eq!(answers[0]["tools"].as_array().unwrap().len(), 1);
    let text = |at: usize| answers[at]["content"][0]["text"].as_str().unwrap();
    assert_eq!(text(1), "Tools:\n- weather/forecast\n- weather/today");
    assert!(text(2).contains(r#"{"type":"object"}"#), "{}", text(2));
    assert_eq!(text(3), "Sunny.");
}

#[test]
fn wrong_options_are_refused_with_their_place() {
    for (extra, part) in [
        (
            json!({"strategy": {"name": "menu", "tool": 3}}),
            "tool: invalid type: integer, expected a string",
        ),
        (
            json!({"index": {"name": "overlap/1", "percent": 300}}),
            "percent: invalid value",
        ),
        (
            json!({"catalog": {"name": "table/1", "wide": true}}),
            "unknown field `wide`",
        ),
        (json!({"strategy": "menue"}), "did you mean 'menu'?"),
    ] {
        let folder = folder(extra);
        let (code, _, err) = run(folder.path(), &["serve"], "");
        assert_eq!(code, 2, "{err}");
        assert!(err.contains(part), "{err}");
    }
}
