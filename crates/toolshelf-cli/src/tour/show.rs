//! The session as a person wants to read it: who says what.

use serde_json::Value;
use toolshelf_catalog::texts::LOAD_TOOLS;
use toolshelf_core::tokens::TokenCounter;

use super::act::{Exchange, Expect, Played, TOOLSHELF, loaded, remaining};
use super::figures::Figures;
use super::stage::List;
use crate::output::{Look, Output, counted, cut, grouped, without_controls, wrap};
use crate::tokens::O200kBase;

/// The width of the column that says who speaks.
const SPEAKER: usize = 11;

/// The most lines that somebody says at once.
const MAX_LINES: usize = 6;

/// From this length on a line of JSON is not shown.
const LONG_JSON: usize = 160;

/// Something that somebody says.
fn say(speaker: &str, look: Look, text: &str, output: &Output) -> String {
    let mut lines = wrap(text, output.width.saturating_sub(SPEAKER + 2));
    if lines.len() > MAX_LINES {
        lines.truncate(MAX_LINES - 1);
        lines.push("…".to_owned());
    }
    let mut out = String::new();
    for (at, line) in lines.iter().enumerate() {
        let name = if at == 0 { speaker } else { "" };
        let name = output.paint(look, &format!("{name:SPEAKER$}"));
        out.push_str(format!("  {name}{line}").trim_end());
        out.push('\n');
    }
    out
}

/// The beginning: what the host sees.
pub(super) fn opening(list: &List, tools: usize, output: &Output) -> String {
    let names: Vec<&str> = list
        .definitions
        .iter()
        .map(|definition| definition.name().as_str())
        .collect();
    let title = "Three MCP servers behind one. The model is scripted, all else is real.";
    let mut text = String::new();
    for line in wrap(title, output.width) {
        text.push_str(&output.paint(Look::Strong, &line));
        text.push('\n');
    }
    text.push('\n');
    let host = format!(
        "connects to `toolshelf serve --samples` (MCP {}) and lists its tools",
        list.protocol
    );
    text.push_str(&say("host", Look::Faint, &host, output));
    let seen = format!("{} instead of {tools}: {}", names.len(), names.join(", "));
    text.push_str(&say(TOOLSHELF, Look::Ours, &seen, output));
    text.push_str(&say("", Look::Ours, "with this catalog:", output));
    let description = list
        .definitions
        .iter()
        .find(|definition| definition.name().as_str() == LOAD_TOOLS)
        .and_then(|definition| definition.description())
        .unwrap_or_default();
    // The catalog begins after the first empty line of the description.
    let catalog = description.split_once("\n\n").map_or("", |(_, rest)| rest);
    for line in catalog.lines() {
        let room = output.width.saturating_sub(SPEAKER + 4);
        let indent = line.len() - line.trim_start().len();
        let line = format!("{}{}", &line[..indent], plain(line.trim_start(), room));
        text.push_str(&format!(
            "  {:SPEAKER$}{}\n",
            "",
            output.paint(Look::Faint, &line)
        ));
    }
    text
}

/// Cuts a line that is our own, so that its backticks stay.
fn plain(line: &str, characters: usize) -> String {
    if line.chars().count() <= characters {
        return line.to_owned();
    }
    let mut short: String = line.chars().take(characters.saturating_sub(1)).collect();
    short.push('…');
    short
}

/// One act.
pub(super) fn act(number: usize, played: &Played, output: &Output) -> String {
    let title = format!("{number}  {}", played.title);
    let mut text = format!("\n{}\n", output.paint(Look::Strong, &title));
    if let Some(user) = played.user {
        text.push_str(&say("user", Look::Good, user, output));
    }
    for exchange in &played.exchanges {
        text.push_str(&say("model", Look::Theirs, &called(exchange), output));
        let speaker = exchange.answered_by();
        text.push_str(&say(speaker, look_of(speaker), &answered(exchange), output));
        if let Some(fault) = &exchange.fault {
            text.push_str(&say("WRONG", Look::Bad, &cut(fault, 400), output));
        }
    }
    text
}

fn look_of(speaker: &str) -> Look {
    if speaker == TOOLSHELF {
        Look::Ours
    } else {
        Look::Faint
    }
}

fn called(exchange: &Exchange) -> String {
    let turn = &exchange.turn;
    match turn.target() {
        Some(target) => format!(
            "{} {target} {}",
            turn.tool,
            spaced(&turn.arguments["arguments"])
        ),
        None => format!("{} {}", turn.tool, spaced(&turn.arguments)),
    }
}

/// JSON with blanks at which a line can be broken.
fn spaced(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(spaced).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(members) => {
            let members: Vec<String> = members
                .iter()
                .map(|(key, value)| format!("{}: {}", Value::from(key.as_str()), spaced(value)))
                .collect();
            format!("{{{}}}", members.join(", "))
        }
        scalar => scalar.to_string(),
    }
}

fn answered(exchange: &Exchange) -> String {
    let mut lines = progress(&exchange.answer.progress);
    match &exchange.turn.expect {
        Expect::Schemas(_) if exchange.fault.is_none() => {
            let tools = loaded(&exchange.text);
            lines.push(format!(
                "{} in {}; {} of this server stay on the shelf:",
                counted(tools.len(), "schema"),
                counted(exchange.tokens, "token"),
                counted(
                    usize::try_from(remaining(&exchange.text)).unwrap_or(0),
                    "tool"
                ),
            ));
            lines.extend(
                tools
                    .iter()
                    .map(|tool| format!("{}({})", tool.name, tool.arguments.join(", "))),
            );
        }
        Expect::Cancelled if exchange.fault.is_none() => {
            lines.push(format!(
                "cancelled by the host after {:.1} s; it would have taken 30 s",
                exchange.answer.took.as_secs_f64()
            ));
        }
        _ => lines.extend(
            exchange
                .text
                .lines()
                .filter(|line| !line.is_empty())
                .map(shortened),
        ),
    }
    if let Some((kind, bytes)) = exchange.image() {
        lines.push(format!("[{kind}, {}]", counted(bytes, "byte")));
    }
    lines.join("\n")
}

/// A line of an answer; a schema is named, not shown.
fn shortened(line: &str) -> String {
    if line.starts_with('{') && line.len() > LONG_JSON {
        format!("{{…}} ({})", counted(O200kBase.count(line), "token"))
    } else {
        plain(&without_controls(line), 400)
    }
}

/// The first and the last report.
fn progress(reports: &[String]) -> Vec<String> {
    match reports {
        [] => Vec::new(),
        [one] => vec![format!("progress {one}")],
        [first, .., last] => vec![format!("progress {first} … {last}")],
    }
}

/// The end.
pub(super) fn figures(figures: &Figures, output: &Output) -> String {
    let row = |what: &str, tokens: usize| {
        format!(
            "  {what:48}{:>7}{:>8.1} %\n",
            grouped(tokens),
            figures.percent(tokens)
        )
    };
    let changed = figures.prefix_bytes_changed;
    let look = if changed == 0 { Look::Good } else { Look::Bad };
    let mut text = String::from("\n");
    text.push_str(&output.paint(Look::Strong, "Figures"));
    text.push_str(&format!(
        "  {}, {}; tokens of {}\n",
        counted(figures.servers, "server"),
        counted(figures.tools, "tool"),
        O200kBase.name()
    ));
    text.push_str(&row(
        "every definition in every request",
        figures.inline_tokens,
    ));
    text.push_str(&row("on the shelf, in every request", figures.shelf_tokens));
    text.push_str(&row(
        "  and with all that it answered in this session",
        figures.session_tokens(),
    ));
    text.push_str(&format!(
        "  {:48}{}\n",
        "bytes of the prefix that changed",
        output.paint(look, &format!("{:>7}", grouped(changed)))
    ));
    text.push_str(&output.paint(
        Look::Faint,
        &format!(
            "  {} bytes compared after each of {} calls; {:.1} s in all\n",
            grouped(figures.prefix_bytes),
            figures.comparisons,
            figures.seconds
        ),
    ));
    text
}
