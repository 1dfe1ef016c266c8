//! Links the core alone: there are no plugins, and whoever asks for one is told where it is.

use toolshelf_core::{Error, Registry};

fn main() -> Result<(), Error> {
    toolshelf_hosts::check("none", &Registry::linked()?, &[]);
    Ok(())
}
