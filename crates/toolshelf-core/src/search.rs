//! The contract of a search index over deferred tools.

use std::sync::Arc;

use crate::definition::ToolDefinition;
use crate::error::Error;
use crate::id::{GroupId, ToolKey};

/// One tool as an index sees it.
#[derive(Debug, Clone)]
pub struct IndexedTool {
    /// The tool.
    pub key: ToolKey,
    /// Its definition.
    pub definition: Arc<ToolDefinition>,
    /// Its group's title and description, as one text.
    pub group_text: Arc<str>,
}

/// A search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchQuery {
    /// What the model wrote.
    pub text: String,
    /// How many hits at most.
    pub limit: usize,
    /// Only in these groups; empty = in all.
    pub groups: Vec<GroupId>,
}

/// One hit.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The tool.
    pub key: ToolKey,
    /// How well it fits; comparable within one answer only.
    pub score: f64,
}

/// Ranks tools for a query.
///
/// # Behavior
///
/// * The order is total and deterministic: the same tools and query give the same hits.
/// * A tool whose exact or normalised name is the query comes first.
/// * No good match is an empty answer, not the least bad tools.
/// * `replace_group` changes the part of one group and nothing else; an empty list
///   removes it.
/// * Only tools that were handed over are ever named.
pub trait SearchIndex: Send + Sync {
    /// The name under which it is chosen.
    fn name(&self) -> &str;

    /// Replaces the tools of a group.
    fn replace_group(&self, group: &GroupId, tools: Vec<IndexedTool>);

    /// Searches.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArguments`](crate::ErrorKind::InvalidArguments) with a text
    /// for the model, when the query cannot be read.
    fn search(&self, query: &SearchQuery) -> Result<Vec<Hit>, Error>;
}
