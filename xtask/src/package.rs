//! What would be published: each crate as an archive that stands alone.

use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::process::{self, run};
use crate::workspace::Workspace;

/// What a stranger has to find in every archive.
const FILES: &[&str] = &["LICENSE-APACHE", "LICENSE-MIT", "NOTICE", "README.md"];

/// Looks at the manifests and the files of every crate that can be published, packs them all, and builds each
/// from its archive.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let metadata = workspace.metadata()?;
    let members = metadata["workspace_members"]
        .as_array()
        .context("`cargo metadata` gave no `workspace_members`")?;
    let packages: Vec<&Value> = metadata["packages"]
        .as_array()
        .context("`cargo metadata` gave no `packages`")?
        .iter()
        .filter(|package| members.contains(&package["id"]) && package["publish"].is_null())
        .collect();
    let names: Vec<&str> = packages
        .iter()
        .filter_map(|package| package["name"].as_str())
        .collect();
    let mut faults: Vec<String> = packages
        .iter()
        .flat_map(|package| of_manifest(package))
        .collect();
    for name in &names {
        // What stands there uncommitted is looked at too; `git status` is for whoever publishes.
        let mut list = workspace.cargo(["package", "--list", "--allow-dirty", "--package", name]);
        faults.extend(of_files(name, &process::output(&mut list)?));
    }
    if !faults.is_empty() {
        for fault in &faults {
            println!("  {fault}");
        }
        bail!(
            "{} thing(s) of what would be published are wrong, listed above",
            faults.len()
        );
    }
    let mut pack = workspace.cargo(["package", "--quiet", "--allow-dirty"]);
    run(pack.args(names.iter().flat_map(|name| ["--package", name])))?;
    println!(
        "{} crates can be published: {}",
        names.len(),
        names.join(", ")
    );
    Ok(())
}

/// What is wrong with a manifest.
fn of_manifest(package: &Value) -> Vec<String> {
    let name = package["name"].as_str().unwrap_or_default();
    let mut faults = Vec::new();
    for key in ["description", "license", "readme", "rust_version"] {
        if package[key].as_str().is_none_or(str::is_empty) {
            faults.push(format!(
                "`{name}` has no `{}` in its manifest",
                key.replace('_', "-")
            ));
        }
    }
    for key in ["keywords", "categories"] {
        if package[key].as_array().is_none_or(Vec::is_empty) {
            faults.push(format!("`{name}` has no `{key}` in its manifest"));
        }
    }
    for dependency in package["dependencies"].as_array().into_iter().flatten() {
        let Some(path) = dependency["path"].as_str() else {
            continue;
        };
        let on = Path::new(path)
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let anything = dependency["req"] == "*";
        if dependency["kind"] == "dev" {
            // Crates are published one after the other, but test each other in a circle.
            if !anything {
                faults.push(format!("`{name}` must have its development dependency `{on}` by path alone, without version"));
            }
        } else if anything {
            faults.push(format!("`{name}` depends on `{on}` by path alone: take it from the workspace, with its version"));
        }
    }
    faults
}

/// What is missing in an archive, given its files, one a line.
fn of_files(name: &str, list: &str) -> Vec<String> {
    let missing = FILES
        .iter()
        .filter(|file| !list.lines().any(|line| line == **file));
    missing
        .map(|file| format!("`{name}` would be published without {file}: link it from the root (crates/{name}/{file})"))
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn package() -> Value {
        json!({
            "name": "a", "description": "A.", "license": "MIT", "readme": "README.md", "rust_version": "1.95",
            "keywords": ["mcp"], "categories": ["development-tools"],
            "dependencies": [
                { "name": "serde", "kind": null, "req": "^1" },
                { "name": "b", "kind": null, "req": "^0.1.0", "path": "/w/crates/b" },
                { "name": "c", "kind": "dev", "req": "*", "path": "/w/crates/c" },
            ],
        })
    }

    #[test]
    fn a_manifest_that_is_in_order_has_no_faults() {
        assert_eq!(of_manifest(&package()), Vec::<String>::new());
    }

    #[test]
    fn what_a_registry_shows_has_to_be_there() {
        let mut package = package();
        package["description"] = Value::Null;
        package["keywords"] = json!([]);
        assert_eq!(
            of_manifest(&package),
            [
                "`a` has no `description` in its manifest",
                "`a` has no `keywords` in its manifest"
            ]
        );
    }

    #[test]
    fn paths_come_with_versions_but_for_tests() {
        let mut package = package();
        package["dependencies"][1]["req"] = json!("*");
        package["dependencies"][2]["req"] = json!("^0.1.0");
        let faults = of_manifest(&package);
        assert_eq!(faults.len(), 2, "{faults:#?}");
        assert!(
            faults[0].contains("`b` by path alone: take it"),
            "{faults:#?}"
        );
        assert!(
            faults[1].contains("`c` by path alone, without version"),
            "{faults:#?}"
        );
    }

    #[test]
    fn an_archive_without_a_licence_is_named() {
        let faults = of_files(
            "a",
            "Cargo.toml\nLICENSE-MIT\nNOTICE\nREADME.md\nsrc/lib.rs\n",
        );
        assert_eq!(
            faults,
            [
                "`a` would be published without LICENSE-APACHE: link it from the root (crates/a/LICENSE-APACHE)"
            ]
        );
    }
}
