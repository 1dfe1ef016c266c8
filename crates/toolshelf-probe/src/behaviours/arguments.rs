//! Arguments in other forms than a gateway asks for.

use std::sync::Arc;

use serde_json::json;

use super::Verdict;
use crate::adapter::Form;
use crate::report::Bad;
use crate::stage::{Session, Setup, Stage};

pub(super) async fn as_text(setup: Arc<Setup>) -> Verdict {
    in_form(&setup, Form::Text).await
}

pub(super) async fn flattened(setup: Arc<Setup>) -> Verdict {
    in_form(&setup, Form::Flat).await
}

async fn in_form(setup: &Arc<Setup>, form: Form) -> Verdict {
    let session = forwarder(setup).await?;
    let before = session.calls("alpha").len();
    let call = session.form_as("alpha", "echo", &json!({"text": "kept whole"}), form);
    let sent = session.send(call).await;
    let answer = session.answer(sent).await?;
    let words = answer.words();
    let calls = session.calls("alpha").split_off(before);
    match calls.first().map(String::as_str) {
        Some(r#"echo {"text":"kept whole"}"#) => Ok("read".into()),
        Some(call) => Err(Bad::failed(format!("the server was called with {call}"))),
        None if !answer.is_error() => Err(Bad::failed(format!(
            "nothing was called, and that was no error: {words}"
        ))),
        None => Ok(format!("refused: {words}").into()),
    }
}

pub(super) async fn missing(setup: Arc<Setup>) -> Verdict {
    let session = forwarder(&setup).await?;
    let before = session.calls("alpha").len();
    let answer = session.call("alpha", "echo", json!({})).await?;
    let words = answer.words();
    if let Some(call) = session.calls("alpha").get(before) {
        return Err(Bad::failed(format!("the server was called: {call}")));
    }
    if !answer.is_error() {
        return Err(Bad::failed(format!("that was no error: {words}")));
    }
    if !words.contains("text") {
        return Err(Bad::failed(format!(
            "the answer does not name the argument: {words}"
        )));
    }
    Ok(format!("refused: {words}").into())
}

async fn forwarder(setup: &Arc<Setup>) -> Result<Session, Bad> {
    if setup.adapter.is_direct() {
        return Err(Bad::not_applicable(
            "hosts call the tools themselves, with arguments as MCP has them",
        ));
    }
    let session = Stage::new(setup)?.server("alpha", &[]).start().await?;
    session
        .echo_within("alpha", "ready", setup.patience)
        .await?;
    Ok(session)
}
