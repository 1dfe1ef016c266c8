//! Golden files, compared byte for byte. `TOOLSHELF_BLESS=1` writes them anew; a change is
//! a new version of a format and stands in the changelog.

use std::path::PathBuf;

#[track_caller]
pub(crate) fn check(name: &str, text: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden")
        .join(format!("{name}.golden"));
    if std::env::var_os("TOOLSHELF_BLESS").is_some_and(|value| value == "1") {
        std::fs::write(&path, text).unwrap();
        return;
    }
    let expected = std::fs::read_to_string(&path)
        .unwrap_or_else(|cause| panic!("{}: {cause}; TOOLSHELF_BLESS=1 writes it", path.display()));
    assert!(
        text == expected,
        "{name} is not what its golden file says (TOOLSHELF_BLESS=1 writes it anew)\n\
         --- expected\n{expected}\n--- got\n{text}"
    );
}
