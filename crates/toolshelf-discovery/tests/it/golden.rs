//! The list of formats and the golden files.

use crate::GOLDEN;

/// A format that is not listed, or a golden file of none, is a promise that nobody knows
/// of.
#[test]
fn every_format_and_golden_file_is_listed() {
    let formats_md = concat!(env!("CARGO_MANIFEST_DIR"), "/../../FORMATS.md");
    let listed = std::fs::read_to_string(formats_md).unwrap();
    let formats = [
        toolshelf_discovery::codec::found::NAME,
        toolshelf_discovery::codec::reference::NAME,
        toolshelf_discovery::MARKER_FORMAT,
    ];
    for format in formats {
        let files = format!("tests/golden/{}.*`", format.replace('/', "-"));
        assert!(listed.contains(&format!("`{format}`")), "{format}");
        assert!(listed.contains(&files), "{files}");
    }
    for name in GOLDEN.names() {
        let known = formats
            .iter()
            .any(|format| name.starts_with(&format!("{}.", format.replace('/', "-"))));
        assert!(known, "{name} is of no format");
    }
}
