//! A small loader, sound but for one fault. It needs no runtime.

use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use toolshelf_core::{
    Arguments, CallContext, Cancellation, Error, ErrorKind, LoadContext, Loaded, SetAside, Tool,
    ToolDefinition, ToolLoader, ToolOutcome, ToolResult,
};
use toolshelf_testkit::world::tools;

/// What is wrong with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    None,
    OtherOrder,
    OrderOfEachLoad,
    OtherDefinition,
    NoReason,
    BusyForEver,
    CancelledLoadHangs,
    CancelledLoadIsEmpty,
    LateLoadIsInternal,
    AnswersOnce,
    OneCallAtATime,
    DroppedCallBreaks,
    CancelledCallHangs,
    LateCallHangs,
    LongCallIsDeaf,
    LongCallHasNoDeadline,
    LongCallBlocks,
    EmptyForFailed,
    TellsPath,
    TellsSecret,
    TellsNothing,
    EmptyAtLast,
    PanicsAtLast,
    HangIsDeaf,
    HangHasNoDeadline,
    KeepsWhatItBegan,
    OutlivesItsLoader,
    LoadBlocks,
    CallBlocks,
}

/// For how long a thread is blocked.
const A_WHILE: Duration = Duration::from_millis(300);

/// How its loads end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ends {
    Well,
    Badly,
    Never,
}

/// What is open of connections, over all loaders of a subject.
pub(super) type Open = Arc<Mutex<Vec<String>>>;

/// A connection, open while it is there.
struct Connection {
    open: Open,
    name: &'static str,
}

impl Connection {
    fn new(open: &Open, name: &'static str) -> Self {
        open.lock().unwrap().push(name.to_owned());
        let open = open.clone();
        Self { open, name }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let mut open = self.open.lock().unwrap();
        let at = open.iter().position(|name| name == self.name);
        at.map(|at| open.remove(at));
    }
}

/// What a loader and its tools share.
struct Shared {
    fault: Fault,
    loads: AtomicUsize,
    loading: AtomicBool,
    calls: AtomicUsize,
    running: AtomicUsize,
    long: AtomicBool,
    broken: AtomicBool,
    connection: Mutex<Option<Connection>>,
}

/// The loader. It has the tools `send` and `wait`.
pub(super) struct Mini {
    shared: Arc<Shared>,
    ends: Ends,
    open: Open,
}

impl Mini {
    pub(super) fn new(fault: Fault, ends: Ends, open: Open) -> Self {
        let shared = Shared {
            fault,
            loads: AtomicUsize::default(),
            loading: AtomicBool::default(),
            calls: AtomicUsize::default(),
            running: AtomicUsize::default(),
            long: AtomicBool::default(),
            broken: AtomicBool::default(),
            connection: Mutex::default(),
        };
        let shared = Arc::new(shared);
        Self { shared, ends, open }
    }

    fn is(&self, fault: Fault) -> bool {
        self.shared.fault == fault
    }

    fn fails(&self, before: usize) -> Result<Loaded, Error> {
        assert!(!self.is(Fault::PanicsAtLast) || before < 2, "no more");
        let empty = self.is(Fault::EmptyForFailed) || (self.is(Fault::EmptyAtLast) && before == 2);
        let error = Error::new(ErrorKind::Unavailable, "connect /run/mail: token=hunter2");
        match self.shared.fault {
            _ if empty => Ok(Loaded::default()),
            Fault::TellsNothing => Err(error),
            Fault::TellsPath => Err(error.for_model_text("No connection to '/run/mail'.")),
            Fault::TellsSecret => Err(error.for_model_text("The token hunter2 is refused.")),
            _ => Err(error.for_model_text("The mail server cannot be reached.")),
        }
    }

    fn loads(&self, before: usize) -> Loaded {
        let turned = self.is(Fault::OtherOrder);
        let turned = turned || (self.is(Fault::OrderOfEachLoad) && before % 2 == 1);
        let mut names = ["send", "wait"];
        if turned {
            names.reverse();
        }
        let described = tools(&names).into_iter().zip(tools(&["send", "other"]));
        let mut loaded = Loaded::new(described.map(|(tool, other)| {
            let shared = self.shared.clone();
            let definition = tool.definition().clone();
            let changed = other.definition().clone();
            Arc::new(MiniTool {
                definition,
                changed,
                shared,
            }) as Arc<dyn Tool>
        }));
        if self.is(Fault::NoReason) {
            loaded.set_aside.push(SetAside {
                name: "odd".to_owned(),
                reason: " ".to_owned(),
            });
        }
        loaded
    }
}

/// Goes on at the next poll.
async fn next() {
    let mut polled = false;
    std::future::poll_fn(|cx| {
        if std::mem::replace(&mut polled, true) {
            return std::task::Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        std::task::Poll::Pending
    })
    .await;
}

async fn hang() {
    std::future::pending::<()>().await;
}

/// Raised at a time.
fn at(deadline: Option<Instant>) -> Cancellation {
    let late = Cancellation::new();
    if let Some(deadline) = deadline {
        let told = late.clone();
        let rest = deadline.saturating_duration_since(Instant::now());
        if rest.is_zero() {
            late.cancel();
        } else {
            std::thread::spawn(move || {
                std::thread::sleep(rest);
                told.cancel();
            });
        }
    }
    late
}

/// What work comes to, or the error that ends it.
async fn unless<T>(
    cancelled: &Cancellation,
    late: &Cancellation,
    work: impl Future<Output = T>,
) -> Result<T, Error> {
    let (mut work, mut stopped, mut over) = (
        pin!(work),
        pin!(cancelled.cancelled()),
        pin!(late.cancelled()),
    );
    let ends = |kind| Error::new(kind, "given up").for_model_text("It was given up.");
    std::future::poll_fn(|cx| {
        if stopped.as_mut().poll(cx).is_ready() {
            return std::task::Poll::Ready(Err(ends(ErrorKind::Cancelled)));
        }
        if over.as_mut().poll(cx).is_ready() {
            return std::task::Poll::Ready(Err(ends(ErrorKind::TimedOut)));
        }
        work.as_mut().poll(cx).map(Ok)
    })
    .await
}

#[async_trait]
impl ToolLoader for Mini {
    async fn load(&self, context: LoadContext) -> Result<Loaded, Error> {
        let before = self.shared.loads.fetch_add(1, Ordering::SeqCst);
        let hangs = self.ends == Ends::Never;
        let mut cancelled = context.cancellation.clone();
        let mut late = at(context.deadline);
        match self.shared.fault {
            Fault::CancelledLoadHangs if !hangs && cancelled.is_cancelled() => hang().await,
            Fault::CancelledLoadIsEmpty if !hangs && cancelled.is_cancelled() => {
                return Ok(Loaded::default());
            }
            Fault::LateLoadIsInternal if !hangs && late.is_cancelled() => {
                return Err(Error::new(ErrorKind::Internal, "late").for_model_text("Late."));
            }
            Fault::LoadBlocks => std::thread::sleep(A_WHILE),
            Fault::HangIsDeaf if hangs => cancelled = Cancellation::new(),
            Fault::HangHasNoDeadline if hangs => late = Cancellation::new(),
            _ => {}
        }
        let busy = self.shared.loading.swap(true, Ordering::SeqCst);
        if busy && self.is(Fault::BusyForEver) {
            return Err(Error::new(ErrorKind::Internal, "a load is under way"));
        }
        let opening = Connection::new(&self.open, "load");
        let opening = match self.shared.fault {
            Fault::KeepsWhatItBegan => Box::leak(Box::new(Some(opening))),
            _ => &mut Some(opening),
        };
        let work = async {
            if hangs {
                hang().await;
            }
            next().await;
            next().await;
        };
        unless(&cancelled, &late, work).await?;
        self.shared.loading.store(false, Ordering::SeqCst);
        if self.ends == Ends::Badly {
            *opening = None;
            return self.fails(before);
        }
        let mut connection = self.shared.connection.lock().unwrap();
        *connection = opening.take();
        if self.is(Fault::OutlivesItsLoader) {
            std::mem::forget(connection.take());
        }
        Ok(self.loads(before))
    }
}

struct MiniTool {
    definition: Arc<ToolDefinition>,
    changed: Arc<ToolDefinition>,
    shared: Arc<Shared>,
}

impl MiniTool {
    fn is(&self, fault: Fault) -> bool {
        self.shared.fault == fault
    }
}

/// A call that runs; a fault may come of its drop.
struct Running<'a>(&'a Shared, bool);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::SeqCst);
        if !self.1 {
            self.0.broken.store(true, Ordering::SeqCst);
        }
    }
}

#[async_trait]
impl Tool for MiniTool {
    fn definition(&self) -> &Arc<ToolDefinition> {
        let again = self.shared.loads.load(Ordering::SeqCst) > 1;
        if again && self.is(Fault::OtherDefinition) {
            return &self.changed;
        }
        &self.definition
    }

    async fn call(&self, _: Arguments, context: CallContext) -> Result<ToolOutcome, Error> {
        let shared = &*self.shared;
        let refused = || Err(Error::new(ErrorKind::Internal, "not now"));
        let before = shared.calls.fetch_add(1, Ordering::SeqCst);
        let beside = shared.running.fetch_add(1, Ordering::SeqCst);
        let mut running = Running(shared, false);
        let long = self.definition.name() == "wait";
        let mut cancelled = context.cancellation.clone();
        let mut late = at(context.deadline);
        match shared.fault {
            Fault::AnswersOnce if before > 0 => return refused(),
            Fault::OneCallAtATime if beside > 0 && !long => return refused(),
            Fault::DroppedCallBreaks if shared.broken.load(Ordering::SeqCst) => return refused(),
            Fault::CancelledCallHangs if cancelled.is_cancelled() => hang().await,
            Fault::LateCallHangs if late.is_cancelled() => hang().await,
            // Only where it is alone, so that the others do not add up.
            Fault::CallBlocks if beside == 0 && !long => std::thread::sleep(A_WHILE),
            Fault::LongCallIsDeaf if long => cancelled = Cancellation::new(),
            Fault::LongCallHasNoDeadline if long => late = Cancellation::new(),
            Fault::LongCallBlocks if long => shared.long.store(true, Ordering::SeqCst),
            Fault::LongCallBlocks if shared.long.load(Ordering::SeqCst) => hang().await,
            _ => {}
        }
        let work: Pin<Box<dyn Future<Output = ()> + Send>> = if long {
            Box::pin(hang())
        } else {
            Box::pin(next())
        };
        let ended = unless(&cancelled, &late, work).await;
        running.1 = true;
        ended.map(|()| ToolOutcome::Complete(ToolResult::text("done")))
    }
}
