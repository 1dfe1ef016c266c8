//! The codecs are plugins.

use serde_json::Value;
use toolshelf_core::{PluginKind, Registry};
use toolshelf_discovery::codec::{found, functions, load, reference};

#[test]
fn the_codecs_are_linked_under_their_names() {
    let registry = Registry::linked().unwrap();
    let names = [found::NAME, functions::NAME, load::NAME, reference::NAME];
    assert_eq!(registry.names(PluginKind::DiscoveryCodec), names);
    for name in names {
        let codec = registry.discovery_codec(name, &Value::Null).unwrap();
        assert_eq!(codec.name(), name);
        let options = serde_json::json!({"unknown": 1});
        assert!(registry.discovery_codec(name, &options).is_err());
    }
}
