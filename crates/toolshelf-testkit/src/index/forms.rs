//! Forms that a query may have: `select:`, `+word`, `/pattern/`.

use std::collections::BTreeSet;

use toolshelf_core::search::{Match, QueryForms, SearchIndex, SearchQuery};

use super::Subject;
use super::shelf::{Shelf, indexed, keys, query, refuses, search};
use crate::clause::{Verdict, clause, require, same, short};
use crate::world::id;

/// Whether names are selected.
pub(super) fn selects(index: &dyn SearchIndex) -> bool {
    let found = search(index, "select:find_symbol,no_such_tool").unwrap_or_default();
    !found.missing.is_empty() || keys(&found) == ["lsp/find_symbol"]
}

/// Whether a plus before a word leaves tools out.
pub(super) fn requires(index: &dyn SearchIndex) -> bool {
    let hits = |text| keys(&search(index, text).unwrap_or_default());
    let (with, without) = (hits("+zephyr posts"), hits("zephyr posts"));
    with.len() < without.len() && with == ["chat/publish"]
}

/// Whether a pattern is read as one.
pub(super) fn patterns(index: &dyn SearchIndex) -> bool {
    let found = search(index, "/^f.nd_s[xy]m/").unwrap_or_default();
    keys(&found) == ["lsp/find_symbol"]
}

/// The forms that it names are those that it reads, so that a model is taught what is true.
///
/// # Errors
///
/// When the clause does not hold.
pub fn the_forms_that_it_names_are_those_that_it_reads(subject: &Subject) -> Verdict {
    clause("the_forms_that_it_names_are_those_that_it_reads", || {
        let index = subject.servers();
        let named = index.forms();
        let read = QueryForms {
            requires: requires(&*index),
            selects: selects(&*index),
        };
        require(named == read, || {
            format!("it names {named:?}, and reads {read:?}")
        })
    })
}

/// Selected names are hits by name, each that nobody has is missing; a name of two groups
/// selects both.
///
/// # Errors
///
/// When the clause does not hold.
pub fn selected_names_are_found_and_the_others_missing(subject: &Subject) -> Verdict {
    clause("selected_names_are_found_and_the_others_missing", || {
        let index = subject.servers();
        let text = "select:find_symbol,no_such_tool, mail/archive ,create_issue,nor_this";
        let found = search(&*index, text)?;
        let hits: BTreeSet<String> = keys(&found).into_iter().collect();
        let wanted = [
            "github/create_issue",
            "gitlab/create_issue",
            "lsp/find_symbol",
            "mail/archive",
        ];
        same("what is selected", &wanted.map(str::to_owned).into(), &hits)?;
        let missing = vec!["no_such_tool".to_owned(), "nor_this".to_owned()];
        same("what is missing", &missing, &found.missing)?;
        let by_name = found.hits.iter().all(|hit| hit.why == Match::Name);
        require(by_name, || {
            format!("not all are hits by name: {}", short(&found.hits))
        })
    })
}

/// A limit does not cut what is selected: a tool that is left out would look missing.
///
/// # Errors
///
/// When the clause does not hold.
pub fn more_may_be_selected_than_the_limit(subject: &Subject) -> Verdict {
    clause("more_may_be_selected_than_the_limit", || {
        let one = SearchQuery {
            limit: 1,
            ..query("select:find_symbol,archive,publish")
        };
        let found = subject.servers().search(&one);
        let found = found.map_err(|error| error.to_string())?;
        require(found.hits.len() == 3 && found.missing.is_empty(), || {
            format!(
                "three tools are selected, and the answer is {}",
                short(&found)
            )
        })
    })
}

/// What is selected is in the scope of the query; what is not there is missing.
///
/// # Errors
///
/// When the clause does not hold.
pub fn a_selection_keeps_to_its_scope(subject: &Subject) -> Verdict {
    clause("a_selection_keeps_to_its_scope", || {
        let scoped = SearchQuery {
            groups: vec![id("gitlab")],
            ..query("select:create_issue,find_symbol")
        };
        let found = subject.servers().search(&scoped);
        let found = found.map_err(|error| error.to_string())?;
        let holds = keys(&found) == ["gitlab/create_issue"] && found.missing == ["find_symbol"];
        require(holds, || {
            format!("in gitlab alone, the answer is {}", short(&found))
        })
    })
}

/// Two tools that fit the words, of which one has the word that is required.
fn zephyrs() -> Shelf {
    Shelf::default()
        .group("one", &[("post_letter", "Posts a letter by zephyr.")])
        .group("two", &[("post_letters", "Posts a letter.")])
}

/// A required word leaves out all tools that do not have it.
///
/// # Errors
///
/// When the clause does not hold.
pub fn a_required_word_filters(subject: &Subject) -> Verdict {
    clause("a_required_word_filters", || {
        let index = subject.of(&zephyrs());
        for text in ["+zephyr posts letter", "posts letter +zephyr"] {
            let found = keys(&search(&*index, text)?);
            let without = found.iter().all(|key| key != "two/post_letters");
            require(
                without && found.contains(&"one/post_letter".to_owned()),
                || format!("{text:?} finds {found:?}"),
            )?;
        }
        Ok(())
    })
}

/// A required word that no tool has finds nothing.
///
/// # Errors
///
/// When the clause does not hold.
pub fn a_required_word_that_nobody_has_finds_nothing(subject: &Subject) -> Verdict {
    clause("a_required_word_that_nobody_has_finds_nothing", || {
        let index = subject.of(&zephyrs());
        for text in ["+xylophone posts letter", "+zephyr +xylophone posts"] {
            let found = keys(&search(&*index, text)?);
            require(found.is_empty(), || format!("{text:?} finds {found:?}"))?;
        }
        Ok(())
    })
}

/// A pattern finds the tools whose names it fits, and no tool that it fits nowhere.
///
/// # Errors
///
/// When the clause does not hold.
pub fn a_pattern_finds_what_it_fits(subject: &Subject) -> Verdict {
    clause("a_pattern_finds_what_it_fits", || {
        let index = subject.servers();
        let found: BTreeSet<String> = keys(&search(&*index, "/^(find|send)_/")?)
            .into_iter()
            .collect();
        let wanted = [
            "lsp/find_references",
            "lsp/find_symbol",
            "mail/send_message",
        ];
        same(
            "what the pattern finds",
            &wanted.map(str::to_owned).into(),
            &found,
        )?;
        let nothing = search(&*index, "/no{7}thing/")?;
        require(nothing.hits.is_empty(), || {
            format!("a pattern that fits nothing finds {:?}", keys(&nothing))
        })
    })
}

/// A pattern that cannot be read is refused, and is not taken for words.
///
/// # Errors
///
/// When the clause does not hold.
pub fn a_pattern_that_cannot_be_read_is_refused(subject: &Subject) -> Verdict {
    clause("a_pattern_that_cannot_be_read_is_refused", || {
        let index = subject.servers();
        for text in ["/find_(symbol/", "/[a-/"] {
            refuses(&*index, &query(text))?;
        }
        Ok(())
    })
}

/// A pattern that makes some engines try for ever is answered or refused.
///
/// # Errors
///
/// When the clause does not hold.
pub fn a_pattern_that_tries_for_ever_ends(subject: &Subject) -> Verdict {
    clause("a_pattern_that_tries_for_ever_ends", || {
        let index = subject.index();
        let long = indexed("a", "b", &"a".repeat(4_000));
        index.replace_group(&id("a"), vec![long]);
        match index.search(&query("/(a+)+(a+)+(a|a)*z$/")) {
            Ok(found) => require(found.hits.is_empty(), || "it fits nothing".to_owned()),
            Err(error) => super::shelf::is_refusal("/(a+)+(a+)+(a|a)*z$/", &error),
        }
    })
}
