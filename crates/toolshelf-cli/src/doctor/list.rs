//! What is to be found about a server's list as a whole.

use std::collections::BTreeMap;

use toolshelf_core::text::one_line;
use toolshelf_core::{Digest, LoadedGroup};
use toolshelf_gateway::Change;
use toolshelf_gateway::config::ServerEntry;
use toolshelf_mcp::SAME_NAME;

use super::findings::{Connection, Finding};
use crate::output::{counted, grouped};

/// A list of more tools is very large.
const MANY_TOOLS: usize = 1_000;

/// Whether the list holds what it should, is not too large, and is the one that was kept.
pub(crate) fn findings(
    entry: &ServerEntry,
    loaded: &LoadedGroup,
    connection: &Connection,
    kept: Option<&BTreeMap<String, Digest>>,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    let (twins, others): (Vec<_>, Vec<_>) = loaded
        .set_aside
        .iter()
        .partition(|tool| tool.reason == SAME_NAME);
    if !twins.is_empty() {
        let finding = Finding::warning(
            "duplicate",
            format!(
                "{} the name of another tool of this server; the first of that name is used",
                has(twins.len(), "tool")
            ),
            "tell the server's author: no host can call the others",
        );
        let twins = twins.iter().map(|tool| (tool.name.clone(), None));
        findings.push(finding.tools(twins.collect()));
    }
    if !others.is_empty() {
        let finding = Finding::warning(
            "set-aside",
            format!(
                "{} a definition that providers refuse, and {} left out; the others can be used",
                has(others.len(), "tool"),
                if others.len() == 1 { "is" } else { "are" },
            ),
            format!(
                "tell the server's author; `toolshelf tools --raw {}` shows what it sent",
                entry.id
            ),
        );
        let others = others.iter().map(|tool| {
            let reason = one_line(&tool.reason, 256);
            (tool.name.clone(), Some(reason))
        });
        findings.push(finding.tools(others.collect()));
    }
    if loaded.tools.is_empty() && loaded.set_aside.is_empty() {
        findings.push(Finding::warning(
            "no-tools",
            "it offers no tools",
            "it may need an argument or a variable that switches tools on; else switch it off \
             with \"disabled\": true",
        ));
    }
    findings.extend(very_large(connection));
    findings.extend(kept.and_then(|kept| changed(entry, kept, loaded)));
    findings
}

/// A list of which a model can make nothing, and that every start and search pays for.
fn very_large(connection: &Connection) -> Option<Finding> {
    (connection.tools > MANY_TOOLS).then(|| {
        Finding::warning(
            "very-large-list",
            format!(
                "its list is very large: {}, {}; starts and searches pay for all of them, and under \
                 `standard` every request does",
                counted(connection.tools, "tool"),
                counted(connection.tokens, "token")
            ),
            "look for an option of the server that switches off the tools that nobody needs",
        )
    })
}

/// How the list differs from the one that was kept.
fn changed(
    entry: &ServerEntry,
    kept: &BTreeMap<String, Digest>,
    loaded: &LoadedGroup,
) -> Option<Finding> {
    let tools = loaded.tools.iter().map(|tool| {
        let definition = tool.definition();
        (definition.name().to_string(), definition.digest())
    });
    let change = Change::between(entry.id.clone(), kept, &tools.collect());
    let lists = [
        (&change.added, "new"),
        (&change.removed, "gone"),
        (&change.changed, "another definition"),
    ];
    let tools = lists.iter().flat_map(|(names, what)| {
        names
            .iter()
            .map(|name| (name.clone(), Some((*what).to_owned())))
    });
    (!change.is_empty()).then(|| {
        let finding = Finding::note(
            "list-changed",
            format!(
                "the list that was kept of it was another one: {} new, {} gone, {} with another \
                 definition",
                grouped(change.added.len()),
                grouped(change.removed.len()),
                grouped(change.changed.len())
            ),
            "nothing has to be done: the present list is kept now",
        );
        finding.tools(tools.collect())
    })
}

/// A count with its verb.
fn has(number: usize, noun: &str) -> String {
    let verb = if number == 1 { "has" } else { "have" };
    format!("{} {verb}", counted(number, noun))
}
