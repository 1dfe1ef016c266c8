//! Who a client is, and how it is told news.

use std::fmt;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use super::subscription::{Subscriptions, Wanted};
use crate::lines::LineWriter;
use crate::message::{self, Id};
use crate::sync::lock;

/// The two families of revisions of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Era {
    /// Up to 2025-11-25: a session begins with `initialize`, and its list of tools may
    /// change.
    Handshake,
    /// From 2026-07-28 on: each request stands for itself, and the list of tools must
    /// not depend on the connection.
    Modern,
}

/// What a client can be asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Elicitation {
    /// To fill in a form.
    pub(crate) form: bool,
    /// To open a page.
    pub(crate) url: bool,
}

/// What goes to the client. It outlives the connection and refuses then.
pub(crate) struct Outbox(Mutex<Option<LineWriter>>);

impl Outbox {
    /// To a stream.
    pub(crate) fn new(writer: LineWriter) -> Self {
        Self(Mutex::new(Some(writer)))
    }

    fn writer(&self) -> io::Result<LineWriter> {
        lock(&self.0)
            .clone()
            .ok_or_else(|| io::Error::new(io::ErrorKind::BrokenPipe, "the connection has ended"))
    }

    /// Queues a message that may be lost when the client does not read.
    pub(crate) fn push(&self, text: String) -> io::Result<()> {
        tracing::trace!(bytes = text.len(), "write");
        self.writer()?.push(text).map(drop)
    }

    /// Queues a message, waiting for room.
    pub(crate) async fn send(&self, text: String) -> io::Result<()> {
        tracing::trace!(bytes = text.len(), "write");
        self.writer()?.send(text).await
    }

    /// Lets go of the stream.
    pub(crate) fn close(&self) {
        *lock(&self.0) = None;
    }
}

static NEXT_ID: AtomicU64 = AtomicU64::new(1);

struct Inner {
    id: u64,
    era: Era,
    protocol: String,
    client_name: Option<String>,
    client_version: Option<String>,
    elicitation: Elicitation,
    outbox: Arc<Outbox>,
    /// Whether the client has said that it is ready for notifications.
    ready: AtomicBool,
    /// Whether it has missed one that the tools changed.
    owed: AtomicBool,
    /// What a client without handshake has asked to be told.
    subscriptions: Subscriptions,
}

/// A client, from its first request to the end of its connection. Clones are the same
/// session.
#[derive(Clone)]
pub struct Session(Arc<Inner>);

/// What a client says of itself.
#[derive(Debug, Default)]
pub(crate) struct Client {
    pub(crate) name: Option<String>,
    pub(crate) version: Option<String>,
    pub(crate) elicitation: Elicitation,
}

impl Session {
    pub(crate) fn new(era: Era, protocol: &str, client: Client, outbox: Arc<Outbox>) -> Self {
        Self(Arc::new(Inner {
            id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
            era,
            protocol: protocol.to_owned(),
            client_name: client.name,
            client_version: client.version,
            elicitation: client.elicitation,
            outbox,
            ready: AtomicBool::new(false),
            owed: AtomicBool::new(false),
            subscriptions: Subscriptions::default(),
        }))
    }

    /// A number that no other session of this process has.
    pub fn id(&self) -> u64 {
        self.0.id
    }

    /// The family of the protocol's revision.
    pub fn era(&self) -> Era {
        self.0.era
    }

    /// The protocol's revision, such as `2025-11-25`.
    pub fn protocol(&self) -> &str {
        &self.0.protocol
    }

    /// The client's name for programs, as it says. Untrusted text.
    pub fn client_name(&self) -> Option<&str> {
        self.0.client_name.as_deref()
    }

    /// The client's version, as it says. Untrusted text.
    pub fn client_version(&self) -> Option<&str> {
        self.0.client_version.as_deref()
    }

    /// Tells the client that the list of tools has changed. Never blocks. Clients without
    /// handshake are told where they have asked for it. Does nothing after the end of the
    /// session.
    pub fn tools_changed(&self) {
        if self.0.era == Era::Modern {
            self.0.subscriptions.tools_changed(&self.0.outbox);
            return;
        }
        self.0.owed.store(true, Ordering::SeqCst);
        self.pay();
    }

    /// Begins to tell changes under the id of a request.
    pub(crate) fn subscribe(&self, id: &Id, wanted: Wanted) -> io::Result<()> {
        self.0.subscriptions.begin(id, wanted, &self.0.outbox)
    }

    /// Stops to tell changes under the id of a request.
    pub(crate) fn unsubscribe(&self, id: &Id) {
        self.0.subscriptions.end(id);
    }

    pub(crate) fn set_ready(&self) {
        self.0.ready.store(true, Ordering::SeqCst);
        self.pay();
    }

    fn pay(&self) {
        if self.0.ready.load(Ordering::SeqCst) && self.0.owed.swap(false, Ordering::SeqCst) {
            let text = message::notification("notifications/tools/list_changed", None);
            if let Err(cause) = self.0.outbox.push(text) {
                tracing::debug!(%cause, "a client was not told that the tools changed");
            }
        }
    }

    pub(crate) fn elicitation(&self) -> Elicitation {
        self.0.elicitation
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("id", &self.0.id)
            .field("protocol", &self.0.protocol)
            .field("client", &self.0.client_name)
            .finish_non_exhaustive()
    }
}
