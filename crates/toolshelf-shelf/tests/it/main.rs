//! The driver as its hosts see it.

mod fixtures;
mod golden;
mod loading;
