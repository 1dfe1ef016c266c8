//! One server's tools as they are kept.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use toolshelf_core::{JsonText, ServerInfo, SetAside, ToolDefinition};

/// The version of the record. Another one is not read: a cache can be made anew.
const VERSION: u32 = 2;

/// What is known of a server without its definitions: enough for a catalog.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CachedHead {
    version: u32,
    /// Seconds since 1970.
    saved: u64,
    server: Server,
    names: Vec<String>,
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

impl CachedHead {
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

    /// The names of its tools, in its order.
    pub fn names(&self) -> &[String] {
        &self.names
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
}

/// What a server said of itself and of its tools when it was last listed.
///
/// Written as lines of JSON: the head, then one definition a line. Who wants a catalog
/// reads one line, however many definitions follow it.
#[derive(Debug, Clone, PartialEq)]
pub struct CachedServer {
    head: CachedHead,
    tools: Vec<JsonText>,
}

impl CachedServer {
    /// A record of a list that was just made.
    pub fn new<'a>(
        server: &ServerInfo,
        tools: impl IntoIterator<Item = &'a ToolDefinition>,
        set_aside: &[SetAside],
    ) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let (names, tools) = tools
            .into_iter()
            .map(|tool| (tool.name().to_string(), tool.descriptor().clone()))
            .unzip();
        let head = CachedHead {
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
            names,
            set_aside: set_aside
                .iter()
                .map(|tool| (tool.name.clone(), tool.reason.clone()))
                .collect(),
        };
        Self { head, tools }
    }

    /// What stands before the definitions.
    pub fn head(&self) -> &CachedHead {
        &self.head
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

    /// Whether two records say the same, whenever they were made and in whatever order
    /// keys stand.
    pub fn says_the_same(&self, other: &Self) -> bool {
        self.head.server == other.head.server
            && self.tools.len() == other.tools.len()
            && self
                .tools
                .iter()
                .zip(&other.tools)
                .all(|(one, two)| one == two || one.digest() == two.digest())
    }

    pub(super) fn write(&self) -> serde_json::Result<String> {
        let mut text = serde_json::to_string(&self.head)?;
        for tool in &self.tools {
            // Canonical JSON has no line ends of its own.
            text.push('\n');
            text.push_str(tool.as_str());
        }
        text.push('\n');
        Ok(text)
    }

    /// Reads a record as a whole; nothing where another version wrote it.
    pub(super) fn read(text: &str) -> Result<Option<Self>, String> {
        let (head, tools) = text.split_once('\n').unwrap_or((text, ""));
        let Some(head) = read_head(head)? else {
            return Ok(None);
        };
        let tools = tools.lines().map(JsonText::parse);
        let tools: Vec<JsonText> = tools
            .collect::<Result<_, _>>()
            .map_err(|cause| cause.to_string())?;
        if tools.len() != head.names.len() {
            return Err("it is not complete".to_owned());
        }
        Ok(Some(Self { head, tools }))
    }
}

/// Reads the first line of a record; nothing where another version wrote it.
pub(super) fn read_head(line: &str) -> Result<Option<CachedHead>, String> {
    #[derive(Deserialize)]
    struct Version {
        version: u32,
    }
    let fault = |cause: serde_json::Error| cause.to_string();
    let Version { version } = serde_json::from_str(line).map_err(fault)?;
    if version != VERSION {
        return Ok(None);
    }
    serde_json::from_str(line).map(Some).map_err(fault)
}
