//! `tour`: a whole session, played by a real client against a real gateway with real
//! servers behind it, all of them processes of this program.
//!
//! It is a check too: every answer is compared with what it should be.

mod act;
mod figures;
mod script;
mod show;
mod stage;

use std::time::Instant;

use serde_json::json;
use toolshelf_core::tokens::TokenCounter;

use self::act::Played;
use self::figures::Figures;
use self::stage::Stage;
use crate::arguments::TourArguments;
use crate::failure::Failure;
use crate::output::Output;
use crate::signals::guarded;
use crate::tokens::O200kBase;

pub(crate) async fn run(arguments: &TourArguments, output: &Output) -> Result<(), Failure> {
    let begun = Instant::now();
    let deferred = Stage::new("dispatch")?;
    let inline = Stage::new("standard")?;
    let shown = (!arguments.json).then_some(output);
    let playing = Box::pin(play(&deferred, &inline, shown));
    let (acts, mut figures) = guarded(playing, async {
        tokio::join!(deferred.close(), inline.close());
    })
    .await?;
    figures.seconds = begun.elapsed().as_secs_f64();
    let mut faults: Vec<String> = acts.iter().flat_map(Played::faults).collect();
    faults.extend(figures.faults());
    if arguments.json {
        output.write_json(&json!({
            "ok": faults.is_empty(),
            "faults": faults,
            "tokenizer": O200kBase.name(),
            "acts": acts.iter().map(Played::json).collect::<Vec<_>>(),
            "figures": figures.json(),
        }))?;
    } else {
        output.write(&show::figures(&figures, output))?;
    }
    if faults.is_empty() {
        return Ok(());
    }
    Err(Failure::server(format!(
        "the tour is not as it should be:\n- {}",
        faults.join("\n- ")
    )))
}

/// Plays all acts, and shows each as soon as it is over.
async fn play(
    deferred: &Stage,
    inline: &Stage,
    shown: Option<&Output>,
) -> Result<(Vec<Played>, Figures), Failure> {
    let (list, everything) = tokio::try_join!(deferred.list(), inline.list())?;
    if let Some(output) = shown {
        output.write(&show::opening(&list, everything.definitions.len(), output))?;
    }
    let mut figures = Figures::new(&list, &everything);
    let mut acts = Vec::new();
    for (number, act) in script::acts().into_iter().enumerate() {
        let mut played = Played::new(act);
        for turn in std::mem::take(&mut played.left) {
            let answer = deferred.call(&turn).await;
            // What a model's provider keeps in its cache is compared after every call.
            let now = deferred.list().await?;
            played.add(turn, answer, list.changed_bytes(&now));
        }
        figures.add(&played);
        if let Some(output) = shown {
            output.write(&show::act(number + 1, &played, output))?;
        }
        acts.push(played);
    }
    Ok((acts, figures))
}
