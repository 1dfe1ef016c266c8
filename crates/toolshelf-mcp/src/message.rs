//! JSON-RPC messages as raw text: only the envelope is opened, so that what a peer
//! says reaches its reader byte for byte.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde_json::value::RawValue;

/// The id of a request.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Id {
    /// An integer.
    Number(i64),
    /// Text.
    Text(String),
    /// Another number, as it was written.
    Other(String),
}

impl Id {
    /// Reads an id; `None` when it is neither a number nor text.
    pub(crate) fn read(raw: &RawValue) -> Option<Self> {
        let text = raw.get();
        match text.as_bytes().first()? {
            b'"' => serde_json::from_str(text).ok().map(Self::Text),
            b'-' | b'0'..=b'9' => Some(match text.parse() {
                Ok(number) => Self::Number(number),
                Err(_) => Self::Other(text.to_owned()),
            }),
            _ => None,
        }
    }
}

/// The id as JSON.
impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => f.write_str(&quoted(text)),
            Self::Other(raw) => f.write_str(raw),
        }
    }
}

/// An error of JSON-RPC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RpcError {
    /// What kind of error.
    pub(crate) code: i64,
    /// Text, of the peer's making when it was received.
    pub(crate) message: String,
    /// Further data as JSON.
    pub(crate) data: Option<String>,
}

impl RpcError {
    /// An error without data.
    #[cfg(feature = "server")]
    pub(crate) fn new(code: i64, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            data: None,
        }
    }

    /// Reads what a peer sent, whatever it left out.
    fn read(raw: &RawValue) -> Self {
        #[derive(Deserialize, Default)]
        #[serde(default)]
        struct Read<'a> {
            #[serde(borrow)]
            code: Option<&'a RawValue>,
            #[serde(borrow)]
            message: Option<&'a RawValue>,
            #[serde(borrow)]
            data: Option<&'a RawValue>,
        }
        let read: Read<'_> = serde_json::from_str(raw.get()).unwrap_or_default();
        let message = read
            .message
            .and_then(|raw| serde_json::from_str::<String>(raw.get()).ok());
        Self {
            code: read
                .code
                .and_then(|raw| raw.get().parse().ok())
                .unwrap_or(crate::protocol::INTERNAL_ERROR),
            message: message.unwrap_or_else(|| "no message".to_owned()),
            data: read.data.map(|raw| raw.get().to_owned()),
        }
    }
}

/// A message that came in.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Message {
    /// A request; `params` is JSON.
    Request {
        /// To be put into the answer.
        id: Id,
        /// What is asked for.
        method: String,
        /// The parameters as JSON.
        params: Option<String>,
    },
    /// A notification.
    Notification {
        /// What it tells.
        method: String,
        /// The parameters as JSON.
        params: Option<String>,
    },
    /// An answer.
    Response {
        /// Of which request.
        id: Id,
        /// The result as JSON.
        result: String,
    },
    /// An error.
    Error {
        /// Of which request; a peer that could not read it leaves it out.
        id: Option<Id>,
        /// The error.
        error: RpcError,
    },
    /// JSON-RPC, but none of these.
    Malformed {
        /// The id, where there is one.
        id: Option<Id>,
        /// What is wrong with it.
        fault: &'static str,
    },
}

/// What a line turned out to be.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Read {
    /// Nothing but blanks.
    Blank,
    /// Not JSON.
    NotJson,
    /// JSON that has nothing to do with JSON-RPC, such as a line of a log.
    Foreign,
    /// Messages: one, or those of a batch (allowed in 2025-03-26).
    Messages(Vec<Message>),
}

/// Reads a line.
pub(crate) fn read(line: &str) -> Read {
    let line = line.trim_start_matches('\u{feff}').trim();
    match line.as_bytes().first() {
        None => Read::Blank,
        Some(b'{') => match one(line) {
            Ok(Some(message)) => Read::Messages(vec![message]),
            Ok(None) => Read::Foreign,
            Err(_) => Read::NotJson,
        },
        Some(b'[') => match serde_json::from_str::<Vec<&RawValue>>(line) {
            Ok(batch) => {
                let messages: Vec<Message> = batch
                    .iter()
                    .filter_map(|raw| one(raw.get()).ok().flatten())
                    .collect();
                if messages.is_empty() {
                    Read::Foreign
                } else {
                    Read::Messages(messages)
                }
            }
            Err(_) => Read::NotJson,
        },
        Some(_) if serde_json::from_str::<&RawValue>(line).is_ok() => Read::Foreign,
        Some(_) => Read::NotJson,
    }
}

fn one(text: &str) -> Result<Option<Message>, serde_json::Error> {
    // A map of raw values instead of a struct: a repeated key is no reason to lose a
    // message, and of repeated keys the last one counts.
    let mut fields: BTreeMap<Cow<'_, str>, &RawValue> = serde_json::from_str(text)?;
    let envelope = fields.remove("jsonrpc");
    let id = fields.remove("id").filter(|id| id.get() != "null");
    if envelope.is_none() && id.is_none() {
        return Ok(None);
    }
    let id = match id {
        None => None,
        Some(raw) => match Id::read(raw) {
            Some(id) => Some(id),
            None => {
                return Ok(Some(Message::Malformed {
                    id: None,
                    fault: "the id is neither a number nor a string",
                }));
            }
        },
    };
    let malformed = |id, fault| Ok(Some(Message::Malformed { id, fault }));
    if envelope.is_some_and(|version| version.get() != "\"2.0\"") {
        return malformed(id, "jsonrpc is not \"2.0\"");
    }
    let params = fields.remove("params").map(|raw| raw.get().to_owned());
    let result = fields.remove("result");
    let error = fields.remove("error").filter(|error| error.get() != "null");
    Ok(Some(match (fields.remove("method"), id) {
        (Some(method), id) => {
            let Ok(method) = serde_json::from_str::<String>(method.get()) else {
                return malformed(id, "the method is not a string");
            };
            match id {
                Some(id) => Message::Request { id, method, params },
                None => Message::Notification { method, params },
            }
        }
        (None, id) => match (id, result, error) {
            (Some(id), Some(result), None) => Message::Response {
                id,
                result: result.get().to_owned(),
            },
            (id, None, Some(error)) => Message::Error {
                id,
                error: RpcError::read(error),
            },
            (id, Some(_), _) => {
                return malformed(id, "there are a result and an error, or no id");
            }
            (id, None, None) => return malformed(id, "there is no method, result or error"),
        },
    }))
}

/// Text as JSON.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Writes a request. `params` is JSON.
pub(crate) fn request(id: &Id, method: &str, params: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":{},"params":{params}}}"#,
        quoted(method)
    )
}

/// Writes a notification. `params` is JSON.
pub(crate) fn notification(method: &str, params: Option<&str>) -> String {
    match params {
        Some(params) => format!(
            r#"{{"jsonrpc":"2.0","method":{},"params":{params}}}"#,
            quoted(method)
        ),
        None => format!(r#"{{"jsonrpc":"2.0","method":{}}}"#, quoted(method)),
    }
}

/// Writes an answer. `result` is JSON.
pub(crate) fn response(id: &Id, result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
}

/// Writes an error.
pub(crate) fn error(id: Option<&Id>, error: &RpcError) -> String {
    let id = id.map_or_else(|| "null".to_owned(), Id::to_string);
    let data = error
        .data
        .as_ref()
        .map_or_else(String::new, |data| format!(r#","data":{data}"#));
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{},"message":{}{data}}}}}"#,
        error.code,
        quoted(&error.message)
    )
}

/// Finds the id in the ends of a message that was too long to keep: real servers put
/// it first or last.
pub(crate) fn id_from_ends(head: &[u8], tail: &[u8]) -> Option<Id> {
    fn number(text: &str) -> Option<Id> {
        let digits: String = text.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().ok().map(Id::Number)
    }
    let compact = |bytes: &[u8]| -> String {
        String::from_utf8_lossy(bytes)
            .chars()
            .filter(|c| !c.is_ascii_whitespace())
            .collect()
    };
    let head = compact(head);
    for start in [r#"{"jsonrpc":"2.0","id":"#, r#"{"id":"#] {
        if let Some(rest) = head.strip_prefix(start) {
            return number(rest);
        }
    }
    let tail = compact(tail);
    let end = tail
        .strip_suffix(r#","jsonrpc":"2.0"}"#)
        .or_else(|| tail.strip_suffix('}'))?;
    let (_, id) = end.rsplit_once(r#","id":"#)?;
    id.bytes()
        .all(|byte| byte.is_ascii_digit())
        .then(|| number(id))?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(line: &str) -> Message {
        match read(line) {
            Read::Messages(mut messages) if messages.len() == 1 => messages.remove(0),
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn a_result_keeps_every_byte() {
        let line = r#" {"id":7,"result":{ "b":1.0, "a":1e3 },"jsonrpc":"2.0","extra":1}"#;
        assert_eq!(
            message(line),
            Message::Response {
                id: Id::Number(7),
                result: r#"{ "b":1.0, "a":1e3 }"#.to_owned()
            }
        );
    }

    #[test]
    fn lines_of_other_programs_are_told_apart() {
        assert_eq!(read("  \t"), Read::Blank);
        assert_eq!(read("Server is listening"), Read::NotJson);
        assert_eq!(read("{broken"), Read::NotJson);
        assert_eq!(read("42"), Read::Foreign);
        assert_eq!(read("[]"), Read::Foreign);
        assert_eq!(read(r#"{"level":30,"error":"x","msg":"y"}"#), Read::Foreign);
    }

    #[test]
    fn ids_and_errors_survive_what_peers_make_of_them() {
        assert_eq!(
            message(r#"{"jsonrpc":"2.0","id":null,"error":{"code":"x"}}"#),
            Message::Error {
                id: None,
                error: RpcError {
                    code: -32_603,
                    message: "no message".to_owned(),
                    data: None
                }
            }
        );
        assert!(matches!(
            message(r#"{"jsonrpc":"2.0","id":3}"#),
            Message::Malformed {
                id: Some(Id::Number(3)),
                ..
            }
        ));
        assert!(matches!(
            message(r#"{"jsonrpc":"2.0","id":{},"method":"x"}"#),
            Message::Malformed { id: None, .. }
        ));
    }

    #[test]
    fn what_is_written_reads_back() {
        let id = Id::Text("a\"b".to_owned());
        assert_eq!(
            message(&request(&id, "m", "{}")),
            Message::Request {
                id: id.clone(),
                method: "m".to_owned(),
                params: Some("{}".to_owned())
            }
        );
        let fault = RpcError {
            code: -1,
            message: "é\n".to_owned(),
            data: Some("[1]".to_owned()),
        };
        assert_eq!(
            message(&error(Some(&id), &fault)),
            Message::Error {
                id: Some(id),
                error: fault
            }
        );
    }

    #[test]
    fn the_id_of_a_message_too_long_is_found_at_either_end() {
        let found = |head: &str, tail: &str| id_from_ends(head.as_bytes(), tail.as_bytes());
        assert_eq!(
            found(r#"{"jsonrpc": "2.0", "id": 12, "result": {"#, "x"),
            Some(Id::Number(12))
        );
        assert_eq!(
            found(r#"{"result":{"#, r#"x"}]},"jsonrpc":"2.0","id":3}"#),
            Some(Id::Number(3))
        );
        assert_eq!(found(r#"{"result":{"#, r#"{"id":3}}}"#), None);
    }

    proptest::proptest! {
        #[test]
        fn anything_can_be_read(line in proptest::prop_oneof![
            ".*",
            r#"[\[{]("(id|jsonrpc|method|result|error|params)": ?(1|null|"2.0"|\{\}|\[\]|"é"),?)*[\]}]"#,
        ]) {
            read(&line);
            let half = line.len() / 2;
            id_from_ends(&line.as_bytes()[..half], &line.as_bytes()[half..]);
        }

        #[test]
        fn every_id_and_method_survives(text in ".*", number: i64) {
            for id in [Id::Text(text.clone()), Id::Number(number)] {
                let expected = Message::Request {
                    id: id.clone(),
                    method: text.clone(),
                    params: Some("[]".to_owned()),
                };
                proptest::prop_assert_eq!(message(&request(&id, &text, "[]")), expected);
            }
        }
    }
}
