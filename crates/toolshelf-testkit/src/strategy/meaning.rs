//! What calls mean.

use serde_json::{Value, json};
use toolshelf_core::{Need, Repair, Resolution, ToolKey, wire_name};

use super::{Subject, arguments, executes, host, some_tools};
use crate::clause::{Verdict, clause, require, same, short};
use crate::live::call;
use crate::world::key;

/// A call of a name that the tools array offers runs the tool of that slot.
///
/// # Errors
///
/// When the clause does not hold.
pub fn what_is_offered_is_what_its_name_calls(subject: &Subject) -> Verdict {
    clause("what_is_offered_is_what_its_name_calls", || {
        // A deferred tool has the bare name of one that is offered.
        let world = host().group("zoo", &["read_file", "send"]);
        let mut live = subject.live(world);
        live.world.load_all();
        for key in some_tools() {
            subject.disclose(&mut live, &key)?;
            let surface = live.surface()?;
            for slot in &surface.tools {
                let Some(key) = &slot.key else { continue };
                let means = live.call(&call(&slot.name, json!({})))?;
                require(executes(&means) == Some(key), || {
                    format!(
                        "`{}` is offered as {key} and means {}",
                        slot.name,
                        short(&means)
                    )
                })?;
            }
        }
        Ok(())
    })
}

/// A name runs the tool that it names, in full (`group/tool`) or on the wire, whether or not
/// its group is loaded. One that two tools could have runs neither.
///
/// # Errors
///
/// When the clause does not hold.
pub fn a_name_means_its_own_tool_or_none(subject: &Subject) -> Verdict {
    clause("a_name_means_its_own_tool_or_none", || {
        for key in some_tools() {
            let ways = [
                Some(key.to_string()),
                Some(wire_name(&key.group, &key.tool)),
            ];
            for name in ways.into_iter().flatten() {
                let means = subject.host().call(&call(&name, json!({})))?;
                if let Some(other) = executes(&means) {
                    require(*other == key, || format!("`{name}` runs {other}"))?;
                } else {
                    return Err(format!("`{name}` runs nothing but is {}", short(&means)));
                }
            }
        }
        for (name, may_run) in [
            ("send", None),
            ("find", Some(key("files", "find"))),
            ("rooms", Some(key("chat", "rooms"))),
            ("romos", None),
        ] {
            let means = subject.host().call(&call(name, json!({})))?;
            let runs = executes(&means);
            let right = runs.is_none() || runs == may_run.as_ref();
            require(right, || format!("`{name}` runs {}", short(&runs)))?;
        }
        Ok(())
    })
}

/// A name that belongs to none of its tools is not its own, so that the host may know it:
/// [`Resolution::NotMine`].
///
/// # Errors
///
/// When the clause does not hold.
pub fn a_name_of_the_hosts_is_not_its_own(subject: &Subject) -> Verdict {
    clause("a_name_of_the_hosts_is_not_its_own", || {
        for name in ["Bash", "handoff_to_human", "", "天気"] {
            let means = subject.host().call(&call(name, arguments()))?;
            require(means == Resolution::NotMine, || {
                format!("`{name}` is {}", short(&means))
            })?;
        }
        Ok(())
    })
}

/// Arguments that are an object arrive as they were, without repairs; a string that holds an
/// object arrives as that object, and says so, or is refused.
///
/// # Errors
///
/// When the clause does not hold.
pub fn arguments_arrive_as_they_were(subject: &Subject) -> Verdict {
    clause("arguments_arrive_as_they_were", || {
        let name = wire_name(&key("mail", "send").group, &key("mail", "send").tool);
        let text = Value::from(arguments().to_string());
        for (given, repaired) in [(arguments(), None), (text, Some(Repair::JsonString))] {
            match subject.host().call(&call(&name, given))? {
                Resolution::Execute {
                    arguments: got,
                    repairs,
                    ..
                } => {
                    same("what was given", &arguments(), &Value::Object(got))?;
                    same("what was repaired", &Vec::from_iter(repaired), &repairs)?;
                }
                Resolution::Answer(answer) if repaired.is_some() && answer.is_error => {}
                other => return Err(format!("the call is {}", short(&other))),
            }
        }
        Ok(())
    })
}

/// What is no object is refused, and never taken for a call without arguments.
///
/// # Errors
///
/// When the clause does not hold.
pub fn arguments_are_never_taken_for_none(subject: &Subject) -> Verdict {
    clause("arguments_are_never_taken_for_none", || {
        let key = key("mail", "send");
        let name = wire_name(&key.group, &key.tool);
        for given in [json!([1]), json!(7), json!(true), json!("{"), json!("[]")] {
            let means = subject.host().call(&call(&name, given.clone()))?;
            let refused = matches!(&means, Resolution::Answer(answer) if answer.is_error);
            require(refused, || {
                format!("{given} as arguments comes to {}", short(&means))
            })?;
        }
        Ok(())
    })
}

fn place(asked: &[Need], wanted: impl Fn(&Need) -> bool) -> Option<usize> {
    asked.iter().position(wanted)
}

/// Permission for a call is asked before, or along with, the load that it causes.
///
/// # Errors
///
/// When the clause does not hold.
pub fn permission_comes_before_a_load(subject: &Subject) -> Verdict {
    clause("permission_comes_before_a_load", || {
        for key in some_tools() {
            let mut calls = vec![call(&wire_name(&key.group, &key.tool), json!({}))];
            calls.push(call(&key.to_string(), json!({})));
            calls.extend(
                subject
                    .forward
                    .map(|forward| forward(&key.to_string(), json!({}))),
            );
            for call in calls {
                let mut live = subject.host();
                live.call(&call)?;
                permitted(&live.world.asked, &key)?;
            }
        }
        Ok(())
    })
}

fn permitted(asked: &[Need], key: &ToolKey) -> Result<(), String> {
    let permit = place(asked, |need| match need {
        Need::Permit(asked) | Need::Probe(asked) => asked == key,
        _ => false,
    });
    let load = place(asked, |need| match need {
        Need::Load(group) | Need::Descriptors(group) => *group == key.group,
        _ => false,
    });
    match (permit, load) {
        (_, None) => Ok(()),
        (Some(permit), Some(load)) if permit < load => Ok(()),
        _ => Err(format!(
            "{key} is loaded for a call before it was permitted: {asked:?}"
        )),
    }
}

/// A call of one of its own tools is answered, whatever its arguments are: what is wrong with
/// them is an error for the model.
///
/// # Errors
///
/// When the clause does not hold.
pub fn any_arguments_of_an_own_tool_are_answered(subject: &Subject) -> Verdict {
    clause("any_arguments_of_an_own_tool_are_answered", || {
        let deep = (0..200).fold(json!(1), |inner, _| json!([inner]));
        let odd = [
            Value::Null,
            json!({}),
            json!([]),
            json!("text"),
            json!(-0.5),
            json!({"group_id": 7, "tool_names": {}, "query": [], "tool_name": null}),
            json!({"group_id": "mail", "tool_names": [null], "max_results": -1, "query": "\u{0}"}),
            json!({"tool_name": "x".repeat(100_000), "query": "y ".repeat(50_000)}),
            deep,
        ];
        let mut live = subject.host();
        for name in subject.strategy().own_tools() {
            for arguments in &odd {
                let means = live.call(&call(&name, arguments.clone()))?;
                require(means != Resolution::NotMine, || {
                    format!("`{name}` with {} is not its own", short(arguments))
                })?;
            }
        }
        Ok(())
    })
}
