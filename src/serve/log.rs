//! One line a request.
//!
//! The line has the route and not the path, the number of a token's role and not the token, and
//! never a query string or a header: what is not written cannot leak.

use super::access::Role;
use super::connections::Working;
use super::{Site, routes};
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::MatchedPath;
use axum::http::Method;
use http_body::{Frame, SizeHint};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
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
    pub slot: Option<OwnedSemaphorePermit>,
    /// Shows that the connection works until the answer is out.
    pub working: Option<Working>,
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
            slot: None,
            working: None,
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

/// The body of an answer, counted, with what ends when it does.
pub struct Logged {
    body: Body,
    entry: Entry,
}

impl Logged {
    pub fn new(body: Body, entry: Entry) -> Self {
        Self { body, entry }
    }
}

impl HttpBody for Logged {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        if let Poll::Ready(Some(Ok(frame))) = &polled
            && let Some(data) = frame.data_ref()
        {
            self.entry.bytes += data.len() as u64;
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
