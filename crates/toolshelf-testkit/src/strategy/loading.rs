//! The load tool.

use toolshelf_core::{Answer, Call, Placement, Resolution, State};

use super::{Subject, host};
use crate::clause::{Verdict, clause, require, same};
use crate::live::text;
use crate::world::{FOR_MODELS, World, id, key};

fn no_change(answer: &Answer, before: &State, after: &State) -> Result<(), String> {
    require(answer.is_error, || {
        format!("it is no error: {}", text(answer))
    })?;
    require(answer.deltas.is_empty(), || {
        format!("it changes {:?}", answer.deltas)
    })?;
    same("the state", before, after)
}

/// The answer to a load names each tool that it loaded, in the order of the group.
///
/// # Errors
///
/// When the clause does not hold.
pub fn a_load_names_its_tools(subject: &Subject) -> Verdict {
    clause("a_load_names_its_tools", || {
        let load = subject.loading()?;
        for (group, names) in [("mail", ["send", "list"]), ("files", ["find", "copy"])] {
            let answer = subject.host().answer(&load(group, None))?;
            let text = text(&answer);
            require(!answer.is_error, || format!("a load fails: {text}"))?;
            let mut rest = text.as_str();
            for name in names {
                let at = rest
                    .find(&format!("\"{name}\""))
                    .or_else(|| rest.find(name));
                match at {
                    Some(at) => rest = &rest[at..],
                    None => return Err(format!("`{name}` is not named in its place: {text}")),
                }
            }
        }
        Ok(())
    })
}

/// What was loaded stands in [`State::expanded_groups`], a whole group as `null`, and with the
/// fingerprint of each tool.
///
/// # Errors
///
/// When the clause does not hold.
pub fn a_load_stands_in_the_state(subject: &Subject) -> Verdict {
    clause("a_load_stands_in_the_state", || {
        let load = subject.loading()?;
        let mut live = subject.host();
        live.answer(&load("mail", None))?;
        let expanded = &live.state.expanded_groups;
        require(expanded.get(&id("mail")) == Some(&None), || {
            format!("{expanded:?}")
        })?;
        for key in [key("mail", "send"), key("mail", "list")] {
            let kept = live.state.fingerprints.get(&key.to_string());
            let is = live
                .world
                .groups
                .tool(&key)
                .map(|tool| tool.definition().digest());
            require(kept == is.as_ref(), || {
                format!("the fingerprint of {key} is {kept:?}")
            })?;
        }
        Ok(())
    })
}

/// A load that is repeated is answered with the same bytes and changes nothing.
///
/// # Errors
///
/// When the clause does not hold.
pub fn loading_twice_is_loading_once(subject: &Subject) -> Verdict {
    clause("loading_twice_is_loading_once", || {
        let load = subject.loading()?;
        for call in [load("mail", None), load("chat", Some(&["send"]))] {
            let mut live = subject.host();
            let once = live.answer(&call)?;
            live.surface()?;
            let state = live.state.clone();
            let twice = live.answer(&call)?;
            same("the answer", &once.content, &twice.content)?;
            same("the state", &state, &live.state)?;
            require(twice.deltas.is_empty(), || {
                format!("it changes {:?}", twice.deltas)
            })?;
        }
        Ok(())
    })
}

/// Loads that a model makes at once are resolved against the state from before them; their
/// deltas, applied in the order of the calls, come to what the loads come to one by one.
///
/// # Errors
///
/// When the clause does not hold.
pub fn loads_of_a_batch_add_up_in_order(subject: &Subject) -> Verdict {
    clause("loads_of_a_batch_add_up_in_order", || {
        let load = subject.loading()?;
        let calls = [
            load("chat", Some(&["rooms"])),
            load("mail", None),
            load("chat", Some(&["send"])),
            load("mail", Some(&["list"])),
        ];
        let mut one_by_one = subject.host();
        for call in &calls {
            one_by_one.answer(call)?;
        }
        let mut at_once = subject.host();
        let before = at_once.state.clone();
        let mut after = before.clone();
        for call in &calls {
            let resolved = at_once.world.resolve(&*at_once.strategy, &before, call)?;
            let Resolution::Answer(answer) = resolved else {
                return Err("a load is not answered".to_owned());
            };
            answer.deltas.iter().for_each(|delta| after.apply(delta));
        }
        same("the state", &one_by_one.state, &after)?;
        same(
            "the order",
            &vec![id("chat"), id("mail")],
            &after.load_order,
        )
    })
}

/// Whether a load of some tools is one of these alone.
pub(super) fn loads_parts(subject: &Subject) -> Result<bool, String> {
    let mut live = subject.host();
    live.answer(&subject.loading()?("chat", Some(&["rooms"])))?;
    let expanded = live.state.expanded_groups.get(&id("chat"));
    Ok(expanded.is_some_and(Option::is_some))
}

/// A part of a group that was loaded stands in [`State::expanded_groups`] as the names of its
/// tools, and these alone have fingerprints.
///
/// # Errors
///
/// When the clause does not hold.
pub fn a_part_stands_in_the_state(subject: &Subject) -> Verdict {
    clause("a_part_stands_in_the_state", || {
        let load = subject.loading()?;
        let mut live = subject.host();
        live.answer(&load("chat", Some(&["rooms"])))?;
        let rooms = key("chat", "rooms");
        let expanded = live.state.expanded_groups.get(&id("chat"));
        same(
            "what is expanded",
            &Some(&Some(vec![rooms.tool.clone()])),
            &expanded,
        )?;
        let kept: Vec<&String> = live.state.fingerprints.keys().collect();
        same("what has a fingerprint", &vec![&rooms.to_string()], &kept)
    })
}

/// Parts of a group and then the whole come to the whole, and a part of it afterwards takes
/// nothing back.
///
/// # Errors
///
/// When the clause does not hold.
pub fn parts_and_the_whole_are_the_whole(subject: &Subject) -> Verdict {
    clause("parts_and_the_whole_are_the_whole", || {
        let load = subject.loading()?;
        let mut live = subject.host();
        for (tools, expected) in [
            (Some(&["list"][..]), Some(vec!["list"])),
            (Some(&["send", "list"][..]), Some(vec!["list", "send"])),
            (None, None),
            (Some(&["send"][..]), None),
        ] {
            live.answer(&load("mail", tools))?;
            let expanded = live.state.expanded_groups.get(&id("mail"));
            let names = expanded.map(|tools| {
                let tools = tools.as_ref()?;
                Some(tools.iter().map(|tool| tool.as_str()).collect::<Vec<_>>())
            });
            same("what is expanded", &Some(expected), &names)?;
        }
        Ok(())
    })
}

/// A load that fails is an error for the model, with the text that is meant for it, and
/// changes nothing. The next one may succeed.
///
/// # Errors
///
/// When the clause does not hold.
pub fn a_failed_load_changes_nothing(subject: &Subject) -> Verdict {
    clause("a_failed_load_changes_nothing", || {
        let load = subject.loading()?;
        let mut live = subject.live(host().broken("dead", &["x"]));
        let before = live.state.clone();
        let answer = live.answer(&load("dead", None))?;
        no_change(&answer, &before, &live.state)?;
        require(
            text(&answer).contains(FOR_MODELS.trim_end_matches('.')),
            || format!("the model does not read why: {}", text(&answer)),
        )?;
        live.world.return_with("dead", &["x"]);
        let answer = live.answer(&load("dead", None))?;
        require(!answer.is_error, || {
            format!("it still fails: {}", text(&answer))
        })
    })
}

/// The load of a group that does not exist is an error and changes nothing.
///
/// # Errors
///
/// When the clause does not hold.
pub fn a_load_of_an_unknown_group_changes_nothing(subject: &Subject) -> Verdict {
    clause("a_load_of_an_unknown_group_changes_nothing", || {
        let load = subject.loading()?;
        refused(subject, &[load("mial", None), load("", None)])
    })
}

/// The load of tools that a group does not have, or of none of its tools, is an error and
/// changes nothing.
///
/// # Errors
///
/// When the clause does not hold.
pub fn a_load_of_unknown_tools_changes_nothing(subject: &Subject) -> Verdict {
    clause("a_load_of_unknown_tools_changes_nothing", || {
        let load = subject.loading()?;
        refused(
            subject,
            &[load("mail", Some(&["snd"])), load("mail", Some(&[]))],
        )
    })
}

fn refused(subject: &Subject, calls: &[Call]) -> Result<(), String> {
    for call in calls {
        let mut live = subject.host();
        live.surface()?;
        let before = live.state.clone();
        let answer = live.answer(call)?;
        no_change(&answer, &before, &live.state)?;
    }
    Ok(())
}

/// What loads groups is of no use to a model that knows none: the id of each deferred group
/// stands in the definition of an own tool or in the section for the system prompt, and in an MCP
/// server, which has no such section, in a definition.
///
/// The groups are few, so that no budget of a catalog is a reason to leave one out.
///
/// # Errors
///
/// When the clause does not hold.
pub fn what_opens_groups_says_which_there_are(subject: &Subject) -> Verdict {
    clause("what_opens_groups_says_which_there_are", || {
        // No text has these words by chance.
        let groups = ["quokka", "numbat", "wombat"];
        for placement in [Placement::SystemPrompt, Placement::McpServer] {
            let world = World::default()
                .core("host", &["read_file"])
                .group("quokka", &["send", "list"])
                .undeclared("numbat", &["find"])
                .broken("wombat", &["dig"]);
            let mut live = subject.live(world);
            live.world.placement = placement;
            let surface = live.surface()?;
            let own = surface.tools.iter().filter(|slot| slot.key.is_none());
            let mut texts: Vec<&str> = own
                .map(|slot| slot.definition.descriptor().as_str())
                .collect();
            texts.extend(surface.prompt_section.as_deref());
            for group in groups {
                let named = texts.iter().any(|text| text.contains(group));
                require(named, || {
                    let place = match placement {
                        Placement::McpServer => "in an MCP server (`Cx::placement`)",
                        Placement::SystemPrompt => "with a system prompt",
                    };
                    format!("{place}, no own tool and no section names the group `{group}`")
                })?;
            }
        }
        Ok(())
    })
}
