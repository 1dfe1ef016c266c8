//! Links every crate of ours that has a plugin. What it has and what the core knows to exist
//! is the same, so that nothing that can be left out of a build is left out in silence.

use toolshelf_catalog as _;
use toolshelf_core::{Error, PluginKind, Registry};
use toolshelf_discovery as _;
use toolshelf_hosts::{CATALOGS, CODECS};
use toolshelf_mcp as _;
use toolshelf_search as _;
use toolshelf_strategies as _;

fn main() -> Result<(), Error> {
    let strategies = ["dispatch", "inject", "standard", "tst", "tst-auto"];
    let strategies = strategies.map(|name| (PluginKind::Strategy, name, "toolshelf-strategies"));
    let mut expected = strategies.to_vec();
    expected.extend(CATALOGS);
    expected.extend(CODECS);
    expected.push((PluginKind::SearchIndex, "lexical/1", "toolshelf-search"));
    expected.push((PluginKind::Loader, "stdio", "toolshelf-mcp"));

    let registry = Registry::linked()?;
    let mut known: Vec<_> = Registry::known().collect();
    known.sort();
    assert_eq!(
        toolshelf_hosts::manifest(&registry),
        known,
        "left: what is linked; right: KNOWN in toolshelf-core/src/registry.rs"
    );
    toolshelf_hosts::check("everything", &registry, &expected);
    Ok(())
}
