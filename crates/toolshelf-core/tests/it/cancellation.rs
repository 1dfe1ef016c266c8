use std::sync::mpsc;
use std::task::{Context, Poll};
use std::thread;

use futures::FutureExt;
use futures::executor::block_on;
use futures::task::noop_waker;
use toolshelf_core::Cancellation;

#[test]
fn a_child_follows_its_parent_and_not_the_other_way_round() {
    let run = Cancellation::new();
    let (call, other) = (run.child(), run.child());
    let inner = call.child();
    call.cancel();
    assert!(call.is_cancelled() && inner.is_cancelled());
    assert!(!run.is_cancelled() && !other.is_cancelled());
    run.cancel();
    run.cancel();
    assert!(other.is_cancelled() && run.child().is_cancelled());
}

#[test]
fn clones_share_the_flag() {
    let one = Cancellation::new();
    let other = one.clone();
    other.cancel();
    assert!(one.is_cancelled());
    assert!(!Cancellation::default().is_cancelled());
}

#[test]
fn a_raised_flag_is_not_waited_for() {
    let raised = Cancellation::new();
    raised.cancel();
    assert_eq!(raised.cancelled().now_or_never(), Some(()));
    assert_eq!(raised.child().cancelled().now_or_never(), Some(()));
    assert_eq!(Cancellation::new().cancelled().now_or_never(), None);
}

/// Waits in a thread of its own; the thread says when it is about to wait.
fn waiting(cancellation: Cancellation) -> (thread::JoinHandle<()>, mpsc::Receiver<()>) {
    let (about, waits) = mpsc::channel();
    let handle = thread::spawn(move || {
        about.send(()).unwrap();
        block_on(cancellation.cancelled());
    });
    (handle, waits)
}

#[test]
fn everybody_who_waits_is_woken() {
    // Whether a thread already waits or is about to when the flag is raised is for the
    // scheduler to say; many rounds see both.
    for _ in 0..200 {
        let root = Cancellation::new();
        let deep = root.child().child().child();
        let waiters: Vec<_> = [&root, &deep, &deep]
            .map(|cancellation| waiting(cancellation.clone()))
            .into_iter()
            .collect();
        for (_, waits) in &waiters {
            waits.recv().unwrap();
        }
        root.cancel();
        for (handle, _) in waiters {
            handle.join().unwrap();
        }
    }
}

#[test]
fn waiting_wakes_at_each_level() {
    let (root, waker) = (Cancellation::new(), noop_waker());
    let middle = root.child();
    let leaf = middle.child();
    for raised in [&leaf, &middle, &root] {
        let mut context = Context::from_waker(&waker);
        let fresh = leaf.child();
        let target = if std::ptr::eq(raised, &leaf) {
            &fresh
        } else {
            raised
        };
        let mut waits = Box::pin(fresh.cancelled());
        if !fresh.is_cancelled() {
            assert_eq!(waits.as_mut().poll(&mut context), Poll::Pending);
        }
        target.cancel();
        assert_eq!(waits.as_mut().poll(&mut context), Poll::Ready(()));
    }
}

#[test]
fn waiting_may_be_dropped_at_any_time() {
    let root = Cancellation::new();
    let waker = noop_waker();
    let mut context = Context::from_waker(&waker);
    for _ in 0..1_000 {
        let child = root.child();
        let mut never_polled = Box::pin(child.cancelled());
        let mut polled = Box::pin(child.cancelled());
        assert_eq!(polled.as_mut().poll(&mut context), Poll::Pending);
        drop(polled);
        assert_eq!(never_polled.as_mut().poll(&mut context), Poll::Pending);
    }
    let (handle, waits) = waiting(root.child());
    waits.recv().unwrap();
    root.cancel();
    handle.join().unwrap();
}

#[test]
fn a_child_outlives_its_parents_handle() {
    let child = Cancellation::new().child();
    assert!(!child.is_cancelled());
    assert_eq!(child.cancelled().now_or_never(), None);
    child.cancel();
    assert_eq!(child.cancelled().now_or_never(), Some(()));
}
