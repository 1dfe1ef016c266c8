//! The contract of a search index over the tools of a shelf.

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
    /// How many hits at most. Tools that the text selects by name may be more.
    pub limit: usize,
    /// Only in these groups; empty = in all.
    pub groups: Vec<GroupId>,
}

/// Why a tool is a hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Match {
    /// Its name is the query, as it stands or normalised, or was selected.
    Name,
    /// It is the only one whose name ends with the query.
    Suffix,
    /// Its texts fit the words, or the pattern, of the query.
    Text,
}

/// One hit.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The tool.
    pub key: ToolKey,
    /// How well it fits; comparable within one answer only, never rising down the list.
    pub score: f64,
    /// Why it is one.
    pub why: Match,
}

/// The answer to a search.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Found {
    /// The hits, best first.
    pub hits: Vec<Hit>,
    /// Names that the query selected and that no tool has.
    pub missing: Vec<String>,
}

impl Found {
    /// An answer of hits alone.
    pub fn hits(hits: Vec<Hit>) -> Self {
        Self {
            hits,
            missing: Vec::new(),
        }
    }
}

/// One reason for the score of a hit.
#[derive(Debug, Clone, PartialEq)]
pub struct ScorePart {
    /// What it is: a field and a word, or a signal.
    pub what: String,
    /// What it adds to the score.
    pub score: f64,
}

/// Forms of a query that not every index reads. None, by default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct QueryForms {
    /// `+word`: only tools that have the word.
    pub requires: bool,
    /// `select:a,b`: tools by their names, and which of these no tool has.
    pub selects: bool,
}

impl QueryForms {
    /// All of them.
    pub const ALL: Self = Self {
        requires: true,
        selects: true,
    };
}

/// Ranks tools for a query.
///
/// # Behavior
///
/// * The order is total and deterministic: the same tools and query give the same hits,
///   in whatever order groups, or the tools of one, were handed over. A hit stands once. Scores
///   are finite and never rise; hits of one score stand in the order of their keys.
/// * A tool whose name is the query comes first, and says so ([`Match::Name`]); separators,
///   CamelCase and case do not matter. So does one of which the query is `group/name`. What a
///   hit says of its reason ([`Hit::why`]) is so.
/// * No good match is an answer without hits, not the least bad tools, and no error.
/// * A limit cuts the answer at its end and changes nothing else. Only the groups that a query
///   names are searched, and a group that does not exist has no tools.
/// * A query that cannot be read is refused ([`ErrorKind::InvalidArguments`](crate::ErrorKind::InvalidArguments))
///   with a text that tells the model what to write. So is one of blanks alone, and a limit of
///   zero: an answer without hits would say that there are no such tools.
/// * Any text is a query: whatever is in it, and however long it is, the search ends soon.
/// * `replace_group` changes the part of one group and nothing else; an empty list
///   removes it. It costs what that group costs, and may put work off until it is needed.
///   After any changes the answers are those of an index that was built of what is there now.
/// * Only tools that were handed over are ever named, and no other tool has any influence
///   on score or order, nor does one that has left.
/// * Searches run at the same time as others and as changes.
/// * Forms of a query beyond names and words, such as `select:a,b`, are an index's own. One
///   that has a form keeps to it as `toolshelf-testkit` says, and names it where it is one of
///   [`QueryForms`], since models are taught what an index names.
pub trait SearchIndex: Send + Sync {
    /// The name under which it is chosen.
    fn name(&self) -> &str;

    /// The forms of a query that it reads beside names and words. A model is taught these and
    /// no others. The same each time.
    fn forms(&self) -> QueryForms {
        QueryForms::default()
    }

    /// Replaces the tools of a group.
    fn replace_group(&self, group: &GroupId, tools: Vec<IndexedTool>);

    /// Searches.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArguments`](crate::ErrorKind::InvalidArguments) with a text
    /// for the model, when the query cannot be read.
    fn search(&self, query: &SearchQuery) -> Result<Found, Error>;

    /// Why a tool has the score that it has for a query: the parts, largest first, whose sum
    /// is the score. Empty when the index cannot tell or the tool is no hit.
    ///
    /// # Errors
    ///
    /// Those of [`search`](SearchIndex::search).
    fn explain(&self, query: &SearchQuery, key: &ToolKey) -> Result<Vec<ScorePart>, Error> {
        let _ = (query, key);
        Ok(Vec::new())
    }
}
