//! A small codec, sound but for one fault.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use toolshelf_core::codec::{
    Block, Collector, DiscoveryCodec, Issue, IssueKind, ReadDiscovery, writable,
};
use toolshelf_core::{ContentBlock, Error, ErrorKind};

/// What is wrong with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    None,
    NoVersion,
    ReadsFewNames,
    Panics,
    FarAwayIssues,
    Remembers,
    TakesAnyName,
    Quiet,
    KeepsTwice,
    Unbounded,
    OnlyFirstBlock,
    OneKindOfLineEnd,
    ReadsQuotes,
    RefusesOddly,
    RefusesSlashes,
    RefusesLong,
    LeavesOutWhatItCannotWrite,
    WritesTwice,
    WritesAnotherEnd,
    LosesDots,
    AllInALine,
}

/// A name a line under a heading:
///
/// ```text
/// Found:
/// +mail__send
/// ```
pub(super) struct Plus {
    fault: Fault,
    read: AtomicUsize,
    written: AtomicUsize,
}

const HEADING: &str = "Found:";

/// What stands between names where they are all in a line.
const BETWEEN: &str = "> +<";

pub(super) fn lines(names: &[&str]) -> String {
    let names = names.iter().map(|name| format!("\n+{name}"));
    format!("{HEADING}{}", names.collect::<String>())
}

impl Plus {
    pub(super) fn new(fault: Fault) -> Self {
        Self {
            fault,
            read: AtomicUsize::new(0),
            written: AtomicUsize::new(0),
        }
    }

    fn is(&self, fault: Fault) -> bool {
        self.fault == fault
    }

    /// The names of a text, as they stand there.
    fn listed<'a>(&self, text: &'a str) -> Vec<&'a str> {
        if let Some((_, quoted)) = text.split_once("Found: +")
            && self.is(Fault::ReadsQuotes)
        {
            return quoted.split(" +").collect();
        }
        let split: fn(&str) -> Vec<&str> = if self.is(Fault::OneKindOfLineEnd) {
            |text| text.split('\n').collect()
        } else {
            |text| text.lines().collect()
        };
        let lines = split(text);
        let Some((first, rest)) = lines.split_first() else {
            return Vec::new();
        };
        let heading = first.trim_end() == HEADING;
        let names = rest.iter().map_while(|line| line.strip_prefix('+'));
        let names = names.take(if heading { usize::MAX } else { 0 });
        if self.is(Fault::AllInALine) {
            return names.flat_map(|line| line.split(BETWEEN)).collect();
        }
        names.collect()
    }

    /// Without the bounds of a collector, and with its idea of a name where that is asked for.
    fn loosely<'a>(names: Vec<(usize, &'a str)>, legal: bool) -> ReadDiscovery<'a> {
        let mut read = ReadDiscovery::default();
        let mut seen = HashSet::new();
        for (block, name) in names {
            if legal && writable(&[name]).is_err() {
                read.issues
                    .push(Issue::new(IssueKind::InvalidName, block, "no name"));
            } else if seen.insert(name) {
                read.names.push(Cow::Borrowed(name));
            }
        }
        read
    }
}

impl DiscoveryCodec for Plus {
    fn name(&self) -> &str {
        if self.is(Fault::NoVersion) {
            "plus 1"
        } else {
            "plus/1"
        }
    }

    fn write(&self, names: &[&str]) -> Result<Vec<ContentBlock>, Error> {
        let refused = |kind, text: &str| Err(Error::new(kind, text));
        if self.is(Fault::RefusesOddly) {
            return refused(ErrorKind::Internal, "not implemented");
        }
        let legal = |name: &&str| writable(&[name]).is_ok();
        let some: Vec<&str> = names.iter().copied().filter(legal).collect();
        let mut names = match self.fault {
            Fault::LeavesOutWhatItCannotWrite => writable(&some)?,
            Fault::WritesTwice => writable(names).map(|_| names.to_vec())?,
            _ => writable(names)?,
        };
        if self.is(Fault::RefusesSlashes) && names.iter().any(|name| name.contains('/')) {
            return refused(ErrorKind::InvalidDefinition, "a slash");
        }
        if self.is(Fault::RefusesLong) && names.iter().any(|name| name.len() > 200) {
            return refused(ErrorKind::TooLarge, "too long");
        }
        if self.is(Fault::LosesDots) {
            names.retain(|name| !name.contains('.'));
        }
        let joined = names.join(BETWEEN);
        let again = self.written.fetch_add(1, Ordering::Relaxed) > 0;
        let end = if again && self.is(Fault::WritesAnotherEnd) {
            "\n"
        } else {
            ""
        };
        if self.is(Fault::AllInALine) && !names.is_empty() {
            names = vec![&joined];
        }
        Ok(vec![ContentBlock::text(lines(&names) + end)])
    }

    fn read<'a>(&self, content: &'a [Block<'a>]) -> ReadDiscovery<'a> {
        let mut names: Vec<(usize, &str)> = Vec::new();
        for (at, block) in content.iter().enumerate() {
            let Block::Text(text) = block else { continue };
            assert!(
                !self.is(Fault::Panics) || !text.contains("<functions>"),
                "a tag"
            );
            names.extend(self.listed(text).into_iter().map(|name| (at, name)));
            if self.is(Fault::OnlyFirstBlock) {
                break;
            }
        }
        match self.fault {
            Fault::TakesAnyName => return Self::loosely(names, false),
            Fault::Unbounded => return Self::loosely(names, true),
            Fault::ReadsFewNames => names.truncate(20),
            Fault::Quiet => names.retain(|(_, name)| writable(&[name]).is_ok()),
            _ => {}
        }
        let mut out = Collector::new();
        for (at, name) in &names {
            if !out.name(*at, Cow::Borrowed(name)) {
                break;
            }
        }
        if self.read.fetch_add(1, Ordering::Relaxed) > 0 && self.is(Fault::Remembers) {
            out.name(0, Cow::Borrowed("again"));
        }
        let mut read = out.finish();
        if self.is(Fault::FarAwayIssues) {
            read.issues
                .iter_mut()
                .for_each(|issue| issue.block += content.len());
        }
        if self.is(Fault::KeepsTwice) && names.len() > read.names.len() {
            read.names.extend(read.names.first().cloned());
        }
        read
    }
}
