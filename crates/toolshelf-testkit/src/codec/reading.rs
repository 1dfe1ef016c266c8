//! What is read of a result, and of what is none.

use std::borrow::Cow;

use proptest::collection::vec;
use toolshelf_core::ErrorKind;
use toolshelf_core::codec::{
    Block, IssueKind, MAX_DISCOVERED_NAMES, MAX_DISCOVERY_ISSUES, writable,
};
use toolshelf_core::text::one_line;

use super::content::{NAMES, changed, odd_content, replaced};
use super::{Subject, blocks, texts};
use crate::clause::{Verdict, clause, require, same, short};
use crate::generators::tool_name;
use crate::property::for_all;

/// Each name once, in order.
pub(super) fn once<'a>(names: &[&'a str]) -> Vec<&'a str> {
    let mut once: Vec<&str> = Vec::new();
    for name in names {
        if !once.contains(name) {
            once.push(name);
        }
    }
    once
}

/// Its name is one line and ends with `/` and a version, and is the same each time.
///
/// # Errors
///
/// When the clause does not hold.
pub fn its_name_ends_with_a_version(subject: &Subject) -> Verdict {
    clause("its_name_ends_with_a_version", || {
        let (one, two) = (subject.codec(), subject.codec());
        same("its name", &one.name(), &two.name())?;
        crate::clause::versioned(one.name())
    })
}

/// Of a result are read exactly the names that were written into it, each once, in order, and
/// there is no issue: also of one without a name, and of names with dots, blanks, quotes and
/// letters of any script.
///
/// # Errors
///
/// When the clause does not hold.
pub fn what_was_written_is_read(subject: &Subject) -> Verdict {
    clause("what_was_written_is_read", || {
        let none = subject.result(&[])?;
        same(
            "the names",
            &Vec::new(),
            &texts(&subject.read(&blocks(&none))),
        )?;
        subject.reads(&blocks(&subject.result(&NAMES)?), &NAMES)?;
        for_all(&vec(tool_name(), 1..80), |names| {
            let names: Vec<&str> = names.iter().map(|name| name.as_str()).collect();
            let content = subject.result(&names)?;
            subject.reads(&blocks(&content), &once(&names))
        })
    })
}

/// Any content is read: results that were cut off or mixed up, text of servers, bytes.
///
/// # Errors
///
/// When the clause does not hold.
pub fn reading_is_total(subject: &Subject) -> Verdict {
    clause("reading_is_total", || {
        let _ = subject.read(&[]);
        for_all(&odd_content(subject)?, |content| {
            let read = subject.read(content);
            for issue in &read.issues {
                let there = issue.block < content.len().max(1);
                require(there, || format!("there is no block as in {issue:?}"))?;
                let line = issue.detail.lines().count() <= 1 && issue.detail.len() <= 200;
                require(line, || format!("{issue:?} is not one short line"))?;
            }
            Ok(())
        })
    })
}

/// The same content gives the same names and issues, whatever was read before and by which
/// instance.
///
/// # Errors
///
/// When the clause does not hold.
pub fn the_same_content_has_the_same_names(subject: &Subject) -> Verdict {
    clause("the_same_content_has_the_same_names", || {
        let codec = subject.codec();
        for_all(&odd_content(subject)?, |content| {
            let once = codec.read(content);
            same("what is read", &once, &codec.read(content))?;
            same("what is read", &once, &subject.read(content))
        })
    })
}

/// Whatever was read is a list of names that may be written: legal ones, each once.
///
/// # Errors
///
/// When the clause does not hold.
pub fn what_was_read_can_be_written(subject: &Subject) -> Verdict {
    clause("what_was_read_can_be_written", || {
        for_all(&odd_content(subject)?, |content| {
            let read = subject.read(content);
            let names: Vec<&str> = read.names.iter().map(|name| &**name).collect();
            let may = writable(&names).map_err(|error| error.to_string())?;
            same("the names", &names, &may)
        })
    })
}

/// A name in a result that no tool can have is an issue, and the names around it are read.
///
/// # Errors
///
/// When the clause does not hold.
pub fn a_name_that_no_tool_can_have_is_told_and_left_out(subject: &Subject) -> Verdict {
    clause("a_name_that_no_tool_can_have_is_told_and_left_out", || {
        let [one, spoilt, other] = NAMES;
        let content = subject.result(&NAMES)?;
        let expected = subject.expected(&[one, other]);
        for name in ["", "a`b", "a\u{202e}b", "a\u{200b}b", &"n".repeat(300)] {
            let read = subject.read(&replaced(&content, spoilt, name));
            same("the other names", &expected, &texts(&read))?;
            let told = read
                .issues
                .iter()
                .any(|issue| issue.kind == IssueKind::InvalidName);
            require(told, || {
                format!("{} is no issue: {:?}", short(&name), read.issues)
            })?;
        }
        Ok(())
    })
}

/// A name that stands in a result twice is read once, where it stands first.
///
/// # Errors
///
/// When the clause does not hold.
pub fn a_name_that_stands_twice_is_one(subject: &Subject) -> Verdict {
    clause("a_name_that_stands_twice_is_one", || {
        let [one, two, three] = NAMES;
        let content = subject.result(&NAMES)?;
        let read = subject.read(&replaced(&content, three, one));
        same("the names", &subject.expected(&[one, two]), &texts(&read))
    })
}

/// There are never more names than a result may discover, nor more issues than are kept; and
/// names that were left out are told.
///
/// # Errors
///
/// When the clause does not hold.
pub fn names_and_issues_are_bounded(subject: &Subject) -> Verdict {
    clause("names_and_issues_are_bounded", || {
        let names: Vec<String> = (0..12_000).map(|at| format!("tool_{at:05}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let (first, second) = names.split_at(6_000);
        let mut content = subject.result(first)?;
        content.extend(subject.result(second)?);
        let bounded = |content: &[Block<'_>]| -> Result<_, String> {
            let read = subject.read(content);
            let (names, issues) = (read.names.len(), read.issues.len());
            let bounded = names <= MAX_DISCOVERED_NAMES && issues <= MAX_DISCOVERY_ISSUES;
            require(bounded, || {
                format!("it reads {names} names, with {issues} issues")
            })?;
            Ok(read)
        };
        let read = bounded(&blocks(&content))?;
        let told = read.names.len() < MAX_DISCOVERED_NAMES || !read.issues.is_empty();
        require(told, || {
            "names are left out, and no issue says so".to_owned()
        })?;
        // As many names that no tool can have.
        let read = bounded(&replaced(&content, "tool_", "to`ol_"))?;
        require(read.names.is_empty() && !read.issues.is_empty(), || {
            format!("it reads {} names that no tool can have", read.names.len())
        })
    })
}

/// Blocks of other kinds and texts of another kind, before and after a result, change nothing
/// of what is read.
///
/// # Errors
///
/// When the clause does not hold.
pub fn what_stands_beside_a_result_changes_nothing(subject: &Subject) -> Verdict {
    clause("what_stands_beside_a_result_changes_nothing", || {
        let result = subject.result(&NAMES)?;
        let result = blocks(&result);
        let text = |text: &'static str| Block::Text(Cow::Borrowed(text));
        let besides = [
            vec![Block::Other],
            vec![text("")],
            vec![text("Nothing else is here.\n"), Block::Other, text("\n")],
            vec![text(
                "Two servers are starting: `mail`, `chat`.\nAsk again later.",
            )],
        ];
        for beside in &besides {
            subject.reads(&[beside.as_slice(), &result].concat(), &NAMES)?;
            subject.reads(&[&result, beside.as_slice()].concat(), &NAMES)?;
        }
        Ok(())
    })
}

/// A result whose lines end as another system ends them, or that a line end follows, is the
/// same result.
///
/// # Errors
///
/// When the clause does not hold.
pub fn line_ends_do_not_matter(subject: &Subject) -> Verdict {
    clause("line_ends_do_not_matter", || {
        let result = subject.result(&NAMES)?;
        let result = blocks(&result);
        // A name in a block of its own has no lines.
        let lines = |change: fn(&str) -> String| -> Vec<Block<'static>> {
            let of = |block: &Block<'_>| match block {
                Block::Text(_) => changed(block, change),
                other => changed(other, str::to_owned),
            };
            result.iter().map(of).collect()
        };
        subject.reads(&lines(|text| text.replace('\n', "\r\n")), &NAMES)?;
        subject.reads(&lines(|text| format!("{text}\n")), &NAMES)?;
        subject.reads(
            &lines(|text| format!("{}\r\n\r\n", text.replace('\n', "\r\n"))),
            &NAMES,
        )
    })
}

/// Text that quotes a result within a line discovers nothing, as little as any other text:
/// announcements and descriptions repeat what servers say.
///
/// # Errors
///
/// When the clause does not hold.
pub fn a_quoted_result_is_none(subject: &Subject) -> Verdict {
    clause("a_quoted_result_is_none", || {
        let result = subject.result(&NAMES)?;
        let mut said = String::new();
        for block in blocks(&result) {
            if let Block::Text(text) = block {
                said.push_str(&text);
            }
        }
        let line = one_line(&said, 4_096);
        for text in [
            format!("- `mail`: {line}"),
            format!("These tool groups are available now:\n- `mail` — {line}\n- `chat`"),
            format!("> {line}"),
            "No tool was found.".to_owned(),
            "[1, 2, \"alpha_tool\"]".to_owned(),
        ] {
            let read = subject.read(&[Block::Text(Cow::Borrowed(&text))]);
            require(read.names.is_empty(), || {
                format!("{text:?} discovers {:?}", read.names)
            })?;
        }
        Ok(())
    })
}

/// A codec that only reads says so, by [`ErrorKind::Mismatch`] and its name.
///
/// # Errors
///
/// When the clause does not hold.
pub fn it_writes_or_says_that_it_does_not(subject: &Subject) -> Verdict {
    clause("it_writes_or_says_that_it_does_not", || {
        let codec = subject.codec();
        let Err(error) = codec.write(&NAMES) else {
            return Ok(());
        };
        same("the kind of the error", &ErrorKind::Mismatch, &error.kind())?;
        let named = error.to_string().contains(codec.name());
        require(named, || {
            format!("`{}` is not named: {error}", codec.name())
        })
    })
}
