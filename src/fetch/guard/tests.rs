//! The guard with a server behind it that must never be asked.

use super::*;
use crate::fetch::stub::{Names, Seen, Stub, TestClock, access, page, redirect, session};
use crate::fetch::{Access, Options, Transport};
use std::sync::Arc;
use std::sync::atomic::Ordering;

fn options(names: &Arc<Names>, clock: &Arc<TestClock>) -> Options {
    Options { resolver: Arc::clone(names) as _, clock: Arc::clone(clock) as _, ..Options::default() }
}

/// Asks for each address with settings that allow nothing, and counts what the canary hears.
#[track_caller]
fn check_refused(canary: &Stub, addresses: &[String], names: &Arc<Names>) {
    let settings = Access { allow_private: Vec::new(), ..access(&[]) };
    let session = session(options(names, &Arc::default()), &settings, "http://repo.example/");
    for address in addresses {
        let fault = session.get(address).unwrap_err();
        let refused = [FaultKind::PrivateAddress, FaultKind::BadUrl, FaultKind::Scheme];
        assert!(refused.contains(&fault.kind), "{address}: {fault}");
        assert_eq!(fault.attempts, 0, "{address}");
    }
    assert_eq!(canary.requests(), 0);
}

#[test]
fn no_spelling_reaches_a_private_address() {
    let canary = Stub::canary();
    let port = canary.address.port();
    let hosts = [
        "127.0.0.1",
        "127.1",
        "127.0.1",
        "2130706433",
        "0x7f.1",
        "0x7f000001",
        "0177.0.0.1",
        "017700000001",
        "0",
        "0.0.0.0",
        "127.0.0.1.",
        "%31%32%37.0.0.1",
        "127。0。0。1",
        "①②⑦.0.0.1",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[64:ff9b:1::7f00:1]",
        "[2002:7f00:1::]",
        "[2001:0:7f00:1::]",
        "[fe80::1]",
        "[fec0::1]",
        "[fd00::1]",
        "[ff02::1]",
        "10.0.0.1",
        "172.16.0.1",
        "192.168.0.1",
        "169.254.169.254",
        "100.64.0.1",
        "198.18.0.1",
        "224.0.0.1",
        "255.255.255.255",
        "192.0.2.1",
        "localhost",
        "LOCALHOST.",
        "inside.example",
        "inside.example.",
        "mixed.example",
        "user@127.0.0.1",
        "repo.example@127.0.0.1",
        "repo.example\\@127.0.0.1",
    ];
    let names = Names::new(&[
        ("localhost", &[&["127.0.0.1", "::1"]]),
        ("inside.example", &[&["127.0.0.1"]]),
        ("mixed.example", &[&["93.184.216.34", "127.0.0.1"]]),
    ]);
    let mut addresses: Vec<String> = hosts.iter().map(|host| format!("http://{host}:{port}/x")).collect();
    addresses.extend(hosts.iter().map(|host| format!("https://{host}/x")));
    addresses.push(format!("http:127.0.0.1:{port}"));
    addresses.push(format!("gopher://127.0.0.1:{port}/"));
    addresses.push("file:///etc/passwd".to_owned());
    check_refused(&canary, &addresses, &names);
}

// redirect_to_loopback
#[test]
fn no_redirect_reaches_a_private_address() {
    let canary = Stub::canary();
    let names = Names::new(&[("inside.example", &[&["127.0.0.1"]])]);
    let port = canary.address.port();
    let ways = [
        format!("http://127.0.0.1:{port}/canary"),
        format!("//127.0.0.1:{port}/"),
        format!("http://inside.example:{port}/"),
        format!("http://[::ffff:127.0.0.1]:{port}/"),
        format!("http://repo.example@127.0.0.1:{port}/"),
        format!("/\\127.0.0.1:{port}/"),
        "gopher://127.0.0.1/".to_owned(),
    ];
    let count = ways.len();
    let stub = Stub::answer(move |_, seen: &Seen| {
        let n: usize = seen.path.trim_start_matches('/').parse().unwrap();
        redirect(&ways[n])
    });
    let session = session(options(&names, &Arc::default()), &stub.access(), &stub.url("/"));
    for n in 0..count {
        let fault = session.get(&stub.url(&format!("/{n}"))).unwrap_err();
        let refused = [FaultKind::PrivateAddress, FaultKind::BadUrl, FaultKind::Scheme];
        assert!(refused.contains(&fault.kind), "{n}: {fault}");
        assert_eq!(fault.attempts, 1);
    }
    assert_eq!((canary.requests(), stub.requests()), (0, count));
}

#[test]
fn robots_txt_does_not_lead_to_a_private_address() {
    let canary = Stub::canary();
    let target = canary.url("/robots.txt");
    let stub = Stub::answer(move |_, seen: &Seen| match seen.path.as_str() {
        "/robots.txt" => redirect(&target),
        _ => page("page"),
    });
    let settings = Access { respect_robots: true, ..stub.access() };
    let session = session(Options::default(), &settings, &stub.url("/"));
    session.get(&stub.url("/x")).unwrap();
    assert_eq!(canary.requests(), 0);
}

#[test]
fn an_exception_opens_one_door() {
    let (stub, canary) = (Stub::canary(), Stub::canary());
    let (open, closed) = (stub.address.port(), canary.address.port());
    let names = Names::new(&[("intranet.example", &[&["127.0.0.1"]]), ("other.example", &[&["127.0.0.1"]])]);
    let by_name = Access { allow_private: vec![format!("intranet.example:{open}")], ..access(&[]) };
    let session = session(options(&names, &Arc::default()), &by_name, "http://repo.example/");
    session.get(&format!("http://intranet.example:{open}/")).unwrap();
    session.get(&format!("http://Intranet.Example.:{open}/")).unwrap();
    for address in [
        format!("http://intranet.example:{closed}/"),
        format!("http://127.0.0.1:{open}/"),
        format!("http://other.example:{open}/"),
    ] {
        assert_eq!(session.get(&address).unwrap_err().kind, FaultKind::PrivateAddress, "{address}");
    }
    assert_eq!((stub.requests(), canary.requests()), (2, 0));
    assert_eq!(stub.seen()[0].header("host"), format!("intranet.example:{open}"));
}

#[test]
fn a_host_is_resolved_once_and_connected_to_as_checked() {
    // The second answer of the name server is another machine, where the canary sits.
    let stub = Stub::answer_at("127.0.0.2:0", |_| page("right"));
    let port = stub.address.port();
    let canary = Stub::answer_at(&format!("127.0.0.1:{port}"), |_| page("canary"));
    let names = Names::new(&[("rebind.example", &[&["127.0.0.2"], &["127.0.0.1"]])]);
    let clock = Arc::new(TestClock::default());
    let settings = Access { allow_private: vec!["127.0.0.2".to_owned()], ..access(&[]) };
    let session = session(options(&names, &clock), &settings, "http://rebind.example/");
    let url = format!("http://rebind.example:{port}/");
    for _ in 0..3 {
        assert_eq!(session.get(&url).unwrap().body, b"right");
    }
    assert_eq!(names.lookups.load(Ordering::Relaxed), 1);
    // What is looked up again is checked again.
    clock.advance(PINNED);
    assert_eq!(session.get(&url).unwrap_err().kind, FaultKind::PrivateAddress);
    assert_eq!((names.lookups.load(Ordering::Relaxed), canary.requests()), (2, 0));
}

#[test]
fn an_unknown_host_is_unresolved() {
    let names = Names::new(&[("empty.example", &[&[]])]);
    let clock = Arc::new(TestClock::default());
    let session = session(options(&names, &clock), &access(&[]), "http://repo.example/");
    for host in ["unknown.example", "empty.example"] {
        let fault = session.get(&format!("http://{host}/")).unwrap_err();
        assert_eq!((fault.kind, fault.attempts), (FaultKind::Unresolved, 0), "{fault}");
    }
    assert_eq!(names.lookups.load(Ordering::Relaxed), 4, "a second look is enough");
}
