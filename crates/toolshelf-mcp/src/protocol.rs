//! Names and numbers of the Model Context Protocol.
//!
//! "Handshake" revisions begin with `initialize`; from 2026-07-28 on each request
//! carries in its `_meta` what a session used to remember.

/// Revisions without a handshake that are spoken here, the preferred one first.
pub(crate) const MODERN: &[&str] = &["2026-07-28"];

/// Revisions with a handshake that are spoken here, newest first.
pub(crate) const HANDSHAKE: &[&str] = &["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// The revision that is offered in a handshake.
pub(crate) const OFFERED: &str = "2025-11-25";

/// The prefix of the keys in `_meta` that belong to one hop of the protocol.
#[cfg(feature = "server")]
pub(crate) const META_PREFIX: &str = "io.modelcontextprotocol/";
/// The revision of a request.
pub(crate) const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// What the client can do.
pub(crate) const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// Who the client is.
pub(crate) const META_CLIENT: &str = "io.modelcontextprotocol/clientInfo";
/// Who the server is.
pub(crate) const META_SERVER: &str = "io.modelcontextprotocol/serverInfo";
/// The request that asked for a notification.
#[cfg(feature = "server")]
pub(crate) const META_SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";
/// The token of a request's progress notifications.
#[cfg(feature = "server")]
pub(crate) const META_PROGRESS: &str = "progressToken";
/// W3C Trace Context.
pub(crate) const META_TRACEPARENT: &str = "traceparent";
/// W3C Trace Context.
pub(crate) const META_TRACESTATE: &str = "tracestate";

/// The text is not JSON.
#[cfg(feature = "server")]
pub(crate) const PARSE_ERROR: i64 = -32_700;
/// The JSON is not a request.
#[cfg(feature = "server")]
pub(crate) const INVALID_REQUEST: i64 = -32_600;
/// Nobody here knows the method.
pub(crate) const METHOD_NOT_FOUND: i64 = -32_601;
/// The method does not take these parameters.
#[cfg(feature = "server")]
pub(crate) const INVALID_PARAMS: i64 = -32_602;
/// The request could not be carried out.
pub(crate) const INTERNAL_ERROR: i64 = -32_603;
/// The revision is not spoken; `data.supported` lists those that are.
pub(crate) const UNSUPPORTED_VERSION: i64 = -32_022;
