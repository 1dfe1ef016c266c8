//! The renderer that the catalog formats share: group lines, and the forms that a
//! budget brings them down to.

use std::fmt::Write as _;

use toolshelf_core::catalog::{CatalogGroup, CatalogText, CatalogTier, CatalogView};
use toolshelf_core::text::{bounded_text, first_sentence, one_line};

use crate::options::CatalogOptions;

/// Names of each group that are shown where not all can be.
const NAMES_PER_GROUP: usize = 5;

/// Bounds of title and description together, in bytes, for groups that are
/// summarised, longest first.
const SUMMARY_BYTES: [usize; 5] = [96, 64, 40, 32, 24];

/// What makes one format differ from another.
pub(crate) struct Form {
    /// The header that stands there unless a host replaces it; empty = none.
    pub(crate) header: &'static str,
    /// The bound of a title and of a description.
    pub(crate) text_bytes: usize,
    /// The budget where the view has none.
    pub(crate) budget: Option<usize>,
    /// Whether groups are shown as what remains of them.
    pub(crate) remaining: bool,
    /// The last lines, by what was left out.
    pub(crate) notes: Notes,
}

/// The line after the groups that says what was left out and how to see it.
pub(crate) struct Notes {
    /// Some names of each group.
    pub(crate) some_names: &'static str,
    /// All names.
    pub(crate) no_names: &'static str,
    /// All names, and what lies behind the beginning of a description.
    pub(crate) summaries: &'static str,
    /// Everything but ids and counts.
    pub(crate) ids_only: &'static str,
    /// Whole groups; the line begins with their number and the word for them.
    pub(crate) some_groups: &'static str,
}

/// How much of each group is shown.
#[derive(Clone, Copy)]
enum Text {
    Whole(usize),
    Summary(usize),
    Nothing,
}

#[derive(Clone, Copy)]
struct Shape {
    text: Text,
    names: usize,
    note: Option<&'static str>,
    tier: CatalogTier,
}

/// Renders the fullest form that the budget allows.
pub(crate) fn render(form: &Form, options: &CatalogOptions, view: &CatalogView<'_>) -> CatalogText {
    let groups = sorted(form, view);
    if groups.is_empty() {
        return CatalogText {
            text: String::new(),
            tier: CatalogTier::Full,
        };
    }
    let header = view
        .header
        .or(options.header.as_deref())
        .unwrap_or(form.header);
    let budget = view.budget.or(form.budget).unwrap_or(usize::MAX);
    for shape in shapes(form, options) {
        if let Some(text) = attempt(form, header, &groups, shape, budget) {
            return CatalogText {
                text,
                tier: shape.tier,
            };
        }
    }
    CatalogText {
        text: some_groups(form, header, &groups, budget),
        tier: CatalogTier::SomeGroups,
    }
}

/// The groups in code point order of their ids. What follows the id in the key only
/// matters for a view that names a group twice: its bytes do not depend on the order
/// either.
fn sorted<'a, 'b>(form: &Form, view: &'b CatalogView<'a>) -> Vec<&'b CatalogGroup<'a>> {
    let mut groups: Vec<&CatalogGroup<'_>> = view
        .groups
        .iter()
        .filter(|group| !(form.remaining && nothing_remains(group)))
        .collect();
    groups.sort_unstable_by(|a, b| {
        a.id.cmp(b.id).then_with(|| {
            let key = |group: &CatalogGroup<'a>| {
                (
                    group.title,
                    group.description,
                    group.names.clone(),
                    group.partly_loaded,
                )
            };
            key(a).cmp(&key(b))
        })
    });
    groups
}

fn nothing_remains(group: &CatalogGroup<'_>) -> bool {
    group.partly_loaded && group.names.as_ref().is_some_and(Vec::is_empty)
}

/// The forms under which all groups are shown, fullest first.
fn shapes(form: &Form, options: &CatalogOptions) -> impl Iterator<Item = Shape> {
    let whole = Text::Whole(options.text_bytes.unwrap_or(form.text_bytes));
    let some = options.names_per_group.unwrap_or(NAMES_PER_GROUP).max(1);
    let notes = &form.notes;
    let shape = |text, names, note, tier| Shape {
        text,
        names,
        note,
        tier,
    };
    let full = shape(whole, usize::MAX, None, CatalogTier::Full);
    let some_names = Some(notes.some_names);
    let some_names = shape(whole, some, some_names, CatalogTier::SomeNames);
    let no_names = shape(whole, 0, Some(notes.no_names), CatalogTier::NoNames);
    let summaries = Some(notes.summaries);
    let summaries =
        SUMMARY_BYTES.map(|bytes| shape(Text::Summary(bytes), 0, summaries, CatalogTier::NoNames));
    let ids_only = Some(notes.ids_only);
    let ids_only = shape(Text::Nothing, 0, ids_only, CatalogTier::IdsOnly);
    [full, some_names, no_names]
        .into_iter()
        .chain(summaries)
        .chain([ids_only])
}

/// One form of all groups; `None` as soon as it is longer than the budget, so that no
/// attempt costs more than the budget.
fn attempt(
    form: &Form,
    header: &str,
    groups: &[&CatalogGroup<'_>],
    shape: Shape,
    budget: usize,
) -> Option<String> {
    // A group of twenty names has about 400 bytes; room for too many costs less than
    // growing.
    let mut out = String::with_capacity(budget.min(header.len() + 400 * groups.len()));
    open(&mut out, header);
    for (at, group) in groups.iter().enumerate() {
        if at > 0 {
            out.push('\n');
        }
        write_group(&mut out, form, group, shape);
        if out.len() > budget {
            return None;
        }
    }
    if let Some(note) = shape.note {
        out.push_str("\n\n");
        out.push_str(note);
    }
    (out.len() <= budget).then_some(out)
}

/// The first groups by id and count, as many as there is room for, and how many more
/// there are. Each group adds more bytes than the number at the end can lose, so the
/// first one that does not fit ends the list.
fn some_groups(form: &Form, header: &str, groups: &[&CatalogGroup<'_>], budget: usize) -> String {
    let shape = Shape {
        text: Text::Nothing,
        names: 0,
        note: None,
        tier: CatalogTier::SomeGroups,
    };
    let closing = |shown: usize| {
        let left = groups.len() - shown;
        let more = if shown == 0 { "" } else { " more" };
        let noun = if left == 1 { "group" } else { "groups" };
        format!("{left}{more} {noun}{}", form.notes.some_groups)
    };
    let mut out = String::new();
    open(&mut out, header);
    let mut shown = 0;
    while shown + 1 < groups.len() {
        let before = out.len();
        if shown > 0 {
            out.push('\n');
        }
        write_group(&mut out, form, groups[shown], shape);
        if out.len() + "\n\n".len() + closing(shown + 1).len() > budget {
            out.truncate(before);
            break;
        }
        shown += 1;
    }
    if shown > 0 {
        out.push_str("\n\n");
    }
    out.push_str(&closing(shown));
    out
}

fn open(out: &mut String, header: &str) {
    if !header.is_empty() {
        out.push_str(header);
        out.push_str("\n\n");
    }
}

fn write_group(out: &mut String, form: &Form, group: &CatalogGroup<'_>, shape: Shape) {
    // An id holds neither a backtick nor a line end, so the code span ends where it
    // should, and the model reads the id exactly as it has to give it back.
    out.push_str("- `");
    out.push_str(group.id.as_str());
    out.push('`');
    let text = describe(group, shape.text);
    if !text.is_empty() {
        out.push_str(" — ");
        out.push_str(&text);
    }
    let Some(names) = &group.names else {
        return;
    };
    let remaining = if form.remaining && group.partly_loaded {
        "remaining "
    } else {
        ""
    };
    let noun = if names.len() == 1 { "tool" } else { "tools" };
    // Writing into a string cannot fail.
    let _ = write!(out, " ({} {remaining}{noun})", names.len());
    if names.is_empty() || shape.names == 0 {
        return;
    }
    out.push_str("\n  ");
    for (at, name) in names.iter().take(shape.names).enumerate() {
        if at == 0 {
            write_first_name(out, name.as_str());
        } else {
            out.push_str(", ");
            out.push_str(name.as_str());
        }
    }
    if names.len() > shape.names {
        let _ = write!(out, ", … +{} more", names.len() - shape.names);
    }
}

/// A name at the beginning of a line. Names are one line and hold no backtick, but one
/// such as `# x` or `- x` would open a heading or a list item there; a backslash keeps
/// it text.
fn write_first_name(out: &mut String, name: &str) {
    let digits = name.bytes().take_while(u8::is_ascii_digit).count();
    let at = match name.as_bytes().get(digits) {
        Some(b'.' | b')') if digits > 0 => Some(digits),
        Some(b'#' | b'-' | b'+' | b'*' | b'>' | b'=' | b'~' | b'<' | b'|') if digits == 0 => {
            Some(0)
        }
        _ => None,
    };
    match at {
        Some(at) => {
            out.push_str(&name[..at]);
            out.push('\\');
            out.push_str(&name[at..]);
        }
        None => out.push_str(name),
    }
}

fn describe(group: &CatalogGroup<'_>, text: Text) -> String {
    let bytes = match text {
        Text::Whole(bytes) | Text::Summary(bytes) => bytes,
        Text::Nothing => return String::new(),
    };
    let title = group.title.map(|title| one_line(title, bytes));
    let mut title = title.unwrap_or_default();
    let description = group.description.map(|description| match text {
        Text::Summary(_) => first_sentence(description, bytes),
        Text::Whole(_) | Text::Nothing => one_line(description, bytes),
    });
    let description = description.unwrap_or_default();
    // Where there is little room, a title that the id says already gives it up.
    if matches!(text, Text::Summary(_))
        && !description.is_empty()
        && letters(group.id.as_str()).contains(&letters(&title))
    {
        title.clear();
    }
    let both = match (title.as_str(), description.as_str()) {
        ("", _) => description,
        (_, "") => title,
        (title, description) => format!("{title}: {description}"),
    };
    match text {
        Text::Summary(bytes) => bounded_text(&both, bytes),
        Text::Whole(_) | Text::Nothing => both,
    }
}

fn letters(text: &str) -> String {
    text.chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}
