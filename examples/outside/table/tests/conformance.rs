//! `table/1` under the kit for catalog formats.

use outside_table::Table;
use toolshelf_testkit::catalog::Subject;
use toolshelf_testkit::catalog_tests;

fn table() -> Subject {
    Subject::new(|| Table)
}

catalog_tests!(table: names);
