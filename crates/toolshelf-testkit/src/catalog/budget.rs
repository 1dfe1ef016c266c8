//! How much a text may have, and what it says of the rest.

use std::collections::BTreeSet;

use toolshelf_core::catalog::CatalogTier;

use super::text::budget;
use super::{Subject, all_names, has, shelf};
use crate::clause::{Verdict, clause, require, short};
use crate::generators::catalog_groups;
use crate::property::for_all;

/// A text has no more bytes than its budget, but for the shortest form.
///
/// # Errors
///
/// When the clause does not hold.
pub fn a_budget_is_kept(subject: &Subject) -> Verdict {
    clause("a_budget_is_kept", || {
        for_all(&(catalog_groups(8), budget()), |(groups, budget)| {
            let text = subject.render(groups, *budget).text;
            let shortest = subject.render(groups, 0).text;
            require(text.len() <= *budget || text == shortest, || {
                format!(
                    "{} bytes where there may be {budget}: {}",
                    text.len(),
                    short(&text)
                )
            })
        })?;
        let whole = subject.whole(&shelf()).len();
        let shortest = subject.render(&shelf(), 0).text.len();
        require(shortest < whole, || "no budget makes it shorter".to_owned())
    })
}

/// A larger budget leaves out no more than a smaller one.
///
/// # Errors
///
/// When the clause does not hold.
pub fn a_smaller_budget_never_shows_more(subject: &Subject) -> Verdict {
    clause("a_smaller_budget_never_shows_more", || {
        let inputs = (catalog_groups(8), budget(), budget());
        for_all(&inputs, |(groups, one, other)| {
            let small = subject.render(groups, *one.min(other)).tier;
            let large = subject.render(groups, *one.max(other)).tier;
            require(large <= small, || {
                format!(
                    "{small:?} under the smaller of {one} and {other}, {large:?} under the larger"
                )
            })
        })
    })
}

/// The tier is what was left out: nothing, names of tools, all else, or groups.
///
/// # Errors
///
/// When the clause does not hold.
pub fn the_tier_says_what_is_left_out(subject: &Subject) -> Verdict {
    clause("the_tier_says_what_is_left_out", || {
        let groups = shelf();
        let whole = subject.whole(&groups);
        let all = all_names(&groups).count();
        let shows_names = all_names(&groups).any(|name| has(&whole, name));
        for budget in 0..=whole.len() {
            let catalog = subject.render(&groups, budget);
            let text = &catalog.text;
            let ids = groups
                .iter()
                .filter(|group| has(text, group.id.as_str()))
                .count();
            let names = all_names(&groups).filter(|name| has(text, name)).count();
            let each = ids == groups.len();
            let about = |group: &super::Group| {
                let title = group.title.as_deref();
                title.is_some_and(|title| has(text, title))
            };
            let right = match catalog.tier {
                CatalogTier::Full => *text == whole,
                CatalogTier::SomeNames => each && shows_names && (1..all).contains(&names),
                CatalogTier::NoNames => each && names == 0,
                CatalogTier::IdsOnly => each && names == 0 && !groups.iter().any(about),
                CatalogTier::SomeGroups => !each,
                _ => true,
            };
            require(right, || {
                format!(
                    "{:?} under {budget} bytes, with {ids} of {} groups and {names} of {all} names: {}",
                    catalog.tier,
                    groups.len(),
                    short(text)
                )
            })?;
        }
        Ok(())
    })
}

/// Where something was left out, the text has words for it that are of no group: how to see
/// the rest.
///
/// # Errors
///
/// When the clause does not hold.
pub fn the_text_says_how_to_see_what_is_left_out(subject: &Subject) -> Verdict {
    clause("the_text_says_how_to_see_what_is_left_out", || {
        const FEWEST_WORDS: usize = 3;
        let groups = shelf();
        let whole = subject.whole(&groups);
        let known = words(&whole);
        for budget in 0..whole.len() {
            let catalog = subject.render(&groups, budget);
            if catalog.tier == CatalogTier::Full {
                continue;
            }
            // A word of a group that was cut is the beginning of one.
            let cut = |word: &&str| known.iter().any(|known| known.starts_with(word));
            let own = words(&catalog.text).into_iter().filter(|word| !cut(word));
            require(own.count() >= FEWEST_WORDS, || {
                format!(
                    "{:?} under {budget} bytes, and no word of it: {}",
                    catalog.tier,
                    short(&catalog.text)
                )
            })?;
        }
        Ok(())
    })
}

fn words(text: &str) -> BTreeSet<&str> {
    let words = text.split(|c: char| !c.is_alphabetic());
    words.filter(|word| word.len() > 2).collect()
}
