//! `found/1`: `Found 2 deferred tool(s): a, b.`

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use memchr::{memchr, memmem};
use serde_json::Value;
use toolshelf_core::codec::{Block, Collector, DiscoveryCodec, IssueKind, ReadDiscovery, writable};
use toolshelf_core::{
    Builder, ContentBlock, Error, NoOptions, Plugin, options_schema, read_options,
};

use super::texts;

/// Name and version.
pub const NAME: &str = "found/1";

/// The plugin.
pub const PLUGIN: Plugin = Plugin {
    name: NAME,
    provider: env!("CARGO_PKG_NAME"),
    about: "One line of text that lists the tools a search found.",
    build: Builder::DiscoveryCodec(build),
    options: options_schema::<NoOptions>,
};
toolshelf_core::submit!(PLUGIN);

fn build(options: &Value) -> Result<Arc<dyn DiscoveryCodec>, Error> {
    read_options::<NoOptions>(NAME, options)?;
    Ok(Arc::new(FoundLine))
}

const BEGINNING: &str = "Found ";

/// The rare part of the line, which is what is looked for.
const NEEDLE: &str = "deferred tool(s)";

static FINDER: LazyLock<memmem::Finder<'static>> = LazyLock::new(|| memmem::Finder::new(NEEDLE));

/// Writes and reads the line
///
/// ```text
/// Found 2 deferred tool(s): CronCreate, mcp__slack__send_message.
/// ```
///
/// The line begins where a line of the result begins, and the dot at its end ends the
/// list, so that names may hold dots. Names are separated by `,` and trimmed. Only the first
/// such line of a result counts: what follows it may be what servers say of their tools.
///
/// ```
/// use toolshelf_core::codec::{Block, DiscoveryCodec};
/// use toolshelf_discovery::{FoundLine, found_line};
///
/// assert_eq!(found_line(&["a.b", "c"])?, "Found 2 deferred tool(s): a.b, c.");
/// let content = [Block::Text("Already loaded: d.\r\nFound 2 deferred tool(s): a.b, c.\r\n".into())];
/// assert_eq!(FoundLine.read(&content).names, ["a.b", "c"]);
/// # Ok::<(), toolshelf_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct FoundLine;

/// The line that lists these names, each once.
///
/// # Errors
///
/// As [`writable`].
pub fn found_line(names: &[&str]) -> Result<String, Error> {
    let names = writable(names)?;
    Ok(format!(
        "{BEGINNING}{} {NEEDLE}: {}.",
        names.len(),
        names.join(", ")
    ))
}

impl DiscoveryCodec for FoundLine {
    fn name(&self) -> &str {
        NAME
    }

    fn write(&self, names: &[&str]) -> Result<Vec<ContentBlock>, Error> {
        Ok(vec![ContentBlock::text(found_line(names)?)])
    }

    fn read<'a>(&self, content: &'a [Block<'a>]) -> ReadDiscovery<'a> {
        let mut out = Collector::new();
        let mut found = false;
        for (block, text) in texts(content) {
            let mut rest = text;
            while let Some(line) = next_line(&mut rest, text) {
                match line {
                    Line::List(_) if found => {
                        out.issue(IssueKind::AnotherList, block, "only the first list counts");
                    }
                    Line::List(list) => {
                        found = true;
                        read_list(&list, block, &mut out);
                    }
                    Line::Other(line) => out.issue(IssueKind::UnknownShape, block, line),
                }
            }
        }
        out.finish()
    }
}

/// A line that begins like the format.
enum Line<'a> {
    List(List<'a>),
    Other(&'a str),
}

struct List<'a> {
    /// The digits, as many as there are.
    count: &'a str,
    names: &'a str,
}

/// The next line of `rest`, which is an end of `text`, that begins like the format.
fn next_line<'a>(rest: &mut &'a str, text: &'a str) -> Option<Line<'a>> {
    loop {
        let at = FINDER.find(rest.as_bytes())?;
        let needle = text.len() - rest.len() + at;
        let after = &text[needle + NEEDLE.len()..];
        let Some((begin, count)) = beginning(&text[..needle]) else {
            *rest = after;
            continue;
        };
        let end = memchr(b'\n', after.as_bytes()).unwrap_or(after.len());
        let (tail, following) = after.split_at(end);
        *rest = following;
        let names = tail
            .strip_prefix(':')
            .and_then(|tail| tail.trim_end().strip_suffix('.'));
        return Some(match names {
            Some(names) => Line::List(List { count, names }),
            None => Line::Other(text[begin..text.len() - following.len()].trim_end()),
        });
    }
}

/// Where the line begins that ends with `Found N `, and its N. Looks at no more than
/// the digits before the end, so that a text of many needles costs no more.
fn beginning(before: &str) -> Option<(usize, &str)> {
    let number = before.strip_suffix(' ')?;
    let digits = number.bytes().rev().take_while(u8::is_ascii_digit).count();
    let (words, count) = number.split_at(number.len() - digits);
    let line = words.strip_suffix(BEGINNING)?;
    let at_line_start = line.is_empty() || line.ends_with('\n');
    (digits > 0 && at_line_start).then_some((line.len(), count))
}

fn read_list<'a>(list: &List<'a>, block: usize, out: &mut Collector<'a>) {
    let mut listed = 0_usize;
    if !list.names.trim().is_empty() {
        for name in list.names.split(',') {
            listed += 1;
            if !out.name(block, Cow::Borrowed(name.trim())) {
                return;
            }
        }
    }
    // A number of more digits than there are tools in the world is a mismatch too.
    let matches = list.count.parse() == Ok(listed);
    if !matches {
        let kind = match listed {
            0 => IssueKind::EmptyList,
            _ => IssueKind::CountMismatch,
        };
        let detail = format!("says {}, lists {listed}", list.count);
        out.issue(kind, block, &detail);
    }
}
