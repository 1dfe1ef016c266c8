//! Cancellation without a runtime.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use event_listener::{Event, EventListener};

#[derive(Default)]
struct Node {
    cancelled: AtomicBool,
    event: Event,
    parent: Option<Cancellation>,
}

/// A flag that one side raises and others wait for. Clones share it; a child is
/// cancelled with its parent, never the other way round.
///
/// ```
/// use toolshelf_core::Cancellation;
/// let run = Cancellation::new();
/// let call = run.child();
/// call.cancel();
/// assert!(call.is_cancelled() && !run.is_cancelled());
/// run.cancel();
/// assert!(run.child().is_cancelled());
/// ```
#[derive(Clone, Default)]
pub struct Cancellation(Arc<Node>);

impl Cancellation {
    /// A flag that is not raised.
    pub fn new() -> Self {
        Self::default()
    }

    /// A flag that is raised when this one is.
    #[must_use]
    pub fn child(&self) -> Self {
        Self(Arc::new(Node {
            parent: Some(self.clone()),
            ..Node::default()
        }))
    }

    /// Raises the flag and wakes everybody who waits. Doing it again does nothing.
    pub fn cancel(&self) {
        self.0.cancelled.store(true, Ordering::SeqCst);
        self.0.event.notify(usize::MAX);
    }

    /// Whether the flag, or that of a parent, is raised.
    pub fn is_cancelled(&self) -> bool {
        let mut node = Some(self);
        while let Some(cancellation) = node {
            if cancellation.0.cancelled.load(Ordering::SeqCst) {
                return true;
            }
            node = cancellation.0.parent.as_ref();
        }
        false
    }

    /// Waits until the flag is raised. Dropping the future is safe at any time.
    pub async fn cancelled(&self) {
        loop {
            // Listeners first, flag second: a flag raised in between wakes them.
            let mut listeners = self.listeners();
            if self.is_cancelled() {
                return;
            }
            std::future::poll_fn(|cx| {
                for listener in &mut listeners {
                    if std::pin::Pin::new(listener).poll(cx).is_ready() {
                        return std::task::Poll::Ready(());
                    }
                }
                std::task::Poll::Pending
            })
            .await;
        }
    }

    fn listeners(&self) -> Vec<EventListener> {
        let mut listeners = Vec::new();
        let mut node = Some(self);
        while let Some(cancellation) = node {
            listeners.push(cancellation.0.event.listen());
            node = cancellation.0.parent.as_ref();
        }
        listeners
    }
}

impl std::fmt::Debug for Cancellation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Cancellation")
            .field(&self.is_cancelled())
            .finish()
    }
}
