//! Conformance tests and fakes for whoever writes a plugin of Toolshelf.
//!
//! A contract is a list of clauses. Each is a function of this crate: it takes a subject, and
//! its verdict names the clause that is broken and what was seen. A macro stamps a visible
//! test for each clause that applies, so that a plugin's own tests read like its contract. It
//! is a development dependency.
//!
//! | kind | kit |
//! |---|---|
//! | strategy | [`strategy`], [`strategy_tests!`] |
//! | catalog format | [`catalog`], [`catalog_tests!`] |
//! | discovery codec | [`codec`], [`codec_tests!`] |
//! | search index | [`index`], [`index_tests!`] |
//! | loader | [`loader`], [`loader_tests!`] |
//! | any plugin: its name and options | [`plugin`], [`plugin_tests!`] |
//!
//! Which clauses apply is said by capabilities, which are declared. One that is left out
//! although it is there is an error: nothing is skipped in silence.
//!
//! [`World`] holds groups in any condition and meets a planner's needs without a runtime;
//! [`Live`] is a session over one, and [`host`] a host with a model that follows a script.
//! [`faulty`] has loaders with faults; a whole server with faults is the crate
//! `toolshelf-faults`. [`NameIndex`] is a search index for strategies that need
//! one. [`generators`] makes inputs for properties of your own, and [`Golden`] compares texts
//! with golden files.
//!
//! ```
//! use toolshelf_core::{Call, Cx, Resolution, State, Step, Strategy, Surface};
//! use toolshelf_testkit::strategy::{self, Subject};
//!
//! /// Takes every call for its own.
//! struct Greedy;
//!
//! impl Strategy for Greedy {
//!     fn name(&self) -> &str {
//!         "greedy"
//!     }
//!     fn own_tools(&self) -> Vec<String> {
//!         Vec::new()
//!     }
//!     fn surface(&self, _: &Cx<'_>, _: &State) -> Step<Surface> {
//!         Step::Done(Surface::default())
//!     }
//!     fn resolve(&self, _: &Cx<'_>, _: &State, _: &Call) -> Step<Resolution> {
//!         Step::Done(Resolution::Answer(toolshelf_core::Answer::error("No.")))
//!     }
//! }
//!
//! let subject = Subject::new(|| Greedy);
//! let broken = strategy::a_name_of_the_hosts_is_not_its_own(&subject).unwrap_err();
//! assert!(broken.to_string().starts_with(
//!     "the clause `a_name_of_the_hosts_is_not_its_own` is broken: `Bash` is Answer"
//! ));
//! ```

pub mod catalog;
mod clause;
pub mod codec;
pub mod faulty;
pub mod generators;
mod golden;
pub mod host;
pub mod index;
mod live;
pub mod loader;
mod names;
pub mod plugin;
mod property;
mod stamp;
pub mod strategy;
mod wait;
pub mod world;

pub use clause::{Broken, Clause, Verdict, broken};
pub use golden::Golden;
pub use live::{Live, call, offered, text, written};
pub use names::NameIndex;
pub use wait::block_on;
pub use world::World;
