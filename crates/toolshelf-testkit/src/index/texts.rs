//! Hits by texts: descriptions, misspelt words, explanations.

use toolshelf_core::search::{Match, SearchIndex};

use super::Subject;
use super::shelf::{Shelf, is_first, is_refusal, keys, query, search};
use crate::clause::{Verdict, clause, require, short};
use crate::world::key;

/// Whether a word that stands in a description alone finds its tool.
pub(super) fn by_texts(index: &dyn SearchIndex) -> bool {
    is_first(index, "sunshine", "weather/get_forecast").is_ok()
}

/// Whether a word with a fault finds what the word finds.
pub(super) fn corrects(index: &dyn SearchIndex) -> bool {
    is_first(index, "forcast", "weather/get_forecast").is_ok()
}

/// Whether a hit by its name or by words is explained.
pub(super) fn explains(index: &dyn SearchIndex) -> bool {
    let parts = |text, key| index.explain(&query(text), &key).unwrap_or_default();
    !parts("find_symbol", key("lsp", "find_symbol")).is_empty()
        || !parts("sunshine", key("weather", "get_forecast")).is_empty()
}

/// A word that one description alone has finds its tool, and a tool that has more of the words
/// comes before those that have fewer.
///
/// # Errors
///
/// When the clause does not hold.
pub fn a_word_of_a_description_finds_its_tool(subject: &Subject) -> Verdict {
    clause("a_word_of_a_description_finds_its_tool", || {
        let index = subject.servers();
        for (text, tool) in [
            ("sunshine", "weather/get_forecast"),
            ("channel", "chat/publish"),
            ("letter somebody", "mail/send_message"),
            ("letter away", "mail/archive"),
        ] {
            let hit = is_first(&*index, text, tool)?;
            require(hit.why == Match::Text, || {
                format!("{text:?} is a hit by {:?}, not by its texts", hit.why)
            })?;
        }
        Ok(())
    })
}

/// A tool whose description holds the name of another is no hit by its name, and comes behind
/// the one that has it.
///
/// # Errors
///
/// When the clause does not hold.
pub fn a_text_that_names_a_tool_is_not_its_name(subject: &Subject) -> Verdict {
    clause("a_text_that_names_a_tool_is_not_its_name", || {
        let index = subject.servers();
        let found = search(&*index, "create_issue")?;
        let by_name = found.hits.iter().filter(|hit| hit.why == Match::Name);
        let names: Vec<&str> = by_name.map(|hit| hit.key.tool.as_str()).collect();
        require(names == ["create_issue", "create_issue"], || {
            format!("hits by the name `create_issue` are {}", short(&found.hits))
        })
    })
}

/// A word with a letter too few, too many or two of them turned finds what the word finds.
///
/// # Errors
///
/// When the clause does not hold.
pub fn a_misspelt_word_is_understood(subject: &Subject) -> Verdict {
    clause("a_misspelt_word_is_understood", || {
        let index = subject.servers();
        for text in ["forcast", "forecsat", "foreccast"] {
            is_first(&*index, text, "weather/get_forecast")?;
        }
        Ok(())
    })
}

/// A word that some tool has means that word, although another is only a letter away.
///
/// # Errors
///
/// When the clause does not hold.
pub fn a_word_that_some_tool_has_is_not_corrected(subject: &Subject) -> Verdict {
    clause("a_word_that_some_tool_has_is_not_corrected", || {
        let shelf = Shelf::default()
            .group(
                "a",
                &[("table", "Lays out rows."), ("stable", "Holds horses.")],
            )
            .group(
                "b",
                &[("sweep", "Cleans the stable."), ("cable", "Runs a wire.")],
            );
        let index = subject.of(&shelf);
        let found = keys(&search(&*index, "stable")?);
        let right = found
            .iter()
            .all(|key| key == "a/stable" || key == "b/sweep");
        require(right && !found.is_empty(), || {
            format!("`stable` finds {found:?}")
        })
    })
}

/// A hit has parts, each of them named, the largest first, which together are its score.
///
/// # Errors
///
/// When the clause does not hold.
pub fn a_hit_is_explained(subject: &Subject) -> Verdict {
    clause("a_hit_is_explained", || {
        let index = subject.filled();
        let more = ["letter somebody", "sunshine tomorrow", "problem report"];
        for text in subject.queries.iter().map(String::as_str).chain(more) {
            let query = query(text);
            for hit in search(&*index, text)?.hits {
                let parts = index.explain(&query, &hit.key);
                let parts = parts.map_err(|error| error.to_string())?;
                let named = parts.iter().all(|part| !part.what.trim().is_empty());
                let sum: f64 = parts.iter().map(|part| part.score).sum();
                let adds_up = (sum - hit.score).abs() <= 1e-3 * hit.score.abs().max(1.0);
                let sorted = parts.is_sorted_by(|a, b| a.score >= b.score);
                require(!parts.is_empty() && named && adds_up && sorted, || {
                    format!(
                        "`{}` has the score {} for {text:?}, and its parts are {}",
                        hit.key,
                        hit.score,
                        short(&parts)
                    )
                })?;
            }
        }
        Ok(())
    })
}

/// A tool that is no hit, or that does not exist, has no parts.
///
/// # Errors
///
/// When the clause does not hold.
pub fn what_is_no_hit_has_no_parts(subject: &Subject) -> Verdict {
    clause("what_is_no_hit_has_no_parts", || {
        let index = subject.servers();
        for (text, key) in [
            ("find_symbol", key("weather", "get_forecast")),
            ("bake chocolate cake", key("lsp", "find_symbol")),
            ("find_symbol", key("nobody", "find_symbol")),
        ] {
            let parts = index.explain(&query(text), &key);
            let parts = parts.map_err(|error| error.to_string())?;
            require(parts.is_empty(), || {
                format!(
                    "`{key}` is no hit of {text:?}, and has the parts {}",
                    short(&parts)
                )
            })?;
        }
        Ok(())
    })
}

/// A query that a search refuses is refused here likewise.
///
/// # Errors
///
/// When the clause does not hold.
pub fn an_explanation_refuses_what_a_search_refuses(subject: &Subject) -> Verdict {
    clause("an_explanation_refuses_what_a_search_refuses", || {
        let index = subject.servers();
        match index.explain(&query(" "), &key("lsp", "find_symbol")) {
            Err(error) => is_refusal(" ", &error),
            Ok(parts) => Err(format!("an empty query is explained: {}", short(&parts))),
        }
    })
}
