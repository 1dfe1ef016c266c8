//! The strategies of Toolshelf: what a model sees, and what its calls mean.
//!
//! A strategy is a planner without I/O; `toolshelf-shelf` drives it. Each is a feature of
//! this crate, so a host can link one alone.
//!
//! | strategy | tools array | system prompt | a load costs | calls |
//! |---|---|---|---|---|
//! | [`Dispatch`] | constant | constant | nothing: schemas come at the end of the history | `deferred_tool_call` |
//! | [`Inject`] | grows with each load | shrinks with each load | the whole prompt cache once | native |
//! | [`Tst`] | grows with what a search finds | unchanged | the whole prompt cache once | native |
//! | [`TstAuto`] | as `tst` or as `standard`, decided once | unchanged | as the one it is | native |
//! | [`Standard`] | everything | unchanged | – | native |
//!
//! [`Dispatch`] has a search too, as an option: it answers with names and arguments, and changes
//! nothing in the request.
//!
//! All of them run a tool by whichever name is unique: qualified (`group/tool`), on the
//! wire, or bare. A deferred tool that is called before it was loaded is loaded and runs.
//!
//! ```
//! use toolshelf_core::{Cx, GroupId, Groups, LoadContext, Loaded, State, Step, Strategy, ToolGroup};
//! use toolshelf_strategies::Dispatch;
//!
//! let mut groups = Groups::new();
//! let loader = async |_context: LoadContext| Ok(Loaded::default());
//! groups.insert(ToolGroup::new(GroupId::new("docs")?, loader).declared_tools(["search"])?)?;
//!
//! let strategy = Dispatch::default();
//! let Step::Done(surface) = strategy.surface(&Cx::new(&groups), &State::new("dispatch")) else {
//!     unreachable!("nothing has to be loaded for a catalog");
//! };
//! let names: Vec<&str> = surface.tools.iter().map(|slot| &*slot.name).collect();
//! assert_eq!(names, ["load_tools", "deferred_tool_call"]);
//! # Ok::<(), toolshelf_core::Error>(())
//! ```

#[cfg(any(
    feature = "dispatch",
    feature = "inject",
    feature = "standard",
    feature = "tst"
))]
mod call;
#[cfg(feature = "dispatch")]
pub mod dispatch;
#[cfg(feature = "dispatch")]
mod envelope;
#[cfg(feature = "dispatch")]
mod forward;
#[cfg(feature = "inject")]
pub mod inject;
#[cfg(any(feature = "standard", feature = "tst"))]
mod inline;
#[cfg(any(feature = "dispatch", feature = "inject"))]
mod listing;
#[cfg(any(feature = "dispatch", feature = "inject"))]
mod load;
#[cfg(feature = "tst")]
mod models;
#[cfg(any(feature = "dispatch", feature = "tst"))]
mod near;
#[cfg(any(feature = "dispatch", feature = "tst"))]
mod search;
#[cfg(feature = "tst")]
mod setting;
#[cfg(feature = "dispatch")]
mod split;
#[cfg(feature = "standard")]
pub mod standard;
#[cfg(feature = "tst")]
mod told;
#[cfg(feature = "tst")]
pub mod tst;
#[cfg(feature = "tst")]
pub mod tst_auto;

#[cfg(feature = "dispatch")]
pub use dispatch::{Dispatch, DispatchOptions};
#[cfg(feature = "inject")]
pub use inject::{Inject, InjectOptions};
#[cfg(feature = "tst")]
pub use models::{CONTEXT_WINDOWS, ContextWindow, context_window};
#[cfg(feature = "tst")]
pub use setting::{SETTING_VARIABLES, SearchMode, Setting, search_setting};
#[cfg(feature = "standard")]
pub use standard::{Standard, StandardOptions};
#[cfg(feature = "tst")]
pub use tst::{Tst, TstOptions};
#[cfg(feature = "tst")]
pub use tst_auto::{TstAuto, TstAutoOptions};
