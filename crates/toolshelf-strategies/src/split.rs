//! The forwarder in three: which of them reaches which tool.

use toolshelf_catalog::texts::{DEFERRED_TOOL_DESTROY, DEFERRED_TOOL_READ, DEFERRED_TOOL_WRITE};
use toolshelf_core::ToolAnnotations;

/// What a forwarder may call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reach {
    /// What is marked read-only.
    Read,
    /// What changes things and is marked as destroying nothing, too.
    Write,
    /// Anything.
    All,
}

impl Reach {
    /// The reach of one of the three, by its name.
    pub(crate) fn of(name: &str) -> Option<Self> {
        match name {
            DEFERRED_TOOL_READ => Some(Self::Read),
            DEFERRED_TOOL_WRITE => Some(Self::Write),
            DEFERRED_TOOL_DESTROY => Some(Self::All),
            _ => None,
        }
    }

    /// The least reach that a tool needs. A hint that is not given counts as the worse
    /// one, as the protocol says.
    pub(crate) fn needed(annotations: &ToolAnnotations) -> Self {
        match (annotations.read_only, annotations.destructive) {
            (Some(true), _) => Self::Read,
            (_, Some(false)) => Self::Write,
            _ => Self::All,
        }
    }

    /// The name of the forwarder of this reach.
    pub(crate) fn forwarder(self) -> &'static str {
        match self {
            Self::Read => DEFERRED_TOOL_READ,
            Self::Write => DEFERRED_TOOL_WRITE,
            Self::All => DEFERRED_TOOL_DESTROY,
        }
    }
}
