//! `toolshelf` with five plugins of somebody else: every command, and their names beside ours.
use outside_canned as _; // a crate that is not named is not linked
use outside_json_list as _;
use outside_menu as _;
use outside_overlap as _;
use outside_table as _;
use toolshelf_core::Registry;

fn main() -> std::process::ExitCode {
    match Registry::linked() {
        Ok(registry) => toolshelf_cli::run(registry),
        Err(error) => toolshelf_cli::refuse(&error),
    }
}
