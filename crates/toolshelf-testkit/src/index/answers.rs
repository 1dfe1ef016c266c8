//! What an answer is like.

use std::collections::BTreeSet;

use toolshelf_core::search::{SearchIndex, SearchQuery};

use super::Subject;
use super::shelf::{Shelf, is_first, keys, query, search, servers};
use crate::clause::{Verdict, alike, clause, require, same, short};

/// Its name is one line of text, and the same each time.
///
/// # Errors
///
/// When the clause does not hold.
pub fn its_name_is_one_line(subject: &Subject) -> Verdict {
    clause("its_name_is_one_line", || {
        let (one, two) = (subject.index(), subject.index());
        same("its name", &one.name(), &two.name())?;
        let legal = !one.name().trim().is_empty() && !one.name().chars().any(char::is_control);
        require(legal, || format!("{:?} is no name", one.name()))
    })
}

/// The same tools and query have the same answer, score for score: asked again, after other
/// queries, and of another instance.
///
/// # Errors
///
/// When the clause does not hold.
pub fn the_same_query_has_the_same_answer(subject: &Subject) -> Verdict {
    clause("the_same_query_has_the_same_answer", || {
        let (one, other) = (subject.filled(), subject.filled());
        let first = subject.answers(&*one);
        alike("an answer", &first, &subject.answers(&*one))?;
        alike("an answer", &first, &subject.answers(&*other))
    })
}

/// The order of the hits is total: in whatever order groups, and the tools of a group, were
/// handed over, the answers are the same.
///
/// # Errors
///
/// When the clause does not hold.
pub fn the_order_in_which_tools_came_does_not_matter(subject: &Subject) -> Verdict {
    clause("the_order_in_which_tools_came_does_not_matter", || {
        let turned = subject.index();
        for (group, tools) in subject.shelf.0.iter().rev() {
            turned.replace_group(group, tools.iter().rev().cloned().collect());
        }
        alike(
            "an answer",
            &subject.answers(&*subject.filled()),
            &subject.answers(&*turned),
        )
    })
}

fn each_answer(
    subject: &Subject,
    check: impl Fn(&str, &toolshelf_core::search::Found) -> Result<(), String>,
) -> Result<(), String> {
    let index = subject.filled();
    for text in &subject.queries {
        check(text, &search(&*index, text)?)?;
    }
    Ok(())
}

/// A hit is one of the tools that were handed over, and stands there once. A name that is
/// missing stands in the query.
///
/// # Errors
///
/// When the clause does not hold.
pub fn a_hit_stands_once(subject: &Subject) -> Verdict {
    clause("a_hit_stands_once", || {
        each_answer(subject, |text, found| {
            let known = found.hits.iter().all(|hit| subject.shelf.holds(hit));
            let unique: BTreeSet<_> = found.hits.iter().map(|hit| &hit.key).collect();
            let asked = found.missing.iter().all(|name| text.contains(name));
            let holds = known && unique.len() == found.hits.len() && asked;
            require(holds, || format!("{text:?} is answered {}", short(found)))
        })
    })
}

/// A score is a number, and none is larger than the one before it.
///
/// # Errors
///
/// When the clause does not hold.
pub fn scores_are_numbers_that_never_rise(subject: &Subject) -> Verdict {
    clause("scores_are_numbers_that_never_rise", || {
        each_answer(subject, |text, found| {
            let scores: Vec<f64> = found.hits.iter().map(|hit| hit.score).collect();
            let falls = scores.is_sorted_by(|a, b| a >= b) && scores.iter().all(|s| s.is_finite());
            require(falls, || format!("the scores of {text:?} are {scores:?}"))
        })
    })
}

/// Hits of the same score stand in the order of their keys, so that the order of an answer does
/// not hang on how tools are kept.
///
/// # Errors
///
/// When the clause does not hold.
pub fn hits_of_one_score_go_by_key(subject: &Subject) -> Verdict {
    clause("hits_of_one_score_go_by_key", || {
        let twins = &[("twin_tool", "Mows."), ("twinTool", "Mows.")];
        let shelf = Shelf::default().group("two", twins).group("one", twins);
        let in_order = |index: &dyn SearchIndex, text: &str| {
            let hits = search(index, text)?.hits;
            let sorted = hits.is_sorted_by(|a, b| a.score != b.score || a.key <= b.key);
            require(sorted, || {
                format!(
                    "the hits of {text:?} with one score are not in the order of their keys: {}",
                    short(&hits)
                )
            })
        };
        // Handed over in another order than that of the keys.
        let index = subject.index();
        for (group, tools) in shelf.0.iter().rev() {
            index.replace_group(group, tools.clone());
        }
        for text in ["twin tool", "twin_tool", "mows"] {
            in_order(&*index, text)?;
        }
        let index = subject.filled();
        subject
            .queries
            .iter()
            .try_for_each(|text| in_order(&*index, text))
    })
}

/// A smaller limit cuts the answer at its end and changes nothing else.
///
/// # Errors
///
/// When the clause does not hold.
pub fn a_smaller_limit_cuts_the_answer(subject: &Subject) -> Verdict {
    clause("a_smaller_limit_cuts_the_answer", || {
        let index = subject.filled();
        for text in &subject.queries {
            // What is selected by name may be more.
            if text.starts_with("select:") {
                continue;
            }
            let whole = search(&*index, text)?;
            for limit in 1..=whole.hits.len() + 1 {
                let less = SearchQuery {
                    limit,
                    ..query(text)
                };
                let less = index.search(&less).map_err(|error| error.to_string())?;
                let cut = &whole.hits[..limit.min(whole.hits.len())];
                let what = format!("what {text:?} finds with the limit {limit}");
                same(&what, &cut.to_vec(), &less.hits)?;
            }
        }
        Ok(())
    })
}

/// Searches that run at the same time come to the same answers, and go on while groups are
/// replaced.
///
/// # Errors
///
/// When the clause does not hold.
pub fn searches_side_by_side_agree(subject: &Subject) -> Verdict {
    clause("searches_side_by_side_agree", || {
        let index = subject.filled();
        let alone = subject.answers(&*index);
        let index: &dyn SearchIndex = &*index;
        let verdicts: Vec<Result<(), String>> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|_| scope.spawn(|| alike("an answer", &alone, &subject.answers(index))))
                .collect();
            threads.into_iter().map(ended).collect()
        });
        verdicts.into_iter().collect::<Result<(), String>>()?;

        let weather = &servers().0[&crate::world::id("weather")];
        let verdicts: Vec<Result<(), String>> = std::thread::scope(|scope| {
            let search = || {
                for _ in 0..50 {
                    is_first(index, "find_symbol", "lsp/find_symbol")?;
                }
                Ok(())
            };
            let threads: Vec<_> = (0..3).map(|_| scope.spawn(search)).collect();
            for round in 0..50 {
                let there = if round % 2 == 0 { &[][..] } else { weather };
                index.replace_group(&crate::world::id("weather"), there.to_vec());
            }
            threads.into_iter().map(ended).collect()
        });
        verdicts.into_iter().collect::<Result<(), String>>()?;
        alike("an answer afterwards", &alone, &subject.answers(index))
    })
}

/// How a thread ended.
fn ended(thread: std::thread::ScopedJoinHandle<'_, Result<(), String>>) -> Result<(), String> {
    let ended = thread.join();
    ended.unwrap_or_else(|panic| Err(format!("it panicked: {}", crate::clause::said(&*panic))))
}

/// No good match is an answer without hits: not the least bad tools, and no error.
///
/// # Errors
///
/// When the clause does not hold.
pub fn no_match_is_an_answer(subject: &Subject) -> Verdict {
    clause("no_match_is_an_answer", || {
        let index = subject.servers();
        for text in ["bake chocolate cake", "qwertzuiop", "violin/tune_strings"] {
            let found = search(&*index, text)?;
            require(found.hits.is_empty() && found.missing.is_empty(), || {
                format!("{text:?} finds {:?}", keys(&found))
            })?;
        }
        Ok(())
    })
}
