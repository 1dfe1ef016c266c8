//! Golden files.

use toolshelf_testkit::Golden;

const GOLDEN: Golden = Golden::of(env!("CARGO_MANIFEST_DIR"));

fn said(name: &'static str, text: &'static str) -> String {
    let panic = std::panic::catch_unwind(|| GOLDEN.check(name, text)).unwrap_err();
    panic.downcast_ref::<String>().unwrap().clone()
}

#[test]
fn bytes_are_compared_and_the_first_difference_is_shown() {
    GOLDEN.check("example", "One line,\nand another without a line end.");
    let error = said("example", "One line,\nand another with one.\n");
    assert!(
        error.contains("example.golden differs:\nfirst difference in line 2\n"),
        "{error}"
    );
    assert!(
        error.contains("- \"and another without a line end.\""),
        "{error}"
    );
    assert!(error.contains("+ \"and another with one.\\n\""), "{error}");
    let error = said("example", "One line,\r\nand another without a line end.");
    assert!(error.contains("+ \"One line,\\r\\n\""), "{error}");
}

#[test]
fn a_file_that_is_not_there_is_no_empty_one() {
    let error = said("nothing", "");
    assert!(error.contains("nothing.golden cannot be read"), "{error}");
    assert!(error.contains("TOOLSHELF_BLESS=1"), "{error}");
}

#[test]
fn all_files_are_named() {
    assert_eq!(GOLDEN.names(), ["example"]);
}
