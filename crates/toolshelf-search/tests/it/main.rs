//! How an index behaves, at the boundary of the crate.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a helper of a test fails as a test does"
)]

mod accents;
mod conformance;
mod evaluation;
mod forms;
mod good;
mod inflections;
mod intents;
mod judged;
mod mixed;
mod promises;
mod properties;
mod world;
