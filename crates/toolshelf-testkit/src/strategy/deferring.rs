//! What is left out of a request, and which capabilities a strategy shows.

use serde_json::json;
use toolshelf_core::{Event, Exposure, Need, Placement, State, Surface, wire_name};

use super::sessions::{disclosures, lived};
use super::{Subject, choosing, host, loading, some_tools};
use crate::clause::{Verdict, alike, clause, require};
use crate::live::{Live, call, offered, written};
use crate::world::{World, id};

fn is_deferred(live: &Live, key: &toolshelf_core::ToolKey) -> bool {
    let tool = live.world.groups.tool(key);
    tool.is_some_and(|tool| tool.exposure == Exposure::Deferred)
}

/// How many deferred tools a request holds.
fn deferred(live: &Live, surface: &Surface) -> usize {
    let keys = surface.tools.iter().filter_map(|slot| slot.key.as_ref());
    keys.filter(|key| is_deferred(live, key)).count()
}

fn loads_of_deferred(asked: &[Need], world: &World) -> usize {
    let is_deferred = |group: &toolshelf_core::GroupId| {
        let entry = world.groups.get(group.as_str());
        entry.is_some_and(|entry| entry.group.exposure == Exposure::Deferred)
    };
    let loads = asked.iter().filter(|need| match need {
        Need::Load(group)
        | Need::Descriptors(group)
        | Need::Settle(group)
        | Need::SettleSoon(group) => is_deferred(group),
        Need::Probe(key) => is_deferred(&key.group),
        _ => false,
    });
    loads.count()
}

/// Which capabilities a strategy shows.
pub(super) fn capabilities(subject: &Subject) -> Result<[(&'static str, bool); 11], String> {
    let mut first = subject.host();
    first.surface()?;
    let lazy = loads_of_deferred(&first.world.asked, &first.world) == 0;

    let mut all = subject.host();
    all.world.load_all();
    let surface = all.surface()?;
    let before = deferred(&all, &surface);
    for key in some_tools() {
        subject.disclose(&mut all, &key)?;
    }
    let surface = all.surface()?;
    let after = deferred(&all, &surface);

    let mut told = subject.host();
    told.world.load_all();
    told.surface()?;
    let state = disclosures(&told.state);
    let names = some_tools()
        .iter()
        .map(|key| wire_name(&key.group, &key.tool))
        .collect();
    told.observe(&Event::Discovered { names });
    let learns = disclosures(&told.state) != state;

    let parts = match subject.load {
        Some(_) => loading::loads_parts(subject)?,
        None => false,
    };

    let how_many = some_tools().len();
    let defers = before < how_many;
    Ok([
        ("stable", subject.strategy().stable()),
        ("defers", defers),
        ("lazy", lazy),
        ("loads", subject.load.is_some()),
        ("parts", parts),
        ("searches", subject.search.is_some()),
        ("forwards", subject.forward.is_some()),
        ("grows", after > before),
        ("catalogs", choosing::catalogs(subject)?),
        ("encodes", choosing::encodes(subject)?),
        ("rebuilds", defers && learns),
    ])
}

/// A strategy that defers has a tool that loads, searches or forwards, and each that it has is
/// in each request: before anything is loaded and after all is, with no groups and with none
/// that work, after a compaction, in a prompt and in an MCP server.
///
/// # Errors
///
/// When the clause does not hold.
pub fn the_way_to_deferred_tools_is_always_there(subject: &Subject) -> Verdict {
    clause("the_way_to_deferred_tools_is_always_there", || {
        let load = subject.load.map(|load| load("mail", None).name);
        let search = subject.search.map(|search| search("mail").name);
        let forward = subject
            .forward
            .map(|forward| forward("send", json!({})).name);
        let wanted: Vec<String> = [load, search, forward].into_iter().flatten().collect();
        require(!wanted.is_empty(), || {
            "it has no tool that loads, searches or forwards: a deferred tool cannot be reached"
                .to_owned()
        })?;
        let check = |when: &str, surface: &Surface| {
            let names = offered(surface);
            let there = wanted.iter().all(|name| names.contains(&name.as_str()));
            require(there, || {
                format!("{when}, {wanted:?} should be among {names:?}")
            })
        };
        for placement in [Placement::SystemPrompt, Placement::McpServer] {
            let mut live = subject.host();
            live.world.placement = placement;
            check("at first", &live.surface()?)?;
            live.world.load_all();
            check("when all is loaded", &live.surface()?)?;
            for key in some_tools() {
                subject.disclose(&mut live, &key)?;
            }
            check("when all is disclosed", &live.surface()?)?;
            live.observe(&Event::Compacted { marker: None });
            check("after a compaction", &live.surface()?)?;
            for group in ["mail", "chat", "files"] {
                live.world.fail(group);
            }
            check("when all servers failed", &live.surface()?)?;
            for group in ["mail", "chat", "files"] {
                live.world.remove(group);
            }
            check("when all servers left", &live.surface()?)?;
        }
        let mut nothing = subject.live(World::default());
        check("without a group", &nothing.surface()?)
    })
}

/// A deferred tool is not in the tools array before it was disclosed, whether or not its group
/// is loaded. A call alone runs it and discloses nothing.
///
/// # Errors
///
/// When the clause does not hold.
pub fn deferred_tools_stay_out_until_they_are_disclosed(subject: &Subject) -> Verdict {
    clause("deferred_tools_stay_out_until_they_are_disclosed", || {
        let mut live = subject.host();
        for step in 0..3 {
            match step {
                0 => {}
                1 => {
                    for key in some_tools() {
                        live.call(&call(&wire_name(&key.group, &key.tool), json!({})))?;
                    }
                }
                _ => live.world.load_all(),
            }
            let surface = live.surface()?;
            require(deferred(&live, &surface) == 0, || {
                format!(
                    "nothing was disclosed, and there are {:?}",
                    offered(&surface)
                )
            })?;
        }
        Ok(())
    })
}

/// A surface needs no load of deferred tools.
///
/// # Errors
///
/// When the clause does not hold.
pub fn a_surface_starts_no_server_of_deferred_tools(subject: &Subject) -> Verdict {
    clause("a_surface_starts_no_server_of_deferred_tools", || {
        let mut live = subject.live(host().broken("dead", &["x"]));
        live.surface()?;
        let loads = loads_of_deferred(&live.world.asked, &live.world);
        require(loads == 0, || format!("it asks for {:?}", live.world.asked))
    })
}

/// A surface that is made once does not depend on the state.
///
/// # Errors
///
/// When the clause does not hold.
pub fn the_surface_does_not_look_at_the_state(subject: &Subject) -> Verdict {
    clause("the_surface_does_not_look_at_the_state", || {
        let mut live = lived(subject)?;
        live.world.load_all();
        let names = some_tools().iter().map(ToString::to_string).collect();
        live.observe(&Event::Discovered { names });
        live.observe(&Event::DeferralRefused {
            reason: "no".to_owned(),
        });
        let used = live.surface()?;
        live.state = State::new(live.strategy.name());
        let fresh = live.surface()?;
        alike("the surface", &written(&fresh), &written(&used))?;
        require(used.deltas.is_empty() && used.news.is_empty(), || {
            "a surface that is made once has deltas or news".to_owned()
        })
    })
}

/// A load that brings what was declared changes no byte of the surface, so that it does not
/// matter at which moment it is made.
///
/// # Errors
///
/// When the clause does not hold.
pub fn a_load_changes_no_byte(subject: &Subject) -> Verdict {
    clause("a_load_changes_no_byte", || {
        let world = World::default()
            .core("host", &["read_file"])
            .group("mail", &["send", "list"])
            .group("chat", &["send", "rooms"]);
        let mut live = subject.live(world);
        let before = written(&live.surface()?);
        for group in ["mail", "chat"] {
            let _ = live.world.load(&id(group));
            alike("the surface", &before, &written(&live.surface()?))?;
        }
        live.world.fail("mail");
        alike("the surface", &before, &written(&live.surface()?))
    })
}
