//! `allow_private`: the exceptions a source is given by name.
//!
//! `127.0.0.1:8099` and `[::1]:8099` are one door of one machine, `10.0.0.0/8` a whole network,
//! `intranet.example:8080` a host wherever it resolves to. Without a port every port is meant.

use super::address::single;
use ipnet::IpNet;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

/// One exception.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::fetch) struct Allowed {
    place: Place,
    port: Option<u16>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    Net(IpNet),
    Host(String),
}

impl Allowed {
    /// Whether it covers a connection to `address`, looked up under the name `host`.
    pub(super) fn covers(&self, host: Option<&str>, address: IpAddr, port: u16) -> bool {
        let here = match &self.place {
            Place::Net(net) => net.contains(&address),
            Place::Host(name) => host.is_some_and(|host| host.eq_ignore_ascii_case(name)),
        };
        here && self.port.is_none_or(|allowed| allowed == port)
    }

    fn net(net: IpNet, port: Option<u16>) -> Self {
        Self { place: Place::Net(net), port }
    }
}

impl FromStr for Allowed {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(address) = text.parse::<SocketAddr>() {
            return Ok(Self::net(single(address.ip()), Some(address.port())));
        }
        let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
        if let Ok(address) = bare.parse::<IpAddr>() {
            return Ok(Self::net(single(address), None));
        }
        if let Ok(net) = text.parse::<IpNet>() {
            return Ok(Self::net(net, None));
        }
        let wrong = || {
            format!(
                "`{text}` in `allow_private` is not an address, a network or a host; write it like \
                 `127.0.0.1:8099`, `10.0.0.0/8` or `intranet.example:8080`"
            )
        };
        let (host, port) = match text.split_once(':') {
            None => (text, None),
            Some((host, port)) => (host, Some(port.parse().map_err(|_| wrong())?)),
        };
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
        // What ends in a number is an address that somebody mistyped.
        let last = host.rsplit('.').next().unwrap_or_default();
        if host.is_empty() || !host.chars().all(is_name) || last.chars().all(|c| c.is_ascii_digit()) {
            return Err(wrong());
        }
        Ok(Self { place: Place::Host(host.to_ascii_lowercase()), port })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covers(allowed: &str, host: Option<&str>, address: &str, port: u16) -> bool {
        allowed.parse::<Allowed>().unwrap().covers(host, address.parse().unwrap(), port)
    }

    #[test]
    fn an_exception_covers_what_it_names() {
        assert!(covers("127.0.0.1:8099", None, "127.0.0.1", 8099));
        assert!(covers("127.0.0.1:8099", Some("localhost"), "127.0.0.1", 8099));
        assert!(covers("127.0.0.1", None, "127.0.0.1", 1));
        assert!(covers("[::1]:80", None, "::1", 80));
        assert!(covers("::1", None, "::1", 80));
        assert!(covers("[::1]", None, "::1", 80));
        assert!(covers("10.0.0.0/8", Some("a.example"), "10.9.8.7", 443));
        assert!(covers("fd00::/8", None, "fd12::1", 443));
        assert!(covers("Intranet.example:8080", Some("intranet.example"), "192.168.1.1", 8080));
    }

    #[test]
    fn and_nothing_else() {
        assert!(!covers("127.0.0.1:8099", None, "127.0.0.1", 8100));
        assert!(!covers("127.0.0.1:8099", None, "127.0.0.2", 8099));
        assert!(!covers("127.0.0.1:8099", None, "::1", 8099));
        assert!(!covers("127.0.0.1:8099", None, "::ffff:127.0.0.1", 8099));
        assert!(!covers("10.0.0.0/8", None, "11.0.0.1", 80));
        assert!(!covers("intranet.example:8080", Some("intranet.example"), "192.168.1.1", 80));
        assert!(!covers("intranet.example", Some("evil.intranet.example"), "192.168.1.1", 80));
        assert!(!covers("intranet.example", None, "192.168.1.1", 80));
    }

    #[test]
    fn a_mistyped_exception_is_an_error() {
        for text in
            ["", "127.0.0.1:99999", "10.0.0.0/99", "300.1.1.1", "http://x/", "a b", ":80", "127.0.0.1:"]
        {
            assert!(text.parse::<Allowed>().is_err(), "{text}");
        }
    }
}
