//! Sample MCP servers that are part of the binary, so that Toolshelf can be tried and
//! tested without any other program: `toolshelf sample-server NAME`.
//!
//! Each works on a few records in memory, always the same ones: no clock, no network,
//! no file. A folder per server holds the descriptors of its tools as a server would
//! send them (`tools.json`), its records, and one function per tool. This module knows
//! nothing of MCP; a tool here is a [`Tool`].

mod calendar;
mod chart;
mod input;
mod issues;
mod tool;
mod warehouse;

use std::sync::Arc;

use toolshelf_core::{Error, Tool};

/// The day on which the records of all samples stand still.
pub(crate) const TODAY: &str = "2026-03-02";

/// The tools of a sample.
type Built = Result<Vec<Arc<dyn Tool>>, Error>;

/// A sample server.
#[derive(Debug, Clone, Copy)]
pub struct Sample {
    /// The name under which it is started.
    pub name: &'static str,
    /// Its title for people.
    pub title: &'static str,
    /// What it tells a model of itself.
    pub instructions: &'static str,
    tools: fn() -> Built,
}

impl Sample {
    /// Its tools, over records of their own: two sets share nothing.
    ///
    /// # Errors
    ///
    /// None in a build that passed its tests: the descriptors are constants.
    pub fn tools(&self) -> Result<Vec<Arc<dyn Tool>>, Error> {
        (self.tools)()
    }
}

/// All samples.
pub const SAMPLES: &[Sample] = &[
    Sample {
        name: "calendar",
        title: "Team calendar",
        instructions: "Events, rooms and free times of a team. Times carry an offset; the team \
                       works in Europe/Berlin. Ask find_free_time before you create an event \
                       whose time is not fixed.",
        tools: calendar::tools,
    },
    Sample {
        name: "issues",
        title: "Issue tracker",
        instructions: "Bugs, features and tasks of three projects: WEB, API and OPS. Keys look \
                       like WEB-101. Search before you create, and move issues with \
                       transition_issue.",
        tools: issues::tools,
    },
    Sample {
        name: "warehouse",
        title: "Warehouse",
        instructions: "Items, stock and orders of a small warehouse. SKUs look like LMP-001, \
                       orders like SO-1001, and money is in cents.",
        tools: warehouse::tools,
    },
];

/// Finds a sample by its name.
pub fn find(name: &str) -> Option<&'static Sample> {
    SAMPLES.iter().find(|sample| sample.name == name)
}
