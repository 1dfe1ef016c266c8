//! Futures without a runtime: running them, giving them up, and not waiting for ever.

use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::{Duration, Instant};

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Runs a future to its end on this thread, without a runtime: for futures that need none, as
/// those of this crate do.
///
/// ```
/// let loader = toolshelf_testkit::faulty::Faulty::default();
/// let load = toolshelf_core::ToolLoader::load(&loader, Default::default());
/// assert!(toolshelf_testkit::block_on(load).is_ok());
/// ```
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut cx = Context::from_waker(&waker);
    loop {
        match future.as_mut().poll(&mut cx) {
            Poll::Ready(output) => return output,
            Poll::Pending => std::thread::park(),
        }
    }
}

/// Time that passes, told by a thread: the kit does not know which runtime it is in.
pub(crate) struct Pause {
    over: Arc<AtomicBool>,
    waker: Arc<Mutex<Option<Waker>>>,
    /// Dropped with the pause, which ends its thread.
    _alive: Sender<()>,
}

impl Pause {
    pub(crate) fn new(time: Duration) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let waker: Arc<Mutex<Option<Waker>>> = Arc::default();
        let (alive, given_up) = channel::<()>();
        let (told, woken) = (over.clone(), waker.clone());
        std::thread::spawn(move || {
            if given_up.recv_timeout(time) == Err(RecvTimeoutError::Timeout) {
                told.store(true, Ordering::SeqCst);
                let waker = woken.lock().unwrap_or_else(PoisonError::into_inner).take();
                waker.into_iter().for_each(Waker::wake);
            }
        });
        Self {
            over,
            waker,
            _alive: alive,
        }
    }
}

impl Future for Pause {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut waker = self.waker.lock().unwrap_or_else(PoisonError::into_inner);
        *waker = Some(cx.waker().clone());
        drop(waker);
        if self.over.load(Ordering::SeqCst) {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }
}

/// The output of a future, or nothing when it takes longer. It is dropped then.
pub(crate) async fn within<T>(time: Duration, future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    let mut pause = pin!(Pause::new(time));
    std::future::poll_fn(|cx| match future.as_mut().poll(cx) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending => pause.as_mut().poll(cx).map(|()| None),
    })
    .await
}

/// The output of a future that is polled so many times at most; nothing when it has not
/// ended then. It is dropped then, at one of its awaits.
pub(crate) async fn polled<T>(times: usize, future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    let mut left = times;
    std::future::poll_fn(|cx| {
        left -= 1;
        match future.as_mut().poll(cx) {
            Poll::Ready(output) => Poll::Ready(Some(output)),
            Poll::Pending if left == 0 => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    })
    .await
}

/// The output of a future, and how long its longest poll kept this thread.
pub(crate) async fn longest_poll<T>(future: impl Future<Output = T>) -> (T, Duration) {
    let mut future = pin!(future);
    let mut longest = Duration::ZERO;
    let output = std::future::poll_fn(|cx| {
        let begin = Instant::now();
        let polled = future.as_mut().poll(cx);
        longest = longest.max(begin.elapsed());
        polled
    })
    .await;
    (output, longest)
}

/// The outputs of futures that run at the same time.
pub(crate) async fn all<F: Future>(futures: impl IntoIterator<Item = F>) -> Vec<F::Output> {
    let mut futures: Vec<Pin<Box<F>>> = futures.into_iter().map(Box::pin).collect();
    let mut outputs: Vec<Option<F::Output>> = futures.iter().map(|_| None).collect();
    std::future::poll_fn(|cx| {
        for (future, output) in futures.iter_mut().zip(&mut outputs) {
            if output.is_none()
                && let Poll::Ready(ended) = future.as_mut().poll(cx)
            {
                *output = Some(ended);
            }
        }
        if outputs.iter().all(Option::is_some) {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
    outputs.into_iter().flatten().collect()
}

/// The outputs of two futures that run at the same time.
pub(crate) async fn both<A, B>(
    one: impl Future<Output = A>,
    other: impl Future<Output = B>,
) -> (A, B) {
    let (mut one, mut other) = (pin!(one), pin!(other));
    let (mut first, mut second) = (None, None);
    std::future::poll_fn(|cx| {
        if first.is_none()
            && let Poll::Ready(output) = one.as_mut().poll(cx)
        {
            first = Some(output);
        }
        if second.is_none()
            && let Poll::Ready(output) = other.as_mut().poll(cx)
        {
            second = Some(output);
        }
        match (first.take(), second.take()) {
            (Some(a), Some(b)) => Poll::Ready((a, b)),
            (a, b) => {
                (first, second) = (a, b);
                Poll::Pending
            }
        }
    })
    .await
}
