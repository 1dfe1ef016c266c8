//! Golden files: the bytes that a version of a format promises.

use std::fmt::Write as _;
use std::path::PathBuf;

/// Compares a text with `tests/golden/NAME.golden`, byte for byte.
///
/// With `TOOLSHELF_BLESS=1` the file is written instead. A file that was released is
/// never blessed again: a better text is a new version of its format.
#[track_caller]
pub(crate) fn check(name: &str, actual: &str) {
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "tests", "golden"]
        .iter()
        .collect();
    let path = path.join(format!("{name}.golden"));
    if std::env::var_os("TOOLSHELF_BLESS").is_some_and(|value| value == "1") {
        std::fs::write(&path, actual).unwrap();
        return;
    }
    let expected = std::fs::read(&path).unwrap_or_default();
    if expected != actual.as_bytes() {
        panic!(
            "tests/golden/{name}.golden differs:\n{}\n\
             A released golden file never changes; a better text is a new version of its format. \
             To write one that was not released: TOOLSHELF_BLESS=1 cargo test -p toolshelf-catalog",
            diff(&String::from_utf8_lossy(&expected), actual)
        );
    }
}

/// The lines around the first difference. Blanks and line ends are shown as they are
/// escaped, since they count.
fn diff(expected: &str, actual: &str) -> String {
    let expected: Vec<&str> = expected.split_inclusive('\n').collect();
    let actual: Vec<&str> = actual.split_inclusive('\n').collect();
    let same = expected
        .iter()
        .zip(&actual)
        .take_while(|(a, b)| a == b)
        .count();
    let mut out = format!("first difference in line {}\n", same + 1);
    for line in expected.iter().skip(same).take(5) {
        let _ = writeln!(out, "- {line:?}");
    }
    for line in actual.iter().skip(same).take(5) {
        let _ = writeln!(out, "+ {line:?}");
    }
    out
}

/// A format that is not listed, or a golden file of none, is a promise that nobody knows
/// of.
#[test]
fn every_format_and_golden_file_is_listed() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let listed = std::fs::read_to_string(root.join("../../FORMATS.md")).unwrap();
    let formats = [
        toolshelf_catalog::dispatch::NAME,
        toolshelf_catalog::inject::NAME,
        toolshelf_catalog::gateway::NAME,
        toolshelf_catalog::LOAD_FORMAT,
        toolshelf_catalog::texts::TEXTS_FORMAT,
        toolshelf_catalog::ANNOUNCE_FORMAT,
    ];
    for format in formats {
        let files = format!("`{}.*`", format.replace('/', "-"));
        assert!(listed.contains(&format!("`{format}`")), "{format}");
        assert!(listed.contains(&files), "{files}");
    }
    for entry in std::fs::read_dir(root.join("tests/golden")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let known = formats
            .iter()
            .any(|format| name.starts_with(&format!("{}.", format.replace('/', "-"))));
        assert!(known && name.ends_with(".golden"), "{name} is of no format");
    }
}
