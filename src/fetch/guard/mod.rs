//! What may be connected to.
//!
//! A harvested page can hold any address, and a redirect can lead anywhere: to the router, to
//! the metadata service of a cloud, to a database on this machine. So every address, the first
//! and each one a redirect gives, is read strictly ([`spelling`]), its host is resolved once,
//! and *every* address it resolves to must be public ([`address`]) or allowed by the source
//! ([`allowed`]). What passed is pinned: the connection is made to these addresses, without a
//! second look-up that could say something else.

mod address;
mod allowed;
mod spelling;

#[cfg(test)]
mod tests;

pub(super) use allowed::Allowed;
pub(super) use spelling::{join, parse};

use super::fault::FaultKind;
use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use url::{Host, Url};

/// How long a checked address serves. A harvest can take days, and hosts move.
const PINNED: Duration = Duration::from_secs(600);
/// With more hosts than this, those whose time is over are forgotten.
const MOST: usize = 10_000;

/// Finds the addresses of a host.
pub trait Resolve: Send + Sync {
    /// May block; it is called on a thread of its own.
    fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>>;
}

/// Asks the operating system.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemResolver;

impl Resolve for SystemResolver {
    fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        Ok((host, 0).to_socket_addrs()?.map(|address| address.ip()).collect())
    }
}

/// Why an address is refused.
pub(super) type Refusal = (FaultKind, String);

/// The addresses one session may connect to, by host.
#[derive(Debug, Default)]
pub(super) struct Pins {
    allowed: Vec<Allowed>,
    hosts: Mutex<HashMap<String, Pin>>,
}

#[derive(Debug)]
struct Pin {
    addresses: Vec<IpAddr>,
    /// When it was resolved, on the monotonic clock.
    since: Duration,
}

impl Pin {
    fn is_fresh(&self, now: Duration) -> bool {
        now.saturating_sub(self.since) < PINNED
    }
}

impl Pins {
    pub(super) fn new(allowed: Vec<Allowed>) -> Self {
        Self { allowed, hosts: Mutex::default() }
    }

    /// Lets `url` pass or says why not. `resolve` is asked for hosts that have no fresh pin.
    pub(super) fn check(
        &self,
        url: &Url,
        now: Duration,
        resolve: impl FnOnce(&str) -> Result<Vec<IpAddr>, Refusal>,
    ) -> Result<(), Refusal> {
        let port = url.port_or_known_default().unwrap_or_default();
        match url.host() {
            Some(Host::Ipv4(address)) => self.check_address(None, address.into(), port),
            Some(Host::Ipv6(address)) => self.check_address(None, address.into(), port),
            Some(Host::Domain(host)) => {
                // The port is part of what is allowed, so a pinned host is checked again.
                if let Some(pinned) = self.fresh(host, now) {
                    return self.check_all(host, &pinned, port);
                }
                let addresses = resolve(host)?;
                self.check_all(host, &addresses, port)?;
                let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
                if hosts.len() >= MOST {
                    hosts.retain(|_, pin| pin.is_fresh(now));
                }
                hosts.insert(host.to_owned(), Pin { addresses, since: now });
                Ok(())
            }
            None => Err((FaultKind::BadUrl, "it names no host".to_owned())),
        }
    }

    /// Where to connect to for a host that was checked. There is no other way to an address.
    pub(super) fn pinned(&self, host: &str) -> Option<Vec<SocketAddr>> {
        let hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        // Port 0 stands for the port of the request.
        Some(hosts.get(host)?.addresses.iter().map(|address| SocketAddr::new(*address, 0)).collect())
    }

    fn fresh(&self, host: &str, now: Duration) -> Option<Vec<IpAddr>> {
        let hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        hosts.get(host).filter(|pin| pin.is_fresh(now)).map(|pin| pin.addresses.clone())
    }

    /// One bad address among good ones is reason enough: which one would be connected to is
    /// not ours to say.
    fn check_all(&self, host: &str, addresses: &[IpAddr], port: u16) -> Result<(), Refusal> {
        if addresses.is_empty() {
            return Err((FaultKind::Unresolved, format!("`{host}` resolves to nothing")));
        }
        addresses.iter().try_for_each(|address| self.check_address(Some(host), *address, port))
    }

    fn check_address(&self, host: Option<&str>, address: IpAddr, port: u16) -> Result<(), Refusal> {
        let Some(reason) = address::not_public(address) else { return Ok(()) };
        if self.allowed.iter().any(|allowed| allowed.covers(host, address, port)) {
            return Ok(());
        }
        let detail = match host {
            Some(host) => format!("`{host}` resolves to {address}, which is {reason}"),
            None => format!("{address} is {reason}"),
        };
        Err((FaultKind::PrivateAddress, detail))
    }
}
