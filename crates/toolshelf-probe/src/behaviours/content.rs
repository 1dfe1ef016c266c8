//! What arrives of results.

use std::sync::Arc;

use serde_json::{Value, json};
use toolshelf_faults::results;

use super::Verdict;
use crate::host::Answer;
use crate::report::Bad;
use crate::stage::{Setup, Stage};

pub(super) async fn images(setup: Arc<Setup>) -> Verdict {
    member(&setup, "picture", results::PICTURE, "content").await
}

pub(super) async fn structured(setup: Arc<Setup>) -> Verdict {
    member(
        &setup,
        "structured",
        results::STRUCTURED,
        "structuredContent",
    )
    .await
}

pub(super) async fn unknown_content(setup: Arc<Setup>) -> Verdict {
    member(&setup, "unknown content", results::UNKNOWN, "content").await
}

pub(super) async fn meta(setup: Arc<Setup>) -> Verdict {
    let answer = ask(&setup, "odd", json!({"how": "meta"})).await?;
    let sent: Value = serde_json::from_str(results::META).unwrap_or_default();
    let came = &answer.result["_meta"];
    // A gateway may add what it has to say.
    let members = sent["_meta"].as_object().into_iter().flatten();
    for (key, value) in members {
        if came[key] != *value {
            return Err(Bad::failed(format!("of _meta came {came}")));
        }
    }
    Ok("both members came as they were".into())
}

pub(super) async fn error_result(setup: Arc<Setup>) -> Verdict {
    const SAID: &str = "There is nothing to add.";
    let answer = ask(&setup, "fails", json!({})).await?;
    let words = answer.words();
    if answer.result["isError"] != true {
        return Err(Bad::failed(format!(
            "it is no result with isError any more: {words}"
        )));
    }
    if !words.contains(SAID) {
        return Err(Bad::failed(format!("its text did not come: {words}")));
    }
    Ok("isError and the text came, and its output schema was not held against it".into())
}

/// Compares a member of a result with what the server wrote.
async fn member(setup: &Arc<Setup>, how: &str, sent: &str, member: &str) -> Verdict {
    let answer = ask(setup, "odd", json!({"how": how})).await?;
    let written: Value = serde_json::from_str(sent).unwrap_or_default();
    if answer.result[member] != written[member] {
        let came = match &answer.result[member] {
            Value::Null => format!("no {member}: {}", answer.words()),
            came => difference(&written[member], came),
        };
        return Err(Bad::failed(format!("came as {came}")));
    }
    let text = raw_member(sent, member);
    match !text.is_empty() && answer.text.contains(text) {
        true => Ok("unchanged, byte for byte".into()),
        false => Ok("unchanged, in other bytes".into()),
    }
}

/// The first item that is different, or all of it.
fn difference(written: &Value, came: &Value) -> String {
    let (Some(written), Some(items)) = (written.as_array(), came.as_array()) else {
        return came.to_string();
    };
    let different = items
        .iter()
        .zip(written)
        .find(|(came, written)| came != written);
    match different {
        Some((came, written)) => format!("{came} instead of {written}"),
        None => format!("{} of {} items", items.len(), written.len()),
    }
}

/// The text of a member of an object.
fn raw_member<'a>(object: &'a str, member: &str) -> &'a str {
    let members: std::collections::BTreeMap<&str, &serde_json::value::RawValue> =
        serde_json::from_str(object).unwrap_or_default();
    members.get(member).map_or("", |raw| raw.get())
}

async fn ask(setup: &Arc<Setup>, tool: &str, arguments: Value) -> Result<Answer, Bad> {
    let session = Stage::new(setup)?.server("odd", &[]).start().await?;
    session.echo_within("odd", "ready", setup.patience).await?;
    session.call("odd", tool, arguments).await
}
