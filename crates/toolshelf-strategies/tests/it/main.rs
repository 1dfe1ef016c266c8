//! The planners as a driver sees them: what they ask for and what they decide, without
//! any I/O.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a helper of a test fails as a test does"
)]

mod auto;
mod compact;
mod conformance;
mod fixtures;
mod options;
mod planning;
mod plugins;
mod properties;
mod settings;
mod surfaces;
mod tst;
mod world;

use toolshelf_testkit::Golden;

const GOLDEN: Golden = Golden::of(env!("CARGO_MANIFEST_DIR"));
