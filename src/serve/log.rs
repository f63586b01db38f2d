//! One line a request.
//!
//! The line has the route and not the path, the number of a token's role and not the token, and
//! never a query string or a header: what is not written cannot leak.

use super::access::Role;
use super::connections::{Busy, Place};
use super::{Site, routes};
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::MatchedPath;
use axum::http::Method;
use http_body::{Frame, SizeHint};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Instant;
use tokio::sync::OwnedSemaphorePermit;

/// The status of a request whose client hung up. No standard has one; nginx's is widely known.
const HUNG_UP: u16 = 499;

/// A request under way. Dropped with the last byte of its answer, or with its client.
pub struct Entry {
    site: Arc<Site>,
    started: Instant,
    method: Method,
    route: Option<MatchedPath>,
    pub role: Role,
    pub status: u16,
    bytes: u64,
    /// What it may work with; given back when the answer is whole.
    pub slots: Vec<OwnedSemaphorePermit>,
    /// Shows that the connection is busy until the answer is out.
    pub busy: Option<Busy>,
}

impl Entry {
    pub fn new(site: Arc<Site>, method: Method, route: Option<MatchedPath>) -> Self {
        Self {
            site,
            started: Instant::now(),
            method,
            route,
            role: Role::Anonymous,
            status: HUNG_UP,
            bytes: 0,
            slots: Vec::new(),
            busy: None,
        }
    }

    pub fn route(&self) -> &str {
        match self.route.as_ref().map(MatchedPath::as_str) {
            None => routes::ENTITY,
            Some(routes::SPARQL_SLASH) => routes::SPARQL,
            Some(route) => route,
        }
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        let took = self.started.elapsed();
        self.site.metrics.count(self.route(), self.status, took);
        tracing::info!(
            method = known(&self.method),
            route = self.route(),
            status = self.status,
            bytes = self.bytes,
            ms = took.as_secs_f64() * 1000.0,
            role = self.role.as_str(),
            "request"
        );
    }
}

/// A method may be any word; the log has those we know.
fn known(method: &Method) -> &str {
    match method.as_str() {
        name @ ("GET" | "HEAD" | "POST" | "PUT" | "DELETE" | "OPTIONS" | "PATCH") => name,
        _ => "other",
    }
}

/// How much of an answer is handed on at once.
const PIECE: usize = 16 * 1024;

/// The body of an answer, counted, with what ends when it does.
///
/// It is handed on piece by piece, each when the client has taken the one before. Whoever writes
/// would buffer more, and the answer would end here long before it ends for a slow client, whose
/// time for the next request would run meanwhile.
pub struct Logged {
    body: Body,
    entry: Entry,
    /// What the body gave and was not handed on yet.
    rest: Bytes,
    place: Option<Arc<Place>>,
    /// What had been taken of the connection when this answer began.
    before: u64,
}

impl Logged {
    pub fn new(body: Body, entry: Entry) -> Self {
        let place = entry.busy.as_ref().map(|busy| Arc::clone(busy.place()));
        let before = place.as_ref().map_or(0, |place| place.taken());
        Self { body, entry, rest: Bytes::new(), place, before }
    }
}

impl HttpBody for Logged {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = &mut *self;
        while this.rest.is_empty() {
            match ready!(Pin::new(&mut this.body).poll_frame(cx)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => this.rest = data,
                    Err(frame) => return Poll::Ready(Some(Ok(frame))),
                },
                end => return Poll::Ready(end),
            }
        }
        if let Some(place) = &this.place {
            ready!(place.poll_taken(this.before + this.entry.bytes, cx));
        }
        let piece = this.rest.split_to(PIECE.min(this.rest.len()));
        this.entry.bytes += piece.len() as u64;
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let (mut hint, rest) = (self.body.size_hint(), self.rest.len() as u64);
        match hint.exact() {
            Some(length) => hint.set_exact(length + rest),
            None => hint.set_lower(hint.lower() + rest),
        }
        hint
    }
}
