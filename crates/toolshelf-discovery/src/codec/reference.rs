//! `tool-reference/1`: blocks that a provider replaces by definitions.

use std::sync::Arc;

use serde_json::{Map, Value};
use toolshelf_core::codec::{Block, Collector, DiscoveryCodec, ReadDiscovery, writable};
use toolshelf_core::{
    Builder, ContentBlock, Error, NoOptions, Plugin, options_schema, read_options,
};

/// Name and version.
pub const NAME: &str = "tool-reference/1";

/// The plugin.
pub const PLUGIN: Plugin = Plugin {
    name: NAME,
    provider: env!("CARGO_PKG_NAME"),
    about: "A tool_reference block for each tool, which the provider replaces by its definition.",
    build: Builder::DiscoveryCodec(build),
    options: options_schema::<NoOptions>,
};
toolshelf_core::submit!(PLUGIN);

fn build(options: &Value) -> Result<Arc<dyn DiscoveryCodec>, Error> {
    read_options::<NoOptions>(NAME, options)?;
    Ok(Arc::new(ToolReferences))
}

/// Writes and reads `{"type":"tool_reference","tool_name":"…"}`, one block for each
/// tool.
#[derive(Debug, Clone, Copy, Default)]
pub struct ToolReferences;

impl DiscoveryCodec for ToolReferences {
    fn name(&self) -> &str {
        NAME
    }

    fn write(&self, names: &[&str]) -> Result<Vec<ContentBlock>, Error> {
        let reference = |name: &str| ContentBlock::ToolReference {
            tool_name: name.to_owned(),
            rest: Map::new(),
        };
        Ok(writable(names)?.into_iter().map(reference).collect())
    }

    fn read<'a>(&self, content: &'a [Block<'a>]) -> ReadDiscovery<'a> {
        let mut out = Collector::new();
        for (at, block) in content.iter().enumerate() {
            if let Block::ToolReference(name) = block
                && !out.name(at, (&**name).into())
            {
                break;
            }
        }
        out.finish()
    }
}
