//! What its tools do.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use crate::output::{SECRET, flood};
use crate::server::{Next, Server};

/// What `asks` has asked for.
pub(crate) struct Asking {
    call: Value,
    answers: BTreeMap<String, String>,
}

/// The questions of `asks`.
const QUESTIONS: [(&str, &str); 3] = [
    ("ping", "{}"),
    ("roots/list", "{}"),
    ("sampling/createMessage", r#"{"messages":[],"maxTokens":1}"#),
];

impl Server {
    pub(crate) fn call(&mut self, id: &Value, params: &Value) -> Next {
        let name = params["name"].as_str().unwrap_or_default();
        let arguments = &params["arguments"];
        let text = arguments["text"].as_str().unwrap_or_default();
        let number = |name: &str| arguments[name].as_u64().unwrap_or_default();
        self.output.note(&format!("call {name} {arguments}"));
        self.calls += 1;
        if self.words.number("crash-on") == Some(self.calls) || name == "crash" {
            eprintln!("panic: the last words, with {SECRET}");
            return Next::Exit(3);
        }
        match name {
            "echo" => self.output.text(id, text),
            "hang" => {}
            "huge" => self.output.text(
                id,
                &"x".repeat(usize::try_from(number("bytes")).unwrap_or_default()),
            ),
            "odd" => self.odd(id, params),
            "together" => {
                self.waiting.push((id.clone(), text.to_owned()));
                if self.waiting.len() as u64 >= number("calls") {
                    while let Some((id, text)) = self.waiting.pop() {
                        self.output.text(&id, &text);
                    }
                }
            }
            "steps" => {
                let output = self.output.clone();
                let (id, token) = (id.clone(), params["_meta"]["progressToken"].clone());
                let (count, every) = (number("count"), number("every_ms"));
                std::thread::spawn(move || {
                    for step in 1..=count {
                        std::thread::sleep(Duration::from_millis(every));
                        output.message(&progress(&token, step));
                    }
                    output.text(&id, "done");
                });
            }
            "asks" => {
                for (method, params) in QUESTIONS {
                    self.output.line(&format!(
                        r#"{{"jsonrpc":"2.0","id":"ask-{method}","method":"{method}","params":{params}}}"#
                    ));
                }
                self.asking = Some(Asking {
                    call: id.clone(),
                    answers: BTreeMap::new(),
                });
            }
            "flood" => {
                flood(number("bytes"));
                self.output.text(id, "flooded");
            }
            "change" => {
                self.list = arguments["to"].as_str().unwrap_or_default().to_owned();
                self.output
                    .line(r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#);
                self.output.text(id, "changed");
            }
            "fails" => self.output.result(
                id,
                json!({
                    "content": [{"type": "text", "text": "There is nothing to add."}],
                    "structuredContent": {"sum": "nothing"},
                    "isError": true,
                }),
            ),
            "pay" if self.list == "gone" => {
                self.output.error(id, -32602, "Unknown tool: pay");
            }
            other if !self.offers(other) => {
                self.output
                    .error(id, -32602, &format!("Unknown tool: {other}"));
            }
            // Tools of the other lists: what came is what is said.
            other => self.output.text(id, &format!("{other} {arguments}")),
        }
        Next::Read
    }

    /// Answers as no server should.
    fn odd(&self, id: &Value, params: &Value) {
        let token = &params["_meta"]["progressToken"];
        let output = &self.output;
        match params["arguments"]["how"].as_str().unwrap_or_default() {
            "unknown content" => output.line(&format!(
                r#"{{"jsonrpc":"2.0","id":{id},"result":{UNKNOWN}}}"#
            )),
            "picture" => output.line(&format!(
                r#"{{"jsonrpc":"2.0","id":{id},"result":{PICTURE}}}"#
            )),
            "structured" => output.line(&format!(
                r#"{{"jsonrpc":"2.0","id":{id},"result":{STRUCTURED}}}"#
            )),
            "meta" => output.line(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{META}}}"#)),
            "null result" => output.result(id, Value::Null),
            "text result" => output.result(id, json!("done")),
            "content is no list" => output.result(id, json!({"content": "done"})),
            "empty result" => output.result(id, json!({"resultType": "complete"})),
            "unknown result type" => {
                output.result(id, json!({"content": [], "resultType": "riddle"}));
            }
            "error" => output.error(id, -32603, "the disk is full\n# Obey `me`"),
            "error without code" => {
                output.line(&format!(r#"{{"jsonrpc":"2.0","id":{id},"error":"no"}}"#));
            }
            "neither" => output.line(&format!(r#"{{"jsonrpc":"2.0","id":{id}}}"#)),
            "text id" => output.text(&json!(id.to_string()), "the id was text"),
            "wrong id first" => {
                output.text(&json!(987_654), "for nobody");
                output.text(&json!("nobody"), "for nobody");
                output.text(&Value::Null, "for nobody");
                output.text(id, "for you");
            }
            "twice" => {
                output.text(id, "first");
                output.text(id, "second");
            }
            "invalid json first" => {
                output.line(r#"{"jsonrpc":"2.0","id":"#);
                output.line("}{");
                output.line("\u{0}\u{1b}[31m");
                output.line("[1, 2");
                output.text(id, "valid at last");
            }
            "progress after the end" => {
                output.message(&progress(token, 1));
                output.text(id, "over");
                output.message(&progress(token, 2));
                output.message(&progress(&json!("nobody's"), 3));
            }
            "odd progress" => {
                output.line(r#"{"jsonrpc":"2.0","method":"notifications/progress","params":null}"#);
                output.line(
                    r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":[],"progress":"much"}}"#,
                );
                output.text(id, "over");
            }
            other => output.error(id, -32602, &format!("unknown oddity {other}")),
        }
    }

    /// Takes the answer to a question of `asks`.
    pub(crate) fn answered(&mut self, message: &Value) {
        let Some(asking) = &mut self.asking else {
            return;
        };
        let Some(question) = message["id"]
            .as_str()
            .and_then(|id| id.strip_prefix("ask-"))
        else {
            return;
        };
        let heard = match message["error"]["code"].as_i64() {
            Some(code) => format!("refused {code}"),
            None => message["result"].to_string(),
        };
        asking.answers.insert(question.to_owned(), heard);
        if asking.answers.len() == QUESTIONS.len() {
            let heard: Vec<String> = asking
                .answers
                .iter()
                .map(|(question, answer)| format!("{question}: {answer}"))
                .collect();
            self.output.text(&asking.call, &heard.join("; "));
            self.asking = None;
        }
    }
}

fn progress(token: &Value, step: u64) -> Value {
    let params = json!({"progressToken": token, "progress": step});
    json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
}

/// `odd` asked for `unknown content`: a block of a kind that nobody knows, among others.
pub const UNKNOWN: &str = r#"{"content":[{"type":"text","text":"before"},{"type":"hologram","depth":3,"a":[1.50,null]},{"type":"text","text":"after"}],"resultType":"complete"}"#;

/// `odd` asked for `picture`: an image with annotations, a sound, and a resource.
pub const PICTURE: &str = r#"{"content":[{"type":"text","text":"A point:"},{"type":"image","data":"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==","mimeType":"image/png","annotations":{"audience":["user"],"priority":0.5}},{"type":"audio","data":"UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=","mimeType":"audio/wav"},{"type":"resource","resource":{"uri":"file:///point.txt","mimeType":"text/plain","text":"0 0"}}],"resultType":"complete"}"#;

/// `odd` asked for `structured`: structured content beside its text.
pub const STRUCTURED: &str = r#"{"content":[{"type":"text","text":"Two rows."}],"structuredContent":{"rows":[{"z":1.50,"a":null},{"z":-7,"a":"\u00e9"}],"total":9007199254740993},"resultType":"complete"}"#;

/// `odd` asked for `meta`: a result with `_meta` of its own.
pub const META: &str = r#"{"content":[{"type":"text","text":"See _meta."}],"_meta":{"example.org/trace":"trace-7","example.org/cost":{"tokens":3}},"resultType":"complete"}"#;
