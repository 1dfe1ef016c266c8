//! `toolshelf serve`, measured from outside, as a host sees it.

mod client;
pub(crate) mod latency;
pub(crate) mod memory;
mod report;
mod setup;
pub(crate) mod start;
