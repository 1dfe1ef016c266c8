//! Text that somebody else wrote, made fit for a text that we compose.
//!
//! Server text in tool definitions stays as it is. In a catalog, an error or an
//! announcement it is one line, bounded, and cannot open a heading, a list item or
//! a code span.

use crate::id::is_invisible;

/// The default bound of one piece of server text, in bytes.
pub const MAX_SERVER_TEXT_BYTES: usize = 2_048;

/// Cuts a text at a character boundary so that it has at most `bytes` bytes, an
/// ellipsis included where something was cut.
///
/// ```
/// use toolshelf_core::text::bounded_text;
/// assert_eq!(bounded_text("short", 16), "short");
/// assert_eq!(bounded_text("a longer text", 10), "a longe…");
/// ```
pub fn bounded_text(text: &str, bytes: usize) -> String {
    const ELLIPSIS: char = '…';
    if text.len() <= bytes {
        return text.to_owned();
    }
    if bytes < ELLIPSIS.len_utf8() {
        return String::new();
    }
    let mut end = bytes - ELLIPSIS.len_utf8();
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let mut cut = text[..end].trim_end().to_owned();
    cut.push(ELLIPSIS);
    cut
}

/// Makes server text safe to stand in a line of ours.
///
/// Runs of blanks, line ends and control characters become one space, invisible and
/// direction-changing characters vanish, backticks become apostrophes, and what is
/// longer than `bytes` is cut with an ellipsis. The result holds no line end, so it
/// cannot open a heading, a list item or a group line of its own.
///
/// ```
/// use toolshelf_core::text::one_line;
/// assert_eq!(one_line("Reads\n# files\tof `any` kind ", 64), "Reads # files of 'any' kind");
/// ```
pub fn one_line(text: &str, bytes: usize) -> String {
    if text.len() <= bytes && is_plain(text) {
        return text.to_owned();
    }
    let mut line = String::with_capacity(text.len().min(bytes) + 4);
    let mut blank = false;
    for c in text.chars() {
        // One character more than fits is enough to know that a cut is needed.
        if line.len() > bytes {
            break;
        }
        if c.is_whitespace() || c.is_control() {
            blank = !line.is_empty();
            continue;
        }
        if is_invisible(c) {
            continue;
        }
        if blank {
            line.push(' ');
            blank = false;
        }
        line.push(if c == '`' { '\'' } else { c });
    }
    bounded_text(&line, bytes)
}

/// Whether a text is a line already that nothing has to be done to. Most are.
fn is_plain(text: &str) -> bool {
    let mut last = b' ';
    for byte in text.bytes() {
        if !matches!(byte, b' '..=b'~') || byte == b'`' || (byte == b' ' && last == b' ') {
            return false;
        }
        last = byte;
    }
    last != b' '
}

/// The first sentence of a text, as one line (see [`one_line`]).
///
/// Headings are passed over, since servers begin their instructions with one that only
/// repeats their name; a text of headings alone gives the first of them. A sentence ends
/// at `.`, `!` or `?` followed by a blank, at their full-width forms, or at an empty
/// line.
///
/// ```
/// use toolshelf_core::text::first_sentence;
/// let instructions = "# Calendar server\n\nPlans v1.2 meetings. Ask before you delete.";
/// assert_eq!(first_sentence(instructions, 64), "Plans v1.2 meetings.");
/// ```
pub fn first_sentence(text: &str, bytes: usize) -> String {
    let is_heading = |line: &&str| line.trim_start().starts_with('#');
    let is_blank = |line: &&str| line.trim().is_empty();
    let body: Vec<&str> = text
        .lines()
        .skip_while(|line| is_blank(line) || is_heading(line))
        .take_while(|line| !is_blank(line) && !is_heading(line))
        .collect();
    let paragraph = if body.is_empty() {
        let heading = text.lines().find(is_heading).unwrap_or_default();
        heading.trim_start().trim_start_matches('#').to_owned()
    } else {
        body.join("\n")
    };
    let mut end = paragraph.len();
    let mut chars = paragraph.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let stops = match c {
            '。' | '！' | '？' => true,
            '.' | '!' | '?' => chars.peek().is_none_or(|(_, next)| next.is_whitespace()),
            _ => false,
        };
        if stops {
            end = at + c.len_utf8();
            break;
        }
    }
    one_line(&paragraph[..end], bytes)
}
