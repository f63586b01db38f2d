//! Taking connections in, and letting go of them.
//!
//! One task a connection, HTTP/1.1 by hyper. A connection ends by itself, by having to make room
//! for another, or because the server stops: then it may finish the request it is at.

#[cfg(test)]
mod tests;

use super::connections::{Connections, Place};
use super::limits::Limits;
use super::stream::Stream;
use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::Uri;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::io::{self, Write};
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};

/// How long accepting rests after it failed, when the process has no file handle left.
const PAUSE: Duration = Duration::from_millis(20);

/// Where a request comes from. The listener leaves it with the request.
#[derive(Clone)]
pub struct Peer {
    pub address: IpAddr,
    /// It came in by the listener for administration.
    pub admin: bool,
    pub place: Arc<Place>,
}

/// A socket, and what is served on it.
pub struct Listener {
    pub socket: TcpListener,
    pub router: Router,
    pub admin: bool,
    pub connections: Arc<Connections>,
    pub limits: Arc<Limits>,
    /// The path of the base IRI, with its closing slash.
    pub base_path: Arc<str>,
}

impl Listener {
    /// Takes connections in until `stop` is told. `open` is held by every connection.
    pub async fn run(self, mut stop: watch::Receiver<bool>, open: mpsc::Sender<()>) {
        let mut protocol = http1::Builder::new();
        protocol
            .timer(TokioTimer::new())
            .header_read_timeout(self.limits.head_time)
            .max_header_size(self.limits.head_size)
            .max_buf_size(self.limits.head_size.max(64 * 1024));
        let protocol = Arc::new(protocol);
        loop {
            let accepted = tokio::select! {
                biased;
                () = told(&mut stop) => return,
                accepted = self.socket.accept() => accepted,
            };
            let (stream, address) = match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    if !is_of_one_connection(&error) {
                        tracing::warn!(%error, "a connection cannot be taken");
                        self.connections.make_room();
                        tokio::time::sleep(PAUSE).await;
                    }
                    continue;
                }
            };
            let Some(place) = self.connections.enter(address.ip()) else {
                turn_away(stream);
                continue;
            };
            let place = Arc::new(place);
            let stream = match Stream::new(stream, Arc::clone(&place), self.limits.stall_time) {
                Ok(stream) => stream,
                Err(error) => {
                    tracing::debug!(%error, "a connection ended at once");
                    continue;
                }
            };
            let peer = Peer { address: address.ip(), admin: self.admin, place };
            let (router, protocol) = (self.router.clone(), Arc::clone(&protocol));
            let (stop, open, base_path) = (stop.clone(), open.clone(), Arc::clone(&self.base_path));
            tokio::spawn(async move {
                converse(&protocol, stream, router, peer, base_path, stop).await;
                drop(open);
            });
        }
    }
}

/// Waits until the server is told to stop, or is gone.
async fn told(stop: &mut watch::Receiver<bool>) {
    let _ = stop.wait_for(|stopped| *stopped).await;
}

/// Serves one connection to its end.
async fn converse(
    protocol: &http1::Builder,
    stream: Stream,
    router: Router,
    peer: Peer,
    base_path: Arc<str>,
    mut stop: watch::Receiver<bool>,
) {
    let place = Arc::clone(&peer.place);
    let router = TowerToHyperService::new(router);
    let answer = service_fn(move |request: hyper::Request<Incoming>| {
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(peer.clone());
        strip_base(&base_path, &mut request);
        router.call(request)
    });
    let mut conversation = pin!(protocol.serve_connection(TokioIo::new(stream), answer));
    let ended = tokio::select! {
        ended = conversation.as_mut() => ended,
        () = place.connection.leave.notified() => return,
        () = told(&mut stop) => {
            conversation.as_mut().graceful_shutdown();
            conversation.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended badly");
    }
}

/// A base IRI may have a path, and a proxy may pass it on: `/catalogue/sparql` is `/sparql` then.
fn strip_base(base_path: &str, request: &mut Request) {
    if base_path.len() <= 1 {
        return;
    }
    let Some(rest) = request.uri().path().strip_prefix(base_path) else { return };
    let query = request.uri().query().map_or_else(String::new, |query| format!("?{query}"));
    let path = format!("/{rest}{query}").parse().ok();
    // A host in the request line stays: it says whom the request is for, whatever `Host` says.
    let mut parts = request.uri().clone().into_parts();
    parts.path_and_query = path;
    if let Ok(uri) = Uri::from_parts(parts) {
        *request.uri_mut() = uri;
    }
}

/// Such errors come with the connection and say nothing about the next.
fn is_of_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

/// Says that there is no room. The buffer of a new connection takes this at once, or nobody reads it.
fn turn_away(stream: TcpStream) {
    const FULL: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 2\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    if let Err(error) = stream.into_std().and_then(|mut stream| stream.write_all(FULL)) {
        tracing::debug!(%error, "a connection was turned away unheard");
    }
}
