//! Links one strategy, with the crate that renders its catalog.

use toolshelf_core::{Error, PluginKind, Registry};
use toolshelf_hosts::CATALOGS;
use toolshelf_strategies as _;

fn main() -> Result<(), Error> {
    let mut expected = vec![(PluginKind::Strategy, "dispatch", "toolshelf-strategies")];
    expected.extend(CATALOGS);
    toolshelf_hosts::check("dispatch", &Registry::linked()?, &expected);
    Ok(())
}
