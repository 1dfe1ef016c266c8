//! What a client sees of a server of ours, line by line.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test states its expectation by failing on the spot"
)]

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use support::{DESCRIPTORS, Fixture, within};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use toolshelf_core::{CallContext, Cancellation, Error, ToolOutcome};
use toolshelf_mcp::{Era, Lifecycle, ServeOptions, StdioConfig, StdioServer, serve};

/// A client that writes lines.
struct Raw {
    lines: Lines<BufReader<DuplexStream>>,
    input: DuplexStream,
    serving: JoinHandle<Result<(), Error>>,
    shutdown: Cancellation,
}

impl Raw {
    fn start(server: Fixture, options: ServeOptions) -> Self {
        let (input, reader) = tokio::io::duplex(64 * 1024);
        let (writer, output) = tokio::io::duplex(64 * 1024);
        let shutdown = Cancellation::new();
        let serving = tokio::spawn(serve(
            reader,
            writer,
            Arc::new(server),
            options,
            shutdown.clone(),
        ));
        Self {
            lines: BufReader::new(output).lines(),
            input,
            serving,
            shutdown,
        }
    }

    fn new(server: Fixture) -> Self {
        Self::start(server, ServeOptions::default())
    }

    /// One that has shaken hands.
    async fn initialized(server: Fixture, capabilities: Value) -> Self {
        let mut raw = Self::new(server);
        let answer = raw
            .ask(
                json!({ "jsonrpc": "2.0", "id": "i", "method": "initialize", "params": {
                "protocolVersion": "2025-11-25", "capabilities": capabilities,
                "clientInfo": { "name": "raw", "version": "9" } } }),
            )
            .await;
        assert_eq!(answer["result"]["protocolVersion"], "2025-11-25");
        raw.tell(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string())
            .await;
        raw
    }

    async fn tell(&mut self, line: &str) {
        self.input.write_all(line.as_bytes()).await.unwrap();
        self.input.write_all(b"\n").await.unwrap();
    }

    async fn line(&mut self) -> String {
        self.lines
            .next_line()
            .await
            .unwrap()
            .expect("the server has ended")
    }

    async fn hear(&mut self) -> Value {
        serde_json::from_str(&self.line().await).unwrap()
    }

    async fn ask(&mut self, request: Value) -> Value {
        self.tell(&request.to_string()).await;
        let answer = self.hear().await;
        assert_eq!(answer["id"], request["id"]);
        answer
    }

    async fn call(&mut self, id: i64, name: &str, arguments: Value) {
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": { "name": name, "arguments": arguments } });
        self.tell(&request.to_string()).await;
    }

    /// Closes the client's end and waits for the server's.
    async fn end(self) -> Vec<String> {
        let Self {
            mut lines,
            input,
            serving,
            shutdown: _shutdown,
        } = self;
        drop(input);
        let mut rest = Vec::new();
        while let Some(line) = lines.next_line().await.unwrap() {
            rest.push(line);
        }
        serving.await.unwrap().unwrap();
        rest
    }
}

fn modern(id: i64, method: &str, params: Value) -> Value {
    let mut params = params;
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({ "elicitation": {} });
    params["_meta"]["io.modelcontextprotocol/clientInfo"] =
        json!({ "name": "raw", "version": "9" });
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

#[tokio::test]
async fn a_handshake_client_hears_nothing_of_later_revisions() {
    within(async {
        let (sender, mut sessions) = mpsc::unbounded_channel();
        let server = Fixture { sessions: Some(sender), ..Fixture::default() };
        let mut raw = Raw::new(server);
        let ping = raw.ask(json!({ "jsonrpc": "2.0", "id": 0, "method": "ping" })).await;
        assert_eq!(ping["result"], json!({}));
        let early = raw.ask(json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" })).await;
        assert_eq!(early["error"]["code"], -32_602);
        let answer = raw
            .ask(json!({ "jsonrpc": "2.0", "id": 2, "method": "initialize", "params": {
                "protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": { "name": "raw", "version": "9" } } }))
            .await;
        assert_eq!(
            answer["result"],
            json!({ "protocolVersion": "2025-03-26", "capabilities": { "tools": { "listChanged": true } },
                "serverInfo": { "name": "fixture", "version": "0.0.1" }, "instructions": "Handshake" })
        );
        let session = sessions.recv().await.unwrap();
        assert_eq!((session.era(), session.protocol()), (Era::Handshake, "2025-03-26"));
        assert_eq!((session.client_name(), session.client_version()), (Some("raw"), Some("9")));
        // Not before the client is ready, and then at once.
        session.tools_changed();
        raw.tell(r#"{"jsonrpc":"2.0","id":3,"method":"tools/list"}"#).await;
        assert_eq!(
            raw.line().await,
            format!(r#"{{"jsonrpc":"2.0","id":3,"result":{{"tools":[{}]}}}}"#, DESCRIPTORS.join(","))
        );
        raw.tell(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
        assert_eq!(raw.hear().await["method"], "notifications/tools/list_changed");
        raw.call(4, "echo", json!({ "b": 1 })).await;
        assert_eq!(
            raw.line().await,
            r#"{"jsonrpc":"2.0","id":4,"result":{"content":[{"type":"text","text":"echo({\"b\":1})"}]}}"#
        );
        let again = raw
            .ask(json!({ "jsonrpc": "2.0", "id": 5, "method": "initialize", "params": { "protocolVersion": "2025-11-25" } }))
            .await;
        assert_eq!(again["error"]["code"], -32_600);
        for (id, method) in [(6, "prompts/list"), (7, "server/discover"), (8, "logging/setLevel")] {
            let answer = raw.ask(json!({ "jsonrpc": "2.0", "id": id, "method": method })).await;
            assert_eq!(answer["error"]["code"], -32_601, "{method}");
        }
        let page = raw.ask(json!({ "jsonrpc": "2.0", "id": 9, "method": "tools/list", "params": { "cursor": "x" } })).await;
        assert_eq!(page["error"]["code"], -32_602);
        assert_eq!(raw.end().await, [""; 0]);
        // After the end it does nothing.
        session.tools_changed();
    })
    .await;
}

#[tokio::test]
async fn an_unknown_revision_is_offered_ours() {
    within(async {
        let mut raw = Raw::new(Fixture::default());
        let answer = raw
            .ask(json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "protocolVersion": "2031-01-01" } }))
            .await;
        assert_eq!(answer["result"]["protocolVersion"], "2025-11-25");
        let mut raw = Raw::new(Fixture::default());
        let answer = raw
            .ask(json!({ "jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": { "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2031-01-01",
                "io.modelcontextprotocol/clientCapabilities": {} } } }))
            .await;
        assert_eq!(answer["error"]["code"], -32_022);
        assert_eq!(answer["error"]["data"]["requested"], "2031-01-01");
        assert_eq!(answer["error"]["data"]["supported"][0], "2026-07-28");
        // And the connection goes on, in either way.
        let answer = raw.ask(modern(2, "server/discover", json!({}))).await;
        assert_eq!(answer["result"]["supportedVersions"], json!(["2026-07-28"]));
    })
    .await;
}

#[tokio::test]
async fn a_modern_client_gets_what_its_revision_demands() {
    within(async {
        let (sender, mut sessions) = mpsc::unbounded_channel();
        let server = Fixture { sessions: Some(sender), ..Fixture::default() };
        let mut raw = Raw::new(server);
        let info = json!({ "io.modelcontextprotocol/serverInfo": { "name": "fixture", "version": "0.0.1" } });
        let answer = raw.ask(modern(1, "server/discover", json!({}))).await;
        assert_eq!(
            answer["result"],
            json!({ "supportedVersions": ["2026-07-28"], "capabilities": { "tools": {} }, "instructions": "Modern",
                "resultType": "complete", "ttlMs": 0, "cacheScope": "private", "_meta": info })
        );
        let session = sessions.recv().await.unwrap();
        assert_eq!((session.era(), session.client_name()), (Era::Modern, Some("raw")));
        session.tools_changed();
        let answer = raw.ask(modern(2, "tools/list", json!({}))).await;
        assert_eq!(answer["result"]["resultType"], "complete");
        assert_eq!(answer["result"]["ttlMs"], 0);
        assert_eq!(answer["result"]["cacheScope"], "private");
        assert_eq!(answer["result"]["tools"].as_array().unwrap().len(), 2);
        let answer = raw.ask(modern(3, "tools/call", json!({ "name": "echo" }))).await;
        assert_eq!(
            answer["result"],
            json!({ "content": [{ "type": "text", "text": "echo()" }], "resultType": "complete", "_meta": info })
        );
        let mut bare = modern(4, "tools/list", json!({}));
        bare["params"]["_meta"].as_object_mut().unwrap().remove("io.modelcontextprotocol/clientCapabilities");
        assert_eq!(raw.ask(bare).await["error"]["code"], -32_602);
        assert!(sessions.try_recv().is_err());
    })
    .await;
}

#[tokio::test]
async fn a_modern_client_is_told_of_changes_where_it_asks_for_that() {
    within(async {
        let (sender, mut sessions) = mpsc::unbounded_channel();
        let server = Fixture {
            sessions: Some(sender),
            modern_change: true,
            ..Fixture::default()
        };
        let mut raw = Raw::new(server);
        let answer = raw.ask(modern(1, "server/discover", json!({}))).await;
        assert_eq!(
            answer["result"]["capabilities"],
            json!({ "tools": { "listChanged": true } })
        );
        let session = sessions.recv().await.unwrap();
        // Nobody has asked yet.
        session.tools_changed();
        let wanted = json!({ "notifications": { "toolsListChanged": true, "promptsListChanged": true } });
        raw.tell(&modern(2, "subscriptions/listen", wanted.clone()).to_string()).await;
        assert_eq!(
            raw.line().await,
            r#"{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":2},"notifications":{"toolsListChanged":true}}}"#
        );
        let mut other = modern(0, "subscriptions/listen", wanted);
        other["id"] = json!("two");
        raw.tell(&other.to_string()).await;
        raw.hear().await;
        raw.tell(&modern(3, "subscriptions/listen", json!({ "notifications": {} })).to_string()).await;
        assert_eq!(raw.hear().await["params"]["notifications"], json!({}));
        session.tools_changed();
        for id in [r"2", r#""two""#] {
            assert_eq!(
                raw.line().await,
                format!(r#"{{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{{"_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}}}}}"#)
            );
        }
        // The third one has asked for nothing. Requests are answered meanwhile, and an id
        // that is taken is taken.
        let list = raw.ask(modern(4, "tools/list", json!({}))).await;
        assert_eq!(list["result"]["tools"].as_array().unwrap().len(), 2);
        let again = raw.ask(modern(2, "tools/list", json!({}))).await;
        assert_eq!(again["error"]["code"], -32_600);
        let wrong = raw.ask(modern(5, "subscriptions/listen", json!({ "notifications": [] }))).await;
        assert_eq!(wrong["error"]["code"], -32_602);
        // A request that is withdrawn is told nothing more, not even its end.
        raw.tell(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}"#).await;
        raw.ask(modern(6, "tools/list", json!({}))).await;
        session.tools_changed();
        assert_eq!(
            raw.hear().await["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"],
            "two"
        );
        // At the end of input the others are answered, and keep nobody waiting.
        let begun = std::time::Instant::now();
        let mut rest = raw.end().await;
        assert!(begun.elapsed() < std::time::Duration::from_secs(4));
        rest.sort();
        let info = r#""io.modelcontextprotocol/serverInfo":{"name":"fixture","version":"0.0.1"}"#;
        let end = |id: &str| {
            format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"complete","_meta":{{"io.modelcontextprotocol/subscriptionId":{id},{info}}}}}}}"#)
        };
        assert_eq!(rest, [end(r#""two""#), end("3")]);
        session.tools_changed();
    })
    .await;
}

#[tokio::test]
async fn a_shutdown_ends_subscriptions_in_order() {
    within(async {
        let server = Fixture {
            modern_change: true,
            ..Fixture::default()
        };
        let mut raw = Raw::new(server);
        let wanted = json!({ "notifications": { "toolsListChanged": true } });
        raw.tell(&modern(1, "subscriptions/listen", wanted).to_string())
            .await;
        raw.hear().await;
        raw.shutdown.cancel();
        assert_eq!(raw.hear().await["result"]["resultType"], "complete");
        raw.serving.await.unwrap().unwrap();
    })
    .await;
}

#[tokio::test]
async fn who_does_not_tell_changes_cannot_be_asked_to() {
    within(async {
        let wanted = json!({ "notifications": { "toolsListChanged": true } });
        let mut raw = Raw::new(Fixture::default());
        let answer = raw.ask(modern(1, "subscriptions/listen", wanted.clone())).await;
        assert_eq!(answer["error"]["code"], -32_601);
        // Nor by a client that shook hands: it is told anyway.
        let server = Fixture { modern_change: true, ..Fixture::default() };
        let mut raw = Raw::initialized(server, json!({})).await;
        let answer = raw
            .ask(json!({ "jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": wanted }))
            .await;
        assert_eq!(answer["error"]["code"], -32_601);
    })
    .await;
}

#[tokio::test]
async fn results_are_written_as_they_are() {
    within(async {
        let mut raw = Raw::initialized(Fixture::default(), json!({})).await;
        let result = r#"{"content":[{"type":"text","text":"é"},{"type":"hologram"}],"structuredContent":{"z":1.50,"a":123456789012345678901},"isError":true,"_meta":{"k":1},"extra":[1]}"#;
        raw.tell(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"verbatim","arguments":{result}}}}}"#)).await;
        assert_eq!(raw.line().await, format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#));
    })
    .await;
}

#[tokio::test]
async fn arguments_come_as_they_were_sent() {
    within(async {
        let mut raw = Raw::initialized(Fixture::default(), json!({})).await;
        for (sent, seen) in [
            (r#","arguments":{"z":1.0,"a":10000000000000000000000000000001,"z":2}"#, r#"{"z":1.0,"a":10000000000000000000000000000001,"z":2}"#),
            (r#","arguments":"{\"a\": 1}""#, r#""{\"a\": 1}""#),
            (r#","arguments":[1]"#, "[1]"),
            (r#","arguments":null"#, "null"),
            ("", ""),
        ] {
            raw.tell(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"echo"{sent}}}}}"#)).await;
            let answer = raw.hear().await;
            assert_eq!(answer["result"]["content"][0]["text"], format!("echo({seen})"));
        }
        for params in [r"{}", r#"{"name":7}"#, "[1]", r#"{"name":"echo","_meta":3}"#] {
            raw.tell(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#)).await;
            assert_eq!(raw.hear().await["error"]["code"], -32_602, "{params}");
        }
    })
    .await;
}

#[tokio::test]
async fn the_context_of_a_call_is_free_of_the_protocol() {
    within(async {
        let (sender, mut calls) = mpsc::unbounded_channel();
        let server = Fixture {
            calls: Some(sender),
            ..Fixture::default()
        };
        let mut raw = Raw::new(server);
        let mut request = modern(
            1,
            "tools/call",
            json!({ "name": "echo", "requestState": "s", "inputResponses": { "q": 1 } }),
        );
        let meta = &mut request["params"]["_meta"];
        meta["progressToken"] = json!("t");
        meta["traceparent"] = json!("00-a-b-01");
        meta["vendor/x"] = json!({ "y": 1 });
        raw.ask(request).await;
        let context = calls.recv().await.unwrap().context;
        assert_eq!(
            Value::Object(context.meta),
            json!({ "vendor/x": { "y": 1 } })
        );
        assert_eq!(
            Value::Object(context.resume),
            json!({ "requestState": "s", "inputResponses": { "q": 1 } })
        );
        assert_eq!(context.trace.traceparent.as_deref(), Some("00-a-b-01"));
        assert!(context.progress.is_some());
        assert!(context.elicitor.is_none());
        raw.ask(modern(2, "tools/call", json!({ "name": "echo" })))
            .await;
        assert!(calls.recv().await.unwrap().context.progress.is_none());
    })
    .await;
}

#[tokio::test]
async fn progress_is_sent_under_the_clients_token_and_before_the_answer() {
    within(async {
        let mut raw = Raw::initialized(Fixture::default(), json!({})).await;
        for (token, written) in [(r#""a\"b""#, r#""a\"b""#), ("17", "17"), ("1.5", "1.5")] {
            raw.tell(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"progress","_meta":{{"progressToken":{token}}}}}}}"#)).await;
            for n in 1..=3 {
                let line = raw.line().await;
                let expected: Value = serde_json::from_str(&format!(
                    r#"{{"progressToken":{written},"progress":{n},"total":3,"message":"step {n}"}}"#
                ))
                .unwrap();
                let got: Value = serde_json::from_str(&line).unwrap();
                assert_eq!(got["params"], expected);
            }
            assert_eq!(raw.hear().await["id"], 1);
        }
    })
    .await;
}

#[tokio::test]
async fn requests_run_at_the_same_time_and_can_be_cancelled() {
    within(async {
        let (sender, mut cancelled) = mpsc::unbounded_channel();
        let server = Fixture {
            cancelled: Some(sender),
            ..Fixture::default()
        };
        let gate = server.gate.clone();
        let mut raw = Raw::initialized(server, json!({})).await;
        raw.call(1, "wait", json!({})).await;
        raw.call(2, "echo", json!({})).await;
        assert_eq!(raw.hear().await["id"], 2);
        raw.call(1, "echo", json!({})).await;
        assert_eq!(raw.hear().await["error"]["code"], -32_600);
        raw.tell(
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#,
        )
        .await;
        assert_eq!(cancelled.recv().await.as_deref(), Some("wait"));
        // No answer to it, and its id is free again.
        raw.call(3, "echo", json!({})).await;
        assert_eq!(raw.hear().await["id"], 3);
        raw.call(4, "wait", json!({})).await;
        gate.notify_one();
        assert_eq!(raw.hear().await["result"]["content"][0]["text"], "waited");
    })
    .await;
}

#[tokio::test]
async fn what_is_no_request_is_refused_and_the_connection_goes_on() {
    within(async {
        let mut options = ServeOptions::default();
        options.max_message_bytes = 2_000;
        let mut raw = Raw::start(Fixture::default(), options);
        for (line, code, id) in [
            ("{nonsense".to_owned(), -32_700, json!(null)),
            ("GET / HTTP/1.1".to_owned(), -32_700, json!(null)),
            ("{\"a\":\"\u{0}\"}".to_owned(), -32_700, json!(null)),
            ("[]".to_owned(), -32_600, json!(null)),
            ("7".to_owned(), -32_600, json!(null)),
            (
                r#"{"id":1,"method":"ping","jsonrpc":"1.0"}"#.to_owned(),
                -32_600,
                json!(1),
            ),
            (
                r#"{"id":[],"method":"ping","jsonrpc":"2.0"}"#.to_owned(),
                -32_600,
                json!(null),
            ),
            (
                r#"{"id":2,"method":7,"jsonrpc":"2.0"}"#.to_owned(),
                -32_600,
                json!(2),
            ),
            (r#"{"id":3,"jsonrpc":"2.0"}"#.to_owned(), -32_600, json!(3)),
            (
                format!(
                    r#"{{"jsonrpc":"2.0","id":4,"method":"{}"}}"#,
                    "x".repeat(3_000)
                ),
                -32_600,
                json!(4),
            ),
        ] {
            raw.tell(&line).await;
            let answer = raw.hear().await;
            assert_eq!(answer["error"]["code"], code, "{line}");
            assert_eq!(answer["id"], id, "{line}");
        }
        raw.input.write_all(b"\"\xff\"\n").await.unwrap();
        assert_eq!(raw.hear().await["error"]["code"], -32_700);
        raw.tell("").await;
        raw.tell(r#"{"jsonrpc":"2.0","id":"unknown","result":{}}"#)
            .await;
        let answer = raw
            .ask(json!({ "jsonrpc": "2.0", "id": "é\"", "method": "ping" }))
            .await;
        assert_eq!(answer["result"], json!({}));
        let answer = raw
            .ask(json!({ "jsonrpc": "2.0", "id": 1.5, "method": "ping" }))
            .await;
        assert_eq!(answer["result"], json!({}));
    })
    .await;
}

#[tokio::test]
async fn faults_reach_the_client_without_their_secrets() {
    within(async {
        let mut raw = Raw::initialized(Fixture::default(), json!({})).await;
        raw.call(1, "nothing", json!({})).await;
        assert_eq!(
            raw.line().await,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"There is no such tool."}}"#
        );
        raw.call(2, "panic", json!({})).await;
        assert_eq!(raw.hear().await["error"]["code"], -32_603);
        raw.call(2, "echo", json!({})).await;
        assert!(raw.hear().await["result"].is_object());
    })
    .await;
}

#[tokio::test]
async fn a_client_that_can_ask_its_user_is_asked() {
    within(async {
        let question = json!({ "message": "Name?", "requestedSchema": { "type": "object" } });
        let mut raw = Raw::initialized(Fixture::default(), json!({ "elicitation": {} })).await;
        raw.call(1, "ask", question.clone()).await;
        let asked = raw.hear().await;
        assert_eq!(asked["method"], "elicitation/create");
        assert_eq!(asked["params"], question);
        let id = asked["id"].as_str().unwrap();
        raw.tell(&format!(r#"{{"jsonrpc":"2.0","id":"{id}","result":{{"action":"accept","content":{{"b":1.0,"a":2}}}}}}"#)).await;
        let answer = raw.hear().await;
        assert_eq!(answer["result"]["content"][0]["text"], r#"{"action":"accept","content":{"b":1.0,"a":2}}"#);
        // A call that is cancelled takes its question back.
        raw.call(2, "ask", question.clone()).await;
        let id = raw.hear().await["id"].clone();
        raw.tell(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}"#).await;
        let taken_back = raw.hear().await;
        assert_eq!(taken_back["method"], "notifications/cancelled");
        assert_eq!(taken_back["params"]["requestId"], id);
        // Pages are no forms.
        raw.call(3, "ask", json!({ "mode": "url", "url": "https://example.org" })).await;
        assert_eq!(raw.hear().await["error"]["code"], -32_603);

        let mut raw = Raw::initialized(Fixture::default(), json!({})).await;
        raw.call(1, "ask", question).await;
        assert_eq!(raw.hear().await["result"]["content"][0]["text"], "nobody to ask");
    })
    .await;
}

#[tokio::test]
async fn requests_in_flight_are_answered_after_the_end_of_input() {
    within(async {
        let server = Fixture::default();
        let gate = server.gate.clone();
        let mut raw = Raw::initialized(server, json!({})).await;
        raw.call(1, "wait", json!({})).await;
        raw.call(2, "echo", json!({})).await;
        assert_eq!(raw.hear().await["id"], 2);
        let (rest, ()) = tokio::join!(raw.end(), async { gate.notify_one() });
        assert_eq!(rest.len(), 1);
        assert!(rest[0].contains("waited"), "{rest:?}");
    })
    .await;
}

#[tokio::test]
async fn a_shutdown_cancels_what_is_in_flight() {
    within(async {
        let (sender, mut cancelled) = mpsc::unbounded_channel();
        let server = Fixture {
            cancelled: Some(sender),
            ..Fixture::default()
        };
        let mut raw = Raw::initialized(server, json!({})).await;
        raw.call(1, "wait", json!({})).await;
        raw.call(2, "echo", json!({})).await;
        assert_eq!(raw.hear().await["id"], 2);
        raw.shutdown.cancel();
        assert_eq!(cancelled.recv().await.as_deref(), Some("wait"));
        raw.serving.await.unwrap().unwrap();
    })
    .await;
}

#[tokio::test]
async fn a_client_that_is_gone_or_asks_too_much_is_noticed() {
    within(async {
        let mut raw = Raw::initialized(Fixture::default(), json!({})).await;
        raw.call(1, "wait", json!({})).await;
        let Raw {
            lines,
            mut input,
            serving,
            shutdown: _shutdown,
        } = raw;
        drop(lines);
        let ping = r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#;
        input
            .write_all(format!("{ping}\n").as_bytes())
            .await
            .unwrap();
        assert!(serving.await.unwrap().is_err());

        let mut options = ServeOptions::default();
        options.max_in_flight = 1;
        let mut raw = Raw::start(Fixture::default(), options);
        raw.tell(&modern(1, "tools/call", json!({ "name": "wait" })).to_string())
            .await;
        let answer = raw
            .ask(modern(2, "tools/call", json!({ "name": "echo" })))
            .await;
        assert_eq!(
            answer["error"]["message"],
            "too many requests are in flight"
        );
    })
    .await;
}

#[tokio::test]
async fn our_client_hears_of_the_changes_of_our_server() {
    within(async {
        let exe = env!("CARGO_BIN_EXE_toolshelf-mcp-fixture");
        for lifecycle in [Lifecycle::Auto, Lifecycle::Initialize] {
            let mut config = StdioConfig::new("served", exe).args(["serve"]);
            config.lifecycle = lifecycle;
            let count = Arc::new(AtomicUsize::new(0));
            let seen = count.clone();
            let server = StdioServer::on_list_changed(config, move || {
                seen.fetch_add(1, Ordering::SeqCst);
            });
            for n in 1..=2 {
                server
                    .call_tool("change", json!({}), CallContext::new())
                    .await
                    .unwrap();
                // Told before the answer.
                assert_eq!(count.load(Ordering::SeqCst), n, "{lifecycle:?}");
            }
            // The open request does not keep the server from ending by itself.
            let begun = std::time::Instant::now();
            server.close().await;
            assert!(begun.elapsed() < std::time::Duration::from_secs(2));
        }
    })
    .await;
}

#[tokio::test]
async fn standard_input_and_output_are_served_to_their_end() {
    within(async {
        let exe = env!("CARGO_BIN_EXE_toolshelf-mcp-fixture");
        let mut config = StdioConfig::new("served", exe).args(["serve"]);
        config.close_grace = std::time::Duration::from_secs(10);
        let server = StdioServer::new(config);
        let text = "x".repeat(300_000);
        let outcome = server
            .call_tool("echo", json!({ "text": text }), CallContext::new())
            .await
            .unwrap();
        let ToolOutcome::Complete(result) = outcome else {
            panic!("{outcome:?}")
        };
        assert_eq!(result.joined_text(), format!(r#"{{"text":"{text}"}}"#));
        // It ends by itself at the end of input, well within its grace.
        let begun = std::time::Instant::now();
        server.close().await;
        assert!(begun.elapsed() < std::time::Duration::from_secs(5));

        // And at a shutdown, although its input stays open.
        let mut child = tokio::process::Command::new(exe)
            .arg("serve")
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        let request = modern(1, "tools/call", json!({ "name": "shutdown" }));
        input
            .write_all(format!("{request}\n").as_bytes())
            .await
            .unwrap();
        assert!(child.wait().await.unwrap().success());
        let mut output = String::new();
        child
            .stdout
            .take()
            .unwrap()
            .read_to_string(&mut output)
            .await
            .unwrap();
        assert!(output.contains(r#""id":1,"result""#), "{output}");
    })
    .await;
}
