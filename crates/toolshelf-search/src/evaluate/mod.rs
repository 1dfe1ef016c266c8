//! How good an index is: a judged set, the metric, and a report of both.
//!
//! A judged set is two JSONL files. A line of the first is a tool: `name`, and if known
//! `server`, `title`, `description`, `input_schema` and `id` (`server/name` where there is
//! none). A line of the second is a query: `query`, and `relevant`, a list of ids; or
//! `groups`, lists of ids of which one is enough; and `kind`, for figures of its own. A
//! query of the kind `no-match` without relevant tools is right when the answer is empty.
//! What is odd and can be read all the same, such as an id that no tool has, is a remark of
//! its line.
//!
//! ```
//! use toolshelf_search::{Lexical, evaluate};
//!
//! let tools = evaluate::read_tools("tools.jsonl", r#"
//!     {"server":"git","name":"commit","description":"Records staged changes."}
//!     {"server":"mail","name":"send","description":"Sends a message."}"#)?;
//! let queries = evaluate::read_queries("queries.jsonl", r#"
//!     {"query":"record my changes","relevant":["git/commit"]}
//!     {"query":"bake bread","relevant":[],"kind":"no-match"}"#)?;
//! let report = evaluate::evaluate(&Lexical::default(), &tools, &queries)?;
//! assert_eq!(report.overall.percent("hit@1"), Some(100.0));
//! assert_eq!(report.no_match.percent(), Some(100.0));
//! # Ok::<(), toolshelf_core::Error>(())
//! ```

mod metric;
mod read;
mod report;

pub use metric::{Figures, METRICS};
pub use read::{JudgedQuery, JudgedTool, NO_MATCH, read_queries, read_tools};
pub use report::{NoMatch, Report, evaluate, load};
