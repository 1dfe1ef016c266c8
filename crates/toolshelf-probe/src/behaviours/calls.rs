//! What belongs to a call beside its result.

use std::sync::Arc;

use serde_json::json;

use super::{Verdict, begin};
use crate::report::Bad;
use crate::stage::{Session, Setup};

pub(super) async fn progress(setup: Arc<Setup>) -> Verdict {
    let session = begin(&setup).await?;
    let call = session.form("alpha", "steps", &json!({"count": 3, "every_ms": 100}));
    let (sent, token) = session.send_with_token(call).await;
    let answer = session.answer(sent).await?;
    // Messages of one pipe come in their order: what is not here came after the result.
    let steps = session.host.progress(&token);
    if answer.is_error() {
        return Err(Bad::failed(format!("the call failed: {}", answer.words())));
    }
    let rises = steps.windows(2).all(|pair| pair[0] < pair[1]);
    if steps.len() == 3 && rises {
        return Ok("three reports came before the result".into());
    }
    Err(Bad::failed(format!(
        "of three reports came {steps:?} before the result"
    )))
}

pub(super) async fn cancellation(setup: Arc<Setup>) -> Verdict {
    let session = begin(&setup).await?;
    let sent = hang(&session).await?;
    let params = json!({"requestId": sent.id, "reason": "no longer needed"});
    session.host.notify("notifications/cancelled", params).await;
    let heard = |session: &Session| session.count("alpha", "cancelled") > 0;
    if !session.until(heard, setup.patience).await {
        let seconds = setup.patience.as_secs();
        return Err(Bad::failed(format!(
            "the server heard nothing of it within {seconds} s"
        )));
    }
    session.echo("alpha", "afterwards").await?;
    Ok("the server heard of it, and answered the next call".into())
}

pub(super) async fn parallel(setup: Arc<Setup>) -> Verdict {
    let session = begin(&setup).await?;
    let before = session.count("alpha", "pid ");
    let mut sent = Vec::new();
    for name in ["first", "second", "third"] {
        let arguments = json!({"text": name, "calls": 3});
        sent.push((
            name,
            session
                .send(session.form("alpha", "together", &arguments))
                .await,
        ));
    }
    for (name, sent) in sent {
        let answer = session.answer(sent).await;
        let answer = answer.map_err(|bad| {
            let came = session.count("alpha", "call together");
            // The server answers once all are there, which they never are in several processes.
            if came == 3 && session.count("alpha", "pid ") > before {
                return Bad::not_applicable(
                    "all were at the server at once, but in processes of their own",
                );
            }
            bad.when(&format!("of three calls at once {came} reached the server"))
        })?;
        if !answer.text.contains(name) {
            let words = answer.words();
            return Err(Bad::failed(format!(
                "the {name} call was answered with {words}"
            )));
        }
    }
    Ok("three calls were at the server at once; each got its own answer".into())
}

pub(super) async fn hanging_call(setup: Arc<Setup>) -> Verdict {
    let session = begin(&setup).await?;
    let _hangs = hang(&session).await?;
    let during = "while another call hung";
    session
        .echo("alpha", "same server")
        .await
        .map_err(|bad| bad.when(during))?;
    session
        .echo("beta", "other server")
        .await
        .map_err(|bad| bad.when(during))?;
    Ok("calls to the same and to another server were answered meanwhile".into())
}

/// Makes a call that is never answered, and waits until it is at its server.
async fn hang(session: &Session) -> Result<crate::host::Sent, Bad> {
    let sent = session
        .send(session.form("alpha", "hang", &json!({})))
        .await;
    let there = |session: &Session| session.count("alpha", "call hang") > 0;
    match session.until(there, session.patience()).await {
        true => Ok(sent),
        false => Err(Bad::failed("the call did not reach its server")),
    }
}
