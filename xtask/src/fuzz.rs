//! Fuzzing with libFuzzer on the stable toolchain.
//!
//! `cargo fuzz` wants a nightly compiler for the address sanitizer, which finds nothing in code without `unsafe`.
//! What guides the fuzzer is coverage, and the compiler counts that on stable too when LLVM is told so.

use anyhow::{Context, Result};

use crate::process::{self, run};
use crate::workspace::Workspace;

/// How long in seconds, where `TOOLSHELF_FUZZ_SECONDS` says nothing.
const SECONDS: &str = "600";

/// What makes LLVM count the edges that are taken, and note what is compared.
const COVERAGE: &[&str] = &[
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Ccodegen-units=1",
    "--cfg=fuzzing",
];

/// Builds the fuzz target, which is in a workspace of its own, and runs it. Inputs that taught the fuzzer
/// something are kept in `fuzz/corpus`, one that fails in `fuzz/artifacts`.
pub(crate) fn discovery(workspace: &Workspace) -> Result<()> {
    if cfg!(windows) {
        println!("skipped: libFuzzer needs the address sanitizer's runtime on Windows");
        return Ok(());
    }
    let folder = workspace.root().join("fuzz");
    for made in ["corpus", "artifacts"] {
        let made = folder.join(made);
        std::fs::create_dir_all(&made)
            .with_context(|| format!("cannot make {}", made.display()))?;
    }
    let seconds = std::env::var("TOOLSHELF_FUZZ_SECONDS").unwrap_or_else(|_| SECONDS.to_owned());
    let mut command = workspace.cargo(["run", "--release", "--bin", "discovery"]);
    command
        .current_dir(&folder)
        // With a target, the flags are not for build scripts, which would not link.
        .args(["--target", &host()?, "--"])
        .arg(format!("-max_total_time={seconds}"))
        .args([
            "-max_len=4096",
            "-dict=discovery.dict",
            "-artifact_prefix=artifacts/",
            "-print_final_stats=1",
            "corpus",
            "../crates/toolshelf-discovery/tests/fixtures",
        ])
        .env("RUSTFLAGS", COVERAGE.join(" "));
    run(&mut command)
}

/// The platform that the compiler runs on.
fn host() -> Result<String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let about = process::output(std::process::Command::new(rustc).arg("-vV"))?;
    about
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .map(str::to_owned)
        .context("`rustc -vV` names no host")
}
