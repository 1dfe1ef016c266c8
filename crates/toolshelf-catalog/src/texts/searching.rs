//! The definitions of `search_tools`, what it answers where nothing is to be disclosed, and
//! its errors.

use toolshelf_core::search::QueryForms;
use toolshelf_core::text::one_line;
use toolshelf_core::{Error, GroupId, MAX_ID_BYTES, ToolDefinition, ToolKey, signature};

use super::own_tools::{Hints, definition};
use super::{MAX_TOOLS, quote, sentence};

/// The name of the tool that searches.
pub const SEARCH_TOOLS: &str = "search_tools";

/// The hits of a search that does not say how many.
pub const DEFAULT_RESULTS: usize = 5;

/// The most hits that a search may ask for.
pub const MAX_RESULTS: usize = 20;

/// The most bytes of an answer that lists tools; under 800 tokens.
pub const MAX_ANSWER_BYTES: usize = 1_900;

/// The longest list of arguments in an answer, in bytes.
const MAX_ARGUMENTS_BYTES: usize = 200;

/// The most bytes of one list of names in a line of an answer.
const MAX_LIST_BYTES: usize = 360;

/// The longest description in an answer, in bytes.
const MAX_ABOUT_BYTES: usize = 120;

/// The longest reason of a group that was not searched, in bytes.
const MAX_REASON_BYTES: usize = 160;

/// To how many bytes it is cut where many groups were not searched.
const MIN_REASON_BYTES: usize = 48;

/// How many arguments that are not known an answer names.
const MAX_IGNORED: usize = 3;

/// After so many searches in a row an answer says what else there is to do.
pub const STREAK: usize = 3;

const SCHEMA: &str = r#"{"type":"object","properties":{"query":{"type":"string"},"max_results":{"type":"integer","minimum":1,"maximum":20,"default":5}},"required":["query"]}"#;

/// What a model is taught of queries.
fn query_forms(forms: QueryForms) -> &'static str {
    match (forms.requires, forms.selects) {
        (true, true) => {
            "`query`: words for the task, `+word` for one that must occur, or \
             `select:a,b` for tools whose names you know."
        }
        (true, false) => "`query`: words for the task, `+word` for one that must occur.",
        (false, true) => {
            "`query`: words for the task, or `select:a,b` for tools whose names you know."
        }
        (false, false) => "`query`: words for the task, or the name of a tool.",
    }
}

/// The definition of `search_tools` under `dispatch`, before an index that reads these forms.
///
/// # Errors
///
/// None: all parts are constants, but reading a definition can fail in general.
pub fn search_tools_dispatch(forms: QueryForms) -> Result<ToolDefinition, Error> {
    search_tools(
        SEARCH_TOOLS,
        forms,
        "Find tools of all groups: names and arguments (`*` = required).",
    )
}

/// The definition of `search_tools` under `tst`, by the name that a host gives it, before an
/// index that reads these forms.
///
/// # Errors
///
/// `InvalidDefinition` when the name is none that a tool can have.
pub fn search_tools_tst(name: &str, forms: QueryForms) -> Result<ToolDefinition, Error> {
    search_tools(
        name,
        forms,
        "Find tools that are not in your list yet. Those that are found join it for your next \
         turn, with their full definitions, and are called directly.",
    )
}

fn search_tools(name: &str, forms: QueryForms, what: &str) -> Result<ToolDefinition, Error> {
    let hints = Hints {
        read_only: true,
        idempotent: Some(true),
        open_world: Some(false),
        ..Hints::default()
    };
    let description = format!("{what} {}", query_forms(forms));
    definition(name, &description, SCHEMA, Some(hints))
}

/// The tools that were found, best first: name and arguments, and what each does. At most
/// `room` bytes, but for the first line; what has no room is counted. A name is never cut.
pub fn found_tools(query: &str, hits: &[(&ToolKey, &ToolDefinition)], room: usize) -> String {
    let (mut text, left) = tools(query, hits, Shown::Everything, room);
    if left > 0 {
        text.push_str(&format!("\n… and {left} more: ask for something narrower."));
    }
    text
}

/// The tools that were asked for by name. Where not all have room, none has a description, or
/// arguments either, so that every name is there as long as names alone have room.
pub fn selected_tools(query: &str, hits: &[(&ToolKey, &ToolDefinition)], room: usize) -> String {
    let (text, left) = tools(query, hits, Shown::Everything, room);
    if left == 0 {
        return text;
    }
    let (text, left) = tools(query, hits, Shown::Arguments, room);
    if left == 0 {
        return text + "\n… without descriptions: select fewer to see them.";
    }
    let (text, left) = tools(query, hits, Shown::Names, room);
    if left == 0 {
        return text + "\n… without arguments: select fewer to see them.";
    }
    format!("{text}\n… and {left} more by these names: select fewer at once.")
}

/// What a list shows of each tool.
#[derive(Clone, Copy, PartialEq)]
enum Shown {
    Everything,
    Arguments,
    Names,
}

/// What a line about what is not shown needs.
const RESERVE: usize = 64;

/// A list of tools, and how many of them have no room in it.
fn tools(
    query: &str,
    hits: &[(&ToolKey, &ToolDefinition)],
    shown: Shown,
    room: usize,
) -> (String, usize) {
    let s = if hits.len() == 1 { "" } else { "s" };
    let mut text = format!("{} tool{s} for {}:", hits.len(), quote_query(query));
    let mut left = hits.len();
    for (key, tool) in hits {
        let mut line = format!("\n- {key}");
        if shown != Shown::Names {
            let signature = signature(tool);
            let name = one_line(tool.name().as_str(), MAX_ID_BYTES);
            let arguments = signature.strip_prefix(&*name).unwrap_or_default();
            line.push_str(&one_line(arguments, MAX_ARGUMENTS_BYTES));
        }
        let about = one_line(tool.description().unwrap_or_default(), MAX_ABOUT_BYTES);
        if shown == Shown::Everything && !about.is_empty() {
            line.push_str(&format!(" — {about}"));
        }
        // Only what shows all of everything ends without a line about it.
        let last = left == 1 && shown == Shown::Everything;
        let reserve = if last { 0 } else { RESERVE };
        if text.len() + line.len() + reserve > room {
            break;
        }
        text.push_str(&line);
        left -= 1;
    }
    (text, left)
}

/// Names that were selected and that no tool has, each with the nearest ones.
pub fn missing_tools<S: AsRef<str>, N: AsRef<str>>(missing: &[(S, Vec<N>)]) -> String {
    let missing = missing.iter().map(|(name, near)| {
        let name = quote(name.as_ref());
        if near.is_empty() {
            name
        } else {
            format!("{name} (nearest: {})", list(near.iter().map(quote_any)))
        }
    });
    format!("No tool is called {}.", list(missing))
}

/// Tools that are in the list already.
pub fn already_loaded<S: AsRef<str>>(names: &[S]) -> String {
    let names = list(names.iter().map(quote_any));
    format!("Already loaded, call directly: {names}.")
}

/// Nothing fits a query. `near` are the nearest names. Who was not shown all there is is not
/// advised to `give_up`.
pub fn no_match<S: AsRef<str>>(query: &str, near: &[S], give_up: bool) -> String {
    let mut text = format!("No tool fits {}.", quote_query(query));
    if !near.is_empty() {
        let near = list(near.iter().map(quote_any));
        text.push_str(&format!(" The nearest names: {near}."));
    }
    text.push_str(" Try other words for what the tool should do");
    text.push_str(if give_up {
        ", or go on without one."
    } else {
        "."
    });
    text
}

/// Groups whose tools could not be searched, each with the reason; the more there are, the
/// shorter these are. `failed` says that some are tried again.
pub fn not_searched<R: AsRef<str>>(groups: &[(&GroupId, R)], failed: bool) -> String {
    let most = MAX_LIST_BYTES / groups.len().max(1);
    let most = most.clamp(MIN_REASON_BYTES, MAX_REASON_BYTES);
    let groups = groups.iter().map(|(id, reason)| {
        let reason = one_line(reason.as_ref(), most);
        let reason = reason.trim_end_matches('.');
        format!("{} ({reason})", quote(id.as_str()))
    });
    let again = if failed {
        " Searching later tries those that failed again."
    } else {
        ""
    };
    format!("Not searched: {}.{again}", list(groups))
}

/// Arguments that `search_tools` does not have, which made no difference.
pub fn arguments_ignored<S: AsRef<str>>(names: &[S]) -> String {
    format!(
        "Not used: {}. `query` and `max_results` are all there is.",
        few(names)
    )
}

/// Said when a model searches again and again.
pub fn search_streak(searches: usize) -> String {
    format!(
        "{searches} searches in a row. Use what was found, or go on without a tool: more \
         searches are unlikely to find others."
    )
}

/// There is no index to search.
pub fn no_index() -> String {
    "There is nothing to search with here. Tools are called by their names.".to_owned()
}

/// `query` is missing, empty or no string, before an index that reads these forms. `came` are
/// the other arguments.
pub fn query_missing<S: AsRef<str>>(came: &[S], forms: QueryForms) -> String {
    let came = if came.is_empty() {
        String::new()
    } else {
        format!(" What came: {}.", few(came))
    };
    let names = if forms.selects {
        "`select:` and names of tools, separated by commas"
    } else {
        "the name of a tool"
    };
    format!(
        "`query` must be a string that is not empty: words for what the tool should do, or \
         {names}.{came}"
    )
}

/// `query` is longer than what is read.
pub fn query_too_long(bytes: usize, most: usize) -> String {
    format!(
        "`query` has {bytes} bytes, more than {most}. A few words are enough; names can be \
         selected in several calls."
    )
}

/// `max_results` is something that cannot be.
pub fn max_results_impossible(got: &str) -> String {
    format!(
        "`max_results` must be a whole number from 1 to {MAX_RESULTS}, not {}. Leave it out for \
         {DEFAULT_RESULTS}.",
        one_line(got, 40)
    )
}

/// The index refused a query.
pub fn query_refused(reason: &str) -> String {
    sentence(&one_line(reason, 4 * MAX_REASON_BYTES))
}

fn quote_any(text: &impl AsRef<str>) -> String {
    quote(text.as_ref())
}

/// Items separated by commas, a few and of a few bytes; the others are counted. The first
/// is always there.
fn list(items: impl ExactSizeIterator<Item = String>) -> String {
    let count = items.len();
    let mut text = String::new();
    for (at, item) in items.enumerate() {
        if at == MAX_TOOLS || (at > 0 && text.len() + item.len() > MAX_LIST_BYTES) {
            text.push_str(&format!(", … +{} more", count - at));
            break;
        }
        if at > 0 {
            text.push_str(", ");
        }
        text.push_str(&item);
    }
    text
}

/// A few names of arguments; the others are counted.
fn few<S: AsRef<str>>(names: &[S]) -> String {
    let shown = names.iter().take(MAX_IGNORED);
    let mut shown: Vec<String> = shown
        .map(|name| format!("`{}`", one_line(name.as_ref(), 40)))
        .collect();
    if names.len() > MAX_IGNORED {
        shown.push(format!("… +{} more", names.len() - MAX_IGNORED));
    }
    shown.join(", ")
}

fn quote_query(query: &str) -> String {
    format!("`{}`", one_line(query, 80))
}
