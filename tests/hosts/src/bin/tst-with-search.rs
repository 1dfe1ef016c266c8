//! Links the search strategies and an index for them.

use toolshelf_core::{Error, PluginKind, Registry};
use toolshelf_hosts::{CATALOGS, CODECS};
use toolshelf_search as _;
use toolshelf_strategies as _;

fn main() -> Result<(), Error> {
    let mut expected = vec![
        (PluginKind::Strategy, "tst", "toolshelf-strategies"),
        (PluginKind::Strategy, "tst-auto", "toolshelf-strategies"),
    ];
    expected.extend(CATALOGS);
    expected.extend(CODECS);
    expected.push((PluginKind::SearchIndex, "lexical/1", "toolshelf-search"));
    toolshelf_hosts::check("tst-with-search", &Registry::linked()?, &expected);
    Ok(())
}
