//! Writing for people: colour where it is wanted, lines that fit, no surprises from
//! text of servers.

use std::io::{IsTerminal, Write};

use serde_json::Value;

use crate::arguments::Color;
use crate::failure::Failure;
use crate::stderr;

/// The width where there is no terminal.
const DEFAULT_WIDTH: usize = 100;

/// The widest that lines for people get.
const MAX_WIDTH: usize = 120;

/// How a piece of text looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    Strong,
    Faint,
    Good,
    Bad,
    Ours,
    Theirs,
}

impl Look {
    fn code(self) -> &'static str {
        match self {
            Self::Strong => "1",
            Self::Faint => "2",
            Self::Good => "32",
            Self::Bad => "31",
            Self::Ours => "36",
            Self::Theirs => "33",
        }
    }
}

/// Standard output, and how to write to it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Output {
    color: bool,
    error_color: bool,
    terminal: bool,
    /// How wide lines for people may be.
    pub(crate) width: usize,
}

impl Output {
    pub(crate) fn new(color: Color) -> Self {
        let terminal = std::io::stdout().is_terminal();
        Self {
            color: color_wanted(color, terminal),
            error_color: color_wanted(color, std::io::stderr().is_terminal()),
            terminal,
            width: width(terminal),
        }
    }

    /// Text with a look, where colour is wanted.
    pub(crate) fn paint(&self, look: Look, text: &str) -> String {
        paint(self.color, look, text)
    }

    /// Writes text, and a line end where it has none.
    pub(crate) fn write(&self, text: &str) -> Result<(), Failure> {
        let mut out = std::io::stdout().lock();
        out.write_all(text.as_bytes())?;
        if !text.ends_with('\n') {
            out.write_all(b"\n")?;
        }
        out.flush()?;
        Ok(())
    }

    /// Writes JSON that is laid out for reading.
    pub(crate) fn write_json(&self, value: &Value) -> Result<(), Failure> {
        self.write(&format!("{value:#}"))
    }

    /// Text of a server: as it is into a pipe, without control characters on a
    /// terminal, which would obey them.
    pub(crate) fn foreign(&self, text: &str) -> String {
        if self.terminal {
            without_controls(text)
        } else {
            text.to_owned()
        }
    }

    /// JSON of a server: as it is into a pipe. At a terminal, what the terminal could obey
    /// or hide is written as an escape; in JSON it stands in strings only, so that it
    /// means the same.
    pub(crate) fn data(&self, json: &str) -> String {
        if !self.terminal {
            return json.to_owned();
        }
        let mut text = String::with_capacity(json.len());
        for c in json.chars() {
            // Between values only: in strings these three are escapes already.
            let is_blank = matches!(c, '\n' | '\t' | '\r');
            if is_blank {
                text.push(if c == '\r' { ' ' } else { c });
            } else if !c.is_control() && !is_invisible(c) {
                text.push(c);
            } else {
                let mut units = [0; 2];
                for unit in c.encode_utf16(&mut units) {
                    text.push_str(&format!("\\u{unit:04x}"));
                }
            }
        }
        text
    }

    /// Says on standard error what went wrong, and with which exit code it ends.
    pub(crate) fn complain(&self, text: &str, code: u8) {
        let label = paint(self.error_color, Look::Bad, "error:");
        stderr::complain(&label, &without_controls(text), code);
    }
}

/// Whether a character changes what stands around it, or is not seen.
pub(crate) fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e0fff}')
}

/// Whether colour is wanted on a stream.
pub(crate) fn color_wanted(color: Color, terminal: bool) -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => {
            terminal
                && !set("NO_COLOR")
                && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
        }
    }
}

fn paint(color: bool, look: Look, text: &str) -> String {
    if color {
        format!("\x1b[{}m{text}\x1b[0m", look.code())
    } else {
        text.to_owned()
    }
}

fn width(terminal: bool) -> usize {
    let columns = std::env::var("COLUMNS")
        .ok()
        .and_then(|columns| columns.parse().ok());
    let seen = || {
        let (width, _) = terminal_size::terminal_size().filter(|_| terminal)?;
        Some(usize::from(width.0))
    };
    columns
        .or_else(seen)
        .unwrap_or(DEFAULT_WIDTH)
        .clamp(40, MAX_WIDTH)
}

/// Line ends and tabs stay, other control characters become a visible stand-in.
pub(crate) fn without_controls(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\n' | '\t' => c,
            c if c.is_control() => '\u{fffd}',
            c => c,
        })
        .collect()
}

/// A text of one line, cut to a number of characters.
pub(crate) fn cut(text: &str, characters: usize) -> String {
    let text = toolshelf_core::text::one_line(text, characters.saturating_mul(4).max(16));
    if text.chars().count() <= characters {
        return text;
    }
    let mut short: String = text.chars().take(characters.saturating_sub(1)).collect();
    short.truncate(short.trim_end().len());
    short.push('…');
    short
}

/// Breaks a text into lines of at most so many characters, at blanks where there are
/// any.
pub(crate) fn wrap(text: &str, characters: usize) -> Vec<String> {
    let characters = characters.max(8);
    let mut lines = Vec::new();
    for paragraph in text.lines() {
        let indent: String = paragraph.chars().take_while(|c| *c == ' ').collect();
        let mut line = indent.clone();
        let mut empty = true;
        for word in paragraph.split_whitespace() {
            let mut word: Vec<char> = word.chars().collect();
            if !empty && line.chars().count() + 1 + word.len() > characters {
                lines.push(std::mem::replace(&mut line, indent.clone()));
                empty = true;
            }
            if !empty {
                line.push(' ');
            }
            // A word longer than a line is broken wherever the line ends.
            while word.len() > characters.saturating_sub(line.chars().count()) {
                let room = characters.saturating_sub(line.chars().count()).max(1);
                let rest = word.split_off(room.min(word.len()));
                line.extend(word);
                lines.push(std::mem::replace(&mut line, indent.clone()));
                word = rest;
                if line.chars().count() >= characters {
                    line.clear();
                }
            }
            empty = word.is_empty();
            line.extend(word);
        }
        lines.push(line);
    }
    lines
}

/// A number with commas between thousands.
pub(crate) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A number and its noun.
pub(crate) fn counted(number: usize, noun: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{} {noun}{ending}", grouped(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        for (number, text) in [
            (0, "0"),
            (999, "999"),
            (1_000, "1,000"),
            (1_234_567, "1,234,567"),
        ] {
            assert_eq!(grouped(number), text);
        }
        assert_eq!(counted(1, "tool"), "1 tool");
    }

    #[test]
    fn wrapped_lines_fit() {
        let long = "x".repeat(50);
        for text in [
            "",
            "one two three four five six",
            &long,
            &format!("a {long} b"),
            "  in dented text that goes on",
        ] {
            for width in [8, 10, 20] {
                let lines = wrap(text, width);
                assert!(
                    lines.iter().all(|line| line.chars().count() <= width),
                    "{lines:?}"
                );
                let squeezed = |text: &str| text.split_whitespace().collect::<String>();
                assert_eq!(squeezed(&lines.join(" ")), squeezed(text));
            }
        }
    }

    #[test]
    fn cut_text_fits() {
        assert_eq!(cut("a b  c\nd", 10), "a b c d");
        assert_eq!(cut("0123456789", 5), "0123…");
        assert_eq!(cut("é".repeat(9).as_str(), 9).chars().count(), 9);
    }
}
