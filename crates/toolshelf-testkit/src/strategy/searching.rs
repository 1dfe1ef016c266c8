//! The search tool.

use serde_json::json;
use toolshelf_core::{Resolution, wire_name};

use super::{Subject, executes, host, some_tools};
use crate::clause::{Verdict, clause, require, same};
use crate::live::{Live, call, text};

/// A tool is found by its name, and the answer calls it by one under which it runs.
///
/// # Errors
///
/// When the clause does not hold.
pub fn a_search_finds_a_tool_by_its_name(subject: &Subject) -> Verdict {
    clause("a_search_finds_a_tool_by_its_name", || {
        let search = subject.searching()?;
        for key in some_tools() {
            let mut live = subject.host();
            let answer = live.answer(&search(&key.to_string()))?;
            let said = text(&answer);
            require(!answer.is_error, || format!("a search fails: {said}"))?;
            let names = [wire_name(&key.group, &key.tool), key.to_string()];
            let Some(name) = names.into_iter().find(|name| said.contains(name)) else {
                return Err(format!("{key} is not named: {said}"));
            };
            let means = live.call(&call(&name, json!({})))?;
            require(executes(&means) == Some(&key), || {
                format!("`{name}` was found and is {means:?}")
            })?;
        }
        Ok(())
    })
}

/// A search that is repeated changes nothing more.
///
/// # Errors
///
/// When the clause does not hold.
pub fn searching_twice_is_searching_once(subject: &Subject) -> Verdict {
    clause("searching_twice_is_searching_once", || {
        let search = subject.searching()?;
        let mut live = subject.host();
        for key in some_tools() {
            live.answer(&search(&key.to_string()))?;
            live.surface()?;
            let state = live.state.clone();
            let again = live.answer(&search(&key.to_string()))?;
            same("the state", &state, &live.state)?;
            require(again.deltas.is_empty(), || {
                format!("it changes {:?}", again.deltas)
            })?;
        }
        Ok(())
    })
}

/// A search that finds nothing changes nothing, and is not an error: no such tool is an answer.
///
/// # Errors
///
/// When the clause does not hold.
pub fn a_search_that_finds_nothing_discovers_nothing(subject: &Subject) -> Verdict {
    clause("a_search_that_finds_nothing_discovers_nothing", || {
        let search = subject.searching()?;
        let mut live = subject.host();
        live.surface()?;
        let before = live.state.clone();
        let answer = live.answer(&search("bake a cake"))?;
        require(!answer.is_error, || {
            format!("it is an error: {}", text(&answer))
        })?;
        require(!text(&answer).trim().is_empty(), || {
            "it says nothing".to_owned()
        })?;
        same("the state", &before, &live.state)
    })
}

/// Where the host has no index, a search is answered with an error, and changes nothing.
///
/// # Errors
///
/// When the clause does not hold.
pub fn a_search_without_an_index_is_answered(subject: &Subject) -> Verdict {
    clause("a_search_without_an_index_is_answered", || {
        let search = subject.searching()?;
        let mut live = Live::new(subject.strategy(), host());
        match live.call(&search("mail/send"))? {
            Resolution::Answer(answer) if answer.is_error && answer.deltas.is_empty() => Ok(()),
            other => Err(format!("it is {other:?}")),
        }
    })
}
