//! What the host has chosen: a format of catalogs, a codec of answers.

use std::borrow::Cow;
use std::sync::Arc;

use toolshelf_core::catalog::{CatalogFormat, CatalogText, CatalogTier, CatalogView};
use toolshelf_core::codec::{Block, Collector, DiscoveryCodec, ReadDiscovery, writable};
use toolshelf_core::{ContentBlock, Error, ErrorKind, Placement, Surface, wire_name};

use super::{Subject, host, some_tools};
use crate::clause::{Verdict, clause, require, short};
use crate::live::text;
use crate::world::World;

/// A format that no strategy has of its own: all that it is shown.
struct Foreign;

const BEFORE: &str = "⟦";

impl CatalogFormat for Foreign {
    fn name(&self) -> &str {
        "foreign/1"
    }

    fn render(&self, view: &CatalogView<'_>) -> CatalogText {
        let mut groups: Vec<String> = view
            .groups
            .iter()
            .map(|group| {
                let names = group.names.iter().flatten();
                let names: Vec<&str> = names.map(|name| name.as_str()).collect();
                format!("{BEFORE}{}: {}⟧", group.id, names.join("|"))
            })
            .collect();
        groups.sort();
        CatalogText {
            text: groups.join(" "),
            tier: CatalogTier::Full,
        }
    }
}

/// A codec that no strategy has of its own: each name in a block. Or one that writes nothing.
struct Blocks {
    writes: bool,
}

impl DiscoveryCodec for Blocks {
    fn name(&self) -> &str {
        "blocks/1"
    }

    fn write(&self, names: &[&str]) -> Result<Vec<ContentBlock>, Error> {
        if !self.writes {
            let told = "'blocks/1' is only read";
            return Err(Error::new(ErrorKind::Mismatch, told));
        }
        let blocks = writable(names)?.into_iter();
        Ok(blocks
            .map(|name| ContentBlock::text(format!("{BEFORE}{name}")))
            .collect())
    }

    fn read<'a>(&self, content: &'a [Block<'a>]) -> ReadDiscovery<'a> {
        let mut out = Collector::new();
        for (at, block) in content.iter().enumerate() {
            if let Block::Text(text) = block
                && let Some(name) = text.strip_prefix(BEFORE)
            {
                out.name(at, Cow::Borrowed(name));
            }
        }
        out.finish()
    }
}

/// What a model reads of groups: descriptions of own tools, and the prompt section.
fn of_groups(surface: &Surface) -> Vec<&str> {
    let own = surface.tools.iter().filter(|slot| slot.key.is_none());
    let described = own.filter_map(|slot| slot.definition.description());
    described.chain(surface.prompt_section.as_deref()).collect()
}

/// The catalog in the foreign format, where it stands in a surface.
fn catalog(
    subject: &Subject,
    world: World,
    placement: Placement,
) -> Result<Option<String>, String> {
    let mut live = subject.live(world.formatted(Arc::new(Foreign)));
    live.world.placement = placement;
    let surface = live.surface()?;
    let mut texts = of_groups(&surface).into_iter();
    Ok(texts.find(|text| text.contains(BEFORE)).map(str::to_owned))
}

/// Whether a strategy takes a format of the host's.
pub(super) fn catalogs(subject: &Subject) -> Result<bool, String> {
    Ok(catalog(subject, host(), Placement::SystemPrompt)?.is_some())
}

/// Whether a strategy takes a codec of the host's.
pub(super) fn encodes(subject: &Subject) -> Result<bool, String> {
    let Some(search) = subject.search else {
        return Ok(false);
    };
    let codec = Arc::new(Blocks { writes: true });
    let mut live = subject.live(host().encoded(codec));
    live.world.load_all();
    let answer = live.answer(&search(&some_tools()[0].to_string()))?;
    Ok(text(&answer).contains(BEFORE))
}

/// Where the host has chosen a format of catalogs, the catalog is what this one makes of all
/// groups, in the prompt section or, in an MCP server, in the description of an own tool.
///
/// # Errors
///
/// When the clause does not hold.
pub fn the_catalog_is_of_the_hosts_format(subject: &Subject) -> Verdict {
    clause("the_catalog_is_of_the_hosts_format", || {
        // What is declared is known, whether or not a surface loads it.
        let world = || {
            World::default()
                .core("host", &["read_file"])
                .group("mail", &["send", "list"])
                .group("chat", &["send", "rooms"])
        };
        for placement in [Placement::SystemPrompt, Placement::McpServer] {
            let text = catalog(subject, world(), placement)?;
            let expected = "⟦chat: send|rooms⟧ ⟦mail: send|list⟧";
            let there = text.as_ref().is_some_and(|text| text.contains(expected));
            require(there, || {
                format!("with {placement:?}, {expected:?} stands nowhere; there is {text:?}")
            })?;
        }
        Ok(())
    })
}

/// A format of the host's is shown what exists for the model and nothing else.
///
/// # Errors
///
/// When the clause does not hold.
pub fn the_hosts_format_sees_what_a_model_may(subject: &Subject) -> Verdict {
    clause("the_hosts_format_sees_what_a_model_may", || {
        let world = || {
            let world = host().group("silo", &["launch"]).group("vault", &["open"]);
            let world = world.changed("vault", super::always::hide);
            world.denying(&["launch", "rooms"])
        };
        for placement in [Placement::SystemPrompt, Placement::McpServer] {
            let text = catalog(subject, world(), placement)?.unwrap_or_default();
            for secret in ["silo", "launch", "vault", "rooms"] {
                require(!text.contains(secret), || {
                    format!("with {placement:?}, `{secret}` stands in {text:?}")
                })?;
            }
        }
        Ok(())
    })
}

/// Where the host has chosen a codec, it reads out of the answer of a search the tools that were
/// found, by their names on the wire or in their groups.
///
/// # Errors
///
/// When the clause does not hold.
pub fn the_answer_of_a_search_is_of_the_hosts_codec(subject: &Subject) -> Verdict {
    clause("the_answer_of_a_search_is_of_the_hosts_codec", || {
        let search = subject.searching()?;
        let codec = Arc::new(Blocks { writes: true });
        let mut live = subject.live(host().encoded(codec.clone()));
        live.world.load_all();
        for key in some_tools() {
            let answer = live.answer(&search(&key.to_string()))?;
            let blocks: Vec<Block<'_>> = answer.content.iter().map(Block::from).collect();
            let read = codec.read(&blocks);
            let wire = wire_name(&key.group, &key.tool);
            let told = read
                .names
                .iter()
                .any(|name| *name == wire || *name == key.to_string());
            require(told, || {
                format!(
                    "{key} was searched for, and is not read out of {}",
                    short(&answer.content)
                )
            })?;
        }
        Ok(())
    })
}

/// A codec that only reads, or refuses a name, is no reason for a search to fail.
///
/// # Errors
///
/// When the clause does not hold.
pub fn a_codec_that_writes_nothing_fails_no_search(subject: &Subject) -> Verdict {
    clause("a_codec_that_writes_nothing_fails_no_search", || {
        let search = subject.searching()?;
        let mut live = subject.live(host().encoded(Arc::new(Blocks { writes: false })));
        live.world.load_all();
        let answer = live.answer(&search(&some_tools()[0].to_string()))?;
        let named = text(&answer).contains(some_tools()[0].tool.as_str());
        require(!answer.is_error && named, || {
            format!("it is answered {}", short(&answer))
        })
    })
}
