//! Inputs for properties.

use proptest::prelude::*;
use proptest::sample::select;
use toolshelf_core::{GroupId, ToolName};

/// A JSON value that does not lose anything in `serde_json::Value`, so that the two can
/// be compared.
#[derive(Debug, Clone)]
pub(crate) enum Json {
    Scalar(String),
    Text(String),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

pub(crate) fn json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        select(
            &[
                "null",
                "true",
                "false",
                "0",
                "-1",
                "1.50",
                "1e3",
                "18446744073709551615",
                "-0.0"
            ][..]
        )
        .prop_map(|text| Json::Scalar(text.to_owned())),
        any::<i64>().prop_map(|number| Json::Scalar(number.to_string())),
        key().prop_map(Json::Text),
    ];
    leaf.prop_recursive(5, 48, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Json::Array),
            prop::collection::vec((key(), inner), 0..6).prop_map(Json::Object),
        ]
    })
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-c]{1,2}",
        any::<String>(),
        select(
            &[
                "\"",
                "\\",
                "/",
                "\n",
                "é",
                "\u{1f600}",
                "\u{2028}",
                "{[,:]}",
                "\u{0}"
            ][..]
        )
        .prop_map(str::to_owned),
    ]
}

impl Json {
    /// The text, spaced and escaped as `style` says: its bits decide, in turn.
    pub(crate) fn print(&self, style: &mut Style) -> String {
        match self {
            Self::Scalar(text) => text.clone(),
            Self::Text(text) => style.quote(text),
            Self::Array(items) => {
                let items: Vec<String> = items
                    .iter()
                    .map(|item| format!("{}{}{}", style.blank(), item.print(style), style.blank()))
                    .collect();
                format!("[{}]", items.join(","))
            }
            Self::Object(members) => {
                let members: Vec<String> = members
                    .iter()
                    .map(|(key, value)| {
                        let key = format!("{}{}{}", style.blank(), style.quote(key), style.blank());
                        format!("{key}:{}{}", style.blank(), value.print(style))
                    })
                    .collect();
                format!("{{{}{}}}", members.join(","), style.blank())
            }
        }
    }

    /// The canonical form, written down without looking at how it is made.
    pub(crate) fn canonical(&self) -> String {
        match self {
            Self::Scalar(text) => text.clone(),
            Self::Text(text) => serde_json::to_string(text).unwrap(),
            Self::Array(items) => {
                let items: Vec<String> = items.iter().map(Self::canonical).collect();
                format!("[{}]", items.join(","))
            }
            Self::Object(members) => {
                let members: Vec<String> = members
                    .iter()
                    .map(|(key, value)| {
                        format!(
                            "{}:{}",
                            serde_json::to_string(key).unwrap(),
                            value.canonical()
                        )
                    })
                    .collect();
                format!("{{{}}}", members.join(","))
            }
        }
    }

    /// The same value with the members of each object in reverse, repeated keys reduced
    /// to the last, which is the one that counts.
    pub(crate) fn reversed(&self) -> Self {
        match self {
            Self::Scalar(_) | Self::Text(_) => self.clone(),
            Self::Array(items) => Self::Array(items.iter().map(Self::reversed).collect()),
            Self::Object(members) => {
                let mut reversed: Vec<(String, Self)> = Vec::new();
                for (key, value) in members.iter().rev() {
                    if !reversed.iter().any(|(known, _)| known == key) {
                        reversed.push((key.clone(), value.reversed()));
                    }
                }
                Self::Object(reversed)
            }
        }
    }
}

/// How a text is spaced and escaped.
#[derive(Debug, Clone)]
pub(crate) struct Style {
    bits: Vec<bool>,
    at: usize,
}

pub(crate) fn style() -> impl Strategy<Value = Style> {
    prop::collection::vec(any::<bool>(), 1..64).prop_map(|bits| Style { bits, at: 0 })
}

impl Style {
    fn bit(&mut self) -> bool {
        self.at = (self.at + 1) % self.bits.len();
        self.bits[self.at]
    }

    fn blank(&mut self) -> &'static str {
        match (self.bit(), self.bit()) {
            (true, true) => " \t",
            (true, false) => "\r\n",
            _ => "",
        }
    }

    /// A string literal, some of whose characters are escaped without need.
    fn quote(&mut self, text: &str) -> String {
        let mut out = String::from("\"");
        for c in text.chars() {
            if self.bit() || c < ' ' {
                let mut units = [0; 2];
                for unit in c.encode_utf16(&mut units) {
                    let digits = if self.bit() {
                        format!("\\u{unit:04x}")
                    } else {
                        format!("\\u{unit:04X}")
                    };
                    out.push_str(&digits);
                }
            } else if c == '/' && self.bit() {
                out.push_str("\\/");
            } else if matches!(c, '"' | '\\') {
                out.push('\\');
                out.push(c);
            } else {
                out.push(c);
            }
        }
        out.push('"');
        out
    }
}

/// Names as servers have them, and names that would like to be mistaken for others.
pub(crate) fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-c_]{1,6}",
        "[a-b_-]{1,4}-[0-9a-f]{12}",
        "[a-z][a-z0-9_./:-]{0,40}[a-z]",
        "[a-zA-Z0-9_-]{20,128}",
        "\\PC{1,20}",
        any::<String>(),
    ]
}

pub(crate) fn group_id() -> impl Strategy<Value = GroupId> {
    name().prop_filter_map("no id", |text| GroupId::new(text).ok())
}

pub(crate) fn tool_name() -> impl Strategy<Value = ToolName> {
    name().prop_filter_map("no name", |text| ToolName::new(text).ok())
}
