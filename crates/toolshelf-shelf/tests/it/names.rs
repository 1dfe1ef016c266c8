//! Which tool a name means, and what is said when it means none or several.

use std::sync::Arc;

use serde_json::{Value, json};
use toolshelf_core::{
    Access, Exposure, GroupId, LoadContext, Loaded, LoadedTool, Placement, ToolGroup, ToolKey,
};
use toolshelf_shelf::{AnsweredBy, Session, SessionOptions, Shelf};
use toolshelf_strategies::{Dispatch, Inject};
use toolshelf_testkit::faulty::Faulty;

use crate::fixtures::{
    ANY, Log, answer, call, dispatch, echo, echoes, failing, forward, group, id, inject, load,
    offered, pick, prefix, returning, shelf, standard, surface,
};

/// Forwards by each name and compares who answered.
async fn runs(session: &Session, names: &[&str], expect: &str) {
    for name in names {
        let report = forward(session, name, json!({})).await;
        assert_eq!(report.text(), format!("{expect} {{}}"), "{name:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_tool_has_a_qualified_a_wire_and_a_bare_name() {
    let log = Log::default();
    let session = dispatch(&shelf([
        group(&log, "mcp:git", &["log", "show"]),
        group(&log, "files", &["read"]),
    ]));
    let wire = toolshelf_core::wire_name(&id("mcp:git"), &"log".parse().unwrap());
    runs(
        &session,
        &[
            "log",
            "mcp:git/log",
            &wire,
            "`log`",
            " log\n",
            "`mcp:git/log` ",
        ],
        "mcp:git/log",
    )
    .await;
    runs(&session, &["files__read"], "files/read").await;
}

/// A server that hangs does not hold an answer up for as long as its start may take.
#[tokio::test(start_paused = true)]
async fn an_unknown_name_does_not_wait_for_a_group_that_hangs() {
    let log = Log::default();
    let hangs = Faulty::hangs().group("slow");
    let shelf = shelf([group(&log, "files", &["read"]), hangs]);
    let begun = tokio::time::Instant::now();
    let starting = "not known yet, since they are still starting: `slow`.";
    let told = forward(&dispatch(&shelf), "nothing", json!({})).await;
    assert!(told.text().ends_with(starting), "{}", told.text());
    assert_eq!(begun.elapsed().as_secs(), 5);
    // The next one need not wait so long again.
    let told = forward(&dispatch(&shelf), "nothing", json!({})).await;
    assert!(told.text().ends_with(starting), "{}", told.text());
    let told = call(&standard(&shelf), "nothing", json!({})).await;
    assert!(told.text().ends_with(starting), "{}", told.text());
    assert_eq!(begun.elapsed().as_secs(), 5);
}

#[tokio::test(start_paused = true)]
async fn groups_and_tools_may_hold_slashes() {
    let log = Log::default();
    let session = dispatch(&shelf([
        group(&log, "a", &["b/c", "x/y", "t"]),
        group(&log, "a/b", &["c", "t"]),
        returning(&log, "a/b/later", &["t"]),
    ]));
    // The group is the longest id.
    runs(&session, &["a/b/c", "c"], "a/b/c").await;
    let report = forward(&session, "a/b/c", json!({})).await;
    assert_eq!(report.key.unwrap().group, id("a/b"));
    runs(&session, &["a/b/t"], "a/b/t").await;
    runs(&session, &["a/t"], "a/t").await;
    runs(&session, &["a/b/later/t"], "a/b/later/t").await;
    // A shorter id when only that has such a tool.
    runs(&session, &["a/x/y", "x/y"], "a/x/y").await;
}

#[tokio::test(start_paused = true)]
async fn a_bare_name_of_two_groups_runs_neither() {
    let log = Log::default();
    let shelf = shelf([
        group(&log, "github", &["create_issue", "search"]),
        group(&log, "linear", &["create_issue"]),
    ]);
    let expect = "`create_issue` exists in 2 groups. Use the full name: `github/create_issue`, \
                  `linear/create_issue`.";
    for session in [dispatch(&shelf), inject(&shelf), standard(&shelf)] {
        // Whichever of them is loaded.
        for loaded in [None, Some("linear"), Some("github")] {
            if let Some(group) = loaded {
                load(&session, group).await;
            }
            let report = match session.strategy().name() {
                "dispatch" => forward(&session, "create_issue", json!({})).await,
                _ => call(&session, "create_issue", json!({})).await,
            };
            assert_eq!((report.text().as_str(), report.is_error()), (expect, true));
        }
    }
    assert_eq!(log.count("execute linear/create_issue"), 0);
    assert_eq!(log.count("execute github/create_issue"), 0);
    runs(
        &dispatch(&shelf),
        &["linear/create_issue"],
        "linear/create_issue",
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_is_offered_is_what_its_name_means_to_a_native_call() {
    let log = Log::default();
    let shelf = shelf([
        ToolGroup::core(id("host"), vec![echo(&log, "host", "read", ANY)]),
        group(&log, "files", &["read"]),
    ]);
    for session in [dispatch(&shelf), inject(&shelf)] {
        let report = call(&session, "read", json!({})).await;
        assert_eq!(report.text(), "host/read {}");
        let report = call(&session, "files__read", json!({})).await;
        assert_eq!(report.text(), "files/read {}");
    }
    // To a forwarding call both are as good.
    let report = forward(&dispatch(&shelf), "read", json!({})).await;
    assert!(report.text().starts_with("`read` exists in 2 groups."));
}

#[tokio::test(start_paused = true)]
async fn of_two_tools_with_one_bare_name_that_is_offered_which_a_call_reaches() {
    let log = Log::default();
    let bare = |group_id| ToolGroup {
        bare_names: true,
        exposure: Exposure::Always,
        ..returning(&log, group_id, &["same"])
    };
    let shelf = shelf([bare("a"), bare("b")]);
    // `b` is there first.
    shelf.load(&id("b"), &Default::default()).await.unwrap();
    let session = inject(&shelf);
    assert_eq!(offered(&session).await, ["same", "load_tools"]);
    let slot = &surface(&session).await.tools[0];
    let report = call(&session, "same", json!({})).await;
    assert_eq!(report.key, slot.key);
    assert_eq!(report.text(), "b/same {}");
}

#[tokio::test(start_paused = true)]
async fn nobody_shadows_the_own_tools_of_a_strategy() {
    let log = Log::default();
    // Known at the beginning: refused.
    let early = shelf([ToolGroup::core(
        id("host"),
        vec![echo(&log, "host", "load_tools", ANY)],
    )]);
    assert!(
        early
            .session(Arc::new(Dispatch::default()), SessionOptions::default())
            .is_err()
    );
    // Known only later: not offered.
    let late = ToolGroup {
        bare_names: true,
        exposure: Exposure::Always,
        ..returning(&log, "host", &["load_tools", "deferred_tool_call", "other"])
    };
    let shelf = shelf([late, group(&log, "g", &["t"])]);
    let session = dispatch(&shelf);
    assert_eq!(
        offered(&session).await,
        ["other", "load_tools", "deferred_tool_call"]
    );
    assert_eq!(answer(&load(&session, "g").await)["expanded"], true);
    assert_eq!(log.count("execute host/load_tools"), 0);
    // From then on it is known.
    assert!(
        shelf
            .session(Arc::new(Inject::default()), SessionOptions::default())
            .is_err()
    );
}

#[tokio::test(start_paused = true)]
async fn an_unknown_name_is_answered_with_the_nearest() {
    let log = Log::default();
    let shelf = shelf([
        group(&log, "github", &["create_issue", "list_issues"]),
        group(&log, "linear", &["create_issue"]),
    ]);
    let expect = "There is no tool `createIsue`. The nearest: `github/create_issue`, \
                  `linear/create_issue`.";
    let report = forward(&dispatch(&shelf), "createIsue", json!({})).await;
    assert!(report.text().starts_with(expect), "{}", report.text());
    assert_eq!(report.answered_by, AnsweredBy::Strategy);
    // The group counts as well.
    let report = forward(&dispatch(&shelf), "linear/create_isue", json!({})).await;
    assert_eq!(
        report.text(),
        "Group `linear` has no tool `create_isue`. The nearest: `create_issue`."
    );
    let report = forward(&dispatch(&shelf), "linaer/create_isue", json!({})).await;
    assert!(
        report.text().starts_with(
            "There is no tool `linaer/create_isue`. The nearest: `linear/create_issue`,"
        ),
        "{}",
        report.text()
    );
    let report = call(&inject(&shelf), "loadtools", json!({})).await;
    assert_eq!(
        report.text(),
        "There is no tool `loadtools`. The nearest: `load_tools`."
    );
    assert_eq!(report.answered_by, AnsweredBy::Nobody);
    // Not by what happens to stand within it.
    let report = call(&dispatch(&shelf), "+err", json!({})).await;
    assert_eq!(report.answered_by, AnsweredBy::Nobody);
    assert!(
        !report.text().contains("deferred_tool_call"),
        "{}",
        report.text()
    );
    assert!(log.count("execute github/create_issue") == 0);
}

#[tokio::test(start_paused = true)]
async fn an_unknown_name_costs_a_bounded_error() {
    let log = Log::default();
    let names: Vec<String> = (0..50).map(|n| format!("create_issue_{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let groups = (0..20).map(|n| group(&log, &format!("group{n}"), &names));
    let shelf = shelf(groups);
    for session in [dispatch(&shelf), inject(&shelf)] {
        for name in ["create_issue", &"x".repeat(100_000), "`\n# heading"] {
            let reports = [
                forward(&session, name, json!({})).await,
                call(&session, name, json!({})).await,
                load(&session, name).await,
            ];
            for report in reports {
                let text = report.text();
                assert!(report.is_error());
                assert!(text.len() < 1_500, "{} bytes", text.len());
                assert!(!text.contains("\n#"), "{text}");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_name_that_no_known_group_has_is_looked_for_in_the_others() {
    let log = Log::default();
    let session = dispatch(&shelf([
        group(&log, "known", &["t"]),
        returning(&log, "later", &["hidden_gem"]),
        failing_unknown(&log, "broken"),
    ]));
    // Not while somebody is known to have it.
    runs(&session, &["t"], "known/t").await;
    assert_eq!(log.take(), ["load known", "execute known/t"]);
    runs(&session, &["hidden_gem"], "later/hidden_gem").await;
    let mut loaded = log.take();
    loaded.sort();
    assert_eq!(
        loaded,
        ["execute later/hidden_gem", "load broken", "load later"]
    );
    // Nothing of it is recorded.
    assert!(session.state().expanded_groups.is_empty());
}

fn failing_unknown(log: &Log, group_id: &str) -> ToolGroup {
    ToolGroup {
        declared: None,
        ..failing(log, group_id, &["x"])
    }
}

/// What `load_tools` says to a request that it cannot do.
async fn load_error(session: &Session, arguments: Value) -> String {
    let report = call(session, "load_tools", arguments).await;
    let answer = answer(&report);
    assert!(report.is_error());
    assert_eq!(answer["expanded"], false);
    answer["error"].as_str().unwrap().to_owned()
}

#[tokio::test(start_paused = true)]
async fn a_group_that_does_not_exist_is_answered_with_the_nearest_and_changes_nothing() {
    let log = Log::default();
    let shelf = shelf([
        group(&log, "mcp:github", &["create_issue"]),
        group(&log, "mcp:linear", &["create_issue", "cycles"]),
        group(&log, "mcp", &["x"]),
    ]);
    for session in [dispatch(&shelf), inject(&shelf)] {
        for (asked, expect) in [
            (
                "mcp:gihtub",
                "There is no group `mcp:gihtub`. The nearest: `mcp:github`, `mcp`. \
                 3 groups are available.",
            ),
            (
                "create_issue",
                "`create_issue` is a tool, not a group. Call `load_tools` with one of its groups \
                 as `group_id`: `mcp:github`, `mcp:linear`.",
            ),
            (
                "mcp:linear/cycles",
                "`mcp:linear/cycles` is a tool, not a group. Call `load_tools` with its group as \
                 `group_id`: `mcp:linear`.",
            ),
        ] {
            assert_eq!(
                load_error(&session, json!({"group_id": asked})).await,
                expect
            );
        }
        // A qualified name that is none.
        let error = load_error(&session, json!({"group_id": "mcp/none"})).await;
        assert!(
            error.starts_with("There is no group `mcp/none`."),
            "{error}"
        );
        for arguments in [
            json!({}),
            json!({"group_id": 7}),
            json!({"group_id": ["mcp"]}),
            json!([]),
            json!({"group_id": "mcp", "tool_names": []}),
            json!({"group_id": "mcp", "tool_names": 1}),
            json!({"group_id": "mcp", "tool_names": ["x", 1]}),
        ] {
            load_error(&session, arguments).await;
        }
        assert!(session.state().expanded_groups.is_empty());
    }
    assert!(log.take().is_empty(), "no loader was started for any of it");
}

#[tokio::test(start_paused = true)]
async fn tools_are_picked_by_any_of_their_names_in_the_order_of_the_group() {
    let log = Log::default();
    let session = dispatch(&shelf([group(&log, "g", &["a", "b", "c"])]));
    for names in [
        json!(["c", "a"]),
        json!(["g/c", "`a`", " a "]),
        json!(["g__c", "g__a", "c"]),
        json!("[\"c\",\"a\"]"),
    ] {
        let report = pick(&session, "g", names.clone()).await;
        let answer = answer(&report);
        assert_eq!(answer["tool_names"], json!(["a", "c"]), "{names}");
        assert_eq!(answer["remaining"], 1);
        assert_eq!(answer["error"], json!(null));
    }
    let one = answer(&pick(&session, "g", json!("b")).await);
    assert_eq!(one["tool_names"], json!(["b"]));
    let all = answer(&pick(&session, "g", json!(null)).await);
    assert_eq!(all["tool_names"], json!(["a", "b", "c"]));
}

#[tokio::test(start_paused = true)]
async fn of_names_that_are_partly_unknown_the_known_ones_are_loaded() {
    let log = Log::default();
    let session = dispatch(&shelf([group(&log, "g", &["alpha", "beta"])]));
    let report = pick(&session, "g", json!(["alhpa", "beta"])).await;
    let partly = answer(&report);
    assert!(!report.is_error());
    assert_eq!(partly["tool_names"], json!(["beta"]));
    let error = partly["error"].as_str().unwrap();
    assert!(error.contains("`alhpa` (nearest: `alpha`)"), "{error}");
    let state = session.state();
    let report = pick(&session, "g", json!(["alhpa"])).await;
    assert!(report.is_error());
    assert_eq!(answer(&report)["expanded"], false);
    assert_eq!(session.state(), state);
}

/// Two tools, of which the second is hidden by its loader, or is not there at all.
fn with_hidden(log: &Log, group_id: &str, there: bool) -> ToolGroup {
    let (log, own_id) = (log.clone(), group_id.to_owned());
    let loader = move |_: LoadContext| {
        let mut loaded = echoes(&log, &own_id, &["read"]);
        if there {
            let mut secret = LoadedTool::new(echo(&log, &own_id, "secret_reset", ANY));
            secret.exposure = Some(Exposure::Hidden);
            loaded.tools.push(secret);
        }
        async move { Ok(loaded) }
    };
    ToolGroup::new(id(group_id), loader)
}

/// Everything that a model is told when it comes close to a name.
async fn everything_said(shelf: &Shelf, group_id: &str, tool: &str) -> String {
    let mut said = String::new();
    for placement in [Placement::SystemPrompt, Placement::McpServer] {
        for strategy in ["dispatch", "inject"] {
            let options = SessionOptions::placed(placement);
            let session = match strategy {
                "dispatch" => shelf.session(Arc::new(Dispatch::default()), options),
                _ => shelf.session(Arc::new(Inject::default()), options),
            };
            let session = session.unwrap();
            said.push_str(&prefix(&*surface(&session).await));
            let near = &tool[..tool.len() - 1];
            for report in [
                load(&session, &group_id[..group_id.len() - 1]).await,
                load(&session, tool).await,
                pick(&session, group_id, json!([near])).await,
                pick(&session, group_id, json!([tool])).await,
                forward(&session, near, json!({})).await,
                forward(&session, tool, json!({})).await,
                call(&session, near, json!({})).await,
                call(&session, tool, json!({})).await,
                call(&session, &format!("{group_id}/{near}"), json!({})).await,
                call(&session, &format!("{group_id}__{tool}"), json!({})).await,
            ] {
                said.push_str(&report.text());
                said.push('\n');
            }
            said.push_str(&prefix(&*surface(&session).await));
        }
    }
    said
}

#[tokio::test(start_paused = true)]
async fn a_hidden_tool_is_never_shown_nor_suggested_nor_callable() {
    let log = Log::default();
    let shelves = [true, false].map(|there| shelf([with_hidden(&log, "tools", there)]));
    for ready in [true, false] {
        let mut said = Vec::new();
        for shelf in &shelves {
            let loaded = load(&dispatch(shelf), "tools").await;
            assert_eq!(answer(&loaded)["tool_names"], json!(["read"]));
            // Nor while the group is not ready after it was.
            if !ready {
                shelf.invalidate(&id("tools"));
            }
            said.push(everything_said(shelf, "tools", "secret_reset").await);
        }
        assert_eq!(said[0], said[1]);
    }
    let qualified = forward(&dispatch(&shelves[0]), "tools/secret_reset", json!({})).await;
    assert!(qualified.is_error());
    assert_eq!(log.count("execute tools/secret_reset"), 0);
}

#[tokio::test(start_paused = true)]
async fn a_hidden_group_does_not_exist_for_the_model() {
    let log = Log::default();
    let hidden = ToolGroup {
        exposure: Exposure::Hidden,
        ..group(&log, "internal", &["reset_all"])
    };
    let there = shelf([hidden, group(&log, "g", &["t"])]);
    let absent = shelf([group(&log, "g", &["t"])]);
    assert_eq!(
        everything_said(&there, "internal", "reset_all").await,
        everything_said(&absent, "internal", "reset_all").await
    );
    assert!(
        forward(&dispatch(&there), "internal/reset_all", json!({}))
            .await
            .is_error()
    );
    assert_eq!(log.count("load internal"), 0);
}

/// Keeps a group, or one tool of another, from the model.
struct Kept(GroupId, Option<&'static str>);

impl Access for Kept {
    fn visible(&self, key: &ToolKey) -> bool {
        key.group != self.0 || self.1.is_some_and(|tool| key.tool != *tool)
    }
}

fn kept(group_id: &str, tool: Option<&'static str>, groups: Vec<ToolGroup>) -> Shelf {
    Shelf::builder()
        .groups(groups)
        .access(Kept(id(group_id), tool))
        .build()
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_tool_without_access_costs_no_byte() {
    let (log, without) = (Log::default(), Log::default());
    let names = ["alpha", "payroll_export", "beta"];
    let denied = kept(
        "g",
        Some("payroll_export"),
        // A declared name that never comes is not told either.
        vec![
            returning(&log, "g", &["alpha", "beta"])
                .declared_tools(names)
                .unwrap(),
        ],
    );
    let absent = shelf([group(&without, "g", &["alpha", "beta"])]);
    for (session, other) in [
        (dispatch(&denied), dispatch(&absent)),
        (inject(&denied), inject(&absent)),
        (standard(&denied), standard(&absent)),
    ] {
        let same = async |session: &Session| {
            let mut bytes = prefix(&*surface(session).await);
            for report in [
                load(session, "g").await,
                pick(session, "g", json!(["payroll_exprot"])).await,
                forward(session, "payroll_exprot", json!({})).await,
                call(session, "payroll_exprot", json!({})).await,
                call(session, "payroll_export", json!({})).await,
            ] {
                bytes.push_str(&report.text());
            }
            bytes.push_str(&prefix(&*surface(session).await));
            bytes
        };
        assert_eq!(same(&session).await, same(&other).await);
    }
    assert_eq!(log.count("execute g/payroll_export"), 0);
}

#[tokio::test(start_paused = true)]
async fn a_group_without_access_is_not_started_by_any_name() {
    let log = Log::default();
    for group in [
        group(&log, "payroll", &["export"]),
        returning(&log, "payroll", &["export"]),
    ] {
        let known = group.declared.is_some();
        let shelf = kept("payroll", None, vec![group]);
        for session in [dispatch(&shelf), inject(&shelf)] {
            for name in ["export", "payroll/export", "payroll__export", "other"] {
                assert!(forward(&session, name, json!({})).await.is_error());
                assert!(call(&session, name, json!({})).await.is_error());
            }
            assert!(log.take().is_empty());
            if known {
                load_error(&session, json!({"group_id": "payroll"})).await;
                assert!(log.take().is_empty());
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_group_that_turns_out_to_have_no_tool_for_the_model_is_none() {
    let log = Log::default();
    let mut secret = returning(&log, "payroll", &["export"]);
    secret.title = Some("Payroll".to_owned());
    let shelf = kept("payroll", None, vec![secret]);
    let session = dispatch(&shelf);
    let error = load_error(&session, json!({"group_id": "payroll"})).await;
    assert_eq!(
        error,
        "There is no group `payroll`: no groups are available."
    );
    assert!(session.state().expanded_groups.is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_empty_group_is_loaded_and_says_so() {
    let nothing = ToolGroup::new(id("g"), |_: LoadContext| async { Ok(Loaded::default()) });
    let session = dispatch(&shelf([nothing]));
    let report = load(&session, "g").await;
    assert!(!report.is_error());
    assert_eq!(answer(&report)["tool_names"], json!([]));
    assert!(
        answer(&load(&session, "g").await)["expanded"]
            .as_bool()
            .unwrap()
    );
}
