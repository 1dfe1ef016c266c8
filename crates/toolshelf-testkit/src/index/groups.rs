//! Groups that come, change and leave.

use toolshelf_core::search::SearchIndex;

use super::Subject;
use super::shelf::{Shelf, indexed, is_first, keys, search};
use crate::clause::{Verdict, alike, clause, require};
use crate::world::id;

/// An index without tools answers each query, without hits.
///
/// # Errors
///
/// When the clause does not hold.
pub fn an_empty_index_finds_nothing(subject: &Subject) -> Verdict {
    clause("an_empty_index_finds_nothing", || {
        let emptied = subject.filled();
        for group in subject.shelf.0.keys() {
            emptied.replace_group(group, Vec::new());
        }
        for index in [subject.index(), emptied] {
            for text in &subject.queries {
                let found = search(&*index, text)?;
                require(found.hits.is_empty(), || {
                    format!("without a tool, {text:?} finds {:?}", keys(&found))
                })?;
            }
        }
        Ok(())
    })
}

/// A group that was replaced is searched as it is now: what it had is gone, what it has is
/// found, and other groups are as they were.
///
/// # Errors
///
/// When the clause does not hold.
pub fn a_group_is_searched_as_it_is_now(subject: &Subject) -> Verdict {
    clause("a_group_is_searched_as_it_is_now", || {
        let index = subject.servers();
        search(&*index, "get_forecast")?;
        for round in 0..3 {
            let tides = indexed(
                "weather",
                &format!("tides_{round}"),
                "When the sea is high.",
            );
            index.replace_group(&id("weather"), vec![tides]);
            let name = format!("weather/tides_{round}");
            is_first(&*index, &name, &name)?;
            let before = match round {
                0 => "weather/get_forecast".to_owned(),
                _ => format!("weather/tides_{}", round - 1),
            };
            let found = keys(&search(&*index, &before)?);
            require(!found.contains(&before), || {
                format!("`{before}` is gone, and is found: {found:?}")
            })?;
            is_first(&*index, "find_symbol", "lsp/find_symbol")?;
        }
        Ok(())
    })
}

/// That two indexes answer alike.
fn agree(
    subject: &Subject,
    one: &dyn SearchIndex,
    other: &dyn SearchIndex,
    when: &str,
) -> Result<(), String> {
    let what = format!("an answer {when}");
    alike(&what, &subject.answers(one), &subject.answers(other))
}

/// A group that was there and left has no influence on any hit, score or order.
///
/// # Errors
///
/// When the clause does not hold.
pub fn a_group_that_left_leaves_no_trace(subject: &Subject) -> Verdict {
    clause("a_group_that_left_leaves_no_trace", || {
        for left in ["github", "mail", "weather"] {
            let mut without = subject.shelf.clone();
            without.0.remove(&id(left));
            let index = subject.filled();
            search(&*index, "issue")?;
            index.replace_group(&id(left), Vec::new());
            agree(
                subject,
                &*subject.of(&without),
                &*index,
                "where a group has left",
            )?;
        }
        Ok(())
    })
}

/// A tool that is not handed over any more, such as one that was denied, has no influence on
/// any hit, score or order.
///
/// # Errors
///
/// When the clause does not hold.
pub fn a_tool_that_left_leaves_no_trace(subject: &Subject) -> Verdict {
    clause("a_tool_that_left_leaves_no_trace", || {
        let mut fewer = subject.shelf.clone();
        for (group, gone) in [("github", "search_code"), ("mail", "send_message")] {
            if let Some(tools) = fewer.0.get_mut(&id(group)) {
                tools.retain(|tool| tool.key.tool != *gone);
            }
        }
        let index = subject.filled();
        search(&*index, "issue")?;
        fewer.fill(&*index);
        agree(
            subject,
            &*subject.of(&fewer),
            &*index,
            "where tools have left",
        )
    })
}

/// An index that followed changes in any order, with searches in between or without, answers
/// as one that was built of what is there now.
///
/// # Errors
///
/// When the clause does not hold.
pub fn changes_in_any_order_equal_building_anew(subject: &Subject) -> Verdict {
    clause("changes_in_any_order_equal_building_anew", || {
        const STEPS: usize = 60;
        let all = &subject.shelf;
        let groups: Vec<_> = all.0.keys().collect();
        for searches in [true, false] {
            let index = subject.index();
            let mut now = Shelf::default();
            // The same numbers each time: what fails can be run again.
            let mut random: u32 = 7;
            let mut next = |below: usize| {
                random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (random >> 16) as usize % below
            };
            for step in 0..STEPS {
                let group = groups[next(groups.len())];
                let mut tools = all.0[group].clone();
                match next(4) {
                    0 => tools.clear(),
                    1 => tools.truncate(1),
                    2 => tools.reverse(),
                    _ => {}
                }
                index.replace_group(group, tools.clone());
                if tools.is_empty() {
                    now.0.remove(group);
                } else {
                    now.0.insert(group.clone(), tools);
                }
                if searches {
                    search(&*index, "problem report")?;
                }
                if step % 8 == 0 || step + 1 == STEPS {
                    let when = format!("after the change {step}");
                    agree(subject, &*subject.of(&now), &*index, &when)?;
                }
            }
        }
        Ok(())
    })
}
