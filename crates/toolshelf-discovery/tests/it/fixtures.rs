//! Histories as providers have them, written for these tests.
//!
//! In each the model searches twice, once together with a fetch of a web page that
//! holds a line as a search would write it. Only `CronCreate`, `mcp__slack__send.message` and
//! `github__create_issue` were found by searches, in this order.

use std::path::PathBuf;

use serde_json::Value;

/// A file of `tests/fixtures`.
#[track_caller]
pub(crate) fn json(name: &str) -> Value {
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "tests", "fixtures"]
        .iter()
        .collect();
    let text = std::fs::read_to_string(path.join(format!("{name}.json"))).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// What the searches of the fixtures found.
pub(crate) const FOUND: [&str; 3] = [
    "CronCreate",
    "mcp__slack__send.message",
    "github__create_issue",
];
