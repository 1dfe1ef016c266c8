//! `texts/1`: definitions, instructions, errors.

use std::fmt::Write as _;
use std::time::Duration;

use toolshelf_catalog::texts::{self, MAX_INSTRUCTIONS_CHARS};
use toolshelf_core::search::QueryForms;
use toolshelf_core::{Error, ErrorKind, GroupId, ToolDefinition, ToolKey, ToolName};

use crate::GOLDEN;
use crate::fixtures::definition;

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
    GOLDEN.check(name, &all);
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
        ("search", texts::search_tools_dispatch(QueryForms::ALL)),
        (
            "search, words alone",
            texts::search_tools_dispatch(QueryForms::default()),
        ),
        (
            "search, required words",
            texts::search_tools_dispatch(QueryForms {
                requires: true,
                ..QueryForms::default()
            }),
        ),
        (
            "search, selections",
            texts::search_tools_dispatch(QueryForms {
                selects: true,
                ..QueryForms::default()
            }),
        ),
        (
            "search, finds join the list",
            texts::search_tools_tst(texts::SEARCH_TOOLS, QueryForms::ALL),
        ),
        (
            "search, renamed",
            texts::search_tools_tst("find-tools", QueryForms::ALL),
        ),
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
    let search = texts::search_tools_dispatch(QueryForms::ALL).unwrap();
    assert_eq!(search.name(), texts::SEARCH_TOOLS);
    let renamed = texts::search_tools_tst("find-tools", QueryForms::ALL).unwrap();
    assert_eq!(renamed.name().as_str(), "find-tools");
    assert!(texts::search_tools_tst("find,tools", QueryForms::ALL).is_err());
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
    // Also with the search, in an MCP server.
    let load = bytes(texts::load_tools_gateway("").unwrap());
    let all = bytes(texts::search_tools_dispatch(QueryForms::ALL).unwrap()) + load + call;
    assert!(all <= 1_300, "{all} bytes");
}

#[test]
fn instructions() {
    let all = [
        (
            "dispatch",
            texts::instructions_dispatch(false, false).to_owned(),
        ),
        ("inject", texts::instructions_inject().to_owned()),
        (
            "dispatch with a search",
            texts::instructions_dispatch(true, false).to_owned(),
        ),
        (
            "dispatch with split calls",
            texts::instructions_dispatch(false, true).to_owned(),
        ),
        (
            "dispatch with a search and split calls",
            texts::instructions_dispatch(true, true).to_owned(),
        ),
        ("tst", texts::instructions_tst().to_owned()),
        ("standard", texts::instructions_standard().to_owned()),
        (
            "dispatch instead of inject",
            format!(
                "{}{}",
                texts::instructions_dispatch(false, false),
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
fn answers_of_search_tools() {
    let tools = [
        definition(
            r#"{"name":"create_issue","description":"Opens an issue.\nSecond line.","inputSchema":{"type":"object","properties":{"repo":{},"title":{},"body":{}},"required":["repo","title"]}}"#,
        ),
        definition(r#"{"name":"list_issues","inputSchema":{"type":"object"}}"#),
        definition(&format!(
            r#"{{"name":"long","description":"{}","inputSchema":{{"properties":{{{}}}}}}}"#,
            "Says more than fits. ".repeat(20),
            (0..30)
                .map(|at| format!(r#""an_argument_{at}":{{}}"#))
                .collect::<Vec<_>>()
                .join(",")
        )),
    ];
    let keys = ["create_issue", "list_issues", "long"].map(|name| key("mcp:github", name));
    let hits: Vec<_> = keys.iter().zip(&tools).collect();
    let room = texts::MAX_ANSWER_BYTES;
    let near = |names: &[&'static str]| names.to_vec();
    let many: Vec<String> = (0..12).map(|at| format!("g/tool_{at}")).collect();
    let groups: Vec<GroupId> = (0..12).map(|at| group(&format!("group-{at:02}"))).collect();
    let all_away: Vec<_> = groups.iter().map(|id| (id, "still starting")).collect();
    let broken = "failed: The server could not be started since its program is not there.";
    let all_failed: Vec<_> = groups.iter().map(|id| (id, broken)).collect();
    let none: [&str; 0] = [];
    check(
        "texts-1.searching",
        &[
            (
                "found_tools",
                texts::found_tools("open an issue", &hits, room),
            ),
            (
                "found_tools, one",
                texts::found_tools("list", &hits[1..2], room),
            ),
            (
                "found_tools, little room",
                texts::found_tools("issue", &hits, 180),
            ),
            (
                "found_tools, no room",
                texts::found_tools("issue", &hits, 0),
            ),
            (
                "found_tools, hostile query",
                texts::found_tools("`x`\n# y\n- z", &hits[1..2], room),
            ),
            (
                "selected_tools",
                texts::selected_tools("select:create_issue,list_issues", &hits[..2], room),
            ),
            (
                "selected_tools, no room for descriptions",
                texts::selected_tools("select:create_issue,list_issues,long", &hits, 480),
            ),
            (
                "selected_tools, no room for arguments",
                texts::selected_tools("select:create_issue,list_issues,long", &hits, 280),
            ),
            (
                "selected_tools, no room for names",
                texts::selected_tools("select:create_issue,list_issues,long", &hits, 150),
            ),
            (
                "missing_tools",
                texts::missing_tools(&[
                    (
                        "creat_issue",
                        near(&["mcp:github/create_issue", "jira/create_issue"]),
                    ),
                    ("nothing-like-it", near(&[])),
                ]),
            ),
            (
                "missing_tools, many",
                texts::missing_tools(
                    &many
                        .iter()
                        .map(|name| (name, near(&[])))
                        .collect::<Vec<_>>(),
                ),
            ),
            (
                "missing_tools, hostile",
                texts::missing_tools(&[("`\n# x", near(&[]))]),
            ),
            (
                "already_loaded",
                texts::already_loaded(&["github__create_issue", "read_file"]),
            ),
            ("already_loaded, many", texts::already_loaded(&many)),
            (
                "no_match",
                texts::no_match("bake a cake", &["oven/bake", "shop/cakes"], true),
            ),
            (
                "no_match, none near",
                texts::no_match("bake a cake", &none, true),
            ),
            (
                "no_match, not all was searched",
                texts::no_match("bake a cake", &none, false),
            ),
            (
                "not_searched",
                texts::not_searched(
                    &[
                        (&groups[0], "failed: The server 'x' did not answer in 30 s."),
                        (&groups[1], "its user has to sign in"),
                        (&groups[2], "still starting"),
                    ],
                    true,
                ),
            ),
            ("not_searched, many", texts::not_searched(&all_away, false)),
            (
                "not_searched, many failed",
                texts::not_searched(&all_failed, true),
            ),
            ("arguments_ignored", texts::arguments_ignored(&["limit"])),
            (
                "arguments_ignored, many and hostile",
                texts::arguments_ignored(&["a`\n# b", "group", "limit", "x", "y"]),
            ),
            ("search_streak", texts::search_streak(4)),
            ("no_index", texts::no_index()),
            (
                "query_missing",
                texts::query_missing(&none, QueryForms::ALL),
            ),
            (
                "query_missing, words alone",
                texts::query_missing(&none, QueryForms::default()),
            ),
            (
                "query_missing, others came",
                texts::query_missing(&["a`\n# b", "limit", "q", "x"], QueryForms::ALL),
            ),
            ("query_too_long", texts::query_too_long(2_345, 2_000)),
            ("max_results_impossible", texts::max_results_impossible("0")),
            (
                "max_results_impossible, hostile",
                texts::max_results_impossible("\"`x`\n# y\""),
            ),
            (
                "query_refused",
                texts::query_refused("The pattern has no end"),
            ),
        ],
    );
}

#[test]
fn lines_of_a_search_are_bounded_and_cut_no_name() {
    let long = "x".repeat(100_000);
    let name = |at: usize| format!("{at:03}{}", "n".repeat(125));
    let names: Vec<String> = (0..100)
        .map(|at| format!("{}/{}", name(at), name(at)))
        .collect();
    let groups: Vec<GroupId> = (0..100).map(|at| group(&name(at))).collect();
    let away: Vec<_> = groups.iter().map(|id| (id, long.as_str())).collect();
    let missing: Vec<_> = names.iter().map(|name| (name, names.clone())).collect();
    let lines = [
        (texts::missing_tools(&missing), 800),
        (texts::already_loaded(&names), 450),
        (texts::no_match(&long, &names, true), 600),
        (texts::not_searched(&away, true), 500),
        (texts::max_results_impossible(&long), 200),
        (texts::query_refused(&long), 650),
        (texts::arguments_ignored(&names), 220),
    ];
    for (line, most) in &lines {
        assert!(
            line.len() <= *most && !line.contains('\n'),
            "{} bytes: {line}",
            line.len()
        );
    }
    for (line, _) in &lines[1..3] {
        assert!(line.contains(&format!("`{}`", names[0])), "{line}");
    }
    // What an answer can consist of at once has room for what was found.
    let worst: usize = [&lines[0], &lines[1], &lines[3], &lines[6]]
        .iter()
        .map(|(line, _)| line.len())
        .sum();
    let worst = worst + texts::search_streak(1_000).len();
    assert!(worst + 150 <= texts::MAX_ANSWER_BYTES, "{worst}");
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

/// A pause before the next try is no advice where no try helps.
#[test]
fn what_cannot_pass_is_not_told_to_be_tried_again() {
    let wait = Duration::from_secs(1);
    for kind in [ErrorKind::InvalidConfig, ErrorKind::NotFound] {
        let error = Error::new(kind, "").retry_after(wait);
        let text = texts::load_failed(&group("g"), &error);
        assert!(!text.contains("tried again"), "{text}");
    }
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
