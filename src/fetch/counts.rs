//! What a session has done so far, for progress and reports.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A moment's reading of the counters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Requests sent: pages, redirects, robots.txt and logins.
    pub requests: u64,
    /// Bytes of pages as they came over the wire, before decompression.
    pub bytes: u64,
    /// Requests that asked for the same thing again because something had failed.
    pub retries: u64,
    /// Waits for politeness or for a server to recover.
    pub waits: u64,
    /// Their sum.
    pub waited: Duration,
    /// Times a session was opened: 1 for the login, and 1 for each renewal.
    pub logins: u64,
}

#[derive(Debug, Default)]
pub(super) struct Counters {
    requests: AtomicU64,
    bytes: AtomicU64,
    retries: AtomicU64,
    waits: AtomicU64,
    waited_micros: AtomicU64,
    logins: AtomicU64,
}

impl Counters {
    pub(super) fn request(&self) {
        self.requests.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn received(&self, bytes: usize) {
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(super) fn retry(&self) {
        self.retries.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn login(&self) {
        self.logins.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn wait(&self, time: Duration) {
        self.waits.fetch_add(1, Ordering::Relaxed);
        let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        self.waited_micros.fetch_add(micros, Ordering::Relaxed);
    }

    pub(super) fn read(&self) -> Counts {
        Counts {
            requests: self.requests.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
            retries: self.retries.load(Ordering::Relaxed),
            waits: self.waits.load(Ordering::Relaxed),
            waited: Duration::from_micros(self.waited_micros.load(Ordering::Relaxed)),
            logins: self.logins.load(Ordering::Relaxed),
        }
    }
}
