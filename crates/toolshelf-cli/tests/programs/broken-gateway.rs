//! A gateway that breaks one promise: `broken-gateway BEHAVIOUR COMMAND…` passes messages to
//! and from the gateway of COMMAND, and changes just so many that the behaviour is wrong.
//! `process-per-call` is no fault: each call is made by a `toolshelf call` of its own.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a program of tests is a test"
)]

use std::io::{BufRead, BufReader, Write};
use std::process::{ChildStdin, Command, ExitCode, Stdio};
use std::sync::{Arc, Condvar, Mutex};

use serde_json::{Value, json};

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let breaks = words.next().expect("a behaviour");
    let command: Vec<String> = words.collect();
    // What the servers of this run are shows which behaviour is looked at.
    let config = std::fs::read_to_string(command.last().expect("a command")).unwrap_or_default();
    let _orphan = breaks.starts_with("orphans").then(|| {
        let child = Command::new("sleep").arg("600").spawn();
        child.expect("a child")
    });
    let mut inner = Command::new(&command[0])
        .args(&command[1..])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the gateway starts");
    let to_gateway = inner.stdin.take().expect("a pipe");
    let from_gateway = BufReader::new(inner.stdout.take().expect("a pipe"));
    let broken = Arc::new(Broken {
        breaks,
        command,
        config,
        state: Mutex::default(),
        answered: Condvar::new(),
    });
    let reading = broken.clone();
    std::thread::spawn(move || {
        for line in from_gateway.lines() {
            let Ok(line) = line else { break };
            if let Some(line) = reading.changed(&line) {
                say(&line);
            }
        }
        std::process::exit(0);
    });
    broken.pass_to_gateway(to_gateway);
    // The inner gateway ends with its input; its output ends then, and with it this one.
    let _ = inner.wait();
    loop {
        std::thread::park();
    }
}

struct Broken {
    breaks: String,
    command: Vec<String>,
    config: String,
    state: Mutex<State>,
    answered: Condvar,
}

#[derive(Default)]
struct State {
    /// Calls that the gateway has not answered.
    open: usize,
    crashed: bool,
    lists: usize,
}

fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{line}");
    let _ = out.flush();
}

impl Broken {
    fn is(&self, behaviour: &str) -> bool {
        self.breaks == behaviour
    }

    fn pass_to_gateway(&self, mut to_gateway: ChildStdin) {
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { break };
            let mut message: Value = serde_json::from_str(&line).unwrap();
            if self.swallows(&message) {
                continue;
            }
            if message["method"] == "tools/call" {
                if self.is("process-per-call") {
                    self.call_alone(message);
                    continue;
                }
                if let Some(text) = self.refusal(&message) {
                    let result =
                        json!({"content": [{"type": "text", "text": text}], "isError": true});
                    say(
                        &json!({"jsonrpc": "2.0", "id": message["id"], "result": result})
                            .to_string(),
                    );
                    continue;
                }
                self.change_call(&mut message);
                if self.is("one-process") {
                    let crash = json!({"tool_name": "kept/crash", "arguments": {}});
                    let params = json!({"name": "deferred_tool_call", "arguments": crash});
                    let call = json!({"jsonrpc": "2.0", "id": "c", "method": "tools/call", "params": params});
                    let _ = writeln!(to_gateway, "{call}");
                    self.wait_for_answers(1);
                }
                let mut state = self.state.lock().unwrap();
                state.open += 1;
                state.crashed |= line.contains("fragile/crash");
                drop(state);
                let _ = writeln!(to_gateway, "{message}");
                if self.is("parallel") || self.is("hanging-call") {
                    self.wait_for_answers(0);
                }
                continue;
            }
            let _ = writeln!(to_gateway, "{message}");
        }
    }

    /// Waits until all calls are answered, after it made some itself.
    fn wait_for_answers(&self, made: usize) {
        let mut state = self.state.lock().unwrap();
        state.open += made;
        while state.open > 0 {
            state = self.answered.wait(state).unwrap();
        }
    }

    /// Makes a call in a process that has no other, and answers with what it printed.
    fn call_alone(&self, message: Value) {
        let call = &message["params"]["arguments"];
        let tool = call["tool_name"].as_str().unwrap_or_default().to_owned();
        let mut command = Command::new(&self.command[0]);
        command
            .args(["call", "--timeout", "10", "--config"])
            .arg(self.command.last().unwrap())
            .args([tool, call["arguments"].to_string()]);
        std::thread::spawn(move || {
            let output = command.output().expect("a call");
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let result = json!({"content": [{"type": "text", "text": text}], "isError": !output.status.success()});
            say(&json!({"jsonrpc": "2.0", "id": message["id"], "result": result}).to_string());
        });
    }

    fn swallows(&self, message: &Value) -> bool {
        match message["method"].as_str().unwrap_or_default() {
            "tools/list" => self.is("slow") && self.config.contains("gate="),
            "notifications/cancelled" => self.is("cancellation"),
            "tools/call" => {
                self.is("repeated-cursor")
                    && message["params"]["arguments"]["tool_name"] == "circle/tool_1"
            }
            _ => false,
        }
    }

    fn refusal(&self, message: &Value) -> Option<&'static str> {
        let call = message["params"].to_string();
        let crashed = self.state.lock().unwrap().crashed;
        let refused = match self.breaks.as_str() {
            "warm-up" => self.config.contains("start="),
            "stderr-flood" => self.config.contains("flood="),
            "crash" => crashed && call.contains("fragile"),
            "pages" => call.contains("tool_5"),
            _ => false,
        };
        refused.then_some("given up")
    }

    fn change_call(&self, message: &mut Value) {
        let call = &mut message["params"]["arguments"];
        let name = call["tool_name"].as_str().unwrap_or_default().to_owned();
        let name = match self.breaks.as_str() {
            "same-name" => name.replace("beta/", "alpha/"),
            "ambiguous-name" if name == "echo" => "alpha/echo".to_owned(),
            "unknown-name" => name.replace("no_such_tool_at_all", "echo"),
            _ => name,
        };
        let lost = match self.breaks.as_str() {
            "arguments-as-text" => call["arguments"].is_string(),
            "arguments-flattened" => call["arguments"].is_null(),
            "missing-arguments" => call["arguments"] == json!({}),
            _ => false,
        };
        if call["tool_name"].is_string() {
            call["tool_name"] = name.into();
        }
        if lost {
            *call = json!({"tool_name": call["tool_name"], "arguments": {"text": ""}});
        }
    }

    fn changed(&self, line: &str) -> Option<String> {
        let mut message: Value = serde_json::from_str(line).unwrap();
        if self.is("progress") && message["method"] == "notifications/progress" {
            return None;
        }
        if self.is("banner") && self.config.contains("banner") {
            say("[info] a server said something");
        }
        let result = &mut message["result"];
        if let Some(tools) = result["tools"].as_array_mut() {
            let mut state = self.state.lock().unwrap();
            state.lists += 1;
            if self.is("list-bytes") {
                tools[0]["description"] = format!("List number {}.", state.lists).into();
            }
            if self.is("malformed-tool") && self.config.contains("list=malformed") {
                tools.push(json!({"name": 17}));
            }
        } else if result["content"].is_array() {
            self.change_result(result);
            let mut state = self.state.lock().unwrap();
            state.open = state.open.saturating_sub(1);
            self.answered.notify_all();
            if message["id"] == "c" {
                return None;
            }
        }
        let line = message.to_string();
        Some(match self.breaks.as_str() {
            "list-changed" => line.replace("refund", "..."),
            "changed-schema" => line.replace("currency", "..."),
            "near-miss" => line.replace("together", "..."),
            _ => line,
        })
    }

    fn change_result(&self, result: &mut Value) {
        let fields = result.as_object_mut().unwrap();
        match self.breaks.as_str() {
            "structured" => fields.remove("structuredContent"),
            "meta" => fields.remove("_meta"),
            "error-result" => fields.remove("isError"),
            "dead" if self.config.contains("exit=3") => fields.remove("isError"),
            _ => None,
        };
        let blocks = fields["content"].as_array_mut().unwrap();
        match self.breaks.as_str() {
            "images" => blocks.iter_mut().for_each(|block| {
                if block["type"] == "image" {
                    *block = json!({"type": "text", "text": "[image]"});
                }
            }),
            "unknown-content" => blocks.retain(|block| block["type"] != "hologram"),
            _ => {}
        }
    }
}
