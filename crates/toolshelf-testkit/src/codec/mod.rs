//! The kit for discovery codecs.
//!
//! A [`Subject`] says how a codec is built, and how a result is written where the codec only
//! reads; [`codec_tests!`](crate::codec_tests) stamps a test for each clause that holds for every codec, and
//! for those of the capability, if it is declared:
//!
//! | capability | of a codec that |
//! |---|---|
//! | `writes` | writes names, and does not only read them |
//!
//! Nothing is skipped in silence: `declares_the_capabilities_that_it_has` fails where a codec
//! writes and that was not declared, or the other way round.
//!
//! Whether a result answers a search at all is for whoever reads a history to make sure, and no
//! part of this contract. Nor does the kit look at a clock: how long reading takes is for
//! benchmarks.

mod content;
mod reading;
mod writing;

use std::fmt;
use std::sync::Arc;

use toolshelf_core::codec::{Block, DiscoveryCodec, ReadDiscovery};
use toolshelf_core::{ContentBlock, ErrorKind};

use crate::clause::{Clause, Verdict, clause, same};

pub use reading::*;
pub use writing::*;

/// How somebody else writes a result.
type Write = fn(&[&str]) -> Vec<ContentBlock>;
type Build = dyn Fn() -> Arc<dyn DiscoveryCodec> + Send + Sync;

/// A codec to be tested.
#[derive(Clone)]
pub struct Subject {
    build: Arc<Build>,
    written: Option<Write>,
    read_as: fn(&str) -> String,
}

impl fmt::Debug for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subject")
            .field("codec", &self.codec().name())
            .finish_non_exhaustive()
    }
}

impl Subject {
    /// A codec; each clause builds its own.
    pub fn new<C: DiscoveryCodec + 'static>(build: impl Fn() -> C + Send + Sync + 'static) -> Self {
        Self {
            build: Arc::new(move || Arc::new(build())),
            written: None,
            read_as: str::to_owned,
        }
    }

    /// How somebody else writes a result with these names. For codecs that only read.
    #[must_use]
    pub fn written_with(mut self, write: fn(names: &[&str]) -> Vec<ContentBlock>) -> Self {
        self.written = Some(write);
        self
    }

    /// As what a name of a result is read, where that is not the name itself.
    #[must_use]
    pub fn read_as(mut self, read: fn(name: &str) -> String) -> Self {
        self.read_as = read;
        self
    }

    pub(crate) fn codec(&self) -> Arc<dyn DiscoveryCodec> {
        (self.build)()
    }

    /// A result with these names.
    fn result(&self, names: &[&str]) -> Result<Vec<ContentBlock>, String> {
        if let Some(write) = self.written {
            return Ok(write(names));
        }
        self.codec()
            .write(names)
            .map_err(|error| match error.kind() {
                ErrorKind::Mismatch => {
                    "it only reads, and the subject does not say how a result is \
                                    written (`written_with`)"
                        .to_owned()
                }
                _ => format!("{names:?} cannot be written: {error}"),
            })
    }

    /// What is read, in the words of the result.
    fn expected(&self, names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (self.read_as)(name)).collect()
    }

    fn read(&self, content: &[Block<'_>]) -> ReadDiscovery<'static> {
        self.codec().read(content).into_owned()
    }

    /// A result is read as these names, without an issue.
    fn reads(&self, content: &[Block<'_>], names: &[&str]) -> Result<(), String> {
        let read = self.read(content);
        same("the names", &self.expected(names), &texts(&read))?;
        same("the issues", &Vec::new(), &read.issues)
    }
}

fn texts(read: &ReadDiscovery<'_>) -> Vec<String> {
    read.names.iter().map(ToString::to_string).collect()
}

fn blocks(content: &[ContentBlock]) -> Vec<Block<'_>> {
    content.iter().map(Block::from).collect()
}

/// The lists of clauses.
#[doc(hidden)]
#[macro_export]
macro_rules! __codec {
    (always $then:ident) => {
        $crate::__clauses! { $then codec always:
            its_name_ends_with_a_version,
            what_was_written_is_read,
            reading_is_total,
            the_same_content_has_the_same_names,
            what_was_read_can_be_written,
            a_name_that_no_tool_can_have_is_told_and_left_out,
            a_name_that_stands_twice_is_one,
            names_and_issues_are_bounded,
            what_stands_beside_a_result_changes_nothing,
            line_ends_do_not_matter,
            a_quoted_result_is_none,
            it_writes_or_says_that_it_does_not,
        }
    };
    (writes $then:ident) => {
        $crate::__clauses! { $then codec writes:
            any_name_that_may_be_found_is_written,
            the_longest_names_and_lists_are_written,
            what_could_not_be_read_back_is_refused,
            a_name_is_never_read_as_others,
            a_name_is_written_once,
            the_same_names_are_the_same_bytes,
            what_was_read_is_written_and_read_again,
        }
    };
    ($unknown:ident $then:ident) => {
        compile_error!(concat!(
            "a codec has no capability `",
            stringify!($unknown),
            "`; there is: writes",
        ));
    };
}

/// Stamps the tests of a codec: a module of the name of the function that makes its
/// [`Subject`], with one test for each clause that always holds and for each of a capability
/// that is declared.
///
/// ```
/// use std::borrow::Cow;
/// use toolshelf_core::codec::{Block, Collector, DiscoveryCodec, ReadDiscovery};
/// use toolshelf_core::{ContentBlock, Error};
/// use toolshelf_testkit::codec::{Subject, clauses};
///
/// /// One name a line, whatever it is.
/// struct Lines;
///
/// impl DiscoveryCodec for Lines {
///     fn name(&self) -> &str {
///         "lines/1"
///     }
///     fn write(&self, names: &[&str]) -> Result<Vec<ContentBlock>, Error> {
///         Ok(vec![ContentBlock::text(names.join("\n"))])
///     }
///     fn read<'a>(&self, content: &'a [Block<'a>]) -> ReadDiscovery<'a> {
///         let mut out = Collector::new();
///         for (at, block) in content.iter().enumerate() {
///             let Block::Text(text) = block else { continue };
///             for line in text.lines() {
///                 out.name(at, Cow::Borrowed(line));
///             }
///         }
///         out.finish()
///     }
/// }
///
/// fn lines() -> Subject {
///     Subject::new(|| Lines)
/// }
///
/// toolshelf_testkit::codec_tests!(lines: writes);
///
/// # fn main() {
/// // What the tests would say: any text is taken for names, and anything is written.
/// let fails = toolshelf_testkit::broken(&clauses(), &lines(), &["writes"]);
/// assert_eq!(fails, [
///     "what_stands_beside_a_result_changes_nothing",
///     "line_ends_do_not_matter",
///     "a_quoted_result_is_none",
///     "what_could_not_be_read_back_is_refused",
///     "a_name_is_never_read_as_others",
///     "a_name_is_written_once",
/// ]);
/// # }
/// ```
#[macro_export]
macro_rules! codec_tests {
    ($subject:ident $(: $($capability:ident),+ $(,)?)?) => {
        $crate::__stamp! { codec __codec $subject [$($($capability)+)?] }
    };
}

/// All clauses, with the capability that makes each apply.
pub fn clauses() -> Vec<Clause<Subject>> {
    let mut all = Vec::new();
    all.extend(__codec!(always table));
    all.extend(__codec!(writes table));
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
        let writes = subject.codec().write(&["alpha"]).is_ok();
        crate::clause::declared("writes", writes, declared)
    })
}
