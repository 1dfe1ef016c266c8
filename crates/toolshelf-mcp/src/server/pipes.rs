//! Standard input and output as streams that never keep the process alive.
//!
//! tokio reads standard input on a blocking thread that nothing can interrupt, so that
//! a runtime does not end before the next line comes. Threads of our own end with the
//! process.

use std::io::{Read, Write};
use std::thread;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, DuplexStream, duplex};
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
