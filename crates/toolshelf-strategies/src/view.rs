//! Groups as a catalog shows them, and tools as a request offers them.

use std::sync::Arc;

use toolshelf_core::catalog::CatalogGroup;
use toolshelf_core::{
    Availability, Cx, Exposure, GroupEntry, Need, ToolDefinition, ToolKey, ToolName, ToolSlot,
};

use crate::lookup::{exposure, shown};
use crate::slots::offered;

/// How many bytes the catalog has inside an MCP server's tool description.
pub(crate) const GATEWAY_CATALOG_BYTES: usize = 2_000;

/// Whether a group stands in a catalog at all.
fn is_deferred(entry: &GroupEntry) -> bool {
    matches!(entry.group.exposure, Exposure::Deferred)
}

/// All deferred groups with the names that are known of them. A group of which the model
/// may see no tool is left out.
pub(crate) fn catalog_groups<'a>(cx: &Cx<'a>) -> Vec<CatalogGroup<'a>> {
    let mut groups = Vec::new();
    for (id, entry) in cx.groups.iter().filter(|(_, entry)| is_deferred(entry)) {
        let mut names = shown_names(cx, entry);
        let empty = entry.names().is_some_and(|names| names.is_empty());
        if let Some(names) = &mut names {
            names.retain(|name| !is_pinned(cx, &ToolKey::new(id.clone(), (*name).clone())));
            if names.is_empty() && !empty {
                continue;
            }
        }
        groups.push(catalog_group(entry, names));
    }
    groups
}

/// The ids of the groups that stand in the catalog.
pub(crate) fn group_ids<'a>(cx: &Cx<'a>) -> Vec<&'a str> {
    let groups = catalog_groups(cx).into_iter();
    groups.map(|group| group.id.as_str()).collect()
}

fn is_pinned(cx: &Cx<'_>, key: &ToolKey) -> bool {
    exposure(cx, key).is_some_and(|exposure| matches!(exposure, Exposure::Always | Exposure::Core))
}

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

/// One group; what the host did not say of it, its server may have said.
pub(crate) fn catalog_group<'a>(
    entry: &'a GroupEntry,
    names: Option<Vec<&'a ToolName>>,
) -> CatalogGroup<'a> {
    let last = entry.last.as_ref();
    CatalogGroup {
        id: &entry.group.id,
        title: entry
            .group
            .title
            .as_deref()
            .or_else(|| last.and_then(|loaded| loaded.server.title.as_deref())),
        description: entry
            .group
            .description
            .as_deref()
            .or_else(|| last.and_then(|loaded| loaded.summary.as_deref())),
        names,
        partly_loaded: false,
    }
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
