//! Ranks deferred tools for a query.

mod common;
mod concepts;
mod correct;
mod document;
pub mod evaluate;
mod explain;
mod lexical;
mod literals;
mod lookup;
mod mixed;
mod names;
mod pattern;
mod query;
mod rank;
mod required;
mod schema;
mod stems;
mod store;
mod synonyms;
mod vocabulary;
mod weights;
mod words;

pub use lexical::{Lexical, PLUGIN};
pub use mixed::{Embed, MixOptions, Mixed};
pub use weights::Weights;
