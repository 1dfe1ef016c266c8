//! The forms of a query.

use std::collections::BTreeSet;

use regex::{Regex, RegexBuilder};
use toolshelf_core::text::{bounded_text, one_line};
use toolshelf_core::{Error, ErrorKind};

use crate::words::fold;

/// The longest text of words that is read, in bytes. What stands behind is passed over.
const MAX_BYTES: usize = 4_096;

/// How many names, and tools of these names, a query can select. More are refused, since a
/// name that is passed over in silence looks as if it had been found.
pub(crate) const MAX_SELECTED: usize = 64;

/// How many words can be required. More are refused, since a tool that lacks one which was
/// passed over in silence looks as if it had it.
pub(crate) const MAX_REQUIRED: usize = 64;

/// The longest pattern, in bytes, and the memory that it may need.
const MAX_PATTERN_BYTES: usize = 512;
const MAX_PATTERN_MEMORY: usize = 256 * 1024;

/// A query, read.
pub(crate) enum Query<'a> {
    /// `select:a,b`: these tools, by name.
    Select(Vec<&'a str>),
    /// `/pattern/` or `regex:pattern`: what a pattern fits.
    Pattern(Box<Regex>),
    /// Words, and such as a tool must have.
    Words {
        required: Vec<&'a str>,
        text: String,
    },
}

/// Reads a query.
///
/// # Errors
///
/// [`ErrorKind::InvalidArguments`] when it is empty, selects too many names, or its pattern
/// cannot be read.
pub(crate) fn read(query: &str) -> Result<Query<'_>, Error> {
    let query = query.trim();
    if let Some(names) = strip_prefix(query, "select:") {
        return select(names);
    }
    if let Some(pattern) = strip_prefix(query, "regex:") {
        return pattern_of(pattern);
    }
    if let Some((pattern, flags)) = between_slashes(query) {
        return match flags.trim_matches('i') {
            "" => pattern_of(pattern),
            _ => Err(unknown_flags(flags)),
        };
    }
    let query = clip(query).trim();
    let (required, others): (Vec<&str>, Vec<&str>) =
        query.split_whitespace().partition(|word| is_required(word));
    let required: Vec<&str> = required
        .iter()
        .map(|word| word.trim_start_matches('+'))
        .collect();
    if required.is_empty() {
        return words(query);
    }
    Ok(Query::Words {
        required,
        text: others.join(" "),
    })
}

/// Reads a text that is known not to be of another form.
pub(crate) fn plain(query: &str) -> Query<'_> {
    Query::Words {
        required: Vec::new(),
        text: query.trim().to_owned(),
    }
}

fn words(query: &str) -> Result<Query<'_>, Error> {
    if fold(query).is_empty() {
        return Err(invalid(
            "the query is empty",
            "The query holds no word. Say in a few words what the tool should do, \
             or give its name: `send message`, or `select:name` for exact names.",
        ));
    }
    Ok(plain(query))
}

fn clip(query: &str) -> &str {
    let mut end = query.len().min(MAX_BYTES);
    while !query.is_char_boundary(end) {
        end -= 1;
    }
    &query[..end]
}

fn strip_prefix<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let start = text.get(..prefix.len())?;
    start
        .eq_ignore_ascii_case(prefix)
        .then(|| &text[prefix.len()..])
}

/// `+word`; `c++` and `+` alone require nothing.
fn is_required(word: &str) -> bool {
    word.starts_with('+') && word.contains(char::is_alphanumeric)
}

fn select(names: &str) -> Result<Query<'_>, Error> {
    let mut known = BTreeSet::new();
    let names: Vec<&str> = names
        .split(',')
        .map(|name| name.trim().trim_matches(['`', '"', '\'']))
        .filter(|name| !name.is_empty() && known.insert(*name))
        .collect();
    if names.len() > MAX_SELECTED {
        let count = names.len();
        return Err(invalid(
            &format!("the query selects {count} names, more than {MAX_SELECTED}"),
            &format!(
                "The query selects {count} names; at most {MAX_SELECTED} can be selected at once. \
                 Select them in several calls."
            ),
        ));
    }
    if names.is_empty() {
        return Err(invalid(
            "the query selects no name",
            "`select:` is followed by no name. Write the names of tools after it, \
             separated by commas: `select:create_issue,list_issues`.",
        ));
    }
    Ok(Query::Select(names))
}

/// The names that are selected are those of too many tools.
pub(crate) fn too_many_tools(count: usize) -> Error {
    invalid(
        &format!("the query selects {count} tools, more than {MAX_SELECTED}"),
        &format!(
            "The query selects {count} tools, since groups have tools of one name; at most \
             {MAX_SELECTED} can be selected at once. Select them in several calls, or write the \
             group before the name: `select:group/name`."
        ),
    )
}

/// More words are required than can be.
pub(crate) fn too_many_required() -> Error {
    invalid(
        &format!("the query requires more than {MAX_REQUIRED} words"),
        &format!(
            "The query requires more than {MAX_REQUIRED} words. Write the plus before fewer of \
             them; words without it rank the tools."
        ),
    )
}

/// The letters that languages with patterns between slashes allow behind them.
const FLAGS: &str = "dgimsuvxy";

/// `/pattern/` and the flags behind it. What else may follow the last slash is of a path.
fn between_slashes(query: &str) -> Option<(&str, &str)> {
    let (pattern, flags) = query.strip_prefix('/')?.rsplit_once('/')?;
    let is_flag = |(at, flag): (usize, char)| FLAGS.contains(flag) && !flags[..at].contains(flag);
    let are_flags = flags.char_indices().all(is_flag);
    (!pattern.is_empty() && are_flags).then_some((pattern, flags))
}

fn unknown_flags(flags: &str) -> Error {
    invalid(
        &format!("the pattern has flags that are not known: {flags}"),
        &format!(
            "The flags `{flags}` behind the pattern are not known. Only `i` is, and every pattern \
             fits whatever the case: write `/pattern/`. Of a path write the last part alone."
        ),
    )
}

/// A single letter, with or without signs: `R`, `C++`, `C#`. It is no word that is indexed; as
/// a whole query it means what is written so. `a` and `i` are words of any sentence.
pub(crate) fn letter(text: &str) -> Option<Regex> {
    let text = text.trim();
    let signs = text.strip_prefix(|c: char| c.is_ascii_alphabetic())?;
    let is_letter = signs.len() <= 2 && signs.bytes().all(|sign| matches!(sign, b'+' | b'#'));
    if !is_letter || matches!(text, "a" | "A" | "i" | "I") {
        return None;
    }
    // Not what an apostrophe or the dot of an abbreviation cuts off.
    let pattern = format!(
        r"(?:^|[^\p{{Alphabetic}}\p{{N}}.'’]){}(?:$|[^\p{{Alphabetic}}\p{{N}}+#'’])",
        regex::escape(text)
    );
    compile(&pattern).ok()
}

fn pattern_of<'a>(pattern: &str) -> Result<Query<'a>, Error> {
    compile(pattern.trim()).map(|regex| Query::Pattern(Box::new(regex)))
}

fn compile(pattern: &str) -> Result<Regex, Error> {
    let advice = "Write a shorter or simpler pattern in the syntax of Rust's regex crate (no \
                  look-around, no back-references), or search with plain words.";
    if pattern.is_empty() || pattern.len() > MAX_PATTERN_BYTES {
        return Err(invalid(
            "the pattern is empty or too long",
            &format!("The pattern must have 1 to {MAX_PATTERN_BYTES} bytes. {advice}"),
        ));
    }
    RegexBuilder::new(pattern)
        .case_insensitive(true)
        .size_limit(MAX_PATTERN_MEMORY)
        .dfa_size_limit(MAX_PATTERN_MEMORY)
        .nest_limit(32)
        .build()
        .map_err(|cause| {
            // Of the drawing that shows where the fault is, the last line says what it is.
            let cause = cause.to_string();
            let fault = cause.lines().last().unwrap_or_default();
            let fault = fault.strip_prefix("error: ").unwrap_or(fault);
            let fault = one_line(fault.trim_end_matches('.'), 160);
            invalid(
                &format!("the pattern cannot be read: {fault}"),
                &format!(
                    "The pattern `{}` cannot be read: {fault}. {advice}",
                    bounded_text(&one_line(pattern, 96), 96)
                ),
            )
        })
}

pub(crate) fn invalid(message: &str, text: &str) -> Error {
    Error::new(ErrorKind::InvalidArguments, message.to_owned()).for_model_text(text)
}
