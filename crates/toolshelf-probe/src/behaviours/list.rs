//! The gateway's own list.

use std::sync::Arc;

use serde_json::json;

use super::Verdict;
use crate::report::{Bad, Good};
use crate::stage::{Setup, Stage};

/// The tools of the servers: those of a plain one, two of one that changes, and many.
const TOOLS: usize = 11 + 2 + 200;

pub(super) async fn bytes(setup: Arc<Setup>) -> Verdict {
    let stage = Stage::new(&setup)?
        .server("alpha", &[])
        .server("shop", &["changes"])
        .server("many", &["list=many:200"]);
    let session = stage.start().await?;
    let start = session.list().await?;
    session
        .echo_within("alpha", "first", setup.patience)
        .await?;
    for call in 0..10 {
        session.echo("alpha", &format!("call {call}")).await?;
        session.schema("many", &format!("tool_{call:04}")).await?;
    }
    session.search("the thing number 7").await?;
    let after_calls = session.list().await?;
    // Where each tool of a server is one of the list, a list that changes has to change it.
    if !setup.adapter.is_direct() {
        session
            .must("shop", "change", json!({"to": "more"}))
            .await?;
    }
    // What a crash costs otherwise is the matter of `crash`.
    let _ = session.call("alpha", "crash", json!({})).await;
    let _ = session.echo_within("alpha", "again", setup.patience).await;
    let later = session.list().await?;
    let (first, second, third) = (start.text.len(), after_calls.text.len(), later.text.len());
    let figures = json!({
        "start": first, "after_calls": second, "later": third,
        "own_tools": start.tools.len(), "server_tools": TOOLS,
    });
    let same = start.text == after_calls.text && start.text == later.text;
    if same {
        return Ok(Good {
            seen: format!(
                "{first} bytes before {TOOLS} tools, the same at the start, after calls and later"
            ),
            figures,
        });
    }
    let mut bad = Bad::failed(format!(
        "{first} bytes at the start, {second} after calls, {third} later{}",
        if first == second && second == third {
            ", but others"
        } else {
            ""
        }
    ));
    bad.figures = figures;
    Err(bad)
}
