//! The discovery codec `json-list/1`: the names that a search found as a JSON array, in an
//! object that says what they are.
//!
//! ```
//! use outside_json_list::JsonList;
//! use toolshelf_core::codec::{Block, DiscoveryCodec};
//! let written = JsonList.write(&["mail__send"])?;
//! assert_eq!(written[0].as_text(), Some(r#"{"found_tools":["mail__send"]}"#));
//! let blocks: Vec<Block<'_>> = written.iter().map(Block::from).collect();
//! assert_eq!(JsonList.read(&blocks).names, ["mail__send"]);
//! # Ok::<(), toolshelf_core::Error>(())
//! ```

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::{Value, json};
use toolshelf_core::codec::{Block, Collector, DiscoveryCodec, IssueKind, ReadDiscovery, writable};
use toolshelf_core::{
    Builder, ContentBlock, Error, NoOptions, Plugin, options_schema, read_options,
};

const NAME: &str = "json-list/1";
const KEY: &str = "found_tools";

/// The plugin.
pub const PLUGIN: Plugin = Plugin {
    name: NAME,
    provider: env!("CARGO_PKG_NAME"),
    about: "Found names as a JSON array.",
    build: Builder::DiscoveryCodec(|options| {
        let NoOptions {} = read_options(NAME, options)?;
        Ok(Arc::new(JsonList))
    }),
    options: options_schema::<NoOptions>,
};

toolshelf_core::submit!(PLUGIN);

/// The codec.
#[derive(Debug, Clone, Copy, Default)]
pub struct JsonList;

impl DiscoveryCodec for JsonList {
    fn name(&self) -> &str {
        NAME
    }

    fn write(&self, names: &[&str]) -> Result<Vec<ContentBlock>, Error> {
        let names = writable(names)?;
        Ok(vec![ContentBlock::text(json!({ KEY: names }).to_string())])
    }

    fn read<'a>(&self, content: &'a [Block<'a>]) -> ReadDiscovery<'a> {
        let mut out = Collector::new();
        for (at, block) in content.iter().enumerate() {
            let Block::Text(text) = block else { continue };
            // Answers hold other texts too; only an object with the key is ours.
            if !text.trim_start().starts_with('{') {
                continue;
            }
            let Ok(mut answer) = serde_json::from_str::<Value>(text) else {
                continue;
            };
            match answer.get_mut(KEY).map(Value::take) {
                None => {}
                Some(Value::Array(names)) => {
                    for name in names {
                        let Value::String(name) = name else {
                            out.issue(IssueKind::InvalidName, at, "it is no string");
                            continue;
                        };
                        if !out.name(at, Cow::Owned(name)) {
                            break;
                        }
                    }
                }
                Some(_) => out.issue(IssueKind::UnknownShape, at, "the names are no array"),
            }
        }
        out.finish()
    }
}
