//! `marker/1`: the discovered set on a compaction message.

use std::borrow::Cow;

use serde_json::Value;
use toolshelf_core::Error;
use toolshelf_core::codec::{Collector, IssueKind, ReadDiscovery, writable};

/// Name and version.
pub const MARKER_FORMAT: &str = "marker/1";

/// What names the version in the text.
const KEY: &str = "toolshelf_discovered";

const VERSION: u64 = 1;

/// Where a coding agent keeps the same set on its own compaction messages.
const FOREIGN_KEYS: [&str; 2] = ["compactMetadata", "preCompactDiscoveredTools"];

/// Writes the discovered set as one line of JSON that a host keeps on the message which
/// stands for the history that was compacted.
///
/// ```
/// use toolshelf_discovery::{read_marker, write_marker};
/// let marker = write_marker(&["CronCreate", "größe.lesen"])?;
/// assert_eq!(marker, r#"{"names":["CronCreate","größe.lesen"],"toolshelf_discovered":1}"#);
/// assert_eq!(read_marker(&marker).names, ["CronCreate", "größe.lesen"]);
/// # Ok::<(), toolshelf_core::Error>(())
/// ```
///
/// # Errors
///
/// As [`writable`].
pub fn write_marker(names: &[&str]) -> Result<String, Error> {
    let names = writable(names)?;
    Ok(format!(
        r#"{{"names":{},"{KEY}":{VERSION}}}"#,
        Value::from(names)
    ))
}

/// Reads a marker.
///
/// The host gives the text of the marker that it kept, from the place where it keeps it.
/// Nothing here looks for a marker in a text, because anybody can write one into a text.
/// A newer version is an issue, and nothing is read of it. The shape in which a coding agent
/// keeps the set (`compactMetadata.preCompactDiscoveredTools`, or that list's object alone)
/// is read too.
pub fn read_marker(text: &str) -> ReadDiscovery<'static> {
    let mut out = Collector::new();
    match serde_json::from_str::<Value>(text) {
        Ok(marker) => read_value(&marker, &mut out),
        Err(cause) => out.issue(IssueKind::UnknownShape, 0, &cause.to_string()),
    }
    out.finish()
}

fn read_value(marker: &Value, out: &mut Collector<'static>) {
    let names = match marker.get(KEY) {
        Some(version) if version.as_u64() == Some(VERSION) => marker.get("names"),
        Some(version) => return out.issue(IssueKind::UnknownVersion, 0, &version.to_string()),
        None => foreign_names(marker),
    };
    let Some(names) = names.and_then(Value::as_array) else {
        return out.issue(IssueKind::UnknownShape, 0, "no list of names");
    };
    for name in names {
        match name.as_str() {
            Some(name) if !out.name(0, Cow::Owned(name.to_owned())) => return,
            Some(_) => {}
            None => out.issue(IssueKind::InvalidName, 0, &name.to_string()),
        }
    }
}

fn foreign_names(marker: &Value) -> Option<&Value> {
    let [outer, inner] = FOREIGN_KEYS;
    marker.get(outer).unwrap_or(marker).get(inner)
}
