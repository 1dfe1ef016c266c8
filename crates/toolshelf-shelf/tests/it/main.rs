//! The driver as its hosts see it.

mod fixtures;
mod golden;
mod host_loop;
mod loading;
mod sequence;
