//! Who is connected, and who has to go when there is no room.
//!
//! A connection *waits* from its beginning to the end of a request's head, and between requests;
//! it is *busy* from there to the end of the answer. When there is no room, the one that has
//! waited longest makes it: a thousand clients that never finish a head displace each other, and
//! whoever comes with a whole request is served before the next thousand arrive. Busy connections
//! are never closed for others.

use super::limits::Limits;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use tokio::sync::Notify;

pub struct Connections {
    most: usize,
    most_each: usize,
    began: Instant,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    next: u64,
    by_number: BTreeMap<u64, Arc<Connection>>,
}

/// One connection.
pub struct Connection {
    address: IpAddr,
    busy: AtomicBool,
    /// When it last began to wait, in milliseconds of the server's life.
    since: AtomicU64,
    /// Told when it has to go.
    pub leave: Notify,
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
            began: Instant::now(),
            open: Mutex::default(),
        }
    }

    pub fn count(&self) -> usize {
        self.lock().by_number.len()
    }

    /// A place for a new connection; none if all that might go are busy.
    pub fn enter(self: &Arc<Self>, address: IpAddr) -> Option<Place> {
        let mut open = self.lock();
        if !address.is_loopback() {
            let own = open.by_number.values().filter(|other| other.address == address).count();
            if own >= self.most_each && !open.dismiss(|other| other.address == address) {
                return None;
            }
        }
        if open.by_number.len() >= self.most && !open.dismiss(|_| true) {
            return None;
        }
        let number = open.next;
        open.next += 1;
        let connection = Arc::new(Connection {
            address,
            busy: AtomicBool::new(false),
            since: AtomicU64::new(self.now()),
            leave: Notify::new(),
        });
        open.by_number.insert(number, Arc::clone(&connection));
        Some(Place { number, connection, all: Arc::clone(self) })
    }

    /// Closes the connection that has waited longest, if one waits.
    pub fn make_room(&self) -> bool {
        self.lock().dismiss(|_| true)
    }

    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    fn dismiss(&mut self, whom: impl Fn(&Connection) -> bool) -> bool {
        let waiting = self
            .by_number
            .iter()
            .filter(|(_, other)| !other.busy.load(Ordering::Relaxed) && whom(other))
            .min_by_key(|(number, other)| (other.since.load(Ordering::Relaxed), **number))
            .map(|(number, _)| *number);
        let dismissed = waiting.and_then(|number| self.by_number.remove(&number));
        dismissed.inspect(|connection| connection.leave.notify_one()).is_some()
    }
}

impl Place {
    /// From here to the drop of what comes back the connection is busy.
    pub fn work(self: &Arc<Self>) -> Working {
        self.connection.busy.store(true, Ordering::Relaxed);
        Working(Arc::clone(self))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.all.lock().by_number.remove(&self.number);
    }
}

/// A request under way.
pub struct Working(Arc<Place>);

impl Drop for Working {
    fn drop(&mut self) {
        self.0.connection.since.store(self.0.all.now(), Ordering::Relaxed);
        self.0.connection.busy.store(false, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    fn connections(most: usize, most_each: usize) -> Arc<Connections> {
        Arc::new(Connections::new(&Limits {
            connections: most,
            connections_each: most_each,
            ..Limits::default()
        }))
    }

    const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

    fn there(last: u8) -> IpAddr {
        IpAddr::V4(Ipv4Addr::new(192, 0, 2, last))
    }

    #[tokio::test]
    async fn who_waited_longest_makes_room_and_who_works_stays() {
        let all = connections(2, 2);
        let first = Arc::new(all.enter(HERE).expect("room"));
        let second = all.enter(HERE).expect("room");
        let working = first.work();
        let third = all.enter(HERE).expect("the second makes room");
        second.connection.leave.notified().await;
        drop(second);
        assert_eq!(all.count(), 2);
        let third = Arc::new(third);
        let also = third.work();
        assert!(all.enter(HERE).is_none(), "all are busy");
        drop((working, also));
        assert!(all.enter(HERE).is_some());
    }

    #[test]
    fn one_address_cannot_take_all_places() {
        let all = connections(100, 3);
        let held: Vec<Place> = (0..3).map(|_| all.enter(there(1)).expect("room")).collect();
        let _other = all.enter(there(2)).expect("room for others");
        let _fourth = all.enter(there(1)).expect("its own oldest makes room");
        assert_eq!(all.count(), 4);
        drop(held);
        assert_eq!(all.count(), 2);
        let proxied: Vec<Place> = (0..10).map(|_| all.enter(HERE).expect("room")).collect();
        assert_eq!(proxied.len(), 10);
    }
}
