//! The facade has every crate: whoever depends on `toolshelf` alone reaches them all, by a feature and a module
//! of one name.

use std::collections::BTreeSet;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::workspace::Workspace;

/// The facade.
const FACADE: &str = "toolshelf";
/// What each of its crates is called before the name of its module.
const PREFIX: &str = "toolshelf-";
/// The crate that is not optional.
const CORE: &str = "toolshelf-core";

/// The crates that the facade does not have, and why.
const LEFT_OUT: &[(&str, &str)] = &[
    (
        "toolshelf-cli",
        "a program, which nobody links but to build a program of their own from it",
    ),
    (
        "toolshelf-faults",
        "for tests, where it is a development dependency by its own name",
    ),
    (
        "toolshelf-probe",
        "a program that examines others from outside",
    ),
    (
        "toolshelf-testkit",
        "for tests of plugins, which depend on the core alone",
    ),
];

/// Compares the facade with what stands under `crates/`.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let metadata = workspace.metadata()?;
    let source = workspace
        .root()
        .join("crates")
        .join(FACADE)
        .join("src")
        .join("lib.rs");
    let source = std::fs::read_to_string(&source)
        .with_context(|| format!("cannot read {}", source.display()))?;
    let crates = crates(workspace)?;
    let facade = metadata["packages"]
        .as_array()
        .and_then(|packages| packages.iter().find(|package| package["name"] == FACADE))
        .with_context(|| format!("there is no crate `{FACADE}`"))?;
    let faults = faults(&crates, facade, &source);
    if !faults.is_empty() {
        for fault in &faults {
            println!("  {fault}");
        }
        bail!(
            "the facade is not complete, in {} place(s) listed above",
            faults.len()
        );
    }
    println!("the facade has all crates, but for {}", names(LEFT_OUT));
    Ok(())
}

fn names(crates: &[(&str, &str)]) -> String {
    crates
        .iter()
        .map(|(name, _)| *name)
        .collect::<Vec<_>>()
        .join(", ")
}

/// The folders under `crates/`, which have the names of their crates.
fn crates(workspace: &Workspace) -> Result<BTreeSet<String>> {
    let folder = workspace.root().join("crates");
    let entries =
        std::fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut names = BTreeSet::new();
    for entry in entries {
        let entry = entry?;
        if entry.path().join("Cargo.toml").is_file() {
            names.insert(entry.file_name().to_string_lossy().into_owned());
        }
    }
    Ok(names)
}

fn faults(crates: &BTreeSet<String>, facade: &Value, source: &str) -> Vec<String> {
    let mut faults = Vec::new();
    for name in crates {
        let reason = LEFT_OUT
            .iter()
            .find(|(left_out, _)| left_out == name)
            .map(|(_, reason)| reason);
        if name == FACADE {
            continue;
        }
        let dependency = facade["dependencies"]
            .as_array()
            .into_iter()
            .flatten()
            .find(|dependency| dependency["name"] == name.as_str() && dependency["kind"].is_null());
        match (dependency, reason) {
            (None, Some(_)) => continue,
            (Some(_), Some(reason)) => {
                faults.push(format!(
                    "`{FACADE}` has `{name}`, which LEFT_OUT in xtask/src/facade.rs calls {reason}"
                ));
                continue;
            }
            (None, None) => {
                faults.push(format!(
                    "`{FACADE}` does not have `{name}`: add it there as an optional dependency with a feature and a \
                     module, or to LEFT_OUT in xtask/src/facade.rs with the reason"
                ));
                continue;
            }
            (Some(dependency), None) => {
                let module = name.strip_prefix(PREFIX).unwrap_or(name);
                faults.extend(of_a_crate(name, module, dependency, facade, source));
            }
        }
    }
    faults
}

/// What is wrong with one crate of the facade.
fn of_a_crate(
    name: &str,
    module: &str,
    dependency: &Value,
    facade: &Value,
    source: &str,
) -> Vec<String> {
    let mut faults = Vec::new();
    let module_name = module.replace('-', "_");
    let path = name.replace('-', "_");
    let export = format!("pub use {path} as {module_name};");
    let before = source.split_once(&export).map(|(before, _)| before);
    if before.is_none() {
        faults.push(format!("crates/{FACADE}/src/lib.rs lacks `{export}`"));
    }
    if name == CORE {
        return faults;
    }
    if dependency["optional"] != true {
        faults.push(format!(
            "`{FACADE}` depends on `{name}` always: only {CORE} is not optional"
        ));
    }
    let wanted = format!("dep:{name}");
    let feature = facade["features"][module].as_array();
    if !feature.is_some_and(|entries| entries.iter().any(|entry| *entry == wanted.as_str())) {
        faults.push(format!(
            "`{FACADE}` needs the feature `{module} = [\"{wanted}\"]`"
        ));
    }
    let guard = format!("#[cfg(feature = \"{module}\")]\n");
    if before.is_some_and(|before| !before.ends_with(&guard)) {
        faults.push(format!(
            "in crates/{FACADE}/src/lib.rs `{export}` needs `{}` before it",
            guard.trim_end()
        ));
    }
    if !source.contains(&format!("| `{module_name}` | `{module}`")) {
        faults.push(format!(
            "the table in crates/{FACADE}/src/lib.rs lacks a line for `{module_name}`"
        ));
    }
    faults
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const SOURCE: &str = "//! | `mcp` | `mcp` (default) | servers |\n\npub use toolshelf_core as core;\n\
                          #[cfg(feature = \"mcp\")]\npub use toolshelf_mcp as mcp;\n";

    fn crates(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    fn facade(optional: bool) -> Value {
        json!({
            "features": { "mcp": ["dep:toolshelf-mcp"] },
            "dependencies": [
                { "name": "toolshelf-core", "kind": null, "optional": false },
                { "name": "toolshelf-mcp", "kind": null, "optional": optional },
            ],
        })
    }

    #[test]
    fn a_facade_with_all_crates_has_no_faults() {
        let crates = crates(&[
            "toolshelf",
            "toolshelf-core",
            "toolshelf-mcp",
            "toolshelf-cli",
        ]);
        assert_eq!(faults(&crates, &facade(true), SOURCE), Vec::<String>::new());
    }

    #[test]
    fn a_forgotten_crate_is_named() {
        let faults = faults(&crates(&["toolshelf-shelf"]), &facade(true), SOURCE);
        assert_eq!(faults.len(), 1, "{faults:#?}");
        assert!(
            faults[0].contains("does not have `toolshelf-shelf`"),
            "{faults:#?}"
        );
    }

    #[test]
    fn dependency_feature_module_and_table_are_all_asked_for() {
        let mut wrong = facade(false);
        wrong["features"] = json!({});
        let found = faults(
            &crates(&["toolshelf-mcp"]),
            &wrong,
            "pub use toolshelf_mcp as mcp;\n",
        );
        for part in [
            "always",
            "needs the feature",
            "needs `#[cfg",
            "lacks a line",
        ] {
            assert_eq!(
                found.iter().filter(|fault| fault.contains(part)).count(),
                1,
                "{part}: {found:#?}"
            );
        }
        let found = faults(&crates(&["toolshelf-core"]), &facade(true), "");
        assert_eq!(
            found,
            ["crates/toolshelf/src/lib.rs lacks `pub use toolshelf_core as core;`"]
        );
    }

    #[test]
    fn a_crate_that_is_left_out_is_not_there() {
        let mut facade = facade(true);
        facade["dependencies"] =
            json!([{ "name": "toolshelf-cli", "kind": null, "optional": true }]);
        let faults = faults(&crates(&["toolshelf-cli"]), &facade, SOURCE);
        assert!(
            faults.len() == 1 && faults[0].contains("LEFT_OUT"),
            "{faults:#?}"
        );
    }
}
