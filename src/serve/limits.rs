//! How much anybody may take: sizes, numbers and times.
//!
//! All of it is settled before the work begins: a body that is too large is refused by its
//! announced length, and one that announces nothing is cut where the limit is.

use super::access::Role;
use super::connections::Unsent;
use super::problem::Problem;
use super::service::QueryLimits;
use axum::body::{Body, Bytes};
use axum::http::StatusCode;
use http_body_util::BodyExt;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

const KB: usize = 1024;
const MB: usize = 1024 * KB;

/// A body up to this length needs no room: all connections together hold little of such.
const SMALL_BODY: usize = MB;

/// The limits of a server.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Open connections in all, and from one address. Loopback is not held to the second: a proxy
    /// may stand there, with everybody behind it.
    pub connections: usize,
    pub connections_each: usize,
    /// Requests that are worked on at once; more are told to come back.
    pub requests: usize,
    /// Whole graphs that are read at once. Each may take a worker for long, and a hundred at once
    /// would leave none for queries; more wait for their turn, without a slot.
    pub graphs: usize,
    /// For the head of a request, and for the next one on an open connection.
    pub head_time: Duration,
    pub head_size: usize,
    pub uri_length: usize,
    /// Between two pieces of a body.
    pub idle_time: Duration,
    /// Without a byte of an answer taken.
    pub stall_time: Duration,
    /// After which a client that takes nothing may have to make room for others.
    pub grace: Duration,
    /// What may lie here of whole answers that clients have not taken yet. One address has the same
    /// share of it as of the connections.
    pub unsent: Unsent,
    /// For a whole body.
    pub body_time: Duration,
    /// Bytes of large bodies that are read or worked with at once, and how long one waits for room.
    pub bodies: usize,
    pub room_time: Duration,
    /// A document for the graph store.
    pub document: usize,
    /// For requests under way when the server stops.
    pub stop_time: Duration,
    pub anonymous: QueryLimits,
    pub holder: QueryLimits,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 512,
            connections_each: 64,
            requests: 256,
            graphs: 8,
            head_time: Duration::from_secs(10),
            head_size: 32 * KB,
            uri_length: 24 * KB,
            idle_time: Duration::from_secs(10),
            stall_time: Duration::from_secs(60),
            grace: Duration::from_secs(5),
            unsent: Unsent { memory: 256 * MB as u64, disk: 4096 * MB as u64 },
            body_time: Duration::from_secs(60),
            bodies: 256 * MB,
            room_time: Duration::from_secs(5),
            document: 32 * MB,
            stop_time: Duration::from_secs(10),
            anonymous: QueryLimits {
                text: 64 * KB,
                time: Duration::from_secs(10),
                rows: 100_000,
                bytes: 50 * MB as u64,
            },
            holder: QueryLimits {
                text: MB,
                time: Duration::from_secs(60),
                rows: 1_000_000,
                bytes: 500 * MB as u64,
            },
        }
    }
}

impl Limits {
    pub fn query(&self, role: Role) -> QueryLimits {
        if role == Role::Anonymous { self.anonymous } else { self.holder }
    }

    /// How much room a body of an announced length needs while it is read; one that announces nothing
    /// may be as long as the limit.
    pub fn room(&self, announced: Option<u64>, limit: usize) -> usize {
        let most = announced.and_then(|length| usize::try_from(length).ok()).unwrap_or(limit).min(limit);
        // What is larger than all there is can be read alone.
        if most > SMALL_BODY { most.min(self.bodies) } else { 0 }
    }

    /// The largest body on a route, for a role. Only the two endpoints that take data have room
    /// for any; a form needs three bytes for most characters of a query.
    pub fn body(&self, route: &str, role: Role) -> usize {
        match route {
            super::routes::SPARQL if role >= Role::Writer => self.document,
            super::routes::SPARQL => 3 * self.query(role).text,
            super::routes::GRAPH_STORE | super::routes::GRAPH_STORE_DIRECT | super::routes::GRAPH_DIRECT
                if role >= Role::Writer =>
            {
                self.document
            }
            super::routes::OAI => 8 * KB,
            // Enough to hear whoever may not write say what they would have written.
            _ => 64 * KB,
        }
    }
}

/// How the body of one request is read.
#[derive(Debug, Clone, Copy)]
pub struct BodyLimit {
    pub size: usize,
    pub idle: Duration,
    pub total: Duration,
}

impl BodyLimit {
    /// The whole body, or why not.
    pub async fn read(self, mut body: Body) -> Result<Bytes, Problem> {
        let slow = || Problem::new(StatusCode::REQUEST_TIMEOUT, "the body comes too slowly");
        let end = Instant::now() + self.total;
        let mut read = Vec::new();
        loop {
            let next = end.min(Instant::now() + self.idle);
            let frame = match timeout_at(next, body.frame()).await {
                Err(_) => return Err(slow()),
                Ok(None) => return Ok(read.into()),
                Ok(Some(Err(_))) => return Err(Problem::bad_request("the body ends in the middle")),
                Ok(Some(Ok(frame))) => frame,
            };
            let Ok(data) = frame.into_data() else { continue };
            if read.len() + data.len() > self.size {
                return Err(Problem::too_large(self.size as u64));
            }
            read.extend_from_slice(&data);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_body_is_read_to_its_limit_and_no_further() {
        let limit = |size| BodyLimit { size, idle: Duration::from_secs(5), total: Duration::from_secs(5) };
        assert_eq!(limit(5).read(Body::from("12345")).await.expect("a body"), "12345");
        let refused = limit(4).read(Body::from("12345")).await;
        assert_eq!(refused.map_err(|problem| problem.status), Err(StatusCode::PAYLOAD_TOO_LARGE));
    }

    #[test]
    fn who_may_not_write_may_not_send_much() {
        let limits = Limits::default();
        for route in [super::super::routes::GRAPH_STORE, "/work/1"] {
            assert!(limits.body(route, Role::Reader) <= 64 * KB);
        }
        assert_eq!(limits.body(super::super::routes::GRAPH_STORE, Role::Writer), limits.document);
        assert!(limits.query(Role::Reader).text > limits.query(Role::Anonymous).text);
    }

    #[test]
    fn large_bodies_need_room() {
        let limits = Limits { bodies: 40 * MB, ..Limits::default() };
        for (announced, limit, room) in [
            (Some(1000), 32 * MB, 0),
            (Some(2 * MB as u64), 32 * MB, 2 * MB),
            (None, 32 * MB, 32 * MB),
            (None, 64 * KB, 0),
            (None, 50 * MB, 40 * MB),
            (Some(u64::MAX), 32 * MB, 32 * MB),
        ] {
            assert_eq!(limits.room(announced, limit), room, "{announced:?} of {limit}");
        }
    }
}
