//! The side that speaks to MCP clients.

mod answer;
mod dispatch;
mod pipes;
mod progress;
mod question;
mod serve;
mod session;
mod subscription;

use async_trait::async_trait;
use toolshelf_core::{CallContext, Error, JsonText, ToolOutcome};

pub use serve::{ServeOptions, serve, serve_stdio};
pub use session::{Era, Session};

/// What a server says of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerIdentity {
    /// Its name for programs.
    pub name: String,
    /// Its name for people.
    pub title: Option<String>,
    /// Its version.
    pub version: String,
    /// Its website.
    pub website: Option<String>,
    /// How to use its tools.
    pub instructions: Option<String>,
    /// Whether its list of tools may change within a session, which it then tells by
    /// [`Session::tools_changed`]. For clients without handshake that must be a change
    /// for all of them, since their list must not depend on the connection; they are told
    /// of it where they have asked for that (`subscriptions/listen`), and cannot ask
    /// where this is false.
    pub tools_change: bool,
}

impl ServerIdentity {
    /// A server of this name and version.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            version: version.into(),
            ..Self::default()
        }
    }
}

/// A call that a client makes.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct IncomingCall {
    /// The name of the tool.
    pub name: String,
    /// The arguments as the client sent them: usually an object, but models send
    /// strings that hold one, too. `None` when there are none.
    pub arguments: Option<JsonText>,
    /// Cancellation, progress (when the client wants to know), who answers questions
    /// (when the client can ask its user), the trace, the client's `_meta` without the
    /// keys of the protocol itself, and what a repeated call brings with it.
    pub context: CallContext,
    /// Who calls.
    pub session: Session,
}

/// An MCP server, free of everything that belongs to the protocol.
///
/// # Behavior
///
/// * Requests run at the same time, those of one client too.
/// * Descriptors and results are written as they are; nothing regenerates them.
/// * The future of a call is dropped some seconds after its client cancelled it.
///
/// ```
/// use std::sync::Arc;
/// use async_trait::async_trait;
/// use toolshelf_core::{Error, JsonText, ToolOutcome, ToolResult};
/// use toolshelf_mcp::{Era, IncomingCall, McpServer, ServerIdentity, Session};
///
/// struct Clock;
///
/// #[async_trait]
/// impl McpServer for Clock {
///     fn identity(&self, _era: Era) -> ServerIdentity {
///         ServerIdentity::new("clock", "1.0.0")
///     }
///
///     async fn list_tools(&self, _session: &Session) -> Result<Vec<JsonText>, Error> {
///         Ok(vec![JsonText::parse(r#"{"name":"now","inputSchema":{"type":"object"}}"#)?])
///     }
///
///     async fn call_tool(&self, call: IncomingCall) -> Result<ToolOutcome, Error> {
///         Ok(ToolOutcome::Complete(ToolResult::text(format!("{}: noon", call.name))))
///     }
/// }
/// ```
#[async_trait]
pub trait McpServer: Send + Sync + 'static {
    /// What the server says of itself to clients of an era.
    fn identity(&self, era: Era) -> ServerIdentity;

    /// A session has begun. Clients without handshake have one session for all of
    /// their connection, which begins with their first request.
    fn session_started(&self, session: &Session) {
        let _ = session;
    }

    /// A session has ended, and no call of it runs any more.
    fn session_ended(&self, session: &Session) {
        let _ = session;
    }

    /// The descriptors of the tools, each a JSON object.
    ///
    /// # Errors
    ///
    /// The client gets an internal error with the error's text for the model.
    async fn list_tools(&self, session: &Session) -> Result<Vec<JsonText>, Error>;

    /// Calls a tool. A tool that fails is a result with
    /// [`is_error`](toolshelf_core::ToolResult::is_error), since clients hide errors of
    /// the protocol from their models.
    ///
    /// # Errors
    ///
    /// The client gets an error of the protocol with the error's text for the model:
    /// "invalid params" for `NotFound` and `InvalidArguments`, "internal error" for
    /// all others.
    async fn call_tool(&self, call: IncomingCall) -> Result<ToolOutcome, Error>;
}
