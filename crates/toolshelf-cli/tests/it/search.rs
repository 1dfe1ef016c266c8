//! `search` and `eval-search`: output, exit codes, files that are wrong; and how `serve`
//! chooses a strategy.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::helpers::{Ran, TestConfig, faulty, run, sample_entry, toolshelf};

const TOOLS: &str = r#"
{"server":"mail","name":"send_message","description":"Sends a message to a person."}
{"server":"mail","name":"list_folders","description":"Lists the folders of a mailbox.\nNot more."}
{"server":"chat","name":"send_message","description":"Writes into a channel."}

{"server":"git","name":"commit","description":"Records staged changes.","input_schema":{"type":"object","properties":{"message":{"type":"string"}}}}
{"server":"git","name":"checkout","description":"Switches to a branch.","id":"git-checkout"}
"#;

/// Five queries of two kinds, and one that nothing answers.
const QUERIES: &str = r#"
{"query":"switch branches","relevant":["git-checkout"],"kind":"task"}
{"query":"record staged changes","relevant":["git/commit"],"kind":"task"}
{"query":"lists folders of a mailbox","relevant":["mail/send_message"],"kind":"wrong"}
{"query":"send message","groups":[["mail/send_message","chat/send_message"]],"kind":"name"}
{"query":"list_folders","groups":[["mail/list_folders"],["git/commit"]],"kind":"name"}
{"query":"bake bread","relevant":[],"kind":"no-match"}
"#;

struct Files(tempfile::TempDir);

impl Files {
    fn new() -> Self {
        let files = Self(tempfile::tempdir().unwrap());
        files.write("tools.jsonl", TOOLS);
        files.write("queries.jsonl", QUERIES);
        files
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Runs the binary beside the files.
    fn run(&self, arguments: &[&str]) -> Ran {
        let mut command = toolshelf();
        command.args(arguments).current_dir(self.0.path());
        command.stdin(Stdio::null()).output().unwrap().into()
    }

    fn search(&self, arguments: &[&str]) -> Ran {
        self.run(&[&["search", "--tools", "tools.jsonl"], arguments].concat())
    }
}

const EVAL: [&str; 5] = [
    "eval-search",
    "--tools",
    "tools.jsonl",
    "--queries",
    "queries.jsonl",
];

#[test]
fn hits_are_ranked_lines() {
    let files = Files::new();
    let found = files.search(&["send message"]).ended(0);
    assert!(found.err.is_empty(), "{}", found.err);
    assert_eq!(
        found.out,
        " 1  chat/send_message  Writes into a channel.\n \
         2  mail/send_message  Sends a message to a person.\n \
         3  git/commit         Records staged changes.\n"
    );
    let one = files.search(&["send message", "--limit", "1"]).ended(0);
    assert_eq!(one.out.lines().count(), 1, "{}", one.out);
    let folders = files.search(&["list folders"]).ended(0);
    assert_eq!(
        folders.out,
        " 1  mail/list_folders  Lists the folders of a mailbox. Not more.\n"
    );
    let scoped = files.search(&["send message", "--group", "mail"]).ended(0);
    assert!(!scoped.out.contains("chat/"), "{}", scoped.out);
    // A file may call its tools otherwise.
    let named = files.search(&["switch branch"]).ended(0);
    assert!(named.out.starts_with(" 1  git-checkout"), "{}", named.out);
}

#[test]
fn scores_are_explained() {
    let files = Files::new();
    let found = files
        .search(&["record staged changes", "--explain"])
        .ended(0);
    assert!(found.out.contains("description: staged"), "{}", found.out);
    let found = files
        .search(&["record staged changes", "--explain", "--json"])
        .ended(0)
        .json();
    let hit = &found["hits"][0];
    assert_eq!(hit["id"], "git/commit");
    let parts = hit["parts"].as_array().unwrap();
    let sum: f64 = parts
        .iter()
        .map(|part| part["score"].as_f64().unwrap())
        .sum();
    let score = hit["score"].as_f64().unwrap();
    assert!((sum - score).abs() < 1e-3, "{sum} of {score}");
}

#[test]
fn json_says_what_was_searched() {
    let files = Files::new();
    let found = files
        .search(&["select:list_folders,comit", "--json"])
        .ended(0)
        .json();
    assert_eq!(
        found,
        json!({
            "query": "select:list_folders,comit",
            "index": "lexical/1",
            "tools": 5,
            "hits": [{
                "rank": 1,
                "id": "mail/list_folders",
                "group": "mail",
                "name": "list_folders",
                "description": "Lists the folders of a mailbox.\nNot more.",
                "score": 4.0,
                "why": "name",
            }],
            "missing": [{"name": "comit", "near": ["git/commit"]}],
            "not_looked_for": [],
            "near": [],
            "started": [],
            "failed": [],
            "disabled": [],
        })
    );
}

#[test]
fn nothing_found_is_1_and_names_the_nearest() {
    let files = Files::new();
    let none = files.search(&["bake bread"]).ended(1);
    assert_eq!(none.out, "No tool fits 'bake bread'.\n");
    assert!(none.err.is_empty(), "{}", none.err);
    let words = files.search(&["bake older bread"]).ended(1);
    assert_eq!(
        words.out,
        "No tool fits 'bake older bread'. The nearest names: mail/list_folders.\n"
    );
    let near = files.search(&["select:chekcout"]).ended(1);
    assert_eq!(
        near.out,
        "No tool is called 'chekcout'. The nearest names: git-checkout.\n"
    );
    let json = files.search(&["bake bread", "--json"]).ended(1).json();
    assert_eq!(json["hits"], json!([]));
    let long = "bread ".repeat(15_000);
    for text in [long.as_str(), &format!("select:{long}")] {
        assert!(files.search(&[text]).ended(1).out.len() < 500);
        assert!(files.search(&[text, "--json"]).ended(1).out.len() < 5_000);
    }
}

#[test]
fn files_may_begin_with_a_mark_and_come_by_standard_input() {
    let files = Files::new();
    files.write("tools.jsonl", &format!("\u{feff}{TOOLS}"));
    files.write(
        "queries.jsonl",
        &format!("\u{feff}{}", QUERIES.trim_start()),
    );
    files.search(&["send message"]).ended(0);
    files.run(&EVAL).ended(0);
    let piped = |arguments: &[&str], text: &str| -> Ran {
        let mut command = toolshelf();
        command.args(arguments).current_dir(files.0.path());
        crate::helpers::fed(command, text)
    };
    let found = piped(&["search", "select:comit,commit", "--tools", "-"], TOOLS).ended(0);
    assert!(found.out.starts_with(" 1  git/commit"), "{}", found.out);
    let eval = ["eval-search", "--tools", "tools.jsonl", "--queries", "-"];
    let found = piped(&eval, QUERIES).ended(0);
    assert!(found.out.contains("5 tools, 6 queries"), "{}", found.out);
    let wrong = piped(&eval, "\n{").ended(2);
    assert!(
        wrong.err.contains("standard input:2: not a JSON object"),
        "{}",
        wrong.err
    );
    let both = ["eval-search", "--tools", "-", "--queries", "-"];
    let both = piped(&both, TOOLS).ended(2);
    assert!(both.err.contains("one standard input"), "{}", both.err);
}

#[test]
fn what_is_odd_about_a_line_is_told_with_its_place() {
    let files = Files::new();
    files.write(
        "odd.jsonl",
        r#"{"name":"commit"}
           {"server":"git","name":"commit","description":"Records staged changes."}
           {"server":"git","name":"commit","description":"Records staged changes."}"#,
    );
    let found = files.run(&["search", "select:commit", "--tools", "odd.jsonl"]);
    let found = found.ended(0);
    for says in [
        "odd.jsonl:1: the tool has neither 'server' nor 'id', so its id is '/commit'",
        "odd.jsonl:3: the id 'git/commit' is that of odd.jsonl:2, too",
    ] {
        assert!(found.err.contains(says), "{}", found.err);
    }
    files.write(
        "queries.jsonl",
        r#"{"query":"commit","relevant":["git/commit","git/commit"]}
           {"query":"commit","relevant":["git/comit"]}
           {"query":"commit","relevant":[]}"#,
    );
    let report = files.run(&EVAL).ended(0);
    for says in [
        "queries.jsonl:1: 'relevant' names 'git/commit' twice; it counts once",
        "queries.jsonl:2: no tool has the id 'git/comit', which is left out",
        "queries.jsonl:2: the query is not counted",
        "queries.jsonl:3: the query is not counted",
    ] {
        assert!(report.err.contains(says), "{}", report.err);
    }
    assert!(
        report.out.contains("2 queries not counted\n"),
        "{}",
        report.out
    );
    // A fault that is in every line is told of some.
    let many = r#"{"query":"commit","relevant":[]}"#.to_owned() + "\n";
    let one = r#"{"query":"commit","relevant":["git/commit"]}"#;
    files.write("queries.jsonl", &(many.repeat(100) + one));
    let report = files.run(&EVAL).ended(0);
    assert_eq!(report.err.lines().count(), 11, "{}", report.err);
    assert!(
        report.err.contains("… and 90 more such remarks"),
        "{}",
        report.err
    );
}

#[test]
fn wrong_words_and_files_are_2_and_say_where() {
    let files = Files::new();
    files.write("text.jsonl", "\n{\"name\":\"a\"}\nno json\n");
    files.write("nameless.jsonl", r#"{"server":"mail"}"#);
    files.write("number.jsonl", r#"{"name":"a","description":7}"#);
    files.write("lost.jsonl", r#"{"query":"a"}"#);
    files.write("foreign.jsonl", r#"{"query":"a","relevant":["b/c"]}"#);
    files.write("empty.jsonl", "\n");
    files.write(
        "unreadable.jsonl",
        "\n{\"query\":\"/(/\",\"relevant\":[\"git/commit\"]}",
    );
    files.write(
        "total.jsonl",
        r#"{"query":"a","relevant":[],"kind":"overall"}"#,
    );
    let latin = files.0.path().join("latin.jsonl");
    std::fs::write(latin, b"{\"name\":\"a\"}\n{\"name\":\"\xfcber\"}").unwrap();
    let tools = |file| ["search", "a", "--tools", file];
    let queries = |file| ["eval-search", "--tools", "tools.jsonl", "--queries", file];
    for (arguments, says) in [
        (
            &tools("text.jsonl")[..],
            "text.jsonl:3: not a JSON object: expected ident (column 2)",
        ),
        (
            &tools("nameless.jsonl"),
            "nameless.jsonl:1: the field 'name' is missing",
        ),
        (
            &tools("number.jsonl"),
            "number.jsonl:1: the field 'description'",
        ),
        (&tools("no.jsonl"), "cannot read no.jsonl"),
        (&tools("latin.jsonl"), "latin.jsonl:2: not UTF-8"),
        (&tools("empty.jsonl"), "empty.jsonl holds no tool"),
        (&queries("empty.jsonl"), "empty.jsonl holds no query"),
        (
            &queries("unreadable.jsonl"),
            "unreadable.jsonl:2: the query '/(/' cannot be searched",
        ),
        (
            &queries("total.jsonl"),
            "total.jsonl:1: the field 'kind' cannot be 'overall'",
        ),
        (
            &queries("lost.jsonl"),
            "lost.jsonl:1: the field 'relevant' is missing",
        ),
        (
            &queries("foreign.jsonl"),
            "no query of foreign.jsonl is about a tool of tools.jsonl",
        ),
        (&queries("no.jsonl"), "cannot read no.jsonl"),
        (&["search", "", "--tools", "tools.jsonl"], "no word"),
        (&["search", "/[/", "--tools", "tools.jsonl"], "pattern"),
        (
            &["search", "a", "--tools", "tools.jsonl", "--group", "mial"],
            "did you mean mail?",
        ),
        (
            &["search", "a", "--tools", "tools.jsonl", "--limit", "0"],
            "--limit",
        ),
        (
            &["search", "a", "--tools", "tools.jsonl", "--samples"],
            "cannot be used with",
        ),
        (
            &[
                "search",
                "a",
                "--tools",
                "tools.jsonl",
                "--index",
                "lexicla/1",
            ],
            "'lexical/1'",
        ),
        (
            &["search", "a", "--samples", "--group", "isues"],
            "did you mean issues?",
        ),
        (&["search"], "QUERY"),
        (&["eval-search", "--tools", "tools.jsonl"], "--queries"),
    ] {
        let ran = files.run(arguments).ended(2);
        assert!(ran.err.contains(says), "{arguments:?}: {}", ran.err);
        assert!(ran.out.is_empty(), "{}", ran.out);
    }
}

#[test]
fn servers_are_searched_by_what_is_kept_of_them() {
    let config = TestConfig::of(&json!({
        "tracker": sample_entry("issues"),
        "dead": faulty(&["exit=3"]),
        "nowhere": {"command": "no-such-program", "env": {"PATH": "/nowhere:".repeat(200)}},
    }));
    let search = |query: &str| -> Ran {
        let mut command = toolshelf();
        command.args(["search", query, "--config", config.path(), "--json"]);
        command.env("TOOLSHELF_CACHE_DIR", config.folder.path().join("cache"));
        command.output().unwrap().into()
    };
    let cold = search("create an issue").ended(0);
    assert_eq!(cold.json()["hits"][0]["id"], "tracker/create_issue");
    assert_eq!(cold.json()["started"], json!(["tracker"]));
    assert_eq!(cold.json()["failed"][0]["server"], "dead");
    assert!(cold.err.contains("not known yet: tracker."), "{}", cold.err);
    assert_eq!(cold.err.matches("Not searched: dead: ").count(), 1);
    assert_eq!(cold.err.lines().count(), 3, "said once: {}", cold.err);
    assert!(cold.err.contains("Not searched: nowhere: "), "{}", cold.err);
    assert!(cold.err.len() < 1_000, "{}", cold.err);
    let warm = search("create an issue").ended(0);
    assert_eq!(warm.json()["hits"], cold.json()["hits"]);
    assert_eq!(warm.json()["started"], json!([]));
    assert!(!warm.err.contains("tracker"), "{}", warm.err);

    let sample = run(&["search", "--samples", "track a shipment"]).ended(0);
    assert!(
        sample.out.starts_with(" 1  warehouse/track_shipment"),
        "{}",
        sample.out
    );
    assert!(sample.err.is_empty(), "{}", sample.err);
}

#[test]
fn the_index_is_that_of_the_configuration_where_the_command_line_names_none() {
    let servers = json!({"tracker": sample_entry("issues")});
    let config = json!({"mcpServers": servers, "index": "lexical/0"});
    let config = TestConfig::new(&config.to_string());
    let search = |more: &[&str]| -> Ran {
        let mut command = toolshelf();
        command.args(["search", "create an issue", "--config", config.path()]);
        command.args(more);
        command.env("TOOLSHELF_CACHE_DIR", config.folder.path().join("cache"));
        command.output().unwrap().into()
    };
    let refused = search(&[]).ended(2);
    let said = "there is no search index 'lexical/0' (did you mean 'lexical/1'?)";
    assert!(refused.err.contains(said), "{}", refused.err);
    let found = search(&["--index", "lexical/1"]).ended(0).out;
    assert!(found.contains("tracker/create_issue"), "{found}");
}

#[test]
fn what_could_not_be_searched_is_told_and_not_called_missing() {
    let mut off = sample_entry("issues");
    off["disabled"] = json!(true);
    let config = TestConfig::of(&json!({
        "off": off,
        "dead": faulty(&["exit=3"]),
        "on": sample_entry("issues"),
    }));
    let search = |arguments: &[&str]| -> Ran {
        let mut command = toolshelf();
        command
            .args(["search", "--config", config.path()])
            .args(arguments);
        command.env("TOOLSHELF_CACHE_DIR", config.folder.path().join("cache"));
        command.output().unwrap().into()
    };
    let named = search(&["select:off/create_issue,dead/foo,nobody/foo"]).ended(1);
    assert_eq!(
        named.out,
        "No tool is called 'nobody/foo'.\n\
         'off/create_issue' was not looked for: 'off' was not searched.\n\
         'dead/foo' was not looked for: 'dead' was not searched.\n"
    );
    let off = "Not searched: off: it is disabled";
    assert!(named.err.contains(off), "{}", named.err);
    assert!(named.err.contains("Not searched: dead: "), "{}", named.err);
    let json = search(&["select:off/create_issue", "--json"])
        .ended(1)
        .json();
    assert_eq!(json["missing"], json!([]));
    assert_eq!(
        json["not_looked_for"],
        json!([{"name": "off/create_issue", "server": "off"}])
    );
    assert_eq!(json["disabled"], json!(["off"]));
    let words = search(&["bake bread"]).ended(1);
    assert!(words.err.contains(off), "{}", words.err);
    let one = search(&["select:on/create_issue,off/create_issue"]).ended(0);
    assert!(one.err.contains(off), "{}", one.err);
    // What was found needs no excuse.
    let found = search(&["create an issue"]).ended(0);
    assert!(!found.err.contains("off"), "{}", found.err);
    // Who asks for it by its name is refused, as everywhere.
    let asked = search(&["-g", "off", "issue"]).ended(2);
    assert!(
        asked.err.contains("the server 'off' is disabled"),
        "{}",
        asked.err
    );
}

#[test]
fn a_tool_is_selected_by_what_its_file_calls_it() {
    let files = Files::new();
    let by_id = files.search(&["select:git-checkout"]).ended(0);
    assert_eq!(by_id.out, " 1  git-checkout  Switches to a branch.\n");
    let both = files.search(&["select:git/checkout,git-checkout,commit"]);
    assert_eq!(both.ended(0).out.lines().count(), 2);
}

#[test]
fn tools_that_are_always_visible_are_found_and_told_as_such() {
    let mut entry = sample_entry("issues");
    entry["alwaysVisible"] = json!(["create_issue"]);
    let config = TestConfig::of(&json!({ "tracker": entry }));
    let search = |arguments: &[&str]| -> Ran {
        let mut command = toolshelf();
        command
            .args(["search", "--config", config.path()])
            .args(arguments);
        command.env("TOOLSHELF_CACHE_DIR", config.folder.path().join("cache"));
        command.output().unwrap().into()
    };
    for query in ["select:create_issue", "create an issue"] {
        let found = search(&[query]).ended(0);
        let first = found.out.lines().next().unwrap();
        assert!(
            first.contains("tracker/create_issue") && first.contains("(always visible) Creates"),
            "{first}"
        );
    }
    let found = search(&["select:create_issue,search", "--json"])
        .ended(0)
        .json();
    assert_eq!(found["hits"][0]["always_visible"], true);
    assert_eq!(found["hits"][1].get("always_visible"), None);
}

#[test]
fn figures_are_those_of_the_metric() {
    let files = Files::new();
    let report = files
        .run(&[&EVAL[..], &["--json"]].concat())
        .ended(0)
        .json();
    assert_eq!(report["index"], "lexical/1");
    assert_eq!(
        (&report["tools"], &report["queries"]),
        (&json!(5), &json!(6))
    );
    let overall = &report["overall"];
    assert_eq!(overall["queries"], 5);
    // Four are right; of one of these only half is found.
    for (metric, percent) in [
        ("hit@1", 80.0),
        ("MRR", 80.0),
        ("R@1", 70.0),
        ("R@3", 70.0),
        ("R@5", 70.0),
        ("R@10", 70.0),
        ("nDCG@5", 72.3),
        ("nDCG@10", 72.3),
    ] {
        assert_eq!(overall[metric], percent, "{metric} of {overall}");
    }
    assert_eq!(report["kinds"]["task"]["hit@1"], 100.0);
    assert_eq!(report["kinds"]["name"]["R@5"], 75.0);
    assert_eq!(report["kinds"]["wrong"]["MRR"], 0.0);
    assert_eq!(report["no-match"], json!({"queries": 1, "empty": 100.0}));
    for time in [
        &report["build_us"],
        &report["query_us"]["p50"],
        &report["query_us"]["p99"],
    ] {
        assert!(time.as_f64().unwrap() > 0.0, "{report}");
    }

    let table = files.run(&EVAL).ended(0).out;
    let head =
        "%                queries   hit@1     MRR     R@1     R@3     R@5    R@10  nDCG@5 nDCG@10";
    let overall =
        "overall                5    80.0    80.0    70.0    70.0    70.0    70.0    72.3    72.3";
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines[..2], [head, overall]);
    assert!(
        table.contains("lexical/1: 5 tools, 6 queries; built in "),
        "{table}"
    );
}

/// The log of `serve` for a host that goes at once.
fn served(arguments: &[&str], variables: &[(&str, &str)], config: &Path) -> Ran {
    let mut command = toolshelf();
    command.args(["serve", "-v", "--config"]).arg(config);
    command.args(arguments).envs(variables.iter().copied());
    command.env("TOOLSHELF_CACHE_DIR", config.with_file_name("cache"));
    command.stdin(Stdio::null()).output().unwrap().into()
}

#[test]
fn the_environment_chooses_where_the_command_line_does_not() {
    let config = TestConfig::of(&json!({"off": {"command": "false", "disabled": true}}));
    let log = |arguments: &[&str], variables: &[(&str, &str)]| {
        served(arguments, variables, &config.path).ended(0).err
    };
    for (value, strategy) in [
        ("true", "'tst'"),
        ("auto:25", "'tst-auto'"),
        ("auto:100", "'standard'"),
        ("off", "'standard'"),
    ] {
        let log = log(&[], &[("ENABLE_TOOL_SEARCH", value)]);
        assert!(
            log.contains(&format!("chooses the strategy {strategy}")),
            "{log}"
        );
    }
    let both = [
        ("ENABLE_TOOL_SEARCH", "off"),
        ("ENABLE_SEARCH_EXTRA_TOOLS", "auto:many"),
    ];
    let odd = log(&[], &both);
    assert!(odd.contains("WARN"), "{odd}");
    assert!(
        odd.contains("ENABLE_SEARCH_EXTRA_TOOLS: 'auto:many'"),
        "{odd}"
    );
    assert!(odd.contains("'tst-auto'"), "{odd}");
    for arguments in [&["--strategy", "dispatch"][..], &["--split-calls"]] {
        let log = log(arguments, &both);
        assert!(!log.contains("ENABLE_"), "{log}");
    }
    assert!(!log(&[], &[]).contains("chooses"));
    let empty = log(&[], &[("ENABLE_TOOL_SEARCH", "")]);
    assert!(!empty.contains("ENABLE_"), "{empty}");
}

#[test]
fn a_strategy_that_there_is_not_and_a_window_that_nobody_reads_are_told() {
    let config = TestConfig::of(&json!({"off": {"command": "false", "disabled": true}}));
    let serve = |arguments: &[&str]| served(arguments, &[], &config.path);
    let unknown = serve(&["--strategy", "atuo"]).ended(2).err;
    assert!(
        unknown.contains("there are: dispatch, inject, standard, tst, tst-auto, and 'auto'"),
        "{unknown}"
    );
    let warning = "--context-window changes nothing under the strategy";
    for (strategy, read) in [("dispatch", false), ("auto", false), ("tst-auto", true)] {
        let log = serve(&["--strategy", strategy, "--context-window", "9000"]);
        assert_eq!(log.ended(0).err.contains(warning), !read, "{strategy}");
    }
    let usual = serve(&["--context-window", "9000"]).ended(0).err;
    assert!(usual.contains("under the strategy 'dispatch'"), "{usual}");
    let none = serve(&["--strategy", "tst-auto", "--context-window", "0"]).ended(2);
    assert!(none.err.contains("--context-window"), "{}", none.err);
}

#[test]
fn auto_says_by_which_figures_it_decided() {
    let config = TestConfig::of(&json!({"tracker": sample_entry("issues")}));
    let auto = |arguments: &[&str]| -> String {
        let arguments = [&["--strategy", "auto"], arguments].concat();
        served(&arguments, &[], &config.path).ended(0).err
    };
    let cold = auto(&[]);
    assert!(
        cold.contains("the tools of 'tracker' are not known yet"),
        "{cold}"
    );
    let mut refresh = toolshelf();
    refresh.args(["refresh", "--config", config.path()]);
    refresh.env("TOOLSHELF_CACHE_DIR", config.path.with_file_name("cache"));
    Ran::from(refresh.output().unwrap()).ended(0);
    let small = auto(&[]);
    assert!(
        small.contains(" of 20,000 tokens known: every tool is passed"),
        "{small}"
    );
    let large = auto(&["--defer-above", "1000"]);
    assert!(
        large.contains("which reaches 1,000: tools are deferred"),
        "{large}"
    );

    let other = run(&["serve", "--samples", "--defer-above", "5"]).ended(2);
    assert!(other.err.contains("strategy auto"), "{}", other.err);
}

#[test]
fn plugins_show_the_index_and_the_codecs() {
    let plugins = run(&["plugins", "--json"]).ended(0).json();
    let has = |kind: &str, name: &str| {
        let plugins = plugins.as_array().unwrap();
        let is = |plugin: &&Value| plugin["kind"] == kind && plugin["name"] == name;
        plugins.iter().any(|plugin| is(&plugin))
    };
    assert!(has("search index", "lexical/1"));
    assert!(has("discovery codec", "found/1"));
    assert!(has("strategy", "tst-auto"));
}
