//! `texts/1`: definitions, instructions, errors.

use std::fmt::Write as _;
use std::time::Duration;

use toolshelf_catalog::texts::{self, MAX_INSTRUCTIONS_CHARS};
use toolshelf_core::{Error, ErrorKind, GroupId, ToolDefinition, ToolKey, ToolName};

use crate::fixtures::definition;
use crate::golden;

const CATALOG: &str = "- `g` — G: things (1 tool)\n  a";

fn group(id: &str) -> GroupId {
    GroupId::new(id).unwrap()
}

fn key(group_id: &str, tool: &str) -> ToolKey {
    ToolKey::new(group(group_id), ToolName::new(tool).unwrap())
}

/// Texts under headings, one golden file for a family.
#[track_caller]
fn check(name: &str, texts: &[(&str, String)]) {
    let mut all = String::new();
    for (heading, text) in texts {
        writeln!(all, "== {heading}\n{text}\n").unwrap();
    }
    golden::check(name, &all);
}

#[test]
fn definitions_of_own_tools() {
    let definitions = [
        ("dispatch", texts::load_tools_dispatch()),
        ("gateway", texts::load_tools_gateway(CATALOG)),
        ("gateway, nothing there", texts::load_tools_gateway("")),
        ("inject", texts::load_tools_inject()),
        (
            "inject in a gateway",
            texts::load_tools_inject_gateway(CATALOG),
        ),
        ("call", texts::deferred_tool_call()),
    ];
    let definitions = definitions
        .map(|(heading, definition)| (heading, definition.unwrap().descriptor().to_string()));
    check("texts-1.definitions", &definitions);
}

#[test]
fn the_forwarder_in_three() {
    let [read, write, destroy] = texts::split_calls().unwrap();
    let loads = [
        texts::load_tools_split().unwrap(),
        texts::load_tools_split_gateway(CATALOG).unwrap(),
    ];
    let [load, load_gateway] = loads.map(|tool| tool.descriptor().to_string());
    check(
        "texts-1.split",
        &[
            ("load", load),
            ("load in a gateway", load_gateway),
            ("read", read.descriptor().to_string()),
            ("write", write.descriptor().to_string()),
            ("destroy", destroy.descriptor().to_string()),
            ("instructions", texts::instructions_split().to_owned()),
            (
                "not read-only",
                texts::wrong_forwarder(&key("shop", "buy"), texts::DEFERRED_TOOL_WRITE),
            ),
            (
                "perhaps destructive",
                texts::wrong_forwarder(&key("shop", "close"), texts::DEFERRED_TOOL_DESTROY),
            ),
        ],
    );
    assert!(texts::instructions_split().chars().count() <= MAX_INSTRUCTIONS_CHARS);
    assert_eq!(read.annotations().read_only, Some(true));
    assert_eq!(write.annotations().read_only, Some(false));
    assert_eq!(write.annotations().destructive, Some(false));
    assert_eq!(destroy.annotations().destructive, Some(true));
}

#[test]
fn own_tools_are_called_what_they_are_called() {
    assert_eq!(
        texts::load_tools_dispatch().unwrap().name(),
        texts::LOAD_TOOLS
    );
    let call = texts::deferred_tool_call().unwrap();
    assert_eq!(call.name(), texts::DEFERRED_TOOL_CALL);
}

/// 350 tokens of o200k are about 1,400 bytes of such text; the tokens themselves are
/// counted where a tokenizer is linked.
#[test]
fn own_tools_cost_little() {
    let bytes = |definition: ToolDefinition| {
        definition.name().as_str().len()
            + definition.description().unwrap_or_default().len()
            + definition.input_schema().len()
    };
    let call = bytes(texts::deferred_tool_call().unwrap());
    for load in [
        texts::load_tools_dispatch(),
        texts::load_tools_gateway(""),
        texts::load_tools_inject(),
        texts::load_tools_inject_gateway(""),
    ] {
        let both = bytes(load.unwrap()) + call;
        assert!(both <= 1_300, "{both} bytes");
    }
}

#[test]
fn instructions() {
    let all = [
        ("dispatch", texts::instructions_dispatch().to_owned()),
        ("inject", texts::instructions_inject().to_owned()),
        ("standard", texts::instructions_standard().to_owned()),
        (
            "dispatch instead of inject",
            format!(
                "{}{}",
                texts::instructions_dispatch(),
                texts::INJECT_NOT_OFFERED
            ),
        ),
    ];
    for (name, text) in &all {
        assert!(text.chars().count() <= MAX_INSTRUCTIONS_CHARS, "{name}");
    }
    check("texts-1.instructions", &all);
}

#[test]
fn errors_of_load_tools() {
    let near = [
        "github",
        "gitlab",
        "gitea",
        "git",
        "github-staging",
        "sixth",
    ];
    let none: [&str; 0] = [];
    let g = group("mcp:github");
    let known = ["create_issue", "create_pr", "list_issues"];
    let many: Vec<String> = (0..9).map(|at| format!("unknown_{at}")).collect();
    let error = |kind| Error::new(kind, "secret detail");
    let said = |kind| error(kind).for_model_text("The server 'github' did not answer in 30 s.");
    check(
        "texts-1.loading",
        &[
            ("group_id_missing", texts::group_id_missing()),
            ("group_id_not_a_string", texts::group_id_not_a_string()),
            ("tool_names_not_a_list", texts::tool_names_not_a_list()),
            ("empty_tool_names", texts::empty_tool_names(&g)),
            (
                "unknown_group, near",
                texts::unknown_group("githb", &near, 42),
            ),
            (
                "unknown_group, one group",
                texts::unknown_group("githb", &near[..1], 1),
            ),
            (
                "unknown_group, none near",
                texts::unknown_group("weather", &none, 42),
            ),
            (
                "unknown_group, no groups",
                texts::unknown_group("weather", &none, 0),
            ),
            (
                "unknown_group, hostile",
                texts::unknown_group("`\n# x\n- `y` — z", &none, 2),
            ),
            (
                "tool_as_group, one",
                texts::tool_as_group("create_issue", std::slice::from_ref(&g)),
            ),
            (
                "tool_as_group, two",
                texts::tool_as_group("create_issue", &[g.clone(), group("linear")]),
            ),
            (
                "unknown_tools, near",
                texts::unknown_tools(&g, &["createIsue", "zzz"], &known),
            ),
            (
                "unknown_tools, one tool",
                texts::unknown_tools(&g, &["zzz"], &known[..1]),
            ),
            (
                "unknown_tools, many",
                texts::unknown_tools(&g, &many, &known),
            ),
            (
                "load_failed, no text",
                texts::load_failed(&g, &error(ErrorKind::Protocol)),
            ),
            (
                "load_failed, retryable",
                texts::load_failed(&g, &said(ErrorKind::TimedOut)),
            ),
            (
                "load_failed, backing off",
                texts::load_failed(
                    &g,
                    &said(ErrorKind::TimedOut).retry_after(Duration::from_millis(3_200)),
                ),
            ),
            (
                "load_failed, sign-in",
                texts::load_failed(
                    &g,
                    &error(ErrorKind::NeedsSignIn).for_model_text("The server wants a sign-in."),
                ),
            ),
        ],
    );
}

#[test]
fn errors_of_deferred_tool_call() {
    let near: Vec<String> = (0..9).map(|at| format!("g{at}/create_issue")).collect();
    let none: [&str; 0] = [];
    let keys: Vec<ToolKey> = (0..12)
        .rev()
        .map(|at| key(&format!("g{at:02}"), "create_issue"))
        .collect();
    let small = definition(
        r#"{"name":"a","inputSchema":{"type":"object","properties":{"p":{}},"required":["p"]}}"#,
    );
    let filler = "x".repeat(texts::MAX_SCHEMA_BYTES);
    let large = definition(&format!(
        r#"{{"name":"a","inputSchema":{{"type":"object","properties":{{"p":{{"title":"{filler}"}}}},"required":["p"]}}}}"#
    ));
    let fault = "`arguments` must be a JSON object, and was an array.";
    check(
        "texts-1.calling",
        &[
            (
                "unknown_tool, near",
                texts::unknown_tool("g/createIssue", &near[..2]),
            ),
            (
                "unknown_tool, many near",
                texts::unknown_tool("createIssue", &near),
            ),
            (
                "unknown_tool, none near",
                texts::unknown_tool("weather", &none),
            ),
            (
                "ambiguous_tool",
                texts::ambiguous_tool("create_issue", &keys[10..]),
            ),
            (
                "ambiguous_tool, many",
                texts::ambiguous_tool("create_issue", &keys),
            ),
            (
                "unreadable_arguments",
                texts::unreadable_arguments(&key("g", "a"), fault, &small),
            ),
            (
                "unreadable_arguments, large",
                texts::unreadable_arguments(&key("g", "a"), fault, &large),
            ),
        ],
    );
}

#[test]
fn errors_hold_no_detail_for_operators() {
    let error = Error::new(ErrorKind::Exited, "token=secret").context("command", "/usr/bin/x");
    let text = texts::load_failed(&group("g"), &error);
    assert!(
        !text.contains("secret") && !text.contains("/usr/bin"),
        "{text}"
    );
}

#[test]
fn errors_are_bounded() {
    let long = "x".repeat(100_000);
    let many = vec![long.as_str(); 1_000];
    let keys = vec![key("g", "t"); 1_000];
    let groups = vec![group("g"); 1_000];
    for text in [
        texts::unknown_group(&long, &many, 1_000),
        texts::unknown_tools(&group("g"), &many, &many),
        texts::unknown_tool(&long, &many),
        texts::ambiguous_tool(&long, &keys),
        texts::tool_as_group(&long, &groups),
    ] {
        assert!(text.len() <= 6_000, "{} bytes", text.len());
    }
}
