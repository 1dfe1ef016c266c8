//! What a program has that names this crate and none of those behind it.

use std::collections::BTreeSet;

use toolshelf::core::{PluginKind, Registry};

/// The crates with plugins that the features link.
fn linked_by_features() -> BTreeSet<&'static str> {
    let mut providers = BTreeSet::new();
    if cfg!(feature = "strategies") || cfg!(feature = "gateway") {
        providers.extend([
            "toolshelf-catalog",
            "toolshelf-discovery",
            "toolshelf-strategies",
        ]);
    }
    if cfg!(feature = "catalog") {
        providers.insert("toolshelf-catalog");
    }
    if cfg!(feature = "discovery") {
        providers.insert("toolshelf-discovery");
    }
    if cfg!(feature = "mcp") || cfg!(feature = "gateway") {
        providers.insert("toolshelf-mcp");
    }
    if cfg!(feature = "search") {
        providers.insert("toolshelf-search");
    }
    providers
}

#[test]
fn the_crates_behind_the_features_are_linked_and_no_others() {
    let registry = Registry::linked().unwrap();
    let providers: BTreeSet<&str> = registry.plugins().map(|plugin| plugin.provider).collect();
    assert_eq!(providers, linked_by_features());
}

#[test]
fn every_plugin_of_a_linked_crate_is_there() {
    let registry = Registry::linked().unwrap();
    let linked = linked_by_features();
    let expected: BTreeSet<(PluginKind, &str)> = Registry::known()
        .filter(|(_, _, provider)| linked.contains(provider))
        .map(|(kind, name, _)| (kind, name))
        .collect();
    let found: BTreeSet<(PluginKind, &str)> = registry
        .plugins()
        .map(|plugin| (plugin.kind(), plugin.name))
        .collect();
    assert_eq!(found, expected);
}
