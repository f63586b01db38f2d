//! The 21 faults of HTTP, one test each, and two more.

use crate::repository::ask::{Limits, Reply, ask, get, send_within};
use crate::repository::{Canary, Fault, Repository, Serving, Verb, When};
use crate::{all_pages, fault_of_xml, identifiers};
use flate2::read::GzDecoder;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

const LIST: &str = "?verb=ListRecords&metadataPrefix=oai_dc";

fn always(fault: Fault) -> Serving {
    Repository::seeded(1).fault_when(fault, When::Always).serve()
}

fn list(repository: &Serving) -> Reply {
    get(&format!("{}{LIST}", repository.url()))
}

fn declared_length(reply: &Reply) -> usize {
    reply.header("content-length").unwrap().parse().unwrap()
}

/// The names of the table; the conformance suite compares them with the table itself.
#[test]
fn faults_have_names() {
    let names = [
        "503_retry_after",
        "503_retry_after_date",
        "503_retry_after_huge",
        "429_forever",
        "500_every_3rd",
        "timeout_body",
        "trickle",
        "truncated_gzip",
        "wrong_gzip",
        "content_length_short",
        "content_length_long",
        "redirect_loop",
        "redirect_to_loopback",
        "redirect_to_file",
        "redirect_scheme_downgrade",
        "connection_reset",
        "empty_200",
        "infinite_body",
        "gzip_bomb",
        "header_flood",
        "slow_token_growth",
    ];
    assert_eq!(Fault::HTTP.map(Fault::name), names);
    for fault in Fault::HTTP.into_iter().chain(Fault::PAGE) {
        assert_eq!(Fault::named(fault.name()), Some(fault));
    }
    for fault in Fault::of_record(17) {
        assert_eq!(Fault::named(&format!("{}:17", fault.name())), Some(fault));
    }
    assert_eq!(Fault::named("flood"), None);
}

#[test]
fn faults_come_when_they_are_planned() {
    let codes = |when| {
        let repository = Repository::seeded(1).fault_when(Fault::ServerError, when).serve();
        (1..=6).map(|_| list(&repository).status).collect::<Vec<_>>()
    };
    assert_eq!(codes(When::Always), [500; 6]);
    assert_eq!(codes(When::Once(2)), [200, 500, 200, 200, 200, 200]);
    assert_eq!(codes(When::From(5)), [200, 200, 200, 200, 500, 500]);
    assert_eq!(codes(When::Every(3)), [200, 200, 500, 200, 200, 500]);

    let repository = Repository::seeded(1).fault_on(Verb::Identify, Fault::HtmlPage, When::Always).serve();
    assert!(ask(repository.url(), &[("verb", "Identify")]).text().contains("<html>"));
    assert_eq!(fault_of_xml(&list(&repository).body), None);
    repository.heal();
    assert_eq!(fault_of_xml(&ask(repository.url(), &[("verb", "Identify")]).body), None);
}

#[test]
fn faults_are_read_from_command_lines() {
    use crate::repository::Planned;
    let read = |text: &str| text.parse::<Planned>().map(|planned| (planned.fault, planned.when));
    assert_eq!(read("trickle"), Ok((Fault::Trickle, When::Once(2))));
    assert_eq!(read("500_every_3rd"), Ok((Fault::ServerError, When::Every(3))));
    assert_eq!(read("bad_utf8:9"), Ok((Fault::BadUtf8(9), When::Always)));
    assert_eq!(read("empty_200@4"), Ok((Fault::Empty200, When::Once(4))));
    assert_eq!(read("empty_200@from4"), Ok((Fault::Empty200, When::From(4))));
    assert_eq!(read("empty_200@every4"), Ok((Fault::Empty200, When::Every(4))));
    assert!(read("empty_200@every0").is_err() && read("bad_utf8").is_err() && read("bad_utf8:x").is_err());
}

#[test]
fn retry_after_in_seconds() {
    let repository = Repository::seeded(1).fault(Fault::RetryAfter).serve();
    assert_eq!(list(&repository).status, 200);
    let busy = list(&repository);
    assert_eq!((busy.status, busy.header("retry-after")), (503, Some("2")));
    assert_eq!(list(&repository).status, 200);
}

#[test]
fn retry_after_as_a_date() {
    let busy = list(&always(Fault::RetryAfterDate));
    assert_eq!(busy.status, 503);
    let read = |name: &str| {
        let text = busy.header(name).unwrap();
        let time = jiff::civil::DateTime::strptime("%a, %d %b %Y %H:%M:%S GMT", text);
        time.unwrap_or_else(|error| panic!("{text}: {error}"))
    };
    let ahead = read("date").until(read("retry-after")).unwrap().get_seconds();
    assert!((0..=3).contains(&ahead), "{ahead}");
}

#[test]
fn retry_after_years() {
    let repository = Repository::seeded(1).fault(Fault::RetryAfterHuge).serve();
    for _ in 0..2 {
        let busy = list(&repository);
        assert_eq!((busy.status, busy.header("retry-after")), (503, Some("99999999")));
    }
}

#[test]
fn too_many_requests_for_ever() {
    let repository = Repository::seeded(1).fault(Fault::TooManyRequests).serve();
    assert!((0..5).all(|_| list(&repository).status == 429));
}

#[test]
fn every_third_answer_is_an_error() {
    let repository = Repository::seeded(1).fault(Fault::ServerError).serve();
    assert_eq!((0..6).map(|_| list(&repository).status).collect::<Vec<_>>(), [200, 200, 500, 200, 200, 500]);
    assert_eq!(repository.log()[2].faults, ["500_every_3rd"]);
    assert_eq!(repository.log()[2].records, 0);
}

#[test]
fn headers_and_then_nothing() {
    let repository = always(Fault::TimeoutBody);
    let limits = Limits { patience: Duration::from_millis(300), ..Limits::default() };
    let reply = send_within(&format!("{}{LIST}", repository.url()), "GET", &[], "", limits);
    assert_eq!(reply.status, 200);
    assert!(declared_length(&reply) > 1000);
    assert!(reply.body.is_empty());
    assert_eq!(reply.error, Some(io::ErrorKind::WouldBlock), "the connection stays open");
}

#[test]
fn a_byte_now_and_then() {
    let repository = Repository::seeded(1)
        .fault_when(Fault::Trickle, When::Always)
        .trickle(Duration::from_millis(10))
        .serve();
    let url = format!("{}{LIST}", repository.url());
    let limits = Limits { bytes: 200, ..Limits::default() };
    let reply = send_within(&url, "GET", &[], "", limits);
    assert!(declared_length(&reply) > 1000);
    assert!(!reply.body.is_empty() && reply.body.len() < 200, "{}", reply.body.len());
    assert!(reply.text().starts_with("<?xml"));
}

#[test]
fn gzip_that_ends_in_the_middle() {
    let reply = list(&always(Fault::TruncatedGzip));
    assert_eq!(reply.header("content-encoding"), Some("gzip"));
    assert_eq!(declared_length(&reply), reply.body.len());
    let mut text = String::new();
    let error = GzDecoder::new(&*reply.body).read_to_string(&mut text).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
}

#[test]
fn plain_xml_that_is_called_gzip() {
    let reply = list(&always(Fault::WrongGzip));
    assert_eq!(reply.header("content-encoding"), Some("gzip"));
    assert_eq!(fault_of_xml(&reply.body), None);
}

#[test]
fn a_content_length_that_is_too_short() {
    let reply = list(&always(Fault::ContentLengthShort));
    assert!(declared_length(&reply) < reply.body.len());
    assert_eq!(fault_of_xml(&reply.body), None, "the body is whole");
    assert!(fault_of_xml(&reply.body[..declared_length(&reply)]).is_some());
}

#[test]
fn a_content_length_that_is_too_long() {
    let reply = list(&always(Fault::ContentLengthLong));
    assert_eq!(declared_length(&reply), reply.body.len() + 1000);
    assert_eq!(reply.error, None, "the connection is closed in order");
}

#[test]
fn a_redirect_that_leads_back() {
    let repository = always(Fault::RedirectLoop);
    let mut reply = list(&repository);
    let mut seen = Vec::new();
    for _ in 0..4 {
        assert_eq!(reply.status, 302);
        let location = reply.header("location").unwrap().to_owned();
        reply = get(&repository.at(&location));
        seen.push(location);
    }
    assert_eq!(seen, ["/loop/a", "/loop/b", "/loop/a", "/loop/b"]);
    assert_eq!(repository.log().len(), 5, "hops are logged");
}

#[test]
fn redirects_to_where_nobody_should_go() {
    let canary = Canary::start(0);
    let repository = Repository::seeded(1)
        .redirect_to(&canary.url())
        .fault_when(Fault::RedirectToLoopback, When::Once(1))
        .fault_when(Fault::RedirectToFile, When::Once(2))
        .serve();
    let (loopback, file) = (list(&repository), list(&repository));
    assert_eq!((loopback.status, loopback.header("location")), (302, Some(&*canary.url())));
    assert_eq!((file.status, file.header("location")), (302, Some("file:///etc/passwd")));
    let unset = list(&always(Fault::RedirectToLoopback));
    assert_eq!(unset.header("location"), Some("http://127.0.0.1:19999/canary"));
    assert_eq!(canary.connections(), 0);
}

#[test]
fn a_reset_in_the_middle_of_the_body() {
    let repository = always(Fault::ConnectionReset);
    let reply = list(&repository);
    assert_eq!(reply.error, Some(io::ErrorKind::ConnectionReset));
    assert!(reply.body.len() < declared_length(&reply));
    assert!(!reply.body.is_empty());
}

#[test]
fn nothing_with_status_200() {
    let reply = list(&always(Fault::Empty200));
    assert_eq!((reply.status, reply.body.len(), declared_length(&reply)), (200, 0, 0));
}

#[test]
fn records_without_end() {
    let repository = always(Fault::InfiniteBody);
    let limits = Limits { bytes: 5_000_000, ..Limits::default() };
    let reply = send_within(&format!("{}{LIST}", repository.url()), "GET", &[], "", limits);
    assert_eq!(reply.error, None);
    assert!(reply.elements("identifier").len() > 1000);
    assert!(repository.log()[0].sent >= 5_000_000 - 200);
    // Whoever has had enough is not served any more, and the next one is.
    assert_eq!(ask(repository.url(), &[("verb", "Identify")]).status, 200);
}

#[test]
fn ten_gigabytes_in_ten_megabytes() {
    let repository = always(Fault::GzipBomb);
    let reply = list(&repository);
    assert_eq!(reply.header("content-encoding"), Some("gzip"));
    assert!((8_000_000..12_000_000).contains(&reply.body.len()), "{}", reply.body.len());
    let mut begin = vec![0; 50_000_000];
    GzDecoder::new(&*reply.body).read_exact(&mut begin).unwrap();
    assert!(begin.starts_with(b"<?xml"));
    let opening = begin.iter().rposition(|byte| *byte == b'>').unwrap() + 1;
    assert!(begin[opening..].iter().all(|byte| *byte == b' '));
    let length = u32::from_le_bytes(reply.body[reply.body.len() - 4..].try_into().unwrap());
    assert_eq!(u64::from(length), ((10 << 30) + opening as u64) % (1 << 32), "modulo 4 GB, as gzip has it");
}

#[test]
fn a_hundred_thousand_headers() {
    let reply = list(&always(Fault::HeaderFlood));
    assert!(reply.headers.len() > 100_000);
    assert_eq!(fault_of_xml(&reply.body), None);
}

#[test]
fn ever_new_tokens_for_the_same_records() {
    let repository = Repository::seeded(1).fault(Fault::SlowTokenGrowth).serve();
    let mut reply = list(&repository);
    let records = reply.elements("identifier");
    let mut tokens = Vec::new();
    for _ in 0..20 {
        let token = reply.token().unwrap();
        assert!(!tokens.contains(&token));
        reply = ask(repository.url(), &[("verb", "ListRecords"), ("resumptionToken", &token)]);
        assert_eq!(reply.elements("identifier"), records);
        tokens.push(token);
    }
}

#[test]
fn hanging_up_and_silence() {
    let reply = list(&always(Fault::HangUp));
    assert_eq!((reply.status, reply.error), (0, None));

    let repository = always(Fault::Silence);
    let mut stream = TcpStream::connect(repository.authority()).unwrap();
    stream.write_all(format!("GET /oai{LIST} HTTP/1.1\r\nHost: x\r\n\r\n").as_bytes()).unwrap();
    stream.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    let error = stream.read(&mut [0; 10]).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
}

/// A harvester that asks again gets everything: the faults that pass do pass.
#[test]
fn faults_that_pass_lose_nothing_for_whoever_asks_again() {
    for fault in [
        Fault::RetryAfter,
        Fault::RetryAfterDate,
        Fault::TruncatedGzip,
        Fault::ContentLengthShort,
        Fault::ContentLengthLong,
        Fault::ConnectionReset,
        Fault::Empty200,
        Fault::HangUp,
        Fault::TruncatedPage,
        Fault::HtmlPage,
    ] {
        let repository = Repository::seeded(1).fault(fault).serve();
        let first = list(&repository);
        let token = first.token().unwrap();
        let second = || ask(repository.url(), &[("verb", "ListRecords"), ("resumptionToken", &token)]);
        second();
        let again = second();
        assert_eq!(repository.moved(), 20, "{}", fault.name());
        assert_eq!(fault_of_xml(&again.body), None, "{}", fault.name());
        assert_eq!(identifiers(&[again])[0], repository.identifier(11), "{}", fault.name());
    }
    let repository = Repository::seeded(1).serve();
    assert_eq!(identifiers(&all_pages(&repository)).len(), 100);
}
