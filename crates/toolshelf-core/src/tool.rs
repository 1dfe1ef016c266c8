//! A tool that can be called, and what a call carries.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use async_trait::async_trait;
use serde_json::{Map, Value};

use crate::cancel::Cancellation;
use crate::content::ToolResult;
use crate::definition::ToolDefinition;
use crate::error::{Error, ErrorKind};
use crate::json::JsonText;

/// The arguments of a call: a JSON object.
pub type Arguments = Map<String, Value>;

/// How a call ended.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ToolOutcome {
    /// The answer.
    Complete(ToolResult),
    /// The tool wants something from its caller first; the same call is made again
    /// with the responses and the state, unchanged.
    InputRequired(InputRequired),
    /// The answer will come later, under a task.
    Task(TaskStarted),
}

/// What a tool wants before it goes on (`input_required` of MCP 2026-07-28).
#[derive(Debug, Clone, PartialEq)]
pub struct InputRequired {
    /// The whole result as the server sent it: `inputRequests` and `requestState`.
    pub result: JsonText,
}

/// A task that a server made of a call (the tasks extension of MCP).
#[derive(Debug, Clone, PartialEq)]
pub struct TaskStarted {
    /// The whole result as the server sent it.
    pub result: JsonText,
}

/// One report of progress.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// How far it is, in the tool's own unit; it only grows.
    pub progress: f64,
    /// Where it ends, if that is known.
    pub total: Option<f64>,
    /// A line for people.
    pub message: Option<String>,
}

/// Where a call reports its progress.
///
/// # Behavior
///
/// * `report` never blocks and never fails; a report that nobody takes is dropped.
/// * After the call has ended no report is passed on.
pub trait ProgressSink: Send + Sync {
    /// Takes one report.
    fn report(&self, progress: Progress);
}

/// Answers a question that a tool asks its user in the middle of a call.
///
/// # Behavior
///
/// * The request and the answer are the protocol's own objects (`elicitation/create`).
/// * An error means that nobody could be asked; a refusal is an answer.
/// * Dropping the future withdraws the question.
#[async_trait]
pub trait Elicitor: Send + Sync {
    /// Asks.
    async fn elicit(&self, request: JsonText) -> Result<JsonText, Error>;
}

/// The trace that a call belongs to, in the form of W3C Trace Context.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TraceContext {
    /// `00-<trace id>-<span id>-<flags>`.
    pub traceparent: Option<String>,
    /// Vendor state.
    pub tracestate: Option<String>,
}

/// What a call carries besides its arguments.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct CallContext {
    /// Raised when nobody waits for the answer any more.
    pub cancellation: Cancellation,
    /// When the caller stops waiting.
    pub deadline: Option<Instant>,
    /// Where progress goes; `None` when nobody asked for it.
    pub progress: Option<Arc<dyn ProgressSink>>,
    /// Who answers questions; `None` when nobody can.
    pub elicitor: Option<Arc<dyn Elicitor>>,
    /// The trace.
    pub trace: TraceContext,
    /// The caller's `_meta`, passed to the server. Keys that belong to one hop of the
    /// protocol (progress token, protocol version, client) are not in it.
    pub meta: Map<String, Value>,
    /// `inputResponses` and `requestState` of a call that is made again after
    /// [`ToolOutcome::InputRequired`].
    pub resume: Map<String, Value>,
}

impl CallContext {
    /// A context that nothing is known of.
    pub fn new() -> Self {
        Self::default()
    }

    /// The time left until the deadline; `None` when there is none.
    pub fn remaining(&self) -> Option<std::time::Duration> {
        self.deadline
            .map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }
}

impl fmt::Debug for CallContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallContext")
            .field("cancellation", &self.cancellation)
            .field("deadline", &self.deadline)
            .field("progress", &self.progress.is_some())
            .field("elicitor", &self.elicitor.is_some())
            .finish_non_exhaustive()
    }
}

/// A tool that can be called.
///
/// # Behavior
///
/// * `definition` always returns the same definition; a tool whose definition changes
///   is another tool.
/// * `call` gets arguments that are valid under the definition's input schema, unless
///   its host switched validation off.
/// * A failure of the tool itself is `Ok` with [`ToolResult::is_error`]; an `Err` means
///   that the tool could not be reached or did not keep to its protocol.
/// * An `Err` of the kind [`ErrorKind::Changed`] means that the tool has found its own
///   definition to be out of date before it did anything, and that its group has the
///   current one now. The driver looks the tool up again, and validates, permits and calls
///   it anew, once.
/// * When the context's cancellation is raised or its deadline is over, the call ends as soon
///   as it can, as [`ErrorKind::Cancelled`] or [`ErrorKind::TimedOut`]; then, or when the
///   future is dropped, the tool stops and tells whoever works for it. Other calls go on.
/// * A call may run at the same time as others of the same tool, and does not block the thread
///   that polls it.
#[async_trait]
pub trait Tool: Send + Sync {
    /// What the tool is.
    fn definition(&self) -> &Arc<ToolDefinition>;

    /// Calls it.
    async fn call(&self, arguments: Arguments, context: CallContext) -> Result<ToolOutcome, Error>;
}

/// A tool made of a definition and an async closure.
///
/// ```
/// use std::sync::Arc;
/// use toolshelf_core::{FnTool, JsonText, Tool, ToolDefinition, ToolName, ToolResult};
/// let definition = ToolDefinition::new(
///     ToolName::new("greet")?,
///     "Greets somebody.",
///     JsonText::parse(r#"{"type":"object","properties":{"name":{"type":"string"}}}"#)?,
/// )?;
/// let tool = FnTool::new(definition, async |arguments, _context| {
///     Ok(ToolResult::text(format!("Hello {}", arguments["name"])))
/// });
/// assert_eq!(tool.definition().name().as_str(), "greet");
/// # Ok::<(), toolshelf_core::Error>(())
/// ```
pub struct FnTool<F> {
    definition: Arc<ToolDefinition>,
    function: F,
}

impl<F, Fut> FnTool<F>
where
    F: Fn(Arguments, CallContext) -> Fut + Send + Sync,
    Fut: Future<Output = Result<ToolResult, Error>> + Send,
{
    /// Puts a tool together.
    pub fn new(definition: ToolDefinition, function: F) -> Self {
        Self {
            definition: Arc::new(definition),
            function,
        }
    }
}

#[async_trait]
impl<F, Fut> Tool for FnTool<F>
where
    F: Fn(Arguments, CallContext) -> Fut + Send + Sync,
    Fut: Future<Output = Result<ToolResult, Error>> + Send,
{
    fn definition(&self) -> &Arc<ToolDefinition> {
        &self.definition
    }

    async fn call(&self, arguments: Arguments, context: CallContext) -> Result<ToolOutcome, Error> {
        (self.function)(arguments, context)
            .await
            .map(ToolOutcome::Complete)
    }
}

/// What was done to arguments so that they could be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Repair {
    /// The arguments came as a string that holds a JSON object.
    JsonString,
    /// The arguments stood beside `tool_name` instead of inside `arguments`.
    Flattened,
    /// `tool_name` stood inside `arguments`.
    NestedToolName,
    /// A step of the host changed the arguments.
    Host,
}

impl Repair {
    /// A word for the repair, as it stands in `_meta` and in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::JsonString => "json-string",
            Self::Flattened => "flattened",
            Self::NestedToolName => "nested-tool-name",
            Self::Host => "host",
        }
    }
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Reads what a model gave as arguments: an object, nothing, `null`, or a string that
/// holds an object. Anything else is an error; nothing is ever turned into `{}` that
/// was not empty.
///
/// # Errors
///
/// [`ErrorKind::InvalidArguments`] with a text for the model that says what came.
pub fn read_arguments(value: Option<Value>) -> Result<(Arguments, Option<Repair>), Error> {
    let refuse = |what: &str| {
        let text = format!("`arguments` must be a JSON object, and was {what}.");
        Err(Error::new(ErrorKind::InvalidArguments, text.clone()).for_model_text(text))
    };
    match value {
        None | Some(Value::Null) => Ok((Arguments::new(), None)),
        Some(Value::Object(arguments)) => Ok((arguments, None)),
        Some(Value::String(text)) => match serde_json::from_str::<Value>(&text) {
            Ok(Value::Object(arguments)) => Ok((arguments, Some(Repair::JsonString))),
            Ok(_) => refuse("a string that holds JSON, but not an object"),
            Err(_) => refuse("a string that does not hold a JSON object"),
        },
        Some(Value::Array(_)) => refuse("an array"),
        Some(Value::Bool(_)) => refuse("a boolean"),
        Some(Value::Number(_)) => refuse("a number"),
    }
}
