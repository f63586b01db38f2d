//! What all sessions share: the runtime, the queues of the hosts, the rules of robots.

use super::access::Access;
use super::clock::{Clock, SystemClock};
use super::fault::Fault;
use super::guard::{Resolve, SystemResolver};
use super::host::Hosts;
use super::robots::Known;
use super::session::Session;
use super::wire;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::runtime::{Builder, Runtime};

/// Looks an environment variable up.
pub type Environment = dyn Fn(&str) -> Option<String> + Send + Sync;

/// Where the fetcher gets its surroundings from. The defaults are the machine's.
#[derive(Clone)]
pub struct Options {
    pub clock: Arc<dyn Clock>,
    pub resolver: Arc<dyn Resolve>,
    pub environment: Arc<Environment>,
    /// Waits after failures are spread at random; the same seed spreads them alike.
    pub seed: u64,
    /// Certificates (DER) to trust beside those of the system.
    pub roots: Vec<Vec<u8>>,
}

/// The one way out. Cloning it gives the same one.
#[derive(Clone)]
pub struct Fetcher {
    shared: Arc<Shared>,
}

pub(super) struct Shared {
    /// There until it is dropped.
    runtime: Option<Runtime>,
    tls: OnceLock<Result<rustls::ClientConfig, Fault>>,
    sessions: AtomicU64,
    pub(super) options: Options,
    pub(super) hosts: Hosts,
    pub(super) robots: Known,
}

impl Fetcher {
    /// Fails if the operating system does not let us wait for the network.
    pub fn new(options: Options) -> std::io::Result<Self> {
        // No thread of its own: those who ask move the bytes, each other's too if several do.
        // That saves a change of threads for every piece of a page.
        let runtime = Builder::new_current_thread().enable_io().enable_time().build()?;
        let shared = Shared {
            runtime: Some(runtime),
            tls: OnceLock::new(),
            sessions: AtomicU64::new(0),
            options,
            hosts: Hosts::default(),
            robots: Known::default(),
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// A session with the source that lives at `home`: credentials are sent to the origin of
    /// that address and to no other. Nothing is sent yet. Setting `cancel` ends every wait and
    /// every transfer of the session.
    pub fn open(&self, access: &Access, home: &str, cancel: Arc<AtomicBool>) -> Result<Session, Fault> {
        Session::new(Arc::clone(&self.shared), access, home, cancel)
    }
}

impl Shared {
    /// The trust in certificates, read once and only when a first session needs it.
    pub(super) fn tls(&self) -> Result<rustls::ClientConfig, Fault> {
        let read = || wire::tls(&self.options.roots).map_err(|(kind, detail)| Fault::new(kind, "", detail));
        self.tls.get_or_init(read).clone()
    }

    /// Runs to the end what waits for the network, on the thread of who asks.
    pub(super) fn block_on<F: Future>(&self, future: F) -> Option<F::Output> {
        Some(self.runtime.as_ref()?.block_on(future))
    }

    /// A seed of its own for each session.
    pub(super) fn seed(&self) -> u64 {
        self.options.seed.wrapping_add(self.sessions.fetch_add(1, Ordering::Relaxed))
    }
}

impl Drop for Shared {
    /// Without waiting for a look-up that hangs in the operating system.
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self {
            clock: Arc::new(SystemClock::default()),
            resolver: Arc::new(SystemResolver),
            environment: Arc::new(|name| std::env::var(name).ok()),
            seed: u64::from(now.subsec_nanos()) ^ u64::from(std::process::id()) << 32,
            roots: Vec::new(),
        }
    }
}

impl fmt::Debug for Fetcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fetcher").finish_non_exhaustive()
    }
}
