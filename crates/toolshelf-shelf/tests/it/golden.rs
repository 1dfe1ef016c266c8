//! Golden files: the bytes of the texts that a version of a format promises.

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
             To write one that was not released: TOOLSHELF_BLESS=1 cargo test -p toolshelf-shelf",
            difference(&String::from_utf8_lossy(&expected), actual)
        );
    }
}

/// The lines around the first difference, with blanks and line ends escaped, since they
/// count.
fn difference(expected: &str, actual: &str) -> String {
    let expected: Vec<&str> = expected.split_inclusive('\n').collect();
    let actual: Vec<&str> = actual.split_inclusive('\n').collect();
    let pairs = expected.iter().zip(&actual);
    let same = pairs.take_while(|(a, b)| a == b).count();
    let mut out = format!("first difference in line {}\n", same + 1);
    for line in expected.iter().skip(same).take(5) {
        let _ = writeln!(out, "- {line:?}");
    }
    for line in actual.iter().skip(same).take(5) {
        let _ = writeln!(out, "+ {line:?}");
    }
    out
}
