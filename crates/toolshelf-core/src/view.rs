//! What a model may know of groups, and tools as a request offers them, for planners.

use crate::definition::Exposure;
use crate::group::{GroupEntry, ShelvedTool};
use crate::id::{ToolKey, ToolName};
use crate::strategy::{Availability, Cx, Need, ToolSlot};

impl Cx<'_> {
    /// The names of a group that the model may know; `None` while none are known.
    pub fn shown_names<'a>(&self, entry: &'a GroupEntry) -> Option<Vec<&'a ToolName>> {
        let id = &entry.group.id;
        let mut names = entry.names()?;
        names.retain(|name| self.shows(&ToolKey::new(id.clone(), (*name).clone())));
        Some(names)
    }

    /// Whether the model may know of a group: one that has tools, but none for the model, does
    /// not exist for it.
    pub fn shows_group(&self, entry: &GroupEntry) -> bool {
        if entry.group.exposure == Exposure::Hidden {
            return false;
        }
        let empty = entry.names().is_some_and(|names| names.is_empty());
        empty
            || self
                .shown_names(entry)
                .is_none_or(|names| !names.is_empty())
    }

    /// Whether a tool is what its name on the wire means. Of two that share one, which groups
    /// with bare names can come to, only that is offered which a call would reach. So names in
    /// a tools array are unique.
    pub fn offers(&self, tool: &ShelvedTool) -> bool {
        self.groups.by_wire_name(&tool.wire_name) == Some(&tool.key)
    }

    /// The slots of the tools that are in every request, or what has to be loaded first. A
    /// strategy's own tools are never shadowed.
    pub fn eager_slots(&self, own: &[&str]) -> Result<Vec<ToolSlot>, Vec<Need>> {
        let mut slots = Vec::new();
        let mut needs = Vec::new();
        for (id, entry) in self.groups.iter() {
            let eager_group = matches!(entry.group.exposure, Exposure::Core | Exposure::Always);
            match self.availability(id) {
                Availability::Ready(loaded) => {
                    slots.extend(
                        loaded
                            .tools
                            .iter()
                            .filter(|tool| {
                                matches!(tool.exposure, Exposure::Core | Exposure::Always)
                                    && self.visible(&tool.key)
                                    && self.offers(tool)
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
}
