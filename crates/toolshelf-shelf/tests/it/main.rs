//! The driver as its hosts see it.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a helper of a test fails as a test does"
)]

mod arguments;
mod ending;
mod fixtures;
mod host_loop;
mod load_properties;
mod loading;
mod names;
mod prefix;
mod resume;
mod searching;
mod sequence;
mod session_properties;
mod texts;
mod tst;
mod validation;

use toolshelf_testkit::Golden;

const GOLDEN: Golden = Golden::of(env!("CARGO_MANIFEST_DIR"));
