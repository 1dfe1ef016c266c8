//! The book in `docs/` and the pages beside the README: what they name is there, and all code in the book is tested.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The pages below a folder, by their path in it.
fn pages(folder: &Path, within: &str, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{within}{}", entry.file_name().into_string().unwrap());
        if entry.file_type().unwrap().is_dir() {
            pages(&entry.path(), &format!("{name}/"), found);
        } else {
            found.insert(name);
        }
    }
}

/// Where the links of a page lead, but for those to other places of the web.
fn links(text: &str) -> Vec<String> {
    let parts = text.split("](").skip(1);
    let links = parts.filter_map(|part| part.split_once(')'));
    links
        .map(|(link, _)| link.to_owned())
        .filter(|link| !link.contains("://"))
        .collect()
}

#[test]
fn the_contents_name_every_page_and_links_lead_somewhere() {
    let source = root().join("docs/src");
    let mut there = BTreeSet::new();
    pages(&source, "", &mut there);
    assert!(there.remove("SUMMARY.md"));
    let contents = fs::read_to_string(source.join("SUMMARY.md")).unwrap();
    let named: BTreeSet<String> = links(&contents).into_iter().collect();
    assert_eq!(named, there);
    for page in &there {
        let path = source.join(page);
        for link in links(&fs::read_to_string(&path).unwrap()) {
            let target = path.parent().unwrap().join(&link);
            assert!(target.is_file(), "{page}: {link}");
        }
    }
}

#[test]
fn every_page_with_code_is_tested() {
    let source = root().join("docs/src");
    let mut there = BTreeSet::new();
    pages(&source, "", &mut there);
    let tested = fs::read_to_string(root().join("tests/src/lib.rs")).unwrap();
    for page in there {
        let text = fs::read_to_string(source.join(&page)).unwrap();
        if text.contains("```rust") {
            assert!(tested.contains(&format!("\"{page}\"")), "{page}");
            assert!(!text.contains("rust,ignore"), "{page}");
        }
    }
}

#[test]
fn what_the_guides_call_an_example_is_there() {
    let source = root().join("docs/src/plugins");
    for entry in fs::read_dir(source).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        for word in text.split(|c: char| c.is_whitespace() || "`:,".contains(c)) {
            if word.starts_with("examples/") {
                let path = word.trim_end_matches('.');
                assert!(root().join(path).is_dir(), "{path}");
            }
        }
    }
}

#[test]
fn files_that_the_pages_of_the_root_name_are_there() {
    for page in [
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "FORMATS.md",
        "README.md",
    ] {
        let text = fs::read_to_string(root().join(page)).unwrap();
        let words = text.split(|c: char| c.is_whitespace() || "`:,()[]".contains(c));
        let paths = words.filter(|word| {
            let starts = ["toolshelf-", "crates/", "xtask/", "tests/"];
            word.contains('/') && starts.iter().any(|start| word.starts_with(start))
        });
        for path in paths {
            let path = match path.split_once('*') {
                // Of a pattern, its folder.
                Some((before, _)) => before.rsplit_once('/').map_or(before, |(folder, _)| folder),
                None => path.trim_end_matches(['.', '/']),
            };
            let folders = [root(), root().join("crates")];
            let there = folders.iter().any(|folder| folder.join(path).exists());
            assert!(there, "{page} names {path}");
        }
    }
}
