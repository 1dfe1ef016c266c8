//! Slots of a tools array.

use toolshelf_core::{Cx, ShelvedTool};

/// Whether a tool is what its name on the wire means. Of two that share one, which groups
/// with bare names can come to, only that is offered which a call would reach. So names in
/// a tools array are unique.
pub(crate) fn offered(cx: &Cx<'_>, tool: &ShelvedTool) -> bool {
    cx.groups.by_wire_name(&tool.wire_name) == Some(&tool.key)
}
