//! Our client against our server over a pipe in memory.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test states its expectation by failing on the spot"
)]

mod support;

use std::sync::Arc;

use serde_json::json;
use support::*;
use toolshelf_core::{CallContext, Cancellation, ErrorKind, ToolOutcome};
use toolshelf_mcp::{ClientOptions, Era, Lifecycle, McpClient, ServeOptions, serve};

/// A client and a server that speak to each other.
async fn connected(lifecycle: Lifecycle, server: Fixture) -> McpClient {
    let (near, far) = (tokio::io::duplex(4_096), tokio::io::duplex(4_096));
    tokio::spawn(serve(
        near.1,
        far.0,
        Arc::new(server),
        ServeOptions::default(),
        Cancellation::new(),
    ));
    let mut options = ClientOptions::new("fixture");
    options.lifecycle = lifecycle;
    options.elicitation = true;
    McpClient::connect(far.1, near.0, options).await.unwrap()
}

#[tokio::test]
async fn both_eras_agree_list_and_call() {
    within(async {
        for (lifecycle, modern, revision) in [
            (Lifecycle::Auto, true, "2026-07-28"),
            (Lifecycle::Initialize, false, "2025-11-25"),
        ] {
            let client = connected(lifecycle, Fixture::default()).await;
            assert_eq!(client.is_modern(), modern);
            let info = client.server_info();
            assert_eq!(info.protocol.as_deref(), Some(revision));
            assert_eq!(info.name.as_deref(), Some("fixture"));
            let era = if modern { Era::Modern } else { Era::Handshake };
            assert_eq!(info.instructions.as_deref(), Some(&*format!("{era:?}")));

            let list = client.list_tools(&Default::default()).await.unwrap();
            let texts: Vec<&str> = list
                .tools
                .iter()
                .map(|tool| tool.descriptor().as_str())
                .collect();
            assert_eq!(texts, DESCRIPTORS);

            let outcome = client
                .call_tool("echo", json!("a string"), CallContext::new())
                .await
                .unwrap();
            let ToolOutcome::Complete(result) = outcome else {
                panic!("{outcome:?}");
            };
            assert_eq!(result.joined_text(), r#"echo("a string")"#);
            client.close().await;
            assert!(!client.is_connected());
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_calls_at_once_get_their_own_answers() {
    within(async {
        for lifecycle in [Lifecycle::Auto, Lifecycle::Initialize] {
            let client = connected(lifecycle, Fixture::default()).await;
            let mut calls = tokio::task::JoinSet::new();
            for n in 0..300 {
                let client = client.clone();
                calls.spawn(async move {
                    let cancellable = n % 3 == 0;
                    let mut context = CallContext::new();
                    if cancellable {
                        // Given up at some point between sending and answer.
                        let cancel = Cancellation::new();
                        context.cancellation = cancel.clone();
                        tokio::spawn(async move {
                            for _ in 0..n % 7 {
                                tokio::task::yield_now().await;
                            }
                            cancel.cancel();
                        });
                    }
                    match client.call_tool("echo", json!({ "n": n }), context).await {
                        Ok(ToolOutcome::Complete(result)) => {
                            assert_eq!(result.joined_text(), format!(r#"echo({{"n":{n}}})"#));
                        }
                        Err(error) if cancellable => {
                            assert_eq!(error.kind(), ErrorKind::Cancelled);
                        }
                        other => panic!("{other:?}"),
                    }
                });
            }
            while let Some(call) = calls.join_next().await {
                call.unwrap();
            }
            client.close().await;
        }
    })
    .await;
}
