//! Standard input and output as streams that never keep the process alive.
//!
//! tokio reads standard input on a blocking thread that nothing can interrupt, so that
//! a runtime does not end before the next line comes. Where both are pipes, and the system
//! lets us open them once more without blocking, the runtime drives them itself: waking a
//! thread for each message and another one for each answer would be a good part of what a
//! call costs. Elsewhere threads of our own read and write, which end with the process.

use std::io::{Read, Write};
use std::thread;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, DuplexStream, duplex};
#[cfg(target_os = "linux")]
use tokio::net::unix::pipe;
use tokio::runtime::Builder;
use tokio::sync::oneshot;
use toolshelf_core::{Error, ErrorKind};

/// How much is under way between a thread and the runtime, in bytes.
const BUFFER: usize = 64 * 1024;

/// Standard input, standard output, and what resolves when all output was written.
pub(crate) type Stdio = (
    Box<dyn AsyncRead + Send + Unpin>,
    Box<dyn AsyncWrite + Send + Unpin>,
    oneshot::Receiver<()>,
);

/// Opens both.
pub(crate) fn stdio() -> Result<Stdio, Error> {
    #[cfg(target_os = "linux")]
    if let Some((reader, writer)) = driven() {
        let (done, written) = oneshot::channel();
        // What is written to a pipe is out of our hands at once.
        let _ = done.send(());
        return Ok((Box::new(reader), Box::new(writer), written));
    }
    let (reader, input) = duplex(BUFFER);
    let (writer, output) = duplex(BUFFER);
    let (done, written) = oneshot::channel();
    start("stdin", move || forward_input(input))?;
    start("stdout", move || {
        forward_output(output);
        // Nobody waits any more when the client did not read for too long.
        let _ = done.send(());
    })?;
    Ok((Box::new(reader), Box::new(writer), written))
}

/// Both as pipes that the runtime drives. They are opened anew, so that those which other
/// processes may share with us stay blocking.
#[cfg(target_os = "linux")]
fn driven() -> Option<(pipe::Receiver, pipe::Sender)> {
    // Anything but a pipe, such as a socket, a terminal or a file, is refused here.
    let options = pipe::OpenOptions::new();
    let reader = options.open_receiver("/proc/self/fd/0").ok()?;
    let writer = options.open_sender("/proc/self/fd/1").ok()?;
    Some((reader, writer))
}

fn start(name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), Error> {
    let thread = thread::Builder::new().name(format!("toolshelf-{name}"));
    // Detached: it ends with its stream or with the process.
    thread.spawn(work).map(drop).map_err(|cause| {
        Error::new(
            ErrorKind::Internal,
            "no thread for standard input or output",
        )
        .caused_by(cause)
    })
}

fn forward_input(mut input: DuplexStream) {
    // A runtime of one thread that only waits for the other end of the pipe.
    let Ok(runtime) = Builder::new_current_thread().build() else {
        return;
    };
    let mut stdin = std::io::stdin().lock();
    let mut chunk = vec![0; BUFFER];
    loop {
        match stdin.read(&mut chunk) {
            Ok(0) => return,
            Ok(read) => {
                if runtime.block_on(input.write_all(&chunk[..read])).is_err() {
                    return;
                }
            }
            Err(cause) if cause.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

fn forward_output(mut output: DuplexStream) {
    let Ok(runtime) = Builder::new_current_thread().build() else {
        return;
    };
    let mut chunk = vec![0; BUFFER];
    while let Ok(read @ 1..) = runtime.block_on(output.read(&mut chunk)) {
        let mut stdout = std::io::stdout().lock();
        if stdout
            .write_all(&chunk[..read])
            .and_then(|()| stdout.flush())
            .is_err()
        {
            // The other end sees that its peer is gone.
            return;
        }
    }
}
