//! A clause of a contract, and what it means that it is broken.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::property::with_the_same_cases;

/// How a clause came out.
pub type Verdict = Result<(), Broken>;

/// A clause that does not hold: which, and how it shows.
///
/// `Debug` prints what `Display` does, so that a test which returns a [`Verdict`] fails with
/// a sentence.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Broken {
    /// The name of the clause, which is that of its function and of its test.
    pub clause: &'static str,
    /// What was seen.
    pub seen: String,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the clause `{}` is broken: {}", self.clause, self.seen)
    }
}

impl fmt::Debug for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Broken {}

/// A clause of a kit, as a value: for reports, and for whoever runs a kit without its macro.
#[derive(Debug)]
pub struct Clause<S: 'static> {
    /// The name of its function and of its test.
    pub name: &'static str,
    /// The capability that makes it apply; `always` for those that hold for each subject.
    pub capability: &'static str,
    /// The clause.
    pub check: fn(&S) -> Verdict,
}

impl<S> Clone for Clause<S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for Clause<S> {}

/// The names of the clauses that a subject breaks: those of `always` and of the capabilities
/// that are named. For tests of broken specimens: what one breaks does not depend on
/// `PROPTEST_CASES`, since more inputs may show a fault to more clauses.
pub fn broken<S>(clauses: &[Clause<S>], subject: &S, capabilities: &[&str]) -> Vec<&'static str> {
    clauses
        .iter()
        .filter(|clause| clause.capability == "always" || capabilities.contains(&clause.capability))
        .filter_map(|clause| with_the_same_cases(|| (clause.check)(subject)).err())
        .map(|broken| broken.clause)
        .collect()
}

/// Runs a clause. A panic in it breaks it, as a fault does.
pub(crate) fn clause(name: &'static str, check: impl FnOnce() -> Result<(), String>) -> Verdict {
    let ended = catch_unwind(AssertUnwindSafe(check));
    let ended = ended.unwrap_or_else(|panic| Err(format!("it panicked: {}", said(&*panic))));
    ended.map_err(|seen| Broken { clause: name, seen })
}

/// What a panic said.
pub(crate) fn said(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("something that is no text")
}

/// A fault, where a condition does not hold.
pub(crate) fn require(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise()) }
}

/// A fault, where two things are not the same. Of long ones it says where they part.
pub(crate) fn same<T: PartialEq + fmt::Debug>(what: &str, was: &T, is: &T) -> Result<(), String> {
    require(was == is, || {
        let (was, is) = (format!("{was:?}"), format!("{is:?}"));
        let part = parting(&was, &is);
        let (was, is) = (around(&was, part), around(&is, part));
        format!("{what} is not the same: {was}, and then {is}")
    })
}

/// A fault, where two texts are not the same: the line, and what stands around the place.
pub(crate) fn alike(what: &str, was: &str, is: &str) -> Result<(), String> {
    require(was == is, || {
        let part = parting(was, is);
        let lines = was.as_bytes()[..part].iter().filter(|byte| **byte == b'\n');
        let line = lines.count() + 1;
        let (was, is) = (around(was, part), around(is, part));
        format!("{what} is not the same from line {line} on: {was:?}, and then {is:?}")
    })
}

/// From which byte on two texts are not the same.
fn parting(one: &str, other: &str) -> usize {
    let both = one.bytes().zip(other.bytes());
    both.take_while(|(one, other)| one == other).count()
}

/// What stands around a place in a text.
fn around(text: &str, at: usize) -> String {
    const BEFORE: usize = 80;
    const AFTER: usize = 240;
    let mut from = at.saturating_sub(BEFORE).min(text.len());
    let mut to = (at + AFTER).min(text.len());
    while !text.is_char_boundary(from) {
        from -= 1;
    }
    while !text.is_char_boundary(to) {
        to += 1;
    }
    let (before, after) = (
        if from > 0 { "…" } else { "" },
        if to < text.len() { "…" } else { "" },
    );
    format!("{before}{}{after}", &text[from..to])
}

/// What something is, in so many bytes that a failure can be read.
pub(crate) fn short(it: &impl fmt::Debug) -> String {
    const MOST: usize = 1_000;
    let mut text = format!("{it:?}");
    if text.len() > MOST {
        let end = (0..=MOST).rev().find(|at| text.is_char_boundary(*at));
        text.truncate(end.unwrap_or(0));
        text.push('…');
    }
    text
}

/// A fault, where a capability is there and was not declared, or the other way round.
pub(crate) fn declared(capability: &str, has: bool, declared: &[&str]) -> Result<(), String> {
    require(declared.contains(&capability) == has, || {
        if has {
            format!("it has `{capability}`, whose clauses were not stamped")
        } else {
            format!("`{capability}` is declared, and nothing of it is to be seen")
        }
    })
}

/// A fault, where a name is not one line that ends with a version, as `dispatch/1` does.
pub(crate) fn versioned(name: &str) -> Result<(), String> {
    let version = name.rsplit_once('/').filter(|(name, version)| {
        let plain = !name.is_empty() && !name.contains(|c: char| c.is_control() || c == ' ');
        plain && version.parse::<u32>().is_ok()
    });
    require(version.is_some(), || {
        format!("{name:?} does not end with a version, as `dispatch/1` does")
    })
}
