//! The contract of a catalog format: groups in, a text for the model out.

use crate::id::{GroupId, ToolName};

/// A group as a catalog shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CatalogGroup<'a> {
    /// The id.
    pub id: &'a GroupId,
    /// The title; untrusted text.
    pub title: Option<&'a str>,
    /// The description; untrusted text.
    pub description: Option<&'a str>,
    /// The names of its tools in order; `None` while they are not known.
    pub names: Option<Vec<&'a ToolName>>,
    /// Whether some of its tools are loaded and `names` is what remains.
    pub partly_loaded: bool,
}

/// What a catalog is made of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CatalogView<'a> {
    /// The groups. The format sorts them.
    pub groups: Vec<CatalogGroup<'a>>,
    /// A header in place of the format's own; `Some("")` means none.
    pub header: Option<&'a str>,
    /// The most bytes the text may have; `None` = the format's own bound, where it has
    /// one. A budget that not even the shortest form fits into is exceeded by that form.
    pub budget: Option<usize>,
}

/// How much a catalog had to leave out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum CatalogTier {
    /// Everything is there.
    Full,
    /// Only the first names of each group.
    SomeNames,
    /// No names.
    NoNames,
    /// Ids and counts of tools only.
    IdsOnly,
    /// Not even all groups.
    SomeGroups,
}

/// A catalog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CatalogText {
    /// The text; empty when there is nothing to show.
    pub text: String,
    /// What was left out.
    pub tier: CatalogTier,
}

/// Renders groups into a text that a model reads.
///
/// # Behavior
///
/// * A pure function: the same view gives the same bytes, in whatever order the groups
///   come.
/// * No groups, no text: not even a header.
/// * The text ends without a line end.
/// * Text of servers is neutralised (see [`crate::text`]); it cannot look like a heading
///   or a group of its own.
/// * Under a budget the text says how to see what was left out.
/// * The bytes of a name such as `dispatch/1` never change; other bytes get another
///   name.
pub trait CatalogFormat: Send + Sync {
    /// Name and version, such as `dispatch/1`.
    fn name(&self) -> &str;

    /// Renders.
    fn render(&self, view: &CatalogView<'_>) -> CatalogText;
}
