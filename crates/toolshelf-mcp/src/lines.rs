//! Lines of bounded length from a byte stream, and a queue of bounded size to one.
//!
//! The stdio transport of MCP is one JSON text per line. A line that is too long is
//! read over to its end without being kept, so that the stream goes on after it.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use toolshelf_core::Cancellation;

/// How much is kept of both ends of a line that is too long, in bytes.
const KEPT: usize = 512;

/// How many lines may wait to be written.
const QUEUED_LINES: usize = 1_024;

/// One line without its end.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// A whole line.
    Whole(Vec<u8>),
    /// A line longer than the limit, of which only the ends are kept.
    TooLong {
        /// Its length.
        bytes: usize,
        /// How it begins.
        head: Vec<u8>,
        /// How it ends.
        tail: Vec<u8>,
    },
}

/// Reads lines.
pub(crate) struct LineReader {
    reader: BufReader<Box<dyn AsyncRead + Send + Unpin>>,
    limit: usize,
    line: Vec<u8>,
    /// Length and head of the line that is being read over.
    over: Option<(usize, Vec<u8>)>,
}

impl LineReader {
    /// Reads lines of at most `limit` bytes.
    pub(crate) fn new(reader: impl AsyncRead + Send + Unpin + 'static, limit: usize) -> Self {
        Self {
            reader: BufReader::with_capacity(64 * 1024, Box::new(reader)),
            limit: limit.max(KEPT),
            line: Vec::new(),
            over: None,
        }
    }

    /// The next line; `None` at the end of the stream. Dropping the future loses
    /// nothing.
    pub(crate) async fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            let chunk = self.reader.fill_buf().await?;
            if chunk.is_empty() {
                let rest = self.take();
                return Ok(match rest {
                    Line::Whole(line) if line.is_empty() => None,
                    rest => Some(rest),
                });
            }
            let end = chunk.iter().position(|byte| *byte == b'\n');
            let taken = end.unwrap_or(chunk.len());
            self.line.extend_from_slice(&chunk[..taken]);
            self.reader.consume(end.map_or(taken, |end| end + 1));
            self.shorten();
            if end.is_some() {
                return Ok(Some(self.take()));
            }
        }
    }

    /// Drops the middle of a line that has become too long.
    fn shorten(&mut self) {
        match &mut self.over {
            None if self.line.len() > self.limit => {
                let head = self.line[..KEPT].to_vec();
                self.over = Some((self.line.len() - KEPT, head));
            }
            None => return,
            Some((passed, _)) => *passed += self.line.len().saturating_sub(KEPT),
        }
        let tail = self.line.len().saturating_sub(KEPT);
        self.line = self.line.split_off(tail);
    }

    fn take(&mut self) -> Line {
        let mut line = std::mem::take(&mut self.line);
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        match self.over.take() {
            None => Line::Whole(line),
            Some((passed, head)) => Line::TooLong {
                bytes: passed + line.len(),
                head,
                tail: line,
            },
        }
    }
}

struct Outgoing {
    text: String,
    written: oneshot::Sender<io::Result<()>>,
}

/// Puts lines into the queue of a stream. Clones share the queue; the stream is
/// closed when the last of them is gone.
#[derive(Clone)]
pub(crate) struct LineWriter {
    queue: mpsc::Sender<Outgoing>,
    waiting: Arc<AtomicUsize>,
    broken: Cancellation,
    limit: usize,
}

/// Resolves when a line was written.
pub(crate) struct Written(
    #[cfg_attr(
        not(feature = "client"),
        expect(dead_code, reason = "only clients wait")
    )]
    oneshot::Receiver<io::Result<()>>,
);

#[cfg(feature = "client")]
impl Written {
    /// Waits until the line was handed to the operating system.
    pub(crate) async fn done(self) -> io::Result<()> {
        match self.0.await {
            Ok(result) => result,
            Err(_) => Err(closed()),
        }
    }
}

/// The task that writes.
pub(crate) struct WriterTask(JoinHandle<()>);

impl WriterTask {
    /// Lets the queue run empty after the last [`LineWriter`] is gone, but not for
    /// longer than `patience`, and closes the stream.
    pub(crate) async fn finish(mut self, patience: Duration) {
        // On time-out the drop below aborts the task, and with it drops the stream.
        let _ = tokio::time::timeout(patience, &mut self.0).await;
    }
}

impl Drop for WriterTask {
    fn drop(&mut self) {
        self.0.abort();
    }
}

fn closed() -> io::Error {
    io::Error::new(io::ErrorKind::BrokenPipe, "the peer takes no more messages")
}

impl LineWriter {
    /// Starts the task that writes to a stream. At most `limit` bytes, and always
    /// one line, wait in the queue.
    pub(crate) fn start(
        mut stream: impl AsyncWrite + Send + Unpin + 'static,
        limit: usize,
    ) -> (Self, WriterTask) {
        let (queue, mut lines) = mpsc::channel::<Outgoing>(QUEUED_LINES);
        let waiting = Arc::new(AtomicUsize::new(0));
        let broken = Cancellation::new();
        let (done, failed) = (waiting.clone(), broken.clone());
        let task = tokio::spawn(async move {
            while let Some(line) = lines.recv().await {
                let bytes = line.text.len();
                let result = write(&mut stream, line.text).await;
                done.fetch_sub(bytes, Ordering::SeqCst);
                if result.is_err() {
                    failed.cancel();
                    // Whoever sent the line may have stopped waiting.
                    let _ = line.written.send(result);
                    return;
                }
                let _ = line.written.send(result);
            }
            // The stream is dropped anyway; a peer that is gone is no news.
            let _ = stream.shutdown().await;
        });
        let writer = Self {
            queue,
            waiting,
            broken,
            limit,
        };
        (writer, WriterTask(task))
    }

    /// Queues a line at once, so that lines keep the order of these calls.
    ///
    /// # Errors
    ///
    /// When the peer reads so slowly that the queue is full, or is gone.
    pub(crate) fn push(&self, text: String) -> io::Result<Written> {
        if self.broken.is_cancelled() {
            return Err(closed());
        }
        let bytes = text.len();
        let waiting = self.waiting.fetch_add(bytes, Ordering::SeqCst);
        if waiting > 0 && waiting + bytes > self.limit {
            self.waiting.fetch_sub(bytes, Ordering::SeqCst);
            return Err(full());
        }
        let (written, receiver) = oneshot::channel();
        self.queue
            .try_send(Outgoing { text, written })
            .map_err(|fault| {
                self.waiting.fetch_sub(bytes, Ordering::SeqCst);
                match fault {
                    mpsc::error::TrySendError::Full(_) => full(),
                    mpsc::error::TrySendError::Closed(_) => closed(),
                }
            })?;
        Ok(Written(receiver))
    }
}

#[cfg(feature = "server")]
impl LineWriter {
    /// Queues a line, waiting for a place in the queue.
    ///
    /// # Errors
    ///
    /// When the peer is gone.
    pub(crate) async fn send(&self, text: String) -> io::Result<()> {
        self.waiting.fetch_add(text.len(), Ordering::SeqCst);
        let (written, _) = oneshot::channel();
        // After an error nobody counts any more.
        let sent = self.queue.send(Outgoing { text, written }).await;
        sent.map_err(|_| closed())
    }

    /// Raised when the stream takes no more lines.
    pub(crate) fn broken(&self) -> Cancellation {
        self.broken.clone()
    }
}

fn full() -> io::Error {
    io::Error::new(
        io::ErrorKind::WouldBlock,
        "too many messages wait for the peer to read them",
    )
}

async fn write(stream: &mut (impl AsyncWrite + Unpin), mut text: String) -> io::Result<()> {
    text.push('\n');
    stream.write_all(text.as_bytes()).await?;
    stream.flush().await
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn lines(input: &[u8], limit: usize) -> Vec<Line> {
        let mut reader = LineReader::new(io::Cursor::new(input.to_vec()), limit);
        let mut lines = Vec::new();
        while let Some(line) = reader.next().await.unwrap() {
            lines.push(line);
        }
        lines
    }

    #[tokio::test]
    async fn a_last_line_needs_no_end() {
        assert_eq!(
            lines(b"a\r\n\nb", 1_000).await,
            [
                Line::Whole(b"a".to_vec()),
                Line::Whole(Vec::new()),
                Line::Whole(b"b".to_vec()),
            ]
        );
    }

    #[tokio::test]
    async fn a_line_too_long_is_measured_and_passed_over() {
        let mut input = vec![b'x'; 300_000];
        input[0] = b'A';
        input[299_999] = b'Z';
        input.extend_from_slice(b"\nnext\n");
        let lines = lines(&input, 1_000).await;
        let Line::TooLong { bytes, head, tail } = &lines[0] else {
            panic!("{lines:?}");
        };
        assert_eq!(*bytes, 300_000);
        assert_eq!((head.len(), head[0]), (KEPT, b'A'));
        assert_eq!(tail.last(), Some(&b'Z'));
        assert!(tail.len() <= KEPT);
        assert_eq!(lines[1], Line::Whole(b"next".to_vec()));
    }

    #[tokio::test]
    async fn a_full_queue_refuses_instead_of_growing() {
        let (_peer, stream) = tokio::io::duplex(1);
        let (writer, _task) = LineWriter::start(stream, 10);
        writer
            .push("a line longer than the limit".to_owned())
            .unwrap();
        let fault = writer.push("more".to_owned()).err().unwrap();
        assert_eq!(fault.kind(), io::ErrorKind::WouldBlock);
    }
}
