//! Has `toolshelf-search` among its dependencies and never names it in code. The compiler does
//! not link such a crate, so its plugin is not there. This is the trap that
//! `use toolshelf_search as _;` avoids, as `tst-with-search` shows.

use toolshelf_core::{Error, Registry};

fn main() -> Result<(), Error> {
    toolshelf_hosts::check("unnamed", &Registry::linked()?, &[]);
    Ok(())
}
