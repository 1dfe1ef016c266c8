//! A small format, sound but for one fault.

use std::sync::atomic::{AtomicUsize, Ordering};

use toolshelf_core::catalog::{CatalogFormat, CatalogGroup, CatalogText, CatalogTier, CatalogView};
use toolshelf_core::text::{MAX_SERVER_TEXT_BYTES, bounded_text, one_line};

/// What is wrong with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    None,
    NoVersion,
    Remembers,
    Unsorted,
    Panics,
    SaysNothingIsThere,
    EndsLine,
    IgnoresHeader,
    NamesGroupsTwice,
    KeepsLines,
    KeepsBackticks,
    KeepsLength,
    NamesOnALine,
    IgnoresBudget,
    OddBudgets,
    AlwaysFull,
    Silent,
    Backwards,
    CountsUnknown,
    ShowsLoaded,
}

/// One line a group: its id, what it is about, and its tools.
pub(super) struct Lines {
    fault: Fault,
    asked: AtomicUsize,
}

impl Lines {
    pub(super) fn new(fault: Fault) -> Self {
        let asked = AtomicUsize::new(0);
        Self { fault, asked }
    }

    fn is(&self, fault: Fault) -> bool {
        self.fault == fault
    }

    fn clean(&self, text: &str) -> String {
        match self.fault {
            Fault::KeepsLines => bounded_text(&text.replace('`', "'"), MAX_SERVER_TEXT_BYTES),
            Fault::KeepsLength => one_line(text, usize::MAX),
            Fault::KeepsBackticks => {
                let parts = text.split('`').map(|part| one_line(part, 1_000));
                parts.collect::<Vec<_>>().join("`")
            }
            _ => one_line(text, MAX_SERVER_TEXT_BYTES),
        }
    }

    fn line(&self, group: &CatalogGroup<'_>, names: usize) -> String {
        let mut line = format!("- `{}`", group.id);
        for text in [group.title, group.description].into_iter().flatten() {
            line.push_str(&format!(" — {}", self.clean(text)));
        }
        if self.is(Fault::NamesGroupsTwice) {
            line.push_str(&format!(", as `{}`", group.id));
        }
        let none = Vec::new();
        let known = match &group.names {
            None if self.is(Fault::CountsUnknown) => &none,
            None => return line + " (not asked yet)",
            Some(names) => names,
        };
        let remaining = if group.partly_loaded {
            " remaining"
        } else {
            ""
        };
        line.push_str(&format!(" ({}{remaining})", known.len()));
        let mut shown: Vec<&str> = known.iter().take(names).map(|name| name.as_str()).collect();
        if self.is(Fault::Backwards) {
            shown.reverse();
        }
        if !shown.is_empty() {
            let before = if self.is(Fault::NamesOnALine) {
                "\n  "
            } else {
                ": "
            };
            line.push_str(&format!("{before}{}", shown.join(", ")));
        }
        line
    }

    /// The first groups, with so many names of each, and what is said of the rest.
    fn form(
        &self,
        header: &str,
        groups: &[&CatalogGroup<'_>],
        shown: usize,
        names: usize,
    ) -> String {
        let lines = groups
            .iter()
            .take(shown)
            .map(|group| self.line(group, names));
        let mut text = format!("{header}{}", lines.collect::<Vec<_>>().join("\n"));
        let all = groups
            .iter()
            .all(|group| group.names.as_ref().is_none_or(|all| all.len() <= names));
        if (shown < groups.len() || !all) && !self.is(Fault::Silent) {
            let left = groups.len() - shown;
            text.push_str(&format!(
                "\n\nBeside these {left}: ask, and whatever exists is listed."
            ));
        }
        if self.is(Fault::EndsLine) {
            text.push('\n');
        }
        if self.asked.load(Ordering::Relaxed) > 1 && self.is(Fault::Remembers) {
            text.push_str(" (again)");
        }
        text
    }
}

impl CatalogFormat for Lines {
    fn name(&self) -> &str {
        if self.is(Fault::NoVersion) {
            "lines"
        } else {
            "lines/1"
        }
    }

    fn render(&self, view: &CatalogView<'_>) -> CatalogText {
        self.asked.fetch_add(1, Ordering::Relaxed);
        assert!(
            !self.is(Fault::Panics) || view.groups.len() < 100,
            "too many groups"
        );
        let gone = |group: &CatalogGroup<'_>| {
            let empty = group.names.as_ref().is_some_and(Vec::is_empty);
            empty && group.partly_loaded && !self.is(Fault::ShowsLoaded)
        };
        let mut groups: Vec<_> = view.groups.iter().filter(|group| !gone(group)).collect();
        if !self.is(Fault::Unsorted) {
            groups.sort_by_key(|group| group.id);
        }
        let header = match view.header {
            _ if self.is(Fault::IgnoresHeader) => "Groups:\n".to_owned(),
            Some("") => String::new(),
            header => format!("{}\n\n", header.unwrap_or("# Groups")),
        };
        if groups.is_empty() {
            let text = if self.is(Fault::SaysNothingIsThere) {
                "Nothing."
            } else {
                ""
            };
            let tier = CatalogTier::Full;
            return CatalogText {
                text: text.to_owned(),
                tier,
            };
        }
        let mut budget = view.budget.unwrap_or(usize::MAX);
        if self.is(Fault::IgnoresBudget) {
            budget = usize::MAX;
        }
        let forms = [
            (CatalogTier::Full, usize::MAX),
            (CatalogTier::SomeNames, 1),
            (CatalogTier::NoNames, 0),
        ];
        let said = |text, tier| CatalogText {
            text,
            tier: if self.is(Fault::AlwaysFull) {
                CatalogTier::Full
            } else {
                tier
            },
        };
        let odd = budget % 2 == 1 && budget < usize::MAX && self.is(Fault::OddBudgets);
        for (tier, names) in forms {
            let text = self.form(&header, &groups, groups.len(), names);
            if text.len() <= budget && !odd {
                return said(text, tier);
            }
        }
        let fits = |shown: &usize| self.form(&header, &groups, *shown, 0).len() <= budget;
        let shown = (0..groups.len()).take_while(fits).last().unwrap_or(0);
        said(
            self.form(&header, &groups, shown, 0),
            CatalogTier::SomeGroups,
        )
    }
}
