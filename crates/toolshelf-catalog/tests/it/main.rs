//! The texts, byte for byte and for all inputs.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a helper of a test fails as a test does"
)]

mod announcements;
mod answers;
mod catalogs;
mod conformance;
mod fixtures;
mod golden;
mod properties;
mod registry;
mod texts;

use toolshelf_testkit::Golden;

const GOLDEN: Golden = Golden::of(env!("CARGO_MANIFEST_DIR"));
