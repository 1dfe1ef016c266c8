//! What no model may hear of.

use toolshelf_core::{News, Resolution, Surface};

use super::{Subject, host, some_tools};
use crate::clause::{Verdict, alike, clause, require, short};
use crate::live::{Live, call, text, written};
use crate::world::{FOR_OPERATORS, World, key};

/// A text that a model reads, and where it stands.
struct Read {
    place: String,
    text: String,
}

/// The texts of a surface.
fn read(when: &str, surface: &Surface) -> Vec<Read> {
    let of = |what: &str, text: &str| Read {
        place: format!("{what} {when}"),
        text: text.to_owned(),
    };
    let mut texts = vec![of("the surface", &written(surface))];
    texts.extend(
        surface
            .instructions
            .iter()
            .map(|text| of("the instructions", text)),
    );
    for news in &surface.news {
        if let News::Unavailable { reason, .. } | News::Inline { reason } = news {
            texts.push(of("the news", reason));
        }
    }
    texts
}

/// All surfaces, and all answers to calls that do not name what must not be named.
fn everything(subject: &Subject, mut live: Live) -> Result<Vec<Read>, String> {
    let mut texts = read("at first", &live.surface()?);
    let mut calls = subject.calls();
    calls.extend(subject.search.map(|search| search("launch")));
    calls.extend(subject.search.map(|search| search("launch a thing")));
    calls.extend(subject.load.map(|load| load("mail", None)));
    calls.extend(subject.load.map(|load| load("mail", Some(&["luanch"]))));
    calls.extend(subject.load.map(|load| load("silo", None)));
    calls.push(call("mail/luanch", serde_json::json!({})));
    calls.extend(
        subject
            .forward
            .map(|forward| forward("luanch", serde_json::json!({}))),
    );
    for call in calls {
        let arguments = short(&format_args!("{}", call.arguments));
        let named = format!("`{}` with {arguments}", call.name);
        if let Resolution::Answer(answer) = live.call(&call)? {
            texts.push(Read {
                place: format!("the answer to {named}"),
                text: text(&answer),
            });
        }
        texts.extend(read(&format!("after {named}"), &live.surface()?));
    }
    live.world.load_all();
    texts.extend(read("when all is loaded", &live.surface()?));
    Ok(texts)
}

/// That no text has this in it; otherwise which, and the line.
fn nowhere(texts: &[Read], secret: &str) -> Result<(), String> {
    let guilty = texts.iter().find_map(|Read { place, text }| {
        let line = text.lines().position(|line| line.contains(secret))?;
        Some(format!(
            "`{secret}` stands in line {} of {place}: {}",
            line + 1,
            short(&format_args!(
                "{}",
                text.lines().nth(line).unwrap_or_default()
            ))
        ))
    });
    guilty.map_or(Ok(()), Err)
}

fn with_mail(names: &[&str]) -> World {
    let other = World::default()
        .core("host", &["read_file"])
        .group("chat", &["send", "rooms"])
        .undeclared("files", &["find", "copy"]);
    other.group("mail", names)
}

/// Surfaces over a session, one after the other.
fn surfaces(subject: &Subject, world: World) -> Result<String, String> {
    let mut live = subject.live(world);
    let mut all = vec![written(&live.surface()?)];
    for key in some_tools() {
        subject.disclose(&mut live, &key)?;
        all.push(written(&live.surface()?));
    }
    live.world.load_all();
    all.push(written(&live.surface()?));
    Ok(all.join("\n"))
}

/// A tool that does not exist for the model changes no byte of any surface: they are those of
/// a session in which nobody has it.
///
/// # Errors
///
/// When the clause does not hold.
pub fn a_denied_tool_costs_no_byte(subject: &Subject) -> Verdict {
    clause("a_denied_tool_costs_no_byte", || {
        let without = surfaces(subject, with_mail(&["send", "list"]))?;
        let denied = with_mail(&["send", "launch", "list"]).denying(&["launch"]);
        alike("the session", &without, &surfaces(subject, denied)?)?;
        let alone = with_mail(&["send", "list"]).group("silo", &["launch"]);
        let alone = alone.denying(&["launch"]);
        alike("the session", &without, &surfaces(subject, alone)?)
    })
}

/// A group that is hidden changes no byte of any surface, and none of its tools is offered.
///
/// # Errors
///
/// When the clause does not hold.
pub fn a_hidden_group_costs_no_byte(subject: &Subject) -> Verdict {
    clause("a_hidden_group_costs_no_byte", || {
        let without = surfaces(subject, with_mail(&["send", "list"]))?;
        let hidden = with_mail(&["send", "list"]).group("silo", &["launch"]);
        let hidden = hidden.changed("silo", super::always::hide);
        alike("the session", &without, &surfaces(subject, hidden)?)
    })
}

/// No answer names a tool that does not exist for the model, not even as a suggestion, and no
/// name runs it.
///
/// # Errors
///
/// When the clause does not hold.
pub fn a_denied_tool_is_named_by_no_answer(subject: &Subject) -> Verdict {
    clause("a_denied_tool_is_named_by_no_answer", || {
        let denied = || {
            let world = with_mail(&["send", "launch", "list"]).group("silo", &["launch"]);
            world.denying(&["launch"])
        };
        let texts = everything(subject, subject.live(denied()))?;
        // The query of a search is repeated in its answer; the tool's name in full is not.
        for name in ["mail/launch", "mail__launch", "silo/launch", "silo__launch"] {
            nowhere(&texts, name)?;
        }
        let mut live = subject.live(denied());
        live.world.load_all();
        let mut calls = vec![];
        for name in ["mail/launch", "mail__launch", "launch", "silo__launch"] {
            calls.push(call(name, serde_json::json!({})));
            calls.extend(
                subject
                    .forward
                    .map(|forward| forward(name, serde_json::json!({}))),
            );
        }
        for call in calls {
            let means = live.call(&call)?;
            let runs = matches!(means, Resolution::Execute { .. });
            require(!runs, || {
                format!("`{}` runs it: {:?}", call.name, call.arguments)
            })?;
        }
        let asked = subject.disclose(&mut live, &key("mail", "launch"))?;
        let answer = asked.map(|answer| text(&answer)).unwrap_or_default();
        require(!answer.contains("Does launch"), || {
            format!("a load or a search describes it: {answer}")
        })
    })
}

/// What an error says to operators stands in no text for a model: no surface, no news, no
/// answer.
///
/// # Errors
///
/// When the clause does not hold.
pub fn what_is_for_operators_reaches_no_model(subject: &Subject) -> Verdict {
    clause("what_is_for_operators_reaches_no_model", || {
        let mut failed = host().broken("dead", &["x"]).broken("silo", &["launch"]);
        failed.fail("mail");
        let texts = everything(subject, subject.live(failed))?;
        nowhere(&texts, FOR_OPERATORS)
    })
}
