//! Queries that ask for nothing.

use toolshelf_core::search::SearchQuery;

use super::Subject;
use super::shelf::{query, refuses};
use crate::clause::{Verdict, clause};

/// A query of blanks alone is refused with a text that says to a model what to write, and not
/// answered as if there were no tools.
///
/// # Errors
///
/// When the clause does not hold.
pub fn a_query_without_a_word_is_refused(subject: &Subject) -> Verdict {
    clause("a_query_without_a_word_is_refused", || {
        for index in [subject.servers(), subject.index()] {
            for text in ["", " ", " \n\t "] {
                refuses(&*index, &query(text))?;
            }
        }
        Ok(())
    })
}

/// A limit of zero is refused likewise.
///
/// # Errors
///
/// When the clause does not hold.
pub fn a_limit_of_zero_is_refused(subject: &Subject) -> Verdict {
    clause("a_limit_of_zero_is_refused", || {
        let index = subject.filled();
        for text in &subject.queries {
            let none = SearchQuery {
                limit: 0,
                ..query(text)
            };
            refuses(&*index, &none)?;
        }
        Ok(())
    })
}
