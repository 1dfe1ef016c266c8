//! What is written.

use proptest::collection::vec;
use toolshelf_core::ErrorKind;
use toolshelf_core::codec::{MAX_DISCOVERED_NAME_BYTES, MAX_DISCOVERED_NAMES};

use super::content::{NAMES, odd_content, surroundings};
use super::reading::once;
use super::{Subject, blocks};
use crate::clause::{Verdict, clause, require, same, short};
use crate::generators::discovered_name;
use crate::property::for_all;

/// Names on the wire and names within their groups are written and read back, each once.
///
/// # Errors
///
/// When the clause does not hold.
pub fn any_name_that_may_be_found_is_written(subject: &Subject) -> Verdict {
    clause("any_name_that_may_be_found_is_written", || {
        for_all(&vec(discovered_name(), 0..20), |names| {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let content = subject.codec().write(&names);
            let content = content.map_err(|error| error.to_string())?;
            subject.reads(&blocks(&content), &once(&names))
        })
    })
}

/// Names of as many bytes as are allowed, and as many names, are written and read back.
///
/// # Errors
///
/// When the clause does not hold.
pub fn the_longest_names_and_lists_are_written(subject: &Subject) -> Verdict {
    clause("the_longest_names_and_lists_are_written", || {
        let long = "n".repeat(MAX_DISCOVERED_NAME_BYTES);
        let many: Vec<String> = (0..MAX_DISCOVERED_NAMES)
            .map(|at| format!("tool_{at}"))
            .collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        for names in [&[long.as_str()], &many[..65], &many] {
            let content = subject.codec().write(names);
            let content = content.map_err(|error| error.to_string())?;
            subject.reads(&blocks(&content), names)?;
        }
        Ok(())
    })
}

/// What reading would not give back is an error, whatever else is to be written:
/// [`ErrorKind::InvalidDefinition`] for a name that no tool can have,
/// [`ErrorKind::TooLarge`] for too many.
///
/// # Errors
///
/// When the clause does not hold.
pub fn what_could_not_be_read_back_is_refused(subject: &Subject) -> Verdict {
    clause("what_could_not_be_read_back_is_refused", || {
        let refused = |names: &[&str], kind| {
            let ended = subject.codec().write(names);
            let is = ended.as_ref().err().map(toolshelf_core::Error::kind);
            require(is == Some(kind), || {
                format!("{} comes to {}", short(&names), short(&ended))
            })
        };
        let long = "n".repeat(MAX_DISCOVERED_NAME_BYTES + 1);
        for name in [
            "",
            " a",
            "a ",
            "a,b",
            "a`b",
            "a\nb",
            "a\r",
            "a\u{2028}b",
            "\0",
            &long,
        ] {
            refused(&[name], ErrorKind::InvalidDefinition)?;
            refused(&["first", name, "last"], ErrorKind::InvalidDefinition)?;
        }
        let many: Vec<String> = (0..=MAX_DISCOVERED_NAMES)
            .map(|at| at.to_string())
            .collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        refused(&many, ErrorKind::TooLarge)
    })
}

/// A name that holds what the codec itself puts before, between or after names is refused
/// ([`ErrorKind::InvalidDefinition`]) or comes back as that one name, and never as others: who
/// names a tool could otherwise have another one discovered.
///
/// # Errors
///
/// When the clause does not hold.
pub fn a_name_is_never_read_as_others(subject: &Subject) -> Verdict {
    clause("a_name_is_never_read_as_others", || {
        let written = subject.codec().write(&NAMES);
        let written = written.map_err(|error| error.to_string())?;
        for piece in surroundings(&written) {
            for name in [
                piece.clone(),
                format!("a{piece}"),
                format!("{piece}b"),
                format!("a{piece}b"),
                format!("a{piece}b{piece}c"),
            ] {
                for names in [&[name.as_str()][..], &["first", &name, "last"]] {
                    match subject.codec().write(names) {
                        Ok(content) => {
                            let read = subject.reads(&blocks(&content), names);
                            read.map_err(|seen| format!("with {}, {seen}", short(&name)))?;
                        }
                        Err(error) => same(
                            &format!("the kind of the error for {}", short(&name)),
                            &ErrorKind::InvalidDefinition,
                            &error.kind(),
                        )?,
                    }
                }
            }
        }
        Ok(())
    })
}

/// A name that is given twice is written once.
///
/// # Errors
///
/// When the clause does not hold.
pub fn a_name_is_written_once(subject: &Subject) -> Verdict {
    clause("a_name_is_written_once", || {
        let [one, two, three] = NAMES;
        let written = |names: &[&str]| {
            let content = subject.codec().write(names);
            content.map_err(|error| error.to_string())
        };
        let expected = written(&NAMES)?;
        same(
            "the result",
            &expected,
            &written(&[one, two, one, three, two])?,
        )
    })
}

/// The same names give the same bytes, whatever was written before and by which instance.
///
/// # Errors
///
/// When the clause does not hold.
pub fn the_same_names_are_the_same_bytes(subject: &Subject) -> Verdict {
    clause("the_same_names_are_the_same_bytes", || {
        let codec = subject.codec();
        let written = |codec: &dyn toolshelf_core::codec::DiscoveryCodec| {
            let content = codec.write(&NAMES).map_err(|error| error.to_string())?;
            serde_json::to_string(&content).map_err(|error| error.to_string())
        };
        let once = written(&*codec)?;
        same("the result", &once, &written(&*codec)?)?;
        same("the result", &once, &written(&*subject.codec())?)
    })
}

/// Whatever was read, of a result or of anything else, is written, and read again as the same
/// names.
///
/// # Errors
///
/// When the clause does not hold.
pub fn what_was_read_is_written_and_read_again(subject: &Subject) -> Verdict {
    clause("what_was_read_is_written_and_read_again", || {
        for_all(&odd_content(subject)?, |content| {
            let read = subject.read(content);
            let names: Vec<&str> = read.names.iter().map(|name| &**name).collect();
            let written = subject.codec().write(&names);
            let written = written.map_err(|error| error.to_string())?;
            let again = subject.read(&blocks(&written));
            same("the names", &read.names, &again.names)?;
            same("the issues", &Vec::new(), &again.issues)
        })
    })
}
