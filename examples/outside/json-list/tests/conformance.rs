//! `json-list/1` under the kits for plugins and for codecs.

use outside_json_list::JsonList;
use toolshelf_testkit::codec::Subject;
use toolshelf_testkit::codec_tests;

fn json_list() -> Subject {
    Subject::new(|| JsonList)
}

codec_tests!(json_list: writes);

fn plugin() -> toolshelf_testkit::plugin::Subject {
    toolshelf_testkit::plugin::Subject::new(outside_json_list::PLUGIN)
}

toolshelf_testkit::plugin_tests!(plugin: defaults);
