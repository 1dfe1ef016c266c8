//! `FIELD-NOTES.md` names tests that exist.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test states its expectation by failing on the spot"
)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The names of all functions that are marked as tests, in the sources below a folder.
fn tests_below(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            tests_below(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            found.extend(tests_in(&text));
        }
    }
}

/// The functions that follow an attribute of tests. In a `proptest!` it is `#[test]` too.
fn tests_in(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut marked = false;
    for line in text.lines().map(str::trim) {
        if line.starts_with("#[test]") || line.starts_with("#[tokio::test") {
            marked = true;
        } else if let Some((_, rest)) = line.split_once("fn ").filter(|_| marked) {
            let end = rest.find(['(', '<']).unwrap_or(rest.len());
            names.push(rest[..end].to_owned());
            marked = false;
        }
    }
    names
}

/// The cells of each row of a table, without headings.
fn rows(text: &str) -> Vec<Vec<&str>> {
    text.lines()
        .filter(|line| line.starts_with('|') && !line.starts_with("|---"))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .filter(|row: &Vec<&str>| row[0] != "promise")
        .collect()
}

#[test]
fn every_promise_has_tests_that_exist_or_says_what_is_missing() {
    let mut known = BTreeSet::new();
    for folder in ["crates", "tests/src", "tests/tests"] {
        tests_below(&workspace().join(folder), &mut known);
    }
    assert!(known.contains("every_promise_has_tests_that_exist_or_says_what_is_missing"));
    let table = std::fs::read_to_string(workspace().join("tests/FIELD-NOTES.md")).unwrap();
    let rows = rows(&table);
    assert!(rows.len() > 40, "{} rows", rows.len());
    let mut missing = Vec::new();
    for row in rows {
        let [promise, tests, not_yet] = row.as_slice() else {
            panic!("a row has three cells: {row:?}");
        };
        let names: Vec<&str> = tests.split('`').skip(1).step_by(2).collect();
        assert!(
            !names.is_empty() || !not_yet.is_empty(),
            "no test states: {promise}"
        );
        missing.extend(names.into_iter().filter(|name| !known.contains(*name)));
    }
    assert!(missing.is_empty(), "these tests do not exist: {missing:#?}");
}
