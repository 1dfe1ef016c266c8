//! The public API of every crate as a text that is committed, so that a change of it is seen in a review.
//!
//! The list is made by the crate `public-api` from what rustdoc knows, as JSON. That output is not stable: the
//! compiler is told by `RUSTC_BOOTSTRAP` to give it all the same, and each form of it is understood by one
//! version of `public-api`. So this runs with the toolchain of [`FORMAT`] and in a folder of its own, since
//! what is compiled under that variable must not be mixed with what is not.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::process;
use crate::workspace::Workspace;

/// The form of the JSON that the `public-api` of our lock file reads, and the toolchain that writes it.
const FORMAT: (u64, &str) = (57, "Rust 1.95");

/// Writes the texts anew instead of comparing with them.
const BLESS: &str = "TOOLSHELF_BLESS";

/// How many changed lines of a crate are printed.
const MAX_LINES: usize = 40;

/// Compares the public API of every crate with `api/CRATE.txt`, or writes these files under `TOOLSHELF_BLESS=1`.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let bless = std::env::var_os(BLESS).is_some_and(|value| value == "1");
    let metadata = workspace.metadata()?;
    let target = metadata["target_directory"]
        .as_str()
        .context("`cargo metadata` names no target folder")?;
    let target = Path::new(target).join("api");
    let folder = workspace.root().join("api");
    let crates = libraries(&metadata)?;
    let mut changed = forgotten(&folder, &crates)?;
    for name in &crates {
        let api = api(workspace, name, &target)?;
        let file = folder.join(format!("{name}.txt"));
        if bless {
            std::fs::create_dir_all(&folder)
                .with_context(|| format!("cannot make {}", folder.display()))?;
            std::fs::write(&file, &api)
                .with_context(|| format!("cannot write {}", file.display()))?;
        } else {
            let recorded = std::fs::read_to_string(&file).unwrap_or_default();
            let lines = difference(&recorded, &api);
            if !lines.is_empty() {
                changed.push(format!("{name}: {} line(s)", lines.len()));
                lines
                    .iter()
                    .take(MAX_LINES)
                    .for_each(|line| println!("  {line}"));
            }
        }
        println!("{name}: {} public items", api.lines().count());
    }
    ensure!(
        changed.is_empty(),
        "the public API is not what api/ says: {}\nif that is meant, write it anew with {BLESS}=1 cargo xtask api, and \
         say in CHANGELOG.md what changed",
        changed.join(", ")
    );
    Ok(())
}

/// The crates that others can depend on.
fn libraries(metadata: &Value) -> Result<Vec<String>> {
    let members = metadata["workspace_members"]
        .as_array()
        .context("`cargo metadata` gave no `workspace_members`")?;
    let packages = metadata["packages"]
        .as_array()
        .context("`cargo metadata` gave no `packages`")?;
    let mut names = Vec::new();
    for package in packages {
        let mut targets = package["targets"].as_array().into_iter().flatten();
        let is_library = targets.any(|target| {
            target["kind"]
                .as_array()
                .is_some_and(|kinds| kinds.iter().any(|kind| kind == "lib"))
        });
        if is_library && package["publish"].is_null() && members.contains(&package["id"]) {
            names.push(
                package["name"]
                    .as_str()
                    .context("a package without a name")?
                    .to_owned(),
            );
        }
    }
    names.sort();
    Ok(names)
}

/// Files of crates that are no more.
fn forgotten(folder: &Path, crates: &[String]) -> Result<Vec<String>> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Ok(Vec::new());
    };
    let files = entries
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<Vec<PathBuf>>>()?;
    let gone = files
        .iter()
        .filter_map(|file| file.file_stem()?.to_str())
        .filter(|stem| !crates.iter().any(|name| name == stem));
    Ok(gone
        .map(|stem| format!("{stem}: there is no such crate"))
        .collect())
}

/// The public items of a crate, a line each.
fn api(workspace: &Workspace, name: &str, target: &Path) -> Result<String> {
    let mut command = workspace.cargo([
        "rustdoc",
        "--quiet",
        "--package",
        name,
        "--lib",
        "--all-features",
    ]);
    command.args(["--", "-Z", "unstable-options", "--output-format", "json"]);
    command
        .env("RUSTC_BOOTSTRAP", "1")
        .env("CARGO_TARGET_DIR", target);
    process::output(&mut command)?;
    let json = target
        .join("doc")
        .join(format!("{}.json", name.replace('-', "_")));
    let text = std::fs::read_to_string(&json)
        .with_context(|| format!("cannot read {}", json.display()))?;
    readable(&text)?;
    let api = public_api::Builder::from_rustdoc_json(&json)
        .omit_auto_derived_impls(true)
        .omit_auto_trait_impls(true)
        .omit_blanket_impls(true)
        .build()
        .with_context(|| format!("the public API of {name} cannot be read"))?;
    Ok(api.to_string())
}

/// Whether the JSON has the form that is understood here.
fn readable(json: &str) -> Result<()> {
    let format =
        serde_json::from_str::<Value>(json).context("rustdoc wrote something that is not JSON")?;
    let (wanted, toolchain) = FORMAT;
    match format["format_version"].as_u64() {
        Some(format) if format == wanted => Ok(()),
        format => bail!(
            "rustdoc wrote its JSON in form {format:?}, and `public-api` reads {wanted}, that of {toolchain}: use that \
             toolchain, or take the version of `public-api` for yours and change FORMAT in xtask/src/api.rs"
        ),
    }
}

/// What is gone and what is new, marked as in a patch. The order of lines is that of rustdoc and says nothing.
fn difference(recorded: &str, now: &str) -> Vec<String> {
    let gone = recorded
        .lines()
        .filter(|line| !now.lines().any(|other| other == *line));
    let new = now
        .lines()
        .filter(|line| !recorded.lines().any(|other| other == *line));
    gone.map(|line| format!("- {line}"))
        .chain(new.map(|line| format!("+ {line}")))
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_came_and_what_went_is_told() {
        assert_eq!(
            difference("pub fn a\npub fn b\n", "pub fn b\npub fn c\n"),
            ["- pub fn a", "+ pub fn c"]
        );
        assert_eq!(difference("x\n", "x\n"), Vec::<String>::new());
    }

    #[test]
    fn another_toolchain_is_said_to_be_one() {
        assert!(readable(r#"{"format_version": 57}"#).is_ok());
        let error = readable(r#"{"format_version": 99}"#)
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("form Some(99)") && error.contains("Rust 1.95"),
            "{error}"
        );
    }

    #[test]
    fn libraries_that_can_be_published_are_listed() {
        let package = |name: &str, kind: &str, publish: Value| json!({ "id": name, "name": name, "publish": publish, "targets": [{ "kind": [kind] }] });
        let metadata = json!({
            "workspace_members": ["b", "a", "tool", "tests"],
            "packages": [
                package("b", "lib", Value::Null),
                package("a", "lib", Value::Null),
                package("tool", "bin", Value::Null),
                package("tests", "lib", json!([])),
                package("serde", "lib", Value::Null),
            ],
        });
        assert_eq!(libraries(&metadata).unwrap(), ["a", "b"]);
    }
}
