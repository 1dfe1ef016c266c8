//! Processes that stay.

use std::sync::Arc;

use serde_json::json;

use super::Verdict;
use crate::processes::COUNTED;
use crate::report::{Bad, Good};
use crate::stage::{Session, Setup, Stage};

pub(super) async fn after_close(setup: Arc<Setup>) -> Verdict {
    let (mut session, before) = begin(&setup).await?;
    session.host.close_input();
    let ended = tokio::time::timeout(setup.patience, session.host.child.wait()).await;
    if ended.is_err() {
        let seconds = setup.patience.as_secs();
        let seen = format!("the gateway still ran {seconds} s after the end of its input");
        return Err(Bad::failed(seen));
    }
    nothing_left(&session, before).await
}

pub(super) async fn after_kill(setup: Arc<Setup>) -> Verdict {
    let (mut session, before) = begin(&setup).await?;
    if let Err(cause) = session.host.child.kill().await {
        return Err(Bad::failed(format!(
            "the gateway cannot be killed: {cause}"
        )));
    }
    nothing_left(&session, before).await
}

/// Starts a plain server, a stubborn one, and one with a child.
async fn begin(setup: &Arc<Setup>) -> Result<(Session, usize), Bad> {
    if !COUNTED {
        return Err(Bad::skipped(
            "processes are counted by /proc, which only Linux has",
        ));
    }
    let servers: [(&str, &[&str]); 3] = [
        ("plain", &[]),
        ("stubborn", &["stays"]),
        ("parent", &["child"]),
    ];
    let stage = servers
        .iter()
        .fold(Stage::new(setup)?, |stage, (name, words)| {
            stage.server(name, words)
        });
    let session = stage.start().await?;
    for (name, _) in servers {
        session.echo_within(name, "runs", setup.patience).await?;
    }
    let count = session.family().look();
    Ok((session, count))
}

async fn nothing_left(session: &Session, before: usize) -> Verdict {
    let gone = |session: &Session| session.family().look() == 0;
    if session.until(gone, session.patience()).await {
        return Ok(Good {
            seen: format!("all {before} processes that it had started ended"),
            figures: json!({"before": before, "after": 0}),
        });
    }
    let family = session.family();
    let left = family.left();
    let mut bad = Bad::failed(format!(
        "{} of {before} processes were left after {} s: {}",
        left.len(),
        session.patience().as_secs(),
        left.join(", ")
    ));
    bad.figures = json!({"before": before, "after": left.len()});
    Err(bad)
}
