//! `json-list/1` under the kit for codecs.

use outside_json_list::JsonList;
use toolshelf_testkit::codec::Subject;
use toolshelf_testkit::codec_tests;

fn json_list() -> Subject {
    Subject::new(|| JsonList)
}

codec_tests!(json_list: writes);
