//! What the text of any format is like.

use proptest::prelude::*;
use toolshelf_core::catalog::{CatalogText, CatalogTier};

use super::{Group, Subject, places, shelf, view};
use crate::clause::{Verdict, clause, require, same, short};
use crate::generators::catalog_groups;
use crate::property::for_all;

/// Budgets from none to more than is needed.
pub(super) fn budget() -> impl Strategy<Value = usize> {
    prop_oneof![0_usize..400, 0_usize..6_000, Just(usize::MAX)]
}

/// Its name is one line and ends with `/` and a version, and is the same each time.
///
/// # Errors
///
/// When the clause does not hold.
pub fn its_name_ends_with_a_version(subject: &Subject) -> Verdict {
    clause("its_name_ends_with_a_version", || {
        let (one, two) = (subject.format(), subject.format());
        same("its name", &one.name(), &two.name())?;
        crate::clause::versioned(one.name())
    })
}

/// The same view gives the same text and tier, whatever was rendered before and by which
/// instance.
///
/// # Errors
///
/// When the clause does not hold.
pub fn the_same_view_gives_the_same_bytes(subject: &Subject) -> Verdict {
    clause("the_same_view_gives_the_same_bytes", || {
        let format = subject.format();
        for_all(&(catalog_groups(5), budget()), |(groups, budget)| {
            let mut view = view(groups);
            view.budget = Some(*budget);
            let once = format.render(&view);
            same("the text", &once, &format.render(&view))?;
            same("the text", &once, &subject.format().render(&view))
        })
    })
}

/// Groups may come in any order: the format sorts them.
///
/// # Errors
///
/// When the clause does not hold.
pub fn the_order_of_groups_does_not_matter(subject: &Subject) -> Verdict {
    clause("the_order_of_groups_does_not_matter", || {
        let orders = catalog_groups(8)
            .prop_flat_map(|groups| (Just(groups.clone()), Just(groups).prop_shuffle()));
        for_all(&(orders, budget()), |((one, other), budget)| {
            let (one, other) = (subject.render(one, *budget), subject.render(other, *budget));
            same("the text", &one, &other)
        })
    })
}

/// Whatever groups, header and budget there are, there is a text. Thousands of groups, names
/// of the longest kind and text of any length are among them.
///
/// # Errors
///
/// When the clause does not hold.
pub fn any_view_is_taken(subject: &Subject) -> Verdict {
    clause("any_view_is_taken", || {
        let format = subject.format();
        let header = proptest::option::of(crate::generators::server_text());
        let inputs = (catalog_groups(5), header, proptest::option::of(budget()));
        for_all(&inputs, |(groups, header, budget)| {
            let mut view = view(groups);
            view.header = header.as_deref();
            view.budget = *budget;
            // A host that hands over a group twice makes a mistake, and still has a text.
            let twice = view.groups.first().cloned();
            view.groups.extend(twice);
            let _ = format.render(&view);
            Ok(())
        })?;
        let long = "n".repeat(128);
        let many: Vec<Group> = (0..2_000)
            .map(|at| Group::new(&format!("group-{at:04}")).names(&[&long, "short"]))
            .collect();
        for budget in [0, 1, 10_000, usize::MAX] {
            let _ = subject.render(&many, budget);
        }
        Ok(())
    })
}

/// Without groups there is no text, whatever the header and the budget.
///
/// # Errors
///
/// When the clause does not hold.
pub fn no_groups_no_text(subject: &Subject) -> Verdict {
    clause("no_groups_no_text", || {
        let nothing = CatalogText {
            text: String::new(),
            tier: CatalogTier::Full,
        };
        for header in [None, Some(""), Some("A header")] {
            for budget in [None, Some(0), Some(usize::MAX)] {
                let mut view = view(&[]);
                view.header = header;
                view.budget = budget;
                same("no text", &nothing, &subject.format().render(&view))?;
            }
        }
        Ok(())
    })
}

/// The text ends without a line end, since something of somebody else's follows it.
///
/// # Errors
///
/// When the clause does not hold.
pub fn the_text_ends_without_a_line_end(subject: &Subject) -> Verdict {
    clause("the_text_ends_without_a_line_end", || {
        for_all(&(catalog_groups(4), budget()), |(groups, budget)| {
            let text = subject.render(groups, *budget).text;
            require(!text.ends_with(['\n', '\r']), || {
                format!("it ends with one: {}", short(&text))
            })
        })
    })
}

/// A header of the view stands first, then an empty line, then what there is without one. An
/// empty header is none.
///
/// # Errors
///
/// When the clause does not hold.
pub fn a_header_stands_before_the_rest(subject: &Subject) -> Verdict {
    clause("a_header_stands_before_the_rest", || {
        let groups = shelf();
        let without = subject.whole(&groups);
        let mut view = view(&groups);
        view.budget = Some(usize::MAX);
        for header in ["Mine", "# Two\nlines"] {
            view.header = Some(header);
            let with = subject.format().render(&view).text;
            same(
                "what stands under a header",
                &format!("{header}\n\n{without}"),
                &with,
            )?;
        }
        Ok(())
    })
}

/// Each group is there by its id, exactly as a load takes it, also one of which nothing is
/// known; and none is there twice.
///
/// # Errors
///
/// When the clause does not hold.
pub fn each_group_stands_there_once(subject: &Subject) -> Verdict {
    clause("each_group_stands_there_once", || {
        let groups = shelf();
        let text = subject.whole(&groups);
        for group in &groups {
            let id = group.id.as_str();
            // `group/tool` names a tool and not the group.
            let alone = places(&text, id).filter(|at| !text[at + id.len()..].starts_with('/'));
            let alone = alone.count();
            require(alone <= 1, || {
                format!("`{id}` is there {alone} times: {}", short(&text))
            })?;
            let named = places(&text, id).next().is_some();
            require(named, || format!("`{id}` is not there: {}", short(&text)))?;
        }
        Ok(())
    })
}
