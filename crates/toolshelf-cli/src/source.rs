//! Where the servers of a command come from.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

use serde_json::{Map, Value, json};
use toolshelf_gateway::config::{Config, find_config};

use crate::arguments::Servers;
use crate::failure::Failure;
use crate::samples::SAMPLES;

/// The name under which a command line means standard input.
pub(crate) const STANDARD_INPUT: &str = "-";

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

/// A text that a command line names, and what messages call it. `-` is standard input.
pub(crate) fn text(path: &Path) -> Result<(String, String), Failure> {
    let mut bytes = Vec::new();
    let (name, read) = if path == Path::new(STANDARD_INPUT) {
        let read = std::io::stdin().lock().read_to_end(&mut bytes);
        ("standard input".to_owned(), read)
    } else {
        let read = std::fs::File::open(path).and_then(|mut file| file.read_to_end(&mut bytes));
        (path.display().to_string(), read)
    };
    read.map_err(|cause| Failure::usage(format!("cannot read {name}: {cause}")))?;
    let text = String::from_utf8(bytes).map_err(|fault| {
        let at = fault.utf8_error().valid_up_to();
        let before = fault.as_bytes().get(..at).unwrap_or_default();
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        Failure::usage(format!(
            "{name}:{line}: not UTF-8; write the file in that encoding"
        ))
    })?;
    Ok((name, text))
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
