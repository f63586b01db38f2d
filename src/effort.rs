//! How long a piece of work may go on, and whether anybody still waits for it.
//!
//! What runs in a process of its own is killed when its time is up or its client hangs up. What runs
//! on a thread of the server cannot be killed: it asks instead, between steps that are short, whether
//! to go on. Nothing here waits or starts anything.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// The leave to go on with some work. Clones are of the same work.
#[derive(Debug, Clone, Default)]
pub struct Effort {
    ends: Option<Instant>,
    is_given_up: Arc<AtomicBool>,
}

/// Why work that was begun is not finished.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Spent {
    #[error("it took longer than it may")]
    TimedOut,
    #[error("nobody waits for it any more")]
    GivenUp,
}

impl Effort {
    /// As long as it takes.
    pub fn unbounded() -> Self {
        Self::default()
    }

    /// From now on for some time.
    pub fn within(time: Duration) -> Self {
        Self { ends: Instant::now().checked_add(time), ..Self::default() }
    }

    /// Whether to go on. It costs a look at the clock.
    pub fn check(&self) -> Result<(), Spent> {
        if self.is_given_up.load(Relaxed) {
            return Err(Spent::GivenUp);
        }
        match self.ends {
            Some(ends) if Instant::now() >= ends => Err(Spent::TimedOut),
            _ => Ok(()),
        }
    }

    /// Somebody who waits for the result.
    pub fn waiter(&self) -> Waiter {
        Waiter { is_given_up: Arc::clone(&self.is_given_up) }
    }
}

/// Waits for the result of some work. Dropped, the work is given up.
#[derive(Debug)]
pub struct Waiter {
    is_given_up: Arc<AtomicBool>,
}

impl Drop for Waiter {
    fn drop(&mut self) {
        self.is_given_up.store(true, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_ends_with_its_time_or_with_whoever_waits() {
        assert_eq!(Effort::unbounded().check(), Ok(()));
        assert_eq!(Effort::within(Duration::ZERO).check(), Err(Spent::TimedOut));
        let effort = Effort::within(Duration::MAX);
        let (same, waiter) = (effort.clone(), effort.waiter());
        assert_eq!(same.check(), Ok(()));
        drop(waiter);
        assert_eq!(same.check(), Err(Spent::GivenUp));
    }
}
