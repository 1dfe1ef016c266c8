//! What a call through `deferred_tool_call` means.

use toolshelf_catalog::texts;
use toolshelf_core::nearest::nearest;
use toolshelf_core::{Answer, Availability, Cx, Resolution, Step, ToolKey};

use crate::call::{ambiguous, execute, needs, probe, unreadable};
use crate::envelope::{self, Envelope};
use crate::lookup::{Lookup, lookup, shown};
use crate::split::Reach;

/// How many names an error suggests.
const SUGGESTIONS: usize = 5;

/// A call that comes through `deferred_tool_call`.
pub(crate) fn resolve(cx: &Cx<'_>, mut envelope: Envelope, reach: Reach) -> Step<Resolution> {
    let key = match lookup(cx, &envelope.tool_name) {
        Lookup::Found(key) => key,
        Lookup::Ambiguous(keys) => return ambiguous(&envelope.tool_name, &keys),
        Lookup::Unknown { ask } if !ask.is_empty() => return probe(ask),
        Lookup::Unknown { .. } => {
            let near = suggestions(cx, &envelope.tool_name);
            let text = texts::unknown_tool(&envelope.tool_name, &near);
            return Step::Done(Resolution::Answer(Answer::error(text)));
        }
    };
    if let Some(needs) = needs(cx, &key) {
        return Step::Need(needs);
    }
    if let Availability::Ready(loaded) = cx.availability(&key.group)
        && let Some(tool) = loaded.get(key.tool.as_str())
    {
        let needed = Reach::needed(tool.definition().annotations());
        if needed > reach {
            let text = texts::wrong_forwarder(&key, needed.forwarder());
            return Step::Done(Resolution::Answer(Answer::error(text)));
        }
        envelope::strip_repeated_name(&mut envelope, tool.definition().input_schema());
    }
    match envelope.arguments {
        Ok(arguments) => {
            // A repair that was needed twice is told once.
            let mut repairs = envelope.repairs;
            repairs.sort_unstable();
            repairs.dedup();
            execute(key, arguments, repairs)
        }
        Err(text) => unreadable(cx, &key, &text),
    }
}

/// The qualified names nearest to a mistaken one.
fn suggestions(cx: &Cx<'_>, name: &str) -> Vec<String> {
    let mut known: Vec<ToolKey> = Vec::new();
    for (id, entry) in cx.groups.iter() {
        for tool in entry.names().unwrap_or_default() {
            let key = ToolKey::new(id.clone(), tool.clone());
            if shown(cx, &key) {
                known.push(key);
            }
        }
    }
    // The tool is what counts, whichever group was put before it.
    let tool = name.rsplit('/').next().unwrap_or(name);
    let near = nearest(tool, known.iter().map(|key| key.tool.as_str()), SUGGESTIONS);
    let mut qualified: Vec<String> = near
        .iter()
        .flat_map(|bare| known.iter().filter(move |key| key.tool == **bare))
        .map(ToString::to_string)
        .collect();
    // Among tools of the same name that of the nearest group comes first.
    let best = nearest(name, qualified.iter().map(String::as_str), 1)
        .first()
        .map(|best| (*best).to_owned());
    if let Some(at) = best.and_then(|best| qualified.iter().position(|name| *name == best)) {
        qualified[..=at].rotate_right(1);
    }
    qualified.truncate(SUGGESTIONS);
    qualified
}
