//! A host that is not a Rust program: a static library, linked into a program by a C linker.
//!
//! Such a linker takes from an archive what somebody refers to, and nobody refers to a plugin's
//! submission. Whether [`Registry::linked`] sees it depends on the linker and on how code
//! was divided, so this host does not ask: it registers by hand.

use toolshelf_core::{Error, PluginKind, Registry};

/// Builds the registry and asserts what it has. Returns 0 when it has that.
///
/// A failed assertion ends the process.
// SAFETY: no other symbol of this program has the name.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub extern "C" fn toolshelf_static_host() -> i32 {
    match host() {
        Ok(()) => 0,
        Err(error) => {
            eprintln!("error: {error}");
            1
        }
    }
}

fn host() -> Result<(), Error> {
    let mut registry = Registry::new();
    registry.register(toolshelf_strategies::dispatch::PLUGIN)?;
    let expected = [(PluginKind::Strategy, "dispatch", "toolshelf-strategies")];
    toolshelf_hosts::check("static-library", &registry, &expected);
    // Not asserted: it is as may be.
    let linked = Registry::linked()?.plugins().count();
    println!("static-library: of the submissions of its crates {linked} arrived here");
    Ok(())
}
