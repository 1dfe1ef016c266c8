//! What a surface of any strategy is like.

use std::collections::BTreeSet;

use toolshelf_core::{
    Condition, Event, Exposure, Placement, State, Surface, ToolGroup, is_legal_wire_name,
};

use super::{Subject, host, some_tools};
use crate::clause::{Verdict, alike, clause, require, same};
use crate::live::{Live, written};
use crate::world::{World, id, tool, tools};

/// Its name is text of one line, and the same each time; a state under it can be resumed.
///
/// # Errors
///
/// When the clause does not hold.
pub fn its_name_is_legal(subject: &Subject) -> Verdict {
    clause("its_name_is_legal", || {
        let (one, two) = (subject.strategy(), subject.strategy());
        same("its name", &one.name(), &two.name())?;
        let legal = !one.name().trim().is_empty() && !one.name().chars().any(char::is_control);
        require(legal, || format!("{:?} is no name", one.name()))?;
        let checked = State::new(one.name()).check(two.name());
        checked.map_err(|error| error.to_string())
    })
}

/// The names of its own tools are legal on the wire, each there once, and the same each time.
///
/// # Errors
///
/// When the clause does not hold.
pub fn its_own_tools_are_legal(subject: &Subject) -> Verdict {
    clause("its_own_tools_are_legal", || {
        let own = subject.strategy().own_tools();
        same(
            "the list of its own tools",
            &own,
            &subject.strategy().own_tools(),
        )?;
        for name in &own {
            require(is_legal_wire_name(name), || {
                format!("{name:?} is not legal")
            })?;
        }
        let unique: BTreeSet<&String> = own.iter().collect();
        require(unique.len() == own.len(), || {
            format!("a name stands twice in {own:?}")
        })
    })
}

/// All methods are pure functions: the same groups, state and call give the same step,
/// whatever was asked before and of which instance.
///
/// # Errors
///
/// When the clause does not hold.
pub fn the_same_question_has_the_same_answer(subject: &Subject) -> Verdict {
    clause("the_same_question_has_the_same_answer", || {
        let (one, other) = (subject.strategy(), subject.strategy());
        let state = State::new(one.name());
        for mut world in [host(), World::default()] {
            let first = world.surface(&*one, &state)?;
            for call in subject.calls() {
                let live = Live::new(one.clone(), world);
                let settled = toolshelf_core::Settled::new();
                let cx = live.world.cx(&settled);
                let once = one.resolve(&cx, &state, &call);
                same("what a call means", &once, &one.resolve(&cx, &state, &call))?;
                same(
                    "what a call means",
                    &once,
                    &other.resolve(&cx, &state, &call),
                )?;
                world = live.world;
            }
            same("a surface", &first, &world.surface(&*one, &state)?)?;
            same("a surface", &first, &world.surface(&*other, &state)?)?;
        }
        Ok(())
    })
}

/// Each need can be met and is asked for once: the planner comes to an end, whether groups
/// load, fail, are under way or do not exist.
///
/// # Errors
///
/// When the clause does not hold.
pub fn needs_settle(subject: &Subject) -> Verdict {
    clause("needs_settle", || {
        let broken = || host().broken("dead", &["x"]).broken("gone", &[]);
        let mut starting = host();
        starting
            .groups
            .set_condition(&id("mail"), Condition::Pending);
        starting
            .groups
            .set_condition(&id("files"), Condition::Pending);
        let mut ended = broken();
        ended.load_all();
        ended.fail("mail");
        for world in [host(), broken(), starting, ended, World::default()] {
            let mut live = subject.live(world);
            live.surface()?;
            for call in subject.calls() {
                live.call(&call)?;
                live.surface()?;
            }
            live.world.load_all();
            live.surface()?;
        }
        Ok(())
    })
}

/// A host with tools whose names want to be mistaken for others: those of the strategy, of
/// the host, of one another, and some that are legal nowhere.
fn odd(subject: &Subject) -> World {
    let own = subject.strategy().own_tools();
    let mut names: Vec<&str> = own.iter().map(String::as_str).collect();
    names.extend(["read_file", "a.b/c", "a_b_c", "天気", "x y"]);
    let long = "n".repeat(128);
    names.push(&long);
    // What groups declare cannot clash; what their servers then answer can.
    let bare = |id, exposure| ToolGroup {
        exposure,
        bare_names: true,
        ..crate::world::unnamed(id)
    };
    World::default()
        .core("host", &["read_file", "a_b_c"])
        .with(bare("pinned", Exposure::Always), Ok(tools(&names)))
        .with(bare("bare", Exposure::Deferred), Ok(tools(&names)))
        .undeclared("odd", &names)
        .undeclared("odd_", &names)
        .undeclared("odd__mail", &["send"])
}

/// Loads and discloses all that there is.
fn disclosed(subject: &Subject, world: World) -> Result<Live, String> {
    let mut live = subject.live(world);
    live.world.load_all();
    let keys: Vec<_> = live
        .world
        .groups
        .iter()
        .filter_map(|(_, entry)| entry.condition.ready())
        .flat_map(|loaded| loaded.tools.iter().map(|tool| tool.key.clone()))
        .collect();
    for key in keys {
        subject.disclose(&mut live, &key)?;
    }
    Ok(live)
}

fn each_surface(
    subject: &Subject,
    check: impl Fn(&Live, &Surface) -> Result<(), String>,
) -> Result<(), String> {
    for world in [
        host(),
        host().broken("dead", &["x"]),
        odd(subject),
        World::default(),
    ] {
        let mut live = subject.live(world);
        let surface = live.surface()?;
        check(&live, &surface)?;
        let mut live = disclosed(subject, live.world)?;
        for placement in [Placement::SystemPrompt, Placement::McpServer] {
            live.world.placement = placement;
            let surface = live.surface()?;
            check(&live, &surface)?;
        }
        let reason = "a proxy does not know deferral".to_owned();
        live.observe(&Event::DeferralRefused { reason });
        let surface = live.surface()?;
        check(&live, &surface)?;
    }
    Ok(())
}

/// Names in the tools array are unique and legal for the strictest provider, whatever servers
/// call their tools.
///
/// # Errors
///
/// When the clause does not hold.
pub fn names_in_the_array_are_unique_and_legal(subject: &Subject) -> Verdict {
    clause("names_in_the_array_are_unique_and_legal", || {
        each_surface(subject, |_, surface| {
            let mut names = BTreeSet::new();
            for slot in &surface.tools {
                let legal = is_legal_wire_name(&slot.name);
                require(legal, || format!("{:?} is not legal", slot.name))?;
                require(names.insert(&slot.name), || {
                    format!("{:?} stands twice in the tools array", slot.name)
                })?;
            }
            Ok(())
        })
    })
}

/// A slot without a key is one of its own tools, and no other slot has the name of one.
///
/// # Errors
///
/// When the clause does not hold.
pub fn own_tools_are_told_apart(subject: &Subject) -> Verdict {
    clause("own_tools_are_told_apart", || {
        let own = subject.strategy().own_tools();
        each_surface(subject, |_, surface| {
            for slot in &surface.tools {
                let is_own = own.contains(&slot.name.to_string());
                require(slot.key.is_none() == is_own, || match &slot.key {
                    Some(key) => format!("{key} takes the name of the own tool `{}`", slot.name),
                    None => format!("`{}` is not among its own tools {own:?}", slot.name),
                })?;
            }
            Ok(())
        })
    })
}

/// Each slot with a key is a tool that exists at present, with its server's definition.
///
/// # Errors
///
/// When the clause does not hold.
pub fn what_is_offered_exists_and_is_verbatim(subject: &Subject) -> Verdict {
    clause("what_is_offered_exists_and_is_verbatim", || {
        each_surface(subject, |live, surface| {
            for slot in &surface.tools {
                let Some(key) = &slot.key else { continue };
                let Some(tool) = live.world.groups.tool(key) else {
                    return Err(format!("{key} is offered, and there is no such tool"));
                };
                let (was, is) = (tool.definition().descriptor(), slot.definition.descriptor());
                same(
                    &format!("the definition of {key}"),
                    &was.as_str(),
                    &is.as_str(),
                )?;
            }
            Ok(())
        })
    })
}

/// In an MCP server, which has no system prompt, there is no section for one.
///
/// # Errors
///
/// When the clause does not hold.
pub fn an_mcp_server_has_no_prompt_section(subject: &Subject) -> Verdict {
    clause("an_mcp_server_has_no_prompt_section", || {
        each_surface(subject, |live, surface| {
            let server = live.world.placement == Placement::McpServer;
            require(!server || surface.prompt_section.is_none(), || {
                format!("it has one: {:?}", surface.prompt_section)
            })
        })
    })
}

/// Schemas stand in definitions and in answers, never in the section for the system prompt.
///
/// # Errors
///
/// When the clause does not hold.
pub fn no_schema_stands_in_the_prompt_section(subject: &Subject) -> Verdict {
    clause("no_schema_stands_in_the_prompt_section", || {
        let zebra = r#"{"name":"send","description":"Sends.","inputSchema":{"type":"object","properties":{"zebra":{"type":"string"}}}}"#;
        let world = host().returning("mail", vec![tool(zebra)]);
        let mut live = subject.live(world);
        for step in 0..3 {
            match step {
                0 => {}
                1 => live.world.load_all(),
                _ => drop(subject.disclose(&mut live, &some_tools()[1])?),
            }
            let surface = live.surface()?;
            let section = surface.prompt_section.unwrap_or_default();
            require(!section.contains("zebra"), || {
                format!("it names an argument of a tool: {section}")
            })?;
        }
        Ok(())
    })
}

/// Once its deltas are applied, a surface is followed by the same one, without deltas and
/// without news: a request that is made again is the same request.
///
/// # Errors
///
/// When the clause does not hold.
pub fn a_surface_comes_to_rest(subject: &Subject) -> Verdict {
    clause("a_surface_comes_to_rest", || {
        let mut live = subject.live(host().broken("dead", &["x"]).broken("gone", &["y"]));
        for turn in 0..5 {
            match turn {
                0 => {}
                1 => drop(subject.disclose(&mut live, &some_tools()[0])?),
                2 => live.world.load_all(),
                3 => {
                    for key in some_tools() {
                        subject.disclose(&mut live, &key)?;
                    }
                    if let Some(load) = subject.load {
                        live.call(&load("dead", None))?;
                    }
                }
                _ => {
                    live.world.fail("mail");
                    live.world.remove("chat");
                }
            }
            let made = live.surface()?;
            let again = live.surface()?;
            alike("a surface", &written(&made), &written(&again))?;
            let quiet = again.deltas.is_empty() && again.news.is_empty();
            require(quiet, || {
                format!(
                    "it says again {:?} and changes {:?}",
                    again.news, again.deltas
                )
            })?;
        }
        Ok(())
    })
}

/// A hidden group, for the clauses on secrecy.
pub(super) fn hide(group: &mut ToolGroup) {
    group.exposure = Exposure::Hidden;
}
