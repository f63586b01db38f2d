//! Politeness: so many requests to one host at a time, so far apart.
//!
//! The queue is per host and shared by all sessions, so that two sources on one machine do not
//! ask it twice as hard.

use super::clock::{Cancelled, Clock, TICK};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Hosts nobody asks any more are forgotten when there are more than this.
const MOST: usize = 1000;

#[derive(Debug, Default)]
pub(super) struct Hosts {
    hosts: Mutex<HashMap<String, Arc<Host>>>,
}

#[derive(Debug, Default)]
struct Host {
    state: Mutex<State>,
    freed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    under_way: usize,
    /// When the next request may start, on the monotonic clock.
    next: Duration,
}

/// The right to make one request; over when it is dropped.
#[derive(Debug)]
pub(super) struct Permit {
    host: Arc<Host>,
    /// How long we had to wait for our turn.
    pub(super) waited: Duration,
}

impl Hosts {
    /// Waits for our turn at `host`.
    pub(super) fn enter(
        &self,
        host: &str,
        concurrency: usize,
        delay: Duration,
        clock: &dyn Clock,
        cancel: &AtomicBool,
    ) -> Result<Permit, Cancelled> {
        let host = self.host(host, clock.elapsed());
        let mut state = host.lock();
        while state.under_way >= concurrency.max(1) {
            if cancel.load(Ordering::Relaxed) {
                return Err(Cancelled);
            }
            state = host.freed.wait_timeout(state, TICK).unwrap_or_else(PoisonError::into_inner).0;
        }
        state.under_way += 1;
        let now = clock.elapsed();
        let start = state.next.max(now);
        state.next = start + delay;
        drop(state);
        // From here on the place is ours, and dropping the permit gives it back.
        let permit = Permit { host, waited: start - now };
        if !permit.waited.is_zero() {
            clock.wait(permit.waited, cancel)?;
        }
        Ok(permit)
    }

    /// Nobody asks `host` before `time` has passed: it has asked for a pause.
    pub(super) fn pause(&self, host: &str, time: Duration, clock: &dyn Clock) {
        let now = clock.elapsed();
        let host = self.host(host, now);
        let mut state = host.lock();
        state.next = state.next.max(now + time);
    }

    fn host(&self, name: &str, now: Duration) -> Arc<Host> {
        let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(host) = hosts.get(name) {
            return Arc::clone(host);
        }
        if hosts.len() >= MOST {
            hosts.retain(|_, host| Arc::strong_count(host) > 1 || host.lock().next > now);
        }
        Arc::clone(hosts.entry(name.to_owned()).or_default())
    }
}

impl Host {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.host.lock().under_way -= 1;
        self.host.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::super::stub::TestClock;
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn requests_to_one_host_keep_their_distance() {
        let (hosts, clock, go) = (Hosts::default(), TestClock::default(), AtomicBool::new(false));
        let enter = |host| drop(hosts.enter(host, 1, SECOND, &clock, &go).unwrap());
        enter("a");
        enter("b");
        assert_eq!(clock.waits().len(), 0, "different hosts do not wait for each other");
        enter("a");
        enter("a");
        assert_eq!(clock.waits(), [SECOND, SECOND]);
    }

    #[test]
    fn a_pause_holds_for_everybody() {
        let (hosts, clock, go) = (Hosts::default(), TestClock::default(), AtomicBool::new(false));
        hosts.pause("a", 5 * SECOND, &clock);
        let permit = hosts.enter("a", 1, Duration::ZERO, &clock, &go).unwrap();
        assert_eq!(permit.waited, 5 * SECOND);
    }

    #[test]
    fn only_so_many_at_a_time() {
        let (hosts, clock, go) = (Hosts::default(), TestClock::default(), AtomicBool::new(false));
        let enter = || hosts.enter("a", 2, Duration::ZERO, &clock, &go);
        let (first, _second) = (enter().unwrap(), enter().unwrap());
        let stop = AtomicBool::new(true);
        assert_eq!(hosts.enter("a", 2, Duration::ZERO, &clock, &stop).unwrap_err(), Cancelled);
        drop(first);
        enter().unwrap();
    }

    #[test]
    fn a_cancelled_wait_gives_its_place_back() {
        let (hosts, clock, go) = (Hosts::default(), TestClock::default(), AtomicBool::new(false));
        drop(hosts.enter("a", 1, SECOND, &clock, &go).unwrap());
        let stop = AtomicBool::new(true);
        assert!(hosts.enter("a", 1, SECOND, &clock, &stop).is_err());
        hosts.enter("a", 1, SECOND, &clock, &go).unwrap();
    }

    #[test]
    fn hosts_nobody_asks_are_forgotten() {
        let (hosts, clock, go) = (Hosts::default(), TestClock::default(), AtomicBool::new(false));
        for n in 0..3 * MOST {
            drop(hosts.enter(&n.to_string(), 1, Duration::ZERO, &clock, &go).unwrap());
        }
        assert!(hosts.hosts.lock().unwrap().len() <= MOST);
    }
}
