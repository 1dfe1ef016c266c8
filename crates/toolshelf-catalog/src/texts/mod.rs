//! `texts/1`: the definitions of our own tools, the instructions on how to use them, and
//! what the model reads when something goes wrong.
//!
//! Every error says what to do next, is bounded however large the shelf is, and quotes
//! what others wrote as one neutralised line. None of them holds a schema unless it
//! says so, and none a secret: what a loader's failure says to a model is
//! [`Error::for_model`](toolshelf_core::Error::for_model).

mod calling;
mod loading;
mod own_tools;

pub use calling::{ambiguous_tool, arguments_fault, tool_name_missing, unknown_tool};
pub use loading::{
    group_id_missing, load_failed, no_tool_names, tool_as_group, tool_names_fault, unknown_group,
    unknown_tools,
};
pub use own_tools::{
    DEFERRED_TOOL_CALL, DISPATCH_INSTRUCTIONS, INJECT_INSTRUCTIONS, INJECT_NOT_OFFERED, LOAD_TOOLS,
    MAX_INSTRUCTIONS_CHARS, STANDARD_INSTRUCTIONS, deferred_tool_call, load_tools_for_dispatch,
    load_tools_for_inject,
};

use toolshelf_core::MAX_ID_BYTES;
use toolshelf_core::text::one_line;

/// Name and version of all texts in this module.
pub const TEXTS_FORMAT: &str = "texts/1";

/// How many near names an error proposes.
pub const MAX_NEAREST: usize = 5;

/// How many candidates the error about an ambiguous name lists.
pub const MAX_CANDIDATES: usize = 8;

/// What somebody else wrote, as a quotation. A name that is one line already and could be
/// given back stays as it is.
fn quote(text: &str) -> String {
    let bounded = one_line(text, MAX_ID_BYTES);
    format!("`{bounded}`")
}

/// Quotations separated by commas, at most `limit`; the rest is counted.
fn quotes<S: AsRef<str>>(texts: &[S], limit: usize) -> String {
    let mut list: Vec<String> = texts
        .iter()
        .take(limit)
        .map(|text| quote(text.as_ref()))
        .collect();
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
