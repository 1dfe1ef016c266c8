//! Groups whose loaders and tools say what they do, and short forms of a host's calls.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use toolshelf_core::codec::{Block, DiscoveryCodec};
use toolshelf_core::{
    Call, CallContext, Cancellation, Error, ErrorKind, FnTool, GroupId, JsonText, LoadContext,
    Loaded, News, Strategy, Surface, Tool, ToolDefinition, ToolGroup, ToolKey, ToolName,
    ToolResult,
};
use toolshelf_discovery::FoundLine;
use toolshelf_search::Lexical;
use toolshelf_shelf::{
    AnsweredBy, CallReport, Session, SessionOptions, Shelf, ShelfBuilder, ShelfEvent,
};
use toolshelf_strategies::{Dispatch, Inject, Standard, Tst};
use toolshelf_testkit::host::Answered;

/// A schema that lets everything through.
pub(crate) const ANY: &str = r#"{"type":"object"}"#;

pub(crate) fn id(group: &str) -> GroupId {
    GroupId::new(group).unwrap()
}

pub(crate) fn key(group: &str, tool: &str) -> ToolKey {
    ToolKey::new(id(group), ToolName::new(tool).unwrap())
}

/// What happened, in order.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    pub(crate) fn note(&self, line: impl Into<String>) {
        self.0.lock().unwrap().push(line.into());
    }

    /// What happened since the last look.
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }

    pub(crate) fn count(&self, line: &str) -> usize {
        let lines = self.0.lock().unwrap();
        lines.iter().filter(|noted| *noted == line).count()
    }
}

pub(crate) fn definition(name: &str, schema: &str) -> ToolDefinition {
    let schema = JsonText::parse(schema).unwrap();
    ToolDefinition::new(
        ToolName::new(name).unwrap(),
        format!("Does {name}."),
        schema,
    )
    .unwrap()
}

/// A tool that answers with its group, its name and what it got.
pub(crate) fn echo(log: &Log, group: &str, name: &str, schema: &str) -> Arc<dyn Tool> {
    let (log, full) = (log.clone(), format!("{group}/{name}"));
    let answer = move |arguments: serde_json::Map<String, Value>, _: CallContext| {
        log.note(format!("execute {full}"));
        let text = format!("{full} {}", Value::Object(arguments));
        async move { Ok::<_, Error>(ToolResult::text(text)) }
    };
    Arc::new(FnTool::new(definition(name, schema), answer))
}

pub(crate) fn echoes(log: &Log, group: &str, names: &[&str]) -> Loaded {
    Loaded::new(names.iter().map(|name| echo(log, group, name, ANY)))
}

/// A group that returns what it declares.
pub(crate) fn group(log: &Log, group_id: &str, names: &[&str]) -> ToolGroup {
    returning(log, group_id, names)
        .declared_tools(names)
        .unwrap()
}

/// A group whose names are known only after a load.
pub(crate) fn returning(log: &Log, group_id: &str, names: &[&str]) -> ToolGroup {
    let names: Vec<String> = names.iter().map(ToString::to_string).collect();
    let (log, own_id) = (log.clone(), group_id.to_owned());
    let loader = move |_: LoadContext| {
        log.note(format!("load {own_id}"));
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let loaded = echoes(&log, &own_id, &names);
        async move { Ok(loaded) }
    };
    ToolGroup::new(id(group_id), loader)
}

/// A group of one tool `t` with a schema.
pub(crate) fn with_schema(log: &Log, group_id: &str, schema: &str) -> ToolGroup {
    let tool = echo(log, group_id, "t", schema);
    let loader = move |_: LoadContext| {
        let loaded = Loaded::new([tool.clone()]);
        async move { Ok(loaded) }
    };
    ToolGroup::new(id(group_id), loader)
        .declared_tools(["t"])
        .unwrap()
}

/// A group whose loader fails.
pub(crate) fn failing(log: &Log, group_id: &str, names: &[&str]) -> ToolGroup {
    let (log, own_id) = (log.clone(), group_id.to_owned());
    let loader = move |_: LoadContext| {
        log.note(format!("load {own_id}"));
        async move { Err(refused()) }
    };
    ToolGroup::new(id(group_id), loader)
        .declared_tools(names)
        .unwrap()
}

pub(crate) fn refused() -> Error {
    Error::new(ErrorKind::Unavailable, "spawn /opt/secret/server: ENOENT")
        .for_model_text("The server could not be started.")
}

pub(crate) fn shelf(groups: impl IntoIterator<Item = ToolGroup>) -> Shelf {
    Shelf::builder().groups(groups).build().unwrap()
}

/// A shelf that can be searched.
pub(crate) fn searched(groups: impl IntoIterator<Item = ToolGroup>) -> ShelfBuilder {
    Shelf::builder()
        .groups(groups)
        .index(Arc::new(Lexical::default()))
}

pub(crate) fn dispatch(shelf: &Shelf) -> Session {
    begin(shelf, Arc::new(Dispatch::default()))
}

pub(crate) fn inject(shelf: &Shelf) -> Session {
    begin(shelf, Arc::new(Inject::default()))
}

pub(crate) fn standard(shelf: &Shelf) -> Session {
    begin(shelf, Arc::new(Standard::default()))
}

pub(crate) fn tst(shelf: &Shelf) -> Session {
    begin(shelf, Arc::new(Tst::default()))
}

pub(crate) fn begin(shelf: &Shelf, strategy: Arc<dyn Strategy>) -> Session {
    shelf.session(strategy, SessionOptions::default()).unwrap()
}

/// A call with an id that no other call has.
pub(crate) fn request(name: &str, arguments: Value) -> Call {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    Call {
        id: format!("call_{}", NEXT.fetch_add(1, Ordering::Relaxed)),
        name: name.to_owned(),
        arguments,
    }
}

pub(crate) fn load_request(group: &str) -> Call {
    request("load_tools", json!({"group_id": group}))
}

pub(crate) fn forward_request(tool_name: &str, arguments: Value) -> Call {
    request(
        "deferred_tool_call",
        json!({"tool_name": tool_name, "arguments": arguments}),
    )
}

pub(crate) async fn call(session: &Session, name: &str, arguments: Value) -> CallReport {
    session
        .call(request(name, arguments), CallContext::new())
        .await
}

pub(crate) async fn load(session: &Session, group: &str) -> CallReport {
    session.call(load_request(group), CallContext::new()).await
}

/// Loads some tools of a group.
pub(crate) async fn pick(session: &Session, group: &str, names: Value) -> CallReport {
    let arguments = json!({"group_id": group, "tool_names": names});
    call(session, "load_tools", arguments).await
}

pub(crate) async fn forward(session: &Session, tool_name: &str, arguments: Value) -> CallReport {
    session
        .call(forward_request(tool_name, arguments), CallContext::new())
        .await
}

/// What a search answers.
pub(crate) async fn search(session: &Session, query: &str) -> String {
    let report = call(session, "search_tools", json!({"query": query})).await;
    assert_eq!(report.answered_by, AnsweredBy::Strategy);
    report.text()
}

/// The names that a text discovers.
pub(crate) fn names_in(text: &str) -> Vec<String> {
    let blocks = [Block::Text(text.into())];
    let read = FoundLine.read(&blocks);
    read.names.iter().map(ToString::to_string).collect()
}

/// The JSON that `load_tools` answered.
pub(crate) fn answer(report: &CallReport) -> Value {
    serde_json::from_str(&report.text()).unwrap()
}

pub(crate) async fn surface(session: &Session) -> Arc<Surface> {
    session.surface(&Cancellation::new()).await.unwrap()
}

/// The names in the tools array.
pub(crate) async fn offered(session: &Session) -> Vec<String> {
    let surface = surface(session).await;
    surface
        .tools
        .iter()
        .map(|slot| slot.name.to_string())
        .collect()
}

/// What a session's model is told, one line each.
pub(crate) async fn told(session: &Session) -> Vec<String> {
    let news = surface(session).await.news.clone();
    let lines = news.iter().map(|news| match news {
        News::Available(group) => format!("available {group}"),
        News::Unavailable { group, .. } => format!("unavailable {group}"),
        News::Gone(key) => format!("gone {key}"),
        News::Inline { reason } => format!("inline: {reason}"),
        other => format!("{other:?}"),
    });
    lines.collect()
}

/// The bytes of a request that a prompt cache covers: tools array and system prompt.
pub(crate) fn prefix(surface: &Surface) -> String {
    let mut bytes = String::new();
    for slot in &surface.tools {
        let definition = slot.definition.descriptor_as(&slot.name).unwrap();
        bytes.push_str(definition.as_str());
        bytes.push('\n');
    }
    bytes.push_str(surface.prompt_section.as_deref().unwrap_or_default());
    bytes
}

/// A session as a host with a script talks to it.
pub(crate) struct Driven<'a>(pub(crate) &'a Session);

impl toolshelf_testkit::host::Session for Driven<'_> {
    async fn surface(&mut self) -> Result<Arc<Surface>, String> {
        let surface = self.0.surface(&Cancellation::new()).await;
        surface.map_err(|error| error.to_string())
    }

    async fn calls(&mut self, calls: Vec<Call>) -> Result<Vec<Answered>, String> {
        let calls = calls.into_iter().map(|call| (call, CallContext::new()));
        let reports = self.0.call_batch(calls.collect()).await;
        let told = reports
            .iter()
            .map(|report| Answered::text_of(report.text(), report.is_error()));
        Ok(told.collect())
    }
}

/// A short form of an event.
pub(crate) fn line(event: &ShelfEvent) -> String {
    match event {
        ShelfEvent::LoadStarted { group, cause } => format!("started {group} {}", cause.as_str()),
        ShelfEvent::Loaded { group, cause, .. } => format!("loaded {group} {}", cause.as_str()),
        ShelfEvent::LoadFailed {
            group,
            cause,
            error,
            ..
        } => format!("failed {group} {} ({})", cause.as_str(), error.kind()),
        ShelfEvent::CallStarted { call_id, key, .. } => format!("call {key} as {call_id}"),
        ShelfEvent::CallEnded {
            call_id,
            key,
            is_error,
            ..
        } => format!("ended {key} as {call_id}, error: {is_error}"),
        ShelfEvent::InvalidArgumentsSent { key, faults } => {
            format!("sent {key} with {} faults", faults.len())
        }
        ShelfEvent::SchemaUnusable { key, .. } => format!("unusable {key}"),
        other => format!("{other:?}"),
    }
}

/// An observer that writes short forms into a log.
pub(crate) fn observer(log: &Log) -> impl Fn(&ShelfEvent) + Send + Sync + use<> {
    let log = log.clone();
    move |event| log.note(line(event))
}
