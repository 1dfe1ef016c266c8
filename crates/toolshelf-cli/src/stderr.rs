//! Standard error: the log, notes, errors, and at a terminal a line that says what is
//! waited for.
//!
//! Everything goes through here, so that nothing is written into the middle of that line.

use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};

use crate::output::is_invisible;

/// The width of a terminal that does not tell it.
const DEFAULT_COLUMNS: usize = 80;

/// Whether the line stands there.
static SHOWN: Mutex<bool> = Mutex::new(false);

/// Whether each line is a JSON object.
static JSON: AtomicBool = AtomicBool::new(false);

/// From now on each line is a JSON object, in the form of the log's records.
pub(crate) fn use_json() {
    JSON.store(true, Ordering::Relaxed);
}

/// Whether a line that changes is wanted: somebody looks on, and no program reads.
pub(crate) fn is_watched() -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    std::io::stderr().is_terminal()
        && !JSON.load(Ordering::Relaxed)
        && !set("CI")
        && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Writes a line for people; that nobody reads it is no failure.
pub(crate) fn note(text: &str) {
    if JSON.load(Ordering::Relaxed) {
        record("INFO", text, None);
    } else {
        write(format!("{text}\n").as_bytes());
    }
}

/// Says what went wrong, and with which exit code the program ends for it.
pub(crate) fn complain(label: &str, text: &str, code: u8) {
    if JSON.load(Ordering::Relaxed) {
        record("ERROR", text, Some(code));
    } else {
        write(format!("{label} {text}\n").as_bytes());
    }
}

/// Writes a record as the log does.
fn record(level: &str, message: &str, code: Option<u8>) {
    let mut timestamp = String::new();
    // A clock that cannot be written is no reason to be silent.
    let _ = SystemTime.format_time(&mut Writer::new(&mut timestamp));
    let mut fields = json!({ "message": message });
    if let Some(code) = code {
        fields["exit_code"] = Value::from(code);
    }
    let record = json!({
        "timestamp": timestamp,
        "level": level,
        "fields": fields,
        "target": "toolshelf",
    });
    write(format!("{record}\n").as_bytes());
}

/// Shows a line that changes, in place of the one before.
pub(crate) fn show(text: &str) {
    let mut shown = SHOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let columns = terminal_size::terminal_size_of(std::io::stderr())
        .map_or(DEFAULT_COLUMNS, |(width, _)| usize::from(width.0));
    // A full line would wrap, and the next one could not replace it.
    let line: String = text.chars().take(columns.saturating_sub(1)).collect();
    let mut err = std::io::stderr().lock();
    let _ = write!(err, "\r\x1b[2K{line}");
    let _ = err.flush();
    *shown = true;
}

/// Takes the line that changes away.
pub(crate) fn clear() {
    write(&[]);
}

/// Writes whole lines; the one that changes comes back when it is shown the next time.
fn write(text: &[u8]) {
    let mut shown = SHOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let mut err = std::io::stderr().lock();
    if std::mem::take(&mut *shown) {
        let _ = err.write_all(b"\r\x1b[2K");
    }
    let _ = err.write_all(text);
    let _ = err.flush();
}

/// A record as one line: what a server wrote cannot pass for a record of ours. Colours stay.
fn one_line(record: &str) -> String {
    let (text, end) = match record.strip_suffix('\n') {
        Some(text) => (text, "\n"),
        None => (record, ""),
    };
    let mut line = String::with_capacity(record.len());
    for (at, c) in text.char_indices() {
        if c == '\x1b' && is_color(&text[at + 1..]) || !c.is_control() && !is_invisible(c) {
            line.push(c);
        } else {
            line.extend(c.escape_default());
        }
    }
    line.push_str(end);
    line
}

/// Whether what stands behind an escape makes it a colour.
fn is_color(rest: &str) -> bool {
    rest.strip_prefix('[').is_some_and(|rest| {
        let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';');
        rest.starts_with('m')
    })
}

/// Where the log writes; each write is a whole record.
pub(crate) struct Log;

impl Write for Log {
    fn write(&mut self, record: &[u8]) -> std::io::Result<usize> {
        if JSON.load(Ordering::Relaxed) {
            write(record);
        } else {
            write(one_line(&String::from_utf8_lossy(record)).as_bytes());
        }
        Ok(record.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_one_line_whatever_stands_in_it() {
        let forged = "\x1b[33m WARN\x1b[0m a\r\n2026-01-01 ERROR b\0\x1b[2J\u{202e}\u{85}é\n";
        assert_eq!(
            one_line(forged),
            "\x1b[33m WARN\x1b[0m a\\r\\n2026-01-01 ERROR b\\u{0}\\u{1b}[2J\\u{202e}\\u{85}é\n"
        );
    }
}
