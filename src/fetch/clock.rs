//! Time, and waiting that can be interrupted.
//!
//! Every wait for politeness or for a server to recover goes through a [`Clock`], so that tests
//! see the waits without living through them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

/// How soon a wait notices that it is to stop.
pub(super) const TICK: Duration = Duration::from_millis(25);

/// Tells the time and lets it pass.
pub trait Clock: Send + Sync {
    /// The time of day, which can jump. Only dates of servers are compared with it.
    fn now(&self) -> SystemTime;
    /// Time since some moment; it never goes back.
    fn elapsed(&self) -> Duration;
    /// Waits, unless `cancel` is set before the time is over.
    fn wait(&self, time: Duration, cancel: &AtomicBool) -> Result<(), Cancelled>;
}

/// Somebody asked us to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cancelled;

/// The clock of the machine.
#[derive(Debug, Clone, Copy)]
pub struct SystemClock {
    start: Instant,
}

impl Default for SystemClock {
    fn default() -> Self {
        Self { start: Instant::now() }
    }
}

impl Clock for SystemClock {
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }

    fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    fn wait(&self, time: Duration, cancel: &AtomicBool) -> Result<(), Cancelled> {
        let begin = Instant::now();
        loop {
            if cancel.load(Ordering::Relaxed) {
                return Err(Cancelled);
            }
            let left = time.saturating_sub(begin.elapsed());
            if left.is_zero() {
                return Ok(());
            }
            std::thread::sleep(left.min(TICK));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_ends_when_it_is_cancelled() {
        let cancel = AtomicBool::new(true);
        assert_eq!(SystemClock::default().wait(Duration::from_secs(3600), &cancel), Err(Cancelled));
        cancel.store(false, Ordering::Relaxed);
        assert_eq!(SystemClock::default().wait(Duration::ZERO, &cancel), Ok(()));
    }
}
