//! Links a plugin of a third party, which depends on the core alone, and brings nothing else.

use outside_table as _;
use toolshelf_core::{Error, PluginKind, Registry};

fn main() -> Result<(), Error> {
    let expected = [(PluginKind::CatalogFormat, "table/1", "outside-table")];
    toolshelf_hosts::check("third-party", &Registry::linked()?, &expected);
    Ok(())
}
