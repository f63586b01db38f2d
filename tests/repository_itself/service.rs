//! The service around the protocol: log, gate, clock, compression, TLS, canary, benches.

use crate::repository::ask::{ask, encode, get, parse, send};
use crate::repository::{Canary, Fault, Repository, Verb, When};
use crate::{all_pages, fault_of_xml, identifiers, pages_of};
use flate2::read::GzDecoder;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, pem::PemObject};
use tokio_rustls::rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned, crypto};

#[test]
fn the_log_tells_what_was_asked() {
    let repository = Repository::seeded(1).serve();
    let url = format!("{}?verb=ListRecords&metadataPrefix=oai_dc&set=maps", repository.url());
    send(&url, "GET", &[("User-Agent", "a test"), ("Cookie", "secret=1"), ("Accept-Encoding", "br")], "");
    get(&repository.at("/robots.txt"));
    get(&repository.at("/elsewhere?x=1"));
    let log = repository.log();
    let first = &log[0];
    assert_eq!((first.number, &*first.method, &*first.path, first.status), (1, "GET", "/oai", 200));
    assert!(first.is(Verb::ListRecords));
    assert_eq!(first.argument("set"), Some("maps"));
    assert_eq!((first.page, first.listing, first.beside), (Some(1), Some(0), 0));
    assert_eq!((first.cookie, first.authorization, first.secure), (true, false, false));
    assert_eq!(first.user_agent.as_deref(), Some("a test"));
    assert_eq!(first.accept_encoding.as_deref(), Some("br"));
    assert_eq!(first.identifiers.len(), first.records);
    assert!(first.sent > 1000);
    let paths: Vec<(&str, u16)> = log.iter().map(|entry| (&*entry.path, entry.status)).collect();
    assert_eq!(paths[1..], [("/robots.txt", 404), ("/elsewhere", 404)]);

    let json: serde_json::Value = serde_json::from_slice(&get(&repository.at("/log")).body).unwrap();
    assert_eq!(json.as_array().unwrap().len(), 3);
    assert_eq!(json[0]["arguments"][2], serde_json::json!(["set", "maps"]));
    assert_eq!(json[0]["cookie"], true);
    assert!(!json.to_string().contains("secret"));
    repository.clear_log();
    assert!(repository.log().is_empty());
}

#[test]
fn one_connection_can_carry_many_requests() {
    let repository = Repository::seeded(1).serve();
    let mut stream = TcpStream::connect(repository.authority()).unwrap();
    for nth in 1..=3 {
        stream.write_all(b"GET /oai?verb=Identify HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
        let mut bytes = Vec::new();
        while !bytes.ends_with(b"</OAI-PMH>\n") {
            let mut buffer = [0; 4096];
            let read = stream.read(&mut buffer).unwrap();
            assert!(read > 0, "closed at request {nth}");
            bytes.extend_from_slice(&buffer[..read]);
        }
    }
    assert_eq!(repository.log().iter().map(|entry| entry.connection).collect::<Vec<_>>(), [1, 1, 1]);
    all_pages(&repository);
    assert_eq!(repository.log().last().unwrap().connection, 11);
}

#[test]
fn a_request_can_be_held_until_the_test_has_done_something() {
    let repository = Repository::seeded(1).serve();
    repository.hold_at(3);
    std::thread::scope(|scope| {
        let pages = scope.spawn(|| all_pages(&repository));
        repository.wait_until_held();
        let log = repository.log();
        assert_eq!(log.iter().map(|entry| entry.status).collect::<Vec<_>>(), [200, 200, 0]);
        // Others are served meanwhile, and are seen to come beside the one that waits.
        assert_eq!(ask(repository.url(), &[("verb", "Identify")]).status, 200);
        assert_eq!(repository.log()[3].beside, 1);
        repository.change(&[25]);
        repository.release();
        let pages = pages.join().unwrap();
        assert!(pages[2].text().contains(", revision 1"));
        assert_eq!(pages.len(), 10);
    });
}

#[test]
fn a_client_that_dies_at_the_gate_leaves_it() {
    let repository = Repository::seeded(1).serve();
    repository.hold_at(1);
    let mut stream = TcpStream::connect(repository.authority()).unwrap();
    let request = b"GET /oai?verb=ListRecords&metadataPrefix=oai_dc HTTP/1.1\r\nHost: x\r\n\r\n";
    stream.write_all(request).unwrap();
    repository.wait_until_held();
    drop(stream);
    // The next harvest is not held: it is another request.
    assert_eq!(all_pages(&repository).len(), 10);
    assert_eq!(repository.log()[0].status, 0);
    assert_eq!(repository.log()[10].beside, 0);
}

#[test]
fn a_dropped_server_is_gone_whatever_hangs_on_it() {
    let repository = Repository::seeded(1).fault_when(Fault::Silence, When::Always).serve();
    let authority = repository.authority().to_owned();
    let mut stream = TcpStream::connect(&authority).unwrap();
    stream.write_all(b"GET /oai?verb=ListRecords&metadataPrefix=oai_dc HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    while repository.log().is_empty() {
        std::thread::yield_now();
    }
    drop(repository);
    assert!(!matches!(stream.read(&mut [0; 10]), Ok(1..)), "nothing was answered");
    assert!(TcpStream::connect(&authority).is_err());
}

#[test]
fn the_clock_moves_when_it_is_told() {
    let repository = Repository::seeded(1).clock("2024-02-28T23:59:59Z").serve();
    let now = || ask(repository.url(), &[("verb", "Identify")]).elements("responseDate").remove(0);
    assert_eq!((now(), now()), ("2024-02-28T23:59:59Z".to_owned(), "2024-02-28T23:59:59Z".to_owned()));
    repository.advance(Duration::from_secs(1));
    assert_eq!(now(), "2024-02-29T00:00:00Z");
    assert!(*repository.datestamp(100) < *"2024-02-27");
}

#[test]
fn gzip_is_for_those_who_accept_it() {
    let repository = Repository::seeded(1).gzip().serve();
    let url = format!("{}?verb=ListRecords&metadataPrefix=oai_dc", repository.url());
    let plain = get(&url);
    assert_eq!(plain.header("content-encoding"), None);
    let packed = send(&url, "GET", &[("Accept-Encoding", "br, gzip;q=0.8")], "");
    assert_eq!(packed.header("content-encoding"), Some("gzip"));
    let mut text = Vec::new();
    GzDecoder::new(&*packed.body).read_to_end(&mut text).unwrap();
    let records =
        |text: &str| text[text.find("<record>").unwrap()..text.find("<resumptionToken").unwrap()].to_owned();
    assert_eq!(records(&String::from_utf8(text).unwrap()), records(&plain.text()));
    assert!(packed.body.len() * 3 < plain.body.len());
}

#[test]
fn robots_are_told_what_is_set() {
    let repository = Repository::seeded(1).robots(200, "User-agent: *\nDisallow: /oai\n").serve();
    let reply = get(&repository.at("/robots.txt"));
    assert_eq!((reply.status, &*reply.text()), (200, "User-agent: *\nDisallow: /oai\n"));
    let repository = Repository::seeded(1).robots(503, "").serve();
    assert_eq!(get(&repository.at("/robots.txt")).status, 503);
}

#[test]
fn pages_rendered_beforehand_are_the_same_pages() {
    let settings = Repository::seeded(9).records(250).page(50);
    let (rendered, live) = (settings.clone().prerendered("marc21").serve(), settings.serve());
    let pages = |repository| {
        let pages = pages_of(repository, &[("verb", "ListRecords"), ("metadataPrefix", "marc21")]);
        pages.iter().map(|page| page.text().replace(repository.url(), "URL")).collect::<Vec<_>>()
    };
    assert_eq!(pages(&rendered), pages(&live));
    assert_eq!((rendered.moved(), live.moved()), (250, 250));
    assert_eq!(rendered.log().iter().map(|entry| entry.page.unwrap()).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    // What was not rendered is answered all the same.
    let other = pages_of(&rendered, &[("verb", "ListRecords"), ("metadataPrefix", "oai_dc")]);
    assert_eq!(identifiers(&other).len(), 250);
}

#[test]
fn the_repository_for_benches_is_large() {
    let repository = Repository::bench("oai_dc").serve();
    let first = ask(repository.url(), &[("verb", "ListRecords"), ("metadataPrefix", "oai_dc")]);
    assert!(first.text().contains("completeListSize=\"20000\""));
    assert_eq!(first.elements("identifier").len(), 100);
}

#[test]
fn the_canary_counts_who_calls() {
    let canary = Canary::start(0);
    assert_eq!(canary.connections(), 0);
    assert_eq!(get(&canary.url()).status, 200);
    drop(TcpStream::connect(("127.0.0.1", canary.port())).unwrap());
    assert_eq!(canary.connections(), 2);
    assert_eq!(canary.requests(), ["GET /canary HTTP/1.1", ""]);
}

/// With TLS, for whoever trusts the certificate, and without at another port.
#[test]
fn tls_can_be_had_and_left() {
    let repository =
        Repository::seeded(1).tls().fault_when(Fault::RedirectSchemeDowngrade, When::Once(2)).serve();
    assert!(repository.url().starts_with("https://127.0.0.1:"));
    let mut trusted = RootCertStore::empty();
    trusted.add(CertificateDer::from_pem_slice(repository.certificate().as_bytes()).unwrap()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(trusted)
        .with_no_client_auth();
    let config = Arc::new(config);
    let list = || {
        let name = ServerName::try_from("127.0.0.1").unwrap();
        let connection = ClientConnection::new(config.clone(), name).unwrap();
        let stream = TcpStream::connect(repository.authority()).unwrap();
        let mut stream = StreamOwned::new(connection, stream);
        let query = encode(&[("verb", "ListRecords"), ("metadataPrefix", "oai_dc")]);
        let request = format!("GET /oai?{query} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        parse(&bytes)
    };
    let secure = list();
    assert_eq!((secure.status, fault_of_xml(&secure.body)), (200, None));
    let sent_away = list();
    assert_eq!(sent_away.status, 302);
    let location = sent_away.header("location").unwrap();
    assert!(location.starts_with(repository.plain_url()), "{location}");
    let plain = get(location);
    assert_eq!(identifiers(&[plain]), identifiers(&[secure]));
    assert_eq!(repository.log().iter().map(|entry| entry.secure).collect::<Vec<_>>(), [true, true, false]);
}
