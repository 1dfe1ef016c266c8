//! The commands, one module each.

pub(crate) mod call;
pub(crate) mod catalog;
pub(crate) mod completions;
pub(crate) mod eval_search;
pub(crate) mod faulty_server;
pub(crate) mod judged;
pub(crate) mod plugins;
pub(crate) mod probe;
pub(crate) mod refresh;
pub(crate) mod sample_server;
pub(crate) mod search;
pub(crate) mod serve;
pub(crate) mod tools;
pub(crate) mod watchdog;
