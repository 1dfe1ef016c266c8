//! All that the driver says to a model, byte for byte: the format `driver/1`.
//!
//! The texts on invalid arguments are pinned in `validation`.

use std::time::Duration;

use async_trait::async_trait;
use serde_json::json;
use toolshelf_core::{
    CallContext, Error, ErrorKind, FnTool, LoadContext, Loaded, Tool, ToolGroup, ToolKey,
    ToolResult,
};
use toolshelf_shelf::{Permission, Policy, Shelf, TEXT_FORMAT};
use toolshelf_testkit::faulty::Faulty;

use crate::GOLDEN;
use crate::fixtures::{
    ANY, Log, call, definition, dispatch, failing, forward, group, id, inject, refused, shelf,
};

#[test]
fn the_format_has_a_name_and_a_version() {
    assert_eq!(TEXT_FORMAT, "driver/1");
}

/// Denies for a reason.
struct Denies(&'static str);

#[async_trait]
impl Policy for Denies {
    async fn permit_name(&self, _key: &ToolKey, _context: &CallContext) -> Permission {
        Permission::Deny(self.0.to_owned())
    }
}

#[tokio::test(start_paused = true)]
async fn denied() {
    let mut texts = Vec::new();
    let long = "no ".repeat(1_000);
    for reason in ["", "Ask your user.", "`a`\n# b\u{202e}", long.leak()] {
        let shelf = Shelf::builder()
            .group(group(&Log::default(), "g", &["t"]))
            .policy(Denies(reason))
            .build()
            .unwrap();
        texts.push(forward(&dispatch(&shelf), "t", json!({})).await.text());
    }
    GOLDEN.check("denied", &texts.join("\n---\n"));
}

#[tokio::test(start_paused = true)]
async fn group_not_available() {
    let log = Log::default();
    let sign_in = |_: LoadContext| async {
        Err(
            Error::new(ErrorKind::NeedsSignIn, "401 from https://secret.example")
                .for_model_text("The server 'b' wants its user to sign in."),
        )
    };
    let shelf = shelf([
        failing(&log, "a", &["t"]),
        ToolGroup::new(id("b"), sign_in)
            .declared_tools(["u"])
            .unwrap(),
        Faulty::panics().group("c").declared_tools(["v"]).unwrap(),
    ]);
    let session = dispatch(&shelf);
    let mut texts = Vec::new();
    for name in ["a/t", "a/t", "b/u", "c/v"] {
        texts.push(forward(&session, name, json!({})).await.text());
    }
    GOLDEN.check("group-not-available", &texts.join("\n---\n"));
}

#[tokio::test(start_paused = true)]
async fn no_such_tool() {
    let log = Log::default();
    let session = inject(&shelf([
        group(&log, "files", &["read_file", "write_file"]),
        group(&log, "other", &["read_file"]),
    ]));
    let mut texts = Vec::new();
    for name in [
        "files/raed_file",
        "files/zzz",
        "raed_file",
        "load_tool",
        "zzz",
        "`x`\n# y",
    ] {
        texts.push(call(&session, name, json!({})).await.text());
    }
    GOLDEN.check("no-such-tool", &texts.join("\n---\n"));
}

#[tokio::test(start_paused = true)]
async fn call_failed() {
    fn of<Fut>(function: impl Fn() -> Fut + Send + Sync + 'static) -> ToolGroup
    where
        Fut: Future<Output = Result<ToolResult, Error>> + Send + 'static,
    {
        let function = std::sync::Arc::new(function);
        ToolGroup::new(id("g"), move |_: LoadContext| {
            let function = function.clone();
            let tool = FnTool::new(definition("t", ANY), move |_, _| function());
            let tool: std::sync::Arc<dyn Tool> = std::sync::Arc::new(tool);
            async move { Ok(Loaded::new([tool])) }
        })
        .declared_tools(["t"])
        .unwrap()
    }
    let mut texts = Vec::new();
    for group in [
        of(|| async { Err(refused()) }),
        of(|| async { Err(Error::new(ErrorKind::Protocol, "a secret")) }),
        of(|| async { panic!("a secret") }),
        of(std::future::pending),
    ] {
        let session = dispatch(&shelf([group]));
        texts.push(forward(&session, "t", json!({})).await.text());
    }
    // Cancelled by its caller.
    let session = dispatch(&shelf([of(std::future::pending)]));
    let context = CallContext::new();
    let cancellation = context.cancellation.clone();
    let request = crate::fixtures::forward_request("t", json!({}));
    let (report, ()) = futures::future::join(session.call(request, context), async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        cancellation.cancel();
    })
    .await;
    texts.push(report.text());
    GOLDEN.check("call-failed", &texts.join("\n---\n"));
    assert!(!texts.concat().contains("secret"));
}

#[tokio::test(start_paused = true)]
async fn not_resolved_in_time() {
    let session = dispatch(&shelf([Faulty::hangs().group("g")]));
    let mut texts = Vec::new();
    for (name, arguments) in [
        ("load_tools", json!({"group_id": "g"})),
        ("deferred_tool_call", json!({"tool_name": "g/t"})),
    ] {
        let mut context = CallContext::new();
        let left = Duration::from_secs(2);
        context.deadline = Some(std::time::Instant::now() + left);
        let request = crate::fixtures::request(name, arguments);
        texts.push(session.call(request.clone(), context).await.text());
        let context = CallContext::new();
        context.cancellation.cancel();
        texts.push(session.call(request, context).await.text());
    }
    GOLDEN.check("not-resolved", &texts.join("\n---\n"));
}
