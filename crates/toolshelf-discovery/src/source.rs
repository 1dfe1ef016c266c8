//! Which tools' results are read, and how.

use std::sync::Arc;

use toolshelf_core::ContentBlock;
use toolshelf_core::codec::{Block, Collector, DiscoveryCodec, ReadDiscovery};

use crate::codec::found::FoundLine;
use crate::codec::functions::Functions;
use crate::codec::load::LoadAnswers;
use crate::codec::reference::ToolReferences;

/// The name of the search tool where a host does not rename it.
pub const SEARCH_TOOL: &str = "search_tools";

/// The name of the load tool where a host does not rename it.
pub const LOAD_TOOL: &str = "load_tools";

/// A tool whose results discover others, and the codecs that read them.
#[derive(Clone)]
pub struct Source {
    /// The name of the tool as it stands in calls of the history.
    pub tool: String,
    /// The codecs, each of which reads every result.
    pub codecs: Vec<Arc<dyn DiscoveryCodec>>,
}

impl Source {
    /// A search tool: the line, references, and blocks of definitions are read.
    pub fn search(tool: impl Into<String>) -> Self {
        Self {
            tool: tool.into(),
            codecs: vec![
                Arc::new(FoundLine),
                Arc::new(ToolReferences),
                Arc::new(Functions),
            ],
        }
    }

    /// A load tool: its JSON is read.
    pub fn load(tool: impl Into<String>) -> Self {
        Self {
            tool: tool.into(),
            codecs: vec![Arc::new(LoadAnswers)],
        }
    }

    /// [`Source::search`] and [`Source::load`] under their usual names.
    pub fn usual() -> Vec<Self> {
        vec![Self::search(SEARCH_TOOL), Self::load(LOAD_TOOL)]
    }
}

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let codecs: Vec<&str> = self.codecs.iter().map(|codec| codec.name()).collect();
        f.debug_struct("Source")
            .field("tool", &self.tool)
            .field("codecs", &codecs)
            .finish()
    }
}

/// Reads one result of a tool that is known to be the search or load tool.
///
/// ```
/// use toolshelf_core::ContentBlock;
/// use toolshelf_discovery::{Source, read_result};
/// let content = [ContentBlock::text("Found 1 deferred tool(s): CronCreate.")];
/// let read = read_result(&Source::search("search_tools").codecs, &content);
/// assert_eq!(read.names, ["CronCreate"]);
/// ```
pub fn read_result(
    codecs: &[Arc<dyn DiscoveryCodec>],
    content: &[ContentBlock],
) -> ReadDiscovery<'static> {
    let blocks: Vec<Block<'_>> = content.iter().map(Block::from).collect();
    let mut out = Collector::new();
    for codec in codecs {
        let read = codec.read(&blocks).into_owned();
        for issue in read.issues {
            out.issue(issue.kind, issue.block, &issue.detail);
        }
        for name in read.names {
            if !out.name(0, name) {
                break;
            }
        }
    }
    out.finish()
}
