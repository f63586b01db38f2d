//! What was asked, in the order it came: the proof of what a harvester did.

use super::request::{Arguments, Verb};
use axum::http::{HeaderMap, header};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// One request. Written down when it comes, completed when it is answered; a client that goes
/// away early leaves the rest as it is.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Logged {
    /// From 1, in the order of arrival.
    pub number: usize,
    /// Milliseconds since the server began.
    pub after: u64,
    /// Which connection it came by, from 1.
    pub connection: usize,
    pub secure: bool,
    /// Other requests that were being answered when it came.
    pub beside: usize,
    pub method: String,
    pub path: String,
    /// The verb if it is one, else what stood in its place.
    pub verb: String,
    /// All of them, the verb included; never those of a login.
    pub arguments: Arguments,
    /// Of lists: which list, from 0, and which page of it, from 1.
    pub listing: Option<usize>,
    pub page: Option<usize>,
    /// Records or headers that were sent, deleted ones included; none if a fault lost the page.
    pub records: usize,
    pub deleted: usize,
    /// Their identifiers.
    pub identifiers: Vec<String>,
    /// The code of the protocol's error.
    pub error: Option<String>,
    /// The names of the faults that were put in.
    pub faults: Vec<String>,
    /// 0 until it is answered, and where the connection was broken instead.
    pub status: u16,
    /// Bytes of the body, as far as they were sent.
    pub sent: u64,
    pub authorization: bool,
    pub cookie: bool,
    pub user_agent: Option<String>,
    pub accept_encoding: Option<String>,
}

impl Logged {
    /// The value of an argument.
    pub fn argument(&self, name: &str) -> Option<&str> {
        super::request::argument(&self.arguments, name)
    }

    pub fn is(&self, verb: Verb) -> bool {
        self.verb == verb.name()
    }
}

#[derive(Debug)]
pub struct Log {
    begun: Instant,
    requests: AtomicUsize,
    under_way: AtomicUsize,
    /// By number, so that a log that was emptied takes what is still being answered.
    entries: Mutex<BTreeMap<usize, Logged>>,
}

/// A request that is being answered.
#[derive(Debug)]
pub struct Writing<'a> {
    log: &'a Log,
    pub number: usize,
}

impl Log {
    pub fn new() -> Self {
        Self {
            begun: Instant::now(),
            requests: AtomicUsize::new(0),
            under_way: AtomicUsize::new(0),
            entries: Mutex::new(BTreeMap::new()),
        }
    }

    /// Writes down that a request came. Of credentials only that there are some.
    pub fn begin(&self, mut entry: Logged, headers: &HeaderMap) -> Writing<'_> {
        let text =
            |name| headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
        entry.number = self.requests.fetch_add(1, Ordering::SeqCst) + 1;
        entry.after = u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        entry.beside = self.under_way.fetch_add(1, Ordering::SeqCst);
        entry.authorization = headers.contains_key(header::AUTHORIZATION);
        entry.cookie = headers.contains_key(header::COOKIE);
        entry.user_agent = text(header::USER_AGENT);
        entry.accept_encoding = text(header::ACCEPT_ENCODING);
        let number = entry.number;
        self.entries().insert(number, entry);
        Writing { log: self, number }
    }

    pub fn read(&self) -> Vec<Logged> {
        self.entries().values().cloned().collect()
    }

    pub fn clear(&self) {
        self.entries().clear();
    }

    fn entries(&self) -> MutexGuard<'_, BTreeMap<usize, Logged>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Writing<'_> {
    /// Completes the entry.
    pub fn note(&self, complete: impl FnOnce(&mut Logged)) {
        if let Some(entry) = self.log.entries().get_mut(&self.number) {
            complete(entry);
        }
    }
}

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        self.log.under_way.fetch_sub(1, Ordering::SeqCst);
    }
}
