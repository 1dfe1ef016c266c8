//! What a call through `deferred_tool_call` means.

use toolshelf_catalog::texts;
use toolshelf_core::{Answer, Availability, Condition, Cx, GroupId, Lookup, Resolution, Step};

use crate::call::{ambiguous, execute, needs, probe, unreadable};
use crate::envelope::{self, Envelope};
use crate::near::nearest_tools;
use crate::split::Reach;

/// How many names an error suggests.
const SUGGESTIONS: usize = 5;

/// A call that comes through `deferred_tool_call`.
pub(crate) fn resolve(cx: &Cx<'_>, mut envelope: Envelope, reach: Reach) -> Step<Resolution> {
    let key = match cx.lookup(&envelope.tool_name) {
        Lookup::Found(key) => key,
        Lookup::Ambiguous(keys) => return ambiguous(&envelope.tool_name, &keys),
        Lookup::Unknown { ask } if !ask.is_empty() => return probe(ask),
        Lookup::Unknown { .. } => {
            let near = nearest_tools(cx, &envelope.tool_name, SUGGESTIONS);
            let mut text = texts::unknown_tool(&envelope.tool_name, &near);
            text.push_str(&texts::still_starting(&starting(cx)));
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

/// The groups that may have a tool that no other has.
fn starting(cx: &Cx<'_>) -> Vec<GroupId> {
    let starting = cx.groups.iter().filter(|(_, entry)| {
        !entry.names_known()
            && matches!(entry.condition, Condition::Pending)
            && cx.shows_group(entry)
    });
    starting.map(|(id, _)| id.clone()).collect()
}
