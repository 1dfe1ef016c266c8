//! The kit for search indexes.
//!
//! A [`Subject`] says how an index is built; [`index_tests!`](crate::index_tests) stamps a
//! test for each clause that holds for every index, and for those of the capabilities that
//! are declared:
//!
//! | capability | of an index that |
//! |---|---|
//! | `texts` | finds a tool by words of its description |
//! | `selects` | reads `select:a,b`: these tools by name, and which names no tool has |
//! | `requires` | reads `+word others`: only tools that have the word |
//! | `patterns` | reads `/pattern/`: the tools that it fits |
//! | `corrects` | understands words that are misspelt |
//! | `explains` | says what a score is made of ([`SearchIndex::explain`]) |
//!
//! Nothing is skipped in silence: `declares_the_capabilities_that_it_has` fails where an index
//! has a capability that was not declared, or the other way round. How good an index is, no
//! clause says; that is measured (`toolshelf eval-search`).

mod answers;
mod forms;
mod groups;
mod hostile;
mod names;
mod queries;
mod shelf;
mod texts;

use std::fmt;
use std::sync::Arc;

use toolshelf_core::search::SearchIndex;

use crate::clause::{Clause, Verdict, clause, require};
use shelf::{QUERIES, Shelf, query, servers, written};

pub use answers::*;
pub use forms::*;
pub use groups::*;
pub use hostile::*;
pub use names::*;
pub use queries::*;
pub use texts::*;

type Build = dyn Fn() -> Arc<dyn SearchIndex> + Send + Sync;

/// An index to be tested; each clause builds its own.
///
/// Each build has to be an index of its own, without tools.
///
/// What every index is asked knows nothing of what makes yours another one. Give it tools and
/// queries that reach that: they go through each clause on order, scores, limits, scope, changes
/// and explanations.
///
/// ```
/// use toolshelf_testkit::NameIndex;
/// use toolshelf_testkit::index::{Subject, scores_are_numbers_that_never_rise};
///
/// let subject = Subject::new(NameIndex::default)
///     .tools("zoo", &[("feed_lion", "Gives meat to the lion."), ("feed_seal", "Throws a fish.")])
///     .queries(&["feed", "zoo/feed_lion"]);
/// assert_eq!(scores_are_numbers_that_never_rise(&subject), Ok(()));
/// ```
#[derive(Clone)]
pub struct Subject {
    build: Arc<Build>,
    shelf: Shelf,
    queries: Vec<String>,
}

impl fmt::Debug for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subject")
            .field("index", &self.index().name())
            .finish_non_exhaustive()
    }
}

impl Subject {
    /// An index.
    pub fn new<I: SearchIndex + 'static>(build: impl Fn() -> I + Send + Sync + 'static) -> Self {
        Self {
            build: Arc::new(move || Arc::new(build())),
            shelf: servers(),
            queries: QUERIES.map(str::to_owned).to_vec(),
        }
    }

    /// A group more, beside those of the kit: the name and the description of each tool.
    ///
    /// # Panics
    ///
    /// When an id or a name is none, or the kit has a group of this id.
    #[must_use]
    pub fn tools(mut self, group: &str, tools: &[(&str, &str)]) -> Self {
        let taken = self.shelf.0.contains_key(&crate::world::id(group));
        assert!(!taken, "there is a group `{group}` already");
        self.shelf = self.shelf.group(group, tools);
        self
    }

    /// Queries more, beside those of the kit. Each is one that the index answers.
    #[must_use]
    pub fn queries(mut self, queries: &[&str]) -> Self {
        self.queries.extend(queries.iter().map(ToString::to_string));
        self
    }

    /// An index of the kit's servers and of the tools of the subject.
    fn filled(&self) -> Arc<dyn SearchIndex> {
        self.of(&self.shelf)
    }

    /// The answers to all queries, a line each.
    fn answers(&self, index: &dyn SearchIndex) -> String {
        let answer = |text: &String| format!("{text:?}: {}", written(index, &query(text)));
        let answers: Vec<String> = self.queries.iter().map(answer).collect();
        answers.join("\n")
    }

    fn index(&self) -> Arc<dyn SearchIndex> {
        (self.build)()
    }

    /// An index of tools, each group of which was handed over once.
    fn of(&self, shelf: &Shelf) -> Arc<dyn SearchIndex> {
        let index = self.index();
        shelf.fill(&*index);
        index
    }

    /// An index of the servers that most clauses search.
    fn servers(&self) -> Arc<dyn SearchIndex> {
        self.of(&servers())
    }
}

/// The lists of clauses.
#[doc(hidden)]
#[macro_export]
macro_rules! __index {
    (always $then:ident) => {
        $crate::__clauses! { $then index always:
            its_name_is_one_line,
            the_forms_that_it_names_are_those_that_it_reads,
            the_same_query_has_the_same_answer,
            the_order_in_which_tools_came_does_not_matter,
            a_hit_stands_once,
            scores_are_numbers_that_never_rise,
            hits_of_one_score_go_by_key,
            a_smaller_limit_cuts_the_answer,
            searches_side_by_side_agree,
            a_name_comes_first,
            a_name_in_another_style_comes_first,
            a_group_before_a_name_tells_which_one,
            why_a_tool_is_a_hit_is_true,
            only_the_groups_in_scope_are_searched,
            an_empty_index_finds_nothing,
            a_group_is_searched_as_it_is_now,
            a_group_that_left_leaves_no_trace,
            a_tool_that_left_leaves_no_trace,
            changes_in_any_order_equal_building_anew,
            no_match_is_an_answer,
            a_query_without_a_word_is_refused,
            a_limit_of_zero_is_refused,
            hostile_queries_are_answered_or_refused,
            hostile_tools_hide_no_other,
            a_large_group_is_searched,
        }
    };
    (texts $then:ident) => {
        $crate::__clauses! { $then index texts:
            a_word_of_a_description_finds_its_tool,
            a_text_that_names_a_tool_is_not_its_name,
        }
    };
    (selects $then:ident) => {
        $crate::__clauses! { $then index selects:
            selected_names_are_found_and_the_others_missing,
            more_may_be_selected_than_the_limit,
            a_selection_keeps_to_its_scope,
        }
    };
    (requires $then:ident) => {
        $crate::__clauses! { $then index requires:
            a_required_word_filters,
            a_required_word_that_nobody_has_finds_nothing,
        }
    };
    (patterns $then:ident) => {
        $crate::__clauses! { $then index patterns:
            a_pattern_finds_what_it_fits,
            a_pattern_that_cannot_be_read_is_refused,
            a_pattern_that_tries_for_ever_ends,
        }
    };
    (corrects $then:ident) => {
        $crate::__clauses! { $then index corrects:
            a_misspelt_word_is_understood,
            a_word_that_some_tool_has_is_not_corrected,
        }
    };
    (explains $then:ident) => {
        $crate::__clauses! { $then index explains:
            a_hit_is_explained,
            what_is_no_hit_has_no_parts,
            an_explanation_refuses_what_a_search_refuses,
        }
    };
    ($unknown:ident $then:ident) => {
        compile_error!(concat!(
            "a search index has no capability `",
            stringify!($unknown),
            "`; there are: texts, selects, requires, patterns, corrects, explains",
        ));
    };
}

/// Stamps the tests of a search index: a module of the name of the function that makes its
/// [`Subject`], with one test for each clause that always holds and for each of a capability
/// that is declared.
///
/// ```
/// use toolshelf_core::search::{Found, IndexedTool, SearchIndex, SearchQuery};
/// use toolshelf_core::{Error, GroupId};
/// use toolshelf_testkit::index::Subject;
///
/// /// Finds nothing, whatever is asked.
/// struct Blind;
///
/// impl SearchIndex for Blind {
///     fn name(&self) -> &str {
///         "blind/1"
///     }
///     fn replace_group(&self, _: &GroupId, _: Vec<IndexedTool>) {}
///     fn search(&self, _: &SearchQuery) -> Result<Found, Error> {
///         Ok(Found::default())
///     }
/// }
///
/// fn blind() -> Subject {
///     Subject::new(|| Blind)
/// }
///
/// toolshelf_testkit::index_tests!(blind);
///
/// # fn main() {
/// // What the tests would say.
/// let fails = toolshelf_testkit::broken(&toolshelf_testkit::index::clauses(), &blind(), &[]);
/// assert!(fails.contains(&"a_name_comes_first"));
/// assert!(!fails.contains(&"no_match_is_an_answer"));
/// # }
/// ```
#[macro_export]
macro_rules! index_tests {
    ($subject:ident $(: $($capability:ident),+ $(,)?)?) => {
        $crate::__stamp! { index __index $subject [$($($capability)+)?] }
    };
}

/// All clauses, with the capability that makes each apply.
pub fn clauses() -> Vec<Clause<Subject>> {
    let mut all = Vec::new();
    all.extend(__index!(always table));
    all.extend(__index!(texts table));
    all.extend(__index!(selects table));
    all.extend(__index!(requires table));
    all.extend(__index!(patterns table));
    all.extend(__index!(corrects table));
    all.extend(__index!(explains table));
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
        let index = subject.servers();
        let index = &*index;
        let has = [
            ("texts", texts::by_texts(index)),
            ("selects", forms::selects(index)),
            ("requires", forms::requires(index)),
            ("patterns", forms::patterns(index)),
            ("corrects", texts::corrects(index)),
            ("explains", texts::explains(index)),
        ];
        for (capability, has) in has {
            require(declared.contains(&capability) == has, || {
                if has {
                    format!("it has `{capability}`, whose clauses were not stamped")
                } else {
                    format!("`{capability}` is declared, and nothing of it is to be seen")
                }
            })?;
        }
        Ok(())
    })
}
