//! Servers that other people wrote, from their package registries, behind the gateway
//! and behind a host's own loop. `cargo xtask fixtures` installs them.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests are tests"
)]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use toolshelf_core::{
    Call, CallContext, Cancellation, ContentBlock, Elicitor, Error, GroupId, JsonText, Progress,
    ProgressSink, ToolGroup,
};
use toolshelf_gateway::{Gateway, GatewayOptions};
use toolshelf_mcp::{Lifecycle, StdioConfig, StdioServer};
use toolshelf_shelf::{Session, SessionOptions, Shelf};
use toolshelf_strategies::{Dispatch, Inject};
use toolshelf_tests::gateway::{forward, strategies};
use toolshelf_tests::{Connected, Sandbox, open_folder, real_server};

/// Node and Python servers need seconds to start on a busy machine.
const PATIENCE: Duration = Duration::from_secs(180);

/// All five servers as a configuration file would name them.
fn all_servers(folder: &std::path::Path) -> Value {
    let entry = |config: StdioConfig, args: &[&std::path::Path]| {
        let mut all: Vec<String> = config.args.clone();
        all.extend(args.iter().map(|path| path.display().to_string()));
        json!({"command": config.command, "args": all, "env": config.env})
    };
    // git refuses a folder of somebody else, unless it is told.
    let git = real_server("git")
        .unwrap()
        .env("GIT_CONFIG_COUNT", "1")
        .env("GIT_CONFIG_KEY_0", "safe.directory")
        .env("GIT_CONFIG_VALUE_0", "*");
    let mut memory = real_server("memory").unwrap();
    let file = folder.join("memory.jsonl").display().to_string();
    memory.env.insert("MEMORY_FILE_PATH".to_owned(), file);
    json!({
        "everything": entry(real_server("everything").unwrap(), &[]),
        "filesystem": entry(real_server("filesystem").unwrap(), &[folder]),
        "memory": entry(memory, &[]),
        "time": entry(real_server("time").unwrap(), &[]),
        "git": entry(git, &[]),
    })
}

fn gateway(servers: &Value) -> Arc<Gateway> {
    let mut options = GatewayOptions::default();
    options.wait = Some(PATIENCE);
    let gateway = toolshelf_tests::gateway::gateway(servers, options, &strategies()).unwrap();
    gateway.start();
    gateway
}

fn git(folder: &std::path::Path, args: &[&str]) {
    let done = std::process::Command::new("git")
        .current_dir(folder)
        .args(["-c", "user.name=Test", "-c", "user.email=test@example.org"])
        .args(args)
        .output()
        .unwrap();
    assert!(done.status.success(), "git {args:?}: {done:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn five_servers_behind_one_gateway() {
    // Servers compare paths after following links.
    let folder = open_folder().unwrap();
    let root = folder.path().canonicalize().unwrap();
    git(&root, &["init", "-q"]);
    std::fs::write(root.join("note.txt"), "kept on the shelf").unwrap();
    git(&root, &["add", "note.txt"]);
    git(&root, &["commit", "-q", "-m", "A note"]);
    let gateway = gateway(&all_servers(&root));
    let root = &root;

    let test = async {
        for lifecycle in [Lifecycle::Initialize, Lifecycle::Auto] {
            let host = Connected::to(gateway.clone(), lifecycle).await.unwrap();
            let list = host.list().await.unwrap();
            assert_eq!(list.len(), 2);
            for part in [
                "- `everything` — Everything Reference Server",
                "(14 tools)",
                "read_text_file",
                "create_entities",
                "get_current_time, convert_time",
                "git_status",
            ] {
                assert!(list[0].contains(part), "{part:?} is missing in {}", list[0]);
            }

            let loaded = host
                .call("load_tools", json!({"group_id": "time"}))
                .await
                .unwrap();
            let answer: Value = serde_json::from_str(&loaded.joined_text()).unwrap();
            assert_eq!(
                answer["tool_names"],
                json!(["get_current_time", "convert_time"])
            );
            assert_eq!(answer["schemas"][0]["name"], "get_current_time");

            let cases = [
                ("time/get_current_time", json!({"timezone": "UTC"}), "UTC"),
                (
                    "everything/echo",
                    json!({"message": "hello"}),
                    "Echo: hello",
                ),
                ("get-sum", json!({"a": 2, "b": 40}), "42"),
                (
                    "filesystem/read_text_file",
                    json!({"path": root.join("note.txt")}),
                    "kept on the shelf",
                ),
                ("git/git_log", json!({"repo_path": root}), "A note"),
                (
                    "create_entities",
                    json!({"entities": [{"name": "Ada", "entityType": "person", "observations": ["writes"]}]}),
                    "",
                ),
                ("memory/read_graph", json!({}), "Ada"),
            ];
            for (tool, arguments, expected) in cases {
                let result = host
                    .call("deferred_tool_call", forward(tool, arguments))
                    .await
                    .unwrap();
                assert!(!result.is_error, "{tool}: {}", result.joined_text());
                assert!(
                    result.joined_text().contains(expected),
                    "{tool}: {}",
                    result.joined_text()
                );
            }

            let wrong = host
                .call(
                    "deferred_tool_call",
                    forward("get_current_time", json!({"zone": "UTC"})),
                )
                .await
                .unwrap();
            assert!(wrong.is_error);
            assert!(
                wrong.joined_text().contains("timezone: expected"),
                "{}",
                wrong.joined_text()
            );
            assert_eq!(host.list().await.unwrap(), list);
            host.close().await.unwrap();
        }
    };
    tokio::time::timeout(PATIENCE, test).await.unwrap();
    gateway.close().await;
}

/// Checked from inside, by a program that is started as the servers are.
#[test]
fn servers_of_others_have_no_network_and_no_privileges() {
    let real = real_server("time").unwrap();
    let Some(sandbox) = Sandbox::get(&real) else {
        // Said on standard error already, with what it means.
        return;
    };
    let inside = sandbox
        .around(StdioConfig::new("look", "sh").args(["-c", "cat /proc/net/dev /proc/self/status"]));
    let seen = std::process::Command::new(&inside.command)
        .args(&inside.args)
        .output()
        .unwrap();
    let seen = String::from_utf8(seen.stdout).unwrap();
    let interfaces: Vec<&str> = seen
        .lines()
        .take_while(|line| !line.starts_with("Name:"))
        .filter_map(|line| line.split_once(':'))
        .map(|(name, _)| name.trim())
        .collect();
    assert_eq!(interfaces, ["lo"], "{seen}");
    for line in ["CapEff:\t0000000000000000", "NoNewPrivs:\t1"] {
        assert!(seen.contains(line), "{line:?} is missing in {seen}");
    }
}

#[derive(Default)]
struct Reports(Mutex<Vec<Progress>>);

impl ProgressSink for Reports {
    fn report(&self, progress: Progress) {
        self.0.lock().unwrap().push(progress);
    }
}

/// Answers every question with its defaults.
#[derive(Default)]
struct Asked(Mutex<Vec<String>>);

#[async_trait]
impl Elicitor for Asked {
    async fn elicit(&self, request: JsonText) -> Result<JsonText, Error> {
        self.0.lock().unwrap().push(request.as_str().to_owned());
        JsonText::parse(r#"{"action":"accept","content":{"name":"Grace Hopper"}}"#)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_everything_server_does_passes_through() {
    let everything = real_server("everything").unwrap();
    let gateway = gateway(&json!({"everything": {
        "command": everything.command, "args": everything.args, "env": everything.env,
    }}));
    let test = async {
        let host = Connected::to(gateway.clone(), Lifecycle::Initialize)
            .await
            .unwrap();
        let call = async |tool: &str, arguments: Value, context: CallContext| {
            let tool = format!("everything/{tool}");
            host.call_in("deferred_tool_call", forward(&tool, arguments), context)
                .await
                .unwrap()
        };

        let image = call("get-tiny-image", json!({}), CallContext::new()).await;
        let images: Vec<&ContentBlock> = image
            .content
            .iter()
            .filter(|block| matches!(block, ContentBlock::Image { .. }))
            .collect();
        assert_eq!(images.len(), 1, "{:?}", image.content);

        let structured = call(
            "get-structured-content",
            json!({"location": "Chicago"}),
            CallContext::new(),
        )
        .await;
        let value = structured.structured_content.unwrap().to_value();
        assert!(value["temperature"].is_number(), "{value}");

        let links = call(
            "get-resource-links",
            json!({"count": 2}),
            CallContext::new(),
        )
        .await;
        let links = links
            .content
            .iter()
            .filter(|block| matches!(block, ContentBlock::ResourceLink { .. }))
            .count();
        assert_eq!(links, 2);

        let annotated = call(
            "get-annotated-message",
            json!({"messageType": "error"}),
            CallContext::new(),
        )
        .await;
        let written = serde_json::to_value(&annotated.content[0]).unwrap();
        assert_eq!(
            written["annotations"]["priority"].as_f64(),
            Some(1.0),
            "{written}"
        );

        let reports = Arc::new(Reports::default());
        let mut context = CallContext::new();
        context.progress = Some(reports.clone());
        call(
            "trigger-long-running-operation",
            json!({"duration": 0.2, "steps": 4}),
            context,
        )
        .await;
        let steps: Vec<f64> = reports
            .0
            .lock()
            .unwrap()
            .iter()
            .map(|step| step.progress)
            .collect();
        assert_eq!(steps, [1.0, 2.0, 3.0, 4.0]);

        let asked = Arc::new(Asked::default());
        let mut context = CallContext::new();
        context.elicitor = Some(asked.clone());
        let answered = call("trigger-elicitation-request", json!({}), context).await;
        assert_eq!(asked.0.lock().unwrap().len(), 1);
        assert!(
            answered.joined_text().contains("Grace Hopper"),
            "{}",
            answered.joined_text()
        );
        host.close().await.unwrap();
    };
    tokio::time::timeout(PATIENCE, test).await.unwrap();
    gateway.close().await;
}

/// A host's own loop: the model's next step is looked up in a script, and every call goes
/// to the session.
async fn host_loop(session: &Session, script: &[(&str, Value)]) -> Vec<String> {
    let mut answers = Vec::new();
    for (turn, (name, arguments)) in script.iter().enumerate() {
        let surface = session.surface(&Cancellation::new()).await.unwrap();
        let known = surface.tools.iter().any(|slot| &*slot.name == *name);
        assert!(known, "turn {turn}: the model is not offered {name}");
        let (id, name) = (format!("call_{turn}"), (*name).to_owned());
        let call = Call {
            id,
            name,
            arguments: arguments.clone(),
        };
        answers.push(session.call(call, CallContext::new()).await.text());
    }
    answers
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_with_a_loop_of_its_own_needs_no_gateway() {
    let server = StdioServer::new(real_server("time").unwrap());
    let group = ToolGroup::new(GroupId::new("time").unwrap(), server.clone())
        .declared_tools(["get_current_time", "convert_time"])
        .unwrap();
    let shelf = Shelf::builder().group(group).build().unwrap();
    let utc = json!({"timezone": "UTC"});
    let test = async {
        let dispatch = shelf
            .session(Arc::new(Dispatch::default()), SessionOptions::default())
            .unwrap();
        let answers = host_loop(
            &dispatch,
            &[
                ("load_tools", json!({"group_id": "time"})),
                (
                    "deferred_tool_call",
                    forward("get_current_time", utc.clone()),
                ),
            ],
        )
        .await;
        assert!(answers[0].contains("\"expanded\":true"), "{}", answers[0]);
        assert!(answers[1].contains("UTC"), "{}", answers[1]);

        let inject = shelf
            .session(Arc::new(Inject::default()), SessionOptions::default())
            .unwrap();
        let answers = host_loop(
            &inject,
            &[
                (
                    "load_tools",
                    json!({"group_id": "time", "tool_names": ["get_current_time"]}),
                ),
                ("time__get_current_time", utc.clone()),
            ],
        )
        .await;
        assert!(answers[1].contains("UTC"), "{}", answers[1]);
    };
    tokio::time::timeout(PATIENCE, test).await.unwrap();
    server.close().await;
}
