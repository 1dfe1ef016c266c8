//! Which tool a name means, for planners.
//!
//! A name may be qualified (`group/tool`), a name on the wire, or bare. Where it could
//! mean two tools, nothing is chosen.

use std::collections::BTreeSet;

use crate::definition::Exposure;
use crate::id::{ToolKey, ToolName};
use crate::strategy::{Availability, Cx};

/// What a name means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lookup {
    /// This tool. It need not exist in its group.
    Found(ToolKey),
    /// One of these.
    Ambiguous(Vec<ToolKey>),
    /// Perhaps a tool of a group whose names are not known yet.
    Unknown {
        /// What it would be in the groups that have to be asked for their names first, each by
        /// a [`Need::Probe`](crate::Need::Probe).
        ask: Vec<ToolKey>,
    },
}

/// A name without the blanks and backticks that models put around it.
pub fn bare_name(name: &str) -> &str {
    name.trim().trim_matches('`').trim()
}

impl Cx<'_> {
    /// Looks up the name of a native call. What stands in the tools array under this name is
    /// what is meant, whichever deferred tools have it as their bare name.
    pub fn lookup_native(&self, name: &str) -> Lookup {
        match self.groups.by_wire_name(name) {
            Some(key) if self.shows(key) => Lookup::Found(key.clone()),
            _ => self.lookup(name),
        }
    }

    /// Looks a name up.
    ///
    /// Groups whose names are not known are asked only when no group with known names has
    /// the tool: a bare name is a courtesy, and one server that hangs must not slow it down.
    pub fn lookup(&self, name: &str) -> Lookup {
        let name = bare_name(name);
        let tool = ToolName::new(name).ok();
        let mut candidates: BTreeSet<ToolKey> = BTreeSet::new();
        if let Some(tool) = &tool {
            let groups = self.groups.groups_with(name).iter();
            candidates.extend(groups.map(|group| ToolKey::new(group.clone(), tool.clone())));
        }
        candidates.extend(self.groups.by_wire_name(name).cloned());
        let qualified = self.qualified(name);
        if let Some(key) = &qualified
            && self.has(key).unwrap_or(true)
        {
            candidates.insert(key.clone());
        }
        candidates.retain(|key| self.shows(key));
        let mut candidates: Vec<ToolKey> = candidates.into_iter().collect();
        if candidates.len() > 1 {
            return Lookup::Ambiguous(candidates);
        }
        if let Some(key) = candidates.pop() {
            return Lookup::Found(key);
        }
        // A qualified name of a group that does not have the tool: the driver says so, with
        // the names that the group has.
        if let Some(key) = qualified.filter(|key| self.shows(key)) {
            return Lookup::Found(key);
        }
        let Some(tool) = tool else {
            return Lookup::Unknown { ask: Vec::new() };
        };
        let ask = self
            .groups
            .iter()
            .filter(|(id, entry)| {
                !entry.names_known() && matches!(self.availability(id), Availability::Unsettled)
            })
            .map(|(id, _)| ToolKey::new(id.clone(), tool.clone()))
            .filter(|key| self.shows(key))
            .collect();
        Lookup::Unknown { ask }
    }

    /// Whether a group has a tool; `None` while its names are not known.
    pub fn has(&self, key: &ToolKey) -> Option<bool> {
        let entry = self.groups.get(key.group.as_str())?;
        if !entry.names_known() {
            return None;
        }
        let groups = self.groups.groups_with(key.tool.as_str());
        Some(groups.binary_search(&key.group).is_ok())
    }

    /// Whether the model may know of a tool.
    pub fn shows(&self, key: &ToolKey) -> bool {
        self.visible(key)
            && self
                .exposure(key)
                .is_some_and(|exposure| exposure != Exposure::Hidden)
    }

    /// How a tool is shown; `None` when its group does not exist.
    pub fn exposure(&self, key: &ToolKey) -> Option<Exposure> {
        let entry = self.groups.get(key.group.as_str())?;
        Some(entry.exposure_of(key.tool.as_str()))
    }

    /// Splits `group/tool`. Ids and names may both hold `/`: the longest id of which the tool
    /// exists, else the longest.
    fn qualified(&self, name: &str) -> Option<ToolKey> {
        let longest = self.groups.qualified(name)?;
        if self.has(&longest) != Some(false) {
            return Some(longest);
        }
        let shorter = longest
            .group
            .as_str()
            .rmatch_indices('/')
            .find_map(|(at, _)| {
                let entry = self.groups.get(&name[..at])?;
                let tool = ToolName::new(&name[at + 1..]).ok()?;
                let key = ToolKey::new(entry.group.id.clone(), tool);
                self.has(&key).unwrap_or(false).then_some(key)
            });
        shorter.or(Some(longest))
    }
}
