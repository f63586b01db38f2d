//! The HTTP server: SPARQL, the graph store, linked data, OAI-PMH.
//!
//! ```text
//! listener ── connections, stream      who is connected, for how long
//!    └─ gate ── hosts, access, cors    who asks, by which name, from which page
//!         │     limits, log            for how much; one line a request
//!         └─ routes                    the table of URLs
//!              sparql  graph_store  linked  oai  description  health  admin
//!                 └─ service           what the catalogue behind it must be able to do
//! ```
//!
//! Everything that is asked of a catalogue goes through [`Service`]; the server itself opens no
//! store and parses no query.

mod access;
mod admin;
mod answer;
pub mod api;
mod aside;
mod connections;
mod cors;
mod description;
mod form;
mod gate;
mod graph_store;
mod health;
mod hosts;
mod html;
mod limits;
mod linked;
mod listener;
mod log;
mod metrics;
mod multipart;
mod negotiate;
mod oai;
mod page;
mod parameters;
mod problem;
mod routes;
mod service;
mod sparql;
mod statements;
mod stream;
#[cfg(test)]
mod tests;
pub mod token;
mod update;
mod wording;

pub use access::{Access, Holder, Role};
pub use aside::Aside;
pub use cors::read as read_origin;
pub use hosts::read as read_host;
pub use limits::Limits;
pub use listener::Peer;
pub use page::{Local, page};
pub use problem::Problem;
pub use service::{
    Change, Content, Description, Document, GraphWrite, Inbound, Later, OaiAnswer, QueryLimits, Question,
    Refusal, Reply, Service, Statistics, Status, Written,
};
pub use update::Update;

use axum::Router;
use connections::Connections;
use cors::Cors;
use hosts::Hosts;
use listener::Listener;
use metrics::Metrics;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::time::timeout;

/// What a server is told before it starts.
#[derive(Debug, Clone)]
pub struct Settings {
    pub bind: SocketAddr,
    /// A listener of its own for `/metrics` and `/admin/`; without it they answer loopback alone.
    pub admin_bind: Option<SocketAddr>,
    /// An address that others can reach is meant.
    pub public: bool,
    /// The base IRI of the catalogue, with its closing slash.
    pub base: String,
    /// Names by which it may be asked, beside its own ([`read_host`]).
    pub hosts: Vec<String>,
    /// Origins whose pages may read ([`read_origin`]); by default all if it is public, else none.
    pub cors: Vec<String>,
    /// Nobody may write.
    pub read_only: bool,
    /// Queries may ask other endpoints.
    pub federated: bool,
    /// Who may read: [`Role::Anonymous`] is everybody.
    pub read: Role,
    /// The file with the tokens.
    pub tokens: PathBuf,
    pub limits: Limits,
}

/// Why a server does not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    #[error("`{0}` can be reached from elsewhere; say `--public` if that is meant, or bind to 127.0.0.1")]
    NotPublic(SocketAddr),
    #[error("a public server needs a token first: `pinakes token create --role admin`")]
    NoToken,
    #[error(
        "`{address}` is taken by another program; choose another, as with `{option} {next}`, or port 0 for any that is free",
        next = next_to(*address)
    )]
    Taken {
        address: SocketAddr,
        /// What the address was given by.
        option: &'static str,
    },
    #[error("cannot listen on `{address}`")]
    Listen {
        address: SocketAddr,
        #[source]
        source: io::Error,
    },
    #[error(transparent)]
    Tokens(#[from] token::TokenError),
}

/// The same address and the next port.
fn next_to(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip(), address.port().checked_add(1).unwrap_or(0))
}

/// Whether a server may listen there: elsewhere than on loopback only if that is said twice, by
/// `--public` and by a token.
pub fn may_bind(address: SocketAddr, public: bool, has_token: bool) -> Result<(), ServeError> {
    if address.ip().is_loopback() {
        return Ok(());
    }
    if !public {
        return Err(ServeError::NotPublic(address));
    }
    if has_token { Ok(()) } else { Err(ServeError::NoToken) }
}

/// What every request of a running server can reach.
pub struct Site {
    pub settings: Settings,
    pub service: Arc<dyn Service>,
    access: Access,
    limits: Arc<Limits>,
    metrics: Metrics,
    hosts: Hosts,
    cors: Cors,
    connections: Arc<Connections>,
    /// One for each request that may be worked on at once; given back when the answer is whole.
    slots: Arc<Semaphore>,
    /// One for each whole graph that may be read at once.
    graphs: Arc<Semaphore>,
    /// One for each byte of the large bodies that may be here at once.
    bodies: Arc<Semaphore>,
    /// The path of the base IRI, with its closing slash.
    base_path: String,
}

/// A server that has its sockets and answers nothing yet.
pub struct Server {
    site: Arc<Site>,
    listeners: Vec<Listener>,
    address: SocketAddr,
    admin_address: Option<SocketAddr>,
}

impl Server {
    /// Opens the sockets. `more` are routes of others, served behind the same gate.
    pub async fn bind(
        settings: Settings,
        service: Arc<dyn Service>,
        more: Router,
    ) -> Result<Self, ServeError> {
        let has_token = !token::list(&settings.tokens)?.is_empty();
        for address in [Some(settings.bind), settings.admin_bind].into_iter().flatten() {
            may_bind(address, settings.public, has_token)?;
        }
        let limits = Arc::new(settings.limits.clone());
        let connections = Arc::new(Connections::new(&limits));
        let addresses = [Some(settings.bind), settings.admin_bind].into_iter().flatten();
        let addresses: Vec<_> = addresses.map(|address| address.ip()).collect();
        let is_open = settings.public && settings.read == Role::Anonymous;
        let site = Arc::new(Site {
            service,
            hosts: Hosts::new(&settings.hosts, &settings.base, &addresses, settings.public),
            cors: Cors::new(&settings.cors, is_open),
            access: Access::new(settings.tokens.clone()),
            metrics: Metrics::default(),
            connections: Arc::clone(&connections),
            slots: Arc::new(Semaphore::new(limits.requests)),
            graphs: Arc::new(Semaphore::new(limits.graphs)),
            bodies: Arc::new(Semaphore::new(limits.bodies)),
            base_path: base_path(&settings.base),
            limits: Arc::clone(&limits),
            settings,
        });
        let router = routes::router(&site, more);
        let mut listeners = Vec::new();
        let mut addresses = Vec::new();
        for (bind, admin) in [(Some(site.settings.bind), false), (site.settings.admin_bind, true)] {
            let Some(bind) = bind else { continue };
            let option = if admin { "--admin-bind" } else { "--bind" };
            let failed = |source: io::Error| match source.kind() {
                io::ErrorKind::AddrInUse => ServeError::Taken { address: bind, option },
                _ => ServeError::Listen { address: bind, source },
            };
            let socket = TcpListener::bind(bind).await.map_err(failed)?;
            addresses.push(socket.local_addr().map_err(failed)?);
            listeners.push(Listener {
                socket,
                router: router.clone(),
                admin,
                connections: Arc::clone(&connections),
                limits: Arc::clone(&limits),
                base_path: Arc::from(site.base_path.as_str()),
            });
        }
        let mut addresses = addresses.into_iter();
        let address = addresses.next().unwrap_or(site.settings.bind);
        Ok(Self { site, listeners, address, admin_address: addresses.next() })
    }

    /// Where it listens; the port is known even if any was asked for.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn admin_address(&self) -> Option<SocketAddr> {
        self.admin_address
    }

    /// Serves until `stop` is there, then finishes what is under way. False if something was still
    /// under way when the time for that was over.
    pub async fn run(self, stop: impl Future<Output = ()>) -> bool {
        let (tell, told) = watch::channel(false);
        let (open, mut all_closed) = mpsc::channel(1);
        for listener in self.listeners {
            tokio::spawn(listener.run(told.clone(), open.clone()));
        }
        drop(open);
        stop.await;
        tracing::info!("the server stops; requests under way are finished");
        tell.send_replace(true);
        // Nothing is ever sent: the channel closes when the last connection lets go of it.
        timeout(self.site.limits.stop_time, all_closed.recv()).await.is_ok()
    }
}

/// `/catalogue/` of `https://library.example/catalogue/`.
fn base_path(base: &str) -> String {
    let after_scheme = base.split_once("://").map_or(base, |(_, rest)| rest);
    let path = after_scheme.find('/').map_or("/", |at| &after_scheme[at..]);
    if path.ends_with('/') { path.to_owned() } else { format!("{path}/") }
}
