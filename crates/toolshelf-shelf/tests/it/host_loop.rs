//! The strategies in a host's own loop of ten lines, with a model that follows a script.

use serde_json::json;
use toolshelf_core::CallContext;
use toolshelf_shelf::Session;
use toolshelf_testkit::host::{Host, Scripted};

use crate::fixtures::{
    self, Driven, Log, answer, call, dispatch, forward, group, id, inject, load, offered, request,
    returning, shelf, standard, surface,
};

/// The whole of a host: surface, model, calls, history.
async fn play(session: &Session, script: Vec<Vec<Scripted<'_>>>) -> Vec<String> {
    let mut host = Host::new(Driven(session));
    host.play(&script).await.unwrap()
}

fn two_groups(log: &Log) -> toolshelf_shelf::Shelf {
    shelf([
        group(log, "files", &["read", "write"]),
        group(log, "git", &["log"]),
    ])
}

#[tokio::test(start_paused = true)]
async fn dispatch_loads_reads_schemas_and_forwards() {
    let log = Log::default();
    let session = dispatch(&two_groups(&log));
    let history = play(
        &session,
        vec![
            vec![("load_tools", json!({"group_id": "git"}))],
            vec![(
                "deferred_tool_call",
                json!({"tool_name": "git/log", "arguments": {"n": 1}}),
            )],
            // Not loaded: it runs in one round nevertheless.
            vec![("deferred_tool_call", json!({"tool_name": "read"}))],
        ],
    )
    .await;
    assert_eq!(
        history,
        [
            "offered: load_tools deferred_tool_call",
            "{\"error\":null,\"expanded\":true,\"group_id\":\"git\",\"remaining\":0,\"schemas\":[\
             {\"description\":\"Does log.\",\"name\":\"log\",\"parameters\":{\"type\":\"object\"}}],\
             \"tool_names\":[\"log\"]}",
            "offered: load_tools deferred_tool_call",
            "git/log {\"n\":1}",
            "offered: load_tools deferred_tool_call",
            "files/read {}",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn inject_loads_and_calls_natively() {
    let log = Log::default();
    let session = inject(&two_groups(&log));
    let history = play(
        &session,
        vec![
            vec![("load_tools", json!({"group_id": "git"}))],
            vec![("git__log", json!({"n": 1}))],
            vec![(
                "load_tools",
                json!({"group_id": "files", "tool_names": ["write"]}),
            )],
            vec![("files__write", json!({}))],
        ],
    )
    .await;
    assert_eq!(
        history,
        [
            "offered: load_tools",
            "{\"call_as\":[\"git__log\"],\"error\":null,\"expanded\":true,\"group_id\":\"git\",\
             \"remaining\":0,\"tool_names\":[\"log\"]}",
            "offered: load_tools git__log",
            "git/log {\"n\":1}",
            "offered: load_tools git__log",
            "{\"call_as\":[\"files__write\"],\"error\":null,\"expanded\":true,\
             \"group_id\":\"files\",\"remaining\":1,\"tool_names\":[\"write\"]}",
            "offered: load_tools git__log files__write",
            "files/write {}",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn standard_offers_everything_at_once() {
    let log = Log::default();
    let session = standard(&two_groups(&log));
    let history = play(&session, vec![vec![("files__read", json!({"path": "a"}))]]).await;
    assert_eq!(
        history,
        [
            "offered: files__read files__write git__log",
            "files/read {\"path\":\"a\"}",
        ]
    );
    assert!(surface(&session).await.prompt_section.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_load_and_a_call_may_stand_in_one_batch() {
    for session in [dispatch, inject] {
        let log = Log::default();
        let session = session(&two_groups(&log));
        let direct = match session.strategy().name() {
            "dispatch" => fixtures::forward_request("git/log", json!({})),
            _ => request("git__log", json!({})),
        };
        let calls = vec![
            (fixtures::load_request("git"), CallContext::new()),
            (direct, CallContext::new()),
        ];
        let reports = session.call_batch(calls).await;
        assert!(!reports[0].is_error());
        assert_eq!(reports[1].text(), "git/log {}");
        assert_eq!(log.take(), ["load git", "execute git/log"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_deferred_tool_can_be_called_by_its_own_name() {
    for session in [dispatch, inject, standard] {
        for name in ["git__log", "git/log", "log"] {
            let log = Log::default();
            let session = session(&two_groups(&log));
            let report = call(&session, name, json!({"n": 1})).await;
            assert_eq!(report.text(), "git/log {\"n\":1}", "{name}");
            assert_eq!(log.take(), ["load git", "execute git/log"]);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_implicit_load_is_not_recorded() {
    let log = Log::default();
    let shelf = two_groups(&log);
    for session in [dispatch(&shelf), inject(&shelf)] {
        let before = session.state();
        let offered_before = offered(&session).await;
        let report = match session.strategy().name() {
            "dispatch" => forward(&session, "git/log", json!({})).await,
            _ => call(&session, "git__log", json!({})).await,
        };
        assert!(!report.is_error());
        assert_eq!(session.state(), before);
        assert_eq!(offered(&session).await, offered_before);
    }
}

#[tokio::test(start_paused = true)]
async fn tools_of_the_host_stand_first_and_can_be_forwarded_to() {
    let log = Log::default();
    let own = fixtures::echo(&log, "host", "answer", fixtures::ANY);
    let shelf = shelf([
        toolshelf_core::ToolGroup::core(id("host"), vec![own]),
        group(&log, "git", &["log"]),
    ]);
    let session = dispatch(&shelf);
    assert_eq!(
        offered(&session).await,
        ["answer", "load_tools", "deferred_tool_call"]
    );
    assert_eq!(
        call(&session, "answer", json!({})).await.text(),
        "host/answer {}"
    );
    assert_eq!(
        forward(&session, "answer", json!({"a": 1})).await.text(),
        "host/answer {\"a\":1}"
    );
    // They are no news to the model, so the catalog does not list them.
    let surface = surface(&session).await;
    assert!(!surface.prompt_section.as_deref().unwrap().contains("host"));
}

#[tokio::test(start_paused = true)]
async fn inject_appends_tools_in_the_order_of_their_loading() {
    let log = Log::default();
    let session = inject(&shelf([
        group(&log, "a", &["a1", "a2", "a3"]),
        group(&log, "b", &["b1", "b2"]),
    ]));
    async fn check(session: &Session, expect: &str) {
        assert_eq!(offered(session).await.join(" "), expect);
    }
    fixtures::pick(&session, "b", json!(["b2"])).await;
    check(&session, "load_tools b__b2").await;
    fixtures::pick(&session, "a", json!(["a3"])).await;
    check(&session, "load_tools b__b2 a__a3").await;
    // What is loaded later of a group does not move what others loaded meanwhile.
    fixtures::pick(&session, "b", json!(["b1"])).await;
    check(&session, "load_tools b__b2 a__a3 b__b1").await;
    load(&session, "a").await;
    check(&session, "load_tools b__b2 a__a3 b__b1 a__a1 a__a2").await;
}

#[tokio::test(start_paused = true)]
async fn inject_takes_from_the_catalog_what_is_loaded() {
    let log = Log::default();
    let session = inject(&two_groups(&log));
    async fn catalog(session: &Session) -> String {
        let surface = surface(session).await;
        let section = surface.prompt_section.as_deref().unwrap_or_default();
        let lines = section.lines().skip_while(|line| !line.starts_with('-'));
        lines.collect::<Vec<_>>().join("\n")
    }
    fixtures::pick(&session, "files", json!(["read"])).await;
    assert_eq!(
        catalog(&session).await,
        "- `files` (1 remaining tool)\n  write\n- `git` (1 tool)\n  log"
    );
    load(&session, "files").await;
    assert_eq!(catalog(&session).await, "- `git` (1 tool)\n  log");
    load(&session, "git").await;
    assert!(surface(&session).await.prompt_section.is_none());
    assert!(offered(&session).await.contains(&"load_tools".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn changes_are_applied_in_the_order_of_calls_whichever_load_ends_first() {
    use toolshelf_core::{LoadContext, ToolGroup};
    let log = Log::default();
    // `b` ends at once, `a` only when `b` has.
    let ended = std::sync::Arc::new(tokio::sync::Notify::new());
    let slow = {
        let (log, ended) = (log.clone(), ended.clone());
        move |_: LoadContext| {
            let (log, ended) = (log.clone(), ended.clone());
            async move {
                ended.notified().await;
                Ok(fixtures::echoes(&log, "a", &["t"]))
            }
        }
    };
    let quick = {
        let log = log.clone();
        move |_: LoadContext| {
            ended.notify_one();
            let loaded = fixtures::echoes(&log, "b", &["t"]);
            async move { Ok(loaded) }
        }
    };
    let session = inject(&shelf([
        ToolGroup::new(id("a"), slow),
        ToolGroup::new(id("b"), quick),
    ]));
    let calls = ["a", "b"].map(|group| (fixtures::load_request(group), CallContext::new()));
    for report in session.call_batch(calls.into()).await {
        assert!(!report.is_error());
    }
    assert_eq!(session.state().load_order, [id("a"), id("b")]);
    assert_eq!(offered(&session).await, ["load_tools", "a__t", "b__t"]);
}

#[tokio::test(start_paused = true)]
async fn what_the_loader_returned_is_the_truth() {
    let log = Log::default();
    let lying = returning(&log, "g", &["here", "unannounced"])
        .declared_tools(["here", "gone"])
        .unwrap();
    let session = dispatch(&shelf([lying]));
    let loaded = answer(&load(&session, "g").await);
    assert_eq!(loaded["tool_names"], json!(["here", "unannounced"]));
    assert_eq!(loaded["missing"], json!(["gone"]));
    assert_eq!(
        forward(&session, "unannounced", json!({})).await.text(),
        "g/unannounced {}"
    );
    assert_eq!(
        forward(&session, "g/gone", json!({})).await.text(),
        "Group `g` has no tool `gone`."
    );
}
