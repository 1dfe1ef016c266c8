//! The texts, byte for byte and for all inputs.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a helper of a test fails as a test does"
)]

mod announcements;
mod answers;
mod catalogs;
mod fixtures;
mod golden;
mod properties;
mod registry;
mod texts;
