//! Names that several tools have, or none.

use std::sync::Arc;

use serde_json::json;

use super::{Verdict, begin};
use crate::adapter::Form;
use crate::host::Answer;
use crate::report::Bad;
use crate::stage::{Session, Setup};

pub(super) async fn same_name(setup: Arc<Setup>) -> Verdict {
    let session = begin(&setup).await?;
    let before = [calls(&session, "alpha"), calls(&session, "beta")];
    session.echo("alpha", "for alpha").await?;
    session.echo("beta", "for beta").await?;
    for (server, other, before) in [
        ("alpha", "for beta", before[0]),
        ("beta", "for alpha", before[1]),
    ] {
        let calls = session.calls(server);
        if calls.len() != before + 1 || calls.iter().any(|call| call.contains(other)) {
            return Err(Bad::failed(format!("{server} was called with {calls:?}")));
        }
    }
    Ok("each call ran at its own server".into())
}

pub(super) async fn ambiguous(setup: Arc<Setup>) -> Verdict {
    if setup.adapter.is_direct() {
        return Err(Bad::not_applicable(
            "each tool has a name of its own in its list",
        ));
    }
    if setup.adapter.names_servers() {
        return Err(Bad::not_applicable(
            "a call says its server beside the name",
        ));
    }
    let session = begin(&setup).await?;
    let words = refused(&session, "echo", "echo").await?.words();
    for server in ["alpha", "beta"] {
        if !words.contains(&setup.adapter.name_of(server, "echo")) {
            return Err(Bad::failed(format!(
                "neither ran, but the answer does not name both: {words}"
            )));
        }
    }
    Ok(format!("neither ran: {words}").into())
}

pub(super) async fn unknown(setup: Arc<Setup>) -> Verdict {
    let session = begin(&setup).await?;
    let tool = "no_such_tool_at_all";
    let name = setup.adapter.name_of("alpha", tool);
    let words = refused(&session, tool, &name).await?.words();
    Ok(format!("nothing ran: {words}").into())
}

pub(super) async fn near_miss(setup: Arc<Setup>) -> Verdict {
    if setup.adapter.is_direct() {
        return Err(Bad::not_applicable("all names stand in its list"));
    }
    let session = begin(&setup).await?;
    let tool = "togehter";
    let name = setup.adapter.name_of("alpha", tool);
    let words = refused(&session, tool, &name).await?.words();
    if !words.contains("together") {
        return Err(Bad::failed(format!(
            "nothing ran, but the answer names no candidate: {words}"
        )));
    }
    Ok(format!("nothing ran: {words}").into())
}

/// Calls by a name that must not run anything.
async fn refused(session: &Session, tool: &str, name: &str) -> Result<Answer, Bad> {
    let before = [calls(session, "alpha"), calls(session, "beta")];
    let adapter = &session.setup.adapter;
    let arguments = json!({"text": "x", "calls": 1});
    let call = adapter.forwarding(("alpha", tool, name), &arguments, Form::Object);
    let sent = session.send(call).await;
    let answer = session.answer(sent).await?;
    for (server, before) in ["alpha", "beta"].into_iter().zip(before) {
        let came = session.calls(server).split_off(before);
        // A gateway may leave it to the server to know its tools: it runs none that it has not.
        let runs = |call: &&String| tool == "echo" || !call.starts_with(&format!("{tool} "));
        if let Some(call) = came.iter().find(runs) {
            return Err(Bad::failed(format!("'{name}' ran {server}'s {call}")));
        }
    }
    match answer.is_error() {
        true => Ok(answer),
        false => Err(Bad::failed(format!(
            "'{name}' was no error: {}",
            answer.words()
        ))),
    }
}

fn calls(session: &Session, server: &str) -> usize {
    session.calls(server).len()
}
