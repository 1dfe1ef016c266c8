//! Queries that are the name of a tool.

use toolshelf_core::search::{Match, SearchQuery};

use super::Subject;
use super::shelf::{Shelf, is_first, keys, query, search, servers};
use crate::clause::{Verdict, clause, require, short};
use crate::world::id;

/// A tool, and others whose texts hold its name more often than it does.
fn crowded(name: &str) -> Shelf {
    let praise = format!("{name} ").repeat(8);
    let others: Vec<(String, &str)> = (0..5)
        .map(|number| (format!("{name}_{number}_{name}"), &*praise))
        .collect();
    let others: Vec<(&str, &str)> = others.iter().map(|(name, text)| (&**name, *text)).collect();
    Shelf::default()
        .group("loud", &others)
        .group("plain", &[(name, "")])
        .group("wordy", &[("other", &praise), ("find", &praise)])
}

/// That each of some texts finds a tool by its name.
fn named<'a>(
    subject: &Subject,
    name: &str,
    texts: impl IntoIterator<Item = &'a str>,
) -> Result<(), String> {
    let index = subject.of(&crowded(name));
    for text in texts {
        let hit = is_first(&*index, text, &format!("plain/{name}"))?;
        require(hit.why == Match::Name, || {
            format!("{text:?} is a hit by {:?}, not by its name", hit.why)
        })?;
    }
    Ok(())
}

/// A text that is the name of a tool finds that tool first, whatever others say of it, and
/// says that it is the name.
///
/// # Errors
///
/// When the clause does not hold.
pub fn a_name_comes_first(subject: &Subject) -> Verdict {
    clause("a_name_comes_first", || {
        for name in ["find_symbol_uses", "findSymbolUses", "find-symbol-uses"] {
            named(subject, name, [name, &format!("  {name}\n")])?;
        }
        let index = subject.servers();
        for (group, tools) in &servers().0 {
            for tool in tools {
                let name = tool.key.tool.as_str();
                let found = search(&*index, name)?;
                let first = found.hits.first().map(|hit| hit.key.tool.as_str());
                require(first == Some(name), || {
                    format!("`{name}` of {group} finds {:?}", keys(&found))
                })?;
            }
        }
        Ok(())
    })
}

/// A name is found in each of its writings: other separators, another case, CamelCase, blanks.
///
/// # Errors
///
/// When the clause does not hold.
pub fn a_name_in_another_style_comes_first(subject: &Subject) -> Verdict {
    clause("a_name_in_another_style_comes_first", || {
        let styles = [
            "read_text_file",
            "read-text-file",
            "readTextFile",
            "ReadTextFile",
            "READ_TEXT_FILE",
        ];
        for name in styles {
            let blanks = ["read text file", "Read Text File"];
            named(subject, name, styles.into_iter().chain(blanks))?;
        }
        Ok(())
    })
}

/// Where two groups have a tool of one name, `group/tool` finds the one of that group first.
///
/// # Errors
///
/// When the clause does not hold.
pub fn a_group_before_a_name_tells_which_one(subject: &Subject) -> Verdict {
    clause("a_group_before_a_name_tells_which_one", || {
        let index = subject.servers();
        for key in ["github/create_issue", "gitlab/create_issue"] {
            let hit = is_first(&*index, key, key)?;
            require(hit.why == Match::Name, || {
                format!("`{key}` is a hit by {:?}, not by its name", hit.why)
            })?;
        }
        let both = keys(&search(&*index, "create_issue")?);
        let first = both.iter().take(2).cloned().collect::<Vec<_>>();
        require(
            first == ["github/create_issue", "gitlab/create_issue"],
            || format!("`create_issue` finds {both:?}; it is the name of two tools"),
        )
    })
}

/// Only the groups that a query names are searched: others give no hit, a group that does not
/// exist gives none, and what is in scope is still found.
///
/// # Errors
///
/// When the clause does not hold.
pub fn only_the_groups_in_scope_are_searched(subject: &Subject) -> Verdict {
    clause("only_the_groups_in_scope_are_searched", || {
        let index = subject.filled();
        for groups in [&["gitlab"][..], &["gitlab", "mail"], &["nobody"]] {
            for text in &subject.queries {
                let scoped = SearchQuery {
                    groups: groups.iter().map(|group| id(group)).collect(),
                    ..query(text)
                };
                let found = index.search(&scoped);
                let found = found.map_err(|error| format!("{text:?} is refused: {error}"))?;
                let inside = |group: &str| groups.contains(&group);
                let holds = found.hits.iter().all(|hit| inside(hit.key.group.as_str()));
                require(holds, || {
                    format!("{text:?} in {groups:?} finds {}", short(&keys(&found)))
                })?;
                let asked = text == "create_issue" && inside("gitlab");
                require(!asked || keys(&found) == ["gitlab/create_issue"], || {
                    format!("{text:?} in {groups:?} finds {}", short(&keys(&found)))
                })?;
            }
        }
        Ok(())
    })
}

/// Letters and digits alone, in one case.
fn folded(text: &str) -> String {
    let plain = text.chars().filter(|c| c.is_alphanumeric());
    plain.flat_map(char::to_lowercase).collect()
}

/// What a hit says of its reason is so: the name of a hit by its name stands in the query,
/// however it is written, and a hit by the end of its name is the only tool whose name ends with
/// what was asked for.
///
/// # Errors
///
/// When the clause does not hold.
pub fn why_a_tool_is_a_hit_is_true(subject: &Subject) -> Verdict {
    clause("why_a_tool_is_a_hit_is_true", || {
        let index = subject.filled();
        for text in &subject.queries {
            // A form of the index's own may stand before, and several names in one query.
            let parts = text.split([':', ',', '+', '/']).map(folded);
            let asked: Vec<String> = [folded(text)].into_iter().chain(parts).collect();
            let asked = || asked.iter().filter(|part| !part.is_empty());
            let tools = || {
                subject
                    .shelf
                    .0
                    .values()
                    .flatten()
                    .map(|tool| folded(tool.key.tool.as_str()))
            };
            for hit in search(&*index, text)?.hits {
                let name = folded(hit.key.tool.as_str());
                let holds = match hit.why {
                    Match::Name => asked().any(|part| part.contains(&name)),
                    Match::Suffix => asked().any(|part| {
                        name.ends_with(part)
                            && tools().filter(|other| other.ends_with(part)).count() == 1
                    }),
                    _ => true,
                };
                require(holds, || {
                    format!(
                        "`{}` says to be a hit of {text:?} by {:?}",
                        hit.key, hit.why
                    )
                })?;
            }
        }
        Ok(())
    })
}
