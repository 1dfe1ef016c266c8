//! The messages of a connection before and below rmcp.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use super::link::Link;
use crate::lines::{Line, LineReader, LineWriter, Written};
use crate::message::{Id, Message, Read, id_from_ends, read};

/// What came in.
#[derive(Debug)]
pub(crate) enum Incoming {
    /// A message.
    Message(Message),
    /// A message too long to read.
    TooLong {
        /// Its length.
        bytes: usize,
        /// The request that it answers, as far as its ends tell.
        id: Option<Id>,
    },
}

/// Reads and writes messages.
pub(crate) struct Wire {
    lines: LineReader,
    writer: LineWriter,
    batch: VecDeque<Message>,
    pub(crate) link: Arc<Link>,
}

impl Wire {
    /// Messages over a pair of streams.
    pub(crate) fn new(lines: LineReader, writer: LineWriter, link: Arc<Link>) -> Self {
        Self {
            lines,
            writer,
            batch: VecDeque::new(),
            link,
        }
    }

    /// The next message; `None` when the stream has ended. Dropping the future loses
    /// nothing.
    pub(crate) async fn next(&mut self) -> Option<Incoming> {
        loop {
            if let Some(message) = self.batch.pop_front() {
                return Some(Incoming::Message(message));
            }
            let line = match self.lines.next().await {
                Ok(Some(line)) => line,
                Ok(None) => break,
                Err(cause) => {
                    tracing::debug!(%cause, "the stream of a server broke");
                    break;
                }
            };
            let line = match line {
                Line::Whole(line) => line,
                Line::TooLong { bytes, head, tail } => {
                    let id = id_from_ends(&head, &tail);
                    return Some(Incoming::TooLong { bytes, id });
                }
            };
            // A server that writes in another encoding loses a character, not the
            // message.
            let line = String::from_utf8_lossy(&line);
            tracing::trace!(bytes = line.len(), "read");
            match read(&line) {
                Read::Blank => {}
                Read::NotJson | Read::Foreign => self.link.noise(&line),
                Read::Messages(messages) => self.batch.extend(messages),
            }
        }
        self.link.end();
        None
    }

    /// Queues a message.
    pub(crate) fn push(&self, text: String) -> io::Result<Written> {
        tracing::trace!(bytes = text.len(), "write");
        self.writer.push(text)
    }
}
