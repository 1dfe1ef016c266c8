//! `overlap/1` under the kit for search indexes.

use outside_overlap::Overlap;
use toolshelf_testkit::index::Subject;
use toolshelf_testkit::index_tests;

fn overlap() -> Subject {
    Subject::new(Overlap::default)
}

index_tests!(overlap: texts, selects);
