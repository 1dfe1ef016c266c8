//! The side that speaks to an MCP server.

mod connection;
mod fault;
mod handler;
mod link;
mod listing;
mod negotiate;
mod options;
mod tool;
mod transport;
mod wire;

pub use connection::McpClient;
pub use listing::{SAME_NAME, ToolList};
pub use options::{ClientOptions, Lifecycle};

pub(crate) use connection::{CallFault, ConnectFault, loaded};
pub(crate) use fault::Faults;
pub(crate) use negotiate::{Deadlines, Disagreed};
pub(crate) use options::{optional_seconds, seconds};
pub(crate) use tool::{Caller, McpTool};
