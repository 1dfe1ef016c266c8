//! Ranks deferred tools for a query.

mod common;
mod concepts;
mod correct;
mod document;
pub mod evaluate;
mod lexical;
mod literals;
mod names;
mod rank;
mod schema;
mod stems;
mod store;
mod synonyms;
mod vocabulary;
mod weights;
mod words;

pub use lexical::Lexical;
pub use weights::Weights;
