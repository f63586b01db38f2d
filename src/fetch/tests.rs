//! Servers that fail in every way we know, and what comes of it. The names in front of the
//! tests (`503_retry_after` …) are those of the fault list that the harvest is tested with.

use super::stub::{Seen, Step, Stub, TestClock, access, open, page, redirect, reply, session};
use super::*;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const SECOND: Duration = Duration::from_secs(1);
const XML: &str = "<?xml version=\"1.0\"?><OAI-PMH><record/></OAI-PMH>";

/// Fails `fault` once, then serves the page: it must come whole, after `requests` requests.
#[track_caller]
fn check_recovers(access: impl Fn(&mut Access), fault: fn() -> Vec<Step>) -> Counts {
    let stub = Stub::play(move |n, _| if n == 0 { fault() } else { vec![Step::Send(page(XML))] });
    let mut settings = stub.access();
    access(&mut settings);
    let (session, _) = open(&stub, &settings);
    let answer = session.get(&stub.url("/oai")).unwrap();
    assert_eq!(String::from_utf8_lossy(&answer.body), XML);
    assert_eq!(stub.requests(), 2);
    let counts = session.counts();
    assert_eq!((counts.requests, counts.retries), (2, 1));
    counts
}

/// Fails `fault` every time: the fault must be of this kind, after so many attempts.
#[track_caller]
fn check_gives_up(
    kind: FaultKind,
    attempts: u32,
    access: impl Fn(&mut Access),
    fault: fn() -> Vec<Step>,
) -> Fault {
    let stub = Stub::play(move |_, _| fault());
    let mut settings = stub.access();
    access(&mut settings);
    let (session, _) = open(&stub, &settings);
    let found = session.get(&stub.url("/oai")).unwrap_err();
    assert_eq!((found.kind, found.attempts), (kind, attempts), "{found}");
    assert_eq!(stub.requests(), attempts as usize);
    found
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn head(lines: &str) -> Step {
    Step::Send(format!("HTTP/1.1 200 OK\r\n{lines}\r\n").into_bytes())
}

fn quick(access: &mut Access) {
    access.timeouts.idle = Duration::from_millis(80);
    access.timeouts.connect = Duration::from_millis(200);
}

#[test]
fn a_page_comes_with_what_is_known_of_it() {
    let headers =
        [("Content-Type", "text/xml; charset=utf-8"), ("ETag", "\"1\""), ("Last-Modified", "yesterday")];
    let stub = Stub::answer(move |_, _| reply(200, &headers, XML));
    let mut settings = stub.access();
    settings.contact = Some("mailto:staff@library.example".to_owned());
    settings.accept = Some("text/xml".to_owned());
    let (session, _) = open(&stub, &settings);
    let answer = session.get(&stub.url("/oai?verb=Identify#part")).unwrap();
    assert_eq!(answer.status, 200);
    assert_eq!(answer.url, stub.url("/oai?verb=Identify"));
    assert_eq!(answer.content_type.as_deref(), Some("text/xml; charset=utf-8"));
    assert_eq!((answer.etag.as_deref(), answer.last_modified.as_deref()), (Some("\"1\""), Some("yesterday")));
    let seen = &stub.seen()[0];
    assert_eq!((seen.method.as_str(), seen.path.as_str()), ("GET", "/oai?verb=Identify"));
    let agent = concat!("pinakes/", env!("CARGO_PKG_VERSION"), " (+mailto:staff@library.example)");
    assert_eq!(seen.header("user-agent"), agent);
    assert_eq!(
        (seen.header("accept"), seen.header("accept-encoding")),
        ("text/xml", "gzip, deflate, br, zstd")
    );
    assert_eq!(seen.header("cookie"), "");
    assert_eq!(session.counts().bytes, XML.len() as u64);
}

#[test]
fn connections_are_used_again() {
    let stub = Stub::answer(|_, _| page(XML));
    let (session, _) = open(&stub, &stub.access());
    for _ in 0..20 {
        session.get(&stub.url("/")).unwrap();
    }
    assert_eq!(stub.seen().last().unwrap().connection, 1);
}

#[test]
fn an_unchanged_page_is_told_by_its_validators() {
    let stub = Stub::answer(|_, seen: &Seen| match seen.header("if-none-match") {
        "\"v1\"" if seen.header("if-modified-since") == "Mon, 16 Nov 2026 08:00:00 GMT" => {
            reply(304, &[], "")
        }
        _ => reply(200, &[("ETag", "\"v1\""), ("Last-Modified", "Mon, 16 Nov 2026 08:00:00 GMT")], "new"),
    });
    let (session, _) = open(&stub, &stub.access());
    let answer = session.get(&stub.url("/")).unwrap();
    let again = session.get_if_changed(&stub.url("/"), &answer.validators()).unwrap();
    assert_eq!((again.status, again.body.len()), (304, 0));
    let changed = Validators { etag: Some("\"v0\"".to_owned()), ..Validators::default() };
    assert_eq!(session.get_if_changed(&stub.url("/"), &changed).unwrap().body, b"new");
}

#[test]
fn a_304_nobody_asked_for_is_a_fault() {
    check_gives_up(FaultKind::Status(304), 1, |_| {}, || vec![Step::Send(reply(304, &[], ""))]);
}

#[test]
fn compressed_pages_are_decompressed() {
    let stub = Stub::answer(|_, _| reply(200, &[("Content-Encoding", "gzip")], gzip(XML.as_bytes())));
    let (session, _) = open(&stub, &stub.access());
    assert_eq!(session.get(&stub.url("/")).unwrap().body, XML.as_bytes());
}

#[test]
fn statuses_are_told_with_the_beginning_of_their_page() {
    let fault = check_gives_up(
        FaultKind::Status(404),
        1,
        |_| {},
        || vec![Step::Send(reply(404, &[], format!("<h1>gone\u{1}</h1>{}", "x".repeat(100_000))))],
    );
    assert!(fault.detail.starts_with("<h1>gone </h1>x"), "{fault:?}");
    assert!(fault.detail.len() <= 2000);
}

// 503_retry_after
#[test]
fn a_server_that_asks_for_seconds_gets_them() {
    let stub = Stub::answer(|n, _| if n == 0 { reply(503, &[("Retry-After", "2")], "") } else { page(XML) });
    let (session, clock) = open(&stub, &stub.access());
    session.get(&stub.url("/")).unwrap();
    assert_eq!(clock.waits(), [2 * SECOND]);
    let counts = session.counts();
    assert_eq!((counts.retries, counts.waits, counts.waited), (1, 1, 2 * SECOND));
}

// 503_retry_after_date
#[test]
fn a_server_that_names_a_date_is_asked_then() {
    let stub = Stub::answer(|n, _| match n {
        0 => reply(503, &[("Retry-After", "Mon, 16 Nov 2026 08:00:07 GMT")], ""),
        _ => page(XML),
    });
    let (session, clock) = open(&stub, &stub.access());
    session.get(&stub.url("/")).unwrap();
    assert_eq!(clock.waits(), [7 * SECOND]);
}

// 503_retry_after_huge
#[test]
fn a_server_that_asks_for_years_is_left_for_another_run() {
    let stub = Stub::answer(|_, _| reply(503, &[("Retry-After", "99999999")], "closed"));
    let (session, clock) = open(&stub, &stub.access());
    let fault = session.get(&stub.url("/")).unwrap_err();
    let FaultKind::RetryLater(date) = fault.kind else { panic!("{fault}") };
    assert_eq!(date, clock.now() + Duration::from_secs(99_999_999));
    assert!(
        fault.to_string().contains("asks to come back at 2030-01-16T17:46:39Z: it answered 503"),
        "{fault}"
    );
    assert!(fault.is_temporary());
    assert_eq!((stub.requests(), clock.waits().len()), (1, 0));
}

// 429_forever
#[test]
fn a_server_that_never_recovers_is_given_up() {
    let stub = Stub::answer(|_, _| reply(429, &[], "slow down"));
    let (session, clock) = open(&stub, &stub.access());
    let fault = session.get(&stub.url("/")).unwrap_err();
    assert_eq!((fault.kind, fault.attempts), (FaultKind::Status(429), 4));
    assert_eq!(stub.requests(), 4);
    let waits = clock.waits();
    assert_eq!(waits.len(), 3);
    assert!(waits[0] >= SECOND / 2 && waits[2] <= 4 * SECOND && waits[2] > waits[0], "{waits:?}");
}

#[test]
fn retries_end_with_the_budget_of_the_session() {
    let stub = Stub::answer(|_, _| reply(500, &[], ""));
    let mut settings = stub.access();
    settings.retries.budget = 5;
    let (session, _) = open(&stub, &settings);
    let attempts: Vec<u32> = (0..4).map(|_| session.get(&stub.url("/")).unwrap_err().attempts).collect();
    assert_eq!(attempts, [4, 3, 1, 1]);
}

// 500_every_3rd
#[test]
fn a_server_that_fails_now_and_then_loses_nothing() {
    let stub = Stub::answer(|n, seen: &Seen| if n % 3 == 2 { reply(500, &[], "") } else { page(&seen.path) });
    let mut settings = stub.access();
    settings.retries.budget = 3;
    let (session, _) = open(&stub, &settings);
    for n in 0..60 {
        let path = format!("/page/{n}");
        assert_eq!(session.get(&stub.url(&path)).unwrap().body, path.as_bytes());
    }
}

// timeout_body
#[test]
fn silence_ends_an_attempt() {
    check_recovers(quick, || vec![head("Content-Length: 9\r\n"), Step::Hang]);
    check_recovers(quick, || vec![Step::Hang]);
    check_gives_up(FaultKind::Timeout, 4, quick, || vec![head("Content-Length: 9\r\n"), Step::Hang]);
}

// trickle
#[test]
fn a_trickle_ends_by_the_total_deadline() {
    let trickle = || {
        let drip = [Step::Send(b"x".to_vec()), Step::Pause(Duration::from_millis(15))];
        let drips = std::iter::repeat_n(drip, 200).flatten();
        std::iter::once(head("Content-Length: 9999\r\n")).chain(drips).collect()
    };
    let short = |access: &mut Access| access.timeouts.total = Duration::from_millis(150);
    check_recovers(short, trickle);
}

/// A session whose server lets so much of the fetcher's time pass with each request.
fn slow_session(
    access: impl Fn(&mut Access),
    each: Duration,
    answer: impl Fn(usize) -> Vec<Step> + Send + Sync + 'static,
) -> (Stub, Session, Arc<TestClock>) {
    let clock = Arc::new(TestClock::default());
    let passing = Arc::clone(&clock);
    let stub = Stub::play(move |n, _| {
        passing.advance(each);
        answer(n)
    });
    let mut settings = stub.access();
    settings.retries = Retries { attempts: 100, budget: 100, ..Retries::default() };
    access(&mut settings);
    let options = Options { clock: Arc::clone(&clock) as Arc<dyn Clock>, seed: 1, ..Options::default() };
    let session = session(options, &settings, &stub.url("/"));
    (stub, session, clock)
}

fn drip() -> Vec<Step> {
    let drip = [Step::Send(b"x".to_vec()), Step::Pause(Duration::from_millis(15))];
    let drips = std::iter::repeat_n(drip, 200).flatten();
    std::iter::once(head("Content-Length: 9999\r\n")).chain(drips).collect()
}

/// It once ended after some thirty times the limit of an attempt, which is hours.
#[test]
fn a_server_that_trickles_every_answer_is_given_up() {
    let access = |access: &mut Access| {
        access.timeouts.total = Duration::from_millis(100);
        access.retries.patience = Some(900 * SECOND);
    };
    let (stub, session, clock) = slow_session(access, 290 * SECOND, |_| drip());
    let fault = session.get(&stub.url("/oai")).unwrap_err();
    assert!(matches!(fault.kind, FaultKind::GivenUp(time) if time >= 870 * SECOND), "{fault:?}");
    assert_eq!((fault.attempts, stub.requests()), (4, 4));
    assert!(clock.elapsed() < 1200 * SECOND, "one attempt more than its patience at most");
    let words = fault.to_string();
    assert!(words.contains("/oai` was given up after 1"), "{words}");
    assert!(words.contains("the last attempt took too long, it was not complete after"), "{words}");
    assert!(words.ends_with("(after 4 attempts); `retries.patience` can be raised"), "{words}");
    assert!(fault.is_temporary());
}

#[test]
fn all_that_is_asked_for_a_page_shares_its_clock() {
    let bomb = |_| vec![Step::Send(reply(200, &[("Content-Encoding", "gzip")], gzip(&vec![b'x'; 8 << 20])))];
    let access = |access: &mut Access| access.retries.patience = Some(60 * SECOND);
    let (stub, session, _) = slow_session(access, 25 * SECOND, bomb);
    session.begin_page();
    let kinds: Vec<&str> =
        (0..5).map(|n| session.get(&stub.url(&format!("/{n}"))).unwrap_err().kind.code()).collect();
    assert_eq!(kinds, ["too-large", "too-large", "too-large", "given-up", "given-up"]);
    assert_eq!(stub.requests(), 3, "who has given up does not ask");
    let fault = session.get(&stub.url("/5")).unwrap_err();
    assert_eq!(fault.url, stub.url("/2"), "what failed last is told");
    assert!(fault.detail.contains("sent more than the limit"), "{fault}");
    session.begin_page();
    assert_eq!(session.get(&stub.url("/6")).unwrap_err().kind, FaultKind::TooLarge);
}

/// The time of failures adds up, whatever good answers come between them.
#[test]
fn an_answer_that_is_excused_takes_no_patience() {
    let access = |access: &mut Access| {
        access.retries.patience = Some(60 * SECOND);
        access.retries.attempts = 1;
    };
    let every_fifth_fails = |n| match n % 5 {
        4 => vec![Step::Send(reply(500, &[], ""))],
        _ => vec![Step::Send(page(XML))],
    };
    let (stub, session, _) = slow_session(access, 25 * SECOND, every_fifth_fails);
    session.begin_page();
    let mut kinds = Vec::new();
    while kinds.len() < 4 {
        match session.get(&stub.url("/")) {
            Ok(_) => session.excuse_answer(),
            Err(fault) => kinds.push(fault.kind.code()),
        }
    }
    assert_eq!(kinds[3], "given-up", "{kinds:?}");
    assert_ne!(kinds[2], "given-up", "{kinds:?}");
    assert_eq!(stub.requests(), 15, "three failures, and four good answers before each");
}

#[test]
fn each_question_has_its_own_patience_unless_a_page_was_begun() {
    let access = |access: &mut Access| access.retries.patience = Some(60 * SECOND);
    let (stub, session, _) = slow_session(access, 50 * SECOND, |_| vec![Step::Send(page(XML))]);
    for _ in 0..5 {
        session.get(&stub.url("/")).unwrap();
    }
}

#[test]
fn waits_that_a_server_asks_for_do_not_count_and_our_own_do() {
    let access = |access: &mut Access| access.retries.patience = Some(60 * SECOND);
    let busy = |n| match n {
        0..6 => vec![Step::Send(reply(503, &[("Retry-After", "90")], ""))],
        _ => vec![Step::Send(page(XML))],
    };
    let (stub, session, clock) = slow_session(access, SECOND, busy);
    session.get(&stub.url("/")).unwrap();
    assert_eq!(clock.elapsed(), 547 * SECOND);
    // Up to the longest wait, in all.
    let busy = |_| vec![Step::Send(reply(503, &[("Retry-After", "90")], ""))];
    let (stub, session, clock) = slow_session(access, SECOND, busy);
    let fault = session.get(&stub.url("/")).unwrap_err();
    assert!(matches!(fault.kind, FaultKind::GivenUp(_)), "{fault}");
    assert!(clock.elapsed() <= 660 * SECOND, "{:?}", clock.elapsed());
    let (stub, session, clock) = slow_session(access, SECOND, |_| vec![Step::Send(reply(500, &[], ""))]);
    let fault = session.get(&stub.url("/")).unwrap_err();
    assert!(matches!(fault.kind, FaultKind::GivenUp(_)), "{fault}");
    assert!(clock.elapsed() <= 60 * SECOND, "{:?}", clock.elapsed());
    assert!(fault.to_string().contains("the last attempt answered 500"), "{fault}");
}

// truncated_gzip
#[test]
fn a_compressed_page_cut_in_the_middle_is_asked_for_again() {
    let cut = || {
        let bytes = gzip(XML.repeat(50).as_bytes());
        vec![Step::Send(reply(200, &[("Content-Encoding", "gzip")], &bytes[..bytes.len() / 2]))]
    };
    check_recovers(|_| {}, cut);
    check_gives_up(FaultKind::Truncated, 4, |_| {}, cut);
}

// wrong_gzip
#[test]
fn a_plain_page_that_claims_to_be_compressed_is_read() {
    let stub = Stub::answer(|_, _| reply(200, &[("Content-Encoding", "gzip")], XML));
    let (session, _) = open(&stub, &stub.access());
    assert_eq!(session.get(&stub.url("/")).unwrap().body, XML.as_bytes());
}

// content_length_short
#[test]
fn a_page_longer_than_announced_is_asked_for_again() {
    check_recovers(|_| {}, || vec![head("Content-Length: 30\r\n"), Step::Send(XML.as_bytes().to_vec())]);
}

#[test]
fn a_broken_document_that_is_the_same_twice_is_what_the_server_has() {
    let stub = Stub::answer(|_, _| page("<?xml version=\"1.0\"?><OAI-PMH><record/><rec"));
    let (session, _) = open(&stub, &stub.access());
    assert!(session.get(&stub.url("/")).unwrap().body.ends_with(b"<rec"));
    assert_eq!(stub.requests(), 2);
}

// content_length_long
#[test]
fn a_page_shorter_than_announced_is_asked_for_again() {
    let short = || vec![head("Content-Length: 500\r\n"), Step::Send(XML.as_bytes().to_vec()), Step::Close];
    check_recovers(|_| {}, short);
    check_gives_up(FaultKind::Truncated, 4, |_| {}, short);
}

#[test]
fn a_chunked_page_without_its_end_is_asked_for_again() {
    let cut =
        || vec![head("Transfer-Encoding: chunked\r\n"), Step::Send(b"5\r\n<a/><\r\n".to_vec()), Step::Close];
    check_recovers(|_| {}, cut);
    check_gives_up(FaultKind::Truncated, 4, |_| {}, cut);
}

#[test]
fn a_page_that_ends_with_its_connection_is_whole() {
    let stub = Stub::play(|_, _| {
        vec![Step::Send(format!("HTTP/1.0 200 OK\r\n\r\n{XML}").into_bytes()), Step::Close]
    });
    let (session, _) = open(&stub, &stub.access());
    assert_eq!(session.get(&stub.url("/")).unwrap().body, XML.as_bytes());
}

// connection_reset
#[test]
fn a_broken_connection_is_tried_again() {
    check_recovers(
        |_| {},
        || vec![head("Content-Length: 500\r\n"), Step::Send(b"<a>".to_vec()), Step::Reset],
    );
    check_recovers(|_| {}, || vec![Step::Reset]);
}

#[test]
fn a_connection_that_died_while_idle_is_no_fault() {
    let stub = Stub::play(|_, _| vec![Step::Send(page(XML)), Step::Close]);
    let (session, _) = open(&stub, &stub.access());
    for _ in 0..10 {
        session.get(&stub.url("/")).unwrap();
    }
}

// infinite_body
#[test]
fn a_page_without_end_stops_at_the_limit() {
    let stub = Stub::play(|_, _| vec![head(""), Step::Endless(b"<record>".repeat(1000))]);
    let mut settings = stub.access();
    settings.limits.body = 1 << 20;
    let (session, _) = open(&stub, &settings);
    let fault = session.get(&stub.url("/")).unwrap_err();
    assert_eq!((fault.kind, fault.attempts), (FaultKind::TooLarge, 1));
    // One piece from the socket may lie over the limit.
    assert!(session.counts().bytes < 2 << 20, "{:?}", session.counts());
}

#[test]
fn a_page_announced_as_too_large_is_not_read() {
    let stub =
        Stub::play(|_, _| vec![head("Content-Length: 99999999999\r\n"), Step::Endless(vec![b'x'; 9999])]);
    let (session, _) = open(&stub, &stub.access());
    assert_eq!(session.get(&stub.url("/")).unwrap_err().kind, FaultKind::TooLarge);
    assert_eq!(session.counts().bytes, 0);
}

// gzip_bomb
#[test]
fn a_bomb_stops_at_the_decompressed_limit() {
    let bomb = || vec![Step::Send(reply(200, &[("Content-Encoding", "gzip")], gzip(&vec![b'x'; 8 << 20])))];
    let fault = check_gives_up(FaultKind::TooLarge, 1, |_| {}, bomb);
    assert!(fault.detail.contains("200 times"), "{fault}");
    let steep = |access: &mut Access| access.limits.ratio = 1_000_000;
    let fault = check_gives_up(FaultKind::TooLarge, 1, steep, bomb);
    assert!(fault.detail.contains("larger than 4194304 bytes"), "{fault}");
}

// header_flood
#[test]
fn floods_of_headers_are_refused() {
    let many = || vec![head(&"X: y\r\n".repeat(100_000)), Step::Close];
    check_gives_up(FaultKind::HeaderFlood, 1, |_| {}, many);
    let endless =
        || vec![Step::Send(b"HTTP/1.1 200 OK\r\n".to_vec()), Step::Endless(b"X: y\r\n".repeat(100))];
    check_gives_up(FaultKind::HeaderFlood, 1, |_| {}, endless);
    let long = || vec![head(&format!("X: {}\r\nContent-Length: 0\r\n", "y".repeat(70_000)))];
    check_gives_up(FaultKind::HeaderFlood, 1, |_| {}, long);
}

#[test]
fn what_is_not_http_is_said_to_be() {
    check_gives_up(
        FaultKind::Protocol,
        4,
        |_| {},
        || vec![Step::Send(b"SSH-2.0-OpenSSH\r\n\r\n".to_vec()), Step::Close],
    );
}

#[test]
fn nobody_listening_is_a_fault_of_connection() {
    let stub = Stub::canary();
    let (mut settings, url) = (stub.access(), stub.url("/"));
    settings.retries.attempts = 2;
    let address = stub.address;
    drop(stub);
    while std::net::TcpStream::connect(address).is_ok() {}
    let fault =
        session(Options { clock: Arc::new(TestClock::default()), ..Options::default() }, &settings, &url)
            .get(&url)
            .unwrap_err();
    assert_eq!((fault.kind, fault.attempts), (FaultKind::Connect, 2), "{fault}");
}

// redirect_loop
#[test]
fn a_loop_of_redirects_ends() {
    let stub = Stub::answer(|_, seen: &Seen| redirect(if seen.path == "/a" { "/b" } else { "/a" }));
    let (session, _) = open(&stub, &stub.access());
    let fault = session.get(&stub.url("/a")).unwrap_err();
    assert_eq!((fault.kind, fault.attempts), (FaultKind::TooManyRedirects, 1));
    assert_eq!(stub.requests(), 11);
    let mut settings = stub.access();
    settings.limits.redirects = 99;
    open(&stub, &settings).0.get(&stub.url("/a")).unwrap_err();
    assert_eq!(stub.requests(), 22, "more than ten are never followed");
}

#[test]
fn what_is_posted_goes_to_one_address_and_nowhere_else() {
    let canary = Stub::canary();
    let target = canary.url("/");
    let stub = Stub::answer(move |_, seen: &Seen| match seen.path.as_str() {
        "/sparql" => page("answer"),
        "/away" => reply(307, &[("Location", &target)], ""),
        "/ftp" => reply(307, &[("Location", "ftp://127.0.0.1/")], ""),
        "/nowhere" => redirect("http://[/"),
        _ => redirect("/sparql"),
    });
    let mut settings = access(&[&stub, &canary]);
    settings.accept = Some("text/plain".to_owned());
    let (session, _) = open(&stub, &settings);
    let answer = session.post(&stub.url("/sparql"), "text/x-query", "what?").unwrap();
    assert_eq!(answer.body, b"answer");
    let seen = &stub.seen()[0];
    assert_eq!((seen.method.as_str(), seen.body.as_str()), ("POST", "what?"));
    assert_eq!((seen.header("content-type"), seen.header("accept")), ("text/x-query", "text/plain"));
    for path in ["/away", "/ftp", "/nowhere", "/within"] {
        let fault = session.post(&stub.url(path), "text/x-query", "what?").unwrap_err();
        assert_eq!((fault.kind, fault.attempts), (FaultKind::TooManyRedirects, 1), "{fault}");
        assert!(fault.to_string().contains("goes nowhere else"), "{fault}");
    }
    assert_eq!((stub.requests(), canary.requests()), (5, 0));
}

#[test]
fn redirects_lead_to_the_page() {
    let stub = Stub::answer(|_, seen: &Seen| match seen.path.as_str() {
        "/a" => redirect("b?x=1"),
        "/b?x=1" => reply(308, &[("Location", "//LOCALHOST:1/../c"), ("Location", "ignored")], ""),
        path => page(path),
    });
    let other = stub.address.port();
    let (session, _) = open(&stub, &stub.access());
    let fault = session.get(&stub.url("/a")).unwrap_err();
    assert_eq!(fault.kind, FaultKind::PrivateAddress, "{fault}");
    assert!(fault.url.contains("localhost:1/c"), "{fault} {other}");
    assert_eq!(stub.requests(), 2);
}

#[test]
fn a_redirect_without_address_is_a_status() {
    check_gives_up(FaultKind::Status(302), 1, |_| {}, || vec![Step::Send(reply(302, &[], "somewhere"))]);
}

// redirect_to_file
#[test]
fn a_redirect_out_of_the_web_is_not_followed() {
    let file = || vec![Step::Send(redirect("file:///etc/passwd"))];
    check_gives_up(FaultKind::Scheme, 1, |_| {}, file);
}

#[test]
fn a_stopped_session_stops_in_the_middle() {
    for script in [
        (|| vec![Step::Hang]) as fn() -> Vec<Step>,
        || vec![head("Content-Length: 9\r\n"), Step::Hang],
        // The wait that this server asks for is a real one here.
        || vec![Step::Send(reply(503, &[("Retry-After", "300")], ""))],
    ] {
        let stub = Stub::play(move |_, _| script());
        let mut settings = access(&[&stub]);
        settings.timeouts.idle = 60 * SECOND;
        settings.timeouts.total = 60 * SECOND;
        let cancel = Arc::new(AtomicBool::new(false));
        let fetcher = Fetcher::new(Options::default()).unwrap();
        let session = fetcher.open(&settings, &stub.url("/"), Arc::clone(&cancel)).unwrap();
        let begin = Instant::now();
        let fault = std::thread::scope(|scope| {
            let asked = scope.spawn(|| session.get(&stub.url("/")).unwrap_err());
            while stub.requests() == 0 {
                std::thread::yield_now();
            }
            cancel.store(true, Ordering::Relaxed);
            asked.join().unwrap()
        });
        assert_eq!(fault.kind, FaultKind::Cancelled);
        assert!(begin.elapsed() < 30 * SECOND, "the wait was waited for");
        assert_eq!(session.get(&stub.url("/")).unwrap_err().kind, FaultKind::Cancelled);
        assert_eq!(stub.requests(), 1);
    }
}

#[test]
fn requests_keep_the_delay_of_the_source() {
    let stub = Stub::canary();
    let mut settings = stub.access();
    settings.delay = 3 * SECOND;
    let (session, clock) = open(&stub, &settings);
    for _ in 0..3 {
        session.get(&stub.url("/")).unwrap();
    }
    assert_eq!(clock.waits(), [3 * SECOND, 3 * SECOND]);
    assert_eq!((session.counts().waits, session.counts().waited), (2, 6 * SECOND));
}

#[test]
fn threads_of_a_session_share_its_host_politely() {
    use std::sync::atomic::AtomicUsize;
    static INSIDE: AtomicUsize = AtomicUsize::new(0);
    static MOST: AtomicUsize = AtomicUsize::new(0);
    let stub = Stub::answer(|_, _| {
        MOST.fetch_max(INSIDE.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        std::thread::sleep(Duration::from_millis(5));
        INSIDE.fetch_sub(1, Ordering::SeqCst);
        page(XML)
    });
    let mut settings = stub.access();
    settings.concurrency = 2;
    let (session, _) = open(&stub, &settings);
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| (0..4).for_each(|_| drop(session.get(&stub.url("/")).unwrap())));
        }
    });
    assert_eq!(stub.requests(), 24);
    assert!(MOST.load(Ordering::SeqCst) <= 2, "{MOST:?}");
}

/// Serves `rules` as robots.txt and a page for everything else.
fn with_rules(rules: impl Fn(usize) -> Vec<u8> + Send + Sync + 'static) -> (Stub, Access) {
    let stub =
        Stub::answer(move |n, seen: &Seen| if seen.path == "/robots.txt" { rules(n) } else { page(XML) });
    let settings = Access { respect_robots: true, ..stub.access() };
    (stub, settings)
}

#[test]
fn what_robots_txt_closes_is_not_asked_for() {
    let (stub, settings) = with_rules(|_| page("User-agent: *\nDisallow: /private\nCrawl-delay: 5\n"));
    let (session, clock) = open(&stub, &settings);
    session.get(&stub.url("/a")).unwrap();
    session.get(&stub.url("/b")).unwrap();
    let fault = session.get(&stub.url("/private/x")).unwrap_err();
    assert_eq!((fault.kind, fault.attempts), (FaultKind::RobotsDenied, 0), "{fault}");
    let paths: Vec<String> = stub.seen().into_iter().map(|seen| seen.path).collect();
    assert_eq!(paths, ["/robots.txt", "/a", "/b"]);
    assert_eq!(clock.waits(), [5 * SECOND]);
    assert_eq!(session.robots(&stub.url("/x")).unwrap().delay(), Some(5 * SECOND));
    clock.advance(25 * 3600 * SECOND);
    session.get(&stub.url("/a")).unwrap();
    assert_eq!(stub.seen()[3].path, "/robots.txt", "rules are looked at again after a day");
}

#[test]
fn a_host_without_rules_is_open_and_one_that_is_down_is_closed() {
    for status in [404, 403, 429] {
        let (stub, settings) = with_rules(move |_| reply(status, &[], "none"));
        open(&stub, &settings).0.get(&stub.url("/a")).unwrap();
    }
    let (stub, settings) = with_rules(|_| reply(503, &[], "down"));
    let (session, _) = open(&stub, &settings);
    let fault = session.get(&stub.url("/a")).unwrap_err();
    assert_eq!(fault.kind, FaultKind::RobotsDenied);
    assert!(fault.to_string().contains("closed to robots: its robots.txt answered 503; "), "{fault}");
    assert!(stub.seen().iter().all(|seen| seen.path == "/robots.txt"));
    let (stub, mut settings) = with_rules(|_| b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n".to_vec());
    quick(&mut settings);
    let (session, _) = open(&stub, &settings);
    assert_eq!(session.get(&stub.url("/a")).unwrap_err().kind, FaultKind::Timeout);
    assert!(stub.seen().iter().all(|seen| seen.path == "/robots.txt"));
}

#[test]
fn rules_hold_for_every_hop_of_a_redirect() {
    let stub = Stub::answer(|_, seen: &Seen| match seen.path.as_str() {
        "/robots.txt" => page("User-agent: pinakes\nDisallow: /closed\n"),
        _ => redirect("/closed"),
    });
    let (session, _) = open(&stub, &Access { respect_robots: true, ..stub.access() });
    let fault = session.get(&stub.url("/a")).unwrap_err();
    assert_eq!((fault.kind, fault.attempts), (FaultKind::RobotsDenied, 1));
    assert_eq!(stub.requests(), 2);
}

#[test]
fn rules_that_redirect_are_found_and_rules_of_any_size_are_read() {
    let (stub, settings) = with_rules(|n| match n {
        0 => redirect("/other/robots.txt"),
        _ => page("unreachable"),
    });
    let (session, _) = open(&stub, &settings);
    session.get(&stub.url("/a")).unwrap();
    assert_eq!(stub.seen()[1].path, "/other/robots.txt");
    let long = format!("User-agent: *\nDisallow: /a\n{}", "# fill\n".repeat(200_000));
    let (stub, settings) = with_rules(move |_| page(&long));
    let (session, _) = open(&stub, &settings);
    assert_eq!(session.get(&stub.url("/a")).unwrap_err().kind, FaultKind::RobotsDenied);
    assert!(session.counts().bytes < 1 << 20, "{:?}", session.counts());
}

#[test]
fn settings_that_cannot_be_used_are_refused_at_once() {
    let fetcher = Fetcher::new(Options::default()).unwrap();
    let open = |access: Access, home: &str| fetcher.open(&access, home, Arc::default()).unwrap_err();
    let private = Access { allow_private: vec!["300.1.1.1".to_owned()], ..Access::default() };
    let fault = open(private, "http://repo.example/");
    assert_eq!(fault.kind, FaultKind::Settings);
    assert!(fault.to_string().contains("`300.1.1.1` in `allow_private`"), "{fault}");
    let contact = Access { contact: Some("a\nb".to_owned()), ..Access::default() };
    assert_eq!(open(contact, "http://repo.example/").kind, FaultKind::Settings);
    let fault = open(Access::default(), "https://me:secret@repo.example/");
    assert_eq!(fault.kind, FaultKind::BadUrl);
    assert!(!fault.to_string().contains("secret"), "{fault}");
}
