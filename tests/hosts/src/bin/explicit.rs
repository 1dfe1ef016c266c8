//! Registers by hand. What else is linked, as here the catalogs that `dispatch` needs, stays
//! out of a registry that it was not put into.

use toolshelf_core::{Error, PluginKind, Registry};

fn main() -> Result<(), Error> {
    let mut registry = Registry::new();
    registry.register(toolshelf_strategies::dispatch::PLUGIN)?;
    let expected = [(PluginKind::Strategy, "dispatch", "toolshelf-strategies")];
    toolshelf_hosts::check("explicit", &registry, &expected);
    Ok(())
}
