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
/// Each sentence but that on golden bytes is a clause of the kit for catalog formats in
/// `toolshelf-testkit`.
///
/// * A pure function: the same view gives the same bytes, in whatever order the groups
///   come, and whichever instance is asked.
/// * Any view is taken: no size, text or budget makes it panic.
/// * No groups, no text: not even a header.
/// * The text ends without a line end.
/// * A header of the view stands first, before an empty line, and changes nothing else; an
///   empty one is none.
/// * Each group stands there once, by its id as a load takes it, also when nothing else is
///   known of it.
/// * A format that shows names of tools shows them as a call takes them, in the order of the
///   view, and tells a group whose names are not known from one that has no tools.
/// * A format that shows what remains of groups leaves out one of which nothing remains; any
///   other does not look at [`CatalogGroup::partly_loaded`].
/// * Text of servers is neutralised (see [`crate::text`]): it stays on its line, holds no
///   backtick and nothing invisible, and has at most
///   [`MAX_SERVER_TEXT_BYTES`](crate::text::MAX_SERVER_TEXT_BYTES). Neither it nor a
///   name looks like a heading, a list item or a group of its own.
/// * A budget is kept, but for the shortest form. A smaller one never shows more.
/// * The tier says what was left out, and where something was, the text says how to see it.
/// * The name ends with a version. The bytes of a name such as `dispatch/1` never change;
///   other bytes get another name.
pub trait CatalogFormat: Send + Sync {
    /// Name and version, such as `dispatch/1`.
    fn name(&self) -> &str;

    /// Renders.
    fn render(&self, view: &CatalogView<'_>) -> CatalogText;
}
