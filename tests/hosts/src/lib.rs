//! What every host asserts of its plugins.
//!
//! The programs of this package differ in what they link and in nothing else. Each states
//! its manifest, and [`check`] compares that with what the registry has, then asks for
//! names that it does not have.

use serde_json::Value;
use toolshelf_core::{Error, PluginKind, Registry};

/// A line of a manifest: kind, name, and the crate that provides it.
pub type Line = (PluginKind, &'static str, &'static str);

/// All kinds of plugins.
const KINDS: [PluginKind; 7] = [
    PluginKind::Strategy,
    PluginKind::CatalogFormat,
    PluginKind::DiscoveryCodec,
    PluginKind::SearchIndex,
    PluginKind::Loader,
    PluginKind::Checkpointer,
    PluginKind::Provider,
];

/// What `toolshelf-catalog` brings.
pub const CATALOGS: [Line; 3] = [
    (PluginKind::CatalogFormat, "dispatch/1", "toolshelf-catalog"),
    (PluginKind::CatalogFormat, "gateway/1", "toolshelf-catalog"),
    (PluginKind::CatalogFormat, "inject/1", "toolshelf-catalog"),
];

/// What `toolshelf-discovery` brings.
pub const CODECS: [Line; 4] = [
    (PluginKind::DiscoveryCodec, "found/1", "toolshelf-discovery"),
    (
        PluginKind::DiscoveryCodec,
        "functions/1",
        "toolshelf-discovery",
    ),
    (PluginKind::DiscoveryCodec, "load/1", "toolshelf-discovery"),
    (
        PluginKind::DiscoveryCodec,
        "tool-reference/1",
        "toolshelf-discovery",
    ),
];

/// The plugins of a registry as lines, in the order in which it gives them.
pub fn manifest(registry: &Registry) -> Vec<Line> {
    let plugins = registry.plugins();
    plugins
        .map(|plugin| (plugin.kind(), plugin.name, plugin.provider))
        .collect()
}

/// Asserts that a registry has these plugins and no other, sorted, and that it says what is
/// right of names it does not have. Prints a line that begins with the host's name.
///
/// # Panics
///
/// When anything is different.
pub fn check(host: &str, registry: &Registry, expected: &[Line]) {
    assert_eq!(
        manifest(registry),
        expected,
        "the manifest of the host {host}"
    );
    for kind in KINDS {
        unknown_names_list_what_there_is(registry, kind);
    }
    what_was_left_out_is_named(registry);
    let words = expected
        .iter()
        .map(|(kind, name, _)| format!("{kind} {name}"));
    let list = words.collect::<Vec<_>>().join(", ");
    let count = expected.len();
    println!(
        "{host}: {}",
        if count == 0 {
            "no plugins".into()
        } else {
            format!("{count}: {list}")
        }
    );
}

fn unknown_names_list_what_there_is(registry: &Registry, kind: PluginKind) {
    let message = not_found(registry, kind, "unheard-of");
    let names = registry.names(kind);
    let end = if names.is_empty() {
        "; no plugin of this kind is part of this build".to_owned()
    } else {
        format!("; there are: {}", names.join(", "))
    };
    assert_eq!(message, format!("there is no {kind} 'unheard-of'{end}"));
}

fn what_was_left_out_is_named(registry: &Registry) {
    for (kind, name, provider) in Registry::known() {
        if registry.names(kind).contains(&name) {
            continue;
        }
        let message = not_found(registry, kind, name);
        let said = format!(
            "the {kind} '{name}' is not part of this build: it belongs to the crate {provider}, which is not linked, or \
             whose feature is off; "
        );
        assert!(message.starts_with(&said), "{message}");
    }
}

/// What is said of a name that the registry does not have, the same whether one looks for
/// the plugin or wants it built.
fn not_found(registry: &Registry, kind: PluginKind, name: &str) -> String {
    let looked_for = message(registry.find(kind, name));
    let options = Value::Null;
    let wanted = match kind {
        PluginKind::Strategy => message(registry.strategy(name, &options)),
        PluginKind::CatalogFormat => message(registry.catalog_format(name, &options)),
        PluginKind::DiscoveryCodec => message(registry.discovery_codec(name, &options)),
        PluginKind::SearchIndex => message(registry.search_index(name, &options)),
        PluginKind::Loader => message(registry.loader(name, &options)),
        PluginKind::Checkpointer => message(registry.checkpointer(name, &options)),
        PluginKind::Provider => message(registry.provider(name, &options)),
        other => format!("the hosts do not know the kind {other} yet"),
    };
    assert_eq!(looked_for, wanted);
    looked_for
}

fn message<T>(found: Result<T, Error>) -> String {
    match found {
        Ok(_) => "it was found".to_owned(),
        Err(error) => error.to_string(),
    }
}
