//! What is written, what is read, and what never counts.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a helper of a test fails as a test does"
)]

mod codecs;
mod conformance;
mod fixtures;
mod found;
mod golden;
mod histories;
mod incremental;
mod marker;
mod origin;
mod properties;
mod registry;

use toolshelf_testkit::Golden;

const GOLDEN: Golden = Golden::of(env!("CARGO_MANIFEST_DIR"));
