//! Which addresses are public.
//!
//! The registries of special-purpose addresses of IANA (RFC 6890 and its successors) decide.
//! Of IPv6 only 2000::/3 is in public use at all, so everything else is refused without a list;
//! and an IPv6 address that carries an IPv4 address inside (mapped, compatible, NAT64, 6to4,
//! Teredo) is refused whatever it carries: a host that is public has a plainer one.

use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

const SPECIAL_V4: &[(Ipv4Net, &str)] = &[
    (v4([0, 0, 0, 0], 8), "of this network"),
    (v4([10, 0, 0, 0], 8), "private"),
    (v4([100, 64, 0, 0], 10), "shared by a provider's customers"),
    (v4([127, 0, 0, 0], 8), "a loopback address"),
    (v4([169, 254, 0, 0], 16), "link-local"),
    (v4([172, 16, 0, 0], 12), "private"),
    (v4([192, 0, 0, 0], 24), "reserved for protocols"),
    (v4([192, 0, 2, 0], 24), "for documentation"),
    (v4([192, 88, 99, 0], 24), "a 6to4 relay"),
    (v4([192, 168, 0, 0], 16), "private"),
    (v4([198, 18, 0, 0], 15), "for benchmarks"),
    (v4([198, 51, 100, 0], 24), "for documentation"),
    (v4([203, 0, 113, 0], 24), "for documentation"),
    (v4([224, 0, 0, 0], 4), "a multicast address"),
    (v4([240, 0, 0, 0], 4), "reserved"),
];

/// The first entry that fits is the reason; 2000::/3 is what remains.
const SPECIAL_V6: &[(Ipv6Net, &str)] = &[
    (v6([0, 0, 0, 0, 0, 0, 0, 1], 128), "a loopback address"),
    (v6([0, 0, 0, 0, 0, 0xffff, 0, 0], 96), "an IPv4 address in disguise"),
    (v6([0; 8], 96), "an IPv4 address in disguise"),
    (v6([0x64, 0xff9b, 0, 0, 0, 0, 0, 0], 32), "an IPv4 address behind NAT64"),
    (v6([0x100, 0, 0, 0, 0, 0, 0, 0], 64), "for discarding"),
    (v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 32), "a Teredo tunnel"),
    (v6([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32), "for documentation"),
    (v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 23), "reserved for protocols"),
    (v6([0x2002, 0, 0, 0, 0, 0, 0, 0], 16), "a 6to4 tunnel"),
    (v6([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20), "for documentation"),
    (v6([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7), "unique local"),
    (v6([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10), "link-local"),
    (v6([0xfec0, 0, 0, 0, 0, 0, 0, 0], 10), "site-local"),
    (v6([0xff00, 0, 0, 0, 0, 0, 0, 0], 8), "a multicast address"),
];

const PUBLIC_V6: Ipv6Net = v6([0x2000, 0, 0, 0, 0, 0, 0, 0], 3);

/// What the address is instead of public.
pub(super) fn not_public(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(address) => {
            SPECIAL_V4.iter().find(|(net, _)| net.contains(&address)).map(|(_, reason)| *reason)
        }
        IpAddr::V6(address) => SPECIAL_V6
            .iter()
            .find(|(net, _)| net.contains(&address))
            .map(|(_, reason)| *reason)
            .or_else(|| (!PUBLIC_V6.contains(&address)).then_some("not in public use")),
    }
}

/// The network that one address alone makes.
pub(super) fn single(address: IpAddr) -> IpNet {
    IpNet::from(address)
}

const fn v4([a, b, c, d]: [u8; 4], length: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), length)
}

const fn v6([a, b, c, d, e, f, g, h]: [u16; 8], length: u8) -> Ipv6Net {
    Ipv6Net::new_assert(Ipv6Addr::new(a, b, c, d, e, f, g, h), length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_addresses_are_not_public() {
        let special = [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "100.64.0.1",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.255.254",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.8",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.255.1",
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.7",
            "203.0.113.9",
            "224.0.0.1",
            "239.255.255.255",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::127.0.0.1",
            "::8.8.8.8",
            "::ffff:127.0.0.1",
            "::ffff:8.8.8.8",
            "::ffff:0:127.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b::808:808",
            "64:ff9b:1::a00:1",
            "100::1",
            "2001::1",
            "2001:2::1",
            "2001:10::1",
            "2001:20::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "2002:808:808::1",
            "3fff::1",
            "4000::1",
            "5f00::1",
            "fc00::1",
            "fd12:3456::1",
            "fe80::1",
            "febf::1",
            "fec0::1",
            "ff02::1",
            "ffff::1",
        ];
        for text in special {
            let address: IpAddr = text.parse().unwrap();
            assert!(not_public(address).is_some(), "{text} passes for public");
        }
    }

    #[test]
    fn their_neighbours_are_public() {
        let public = [
            "1.0.0.1",
            "9.255.255.255",
            "11.0.0.1",
            "100.63.255.255",
            "100.128.0.1",
            "126.255.255.255",
            "128.0.0.1",
            "169.253.0.1",
            "172.15.0.1",
            "172.32.0.1",
            "192.0.1.1",
            "192.167.0.1",
            "198.17.0.1",
            "198.20.0.1",
            "223.255.255.255",
            "2001:200::1",
            "2001:4860:4860::8888",
            "2003::1",
            "2a00:1450::1",
            "2606:4700::1111",
            "3ffe::1",
        ];
        for text in public {
            let address: IpAddr = text.parse().unwrap();
            assert_eq!(not_public(address), None, "{text}");
        }
    }
}
