//! The strategies of Toolshelf: what a model sees, and what its calls mean.
//!
//! A strategy is a planner without I/O; `toolshelf-shelf` drives it. Each is a feature of
//! this crate, so a host can link one alone.
//!
//! | strategy | tools array | system prompt | a load costs | calls |
//! |---|---|---|---|---|
//! | [`Dispatch`] | constant | constant | nothing: schemas come at the end of the history | `deferred_tool_call` |
//! | [`Inject`] | grows with each load | shrinks with each load | the whole prompt cache once | native |
//! | [`Standard`] | everything | unchanged | – | native |
//!
//! All three run a tool by whichever name is unique: qualified (`group/tool`), on the
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

#[cfg(any(feature = "dispatch", feature = "inject", feature = "standard"))]
mod call;
#[cfg(feature = "dispatch")]
pub mod dispatch;
#[cfg(feature = "dispatch")]
mod envelope;
#[cfg(feature = "dispatch")]
mod forward;
#[cfg(feature = "inject")]
pub mod inject;
#[cfg(any(feature = "dispatch", feature = "inject"))]
mod load;
#[cfg(any(feature = "dispatch", feature = "inject", feature = "standard"))]
mod lookup;
#[cfg(any(feature = "dispatch", feature = "inject", feature = "standard"))]
mod slots;
#[cfg(feature = "dispatch")]
mod split;
#[cfg(feature = "standard")]
pub mod standard;
#[cfg(any(feature = "dispatch", feature = "inject"))]
mod view;

#[cfg(feature = "dispatch")]
pub use dispatch::{Dispatch, DispatchOptions};
#[cfg(feature = "inject")]
pub use inject::{Inject, InjectOptions};
#[cfg(feature = "standard")]
pub use standard::{Standard, StandardOptions};
