//! A server to test with: `fixture-server basic NAME`, `fixture-server listed STARTS TOOLS`,
//! `fixture-server hang`, `fixture-server exit CODE`.

use std::process::ExitCode;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Value, json};
use toolshelf_core::{
    CallContext, Cancellation, Error, ErrorKind, JsonText, Progress, ToolOutcome, ToolResult,
    read_arguments,
};
use toolshelf_mcp::{
    Era, IncomingCall, McpServer, ServeOptions, ServerIdentity, Session, serve_stdio,
};

/// The tools of `basic`, with keys in an order that no map would give them.
const TOOLS: &[&str] = &[
    r#"{"name":"echo","title":"Echo","description":"Says the text again.\n# Not a heading","inputSchema":{"type":"object","required":["text"],"properties":{"text":{"description":"What to say","type":"string","minLength":1},"loud":{"type":"boolean","default":false}},"additionalProperties":false},"annotations":{"readOnlyHint":true},"execution":{"taskSupport":"forbidden"},"x-vendor":{"z":1,"a":2}}"#,
    r#"{"name":"add","description":"Adds two numbers.","inputSchema":{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"b":{"type":"number"},"a":{"type":"number"}},"required":["a","b"]},"outputSchema":{"type":"object","properties":{"sum":{"type":"number"}}}}"#,
    r#"{"name":"fail","description":"Fails.","inputSchema":{"type":"object"}}"#,
    r#"{"name":"kinds","description":"Answers with every kind of content.","inputSchema":{}}"#,
    r#"{"name":"count","description":"Counts, with progress.","inputSchema":{"type":"object","properties":{"to":{"type":"integer"}},"required":["to"]}}"#,
    r#"{"name":"wait","description":"Waits until it is cancelled, then writes to a file.","inputSchema":{"type":"object","properties":{"marker":{"type":"string"}},"required":["marker"]}}"#,
    r#"{"name":"environment","description":"The value of a variable.","inputSchema":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}}"#,
    r#"{"name":"ask","description":"Asks the user.","inputSchema":{"type":"object"}}"#,
    r#"{"name":"crash","description":"Ends the process.","inputSchema":{"type":"object"}}"#,
];

struct Basic {
    name: String,
}

#[async_trait]
impl McpServer for Basic {
    fn identity(&self, _era: Era) -> ServerIdentity {
        let mut identity = ServerIdentity::new(&self.name, "1.0.0");
        identity.title = Some(format!("The {} server", self.name));
        identity.instructions =
            Some("Tools to test with. Further text that no catalog needs.".to_owned());
        identity
    }

    async fn list_tools(&self, _session: &Session) -> Result<Vec<JsonText>, Error> {
        TOOLS.iter().map(|tool| JsonText::parse(tool)).collect()
    }

    async fn call_tool(&self, call: IncomingCall) -> Result<ToolOutcome, Error> {
        let arguments = call.arguments.map(|arguments| arguments.to_value());
        let (arguments, _) = read_arguments(arguments)?;
        let text = |name: &str| {
            arguments
                .get(name)
                .and_then(|value| value.as_str())
                .unwrap_or_default()
        };
        let number = |name: &str| {
            arguments
                .get(name)
                .and_then(|value| value.as_f64())
                .unwrap_or_default()
        };
        let result = match call.name.as_str() {
            "echo" => ToolResult::text(format!("{} says: {}", self.name, text("text"))),
            "add" => ToolResult {
                structured_content: Some(JsonText::from_serialize(
                    &json!({"sum": number("a") + number("b")}),
                )?),
                ..ToolResult::default()
            },
            "fail" => ToolResult::error("It failed, as it does."),
            "kinds" => kinds()?,
            "count" => count(number("to") as u64, &call.context),
            "wait" => return wait(text("marker"), call.context).await,
            "environment" => ToolResult::text(
                std::env::var(text("name")).unwrap_or_else(|_| "(not set)".to_owned()),
            ),
            "ask" => ask(call.context).await?,
            "crash" => {
                eprintln!("the last words of {}", self.name);
                std::process::exit(3);
            }
            other => {
                return Err(Error::new(ErrorKind::NotFound, format!("no tool {other}"))
                    .for_model_text("no such tool"));
            }
        };
        Ok(ToolOutcome::Complete(result))
    }
}

fn kinds() -> Result<ToolResult, Error> {
    ToolResult::from_json(
        r#"{"content":[
            {"type":"text","text":"text","annotations":{"audience":["user"],"priority":0.5}},
            {"type":"image","data":"iVBORw0KGgo=","mimeType":"image/png","_meta":{"a/b":1}},
            {"type":"audio","data":"UklGRg==","mimeType":"audio/wav"},
            {"type":"resource","resource":{"uri":"file:///a","mimeType":"text/plain","text":"x"}},
            {"type":"resource_link","uri":"file:///b","name":"b","size":12},
            {"type":"hologram","depth":3}
        ],"structuredContent":{"z":1,"a":[1.50,2]},"_meta":{"example.org/cost":0.25}}"#,
    )
}

fn count(to: u64, context: &CallContext) -> ToolResult {
    for at in 1..=to {
        if let Some(progress) = &context.progress {
            progress.report(Progress {
                progress: at as f64,
                total: Some(to as f64),
                message: Some(format!("step {at}")),
            });
        }
    }
    ToolResult::text(format!("counted to {to}"))
}

async fn wait(marker: &str, context: CallContext) -> Result<ToolOutcome, Error> {
    let write = |text: &str| {
        std::fs::write(marker, text)
            .map_err(|cause| Error::new(ErrorKind::Internal, cause.to_string()))
    };
    write("waiting")?;
    context.cancellation.cancelled().await;
    write("cancelled")?;
    Err(Error::new(ErrorKind::Cancelled, "cancelled"))
}

async fn ask(context: CallContext) -> Result<ToolResult, Error> {
    let Some(elicitor) = &context.elicitor else {
        return Ok(ToolResult::text("nobody can be asked"));
    };
    let question = JsonText::parse(
        r#"{"message":"Which colour?","requestedSchema":{"type":"object","properties":{"colour":{"type":"string"}}}}"#,
    )?;
    let answer = elicitor.elicit(question).await?;
    Ok(ToolResult::text(answer.as_str()))
}

/// A server of the revisions with a handshake whose list a file decides, which says of
/// every call what it got, and which announces a changed list when an argument says so.
fn listed(tools: &str) -> std::io::Result<()> {
    use std::io::{BufRead, Write};
    let mut out = std::io::stdout();
    for line in std::io::stdin().lock().lines() {
        let message: Value = serde_json::from_str(&line?)?;
        let Some(id) = message.get("id") else {
            continue;
        };
        let params = &message["params"];
        let result = match message["method"].as_str().unwrap_or_default() {
            "initialize" => json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {"listChanged": true}},
                "serverInfo": {"name": "listed", "version": "1.0.0"},
            }),
            "tools/list" => {
                let tools: Value = serde_json::from_str(&std::fs::read_to_string(tools)?)?;
                json!({ "tools": tools })
            }
            "tools/call" => {
                let arguments = params["arguments"].to_string();
                if arguments.contains("announce") {
                    let news =
                        json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
                    writeln!(out, "{news}")?;
                }
                let text = format!(
                    "{}: {arguments}",
                    params["name"].as_str().unwrap_or_default()
                );
                json!({"content": [{"type": "text", "text": text}]})
            }
            _ => {
                let error = json!({"code": -32601, "message": "unknown method"});
                writeln!(
                    out,
                    "{}",
                    json!({"jsonrpc": "2.0", "id": id, "error": error})
                )?;
                continue;
            }
        };
        writeln!(
            out,
            "{}",
            json!({"jsonrpc": "2.0", "id": id, "result": result})
        )?;
    }
    Ok(())
}

/// Notes a start in a file.
fn note_start(path: &str) -> std::io::Result<()> {
    use std::io::Write;
    let mut options = std::fs::OpenOptions::new();
    writeln!(options.append(true).create(true).open(path)?, "started")
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args.as_slice() {
        ["basic", name] => serve(Basic {
            name: (*name).to_owned(),
        }),
        ["listed", starts, tools] => match note_start(starts).and_then(|()| listed(tools)) {
            Ok(()) => ExitCode::SUCCESS,
            Err(cause) => {
                eprintln!("{cause}");
                ExitCode::FAILURE
            }
        },
        ["hang"] => {
            // Reads and never answers; ends with its input.
            let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
            ExitCode::SUCCESS
        }
        ["exit", code] => {
            eprintln!("cannot start: the token s3cret is not valid");
            ExitCode::from(code.parse().unwrap_or(1))
        }
        _ => {
            eprintln!("usage: fixture-server basic NAME | listed STARTS TOOLS | hang | exit CODE");
            ExitCode::from(2)
        }
    }
}

fn serve(server: impl McpServer) -> ExitCode {
    let server = Arc::new(server);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    let served = match runtime {
        Ok(runtime) => runtime.block_on(serve_stdio(
            server,
            ServeOptions::default(),
            Cancellation::new(),
        )),
        Err(cause) => Err(Error::new(ErrorKind::Internal, cause.to_string())),
    };
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
