//! Writes and reads discovery in histories, whatever provider they come from.
//!
//! A strategy that defers tools has to know which of them the model found already. The
//! history says so: a search answered, and its answer lists names. This crate writes such
//! answers and reads them back, out of histories of several providers, and of several
//! systems. It does so without trusting the history: only what answers a call of the search or
//! load tool counts, matched by the id of the call. Somebody else's web page may hold
//! the same line.
//!
//! | part | what it does |
//! |---|---|
//! | [`codec`] | a result and the names in it: the line `Found N deferred tool(s): …`, references, definitions, `load_tools` |
//! | [`history`] | a history as calls and answers: of the core, Anthropic, OpenAI Chat and Responses, Gemini |
//! | [`DiscoveryReader`] | both together, and its place in a history that grows |
//! | [`write_marker`], [`read_marker`] | the discovered set across a compaction |
//!
//! All reading is total: odd input gives what could be read, and issues that say what was
//! odd and where. All of it is bounded.
//!
//! The codecs are plugins: a host that links this crate finds them in
//! [`Registry::linked`](toolshelf_core::Registry::linked), or registers each module's `PLUGIN`
//! by hand.
//!
//! ```
//! use toolshelf_core::{Call, ContentBlock, Message, Role};
//! use toolshelf_discovery::{DiscoveryReader, Followed, Neutral, Source, found_line};
//!
//! let call = Call { id: "1".into(), name: "find_tools".into(), arguments: "cron".into() };
//! let history = [
//!     Message { role: Role::Assistant, content: vec![], calls: vec![call], answers: None },
//!     Message {
//!         role: Role::Tool,
//!         content: vec![ContentBlock::text(found_line(&["CronCreate"])?)],
//!         calls: vec![],
//!         answers: Some("1".into()),
//!     },
//! ];
//! // This host renamed the search tool.
//! let mut reader = DiscoveryReader::new(Neutral, vec![Source::search("find_tools")]);
//! assert_eq!(reader.follow(&history), Followed::Read { messages: 2, names: 1 });
//! assert_eq!(reader.names(), ["CronCreate".into()]);
//! # Ok::<(), toolshelf_core::Error>(())
//! ```

mod calls;
pub mod codec;
pub mod history;
mod marker;
mod place;
mod reader;
mod source;

pub use codec::found::{FoundLine, found_line};
pub use codec::functions::Functions;
pub use codec::load::LoadAnswers;
pub use codec::reference::ToolReferences;
pub use history::{Anthropic, Gemini, HistoryFormat, Neutral, OpenAiChat, OpenAiResponses};
pub use marker::{MARKER_FORMAT, read_marker, write_marker};
pub use reader::{DiscoveryReader, Followed, HistoryIssue, MAX_HISTORY_ISSUES};
pub use source::{LOAD_TOOL, SEARCH_TOOL, Source, read_result};
