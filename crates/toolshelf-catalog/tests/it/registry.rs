//! The catalogs as plugins.

use toolshelf_catalog::{dispatch, gateway, inject};
use toolshelf_core::{PluginKind, Registry};

#[test]
fn the_three_formats_are_linked() {
    let registry = Registry::linked().unwrap();
    assert_eq!(
        registry.names(PluginKind::CatalogFormat),
        [dispatch::NAME, gateway::NAME, inject::NAME]
    );
}
