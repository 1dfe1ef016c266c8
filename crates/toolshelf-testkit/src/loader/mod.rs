//! The kit for loaders, and for the tools that they load.
//!
//! A [`Subject`] says how a loader is built and which tools it has;
//! [`loader_tests!`](crate::loader_tests) stamps a test for each clause that holds for every
//! loader, and for those of what more the subject says:
//!
//! | capability | the subject says |
//! |---|---|
//! | `calls` | a call that is answered ([`Subject::call`]) |
//! | `waits` | a call that is not answered by itself ([`Subject::long_call`]) |
//! | `fails` | how one is built whose load fails ([`Subject::failing`]) |
//! | `hangs` | how one is built whose load does not end by itself ([`Subject::hanging`]) |
//! | `owns` | what is there of all that it started ([`Subject::leftovers`]) |
//!
//! Nothing is skipped in silence: `declares_the_capabilities_that_it_has` fails where the
//! subject says what was not declared, or the other way round.
//!
//! The function that makes a subject runs once for each test, and tests run at the same time: a
//! file that it writes, or a port that it opens, has to be its own each time
//! (`tempfile::tempdir()`), and has to be there as long as the subject is.
//!
//! Clauses are futures that no runtime is needed for. A loader that needs one brings it:
//! [`Subject::running`].

mod blocking;
mod calls;
mod failing;
mod giving_up;
mod loads;
mod remains;

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use toolshelf_core::{
    Arguments, CallContext, Error, LoadContext, Loaded, Tool, ToolLoader, ToolOutcome,
};

use crate::clause::{Clause, Verdict, clause, require, short};
use crate::wait::{block_on, within};

pub use blocking::*;
pub use calls::*;
pub use failing::*;
pub use giving_up::*;
pub use loads::*;
pub use remains::*;

type Build = dyn Fn() -> Arc<dyn ToolLoader> + Send + Sync;
type Run = dyn Fn(Pin<Box<dyn Future<Output = ()> + '_>>) + Send + Sync;
type Leftovers = dyn Fn() -> Vec<String> + Send + Sync;

/// A call of one of its tools.
#[derive(Clone)]
struct Calling {
    tool: String,
    arguments: Arguments,
}

impl Calling {
    /// The arguments are literals of a test: such that are no object count as none.
    fn new(tool: &str, arguments: Value) -> Self {
        Self {
            tool: tool.to_owned(),
            arguments: match arguments {
                Value::Object(arguments) => arguments,
                _ => Arguments::new(),
            },
        }
    }
}

/// A loader to be tested; each clause builds its own.
#[derive(Clone)]
pub struct Subject {
    build: Arc<Build>,
    names: Vec<String>,
    run: Arc<Run>,
    patience: Duration,
    call: Option<Calling>,
    long_call: Option<Calling>,
    failing: Option<Arc<Build>>,
    hanging: Option<Arc<Build>>,
    leftovers: Option<Arc<Leftovers>>,
    secrets: Vec<String>,
}

impl fmt::Debug for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subject")
            .field("tools", &self.names)
            .finish_non_exhaustive()
    }
}

fn builds<L: ToolLoader + 'static>(build: impl Fn() -> L + Send + Sync + 'static) -> Arc<Build> {
    Arc::new(move || Arc::new(build()))
}

impl Subject {
    /// A loader, and the names of the tools that it loads, in order.
    pub fn new<L: ToolLoader + 'static>(
        build: impl Fn() -> L + Send + Sync + 'static,
        names: &[&str],
    ) -> Self {
        Self {
            build: builds(build),
            names: names.iter().map(ToString::to_string).collect(),
            run: Arc::new(|future| block_on(future)),
            patience: Duration::from_secs(30),
            call: None,
            long_call: None,
            failing: None,
            hanging: None,
            leftovers: None,
            secrets: Vec::new(),
        }
    }

    /// What runs a future to its end, for a loader that needs a runtime:
    /// `.running(move |future| runtime.block_on(future))`. The loader is built there, too.
    #[must_use]
    pub fn running(
        mut self,
        run: impl Fn(Pin<Box<dyn Future<Output = ()> + '_>>) + Send + Sync + 'static,
    ) -> Self {
        self.run = Arc::new(run);
        self
    }

    /// After how long something counts as never ending; 30 seconds where it is not said.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// A call that is answered, without an error, and as often as one likes.
    #[must_use]
    pub fn call(mut self, tool: &str, arguments: Value) -> Self {
        self.call = Some(Calling::new(tool, arguments));
        self
    }

    /// A call that goes on until it is cancelled, dropped or late.
    #[must_use]
    pub fn long_call(mut self, tool: &str, arguments: Value) -> Self {
        self.long_call = Some(Calling::new(tool, arguments));
        self
    }

    /// A loader of this kind whose load fails: what it needs is not there, or cannot be used.
    #[must_use]
    pub fn failing<L: ToolLoader + 'static>(
        mut self,
        build: impl Fn() -> L + Send + Sync + 'static,
    ) -> Self {
        self.failing = Some(builds(build));
        self
    }

    /// A loader of this kind whose load does not end by itself.
    #[must_use]
    pub fn hanging<L: ToolLoader + 'static>(
        mut self,
        build: impl Fn() -> L + Send + Sync + 'static,
    ) -> Self {
        self.hanging = Some(builds(build));
        self
    }

    /// What is there at this moment of all that loaders of this subject have started:
    /// processes, connections, files. After a load there is something, and it is asked until
    /// there is nothing.
    #[must_use]
    pub fn leftovers(
        mut self,
        leftovers: impl Fn() -> Vec<String> + Send + Sync + 'static,
    ) -> Self {
        self.leftovers = Some(Arc::new(leftovers));
        self
    }

    /// Texts that no model may read: paths, addresses, tokens of the loaders above.
    #[must_use]
    pub fn secrets(mut self, secrets: &[&str]) -> Self {
        self.secrets = secrets.iter().map(ToString::to_string).collect();
        self
    }
}

/// How clauses use a subject.
impl Subject {
    /// Runs a clause's future, in the subject's runtime.
    fn run(&self, check: impl Future<Output = Result<(), String>>) -> Result<(), String> {
        let mut ended = None;
        (self.run)(Box::pin(async { ended = Some(check.await) }));
        ended.unwrap_or_else(|| Err("the runner has not run the future to its end".to_owned()))
    }

    /// What a future comes to, if it does not take too long.
    async fn ends<T>(&self, what: &str, future: impl Future<Output = T>) -> Result<T, String> {
        let ended = within(self.patience, future).await;
        ended.ok_or_else(|| format!("{what} has not ended within {:?}", self.patience))
    }

    /// The tools of a loader.
    async fn loaded(&self, loader: &dyn ToolLoader) -> Result<Loaded, String> {
        let loaded = self
            .ends("a load", loader.load(LoadContext::default()))
            .await?;
        loaded.map_err(|error| format!("the load fails: {error}"))
    }

    /// How a call ends.
    async fn called(
        &self,
        tool: &Arc<dyn Tool>,
        calling: &Calling,
        context: CallContext,
    ) -> Result<Result<ToolOutcome, Error>, String> {
        let call = tool.call(calling.arguments.clone(), context);
        self.ends(&format!("a call of `{}`", calling.tool), call)
            .await
    }

    fn calling(&self) -> Result<&Calling, String> {
        let lacking = "the subject says no call that is answered (`call`)";
        self.call.as_ref().ok_or_else(|| lacking.to_owned())
    }

    fn waiting(&self) -> Result<&Calling, String> {
        let lacking = "the subject says no call that waits (`long_call`)";
        self.long_call.as_ref().ok_or_else(|| lacking.to_owned())
    }

    fn failing_loader(&self) -> Result<Arc<dyn ToolLoader>, String> {
        let lacking = "the subject does not say how a loader fails (`failing`)";
        let build = self.failing.as_ref().ok_or_else(|| lacking.to_owned())?;
        Ok(build())
    }

    fn hanging_loader(&self) -> Result<Arc<dyn ToolLoader>, String> {
        let lacking = "the subject does not say how a load hangs (`hanging`)";
        let build = self.hanging.as_ref().ok_or_else(|| lacking.to_owned())?;
        Ok(build())
    }

    /// That a model may read what an error says to it, and learns something.
    fn may_be_read(&self, error: &Error) -> Result<(), String> {
        let text = error.for_model();
        require(
            text != error.kind().as_str() && !text.trim().is_empty(),
            || format!("an error says nothing to a model: {error}"),
        )?;
        let told = self.secrets.iter().find(|secret| text.contains(*secret));
        require(told.is_none(), || {
            format!("an error tells a model {}: {text:?}", short(&told))
        })?;
        // A path may stand in quotes or brackets.
        let words = text.split(|c: char| c.is_whitespace() || "'\"`()[]<>".contains(c));
        let mut places = words.filter(|word| {
            let drive = word.as_bytes().get(1..3) == Some(b":\\");
            word.contains("://") || drive || (word.starts_with('/') && word.len() > 1)
        });
        match places.next() {
            Some(place) => Err(format!(
                "an error tells a model the place {place:?}: {text:?}"
            )),
            None => Ok(()),
        }
    }
}

/// A tool of a load, by its name.
fn tool<'a>(loaded: &'a Loaded, name: &str) -> Result<&'a Arc<dyn Tool>, String> {
    let mut tools = loaded.tools.iter().map(|loaded| &loaded.tool);
    let found = tools.find(|tool| tool.definition().name() == name);
    found.ok_or_else(|| format!("there is no tool `{name}` to be called"))
}

/// The lists of clauses.
#[doc(hidden)]
#[macro_export]
macro_rules! __loader {
    (always $then:ident) => {
        $crate::__clauses! { $then loader always:
            its_tools_are_all_there_in_order,
            loading_again_brings_the_same,
            a_tool_keeps_its_definition,
            what_is_left_out_has_a_reason,
            a_load_that_was_given_up_can_be_made_again,
            a_load_that_is_cancelled_ends,
            a_load_that_is_late_ends,
            a_load_does_not_keep_its_thread,
        }
    };
    (calls $then:ident) => {
        $crate::__clauses! { $then loader calls:
            a_call_is_answered,
            calls_run_at_the_same_time,
            a_call_that_is_dropped_leaves_others_alone,
            a_call_that_is_cancelled_ends,
            a_call_that_is_late_ends,
            a_call_does_not_keep_its_thread,
        }
    };
    (waits $then:ident) => {
        $crate::__clauses! { $then loader waits:
            a_long_call_ends_when_it_is_cancelled,
            a_long_call_ends_at_its_deadline,
            a_long_call_keeps_nobody_waiting,
        }
    };
    (fails $then:ident) => {
        $crate::__clauses! { $then loader fails:
            a_failure_is_an_error_and_no_empty_list,
            an_error_tells_a_model_nothing_secret,
            a_loader_that_failed_can_be_asked_again,
        }
    };
    (hangs $then:ident) => {
        $crate::__clauses! { $then loader hangs:
            a_hanging_load_ends_when_it_is_cancelled,
            a_hanging_load_ends_at_its_deadline,
        }
    };
    (owns $then:ident) => {
        $crate::__clauses! { $then loader owns:
            a_load_that_is_given_up_leaves_nothing,
            a_loader_that_is_dropped_leaves_nothing,
        }
    };
    ($unknown:ident $then:ident) => {
        compile_error!(concat!(
            "a loader has no capability `",
            stringify!($unknown),
            "`; there are: calls, waits, fails, hangs, owns",
        ));
    };
}

/// Stamps the tests of a loader: a module of the name of the function that makes its
/// [`Subject`], with one test for each clause that always holds and for each of a capability
/// that is declared.
///
/// ```
/// use toolshelf_core::{Error, ErrorKind, LoadContext, Loaded};
/// use toolshelf_testkit::loader::Subject;
/// use toolshelf_testkit::world::tools;
///
/// fn constant() -> Subject {
///     let loads = async |_: LoadContext| Ok(Loaded::new(tools(&["send", "list"])));
///     let fails = async |_: LoadContext| {
///         Err(Error::new(ErrorKind::Unavailable, "connect /run/mail.sock: refused"))
///     };
///     Subject::new(move || loads, &["send", "list"]).failing(move || fails)
/// }
///
/// toolshelf_testkit::loader_tests!(constant: fails);
///
/// # fn main() {
/// // What the tests would say: a model is told nothing.
/// let clauses = toolshelf_testkit::loader::clauses();
/// let fails = toolshelf_testkit::broken(&clauses, &constant(), &["fails"]);
/// assert_eq!(fails, ["an_error_tells_a_model_nothing_secret"]);
/// # }
/// ```
#[macro_export]
macro_rules! loader_tests {
    ($subject:ident $(: $($capability:ident),+ $(,)?)?) => {
        $crate::__stamp! { loader __loader $subject [$($($capability)+)?] }
    };
}

/// All clauses, with the capability that makes each apply.
pub fn clauses() -> Vec<Clause<Subject>> {
    let mut all = Vec::new();
    all.extend(__loader!(always table));
    all.extend(__loader!(calls table));
    all.extend(__loader!(waits table));
    all.extend(__loader!(fails table));
    all.extend(__loader!(hangs table));
    all.extend(__loader!(owns table));
    all
}

/// The capabilities that were declared are those that the subject says something of, so that
/// no clause is left out that applies.
///
/// # Errors
///
/// When one is missing, or one too many.
pub fn declares_the_capabilities_that_it_has(subject: &Subject, declared: &[&str]) -> Verdict {
    clause("declares_the_capabilities_that_it_has", || {
        let has = [
            ("calls", subject.call.is_some()),
            ("waits", subject.long_call.is_some()),
            ("fails", subject.failing.is_some()),
            ("hangs", subject.hanging.is_some()),
            ("owns", subject.leftovers.is_some()),
        ];
        for (capability, has) in has {
            require(declared.contains(&capability) == has, || {
                if has {
                    format!("it has `{capability}`, whose clauses were not stamped")
                } else {
                    format!("`{capability}` is declared, and the subject says nothing of it")
                }
            })?;
        }
        Ok(())
    })
}
