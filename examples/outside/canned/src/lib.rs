//! The loader `canned`: tools whose answers stand in a JSON file, for demonstrations and for
//! tests of agents.
//!
//! ```json
//! {"tools": [{"name": "weather", "description": "The weather today.", "answer": "Sunny."}]}
//! ```
//!
//! An entry of a configuration with `"type": "canned"` and the `file` is such a server:
//!
//! ```
//! use toolshelf_core::{PluginKind, Registry};
//! use outside_canned as _;
//! let registry = Registry::linked()?;
//! assert_eq!(registry.names(PluginKind::Loader), ["canned"]);
//! let error = registry.loader("canned", &serde_json::json!({"file": 1})).err().unwrap();
//! assert!(error.to_string().contains("file: invalid type"));
//! # Ok::<(), toolshelf_core::Error>(())
//! ```

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use toolshelf_core::text::one_line;
use toolshelf_core::{
    Builder, Error, ErrorKind, FnTool, JsonText, LoadContext, Loaded, Plugin, Tool, ToolDefinition,
    ToolLoader, ToolName, ToolResult, options_schema, read_options,
};

const NAME: &str = "canned";

/// The largest file that is read, in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// The options.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct CannedOptions {
    /// The file with the tools.
    pub file: PathBuf,
}

/// The plugin.
pub const PLUGIN: Plugin = Plugin {
    name: NAME,
    provider: env!("CARGO_PKG_NAME"),
    about: "Tools whose answers stand in a file.",
    build: Builder::Loader(|options| Ok(Arc::new(canned(read_options(NAME, options)?)))),
    options: options_schema::<CannedOptions>,
};

toolshelf_core::submit!(PLUGIN);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    tools: Vec<CannedTool>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CannedTool {
    name: String,
    #[serde(default)]
    description: String,
    answer: String,
}

/// Errors name the file for the operator alone: a path is nothing for a model.
fn fault(path: &Path, cause: &dyn std::fmt::Display) -> Error {
    let cause = one_line(&cause.to_string(), 200);
    let message = format!("the tools in {} cannot be used: {cause}", path.display());
    Error::new(ErrorKind::InvalidConfig, message)
        .for_model_text("The tools of this group cannot be read from their file.")
}

fn read(path: &Path) -> Result<File, Error> {
    let file = std::fs::File::open(path).map_err(|cause| fault(path, &cause))?;
    let mut text = String::new();
    let read = file.take(MAX_BYTES + 1).read_to_string(&mut text);
    let bytes = read.map_err(|cause| fault(path, &cause))?;
    if bytes as u64 > MAX_BYTES {
        return Err(fault(path, &"the file is larger than 1 MiB"));
    }
    serde_json::from_str(&text).map_err(|cause| fault(path, &cause))
}

fn tool(canned: CannedTool) -> Result<Arc<dyn Tool>, Error> {
    let name = ToolName::new(&canned.name)?;
    let schema = JsonText::parse(r#"{"type":"object"}"#)?;
    let definition = ToolDefinition::new(name, &canned.description, schema)?;
    let answer: Arc<str> = canned.answer.into();
    Ok(Arc::new(FnTool::new(definition, move |_, _| {
        let answer = answer.clone();
        async move { Ok(ToolResult::text(&*answer)) }
    })))
}

/// A loader of the file, which each load reads anew.
pub fn canned(options: CannedOptions) -> impl ToolLoader {
    let file = Arc::new(options.file);
    move |_: LoadContext| {
        let file = file.clone();
        async move {
            let tools = read(&file)?.tools.into_iter().map(tool);
            Ok(Loaded::new(tools.collect::<Result<Vec<_>, _>>()?))
        }
    }
}
