//! `refresh`: lists of tools, asked for anew and kept.

use serde_json::json;
use toolshelf_core::{Cancellation, Registry};
use toolshelf_gateway::cache::{DescriptorCache, user_cache_dir};

use crate::arguments::RefreshArguments;
use crate::commands::tools::{gateway, keep, refuse_disabled};
use crate::failure::Failure;
use crate::output::{Output, counted};
use crate::signals::guarded;
use crate::source;
use crate::waiting::Waiting;

pub(crate) async fn run(
    arguments: &RefreshArguments,
    registry: &Registry,
    output: &Output,
) -> Result<(), Failure> {
    let mut config = source::config(&arguments.servers)?;
    keep(&mut config, &arguments.only)?;
    if !arguments.only.is_empty() {
        refuse_disabled(&config)?;
    }
    let folder = user_cache_dir().ok_or_else(|| {
        Failure::usage("there is no place for a cache: set HOME or TOOLSHELF_CACHE_DIR")
    })?;
    let cache = DescriptorCache::open(folder).map_err(|error| Failure::of(&error))?;
    let waiting = Waiting::new();
    let gateway = gateway(&config, &waiting, registry, Some(cache))?;
    let cancellation = Cancellation::new();
    let results = guarded(
        async { Ok(gateway.refresh(&cancellation).await) },
        gateway.close(),
    )
    .await?;
    drop(waiting);
    let mut lines = String::new();
    let mut rows = Vec::new();
    for (id, result) in &results {
        let (line, row) = match result {
            Ok(loaded) => (
                format!("{id}: {}", counted(loaded.tools.len(), "tool")),
                json!({"server": id, "tools": loaded.tools.len()}),
            ),
            Err(error) => (
                format!("{id}: {}: {error}", error.kind()),
                json!({"server": id, "error": {
                    "kind": error.kind().as_str(), "message": error.to_string(),
                }}),
            ),
        };
        lines.push_str(&line);
        lines.push('\n');
        rows.push(row);
    }
    if arguments.json {
        output.write_json(&json!({ "servers": rows }))?;
    } else {
        output.write(&lines)?;
    }
    if results.iter().any(|(_, result)| result.is_err()) {
        return Err(Failure::said());
    }
    Ok(())
}
