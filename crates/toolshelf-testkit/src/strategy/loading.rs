//! The load tool.

use toolshelf_core::{Answer, Resolution, State};

use super::{Subject, host};
use crate::clause::{Verdict, clause, require, same};
use crate::live::text;
use crate::world::{FOR_MODELS, id, key};

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
        live.answer(&load("chat", Some(&["rooms"])))?;
        let part = Some(vec![key("chat", "rooms").tool]);
        let expanded = &live.state.expanded_groups;
        require(expanded.get(&id("mail")) == Some(&None), || {
            format!("{expanded:?}")
        })?;
        require(expanded.get(&id("chat")) == Some(&part), || {
            format!("{expanded:?}")
        })?;
        for key in [
            key("mail", "send"),
            key("mail", "list"),
            key("chat", "rooms"),
        ] {
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

/// The load of a group, or of tools, that do not exist is an error and changes nothing.
///
/// # Errors
///
/// When the clause does not hold.
pub fn a_load_of_an_unknown_group_changes_nothing(subject: &Subject) -> Verdict {
    clause("a_load_of_an_unknown_group_changes_nothing", || {
        let load = subject.loading()?;
        for call in [
            load("mial", None),
            load("", None),
            load("mail", Some(&["snd"])),
            load("mail", Some(&[])),
        ] {
            let mut live = subject.host();
            live.surface()?;
            let before = live.state.clone();
            let answer = live.answer(&call)?;
            no_change(&answer, &before, &live.state)?;
        }
        Ok(())
    })
}
