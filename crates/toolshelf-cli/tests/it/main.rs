//! The binary as people run it, and the sample servers.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests are tests"
)]

mod commands;
mod doctor;
mod helpers;
#[cfg(target_os = "linux")]
mod processes;
mod samples;
mod search;
#[cfg(unix)]
mod terminal;
mod tour;
