//! The steps, the suites that are made of them, and how a suite is run and reported.

use std::fmt;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::process::{self, run};
use crate::workspace::Workspace;
use crate::{api, budget, facade, fixtures, fuzz, hosts, layering, package};

/// The package that holds the benchmarks. Its dependencies are large, and only `nightly` compiles them.
const BENCHES: &str = "toolshelf-benches";

/// The crates whose golden files promise bytes.
const GOLDEN_CRATES: &[&str] = &[
    "toolshelf-catalog",
    "toolshelf-discovery",
    "toolshelf-strategies",
];

/// Cases per property in `nightly`; proptest's own default is 256.
const NIGHTLY_PROPTEST_CASES: &str = "1024";

/// One check, which can be run alone.
pub(crate) struct Step {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    run: fn(&Workspace) -> Result<()>,
}

impl PartialEq for Step {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl fmt::Debug for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Step").field(&self.name).finish()
    }
}

/// Every step, in the order in which suites run them.
pub(crate) const STEPS: &[Step] = &[
    Step {
        name: "fixtures",
        about: "install the real MCP servers that tests run against",
        run: fixtures::install,
    },
    Step {
        name: "fmt",
        about: "formatting (`cargo fmt --all` repairs it)",
        run: fmt,
    },
    Step {
        name: "clippy",
        about: "lints on all targets and features, warnings denied",
        run: clippy,
    },
    Step {
        name: "layering",
        about: "which crate may depend on which, and that the facade has all",
        run: layers,
    },
    Step {
        name: "budget",
        about: "how many crates one has to compile, within limits",
        run: budget::check,
    },
    Step {
        name: "test",
        about: "all tests, with cargo-nextest if it is installed",
        run: test,
    },
    Step {
        name: "doctest",
        about: "the examples in the documentation",
        run: doctest,
    },
    Step {
        name: "golden",
        about: "golden files again, with and without serde_json's preserve_order",
        run: golden,
    },
    Step {
        name: "doc",
        about: "rustdoc, warnings denied",
        run: doc,
    },
    Step {
        name: "outside",
        about: "plugins of a workspace of its own, in a toolshelf of their own",
        run: outside,
    },
    Step {
        name: "hosts",
        about: "programs that link different plugins have exactly those",
        run: hosts::dev,
    },
    Step {
        name: "features",
        about: "each feature of each crate compiles alone",
        run: features,
    },
    Step {
        name: "slow",
        about: "the tests again, with the slow ones and many more cases per property",
        run: slow,
    },
    Step {
        name: "tour",
        about: "release build, and the tour that the README begins with",
        run: tour,
    },
    Step {
        name: "hosts-release",
        about: "the same programs as release builds",
        run: hosts::release,
    },
    Step {
        name: "package",
        about: "every crate as it would be published, built from its archive",
        run: package::check,
    },
    Step {
        name: "api",
        about: "the public API of each crate is what api/ says",
        run: api::check,
    },
    Step {
        name: "benches",
        about: "the benchmarks, with lints: they compile",
        run: benches,
    },
    Step {
        name: "fuzz",
        about: "ten minutes of odd histories (TOOLSHELF_FUZZ_SECONDS)",
        run: fuzz::discovery,
    },
];

/// A sequence of steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Suite {
    Ci,
    Nightly,
}

impl Suite {
    pub(crate) const ALL: [Self; 2] = [Self::Ci, Self::Nightly];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ci => "ci",
            Self::Nightly => "nightly",
        }
    }

    pub(crate) fn about(self) -> &'static str {
        match self {
            Self::Ci => "what must pass before a change lands",
            Self::Nightly => "what takes longer",
        }
    }

    fn names(self) -> &'static [&'static str] {
        match self {
            Self::Ci => &[
                "fixtures", "fmt", "clippy", "layering", "budget", "test", "doctest", "golden",
                "doc", "outside", "hosts",
            ],
            Self::Nightly => &[
                "fixtures",
                "features",
                "slow",
                "tour",
                "hosts-release",
                "package",
                "api",
                "benches",
                "fuzz",
            ],
        }
    }

    pub(crate) fn steps(self) -> impl Iterator<Item = &'static Step> {
        STEPS
            .iter()
            .filter(move |step| self.names().contains(&step.name))
    }
}

/// Runs one step without the ceremony of a suite.
pub(crate) fn run_alone(workspace: &Workspace, step: &Step) -> Result<()> {
    (step.run)(workspace)
}

/// Runs the steps in order up to the first failure, then says how each went and how long it took.
pub(crate) fn run_suite(workspace: &Workspace, suite: Suite) -> Result<()> {
    let steps: Vec<&Step> = suite.steps().collect();
    let started = Instant::now();
    let mut report = Report::default();
    let mut failure = None;
    for (index, step) in steps.iter().enumerate() {
        if failure.is_some() {
            report.add(step.name, "not run", None);
            continue;
        }
        println!(
            "\n=== [{}/{}] {}: {}",
            index + 1,
            steps.len(),
            step.name,
            step.about
        );
        let step_started = Instant::now();
        let result = (step.run)(workspace);
        let took = step_started.elapsed();
        match result {
            Ok(()) => {
                println!("=== {} passed in {}", step.name, duration(took));
                report.add(step.name, "passed", Some(took));
            }
            Err(error) => {
                println!("=== {} FAILED after {}", step.name, duration(took));
                report.add(step.name, "FAILED", Some(took));
                failure = Some((step.name, error));
            }
        }
    }
    report.add(
        "total",
        if failure.is_some() {
            "FAILED"
        } else {
            "passed"
        },
        Some(started.elapsed()),
    );
    println!("\n{report}");
    match failure {
        None => Ok(()),
        Some((name, error)) => {
            bail!("step `{name}` failed: {error:#}\nto run it alone: cargo xtask {name}")
        }
    }
}

/// The table at the end of a suite.
#[derive(Default)]
struct Report {
    rows: Vec<(&'static str, &'static str, Option<Duration>)>,
}

impl Report {
    fn add(&mut self, name: &'static str, outcome: &'static str, took: Option<Duration>) {
        self.rows.push((name, outcome, took));
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<13} {:<8} {:>7}", "step", "outcome", "time")?;
        for (name, outcome, took) in &self.rows {
            let took = took.map_or_else(|| "-".to_owned(), duration);
            writeln!(f, "{name:<13} {outcome:<8} {took:>7}")?;
        }
        Ok(())
    }
}

fn duration(duration: Duration) -> String {
    let seconds = duration.as_secs();
    if seconds < 60 {
        format!("{:.1} s", duration.as_secs_f64())
    } else {
        format!("{}m {:02}s", seconds / 60, seconds % 60)
    }
}

fn fmt(workspace: &Workspace) -> Result<()> {
    run(&mut workspace.cargo(["fmt", "--all", "--", "--check"]))
        .context("`cargo fmt --all` repairs this")
}

fn clippy(workspace: &Workspace) -> Result<()> {
    run(&mut workspace.cargo([
        "clippy",
        "--workspace",
        "--exclude",
        BENCHES,
        "--all-targets",
        "--all-features",
        "--",
        "-D",
        "warnings",
    ]))
}

fn layers(workspace: &Workspace) -> Result<()> {
    layering::check(workspace)?;
    facade::check(workspace)
}

fn test(workspace: &Workspace) -> Result<()> {
    fixtures::install(workspace)?;
    run(&mut tests_of_the_workspace(workspace)?)
}

fn slow(workspace: &Workspace) -> Result<()> {
    fixtures::install(workspace)?;
    let mut command = tests_of_the_workspace(workspace)?;
    // Slow tests look for the first variable themselves. `#[ignore]` would need an option that differs between
    // test runners, and would also run what someone ignored for another reason.
    command.env("TOOLSHELF_NIGHTLY", "1");
    if std::env::var_os("PROPTEST_CASES").is_none() {
        command.env("PROPTEST_CASES", NIGHTLY_PROPTEST_CASES);
    }
    run(&mut command)
}

fn tests_of_the_workspace(workspace: &Workspace) -> Result<Command> {
    let mut command = test_runner(workspace);
    command.args(["--workspace", "--all-features"]);
    if packages(&workspace.metadata()?)?
        .iter()
        .any(|package| package.name == BENCHES)
    {
        command.args(["--exclude", BENCHES]);
    }
    Ok(command)
}

/// `cargo nextest run` if there is one, else `cargo test` on the same targets. Neither stops at the first
/// failing test: who has to repair three wants to see three.
fn test_runner(workspace: &Workspace) -> Command {
    if process::output(&mut workspace.cargo(["nextest", "--version"])).is_ok() {
        workspace.cargo(["nextest", "run", "--no-fail-fast"])
    } else {
        workspace.cargo([
            "test",
            "--no-fail-fast",
            "--lib",
            "--bins",
            "--tests",
            "--examples",
        ])
    }
}

fn doctest(workspace: &Workspace) -> Result<()> {
    run(&mut workspace.cargo([
        "test",
        "--doc",
        "--workspace",
        "--exclude",
        BENCHES,
        "--all-features",
    ]))
}

/// What a third party would have: its own workspace and lock file. It shares the folder of what was built, as far
/// as the same is built.
fn outside(workspace: &Workspace) -> Result<()> {
    let manifest = workspace
        .root()
        .join("examples")
        .join("outside")
        .join("Cargo.toml");
    let manifest = manifest.as_os_str();
    let metadata = workspace.metadata()?;
    let target = metadata["target_directory"]
        .as_str()
        .context("`cargo metadata` names no target folder")?;
    let cargo = |arguments: &[&str]| {
        let mut command = workspace.cargo([arguments[0]]);
        command
            .arg("--manifest-path")
            .arg(manifest)
            .args(&arguments[1..]);
        command.env("CARGO_TARGET_DIR", target);
        command
    };
    run(&mut cargo(&["fmt", "--all", "--", "--check"]))?;
    let lints = [
        "clippy",
        "--locked",
        "--workspace",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ];
    run(&mut cargo(&lints))?;
    run(&mut cargo(&[
        "test",
        "--locked",
        "--workspace",
        "--no-fail-fast",
    ]))
}

/// Golden bytes must not depend on whether some other crate in the build switches on `preserve_order`, which
/// changes what a `serde_json::Map` is for everyone. In a workspace build features are unified, so that one run
/// sees only one of the two; here each golden crate is tested alone in both.
fn golden(workspace: &Workspace) -> Result<()> {
    let packages = packages(&workspace.metadata()?)?;
    for name in GOLDEN_CRATES.iter().copied() {
        let Some(package) = packages.iter().find(|package| package.name == name) else {
            bail!(
                "there is no crate `{name}`; the crates with golden files are listed in xtask/src/steps.rs"
            );
        };
        let tree = process::output(&mut workspace.cargo([
            "tree",
            "--package",
            name,
            "--all-features",
            "--edges",
            "normal,build,dev",
            "--prefix",
            "none",
            "--format",
            "{p}|{f}",
        ]))?;
        if switches_on_preserve_order(&tree) {
            bail!(
                "a dependency of `{name}` switches on serde_json's `preserve_order`, so its golden files cannot be tested \
                 without; find it with `cargo tree --package {name} --edges features --invert serde_json`"
            );
        }
        run(test_runner(workspace).args(["--package", name, "--all-features"]))?;
        if package
            .dependencies
            .iter()
            .any(|dependency| dependency == "serde_json")
        {
            let preserve_order = [
                "--package",
                name,
                "--all-features",
                "--features",
                "serde_json/preserve_order",
            ];
            run(test_runner(workspace).args(preserve_order))?;
        } else {
            println!("{name} does not depend on serde_json itself: there is no second run");
        }
    }
    Ok(())
}

/// Whether a line `serde_json v1.2.3|feature,feature` of `cargo tree` lists the feature.
fn switches_on_preserve_order(tree: &str) -> bool {
    tree.lines()
        .filter(|line| line.starts_with("serde_json v"))
        .filter_map(|line| line.split_once('|'))
        .any(|(_, features)| {
            features
                .split([',', ' '])
                .any(|feature| feature == "preserve_order")
        })
}

fn doc(workspace: &Workspace) -> Result<()> {
    let mut flags = std::env::var("RUSTDOCFLAGS").unwrap_or_default();
    if !flags.is_empty() {
        flags.push(' ');
    }
    flags.push_str("-D warnings");
    run(workspace
        .cargo([
            "doc",
            "--workspace",
            "--exclude",
            BENCHES,
            "--all-features",
            "--no-deps",
        ])
        .env("RUSTDOCFLAGS", flags))
}

/// A crate whose features compile only together would break the host that wants one of them.
fn features(workspace: &Workspace) -> Result<()> {
    for package in packages(&workspace.metadata()?)?
        .iter()
        .filter(|package| package.is_library_crate)
    {
        let name = package.name.as_str();
        run(&mut workspace.cargo(["check", "--package", name, "--lib", "--no-default-features"]))?;
        for feature in package
            .features
            .iter()
            .filter(|feature| *feature != "default")
        {
            run(&mut workspace.cargo([
                "check",
                "--package",
                name,
                "--lib",
                "--no-default-features",
                "--features",
                feature.as_str(),
            ]))?;
        }
    }
    Ok(())
}

fn tour(workspace: &Workspace) -> Result<()> {
    run(&mut workspace.cargo(["run", "--release", "--bin", "toolshelf", "--", "tour"]))
}

fn benches(workspace: &Workspace) -> Result<()> {
    run(&mut workspace.cargo([
        "clippy",
        "--package",
        BENCHES,
        "--all-targets",
        "--all-features",
        "--",
        "-D",
        "warnings",
    ]))?;
    run(&mut workspace.cargo(["bench", "--no-run", "--package", BENCHES]))
}

/// What steps need to know about a package of the workspace.
struct Package {
    name: String,
    /// Stands under `crates/` and has a library.
    is_library_crate: bool,
    features: Vec<String>,
    /// Without development dependencies.
    dependencies: Vec<String>,
}

fn packages(metadata: &Value) -> Result<Vec<Package>> {
    let strings = |value: &Value| value.as_str().map(str::to_owned);
    let members: Vec<&Value> = metadata["workspace_members"]
        .as_array()
        .into_iter()
        .flatten()
        .collect();
    let root = metadata["workspace_root"]
        .as_str()
        .context("`cargo metadata` gave no `workspace_root`")?;
    let mut packages = Vec::new();
    for package in metadata["packages"]
        .as_array()
        .context("`cargo metadata` gave no `packages`")?
    {
        if !members.contains(&&package["id"]) {
            continue;
        }
        let under_crates = package["manifest_path"]
            .as_str()
            .and_then(|path| std::path::Path::new(path).strip_prefix(root).ok())
            .is_some_and(|path| path.starts_with("crates"));
        let has_library = package["targets"]
            .as_array()
            .into_iter()
            .flatten()
            .any(|target| {
                target["kind"]
                    .as_array()
                    .is_some_and(|kinds| kinds.iter().any(|kind| kind == "lib"))
            });
        let dependencies = package["dependencies"].as_array().into_iter().flatten();
        packages.push(Package {
            name: strings(&package["name"])
                .context("`cargo metadata` gave a package without a name")?,
            is_library_crate: under_crates && has_library,
            features: package["features"]
                .as_object()
                .into_iter()
                .flat_map(|map| map.keys().cloned())
                .collect(),
            dependencies: dependencies
                .filter(|dependency| dependency["kind"] != "dev")
                .filter_map(|dependency| strings(&dependency["name"]))
                .collect(),
        });
    }
    Ok(packages)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn suites_name_only_steps_that_exist_and_keep_their_order() {
        for suite in Suite::ALL {
            let found: Vec<&str> = suite.steps().map(|step| step.name).collect();
            assert_eq!(found, suite.names(), "{}", suite.name());
        }
    }

    #[test]
    fn every_step_belongs_to_a_suite() {
        for step in STEPS {
            assert!(
                Suite::ALL
                    .into_iter()
                    .any(|suite| suite.names().contains(&step.name)),
                "{}",
                step.name
            );
        }
    }

    #[test]
    fn the_report_is_a_table() {
        let mut report = Report::default();
        report.add("fmt", "passed", Some(Duration::from_millis(1_234)));
        report.add("clippy", "FAILED", Some(Duration::from_secs(125)));
        report.add("doc", "not run", None);
        assert_eq!(
            report.to_string(),
            "step          outcome     time\n\
             fmt           passed     1.2 s\n\
             clippy        FAILED    2m 05s\n\
             doc           not run        -\n"
        );
    }

    #[test]
    fn preserve_order_is_seen_in_a_dependency_tree() {
        assert!(!switches_on_preserve_order(
            "toolshelf-catalog v0.1.0|\nserde_json v1.0.1|default,raw_value,std\n"
        ));
        assert!(switches_on_preserve_order(
            "serde_json v1.0.1|default,indexmap,preserve_order,std (*)\n"
        ));
        assert!(switches_on_preserve_order(
            "serde_json v1.0.1|default,preserve_order (*)\n"
        ));
        assert!(!switches_on_preserve_order("other v1.0.1|preserve_order\n"));
    }

    #[test]
    fn packages_are_read_from_metadata() {
        let metadata = json!({
            "workspace_root": "/w",
            "workspace_members": ["a", "x"],
            "packages": [
                { "id": "a", "name": "a", "manifest_path": "/w/crates/a/Cargo.toml", "features": { "f": [] },
                  "targets": [{ "kind": ["lib"] }],
                  "dependencies": [{ "name": "serde_json", "kind": null }, { "name": "insta", "kind": "dev" }] },
                { "id": "x", "name": "x", "manifest_path": "/w/x/Cargo.toml", "features": {},
                  "targets": [{ "kind": ["lib"] }], "dependencies": [] },
                { "id": "serde", "name": "serde", "manifest_path": "/r/serde/Cargo.toml" }
            ]
        });
        let packages = packages(&metadata).unwrap();
        let names: Vec<&str> = packages
            .iter()
            .map(|package| package.name.as_str())
            .collect();
        assert_eq!(names, ["a", "x"]);
        assert_eq!(packages[0].dependencies, ["serde_json"]);
        assert_eq!(packages[0].features, ["f"]);
        assert!(packages[0].is_library_crate);
        assert!(!packages[1].is_library_crate);
    }
}
