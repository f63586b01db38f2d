//! Which names is the server asked by?
//!
//! A page on the web can let its own name lead to 127.0.0.1 and then ask whatever listens there, and
//! the browser calls that the same origin ("DNS rebinding"). So loopback alone is no fence. A server
//! that is not public answers only if it is asked by a name of its own: a name of this machine, the
//! address it listens on, the host of the base IRI, or one that was given to it.

use super::problem::Problem;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, StatusCode, Uri, Version, header};
use std::net::IpAddr;
use url::{Host, Url};

/// What this machine is called by itself. No page elsewhere can have these names.
const HERE: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// The names of a server.
#[derive(Debug, Clone)]
pub struct Hosts {
    /// It answers to every name.
    any: bool,
    own: Vec<String>,
}

impl Hosts {
    /// The names of a server with this base IRI that listens on these addresses. A public one
    /// answers to every name, unless some are given.
    pub fn new(given: &[String], base: &str, addresses: &[IpAddr], public: bool) -> Self {
        let base = Url::parse(base).ok().and_then(|base| base.host_str().map(normalized));
        // 0.0.0.0 is where to listen and no name, although some systems lead it to themselves.
        let addresses = addresses.iter().filter(|address| !address.is_unspecified());
        let addresses = addresses.map(|address| match address {
            IpAddr::V4(address) => address.to_string(),
            IpAddr::V6(address) => format!("[{address}]"),
        });
        let own = HERE.map(str::to_owned).into_iter().chain(addresses).chain(base);
        Self { any: public && given.is_empty(), own: own.chain(given.iter().cloned()).collect() }
    }

    /// Whether a request is for this server. `near` is for whoever sits at the machine alone, so a
    /// name of its own is needed even if the server is public.
    pub fn check(&self, uri: &Uri, version: Version, headers: &HeaderMap, near: bool) -> Result<(), Problem> {
        // RFC 9112, 3.2: one host, or it is not known what two servers in a row would make of it.
        let mut given = headers.get_all(header::HOST).iter();
        let header = given.next();
        if given.next().is_some() || (header.is_none() && version == Version::HTTP_11) {
            return Err(Problem::bad_request("a request has one `Host` header"));
        }
        // RFC 9112, 3.2.2: a host in the request line takes the place of the header.
        let named = match (uri.authority(), header) {
            (Some(authority), _) => Some(authority.clone()),
            // No browser speaks HTTP/1.0, and nothing else says where the request was meant to go.
            (None, None) => None,
            (None, Some(header)) => {
                let authority = header.to_str().ok().and_then(|host| host.parse::<Authority>().ok());
                let named = authority.filter(|authority| !authority.as_str().contains('@'));
                Some(named.ok_or_else(|| Problem::bad_request("the `Host` header names no host"))?)
            }
        };
        let Some(name) = named.map(|authority| normalized(authority.host())) else { return Ok(()) };
        if (self.any && !near) || self.own.contains(&name) {
            return Ok(());
        }
        let message = format!(
            "this server does not answer to the name `{name}`; whoever runs it can allow it with `--host {name}`"
        );
        Err(Problem::new(StatusCode::MISDIRECTED_REQUEST, message))
    }
}

/// A name as it is compared: small letters, without the dot that ends a full name.
fn normalized(host: &str) -> String {
    host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase()
}

/// Reads a name that somebody typed; without port and scheme.
pub fn read(text: &str) -> Result<String, String> {
    let name = Host::parse(text).ok().filter(|_| !text.contains('*'));
    name.map(|name| normalized(&name.to_string()))
        .ok_or_else(|| format!("`{text}` is no name of a host; give the name alone, like `library.example`"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn status(hosts: &Hosts, uri: &str, host: &str, near: bool) -> u16 {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, HeaderValue::from_str(host).expect("a header"));
        let uri = uri.parse().expect("an address");
        hosts
            .check(&uri, Version::HTTP_11, &headers, near)
            .map_or_else(|problem| problem.status.as_u16(), |()| 200)
    }

    fn hosts(given: &[&str], public: bool) -> Hosts {
        let given: Vec<String> = given.iter().map(|name| (*name).to_owned()).collect();
        Hosts::new(&given, "https://Library.example/catalogue/", &[[127, 0, 0, 9].into()], public)
    }

    #[test]
    fn a_server_answers_to_its_own_names() {
        let hosts = hosts(&["books.example"], false);
        for host in [
            "localhost",
            "LOCALHOST:7878",
            "localhost.",
            "127.0.0.1:80",
            "[::1]:7878",
            "127.0.0.9",
            "library.example",
            "library.example:443",
            "Books.Example",
        ] {
            assert_eq!(status(&hosts, "/", host, false), 200, "{host}");
        }
        for host in ["evil.example", "evil.example:7878", "localhost.evil.example", "192.0.2.1", "0.0.0.0"] {
            assert_eq!(status(&hosts, "/", host, false), 421, "{host}");
        }
        for host in ["evil@localhost", "a b", "http://localhost/", "localhost/", ""] {
            assert_eq!(status(&hosts, "/", host, false), 400, "`{host}`");
        }
        assert_eq!(status(&hosts, "http://evil.example/", "localhost", false), 421, "the line counts");
        assert_eq!(status(&hosts, "http://localhost/", "evil.example", false), 200);
    }

    #[test]
    fn a_public_server_answers_to_every_name_unless_some_are_given() {
        assert_eq!(status(&hosts(&[], true), "/", "any.example", false), 200);
        assert_eq!(status(&hosts(&[], true), "/", "any.example", true), 421, "but not for its own machine");
        assert_eq!(status(&hosts(&["books.example"], true), "/", "any.example", false), 421);
        assert_eq!(status(&hosts(&["books.example"], true), "/", "books.example", false), 200);
    }

    #[test]
    fn names_are_read_without_port_and_scheme() {
        assert_eq!(read("Library.example."), Ok("library.example".to_owned()));
        assert_eq!(read("[::1]"), Ok("[::1]".to_owned()));
        assert_eq!(read("bücher.example"), Ok("xn--bcher-kva.example".to_owned()));
        for text in
            ["", "*", "library.example:80", "https://library.example", "a/b", "a b", "me@library.example"]
        {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
