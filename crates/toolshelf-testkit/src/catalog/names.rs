//! Names of tools, and what remains of a group.

use super::{Group, Subject, places, shelf};
use crate::clause::{Verdict, clause, require, same, short};

/// Each name is there once, exactly as a call takes it, and those of a group are in their
/// order.
///
/// # Errors
///
/// When the clause does not hold.
pub fn names_can_be_copied(subject: &Subject) -> Verdict {
    clause("names_can_be_copied", || {
        let groups = shelf();
        let text = subject.whole(&groups);
        for group in &groups {
            let mut last = 0;
            for name in group.names.iter().flatten() {
                let at: Vec<usize> = places(&text, name.as_str()).collect();
                require(at.len() == 1, || {
                    format!("`{name}` is there {} times: {}", at.len(), short(&text))
                })?;
                require(at[0] >= last, || {
                    format!("`{name}` is not in its place: {}", short(&text))
                })?;
                last = at[0];
            }
        }
        Ok(())
    })
}

/// A group whose tools are not known yet does not read as one that has none.
///
/// # Errors
///
/// When the clause does not hold.
pub fn what_is_not_known_does_not_look_like_nothing(subject: &Subject) -> Verdict {
    clause("what_is_not_known_does_not_look_like_nothing", || {
        let unknown = subject.whole(&[Group::new("group").title("Title")]);
        let none = subject.whole(&[Group::new("group").title("Title").names(&[])]);
        require(unknown != none, || format!("both are {unknown:?}"))
    })
}

/// A group of which nothing remains is left out, and where nothing at all remains there is no
/// text.
///
/// # Errors
///
/// When the clause does not hold.
pub fn what_is_loaded_is_left_out(subject: &Subject) -> Verdict {
    clause("what_is_loaded_is_left_out", || {
        let gone = || Group::new("gone").title("Gone").names(&[]).partly_loaded();
        let mut groups = shelf();
        let without = subject.whole(&groups);
        groups.push(gone());
        same("the text", &without, &subject.whole(&groups))?;
        same("the text", &String::new(), &subject.whole(&[gone()]))?;
        // One that never had a tool was not loaded.
        let empty = subject.whole(&[Group::new("empty").names(&[])]);
        require(!empty.is_empty(), || {
            "a group without tools is left out".to_owned()
        })
    })
}
