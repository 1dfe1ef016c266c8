//! Golden files: the bytes that a version of a format promises.
#![allow(
    clippy::panic,
    reason = "a helper of a test fails as a test does, and says where"
)]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The golden files of a crate: `tests/golden/NAME.golden` under its manifest.
///
/// Git must not touch their line ends (`*.golden -text` in `.gitattributes`).
///
/// ```
/// use toolshelf_testkit::Golden;
///
/// const GOLDEN: Golden = Golden::of(env!("CARGO_MANIFEST_DIR"));
///
/// # fn main() {
/// // Compared with the file, byte for byte, or written with TOOLSHELF_BLESS=1.
/// GOLDEN.check("example", "One line,\nand another without a line end.");
/// assert_eq!(GOLDEN.names(), ["example"]);
/// # }
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Golden {
    manifest: &'static str,
}

impl Golden {
    /// Those of the crate with this folder: `env!("CARGO_MANIFEST_DIR")`.
    pub const fn of(manifest: &'static str) -> Self {
        Self { manifest }
    }

    /// The folder.
    pub fn folder(&self) -> PathBuf {
        Path::new(self.manifest).join("tests").join("golden")
    }

    /// Compares a text with its golden file, byte for byte.
    ///
    /// With `TOOLSHELF_BLESS=1` the file is written instead. A file that was released is
    /// never blessed again: a better text is a new version of its format.
    ///
    /// # Panics
    ///
    /// When they differ, with the lines around the first difference, and when the file cannot
    /// be read or written.
    #[track_caller]
    pub fn check(&self, name: &str, actual: &str) {
        let path = self.folder().join(format!("{name}.golden"));
        if std::env::var_os("TOOLSHELF_BLESS").is_some_and(|value| value == "1") {
            let written =
                std::fs::create_dir_all(self.folder()).and_then(|()| std::fs::write(&path, actual));
            if let Err(cause) = written {
                panic!("{} cannot be written: {cause}", path.display());
            }
            return;
        }
        let expected = match std::fs::read(&path) {
            Ok(expected) => expected,
            Err(cause) => panic!(
                "{} cannot be read: {cause}. To write one that was not released: \
                 TOOLSHELF_BLESS=1 cargo test",
                path.display()
            ),
        };
        if expected != actual.as_bytes() {
            panic!(
                "{} differs:\n{}\n\
                 A released golden file never changes; a better text is a new version of its \
                 format. To write one that was not released: TOOLSHELF_BLESS=1 cargo test",
                path.display(),
                difference(&String::from_utf8_lossy(&expected), actual)
            );
        }
    }

    /// The names of the files, sorted.
    ///
    /// # Panics
    ///
    /// When the folder cannot be read, or holds something else than golden files.
    #[track_caller]
    pub fn names(&self) -> Vec<String> {
        let entries = match std::fs::read_dir(self.folder()) {
            Ok(entries) => entries,
            Err(cause) => panic!("{} cannot be read: {cause}", self.folder().display()),
        };
        let mut names = Vec::new();
        for entry in entries.filter_map(Result::ok) {
            let file = entry.file_name().to_string_lossy().into_owned();
            match file.strip_suffix(".golden") {
                Some(name) => names.push(name.to_owned()),
                None => panic!("{} is no golden file", entry.path().display()),
            }
        }
        names.sort_unstable();
        names
    }
}

/// The lines around the first difference, with blanks and line ends escaped, since they count.
fn difference(expected: &str, actual: &str) -> String {
    let expected: Vec<&str> = expected.split_inclusive('\n').collect();
    let actual: Vec<&str> = actual.split_inclusive('\n').collect();
    let pairs = expected.iter().zip(&actual);
    let same = pairs.take_while(|(a, b)| a == b).count();
    let mut out = format!("first difference in line {}\n", same + 1);
    for (mark, lines) in [('-', &expected), ('+', &actual)] {
        for line in lines.iter().skip(same).take(5) {
            let _ = writeln!(out, "{mark} {line:?}");
        }
    }
    out
}
