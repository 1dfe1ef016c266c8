//! The catalogs as plugins.

use serde_json::json;
use toolshelf_catalog::{dispatch, gateway, inject};
use toolshelf_core::{PluginKind, Registry};

#[test]
fn the_three_formats_are_linked() {
    let registry = Registry::linked().unwrap();
    assert_eq!(
        registry.names(PluginKind::CatalogFormat),
        [dispatch::NAME, gateway::NAME, inject::NAME]
    );
    for name in registry.names(PluginKind::CatalogFormat) {
        let format = registry
            .catalog_format(name, &serde_json::Value::Null)
            .unwrap();
        assert_eq!(format.name(), name);
        let plugin = registry.find(PluginKind::CatalogFormat, name).unwrap();
        assert_eq!(plugin.provider, "toolshelf-catalog");
        assert!((plugin.options)()["properties"]["header"].is_object());
    }
}

#[test]
fn options_that_nobody_knows_are_refused() {
    let registry = Registry::linked().unwrap();
    let error = registry
        .catalog_format(dispatch::NAME, &json!({"heading": "x"}))
        .err()
        .unwrap();
    let text = error.to_string();
    assert!(
        text.contains("dispatch/1") && text.contains("heading"),
        "{text}"
    );
}
