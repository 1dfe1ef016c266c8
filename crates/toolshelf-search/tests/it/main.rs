//! How an index behaves, at the boundary of the crate.
