//! What the vocabulary promises, case by case and for all inputs.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a helper of a test fails as a test does"
)]

mod arguments;
mod cancellation;
mod content;
mod definition;
mod error;
mod generate;
mod groups;
mod ids;
mod json;
mod naming;
mod nearest;
mod registry;
mod signature;
mod state;
mod text;
