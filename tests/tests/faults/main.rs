//! What a host and its model see when servers fail, lie or are hostile: the real gateway
//! before a server with faults (`src/bin/faulty-server.rs`).
//!
//! Each test states what is seen, that the other servers go on, and that nothing is left
//! behind; each ends within its time.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test states its expectation by failing on the spot"
)]

mod calls;
mod disclosure;
mod host;
mod lists;
mod names;
mod processes;
mod session;
