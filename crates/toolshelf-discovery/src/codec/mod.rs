//! The codecs, one format each.

pub mod found;
pub mod functions;
pub mod load;
pub mod reference;

use toolshelf_core::codec::Block;
use toolshelf_core::{Error, ErrorKind};

/// The texts of a result and the numbers of their blocks.
fn texts<'a>(content: &'a [Block<'a>]) -> impl Iterator<Item = (usize, &'a str)> {
    content
        .iter()
        .enumerate()
        .filter_map(|(at, block)| match block {
            Block::Text(text) => Some((at, &**text)),
            _ => None,
        })
}

/// Why a codec does not write.
fn only_read(format: &str) -> Error {
    Error::new(
        ErrorKind::Mismatch,
        format!(
            "'{format}' holds definitions, so it cannot be written from names; it is only read"
        ),
    )
}
