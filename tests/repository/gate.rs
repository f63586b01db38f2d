//! Holding a request back until a test has done something, so that no test needs to guess how
//! long something takes.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// Stands before `ListRecords`.
#[derive(Debug, Default)]
pub struct Gate {
    state: Mutex<Held>,
    changed: Condvar,
    opened: Notify,
}

#[derive(Debug, Default)]
struct Held {
    /// The request that is to be held, counted like those of faults.
    at: Option<usize>,
    /// Requests that stand here now.
    waiting: usize,
}

/// Counts a request out however it leaves, also when its client goes away.
struct Waiting<'a>(&'a Gate);

impl Gate {
    /// Holds this request when it comes.
    pub fn close_at(&self, request: usize) {
        self.state().at = Some(request);
    }

    /// Lets everyone through.
    pub fn open(&self) {
        self.state().at = None;
        self.opened.notify_waiters();
    }

    /// Waits until a request stands here. False if none comes in time.
    pub fn wait(&self, at_most: Duration) -> bool {
        let end = Instant::now() + at_most;
        let mut state = self.state();
        while state.waiting == 0 {
            let Some(left) = end.checked_duration_since(Instant::now()) else { return false };
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    /// Passes, now or when the gate is opened.
    pub async fn pass(&self, request: usize) {
        let opened = self.opened.notified();
        tokio::pin!(opened);
        {
            let mut state = self.state();
            if state.at != Some(request) {
                return;
            }
            // Under the lock, or the gate could be opened before we listen.
            opened.as_mut().enable();
            state.waiting += 1;
        }
        let _waiting = Waiting(self);
        self.changed.notify_all();
        opened.await;
    }

    fn state(&self) -> MutexGuard<'_, Held> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.state().waiting -= 1;
    }
}
