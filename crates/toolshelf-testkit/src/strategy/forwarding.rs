//! The forwarder.

use serde_json::json;
use toolshelf_core::{Resolution, wire_name};

use super::{Subject, arguments, executes, some_tools};
use crate::clause::{Verdict, clause, require, same};
use crate::live::call;

/// A call through the forwarder is the call of the tool itself, by whichever of its names,
/// with its arguments as they were.
///
/// # Errors
///
/// When the clause does not hold.
pub fn a_forwarded_call_is_the_call_itself(subject: &Subject) -> Verdict {
    clause("a_forwarded_call_is_the_call_itself", || {
        let forward = subject.forwarding()?;
        for key in some_tools() {
            let wire = wire_name(&key.group, &key.tool);
            let direct = subject.host().call(&call(&wire, arguments()))?;
            for name in [wire, key.to_string()] {
                let means = subject.host().call(&forward(&name, arguments()))?;
                same("what the call means", &direct, &means)?;
            }
        }
        // Models forward calls of tools that they could call directly.
        let means = subject.host().call(&forward("read_file", arguments()))?;
        require(executes(&means).is_some(), || {
            format!("`read_file` is {means:?}")
        })
    })
}

/// A forwarded name that nobody has, or that two tools have, is an error for the model. It runs
/// nothing and does not go on to the host.
///
/// # Errors
///
/// When the clause does not hold.
pub fn a_forwarded_call_never_reaches_another_tool(subject: &Subject) -> Verdict {
    clause("a_forwarded_call_never_reaches_another_tool", || {
        let forward = subject.forwarding()?;
        for name in ["send", "sned", "Bash", "", "mial/send"] {
            let means = subject.host().call(&forward(name, json!({})))?;
            let refused = matches!(&means, Resolution::Answer(answer) if answer.is_error);
            require(refused, || format!("`{name}` is {means:?}"))?;
        }
        Ok(())
    })
}
