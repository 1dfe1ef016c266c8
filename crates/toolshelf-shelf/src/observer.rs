//! What a host is told of.

use std::sync::Arc;
use std::time::Duration;

use toolshelf_core::{Error, GroupId, LoadedGroup, Repair, ToolKey};

use crate::validate::Fault;

/// Why a group is loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LoadCause {
    /// The model asked for it.
    Explicit,
    /// A call needed it.
    Implicit,
    /// The surface needed it.
    Surface,
    /// A session was resumed.
    Resume,
    /// The host asked for it.
    Host,
}

impl LoadCause {
    /// A word for the cause.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Explicit => "explicit",
            Self::Implicit => "implicit",
            Self::Surface => "surface",
            Self::Resume => "resume",
            Self::Host => "host",
        }
    }
}

/// Something that happened on a shelf.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum ShelfEvent {
    /// A loader was started.
    LoadStarted {
        /// The group.
        group: GroupId,
        /// Why.
        cause: LoadCause,
    },
    /// A load ended well.
    Loaded {
        /// The group.
        group: GroupId,
        /// Why it was loaded.
        cause: LoadCause,
        /// The tools; declared names that did not come, and tools that were set aside,
        /// are named in it.
        loaded: Arc<LoadedGroup>,
        /// How long it took.
        took: Duration,
    },
    /// A load failed.
    LoadFailed {
        /// The group.
        group: GroupId,
        /// Why it was loaded.
        cause: LoadCause,
        /// The failure.
        error: Arc<Error>,
        /// How long it took.
        took: Duration,
    },
    /// A tool is about to be called.
    CallStarted {
        /// The provider's id of the call.
        call_id: String,
        /// The tool.
        key: ToolKey,
        /// What was done to the arguments.
        repairs: Vec<Repair>,
    },
    /// A call of a tool ended.
    CallEnded {
        /// The provider's id of the call.
        call_id: String,
        /// The tool.
        key: ToolKey,
        /// Whether the result is an error.
        is_error: bool,
        /// How long the tool took.
        took: Duration,
    },
    /// Arguments are invalid, and were sent nevertheless.
    InvalidArgumentsSent {
        /// The tool.
        key: ToolKey,
        /// What is wrong with them.
        faults: Vec<Fault>,
    },
    /// The schema of a tool cannot be compiled, or takes too long to check arguments by;
    /// they are not validated. Told once for each definition.
    SchemaUnusable {
        /// The tool.
        key: ToolKey,
        /// What is wrong with the schema.
        fault: String,
    },
}

/// Is told of everything that happens on a shelf.
///
/// # Behavior
///
/// * Called in the task in which the thing happens, after it happened; it must not block.
/// * Every `LoadStarted` is followed by one `Loaded` or `LoadFailed`, unless the shelf is
///   dropped.
pub trait Observer: Send + Sync {
    /// Takes an event.
    fn observe(&self, event: &ShelfEvent);
}

impl<F: Fn(&ShelfEvent) + Send + Sync> Observer for F {
    fn observe(&self, event: &ShelfEvent) {
        self(event);
    }
}
