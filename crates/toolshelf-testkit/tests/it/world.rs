//! What a world shows a strategy.

use std::sync::Arc;

use toolshelf_core::catalog::{CatalogFormat, CatalogText, CatalogTier, CatalogView};
use toolshelf_core::codec::{Block, DiscoveryCodec, ReadDiscovery};
use toolshelf_core::{Call, ContentBlock, Cx, Error, Resolution, State, Step, Strategy, Surface};
use toolshelf_testkit::World;

/// A format and a codec of the host.
struct Hosts;

impl CatalogFormat for Hosts {
    fn name(&self) -> &str {
        "format/1"
    }

    fn render(&self, _: &CatalogView<'_>) -> CatalogText {
        CatalogText {
            text: String::new(),
            tier: CatalogTier::Full,
        }
    }
}

impl DiscoveryCodec for Hosts {
    fn name(&self) -> &str {
        "codec/1"
    }

    fn write(&self, _: &[&str]) -> Result<Vec<ContentBlock>, Error> {
        Ok(Vec::new())
    }

    fn read<'a>(&self, _: &'a [Block<'a>]) -> ReadDiscovery<'a> {
        ReadDiscovery::default()
    }
}

/// Shows in its prompt section what the host has chosen.
struct Chosen;

impl Strategy for Chosen {
    fn name(&self) -> &str {
        "chosen"
    }

    fn own_tools(&self) -> Vec<String> {
        Vec::new()
    }

    fn surface(&self, cx: &Cx<'_>, _: &State) -> Step<Surface> {
        let catalog = cx.catalog.map_or("its own", |catalog| catalog.name());
        let codec = cx.codec.map_or("its own", |codec| codec.name());
        Step::Done(Surface {
            prompt_section: Some(format!("{catalog}, {codec}").into()),
            ..Surface::default()
        })
    }

    fn resolve(&self, _: &Cx<'_>, _: &State, _: &Call) -> Step<Resolution> {
        Step::Done(Resolution::NotMine)
    }
}

#[test]
fn a_strategy_sees_the_format_and_the_codec_that_the_host_has_chosen() {
    let section = |mut world: World| {
        let surface = world.surface(&Chosen, &State::new("chosen")).unwrap();
        surface.prompt_section.unwrap()
    };
    assert_eq!(&*section(World::default()), "its own, its own");
    let chosen = World::default()
        .formatted(Arc::new(Hosts))
        .encoded(Arc::new(Hosts));
    assert_eq!(&*section(chosen), "format/1, codec/1");
}
