//! The driver as its hosts see it.

mod arguments;
mod ending;
mod fixtures;
mod golden;
mod host_loop;
mod load_properties;
mod loading;
mod names;
mod prefix;
mod resume;
mod sequence;
mod session_properties;
mod texts;
mod validation;
