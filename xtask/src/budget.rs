//! How many crates one has to compile, by what one depends on, and a limit for each.
//!
//! Nobody sees in a review what a new dependency drags in. So each set has a number, and what
//! it consisted of when that was last agreed on is recorded, so that a failure can say what came since.

use std::collections::BTreeSet;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use crate::process;
use crate::workspace::Workspace;

/// The system whose dependencies are counted, so that the numbers are the same on every machine.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// Writes the records anew instead of comparing with them.
const BLESS: &str = "TOOLSHELF_BLESS";

/// What is counted.
struct Set {
    /// Names the record, too.
    name: &'static str,
    about: &'static str,
    /// The package and its features, as options of cargo.
    options: &'static [&'static str],
    /// How many crates it may be, itself and procedural macros among them, without build dependencies.
    limit: usize,
}

const SETS: &[Set] = &[
    Set {
        name: "core",
        about: "toolshelf-core alone: what a plugin needs",
        options: &["--package", "toolshelf-core"],
        limit: 36,
    },
    Set {
        name: "one-strategy",
        about: "toolshelf-strategies with `dispatch` alone",
        options: &[
            "--package",
            "toolshelf-strategies",
            "--no-default-features",
            "--features",
            "dispatch",
        ],
        limit: 38,
    },
    Set {
        name: "facade",
        about: "toolshelf with its default features",
        options: &["--package", "toolshelf"],
        limit: 128,
    },
    Set {
        name: "binary",
        about: "the program `toolshelf`",
        options: &["--package", "toolshelf-cli"],
        limit: 168,
    },
];

/// Counts each set and fails for those above their limit, with the names that are new.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let bless = std::env::var_os(BLESS).is_some_and(|value| value == "1");
    let mut exceeded = Vec::new();
    for set in SETS {
        let mut tree = workspace.cargo([
            "tree", "--edges", "normal", "--prefix", "none", "--format", "{p}",
        ]);
        let now = names(&process::output(
            tree.args(["--target", TARGET]).args(set.options),
        )?);
        println!(
            "{:<13} {:>4} of {:>4} crates: {}",
            set.name,
            now.len(),
            set.limit,
            set.about
        );
        let record = record(workspace, set);
        if bless {
            let text: String = now.iter().map(|name| format!("{name}\n")).collect();
            std::fs::write(&record, text)
                .with_context(|| format!("cannot write {}", record.display()))?;
        }
        let recorded = std::fs::read_to_string(&record).with_context(|| {
            format!(
                "cannot read {}; {BLESS}=1 cargo xtask budget writes it",
                record.display()
            )
        })?;
        exceeded.extend(fault(
            set,
            &now,
            &recorded.lines().map(str::to_owned).collect(),
        ));
    }
    if exceeded.is_empty() {
        return Ok(());
    }
    bail!(
        "{}\nfind what brings one with `cargo tree --edges normal --invert NAME`; where it is worth it, raise the limit in \
         xtask/src/budget.rs, write the record anew with {BLESS}=1 cargo xtask budget, and say in the commit why",
        exceeded.join("\n")
    )
}

fn record(workspace: &Workspace, set: &Set) -> PathBuf {
    workspace
        .root()
        .join("xtask")
        .join("budget")
        .join(format!("{}.txt", set.name))
}

/// The packages of a tree, a line `NAME VERSION …` each. Two versions of one crate are two.
fn names(tree: &str) -> BTreeSet<String> {
    let packages: BTreeSet<(&str, &str)> = tree
        .lines()
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            Some((words.next()?, words.next().unwrap_or_default()))
        })
        .collect();
    let mut names = BTreeSet::new();
    for (name, _) in packages {
        // The second one of a name stands as `NAME 2`, so that the record does not change with versions.
        let mut entry = name.to_owned();
        let mut count = 1;
        while !names.insert(entry.clone()) {
            count += 1;
            entry = format!("{name} {count}");
        }
    }
    names
}

fn fault(set: &Set, now: &BTreeSet<String>, recorded: &BTreeSet<String>) -> Option<String> {
    if now.len() <= set.limit {
        return None;
    }
    let new: Vec<&str> = now.difference(recorded).map(String::as_str).collect();
    let new = if new.is_empty() {
        "nothing, so the limit was lowered".to_owned()
    } else {
        new.join(", ")
    };
    Some(format!(
        "{} ({}): {} crates, and {} were agreed on; new since the record: {new}",
        set.name,
        set.about,
        now.len(),
        set.limit
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SET: Set = Set {
        name: "core",
        about: "the core",
        options: &[],
        limit: 2,
    };

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn a_tree_is_counted_by_package() {
        let tree = "toolshelf-core v0.1.0 (/w/crates/toolshelf-core)\nserde v1.0.1\nserde v1.0.1 (*)\n\
                    serde_derive v1.0.1 (proc-macro)\nsyn v1.0.0\nsyn v2.0.0\n";
        assert_eq!(
            names(tree),
            set(&["serde", "serde_derive", "syn", "syn 2", "toolshelf-core"])
        );
    }

    #[test]
    fn what_is_within_the_limit_passes_whatever_it_is() {
        assert_eq!(fault(&SET, &set(&["a", "b"]), &set(&["a", "c"])), None);
    }

    #[test]
    fn what_is_above_the_limit_says_what_came() {
        let fault = fault(&SET, &set(&["a", "b", "syn", "syn 2"]), &set(&["a", "syn"])).unwrap();
        assert_eq!(
            fault,
            "core (the core): 4 crates, and 2 were agreed on; new since the record: b, syn 2"
        );
    }
}
