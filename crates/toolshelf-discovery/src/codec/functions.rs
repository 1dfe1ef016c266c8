//! `functions/1`: a block of definitions between tags, as coding agents write it.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use memchr::memmem;
use serde::Deserialize;
use serde_json::Value;
use toolshelf_core::codec::{Block, Collector, DiscoveryCodec, IssueKind, ReadDiscovery};
use toolshelf_core::{
    Builder, ContentBlock, Error, NoOptions, Plugin, options_schema, read_options,
};

use super::{only_read, texts};

/// Name and version.
pub const NAME: &str = "functions/1";

/// The plugin.
pub const PLUGIN: Plugin = Plugin {
    name: NAME,
    provider: env!("CARGO_PKG_NAME"),
    about: "Reads the block of <function> lines that some searches answer with.",
    build: Builder::DiscoveryCodec(build),
    options: options_schema::<NoOptions>,
};
toolshelf_core::submit!(PLUGIN);

fn build(options: &Value) -> Result<Arc<dyn DiscoveryCodec>, Error> {
    read_options::<NoOptions>(NAME, options)?;
    Ok(Arc::new(Functions))
}

const OPEN: &str = "<functions>";
const CLOSE: &str = "</functions>";
const OPEN_ONE: &str = "<function>";
const CLOSE_ONE: &str = "</function>";

static FINDER: LazyLock<memmem::Finder<'static>> = LazyLock::new(|| memmem::Finder::new(OPEN));

/// Reads
///
/// ```text
/// <functions>
/// <function>{"description": "…", "name": "CronCreate", "parameters": {…}}</function>
/// </functions>
/// ```
///
/// The block begins where a line begins, and only the first of a result counts. Definitions
/// are read as JSON, so tags inside a description are part of it. Where one cannot be
/// read, reading ends: nobody knows any more what is inside and what is outside.
///
/// It is not written: it holds definitions, and it looks to models like a part of the
/// system prompt, after which some answer nothing at all.
#[derive(Debug, Clone, Copy, Default)]
pub struct Functions;

impl DiscoveryCodec for Functions {
    fn name(&self) -> &str {
        NAME
    }

    fn write(&self, _names: &[&str]) -> Result<Vec<ContentBlock>, Error> {
        Err(only_read(NAME))
    }

    fn read<'a>(&self, content: &'a [Block<'a>]) -> ReadDiscovery<'a> {
        let mut out = Collector::new();
        let mut blocks = texts(content).filter_map(|(at, text)| Some((at, first_block(text)?)));
        if let Some((at, inside)) = blocks.next() {
            read_block(at, inside, &mut out);
            if let Some((at, _)) = blocks.next() {
                out.issue(IssueKind::AnotherList, at, "only the first block counts");
            }
        }
        out.finish()
    }
}

/// What follows the opening tag of the first block.
fn first_block(text: &str) -> Option<&str> {
    FINDER
        .find_iter(text.as_bytes())
        .find(|at| *at == 0 || text.as_bytes()[at - 1] == b'\n')
        .map(|at| &text[at + OPEN.len()..])
}

/// The part of a definition that is needed.
#[derive(Deserialize)]
struct Definition<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
}

fn read_block<'a>(block: usize, inside: &'a str, out: &mut Collector<'a>) {
    let mut rest = inside.trim_start();
    let mut listed = false;
    while let Some(definition) = rest.strip_prefix(OPEN_ONE) {
        listed = true;
        let mut values =
            serde_json::Deserializer::from_str(definition).into_iter::<Definition<'_>>();
        let name = match values.next() {
            Some(Ok(definition)) => definition.name,
            Some(Err(cause)) => {
                return out.issue(IssueKind::UnknownShape, block, &cause.to_string());
            }
            None => return out.issue(IssueKind::UnknownShape, block, "a definition is missing"),
        };
        let after = definition[values.byte_offset()..].trim_start();
        let Some(after) = after.strip_prefix(CLOSE_ONE) else {
            return out.issue(IssueKind::UnknownShape, block, "a definition is not closed");
        };
        if !out.name(block, name) {
            return;
        }
        rest = after.trim_start();
    }
    if !rest.starts_with(CLOSE) {
        out.issue(IssueKind::UnknownShape, block, "the block is not closed");
    } else if !listed {
        out.issue(IssueKind::EmptyList, block, "");
    }
}
