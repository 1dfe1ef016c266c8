//! The codecs are plugins.

use toolshelf_core::{PluginKind, Registry};
use toolshelf_discovery::codec::{found, functions, load, reference};

#[test]
fn the_codecs_are_linked_under_their_names() {
    let registry = Registry::linked().unwrap();
    let names = [found::NAME, functions::NAME, load::NAME, reference::NAME];
    assert_eq!(registry.names(PluginKind::DiscoveryCodec), names);
}
