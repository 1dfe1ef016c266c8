//! What a model may know of a group, and tools as a request offers them.

use std::sync::Arc;

use toolshelf_core::{
    Availability, Cx, Exposure, GroupEntry, Need, ToolDefinition, ToolKey, ToolName, ToolSlot,
};

use crate::lookup::shown;
use crate::slots::offered;

/// The names of a group that the model may know; `None` while none are known.
pub(crate) fn shown_names<'a>(cx: &Cx<'_>, entry: &'a GroupEntry) -> Option<Vec<&'a ToolName>> {
    let id = &entry.group.id;
    let mut names = entry.names()?;
    names.retain(|name| shown(cx, &ToolKey::new(id.clone(), (*name).clone())));
    Some(names)
}

/// Whether the model may know of a group: one that has tools, but none for the model, does
/// not exist for it.
pub(crate) fn group_shown(cx: &Cx<'_>, entry: &GroupEntry) -> bool {
    if entry.group.exposure == Exposure::Hidden {
        return false;
    }
    let empty = entry.names().is_some_and(|names| names.is_empty());
    empty || shown_names(cx, entry).is_none_or(|names| !names.is_empty())
}

/// The slots of the tools that are in every request, or what has to be loaded first. A
/// strategy's own tools are never shadowed.
pub(crate) fn eager_slots(cx: &Cx<'_>, own: &[&str]) -> Result<Vec<ToolSlot>, Vec<Need>> {
    let mut slots = Vec::new();
    let mut needs = Vec::new();
    for (id, entry) in cx.groups.iter() {
        let eager_group = matches!(entry.group.exposure, Exposure::Core | Exposure::Always);
        match cx.availability(id) {
            Availability::Ready(loaded) => {
                slots.extend(
                    loaded
                        .tools
                        .iter()
                        .filter(|tool| {
                            matches!(tool.exposure, Exposure::Core | Exposure::Always)
                                && cx.visible(&tool.key)
                                && offered(cx, tool)
                                && !own.contains(&&*tool.wire_name)
                        })
                        .map(ToolSlot::of),
                );
            }
            Availability::Unsettled if eager_group => needs.push(Need::Load(id.clone())),
            _ => {}
        }
    }
    if needs.is_empty() {
        Ok(slots)
    } else {
        Err(needs)
    }
}

/// The slot of a strategy's own tool.
pub(crate) fn own_slot(definition: ToolDefinition) -> ToolSlot {
    ToolSlot {
        name: Arc::from(definition.name().as_str()),
        definition: Arc::new(definition),
        key: None,
        defer_loading: false,
    }
}
