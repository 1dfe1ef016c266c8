//! Servers whose lists change.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;

use super::Verdict;
use crate::report::Bad;
use crate::stage::{Session, Setup, Stage};

const INTERVAL: Duration = Duration::from_millis(100);

pub(super) async fn list_changed(setup: Arc<Setup>) -> Verdict {
    let session = begin(&setup).await?;
    change(&session, "more").await?;
    // It is shown before it is called: a call alone may make the gateway look again.
    let shown = shows(&session, "refund", &["refund", "amount"]).await?;
    shown.map_err(|last| Bad::failed(format!("the new tool is not shown: {last}")))?;
    let answer = session.must("shop", "refund", json!({"amount": 3})).await?;
    if !answer.text.contains("refund") {
        let words = answer.words();
        return Err(Bad::failed(format!("the new tool answered {words}")));
    }
    change(&session, "gone").await?;
    let until = Instant::now() + setup.patience;
    loop {
        let answer = session.call("shop", "pay", json!({"amount": 3})).await?;
        if answer.is_error() {
            let words = answer.words();
            return Ok(format!("a new tool was shown and called; one that went: {words}").into());
        }
        if Instant::now() >= until {
            return Err(Bad::failed("a tool that went is still answered for"));
        }
        tokio::time::sleep(INTERVAL).await;
    }
}

pub(super) async fn changed_schema(setup: Arc<Setup>) -> Verdict {
    let session = begin(&setup).await?;
    let before = session.schema("shop", "pay").await?;
    if before.contains("currency") || !before.contains("amount") {
        return Err(Bad::failed(format!("its schema was shown as {before}")));
    }
    change(&session, "schema").await?;
    let shown = shows(&session, "pay", &["currency"]).await?;
    shown.map_err(|last| Bad::failed(format!("the old schema is still shown: {last}")))?;
    let arguments = json!({"amount": 3, "currency": "EUR"});
    let answer = session.must("shop", "pay", arguments).await?;
    if !answer.text.contains("EUR") {
        let words = answer.words();
        return Err(Bad::failed(format!("the tool answered {words}")));
    }
    Ok("the new schema was shown, and a call by it was made".into())
}

async fn begin(setup: &Arc<Setup>) -> Result<Session, Bad> {
    let stage = Stage::new(setup)?.server("shop", &["changes"]);
    let session = stage.start().await?;
    let until = Instant::now() + setup.patience;
    loop {
        match session.must("shop", "pay", json!({"amount": 1})).await {
            Ok(_) => return Ok(session),
            Err(bad) if Instant::now() >= until => return Err(bad),
            Err(_) => tokio::time::sleep(INTERVAL).await,
        }
    }
}

async fn change(session: &Session, to: &str) -> Result<(), Bad> {
    session.must("shop", "change", json!({"to": to})).await?;
    Ok(())
}

/// Waits until the gateway shows a tool with these words; else what it shows.
async fn shows(session: &Session, tool: &str, words: &[&str]) -> Result<Result<(), String>, Bad> {
    let until = Instant::now() + session.patience();
    loop {
        let schema = session.schema("shop", tool).await?;
        if words.iter().all(|word| schema.contains(word)) {
            return Ok(Ok(()));
        }
        if Instant::now() >= until {
            return Ok(Err(schema));
        }
        tokio::time::sleep(INTERVAL).await;
    }
}
