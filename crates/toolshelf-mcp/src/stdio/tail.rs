//! The end of what a server wrote to its standard error. It is read so that it
//! neither fills a pipe nor our own terminal, and goes to the operator with errors.

use std::collections::VecDeque;
use std::sync::Mutex;

use tokio::io::{AsyncRead, AsyncReadExt};

use crate::sync::lock;

/// How much is kept, in bytes.
const KEPT_BYTES: usize = 16 * 1024;

/// How much of it is put into an error, in bytes.
const SHOWN_BYTES: usize = 2 * 1024;

/// The last bytes of a stream.
#[derive(Default)]
pub(crate) struct Tail(Mutex<VecDeque<u8>>);

impl Tail {
    /// Reads a stream to its end.
    pub(crate) async fn follow(&self, mut stream: impl AsyncRead + Unpin) {
        let mut chunk = vec![0; 4 * 1024];
        // A stream that breaks has ended.
        while let Ok(read @ 1..) = stream.read(&mut chunk).await {
            self.push(&chunk[..read]);
        }
    }

    fn push(&self, bytes: &[u8]) {
        let mut kept = lock(&self.0);
        kept.extend(bytes);
        let surplus = kept.len().saturating_sub(KEPT_BYTES);
        kept.drain(..surplus);
    }

    /// The last part as text without escape sequences and other control characters;
    /// `None` when there is none.
    pub(crate) fn text(&self) -> Option<String> {
        let bytes: Vec<u8> = lock(&self.0).iter().copied().collect();
        let from = bytes.len().saturating_sub(SHOWN_BYTES);
        let text = String::from_utf8_lossy(&bytes[from..]);
        let mut clean = String::with_capacity(text.len());
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            if c == '\u{1b}' && chars.peek() == Some(&'[') {
                // A terminal's control sequence ends with a letter or a sign.
                chars.find(|c| ('\u{40}'..='\u{7e}').contains(c) && *c != '[');
            } else if !c.is_control() || matches!(c, '\n' | '\t') {
                clean.push(c);
            }
        }
        let clean = clean.trim();
        (!clean.is_empty()).then(|| clean.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_end_is_kept_and_made_readable() {
        let tail = Tail::default();
        let mut written = vec![b'x'; 100_000];
        written.extend_from_slice(b"\n\x1b[31mError:\x1b[0m no\x07 key\r\n");
        tail.follow(&written[..]).await;
        let text = tail.text().unwrap();
        assert!(text.ends_with("\nError: no key"), "{text}");
        assert!(text.len() <= SHOWN_BYTES);
        assert_eq!(Tail::default().text(), None);
    }
}
