//! Groups as a catalog lists them.

use toolshelf_core::catalog::CatalogGroup;
use toolshelf_core::{Cx, Error, Exposure, GroupEntry, ToolDefinition, ToolKey, ToolName};

/// How many bytes the description of `load_tools` has in an MCP server, with the catalog.
const GATEWAY_DESCRIPTION_BYTES: usize = 2_000;

/// How many bytes the catalog has in the description of `load_tools` that `describe` makes
/// of it, or less where the host wants less.
pub(crate) fn gateway_budget(
    wanted: Option<usize>,
    describe: impl Fn(&str) -> Result<ToolDefinition, Error>,
) -> usize {
    let with_one_byte = describe("-").ok();
    let description = with_one_byte.as_ref().and_then(ToolDefinition::description);
    let before = description.map_or(0, |text| text.len() - 1);
    let room = GATEWAY_DESCRIPTION_BYTES.saturating_sub(before);
    wanted.unwrap_or(room).min(room)
}

/// Whether a group stands in a catalog at all.
fn is_deferred(entry: &GroupEntry) -> bool {
    matches!(entry.group.exposure, Exposure::Deferred)
}

/// All deferred groups with the names that are known of them. A group of which the model
/// may see no tool is left out.
pub(crate) fn catalog_groups<'a>(cx: &Cx<'a>) -> Vec<CatalogGroup<'a>> {
    let mut groups = Vec::new();
    for (id, entry) in cx.groups.iter().filter(|(_, entry)| is_deferred(entry)) {
        let mut names = cx.shown_names(entry);
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
    cx.exposure(key)
        .is_some_and(|exposure| matches!(exposure, Exposure::Always | Exposure::Core))
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
