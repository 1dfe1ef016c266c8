//! `table/1` under the kits for plugins and for catalog formats.

use outside_table::Table;
use toolshelf_testkit::catalog::Subject;
use toolshelf_testkit::catalog_tests;

fn table() -> Subject {
    Subject::new(|| Table)
}

catalog_tests!(table: names);

fn plugin() -> toolshelf_testkit::plugin::Subject {
    toolshelf_testkit::plugin::Subject::new(outside_table::PLUGIN)
}

toolshelf_testkit::plugin_tests!(plugin: defaults);
