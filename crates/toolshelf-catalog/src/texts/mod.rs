//! `texts/1`: the definitions of our own tools, the instructions on how to use them, and
//! what the model reads when something goes wrong.
//!
//! Every error says what to do next, is bounded however large the shelf is, and quotes
//! what others wrote as one neutralised line. None of them holds a secret: what a
//! loader's failure says to a model is
//! [`Error::for_model`](toolshelf_core::Error::for_model).
//!
//! ```
//! use toolshelf_catalog::texts;
//! assert_eq!(
//!     texts::unknown_group("gihtub", &["github"], 12),
//!     "There is no group `gihtub`. The nearest: `github`. 12 groups are available."
//! );
//! ```

mod calling;
mod loading;
mod own_tools;
mod searching;
mod split;

pub use calling::{
    MAX_SCHEMA_BYTES, ambiguous_tool, still_starting, unknown_tool, unreadable_arguments,
};
pub use loading::{
    empty_tool_names, group_id_missing, group_id_not_a_string, load_failed, tool_as_group,
    tool_names_not_a_list, unknown_group, unknown_tools,
};
pub use own_tools::{
    DEFERRED_TOOL_CALL, INJECT_NOT_OFFERED, LOAD_TOOLS, MAX_INSTRUCTIONS_CHARS, deferred_tool_call,
    instructions_dispatch, instructions_inject, instructions_standard, instructions_tst,
    load_tools_dispatch, load_tools_gateway, load_tools_inject, load_tools_inject_gateway,
};
pub use searching::{
    DEFAULT_RESULTS, MAX_ANSWER_BYTES, MAX_RESULTS, SEARCH_TOOLS, STREAK, already_loaded,
    arguments_ignored, found_tools, max_results_impossible, missing_tools, no_index, no_match,
    not_searched, query_missing, query_refused, query_too_long, search_streak,
    search_tools_dispatch, search_tools_tst, selected_tools,
};
pub use split::{
    DEFERRED_TOOL_DESTROY, DEFERRED_TOOL_READ, DEFERRED_TOOL_WRITE, load_tools_split,
    load_tools_split_gateway, split_calls, wrong_forwarder,
};

use toolshelf_core::MAX_ID_BYTES;
use toolshelf_core::text::one_line;

/// Name and version of all texts in this module.
pub const TEXTS_FORMAT: &str = "texts/1";

/// How many groups an error proposes.
pub const MAX_GROUPS: usize = 5;

/// How many tools an error proposes or lists.
pub const MAX_TOOLS: usize = 8;

/// The longest quotation in bytes: a key, `group/tool`.
const MAX_QUOTE_BYTES: usize = 2 * MAX_ID_BYTES + 1;

/// A name as a quotation, whoever wrote it. The name of a tool or a group stays as it is.
fn quote(text: &str) -> String {
    format!("`{}`", one_line(text, MAX_QUOTE_BYTES))
}

/// Quotations separated by commas, at most `limit`; the others are counted.
fn quotes<S: AsRef<str>>(texts: &[S], limit: usize) -> String {
    let shown = texts.iter().take(limit);
    let mut list: Vec<String> = shown.map(|text| quote(text.as_ref())).collect();
    if texts.len() > limit {
        list.push(format!("… +{} more", texts.len() - limit));
    }
    list.join(", ")
}

fn counted(count: usize, noun: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{s}")
}

/// A text of somebody else as a sentence of ours: with a full stop.
fn sentence(text: &str) -> String {
    let text = text.trim();
    let ended = text.ends_with(['.', '!', '?', '…', '。', '！', '？']);
    format!("{text}{}", if ended { "" } else { "." })
}
