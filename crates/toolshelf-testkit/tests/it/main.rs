//! The kits are tested with specimens: one that is sound passes all clauses, and each that is
//! broken fails the clauses that it breaks and no other.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a helper of a test fails as a test does"
)]

mod catalog;
mod codec;
mod faulty;
mod generators;
mod golden;
mod host;
mod index;
mod loader;
mod plugin;
mod strategy;
mod table;
mod world;
