//! One server's tools as they are kept.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use toolshelf_core::{JsonText, ServerInfo, SetAside, ToolDefinition};

/// The version of the record. Another one is not read: a cache can be made anew.
pub(super) const VERSION: u32 = 1;

/// What a server said of itself and of its tools when it was last listed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CachedServer {
    version: u32,
    /// Seconds since 1970.
    saved: u64,
    server: Server,
    tools: Vec<JsonText>,
    set_aside: Vec<(String, String)>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Server {
    name: Option<String>,
    title: Option<String>,
    version: Option<String>,
    website: Option<String>,
    instructions: Option<String>,
    protocol: Option<String>,
}

impl CachedServer {
    /// A record of a list that was just made.
    pub fn new<'a>(
        server: &ServerInfo,
        tools: impl IntoIterator<Item = &'a ToolDefinition>,
        set_aside: &[SetAside],
    ) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        Self {
            version: VERSION,
            saved: now.unwrap_or_default().as_secs(),
            server: Server {
                name: server.name.clone(),
                title: server.title.clone(),
                version: server.version.clone(),
                website: server.website.clone(),
                instructions: server.instructions.clone(),
                protocol: server.protocol.clone(),
            },
            tools: tools
                .into_iter()
                .map(|tool| tool.descriptor().clone())
                .collect(),
            set_aside: set_aside
                .iter()
                .map(|tool| (tool.name.clone(), tool.reason.clone()))
                .collect(),
        }
    }

    /// Whether this build can read the record.
    pub(super) fn is_readable(&self) -> bool {
        self.version == VERSION
    }

    /// How long ago the list was made.
    pub fn age(&self) -> Duration {
        let saved = UNIX_EPOCH + Duration::from_secs(self.saved);
        SystemTime::now().duration_since(saved).unwrap_or_default()
    }

    /// What the server said of itself.
    pub fn server(&self) -> ServerInfo {
        let Server {
            name,
            title,
            version,
            website,
            instructions,
            protocol,
        } = self.server.clone();
        ServerInfo {
            name,
            title,
            version,
            website,
            instructions,
            protocol,
        }
    }

    /// The definitions. One that cannot be read any more is left out; the next list brings
    /// it back, or says why not.
    pub fn definitions(&self) -> Vec<ToolDefinition> {
        self.tools
            .iter()
            .filter_map(|tool| ToolDefinition::from_descriptor(tool.clone()).ok())
            .map(|parsed| parsed.definition)
            .collect()
    }

    /// The tools that were left out.
    pub fn set_aside(&self) -> Vec<SetAside> {
        self.set_aside
            .iter()
            .map(|(name, reason)| SetAside {
                name: name.clone(),
                reason: reason.clone(),
            })
            .collect()
    }

    /// Whether two records say the same, whenever they were made and in whatever order
    /// keys stand.
    pub fn says_the_same(&self, other: &Self) -> bool {
        self.server == other.server
            && self.tools.len() == other.tools.len()
            && self
                .tools
                .iter()
                .zip(&other.tools)
                .all(|(one, two)| one == two || one.digest() == two.digest())
    }
}
