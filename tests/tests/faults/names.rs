//! Names that two servers share, that no provider takes, or that try to be others.

use serde_json::{Value, json};
use toolshelf_gateway::config::{Config, ProcessEnvironment};

use crate::host::{Host, Log, SECRET, Setup, faulty, holds, host, within};

/// A gateway that passes all tools through, when all servers have started.
async fn standard(servers: Value) -> Host {
    Setup::new(servers)
        .strategy("standard")
        .settled()
        .start()
        .await
}

/// The arguments of `echo`.
fn text(text: &str) -> Value {
    json!({ "text": text })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_two_servers_have_runs_on_neither() {
    within(async {
        let (first, second) = (Log::new(), Log::new());
        let servers = json!({"one": faulty(&first.word()), "two": faulty(&second.word())});
        let host = Setup::new(servers).settled().start().await;
        host.list().await;
        let said = host.refused("echo", text("x")).await;
        holds(&said, &["`one/echo`", "`two/echo`"]);
        assert_eq!(first.count("call") + second.count("call"), 0);
        // Its full name is one tool's, whatever else there is.
        assert_eq!(host.said("two/echo", text("x")).await, "x");
        assert_eq!((first.count("call"), second.count("call")), (0, 1));
        host.end().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_nobody_knows_executes_no_other() {
    within(async {
        let log = Log::new();
        let host = Setup::new(json!({"one": faulty(&log.word())})).settled();
        let host = host.start().await;
        host.list().await;
        for name in [
            "ecko",
            "one/ecko",
            "Echo",
            "two/echo",
            "one/",
            "/echo",
            "",
            "echo\u{200b}",
        ] {
            let said = host.refused(name, text("x")).await;
            assert!(
                said.contains("no tool") || said.contains("tool_name"),
                "{said}"
            );
        }
        holds(
            &host.refused("one/ecko", text("x")).await,
            &["nearest", "echo"],
        );
        assert_eq!(log.count("call"), 0);
        // Nor does a call that goes past the forwarder.
        let result = host.call("ecko", text("x")).await;
        assert!(result.is_error);
        assert_eq!(log.count("call"), 0);
        host.end().await;
    })
    .await;
}

/// Names of our own tools are ours, whatever a server calls its tools.
#[tokio::test(flavor = "multi_thread")]
async fn a_tool_called_like_one_of_ours_shadows_nothing() {
    within(async {
        let servers = || json!({"hostile": faulty("list=hostile")});
        for strategy in ["dispatch", "inject", "standard"] {
            let setup = Setup::new(servers())
                .strategy(strategy)
                .handshake()
                .settled();
            let host = setup.start().await;
            if strategy == "inject" {
                host.load("hostile").await;
            }
            let names = host.names().await;
            for own in ["load_tools", "deferred_tool_call"] {
                let times = names.iter().filter(|name| *name == own).count();
                let ours = match strategy {
                    "dispatch" => 1,
                    "inject" => usize::from(own == "load_tools"),
                    _ => 0,
                };
                assert_eq!(times, ours, "{strategy}: {own}");
            }
            if strategy != "standard" {
                // Ours answers.
                let answer = host.load("hostile").await;
                assert_eq!(answer["expanded"], true);
            }
            if strategy != "dispatch" {
                let result = host.call("hostile__load_tools", json!({"x": 1})).await;
                assert_eq!(result.joined_text(), r#"load_tools {"x":1}"#);
            }
            host.end().await;
        }
        // Through the forwarder, too: bare it is ours, qualified it is the server's.
        let host = host(servers()).await;
        let ours = host
            .forward("load_tools", json!({"group_id": "hostile"}))
            .await;
        holds(&ours.joined_text(), &[r#""expanded":true"#]);
        let theirs = host
            .said("hostile/load_tools", json!({"group_id": "x"}))
            .await;
        assert_eq!(theirs, r#"load_tools {"group_id":"x"}"#);
        let theirs = host.said("hostile/deferred_tool_call", json!({})).await;
        assert_eq!(theirs, "deferred_tool_call {}");
        host.end().await;
    })
    .await;
}

/// What a hostile server calls its tools, as far as those are names at all.
const USABLE: [&str; 11] = [
    "load_tools",
    "deferred_tool_call",
    "other/echo",
    "slash/ed",
    "dotted.name",
    "naïve",
    "<system>",
    "headings",
    "fences",
    "endless",
    "- ",
];

#[tokio::test(flavor = "multi_thread")]
async fn hostile_names_are_set_aside_and_the_others_stay_usable() {
    within(async {
        let host = host(json!({"hostile": faulty("list=hostile")})).await;
        let answer = host.load("hostile").await;
        let names = answer["tool_names"].as_array().unwrap();
        let names: Vec<&str> = names.iter().map(|name| name.as_str().unwrap()).collect();
        assert_eq!(names, USABLE[..10]);
        for name in names {
            // Each is reached by its full name, whatever is in it.
            let said = host.said(&format!("hostile/{name}"), json!({})).await;
            assert_eq!(said, format!("{name} {{}}"));
        }
        host.end().await;
    })
    .await;
}

/// The texts that we compose hold server text as one bounded line that is nothing else.
#[tokio::test(flavor = "multi_thread")]
async fn hostile_text_opens_no_line_of_ours() {
    within(async {
        let servers = json!({"hostile": faulty("list=hostile"), "other": faulty("")});
        let host = Setup::new(servers).settled().start().await;
        let catalog = host.catalog().await;
        let (_, groups) = catalog.split_once("\n\n").unwrap();
        for line in groups.lines() {
            let known = ["- `hostile`", "- `other`", "  ", "Not all names"];
            assert!(
                known.iter().any(|begin| line.starts_with(begin)),
                "{line:?}"
            );
        }
        assert!(!catalog.contains("`fake`"), "{catalog}");
        assert!(
            catalog.chars().all(|c| c == '\n' || !c.is_control()),
            "{catalog:?}"
        );
        assert!(!catalog.contains('\u{202e}'), "{catalog:?}");

        // A load is one line of JSON; what a description holds stays inside its string.
        let result = host
            .call("load_tools", json!({"group_id": "hostile"}))
            .await;
        let text = result.joined_text();
        assert_eq!(text.lines().count(), 1);
        let answer: Value = serde_json::from_str(&text).unwrap();
        let schemas = answer["schemas"].as_array().unwrap();
        let headings = schemas
            .iter()
            .find(|tool| tool["name"] == "headings")
            .unwrap();
        holds(
            headings["description"].as_str().unwrap(),
            &["# Deferred tool groups"],
        );
        // One that has no room is not cut; it can be had by its name.
        let named = json!({"group_id": "hostile", "tool_names": ["endless"]});
        let endless = host.load_some(named).await;
        let description = endless["schemas"][0]["description"].as_str().unwrap();
        assert_eq!(description.len(), 22 * 1_500);

        for name in [
            "\n- `fake`\n# Heading",
            "`; \u{1b}[2J",
            "\u{202e}x",
            &"x".repeat(100_000),
        ] {
            let said = host.refused(name, json!({})).await;
            assert_eq!(said.lines().count(), 1, "{said:?}");
            let said = host.load_refused(name).await;
            assert_eq!(said.lines().count(), 1, "{said:?}");
            assert!(!said.contains('\u{202e}'), "{said:?}");
        }
        host.end().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_pairs_that_read_the_same_have_two_names() {
    within(async {
        let (first, second) = (Log::new(), Log::new());
        let servers = json!({
            "acme_": faulty(&format!("list=named:status {}", first.word())),
            "acme": faulty(&format!("list=named:_status {}", second.word())),
        });
        let host = standard(servers).await;
        let names = host.names().await;
        assert_eq!(names.len(), 2);
        assert_ne!(names[0], names[1]);
        // Both in the order of their groups.
        assert_eq!(
            host.call(&names[0], json!({})).await.joined_text(),
            "_status {}"
        );
        assert_eq!((first.count("call"), second.count("call")), (0, 1));
        assert_eq!(
            host.call(&names[1], json!({})).await.joined_text(),
            "status {}"
        );
        assert_eq!((first.count("call"), second.count("call")), (1, 1));
        host.end().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn long_names_are_short_on_the_wire_and_reach_their_tools() {
    within(async {
        let (long, tool) = (
            "a-server-with-a-long-name-".repeat(4),
            "does_this_and_that_".repeat(6),
        );
        let mut servers = serde_json::Map::new();
        for n in 0..2 {
            let words = format!("list=named:{tool}{n}");
            servers.insert(format!("{long}{n}"), faulty(&words));
        }
        let host = standard(servers.into()).await;
        let names = host.names().await;
        assert_eq!(names.len(), 2);
        assert_ne!(names[0], names[1]);
        for (n, name) in names.iter().enumerate() {
            assert!(name.len() <= 48, "{name}");
            let result = host.call(name, json!({})).await;
            assert_eq!(result.joined_text(), format!("{tool}{n} {{}}"));
            let result = host.call(&format!("{long}{n}/{tool}{n}"), json!({})).await;
            assert_eq!(result.joined_text(), format!("{tool}{n} {{}}"));
        }
        host.end().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_server_renames_no_tool_of_the_first() {
    within(async {
        let alone = standard(json!({"one": faulty("")})).await;
        let before = alone.list_text().await;
        alone.end().await;
        let both = standard(json!({"one": faulty(""), "another": faulty(""), "two": faulty("")}));
        let both = both.await;
        let after = both.list_text().await;
        assert_eq!(after.len(), 3 * before.len());
        let of_one: Vec<&String> = after
            .iter()
            .filter(|tool| tool.contains("\"one__"))
            .collect();
        assert_eq!(of_one, before.iter().collect::<Vec<_>>(), "byte for byte");
        both.end().await;
    })
    .await;
}

/// The order is that of the configuration's keys and of each server's list, whichever
/// server was faster.
#[tokio::test(flavor = "multi_thread")]
async fn the_order_of_tools_does_not_depend_on_who_was_faster() {
    within(async {
        let mut lists = Vec::new();
        for (a, b) in [("start=300", ""), ("", "start=300")] {
            let host = standard(json!({"b": faulty(b), "a": faulty(a)})).await;
            lists.push(host.list_text().await);
            host.end().await;
        }
        assert_eq!(lists[0], lists[1]);
        assert!(lists[0][0].contains("\"a__echo\""), "{}", lists[0][0]);
    })
    .await;
}

#[test]
fn an_id_that_is_none_leaves_its_server_out_with_a_warning() {
    let long = "x".repeat(500);
    let ids = [
        "",
        " ",
        "a,b",
        "two\nlines",
        "back`tick",
        "\u{202e}x",
        "/a",
        "a/",
        &long,
    ];
    let mut servers = serde_json::Map::new();
    for id in ids {
        servers.insert(
            id.to_owned(),
            json!({"command": "x", "env": {"TOKEN": SECRET}}),
        );
    }
    servers.insert("good".to_owned(), json!({"command": "x"}));
    let text = json!({ "mcpServers": servers }).to_string();
    let config = Config::parse(&text, &ProcessEnvironment).unwrap();
    let enabled: Vec<&str> = config.enabled().map(|entry| entry.id.as_str()).collect();
    assert_eq!(enabled, ["good"]);
    assert_eq!(config.warnings.len(), ids.len());
    for warning in &config.warnings {
        holds(warning, &["left out"]);
        assert!(!warning.contains(SECRET), "{warning}");
        assert!(
            warning.len() < 512 && warning.lines().count() == 1,
            "{warning}"
        );
    }
}
