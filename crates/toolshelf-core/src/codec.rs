//! The contract of a discovery codec: tool names into the result of a search, and back.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::content::ContentBlock;
use crate::error::{Error, ErrorKind};
use crate::id::{MAX_ID_BYTES, fault};
use crate::text::one_line;

/// How many names one result discovers at most.
pub const MAX_DISCOVERED_NAMES: usize = 10_000;

/// The longest name, in bytes: group, `/` and tool.
pub const MAX_DISCOVERED_NAME_BYTES: usize = 2 * MAX_ID_BYTES + 1;

/// How many issues are kept of one result.
pub const MAX_DISCOVERY_ISSUES: usize = 64;

/// Up to so many names, looking through the list is faster than hashing.
const FEW_NAMES: usize = 16;

/// The most bytes of foreign text in an issue.
const MAX_DETAIL_BYTES: usize = 160;

/// A part of a tool's result, as far as codecs look at it. Histories hold results in
/// many shapes; a codec sees none of them.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Block<'a> {
    /// Text.
    Text(Cow<'a, str>),
    /// A reference that the provider replaces by a tool's definition: the tool's name.
    ToolReference(Cow<'a, str>),
    /// Anything else.
    Other,
}

impl<'a> From<&'a ContentBlock> for Block<'a> {
    fn from(block: &'a ContentBlock) -> Self {
        match block {
            ContentBlock::Text { text, .. } => Self::Text(text.into()),
            ContentBlock::ToolReference { tool_name, .. } => Self::ToolReference(tool_name.into()),
            _ => Self::Other,
        }
    }
}

/// What is odd about a result or a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum IssueKind {
    /// The text says another number of tools than it lists.
    CountMismatch,
    /// A list without a name.
    EmptyList,
    /// A name that no tool can have: empty, too long, with characters that the naming
    /// policy refuses. It is left out.
    InvalidName,
    /// More names than are read. The others are left out.
    TooManyNames,
    /// A second list in one result. Only the first counts.
    AnotherList,
    /// The text begins like the format and goes on in another way.
    UnknownShape,
    /// A version that this build does not read.
    UnknownVersion,
    /// The answer to a call that is not in the history, or that was answered already.
    UnknownCall,
    /// Several calls with one id were open at once, to different tools; or the answer
    /// names another tool than its call.
    AmbiguousCall,
}

impl IssueKind {
    /// The kind in words.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::CountMismatch => "the count does not match",
            Self::EmptyList => "empty list",
            Self::InvalidName => "invalid name",
            Self::TooManyNames => "too many names",
            Self::AnotherList => "another list",
            Self::UnknownShape => "unknown shape",
            Self::UnknownVersion => "unknown version",
            Self::UnknownCall => "unknown call",
            Self::AmbiguousCall => "ambiguous call",
        }
    }
}

/// One odd thing, and where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issue {
    /// What it is.
    pub kind: IssueKind,
    /// The block of the result, counted from 0.
    pub block: usize,
    /// More about it, for the operator: one line, bounded.
    pub detail: String,
}

impl Issue {
    /// An issue; the detail is made one bounded line, since it may be foreign text.
    pub fn new(kind: IssueKind, block: usize, detail: &str) -> Self {
        Self {
            kind,
            block,
            detail: one_line(detail, MAX_DETAIL_BYTES),
        }
    }
}

impl std::fmt::Display for Issue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} in block {}", self.kind.as_str(), self.block)?;
        if !self.detail.is_empty() {
            write!(f, ": {}", self.detail)?;
        }
        Ok(())
    }
}

/// What was read out of a result. Names borrow from it where they stand there as they
/// are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadDiscovery<'a> {
    /// The names, in order, each once.
    pub names: Vec<Cow<'a, str>>,
    /// What was odd about the result.
    pub issues: Vec<Issue>,
}

impl ReadDiscovery<'_> {
    /// The same, independent of the result.
    pub fn into_owned(self) -> ReadDiscovery<'static> {
        ReadDiscovery {
            names: self
                .names
                .into_iter()
                .map(|name| Cow::Owned(name.into_owned()))
                .collect(),
            issues: self.issues,
        }
    }
}

/// Collects what a codec reads, so that every codec has the same bounds and the same
/// idea of a name.
#[derive(Debug, Default)]
pub struct Collector<'a> {
    read: ReadDiscovery<'a>,
    /// The names once more, where there are more than a few.
    seen: HashSet<Cow<'a, str>>,
}

impl<'a> Collector<'a> {
    /// Nothing so far.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes a name of a block. One that was taken already changes nothing; one that no
    /// tool can have, or one too many, becomes an issue.
    ///
    /// Returns `false` when no further name will be taken.
    pub fn name(&mut self, block: usize, name: Cow<'a, str>) -> bool {
        if let Some(fault) = fault(&name, MAX_DISCOVERED_NAME_BYTES) {
            self.issue(IssueKind::InvalidName, block, &fault);
            return true;
        }
        if self.holds(&name) {
            return true;
        }
        if self.read.names.len() >= MAX_DISCOVERED_NAMES {
            let detail = format!("more than {MAX_DISCOVERED_NAMES}");
            self.issue(IssueKind::TooManyNames, block, &detail);
            return false;
        }
        if self.read.names.len() == FEW_NAMES {
            self.seen.extend(self.read.names.iter().cloned());
        }
        if self.read.names.len() >= FEW_NAMES {
            self.seen.insert(name.clone());
        }
        self.read.names.push(name);
        true
    }

    fn holds(&self, name: &str) -> bool {
        if self.read.names.len() > FEW_NAMES {
            self.seen.contains(name)
        } else {
            self.read.names.iter().any(|known| known == name)
        }
    }

    /// Takes an issue. Beyond [`MAX_DISCOVERY_ISSUES`] they are dropped.
    pub fn issue(&mut self, kind: IssueKind, block: usize, detail: &str) {
        if self.read.issues.len() < MAX_DISCOVERY_ISSUES {
            self.read.issues.push(Issue::new(kind, block, detail));
        }
    }

    /// What was collected.
    pub fn finish(self) -> ReadDiscovery<'a> {
        self.read
    }
}

/// The names as they can be written: each once, in order.
///
/// # Errors
///
/// [`ErrorKind::InvalidDefinition`] for a name that the naming policy refuses, and
/// [`ErrorKind::TooLarge`] for more than [`MAX_DISCOVERED_NAMES`]: reading would not give
/// these back.
pub fn writable<'a>(names: &[&'a str]) -> Result<Vec<&'a str>, Error> {
    let mut seen = HashSet::new();
    let mut once = Vec::with_capacity(names.len());
    for name in names {
        if let Some(fault) = fault(name, MAX_DISCOVERED_NAME_BYTES) {
            let name = one_line(name, MAX_DETAIL_BYTES);
            return Err(Error::new(
                ErrorKind::InvalidDefinition,
                format!("'{name}' cannot be written as a discovered tool: {fault}"),
            ));
        }
        if seen.insert(*name) {
            once.push(*name);
        }
    }
    if once.len() > MAX_DISCOVERED_NAMES {
        return Err(Error::new(
            ErrorKind::TooLarge,
            format!("more than {MAX_DISCOVERED_NAMES} discovered tools"),
        ));
    }
    Ok(once)
}

/// Writes names into the result of a search, and reads them out of it.
///
/// Whether a result may be read as a discovery at all is not for a codec to say: who
/// calls it has made sure that the result answers a call of the search tool.
///
/// # Behavior
///
/// Each sentence but the last is a clause of the kit for codecs in `toolshelf-testkit`.
///
/// * The name ends with a version.
/// * Reading what was written gives back exactly the names that were written, each once,
///   in order, without an issue. No names can be written too.
/// * What was read can be written, and reading that gives the same names.
/// * Names that [`writable`] refuses are never written and never read; one that stands in a
///   result is an issue, and the others are read. A name that holds what the format puts
///   around names, which [`writable`] may let through, is refused likewise or comes back as
///   that one name.
/// * Up to [`MAX_DISCOVERED_NAMES`] names of up to [`MAX_DISCOVERED_NAME_BYTES`] are written
///   and read. There are never more, and at most [`MAX_DISCOVERY_ISSUES`] issues.
/// * Both are pure functions: the same names give the same bytes, and the same content the same
///   names and issues.
/// * Reading is total: any content gives names and issues, never an error or a panic.
/// * Blocks of other kinds and other texts beside a result change nothing; nor does it matter
///   by what its lines end.
/// * A text that only quotes a result, as an announcement in a line of a list may, is none.
/// * A codec that only reads says so when it is to write.
/// * The time to read grows with the length of the content and nothing else.
pub trait DiscoveryCodec: Send + Sync {
    /// Name and version.
    fn name(&self) -> &str;

    /// Writes names.
    ///
    /// # Errors
    ///
    /// As [`writable`], [`ErrorKind::InvalidDefinition`] for a name that this format would read
    /// back as another one, and [`ErrorKind::Mismatch`] by a codec that only reads, because its
    /// format holds more than names.
    fn write(&self, names: &[&str]) -> Result<Vec<ContentBlock>, Error>;

    /// Reads a result.
    fn read<'a>(&self, content: &'a [Block<'a>]) -> ReadDiscovery<'a>;
}
