//! Sessions that search: the index of the shelf follows what is loaded.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use tokio::sync::Notify;
use toolshelf_core::search::{Found, IndexedTool, SearchIndex, SearchQuery};
use toolshelf_core::{
    Access, CallContext, Cancellation, Error, Event, Exposure, GroupId, LoadContext, News,
    Placement, ToolGroup, ToolKey,
};
use toolshelf_search::Lexical;
use toolshelf_shelf::{AnsweredBy, Session, SessionOptions, Shelf};
use toolshelf_strategies::{Dispatch, DispatchOptions, Tst, TstAuto, TstAutoOptions};

use crate::fixtures::{
    ANY, Log, begin, call, echo, echoes, failing, forward, group, id, load, offered, prefix,
    request, returning, surface,
};

/// The real index, and how often it was given something and asked.
#[derive(Default)]
struct Counted {
    index: Lexical,
    given: AtomicUsize,
    searched: AtomicUsize,
}

impl Counted {
    fn given(&self) -> usize {
        self.given.load(Ordering::SeqCst)
    }
}

impl SearchIndex for Counted {
    fn name(&self) -> &str {
        "counted"
    }

    fn replace_group(&self, group: &GroupId, tools: Vec<IndexedTool>) {
        self.given.fetch_add(1, Ordering::SeqCst);
        self.index.replace_group(group, tools);
    }

    fn search(&self, query: &SearchQuery) -> Result<Found, Error> {
        self.searched.fetch_add(1, Ordering::SeqCst);
        self.index.search(query)
    }
}

fn shelf_with(index: Arc<dyn SearchIndex>, groups: Vec<ToolGroup>) -> Shelf {
    let builder = Shelf::builder().groups(groups).index(index);
    builder.build().unwrap()
}

fn shelf(groups: Vec<ToolGroup>) -> Shelf {
    shelf_with(Arc::new(Lexical::default()), groups)
}

fn host(log: &Log) -> ToolGroup {
    ToolGroup::core(id("host"), vec![echo(log, "host", "answer", ANY)])
}

fn two(log: &Log) -> Vec<ToolGroup> {
    vec![
        host(log),
        group(log, "github", &["create_issue", "list_issues"]),
        returning(log, "slack", &["send_message"]),
    ]
}

fn tst(shelf: &Shelf) -> Session {
    begin(shelf, Arc::new(Tst::default()))
}

fn searching() -> Arc<Dispatch> {
    Arc::new(Dispatch::new(DispatchOptions {
        search: true,
        ..DispatchOptions::default()
    }))
}

async fn search(session: &Session, query: &str) -> String {
    let report = call(session, "search_tools", json!({"query": query})).await;
    assert_eq!(report.answered_by, AnsweredBy::Strategy);
    report.text()
}

#[tokio::test]
async fn what_a_search_finds_is_in_the_next_request_and_is_called_directly() {
    let log = Log::default();
    let session = tst(&shelf(two(&log)));
    assert_eq!(offered(&session).await, ["answer", "search_tools"]);
    assert_eq!(log.take(), [""; 0]);
    let answer = search(&session, "send a message").await;
    assert_eq!(answer, "Found 1 deferred tool(s): slack__send_message.");
    assert_eq!(
        offered(&session).await,
        ["answer", "search_tools", "slack__send_message"]
    );
    let report = call(&session, "slack__send_message", json!({"text": "hi"})).await;
    assert_eq!(report.text(), r#"slack/send_message {"text":"hi"}"#);
    assert_eq!(log.count("load slack"), 1);
}

#[tokio::test]
async fn an_undiscovered_tool_that_is_called_is_loaded_and_runs() {
    let log = Log::default();
    let session = tst(&shelf(two(&log)));
    let report = call(&session, "github__list_issues", json!({})).await;
    assert_eq!(report.text(), "github/list_issues {}");
    assert_eq!(log.take(), ["load github", "execute github/list_issues"]);
    // A call alone discovers nothing.
    assert_eq!(session.state().discovered, []);
}

#[tokio::test]
async fn the_index_is_filled_when_somebody_searches_and_with_what_changed() {
    let log = Log::default();
    let index = Arc::new(Counted::default());
    let shelf = shelf_with(index.clone(), two(&log));
    for (_, loaded) in shelf.load_all(&Cancellation::new()).await {
        loaded.unwrap();
    }
    let session = tst(&shelf);
    surface(&session).await;
    assert_eq!(index.given(), 0);
    search(&session, "issue").await;
    assert_eq!(index.given(), 3);
    search(&session, "message").await;
    search(&tst(&shelf), "message").await;
    assert_eq!(index.given(), 3);
    shelf
        .hand_over(&id("slack"), echoes(&log, "slack", &["post"]))
        .unwrap();
    assert_eq!(index.given(), 3);
    search(&session, "post").await;
    assert_eq!(index.given(), 4);
}

#[tokio::test]
async fn a_search_sees_reloads_and_removals() {
    let log = Log::default();
    let shelf = shelf(two(&log));
    search(&tst(&shelf), "select:send_message").await;
    // Reloaded with other tools.
    shelf
        .hand_over(
            &id("slack"),
            echoes(&log, "slack", &["post", "list_channels"]),
        )
        .unwrap();
    let answer = search(&tst(&shelf), "select:send_message").await;
    assert!(
        answer.starts_with("No tool is called `send_message`"),
        "{answer}"
    );
    let answer = search(&tst(&shelf), "select:post").await;
    assert_eq!(answer, "Found 1 deferred tool(s): slack__post.");
    // Invalidated: what was there stays found until it is loaded anew.
    shelf.invalidate(&id("slack"));
    let answer = search(&tst(&shelf), "select:list_channels").await;
    assert_eq!(answer, "Found 1 deferred tool(s): slack__list_channels.");
    // Removed, and added again under the same id with other tools.
    assert!(shelf.remove(&id("slack")));
    let answer = search(&tst(&shelf), "select:post").await;
    assert_eq!(answer, "No tool is called `post`.");
    shelf.insert(group(&log, "slack", &["archive"])).unwrap();
    let answer = search(&tst(&shelf), "select:archive,post").await;
    assert_eq!(
        answer,
        "Found 1 deferred tool(s): slack__archive.\nNo tool is called `post`."
    );
    // Between two searches, without one that sees it gone.
    shelf.remove(&id("slack"));
    shelf.insert(group(&log, "slack", &["restore"])).unwrap();
    let answer = search(&tst(&shelf), "select:restore,archive").await;
    assert_eq!(
        answer,
        "Found 1 deferred tool(s): slack__restore.\nNo tool is called `archive`."
    );
}

#[tokio::test]
async fn two_searches_at_once_answer_as_one_after_the_other() {
    let log = Log::default();
    let session = tst(&shelf(two(&log)));
    let calls = ["select:send_message", "select:create_issue", "message"].map(|query| {
        let call = request("search_tools", json!({"query": query}));
        (call, CallContext::new())
    });
    let reports = session.call_batch(calls.into()).await;
    let texts: Vec<String> = reports.iter().map(|report| report.text()).collect();
    assert_eq!(
        texts,
        [
            "Found 1 deferred tool(s): slack__send_message.",
            "Found 1 deferred tool(s): github__create_issue.",
            "Found 1 deferred tool(s): slack__send_message.",
        ]
    );
    assert_eq!((log.count("load slack"), log.count("load github")), (1, 1));
    // In the order of the calls.
    assert_eq!(
        offered(&session).await[2..],
        ["slack__send_message", "github__create_issue"]
    );
}

#[tokio::test]
async fn a_server_that_hangs_holds_up_no_search_that_finds_something() {
    let log = Log::default();
    let (started, never) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let begun = started.clone();
    let hanging = ToolGroup::new(id("hanging"), move |_: LoadContext| {
        let (started, never) = (begun.clone(), never.clone());
        async move {
            started.notify_one();
            never.notified().await;
            Err(crate::fixtures::refused())
        }
    });
    let mut groups = two(&log);
    groups.push(hanging);
    let shelf = shelf(groups);
    let starting = shelf.clone();
    let waiting = tokio::spawn(async move {
        let _ = starting.load(&id("hanging"), &Cancellation::new()).await;
    });
    started.notified().await;
    let answer = search(&tst(&shelf), "select:create_issue").await;
    assert_eq!(answer, "Found 1 deferred tool(s): github__create_issue.");
    waiting.abort();
}

#[tokio::test]
async fn a_group_that_cannot_be_loaded_is_named_and_does_not_fail_the_search() {
    let log = Log::default();
    let mut groups = two(&log);
    groups.push(failing(&log, "jira", &["create_ticket"]));
    let session = tst(&shelf(groups));
    let answer = search(&session, "bake a cake").await;
    assert!(
        answer.ends_with("\nNot searched: `jira` (failed: The server could not be started)."),
        "{answer}"
    );
    let news = surface(&session).await.news.clone();
    assert!(news.contains(&News::Unavailable {
        group: id("jira"),
        reason: "The server could not be started.".to_owned()
    }));
    assert_eq!(surface(&session).await.news, []);
}

struct Deny(&'static str);

impl Access for Deny {
    fn visible(&self, key: &ToolKey) -> bool {
        key.tool.as_str() != self.0
    }
}

#[tokio::test]
async fn the_index_never_gets_what_does_not_exist_for_the_model() {
    struct Checked(Lexical);
    impl SearchIndex for Checked {
        fn name(&self) -> &str {
            "checked"
        }
        fn replace_group(&self, group: &GroupId, tools: Vec<IndexedTool>) {
            for tool in &tools {
                let name = tool.key.tool.as_str();
                assert!(
                    !["create_issue", "answer", "secret"].contains(&name),
                    "{name}"
                );
            }
            self.0.replace_group(group, tools);
        }
        fn search(&self, query: &SearchQuery) -> Result<Found, Error> {
            self.0.search(query)
        }
    }
    let log = Log::default();
    let mut groups = two(&log);
    let mut hidden = group(&log, "hidden", &["secret"]);
    hidden.exposure = Exposure::Hidden;
    groups.push(hidden);
    let builder = Shelf::builder().groups(groups).access(Deny("create_issue"));
    let shelf = builder
        .index(Arc::new(Checked(Lexical::default())))
        .build()
        .unwrap();
    let session = tst(&shelf);
    let answer = search(&session, "issue").await;
    assert_eq!(answer, "Found 1 deferred tool(s): github__list_issues.");
    let answer = search(&session, "select:create_issue,secret").await;
    assert!(
        !answer.contains("github/create_issue") && !answer.contains("hidden"),
        "{answer}"
    );
}

#[tokio::test]
async fn searches_in_a_row_are_counted_and_other_calls_end_the_row() {
    let log = Log::default();
    let session = tst(&shelf(two(&log)));
    let hint = "searches in a row";
    for _ in 0..3 {
        assert!(!search(&session, "issue").await.contains(hint));
    }
    assert!(
        search(&session, "issue")
            .await
            .contains("4 searches in a row")
    );
    call(&session, "github__list_issues", json!({})).await;
    assert!(!search(&session, "issue").await.contains(hint));
    // Those of one message come at once, and not one after the other.
    let session = tst(session.shelf());
    let calls = || {
        let call = || request("search_tools", json!({"query": "issue"}));
        (0..5).map(|_| (call(), CallContext::new())).collect()
    };
    for report in session.call_batch(calls()).await {
        assert!(!report.text().contains(hint));
    }
    for report in session.call_batch(calls()).await {
        assert!(report.text().contains("6 searches in a row"));
    }
}

#[tokio::test]
async fn under_dispatch_searches_change_no_byte_and_the_forwarder_takes_them() {
    for placement in [Placement::SystemPrompt, Placement::McpServer] {
        let log = Log::default();
        let shelf = shelf(two(&log));
        let session = shelf
            .session(searching(), SessionOptions::placed(placement))
            .unwrap();
        let before = prefix(&*surface(&session).await);
        assert!(before.contains(r#""name":"search_tools""#));
        let expect = "1 tool for `select:send_message`:\n\
             - slack/send_message() — Does send_message.";
        assert_eq!(search(&session, "select:send_message").await, expect);
        // Calls through the forwarder are no searches, whatever they reach.
        for _ in 0..4 {
            forward(&session, "slack/send_message", json!({})).await;
        }
        let report = forward(
            &session,
            "search_tools",
            json!({"query": "select:send_message"}),
        )
        .await;
        assert_eq!(report.text(), expect);
        load(&session, "github").await;
        search(&session, "bake a cake").await;
        assert_eq!(prefix(&*surface(&session).await), before);
        assert_eq!(session.state().discovered, []);
    }
}

#[tokio::test]
async fn news_is_told_once_and_to_a_fork_only_what_came_after() {
    let log = Log::default();
    let shelf = shelf(two(&log));
    let session = tst(&shelf);
    assert_eq!(
        surface(&session).await.news,
        [News::Available(id("github"))]
    );
    let kept = session.state();
    let fork = session.fork();
    assert_eq!(surface(&fork).await.news, []);
    search(&fork, "select:send_message").await;
    assert_eq!(surface(&fork).await.news, [News::Available(id("slack"))]);
    assert_eq!(offered(&fork).await.len(), 3);
    // What a fork does never changes its parent.
    assert_eq!(session.state(), kept);
    assert_eq!(offered(&session).await, ["answer", "search_tools"]);
}

#[tokio::test]
async fn a_session_goes_on_with_what_was_found() {
    let log = Log::default();
    let before = tst(&shelf(two(&log)));
    search(&before, "select:send_message").await;
    search(&before, "select:create_issue").await;
    let list = offered(&before).await;
    let state = (*before.state()).clone();
    let written = serde_json::to_string(&state).unwrap();
    let read = serde_json::from_str(&written).unwrap();
    let elsewhere = shelf(two(&log));
    let options = SessionOptions::default();
    let (after, _) = elsewhere
        .resume(
            Arc::new(Tst::default()),
            options,
            read,
            &Cancellation::new(),
        )
        .await
        .unwrap();
    assert_eq!(offered(&after).await, list);
    assert_eq!(*after.state(), state);
}

#[tokio::test]
async fn a_live_session_is_what_its_history_folds_to() {
    let log = Log::default();
    let live = tst(&shelf(two(&log)));
    search(&live, "select:send_message,list_issues").await;
    search(&live, "issue").await;
    surface(&live).await;
    let folded = tst(&shelf(two(&log)));
    for names in [
        vec!["slack__send_message", "github__list_issues"],
        vec!["github__create_issue", "github__list_issues"],
    ] {
        let names = names.into_iter().map(str::to_owned).collect();
        folded.observe(&Event::Discovered { names });
    }
    // The undeclared group comes when somebody loads it.
    surface(&folded).await;
    folded
        .shelf()
        .load(&id("slack"), &Cancellation::new())
        .await
        .unwrap();
    let mut names = offered(&folded).await;
    names.sort();
    let mut expect = offered(&live).await;
    expect.sort();
    assert_eq!(names, expect);
}

#[tokio::test]
async fn a_refusal_of_deferral_makes_it_standard_and_is_said_once() {
    let log = Log::default();
    let session = tst(&shelf(two(&log)));
    surface(&session).await;
    session.observe(&Event::DeferralRefused {
        reason: "The proxy knows no deferred tools.".to_owned(),
    });
    let now = surface(&session).await;
    assert_eq!(now.tools.len(), 4);
    assert_eq!(now.news.len(), 1);
    assert_eq!(surface(&session).await.news, []);
    assert!(!offered(&session).await.contains(&"search_tools".to_owned()));
}

#[tokio::test]
async fn tst_auto_decides_by_the_counter_of_the_session_once() {
    struct Words;
    impl toolshelf_core::tokens::TokenCounter for Words {
        fn name(&self) -> &str {
            "one"
        }
        fn count(&self, _text: &str) -> usize {
            1_000
        }
    }
    let log = Log::default();
    let shelf = shelf(two(&log));
    // Three deferrable tools of a thousand tokens each, against a tenth of the window.
    for (window, defers) in [(30_000, true), (30_010, false)] {
        let mut options = SessionOptions::default();
        options.context_window = Some(window);
        options.counter = Some(Arc::new(Words));
        let auto = Arc::new(TstAuto::new(TstAutoOptions::default()).unwrap());
        let session = shelf.session(auto, options).unwrap();
        assert_eq!(offered(&session).await.len(), if defers { 2 } else { 4 });
        let decision = session.state().latched["tst-auto"].clone();
        assert_eq!(decision["defer"], defers);
        let why = decision["why"].as_str().unwrap();
        assert!(why.starts_with("3,000 of 30,0"), "{why}");
    }
}

#[tokio::test]
async fn a_tool_that_takes_the_name_of_the_search_tool_is_refused() {
    let log = Log::default();
    let own = ToolGroup::core(id("host"), vec![echo(&log, "host", "search_tools", ANY)]);
    let shelf = shelf(vec![own]);
    let session = shelf.session(Arc::new(Tst::default()), SessionOptions::default());
    assert!(session.err().unwrap().to_string().contains("search_tools"));
}
