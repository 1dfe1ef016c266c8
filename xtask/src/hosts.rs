//! The programs of `tests/hosts`: each is built and run in an invocation of its own, since cargo unifies the
//! features of all that one invocation builds.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::process;
use crate::workspace::Workspace;

/// The package of the programs.
const HOSTS: &str = "toolshelf-hosts";
/// The package of the static library, in the folder `static-library` of the other.
const STATIC: &str = "toolshelf-hosts-static";
/// The program that has to link every crate with a plugin.
const EVERYTHING: &str = "everything";

/// Runs all hosts as `cargo build` builds them.
pub(crate) fn dev(workspace: &Workspace) -> Result<()> {
    all(workspace, &[])
}

/// Runs all hosts as `cargo build --release` builds them, where the linker leaves out more.
pub(crate) fn release(workspace: &Workspace) -> Result<()> {
    all(workspace, &["--release"])
}

fn all(workspace: &Workspace, profile: &[&str]) -> Result<()> {
    let metadata = workspace.metadata()?;
    let package = package(&metadata, HOSTS)?;
    let hosts = hosts(package)?;
    covers_every_plugin(workspace, package)?;
    for host in &hosts {
        let mut command = workspace.cargo(["run", "--quiet", "--package", HOSTS]);
        command
            .args(["--bin", host, "--features", host])
            .args(profile);
        say(&mut command, host)?;
    }
    static_library(workspace, &metadata, profile)?;
    println!(
        "{} hosts have exactly the plugins that they link",
        hosts.len() + 1
    );
    Ok(())
}

/// Runs a host and prints what it says. A program that says nothing of itself has not been a host.
fn say(command: &mut Command, host: &str) -> Result<()> {
    let said = process::output(command)?;
    print!("{said}");
    ensure!(
        said.starts_with(&format!("{host}: ")),
        "the host {host} ended well without a line that begins with its name"
    );
    Ok(())
}

/// The names of the programs. Each needs the one feature that has its name, so that no build has two of them.
fn hosts(package: &Value) -> Result<Vec<&str>> {
    let mut hosts = Vec::new();
    for target in package["targets"].as_array().into_iter().flatten() {
        if !kinds(target).contains(&"bin") {
            continue;
        }
        let name = target["name"]
            .as_str()
            .context("a program without a name")?;
        let features: Vec<&str> = target["required-features"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        ensure!(
            features == [name],
            "the host {name} of tests/hosts must have `required-features = [\"{name}\"]` and no other, but has {features:?}"
        );
        hosts.push(name);
    }
    ensure!(
        !hosts.is_empty(),
        "{HOSTS} has no programs, so there is nothing that could be shown"
    );
    Ok(hosts)
}

/// Every crate of ours that submits a plugin is linked by the host `everything`: only so is what that host asserts
/// true of all of them.
fn covers_every_plugin(workspace: &Workspace, hosts: &Value) -> Result<()> {
    let feature = &hosts["features"][EVERYTHING];
    let linked: BTreeSet<&str> = feature
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.as_str()?.strip_prefix("dep:"))
        .collect();
    for folder in folders(&workspace.root().join("crates"))? {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let submits = submits(&folder.join("src"))?;
        ensure!(
            !submits || linked.contains(&*name),
            "{name} submits a plugin, but the host `{EVERYTHING}` does not link it: add it in tests/hosts (Cargo.toml, \
             src/bin/{EVERYTHING}.rs) and to KNOWN in crates/toolshelf-core/src/registry.rs"
        );
    }
    Ok(())
}

/// Whether a source file below the folder has a line that submits a plugin.
fn submits(folder: &Path) -> Result<bool> {
    let entries =
        std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    for entry in entries {
        let path = entry?.path();
        let found = if path.is_dir() {
            submits(&path)?
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path)
                .with_context(|| format!("cannot read {}", path.display()))?;
            text.lines().any(is_submission)
        } else {
            false
        };
        if found {
            return Ok(true);
        }
    }
    Ok(false)
}

fn is_submission(line: &str) -> bool {
    line.starts_with("toolshelf_core::submit!(") || line.starts_with("submit!(")
}

fn folders(parent: &Path) -> Result<Vec<PathBuf>> {
    let entries =
        std::fs::read_dir(parent).with_context(|| format!("cannot read {}", parent.display()))?;
    let paths = entries
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<Vec<_>>>()?;
    Ok(paths.into_iter().filter(|path| path.is_dir()).collect())
}

/// Builds the static library, links a program in C with it by the C compiler, and runs that.
fn static_library(workspace: &Workspace, metadata: &Value, profile: &[&str]) -> Result<()> {
    if cfg!(windows) {
        println!("skipped: the static library is linked by `cc`, which Windows does not have");
        return Ok(());
    }
    let Some(compiler) = process::find("cc") else {
        bail!(
            "there is no `cc` in PATH, which the static library of tests/hosts is linked with; install a C compiler"
        );
    };
    // Messages of the compiler are JSON here: one of them says which system libraries the archive needs.
    let mut build = workspace.cargo([
        "rustc",
        "--quiet",
        "--package",
        STATIC,
        "--message-format",
        "json",
    ]);
    build
        .args(profile)
        .args(["--", "--print", "native-static-libs"]);
    let messages = process::output(&mut build)?;
    let libraries = native_libraries(&messages)?;

    let target = metadata["target_directory"]
        .as_str()
        .context("`cargo metadata` names no target folder")?;
    let target = Path::new(target);
    let archive = archive(&messages)?;
    let source = Path::new(
        package(metadata, STATIC)?["manifest_path"]
            .as_str()
            .unwrap_or_default(),
    )
    .with_file_name("main.c");
    let program = target.join("toolshelf-hosts-static-library");
    process::output(
        Command::new(compiler)
            .arg("-o")
            .arg(&program)
            .arg(source)
            .arg(archive)
            .args(libraries),
    )?;
    say(&mut Command::new(program), "static-library")
}

/// What the compiler says that a program has to be linked with beside the archive.
fn native_libraries(messages: &str) -> Result<Vec<String>> {
    const NOTE: &str = "native-static-libs: ";
    messages_of(messages, "compiler-message")
        .find_map(|message| {
            let text = message["message"]["message"].as_str()?;
            Some(
                text.strip_prefix(NOTE)?
                    .split_whitespace()
                    .map(str::to_owned)
                    .collect(),
            )
        })
        .with_context(|| format!("rustc did not print `{NOTE}…` for {STATIC}"))
}

/// Where cargo put the static library.
fn archive(messages: &str) -> Result<String> {
    messages_of(messages, "compiler-artifact")
        .filter(|message| kinds(&message["target"]).contains(&"staticlib"))
        .find_map(|message| message["filenames"][0].as_str().map(str::to_owned))
        .with_context(|| format!("cargo names no file that {STATIC} became"))
}

fn messages_of<'a>(messages: &'a str, reason: &'a str) -> impl Iterator<Item = Value> + 'a {
    let parsed = messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    parsed.filter(move |message| message["reason"] == reason)
}

fn kinds(target: &Value) -> Vec<&str> {
    target["kind"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect()
}

fn package<'a>(metadata: &'a Value, name: &str) -> Result<&'a Value> {
    let packages = metadata["packages"]
        .as_array()
        .context("`cargo metadata` gave no `packages`")?;
    packages
        .iter()
        .find(|package| package["name"] == name)
        .with_context(|| format!("there is no package `{name}`"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_host_has_one_feature_of_its_own_name() {
        let bin = |name: &str, features: &[&str]| json!({ "name": name, "kind": ["bin"], "required-features": features });
        let library = json!({ "name": "toolshelf_hosts", "kind": ["lib"] });
        let package = json!({ "targets": [library, bin("a", &["a"]), bin("b", &["b"])] });
        assert_eq!(hosts(&package).unwrap(), ["a", "b"]);
        for wrong in [bin("a", &[]), bin("a", &["b"]), bin("a", &["a", "b"])] {
            let error = hosts(&json!({ "targets": [wrong] }))
                .unwrap_err()
                .to_string();
            assert!(error.contains("required-features = [\"a\"]"), "{error}");
        }
        assert!(hosts(&json!({ "targets": [] })).is_err());
    }

    #[test]
    fn a_submission_is_told_from_its_mention() {
        assert!(is_submission("toolshelf_core::submit!(PLUGIN);"));
        assert!(!is_submission("/// toolshelf_core::submit!(PLUGIN);"));
        assert!(!is_submission("    // submit!(PLUGIN)"));
    }

    #[test]
    fn what_the_compiler_says_is_read() {
        let messages = [
            json!({ "reason": "compiler-message", "message": { "message": "native-static-libs: -lgcc_s -lc" } }),
            json!({ "reason": "compiler-artifact", "target": { "kind": ["lib"] }, "filenames": ["/t/libx.rlib"] }),
            json!({ "reason": "compiler-artifact", "target": { "kind": ["staticlib"] }, "filenames": ["/t/libx.a"] }),
        ];
        let messages = messages.map(|message| message.to_string()).join("\n");
        assert_eq!(native_libraries(&messages).unwrap(), ["-lgcc_s", "-lc"]);
        assert_eq!(archive(&messages).unwrap(), "/t/libx.a");
        assert!(native_libraries("").is_err());
        assert!(archive("not JSON").is_err());
    }
}
