//! `overlap/1` under the kits for plugins and for search indexes.

use outside_overlap::Overlap;
use toolshelf_testkit::index::Subject;
use toolshelf_testkit::index_tests;

fn overlap() -> Subject {
    Subject::new(Overlap::default)
}

index_tests!(overlap: texts, selects);

fn plugin() -> toolshelf_testkit::plugin::Subject {
    toolshelf_testkit::plugin::Subject::new(outside_overlap::PLUGIN)
}

toolshelf_testkit::plugin_tests!(plugin: defaults);
