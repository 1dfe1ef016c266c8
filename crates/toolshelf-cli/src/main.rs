//! The binary `toolshelf`, with all plugins that are linked into it.

use std::process::ExitCode;

use toolshelf_core::Registry;

fn main() -> ExitCode {
    match Registry::linked() {
        Ok(registry) => toolshelf_cli::run(registry),
        Err(error) => toolshelf_cli::refuse(&error),
    }
}
