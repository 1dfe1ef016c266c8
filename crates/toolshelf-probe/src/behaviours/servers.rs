//! Servers that are slow, dead, noisy, or list their tools oddly.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::Verdict;
use crate::report::Bad;
use crate::stage::{Session, Setup, Stage};

/// What `stderr-flood` writes at the start and again in a call, in bytes.
const FLOOD: u64 = 20_000_000;

/// A list that is asked for more often than this has no end in sight.
const MANY_PAGES: usize = 1_000;

pub(super) async fn slow(setup: Arc<Setup>) -> Verdict {
    let patience = setup.patience;
    let stage = Stage::new(&setup)?;
    let gate = stage.path("gate");
    let closed = "while a server was still starting";
    let stage = stage
        .server("slow", &[&format!("gate={}", gate.display())])
        .server("good", &[]);
    let session = stage.start().await.map_err(|bad| bad.when(closed))?;
    session.list().await.map_err(|bad| bad.when(closed))?;
    let good = session.echo_within("good", "meanwhile", patience).await;
    good.map_err(|bad| bad.when(closed))?;
    std::fs::write(&gate, "")
        .map_err(|cause| Bad::failed(format!("cannot write a file: {cause}")))?;
    let late = session.echo_within("slow", "at last", patience * 2).await;
    late.map_err(|bad| bad.when("although it had started"))?;
    Ok("others were listed and called while it started; then it was called".into())
}

pub(super) async fn warm_up(setup: Arc<Setup>) -> Verdict {
    const START: Duration = Duration::from_secs(15);
    let patience = START + setup.patience * 2;
    let words = format!("start={}", START.as_millis());
    // A gateway that has others wait for it meanwhile is the matter of `slow`.
    let patient = Arc::new(Setup {
        patience,
        ..Setup::clone(&setup)
    });
    let session = Stage::new(&patient)?
        .server("late", &[&words])
        .start()
        .await?;
    session.echo_within("late", "warm", patience).await?;
    let starts = session.count("late", "pid ");
    Ok(format!("called after 15 s, {} started", times(starts)).into())
}

pub(super) async fn dead(setup: Arc<Setup>) -> Verdict {
    let stage = Stage::new(&setup)?
        .server("dead", &["exit=3"])
        .missing_server("missing")
        .server("good", &[]);
    let session = stage.start().await?;
    session.list().await?;
    session.echo_within("good", "alive", setup.patience).await?;
    let mut seen = Vec::new();
    for server in ["dead", "missing"] {
        let answer = session.call(server, "echo", json!({"text": "?"})).await?;
        let words = answer.words();
        if !answer.is_error() {
            let seen = format!("a call to the {server} server was no error: {words}");
            return Err(Bad::failed(seen));
        }
        seen.push(format!("{server}: {words}"));
    }
    Ok(seen.join("; ").into())
}

pub(super) async fn crash(setup: Arc<Setup>) -> Verdict {
    let stage = Stage::new(&setup)?
        .server("fragile", &[])
        .server("good", &[]);
    let session = stage.start().await?;
    session
        .echo_within("fragile", "before", setup.patience)
        .await?;
    let answer = session.call("fragile", "crash", json!({})).await?;
    let words = answer.words();
    if !answer.is_error() {
        return Err(Bad::failed(format!(
            "the call that crashed was no error: {words}"
        )));
    }
    session.echo("good", "untouched").await?;
    let back = session
        .echo_within("fragile", "again", setup.patience * 2)
        .await;
    back.map_err(|bad| bad.when("after a crash"))?;
    Ok(format!("the call: {words}; then the server ran again").into())
}

pub(super) async fn banner(setup: Arc<Setup>) -> Verdict {
    let stage = Stage::new(&setup)?.server("noisy", &["banner", "chatter"]);
    let session = stage.start().await?;
    session
        .echo_within("noisy", "through the noise", setup.patience)
        .await?;
    match session.host.noise() {
        0 => Ok("called through its noise".into()),
        lines => Err(Bad::failed(format!(
            "called, but the gateway itself wrote {lines} lines that are no messages"
        ))),
    }
}

pub(super) async fn stderr_flood(setup: Arc<Setup>) -> Verdict {
    let stage = Stage::new(&setup)?.server("noisy", &[&format!("flood={FLOOD}")]);
    let session = stage.start().await?;
    session
        .echo_within("noisy", "after the flood", setup.patience)
        .await?;
    session
        .must("noisy", "flood", json!({"bytes": FLOOD}))
        .await?;
    session.echo("noisy", "after another").await?;
    Ok("20 MB at its start and 20 MB in a call held nothing up".into())
}

pub(super) async fn pages(setup: Arc<Setup>) -> Verdict {
    let stage = Stage::new(&setup)?.server("paged", &["pages=5"]);
    let session = stage.start().await?;
    ready(&session, "paged", "tool_1").await?;
    let answer = session.must("paged", "tool_5", json!({})).await?;
    if !answer.text.contains("tool_5") {
        let words = answer.words();
        return Err(Bad::failed(format!("the tool of page 5 answered {words}")));
    }
    if session.count("paged", "list page-5") == 0 {
        return Err(Bad::failed(
            "page 5 was never asked for, so that no model hears of its tools",
        ));
    }
    let schema = session.schema("paged", "tool_5").await?;
    if !schema.contains("tool_5") && !schema.contains("object") {
        return Err(Bad::failed(format!(
            "the tool of page 5 is not shown: {schema}"
        )));
    }
    Ok("the tool of page 5 was shown and called".into())
}

pub(super) async fn repeated_cursor(setup: Arc<Setup>) -> Verdict {
    let stage = Stage::new(&setup)?
        .server("circle", &["pages=circle"])
        .server("good", &[]);
    let session = stage.start().await?;
    session.list().await?;
    session
        .echo_within("good", "not in the circle", setup.patience)
        .await?;
    let answer = session.call("circle", "tool_1", json!({})).await?;
    let words = answer.words();
    let asked = session.count("circle", "list ");
    if asked > MANY_PAGES {
        return Err(Bad::failed(format!("its list was asked for {asked} times")));
    }
    Ok(format!("given up after {asked} pages; a call: {words}").into())
}

pub(super) async fn malformed_tool(setup: Arc<Setup>) -> Verdict {
    let stage = Stage::new(&setup)?.server("odd", &["list=malformed"]);
    let session = stage.start().await?;
    ready(&session, "odd", "first_good").await?;
    session
        .must("odd", "last_good", json!({"text": "x"}))
        .await?;
    for tool in session.list().await?.tools {
        if !tool["name"].is_string() || tool["inputSchema"]["type"] != "object" {
            let seen = format!("its list passes on what a strict host refuses: {tool}");
            return Err(Bad::failed(seen));
        }
    }
    Ok("the good tools among the malformed ones were called".into())
}

pub(super) async fn one_process(setup: Arc<Setup>) -> Verdict {
    let stage = Stage::new(&setup)?.server("kept", &[]);
    let session = stage.start().await?;
    session.echo_within("kept", "first", setup.patience).await?;
    let before = session.count("kept", "pid ");
    for call in 0..5 {
        session.echo("kept", &format!("call {call}")).await?;
    }
    match session.count("kept", "pid ") - before {
        0 => Ok("five calls started no other process".into()),
        more => Err(Bad::failed(format!("five calls started {}", times(more)))),
    }
}

/// Waits until a tool of a server can be called.
async fn ready(session: &Session, server: &str, tool: &str) -> Result<(), Bad> {
    let until = std::time::Instant::now() + session.patience();
    loop {
        match session.must(server, tool, json!({})).await {
            Ok(_) => return Ok(()),
            Err(bad) if std::time::Instant::now() >= until => return Err(bad),
            Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
        }
    }
}

fn times(number: usize) -> String {
    match number {
        1 => "one process".to_owned(),
        number => format!("{number} processes"),
    }
}
