//! An MCP server with faults, to test what stands before it.
//!
//! It speaks JSON lines over standard input and output itself, so that it can do what no
//! library lets a server do. A program that calls [`run`] with its words is such a server:
//!
//! ```no_run
//! use std::process::ExitCode;
//!
//! fn main() -> ExitCode {
//!     toolshelf_faults::run(std::env::args().skip(1))
//! }
//! ```
//!
//! The binary `toolshelf` has it as `toolshelf faulty-server WORD…`. Each word is a fault or
//! a setting; they can be combined:
//!
//! | word | what it does |
//! |---|---|
//! | `modern` | speaks 2026-07-28 instead of a revision with handshake |
//! | `log=FILE` | appends what happens to a file, a line each: `pid N`, `ready`, `list CURSOR`, `call NAME ARGUMENTS`, `cancelled`, `end-of-input`, … |
//! | `start=MS` | reads nothing for so long |
//! | `gate=FILE` | reads nothing until the file exists; ends when its folder is gone |
//! | `exit=CODE` | ends at once, with a secret on its standard error |
//! | `banner` | writes a line that is no message before anything else |
//! | `chatter` | writes such a line before each message |
//! | `stays` | does not end at the end of its input |
//! | `child` | starts a process that sleeps, and does not wait for it |
//! | `probe=late:MS`, `slow:MS`, `silent`, `dies` | what becomes of `server/discover`: answered later, before which nothing else is read (`slow`) or is (`late`) |
//! | `connect=null`, `connect=error` | how `initialize` is answered |
//! | `list=malformed`, `hostile`, `twins`, `many:N`, `wide:BYTES`, `named:NAME`, `empty`, `file:PATH` | the tools |
//! | `list=error`, `error-once:FILE`, `null`, `nothing`, `hang` | no tools |
//! | `pages=N`, `pages=circle`, `pages=endless`, `pages=fault` | how the list is cut |
//! | `crash-on=N` | ends with the Nth call, without an answer |
//! | `flood=BYTES` | writes so much to its standard error before it reads |
//! | `changes` | the list depends on what `change` was called with: `gone` (no `pay`), `schema` (another `pay`), `more` (`refund`, too) |
//! | `state=FILE` | with `changes`: the list that it begins with stands in a file |
//!
//! Without a word for another list it has these tools: `echo`, `crash`, `hang`, `huge`,
//! `odd`, `together`, `steps`, `asks`, `flood`, `change` and `fails`, whose descriptions say
//! what they do. What `odd` can be asked for whose form is a promise is in [`results`].

mod calls;
mod lists;
mod output;
mod server;
mod words;

use std::process::ExitCode;

/// Results of the tool `odd`, byte for byte as the server writes them.
pub mod results {
    pub use crate::calls::{META, PICTURE, STRUCTURED, UNKNOWN};
}

/// Serves on standard input and output until the input or a fault ends it.
///
/// The exit code is that of the fault; 2, with the reason on standard error, when there is
/// no such word.
pub fn run(words: impl IntoIterator<Item = String>) -> ExitCode {
    match words::Words::read(words) {
        Ok(words) => server::Server::new(words).run(),
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}
