//! `load/1`, as far as it tells what was loaded.

use std::borrow::Cow;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;
use toolshelf_core::codec::{Block, Collector, DiscoveryCodec, IssueKind, ReadDiscovery};
use toolshelf_core::{
    Builder, ContentBlock, Error, GroupId, NoOptions, Plugin, options_schema, read_options,
};

use super::{only_read, texts};

/// Name and version.
pub const NAME: &str = "load/1";

/// The plugin.
pub const PLUGIN: Plugin = Plugin {
    name: NAME,
    provider: env!("CARGO_PKG_NAME"),
    about: "Reads which tools an answer of load_tools is about.",
    build: Builder::DiscoveryCodec(build),
    options: options_schema::<NoOptions>,
};
toolshelf_core::submit!(PLUGIN);

fn build(options: &Value) -> Result<Arc<dyn DiscoveryCodec>, Error> {
    read_options::<NoOptions>(NAME, options)?;
    Ok(Arc::new(LoadAnswers))
}

/// Reads the answer of `load_tools`: one JSON object with `expanded`, `group_id` and
/// `tool_names`; whatever else it holds is passed over.
///
/// Names come as `group/tool`, since a name alone says nothing outside of its group. An
/// answer with `"expanded":false` discovers nothing. Text after the object is not read.
/// It is not written from names: `toolshelf-catalog` writes it, with definitions.
#[derive(Debug, Clone, Copy, Default)]
pub struct LoadAnswers;

#[derive(Deserialize)]
struct Answer<'a> {
    expanded: bool,
    #[serde(borrow)]
    group_id: Cow<'a, str>,
    /// `null` in refusals of other systems.
    #[serde(default)]
    tool_names: Option<Vec<String>>,
}

impl DiscoveryCodec for LoadAnswers {
    fn name(&self) -> &str {
        NAME
    }

    fn write(&self, _names: &[&str]) -> Result<Vec<ContentBlock>, Error> {
        Err(only_read(NAME))
    }

    fn read<'a>(&self, content: &'a [Block<'a>]) -> ReadDiscovery<'a> {
        let mut out = Collector::new();
        let object = texts(content).find(|(_, text)| text.trim_start().starts_with('{'));
        match object {
            Some((block, text)) => read_answer(block, text, &mut out),
            None => out.issue(IssueKind::UnknownShape, 0, "no JSON object"),
        }
        out.finish()
    }
}

fn read_answer<'a>(block: usize, text: &'a str, out: &mut Collector<'a>) {
    let first = serde_json::Deserializer::from_str(text)
        .into_iter::<Answer<'_>>()
        .next();
    let answer = match first {
        Some(Ok(answer)) => answer,
        Some(Err(cause)) => return out.issue(IssueKind::UnknownShape, block, &cause.to_string()),
        None => return,
    };
    if !answer.expanded {
        return;
    }
    if GroupId::new(&answer.group_id).is_err() {
        return out.issue(IssueKind::InvalidName, block, &answer.group_id);
    }
    let names = answer.tool_names.unwrap_or_default();
    if names.is_empty() {
        out.issue(IssueKind::EmptyList, block, &answer.group_id);
    }
    for tool in &names {
        if tool.trim() != tool || tool.is_empty() {
            out.issue(IssueKind::InvalidName, block, tool);
        } else if !out.name(block, Cow::Owned(format!("{}/{tool}", answer.group_id))) {
            return;
        }
    }
}
