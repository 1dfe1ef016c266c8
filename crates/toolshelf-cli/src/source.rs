//! Where the servers of a command come from.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value, json};
use toolshelf_gateway::config::{Config, find_config};

use crate::arguments::Servers;
use crate::failure::Failure;
use crate::samples::SAMPLES;

/// Reads the configuration that a command line asks for.
pub(crate) fn config(servers: &Servers) -> Result<Config, Failure> {
    if servers.samples {
        return sample_config();
    }
    let found;
    let path: &Path = match &servers.config {
        Some(path) => path,
        None => {
            found = find_config().map_err(|error| {
                Failure::usage(format!(
                    "{error}. `--samples` uses the sample servers instead"
                ))
            })?;
            &found
        }
    };
    let config = Config::read(path).map_err(|error| Failure::asked(&error))?;
    for warning in &config.warnings {
        tracing::warn!("{}: {warning}", path.display());
    }
    Ok(config)
}

/// The text of a file that a command line names.
pub(crate) fn text(path: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(path)
        .map_err(|cause| Failure::usage(format!("cannot read {}: {cause}", path.display())))
}

/// The sample servers, each a process of this program.
fn sample_config() -> Result<Config, Failure> {
    const PROGRAM: &str = "TOOLSHELF_PROGRAM";
    let program = this_program()?;
    let servers: Map<String, Value> = SAMPLES
        .iter()
        .map(|sample| {
            let entry = json!({
                "command": format!("${{{PROGRAM}}}"),
                "args": ["sample-server", sample.name],
            });
            (sample.name.to_owned(), entry)
        })
        .collect();
    let text = json!({"mcpServers": servers}).to_string();
    // As the value of a variable the path is taken as it is, whatever it holds.
    let variables = BTreeMap::from([(PROGRAM.to_owned(), program)]);
    Config::parse(&text, &variables).map_err(|error| Failure::asked(&error))
}

/// The path of this program.
pub(crate) fn this_program() -> Result<String, Failure> {
    let path = std::env::current_exe()
        .map_err(|cause| Failure::server(format!("cannot tell where this program is: {cause}")))?;
    path.into_os_string().into_string().map_err(|path| {
        Failure::server(format!(
            "the path of this program is not Unicode: {}",
            path.display()
        ))
    })
}
