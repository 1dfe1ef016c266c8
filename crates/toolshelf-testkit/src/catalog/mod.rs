//! The kit for catalog formats.
//!
//! A [`Subject`] says how a format is built; [`catalog_tests!`](crate::catalog_tests) stamps a test for
//! each clause that holds for every format, and for those of the capabilities that are
//! declared:
//!
//! | capability | of a format that |
//! |---|---|
//! | `names` | shows the names of tools where there is room |
//! | `remaining` | shows what remains of groups that are partly loaded, so that its text changes during a session |
//!
//! Nothing is skipped in silence: `declares_the_capabilities_that_it_has` fails where a format
//! has a capability that was not declared, or the other way round.
//!
//! What the kit cannot know is whether the bytes of a version changed: that is for golden
//! files ([`Golden`](crate::Golden)).

mod budget;
mod group;
mod names;
mod server_text;
mod text;

use std::fmt;
use std::sync::Arc;

use toolshelf_core::catalog::{CatalogFormat, CatalogText};

use crate::clause::{Clause, Verdict, clause};

pub use budget::*;
pub use group::{Group, view};
pub use names::*;
pub use server_text::*;
pub use text::*;

type Build = dyn Fn() -> Arc<dyn CatalogFormat> + Send + Sync;

/// A catalog format to be tested.
#[derive(Clone)]
pub struct Subject {
    build: Arc<Build>,
}

impl fmt::Debug for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subject")
            .field("format", &self.format().name())
            .finish()
    }
}

impl Subject {
    /// A format; each clause builds its own.
    pub fn new<F: CatalogFormat + 'static>(build: impl Fn() -> F + Send + Sync + 'static) -> Self {
        Self {
            build: Arc::new(move || Arc::new(build())),
        }
    }

    pub(crate) fn format(&self) -> Arc<dyn CatalogFormat> {
        (self.build)()
    }

    /// Renders groups without a header.
    fn render(&self, groups: &[Group], budget: usize) -> CatalogText {
        let mut view = view(groups);
        view.header = Some("");
        view.budget = Some(budget);
        self.format().render(&view)
    }

    /// All of it.
    fn whole(&self, groups: &[Group]) -> String {
        self.render(groups, usize::MAX).text
    }
}

/// Groups in which no word of one stands in another: a shelf that a person could have.
fn shelf() -> Vec<Group> {
    let lively = [
        ("mail", "Post", "Letters and parcels.", "abcde"),
        (
            "mcp:github",
            "Forge",
            "Sources, and what is wrong with them.",
            "fghij",
        ),
        ("größe/名前", "Maße", "Wie groß etwas ist. 大きさ", "kl"),
        ("a.b-c", "Dots", "Names with marks inside.", "mnopqrst"),
        ("files", "Folders", "Papers in drawers.", "uv"),
        (
            "zoo",
            "Beasts",
            "Animals behind fences, with their keepers and feeding times.",
            "wxyz",
        ),
    ];
    let names = |letters: &str| -> Vec<String> {
        let name = |letter: char| match letter {
            'g' | 'p' => format!("{letter}{letter}.do-it"),
            'k' => "größe_k".to_owned(),
            'l' => "名前l".to_owned(),
            'w' => format!("{letter}{letter}/sub:part"),
            letter => format!("{letter}{letter}_something"),
        };
        letters.chars().map(name).collect()
    };
    let group = |(id, title, description, letters): (&str, &str, &str, &str)| {
        let names = names(letters);
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        Group::new(id)
            .title(title)
            .description(description)
            .names(&names)
    };
    let mut groups: Vec<Group> = lively.map(group).to_vec();
    groups.push(Group::new("silent"));
    groups
}

/// Where a word stands by itself in a text.
fn places<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    let inside = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    text.match_indices(word)
        .map(|(at, _)| at)
        .filter(move |at| {
            let before = text[..*at].chars().next_back();
            let after = text[at + word.len()..].chars().next();
            !before.is_some_and(inside) && !after.is_some_and(inside)
        })
}

fn has(text: &str, word: &str) -> bool {
    places(text, word).next().is_some()
}

fn all_names(groups: &[Group]) -> impl Iterator<Item = &str> {
    let names = groups.iter().flat_map(|group| group.names.iter().flatten());
    names.map(|name| name.as_str())
}

/// The lists of clauses.
#[doc(hidden)]
#[macro_export]
macro_rules! __catalog {
    (always $then:ident) => {
        $crate::__clauses! { $then catalog always:
            its_name_ends_with_a_version,
            the_same_view_gives_the_same_bytes,
            the_order_of_groups_does_not_matter,
            any_view_is_taken,
            no_groups_no_text,
            the_text_ends_without_a_line_end,
            a_header_stands_before_the_rest,
            each_group_stands_there_once,
            text_of_servers_stays_on_its_line,
            text_of_servers_opens_no_code_span,
            text_of_servers_is_bounded,
            names_open_no_line,
            a_budget_is_kept,
            a_smaller_budget_never_shows_more,
            the_tier_says_what_is_left_out,
            the_text_says_how_to_see_what_is_left_out,
        }
    };
    (names $then:ident) => {
        $crate::__clauses! { $then catalog names:
            names_can_be_copied,
            what_is_not_known_does_not_look_like_nothing,
        }
    };
    (remaining $then:ident) => {
        $crate::__clauses! { $then catalog remaining:
            what_is_loaded_is_left_out,
        }
    };
    ($unknown:ident $then:ident) => {
        compile_error!(concat!(
            "a catalog format has no capability `",
            stringify!($unknown),
            "`; there are: names, remaining",
        ));
    };
}

/// Stamps the tests of a catalog format: a module of the name of the function that makes its
/// [`Subject`], with one test for each clause that always holds and for each of a capability
/// that is declared.
///
/// ```
/// use toolshelf_core::catalog::{CatalogFormat, CatalogText, CatalogTier, CatalogView};
/// use toolshelf_testkit::catalog::{Subject, clauses};
///
/// /// Ids in the order in which they come.
/// struct Ids;
///
/// impl CatalogFormat for Ids {
///     fn name(&self) -> &str {
///         "ids/1"
///     }
///     fn render(&self, view: &CatalogView<'_>) -> CatalogText {
///         let lines: Vec<String> = view.groups.iter().map(|group| format!("* `{}`", group.id)).collect();
///         CatalogText { text: lines.join("\n"), tier: CatalogTier::Full }
///     }
/// }
///
/// fn ids() -> Subject {
///     Subject::new(|| Ids)
/// }
///
/// toolshelf_testkit::catalog_tests!(ids);
///
/// # fn main() {
/// // What the tests would say: it sorts nothing, and knows no header and no budget.
/// let fails = toolshelf_testkit::broken(&clauses(), &ids(), &[]);
/// assert_eq!(fails, [
///     "the_order_of_groups_does_not_matter",
///     "a_header_stands_before_the_rest",
///     "a_budget_is_kept",
/// ]);
/// # }
/// ```
#[macro_export]
macro_rules! catalog_tests {
    ($subject:ident $(: $($capability:ident),+ $(,)?)?) => {
        $crate::__stamp! { catalog __catalog $subject [$($($capability)+)?] }
    };
}

/// All clauses, with the capability that makes each apply.
pub fn clauses() -> Vec<Clause<Subject>> {
    let mut all = Vec::new();
    all.extend(__catalog!(always table));
    all.extend(__catalog!(names table));
    all.extend(__catalog!(remaining table));
    all
}

/// The capabilities that were declared are those that are there, so that no clause is left
/// out that applies.
///
/// # Errors
///
/// When one is missing, or one too many.
pub fn declares_the_capabilities_that_it_has(subject: &Subject, declared: &[&str]) -> Verdict {
    clause("declares_the_capabilities_that_it_has", || {
        let whole = subject.whole(&shelf());
        let shows_names = all_names(&shelf()).any(|name| has(&whole, name));
        let partly: Vec<Group> = shelf().into_iter().map(Group::partly_loaded).collect();
        let remaining = whole != subject.whole(&partly);
        crate::clause::declared("names", shows_names, declared)?;
        crate::clause::declared("remaining", remaining, declared)
    })
}
