//! Who uses a connection, and since when nobody does.

use std::sync::Mutex;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use crate::sync::lock;

/// The uses of one connection.
pub(crate) struct Uses {
    state: Mutex<State>,
    /// Told when the last use ends.
    unused: Notify,
}

struct State {
    count: usize,
    /// When the last use ended, or the connection was made.
    since: Instant,
}

impl Uses {
    /// Of a connection that was just made.
    pub(crate) fn new() -> Self {
        Self {
            state: Mutex::new(State {
                count: 0,
                since: Instant::now(),
            }),
            unused: Notify::new(),
        }
    }

    /// A use begins.
    pub(crate) fn begin(&self) {
        lock(&self.state).count += 1;
    }

    /// A use ends.
    pub(crate) fn end(&self) {
        let mut state = lock(&self.state);
        state.count -= 1;
        if state.count == 0 {
            state.since = Instant::now();
            drop(state);
            self.unused.notify_one();
        }
    }

    /// When nobody will have used it for that long; `None` while somebody does.
    fn idle_at(&self, time: Duration) -> Option<Instant> {
        let state = lock(&self.state);
        let at = state.since.checked_add(time);
        (state.count == 0).then_some(at).flatten()
    }

    /// Whether nobody has used it for that long.
    pub(crate) fn is_idle(&self, time: Duration) -> bool {
        self.idle_at(time).is_some_and(|at| at <= Instant::now())
    }

    /// Waits until nobody has used it for that long. Wakes up once per use that is longer
    /// than that, and once per such time; otherwise it sleeps.
    pub(crate) async fn idle(&self, time: Duration) {
        loop {
            match self.idle_at(time) {
                Some(at) if at <= Instant::now() => return,
                Some(at) => tokio::time::sleep_until(at).await,
                None => self.unused.notified().await,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    const TIME: Duration = Duration::from_secs(60);

    #[tokio::test(start_paused = true)]
    async fn it_is_idle_a_while_after_the_last_use() {
        let begun = Instant::now();
        let uses = Arc::new(Uses::new());
        uses.begin();
        uses.begin();
        let waiting = tokio::spawn({
            let uses = uses.clone();
            async move { uses.idle(TIME).await }
        });
        tokio::time::sleep(TIME * 3).await;
        uses.end();
        tokio::time::sleep(TIME * 3).await;
        assert!(!waiting.is_finished() && !uses.is_idle(TIME));
        uses.end();
        tokio::time::sleep(TIME / 2).await;
        uses.begin();
        uses.end();
        waiting.await.unwrap();
        assert_eq!(begun.elapsed().as_secs(), 60 * 7 + 30);
        assert!(uses.is_idle(TIME));
    }

    #[tokio::test(start_paused = true)]
    async fn a_time_beyond_the_clock_is_never_over() {
        let uses = Uses::new();
        let idle = uses.idle(Duration::MAX);
        assert!(tokio::time::timeout(TIME, idle).await.is_err());
        assert!(!uses.is_idle(Duration::MAX));
    }
}
