//! Who is connected, and who has to go when there is no room.
//!
//! A connection *waits* from its beginning to the end of a request's head, and between requests;
//! it *works* until the answer is whole, and then *sends* until the client has taken it.
//!
//! Room is short when all places are taken, or when too many bytes of answers lie here and are not
//! taken. Then the connection goes on which nothing has happened for longest: one that waits, or
//! one whose client has taken nothing for a while. A thousand clients that never finish a head
//! displace each other, and so do a thousand that do not read; whoever comes with a whole request,
//! or takes what it asked for, is served beside them. A connection that works is never closed for
//! another one, nor is one whose client reads.

#[cfg(test)]
mod tests;

use super::limits::Limits;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// All connections of a server.
pub struct Connections {
    most: usize,
    most_each: usize,
    most_unsent: Unsent,
    /// How long a client takes nothing before its connection may be closed for another.
    grace: Duration,
    began: Instant,
    open: Mutex<Open>,
    dismissed: AtomicU64,
}

/// Bytes of whole answers that clients have not taken yet, by where they lie.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Unsent {
    pub memory: u64,
    pub disk: u64,
}

impl Unsent {
    fn plus(self, other: Self) -> Self {
        let sum = |one: u64, other: u64| one.saturating_add(other);
        Self { memory: sum(self.memory, other.memory), disk: sum(self.disk, other.disk) }
    }

    /// What one address may have when `most_each` of `most` connections are its own.
    fn share(self, most_each: usize, most: usize) -> Self {
        let part = |bytes: u64| bytes / most.max(1) as u64 * most_each as u64;
        Self { memory: part(self.memory), disk: part(self.disk) }
    }

    /// Whether an answer is too much beside what lies here already. One alone never is: a limit on
    /// what waits is none on how long an answer may be.
    fn is_beyond(self, beside: Self, most: Self) -> bool {
        let beyond = |new: u64, old: u64, most: u64| new > 0 && old > 0 && new.saturating_add(old) > most;
        beyond(self.memory, beside.memory, most.memory) || beyond(self.disk, beside.disk, most.disk)
    }

    /// Whether it would make room for another answer if it went.
    fn is_in_the_way_of(self, other: Self) -> bool {
        (self.memory > 0 && other.memory > 0) || (self.disk > 0 && other.disk > 0)
    }
}

#[derive(Default)]
struct Open {
    next: u64,
    by_number: BTreeMap<u64, Arc<Connection>>,
}

/// One connection.
pub struct Connection {
    address: IpAddr,
    works: AtomicBool,
    sends: AtomicBool,
    unsent: Mutex<Unsent>,
    /// When something last happened, in milliseconds of the server's life: it came, ended an
    /// answer, or took some bytes.
    since: AtomicU64,
    outlet: Mutex<Outlet>,
    /// Told when it has to go.
    pub leave: Notify,
}

/// The end of a connection that bytes leave by.
#[derive(Default)]
struct Outlet {
    /// Bytes that the client, or the kernel on its way there, has taken.
    taken: u64,
    /// Whoever waits for more to be taken.
    waiting: Option<Waker>,
}

impl Connection {
    fn outlet(&self) -> MutexGuard<'_, Outlet> {
        self.outlet.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn unsent(&self) -> Unsent {
        *self.unsent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set_unsent(&self, unsent: Unsent) {
        *self.unsent.lock().unwrap_or_else(PoisonError::into_inner) = unsent;
    }
}

/// A place among the connections, given back when it is dropped.
pub struct Place {
    number: u64,
    pub connection: Arc<Connection>,
    all: Arc<Connections>,
}

impl Connections {
    pub fn new(limits: &Limits) -> Self {
        Self {
            most: limits.connections,
            most_each: limits.connections_each,
            most_unsent: limits.unsent,
            grace: limits.grace,
            began: Instant::now(),
            open: Mutex::default(),
            dismissed: AtomicU64::new(0),
        }
    }

    pub fn count(&self) -> usize {
        self.lock().by_number.len()
    }

    /// Connections that were closed for others.
    pub fn dismissed(&self) -> u64 {
        self.dismissed.load(Ordering::Relaxed)
    }

    /// What clients have not taken yet, of answers that count.
    pub fn unsent(&self) -> Unsent {
        self.lock().unsent(|_| true)
    }

    /// A place for a new connection; none if nobody can be asked to go.
    pub fn enter(self: &Arc<Self>, address: IpAddr) -> Option<Place> {
        let mut open = self.lock();
        if !address.is_loopback() {
            let own = open.by_number.values().filter(|other| other.address == address).count();
            if own >= self.most_each && !self.dismiss(&mut open, |other| other.address == address) {
                return None;
            }
        }
        if open.by_number.len() >= self.most && !self.dismiss(&mut open, |_| true) {
            return None;
        }
        let number = open.next;
        open.next += 1;
        let connection = Arc::new(Connection {
            address,
            works: AtomicBool::new(false),
            sends: AtomicBool::new(false),
            unsent: Mutex::default(),
            since: AtomicU64::new(self.now()),
            outlet: Mutex::default(),
            leave: Notify::new(),
        });
        open.by_number.insert(number, Arc::clone(&connection));
        Some(Place { number, connection, all: Arc::clone(self) })
    }

    /// Closes a connection on which nothing happens, if there is one.
    pub fn make_room(&self) -> bool {
        self.dismiss(&mut self.lock(), |_| true)
    }

    /// Closes, of some connections, the one on which nothing has happened for longest.
    fn dismiss(&self, open: &mut Open, whom: impl Fn(&Connection) -> bool) -> bool {
        let now = self.now();
        let grace = u64::try_from(self.grace.as_millis()).unwrap_or(u64::MAX);
        let is_idle = |other: &Connection| {
            let since = other.since.load(Ordering::Relaxed);
            let reads = other.sends.load(Ordering::Relaxed) && now.saturating_sub(since) < grace;
            !other.works.load(Ordering::Relaxed) && !reads
        };
        let idle = open
            .by_number
            .iter()
            .filter(|(_, other)| is_idle(other) && whom(other))
            .min_by_key(|(number, other)| (other.since.load(Ordering::Relaxed), **number))
            .map(|(number, _)| *number);
        let Some(connection) = idle.and_then(|number| open.by_number.remove(&number)) else { return false };
        connection.leave.notify_one();
        self.dismissed.fetch_add(1, Ordering::Relaxed);
        true
    }

    /// Whether so much may lie here for this connection beside what lies here for others. Clients
    /// that take nothing make room.
    fn has_room(&self, own: &Arc<Connection>, unsent: Unsent) -> bool {
        let mut open = self.lock();
        let share = self.most_unsent.share(self.most_each, self.most);
        loop {
            let is_other = |other: &Connection| !std::ptr::eq(other, Arc::as_ptr(own));
            let is_near = |other: &Connection| is_other(other) && other.address == own.address;
            let crowded = !own.address.is_loopback() && unsent.is_beyond(open.unsent(is_near), share);
            if !crowded && !unsent.is_beyond(open.unsent(is_other), self.most_unsent) {
                own.set_unsent(unsent);
                return true;
            }
            let in_the_way = |other: &Connection| {
                (if crowded { is_near(other) } else { is_other(other) })
                    && other.unsent().is_in_the_way_of(unsent)
            };
            if !self.dismiss(&mut open, in_the_way) {
                return false;
            }
        }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    fn unsent(&self, whose: impl Fn(&Connection) -> bool) -> Unsent {
        let counted = self.by_number.values().filter(|other| whose(other));
        counted.fold(Unsent::default(), |sum, other| sum.plus(other.unsent()))
    }
}

impl Place {
    /// From here to the drop of what comes back the connection is busy.
    pub fn work(self: &Arc<Self>) -> Busy {
        self.connection.works.store(true, Ordering::Relaxed);
        Busy(Arc::clone(self))
    }

    /// The client took some bytes.
    pub fn take(&self, bytes: usize) {
        self.stir();
        let mut outlet = self.connection.outlet();
        outlet.taken += bytes as u64;
        if let Some(waiting) = outlet.waiting.take() {
            waiting.wake();
        }
    }

    /// How many bytes were taken since the connection began.
    pub fn taken(&self) -> u64 {
        self.connection.outlet().taken
    }

    /// Waits until so many bytes were taken since the connection began.
    pub fn poll_taken(&self, bytes: u64, cx: &Context<'_>) -> Poll<()> {
        let mut outlet = self.connection.outlet();
        if outlet.taken >= bytes {
            return Poll::Ready(());
        }
        outlet.waiting = Some(cx.waker().clone());
        Poll::Pending
    }

    /// Something happened here.
    fn stir(&self) {
        self.connection.since.store(self.all.now(), Ordering::Relaxed);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.all.lock().by_number.remove(&self.number);
    }
}

/// A request under way: it works, and then it sends.
pub struct Busy(Arc<Place>);

impl Busy {
    pub fn place(&self) -> &Arc<Place> {
        &self.0
    }

    /// The answer is whole, and only has to be taken. False if there is no room for so much: then
    /// the connection still works, on another answer.
    pub fn send(&self, unsent: Unsent) -> bool {
        let Place { connection, all, .. } = &*self.0;
        if !all.has_room(connection, unsent) {
            return false;
        }
        self.0.stir();
        connection.sends.store(true, Ordering::Relaxed);
        connection.works.store(false, Ordering::Relaxed);
        true
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.stir();
        let connection = &self.0.connection;
        connection.set_unsent(Unsent::default());
        connection.works.store(false, Ordering::Relaxed);
        connection.sends.store(false, Ordering::Relaxed);
    }
}
