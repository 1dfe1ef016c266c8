//! Which tool a name means.
//!
//! A name may be qualified (`group/tool`), a name on the wire, or bare. Where it could
//! mean two tools, nothing is chosen.

use std::collections::BTreeSet;

use toolshelf_core::{Availability, Cx, Exposure, GroupId, ToolKey, ToolName};

/// What a name means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Lookup {
    /// This tool. It need not exist in its group.
    Found(ToolKey),
    /// One of these.
    Ambiguous(Vec<ToolKey>),
    /// Perhaps a tool of a group whose names are not known yet.
    Unknown {
        /// Groups that have to be asked for the names of their tools first.
        ask: Vec<GroupId>,
    },
}

/// Looks a name up.
///
/// Groups whose names are not known are asked only when no group with known names has
/// the tool: a bare name is a courtesy, and one server that hangs must not slow it down.
pub(crate) fn lookup(cx: &Cx<'_>, name: &str) -> Lookup {
    let name = name.trim().trim_matches('`').trim();
    let mut candidates: BTreeSet<ToolKey> = BTreeSet::new();
    for group in cx.groups.groups_with(name) {
        if let Ok(tool) = ToolName::new(name) {
            candidates.insert(ToolKey::new(group.clone(), tool));
        }
    }
    candidates.extend(cx.groups.by_wire_name(name).cloned());
    let qualified = cx.groups.qualified(name);
    if let Some(key) = &qualified
        && exists(cx, key).unwrap_or(true)
    {
        candidates.insert(key.clone());
    }
    candidates.retain(|key| shown(cx, key));
    let mut candidates: Vec<ToolKey> = candidates.into_iter().collect();
    if candidates.len() > 1 {
        return Lookup::Ambiguous(candidates);
    }
    if let Some(key) = candidates.pop() {
        return Lookup::Found(key);
    }
    // A qualified name of a group that does not have the tool: the driver says so, with
    // the names that the group has.
    if let Some(key) = qualified.filter(|key| shown(cx, key)) {
        return Lookup::Found(key);
    }
    let ask = cx
        .groups
        .iter()
        .filter(|(id, entry)| {
            !entry.names_known()
                && matches!(cx.availability(id), Availability::Unsettled)
                && ToolName::new(name).is_ok()
        })
        .map(|(id, _)| id.clone())
        .collect();
    Lookup::Unknown { ask }
}

/// Whether a group has a tool; `None` while its names are not known.
fn exists(cx: &Cx<'_>, key: &ToolKey) -> Option<bool> {
    let entry = cx.groups.get(key.group.as_str())?;
    if !entry.names_known() {
        return None;
    }
    Some(
        cx.groups
            .groups_with(key.tool.as_str())
            .binary_search(&key.group)
            .is_ok(),
    )
}

/// Whether the model may know of a tool.
pub(crate) fn shown(cx: &Cx<'_>, key: &ToolKey) -> bool {
    if !cx.visible(key) {
        return false;
    }
    let exposure = match cx.groups.tool(key) {
        Some(tool) => Some(tool.exposure),
        None => cx
            .groups
            .get(key.group.as_str())
            .map(|entry| entry.group.exposure),
    };
    exposure.is_some_and(|exposure| exposure != Exposure::Hidden)
}
