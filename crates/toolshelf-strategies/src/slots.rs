//! Slots of a tools array.

use toolshelf_core::ToolSlot;

/// Adds a slot unless its name is taken: an array with two tools of one name makes every
/// request fail.
pub(crate) fn push_unique(slots: &mut Vec<ToolSlot>, slot: ToolSlot) {
    if !slots.iter().any(|taken| taken.name == slot.name) {
        slots.push(slot);
    }
}
