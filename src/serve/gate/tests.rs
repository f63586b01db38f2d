//! Tokens, headers, slots, panics and the log.

use crate::serve::tests::{BASE, Running, raw, read, start, thing};
use crate::serve::{Role, token};
use std::io;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const UPDATE: &str = "Content-Type: application/sparql-update";

async fn update(server: &Running, authorization: &[&str]) -> (u16, Option<String>) {
    let mut headers = vec![UPDATE];
    headers.extend_from_slice(authorization);
    let answer = server.ask("POST /sparql", &headers, "CLEAR ALL").await;
    (answer.status, answer.header("www-authenticate").map(str::to_owned))
}

#[tokio::test]
async fn tokens_open_what_their_role_opens() {
    let server = start(|_| {}).await;
    let (reader, _) = server.token(Role::Reader, None);
    let (writer, id) = server.token(Role::Writer, None);
    let challenge = Some("Bearer realm=\"pinakes\"".to_owned());
    assert_eq!(update(&server, &[]).await, (401, challenge.clone()));
    for bad in [
        "Bearer",
        "Bearer x",
        "Basic dTpw",
        &format!("Bearer {writer}x"),
        "Bearer pin_",
        &format!("Token {writer}"),
    ] {
        let header = format!("Authorization: {bad}");
        assert_eq!(update(&server, &[&header]).await, (401, challenge.clone()), "{bad}");
        assert_eq!(
            server.get("/sparql?query=ASK", &[&header]).await.status,
            401,
            "a bad token reads nothing"
        );
    }
    assert_eq!(update(&server, &[&format!("Authorization: Bearer {reader}")]).await, (403, None));
    let header = format!("Authorization: bearer {writer}");
    assert_eq!(update(&server, &[&header]).await.0, 204);
    assert_eq!(update(&server, &[&header, &header]).await.0, 400, "two headers");
    token::revoke(&server.tokens, &id).expect("revoked");
    assert_eq!(update(&server, &[&header]).await.0, 401, "revoked");
    let wide = server.get("/sparql?query=ASK", &[&format!("Authorization: Bearer {reader}")]).await;
    assert!(wide.body.ends_with("|1000000"), "readers have wider limits: {}", wide.body);
    assert!(server.get("/sparql?query=ASK", &[]).await.body.ends_with("|100000"));
}

#[tokio::test]
async fn a_token_in_an_address_is_refused_even_if_it_is_good() {
    let server = start(|_| {}).await;
    let (reader, _) = server.token(Role::Reader, None);
    for query in [
        format!("access_token={reader}"),
        "access_token=x".to_owned(),
        format!("token={reader}"),
        format!("query={}", reader.replace("pin_", "%70in_")),
    ] {
        assert_eq!(server.get(&format!("/sparql?query=ASK&{query}"), &[]).await.status, 400, "{query}");
    }
    assert_eq!(server.get("/sparql?query=ASK%20pin_x", &[]).await.status, 200, "a word is no token");
}

#[tokio::test]
async fn a_read_only_server_is_that_for_everybody() {
    let server = start(|settings| settings.read_only = true).await;
    let (admin, _) = server.token(Role::Admin, None);
    let bearer = format!("Authorization: Bearer {admin}");
    assert_eq!(update(&server, &[&bearer]).await.0, 403);
    assert_eq!(
        server.ask("PUT /graph-store?default", &["Content-Type: text/turtle", &bearer], "").await.status,
        403
    );
    assert_eq!(server.get("/sparql?query=ASK", &[]).await.status, 200);
}

#[tokio::test]
async fn every_answer_is_dressed() {
    let server = start(|settings| settings.public = true).await;
    for (line, status) in [
        ("GET /", 200),
        ("GET /sparql?query=ASK", 200),
        ("GET /work/none", 404),
        ("POST /sparql", 415),
        ("PUT /health", 405),
    ] {
        let answer = server.ask(line, &[], "").await;
        assert_eq!(answer.status, status, "{line}");
        assert_eq!(answer.header("server"), Some("pinakes"));
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
        let policy = answer.header("content-security-policy").unwrap_or_default();
        assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
        assert_eq!(answer.header("access-control-allow-origin").is_some(), line.starts_with("GET"), "{line}");
        assert_eq!(answer.header("access-control-allow-credentials"), None);
    }
}

#[tokio::test]
async fn pages_elsewhere_may_read_and_nothing_else() {
    let server = start(|settings| settings.cors = vec!["*".to_owned()]).await;
    let asked = ["Origin: http://evil.example", "Access-Control-Request-Method: PUT"];
    for (path, allowed, methods) in [
        ("/sparql", "GET, HEAD, OPTIONS, POST", Some("GET, HEAD, OPTIONS, POST")),
        ("/graph-store?default", "GET, HEAD, OPTIONS, PUT, POST, DELETE", Some("GET, HEAD, OPTIONS")),
        ("/work/1", "GET, HEAD, OPTIONS", Some("GET, HEAD, OPTIONS")),
        ("/metrics", "GET, HEAD, OPTIONS", None),
    ] {
        let answer = server.ask(&format!("OPTIONS {path}"), &asked, "").await;
        assert_eq!((answer.status, answer.header("allow")), (204, Some(allowed)), "{path}");
        assert_eq!(answer.header("access-control-allow-methods"), methods, "{path}");
        let headers = answer.header("access-control-allow-headers").unwrap_or_default();
        assert!(!headers.to_ascii_lowercase().contains("authorization"), "{headers}");
    }
    let private = "Access-Control-Request-Private-Network: true";
    let preflight = server.ask("OPTIONS /sparql", &[asked[0], asked[1], private], "").await;
    assert!(!preflight.head.to_ascii_lowercase().contains("access-control"), "{}", preflight.head);
    let (token, _) = server.token(Role::Reader, None);
    let bearer = format!("Authorization: Bearer {token}");
    let read = server.get("/sparql?query=ASK", &[asked[0], &bearer]).await;
    assert_eq!((read.status, read.header("access-control-allow-origin")), (200, None));
}

/// A private catalogue on a machine that also visits the web.
#[tokio::test]
async fn pages_elsewhere_read_nothing_of_a_private_server() {
    let server = start(|_| {}).await;
    for line in ["GET /sparql?query=ASK", "OPTIONS /sparql", "GET /work/1", "GET /metrics"] {
        let origin = "Origin: https://evil.example";
        let answer = server.ask(line, &[origin, "Access-Control-Request-Method: GET"], "").await;
        assert!(!answer.head.to_ascii_lowercase().contains("access-control"), "{line}: {}", answer.head);
        assert_eq!(answer.header("cross-origin-resource-policy"), Some("same-origin"), "{line}");
    }
    let server = start(|settings| settings.cors = vec!["https://good.example".to_owned()]).await;
    for (origin, allowed) in [("https://good.example", true), ("https://evil.example", false)] {
        let answer = server.get("/sparql?query=ASK", &[&format!("Origin: {origin}")]).await;
        assert_eq!(answer.header("access-control-allow-origin"), allowed.then_some(origin));
        assert!(answer.all("vary").any(|field| field == "Origin"), "{}", answer.head);
    }
}

/// A page whose name leads to this machine is no page of this machine.
#[tokio::test]
async fn a_server_answers_to_its_own_names_alone() {
    let ask = async |server: &Running, line: &str, host: &str| {
        let request = format!("{line} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        raw(server.address, request.as_bytes()).await
    };
    let private = start(|settings| settings.hosts = vec!["books.example".to_owned()]).await;
    for line in
        ["GET /", "GET /health", "GET /sparql?query=ASK", "GET /metrics", "POST /admin/backup", "OPTIONS *"]
    {
        let misdirected = ask(&private, line, "evil.example:7878").await;
        assert_eq!(misdirected.status, 421, "{line}");
        assert!(misdirected.body.contains("`--host evil.example`"), "{}", misdirected.body);
        assert_eq!(misdirected.header("access-control-allow-origin"), None);
    }
    for host in ["localhost:7878", "127.0.0.1", "[::1]:1", "library.example", "books.example"] {
        assert_eq!(ask(&private, "GET /sparql?query=ASK", host).await.status, 200, "{host}");
        assert_eq!(ask(&private, "GET /metrics", host).await.status, 200, "{host}");
    }
    let public = start(|settings| settings.public = true).await;
    assert_eq!(ask(&public, "GET /sparql?query=ASK", "any.example").await.status, 200);
    assert_eq!(ask(&public, "GET /metrics", "any.example").await.status, 421, "the machine's own");
    assert_eq!(ask(&public, "GET /metrics", "localhost").await.status, 200);
}

/// A proxy may leave the path of the base in the address; the host before it still counts.
#[tokio::test]
async fn a_host_in_the_request_line_counts_also_below_a_path() {
    let server = start(|settings| settings.base = "http://library.example/deep/".to_owned()).await;
    let ask = async |line: &str, host: &str| {
        let request = format!("{line} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        raw(server.address, request.as_bytes()).await.status
    };
    for path in ["/deep/sparql?query=ASK", "/sparql?query=ASK", "/deep/metrics"] {
        assert_eq!(ask(&format!("GET http://evil.example{path}"), "localhost").await, 421, "{path}");
        assert_eq!(ask(&format!("GET http://localhost:7878{path}"), "evil.example").await, 200, "{path}");
        assert_eq!(ask(&format!("GET {path}"), "evil.example").await, 421, "{path}");
    }
}

/// Bodies were once read side by side on all connections, 32 MB each.
#[tokio::test]
async fn large_bodies_wait_for_room_before_they_are_read() {
    const LARGE: usize = 3 << 20;
    let server = start(|settings| {
        settings.limits.bodies = LARGE + (1 << 20);
        settings.limits.room_time = std::time::Duration::from_millis(50);
    })
    .await;
    let (writer, _) = server.token(Role::Writer, None);
    let bearer = format!("Authorization: Bearer {writer}");
    let turtle = " ".repeat(LARGE);
    let put = ["Content-Type: text/turtle", bearer.as_str()];
    // It is told to send when there is room.
    let mut first = TcpStream::connect(server.address).await.expect("connected");
    let head = format!(
        "PUT /graph-store?default HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nExpect: 100-continue\r\n\
         {}\r\n{bearer}\r\nContent-Length: {LARGE}\r\n\r\n",
        put[0]
    );
    first.write_all(head.as_bytes()).await.expect("sent");
    let mut told = [0; 25];
    first.read_exact(&mut told).await.expect("leave to go on");
    assert_eq!(&told, b"HTTP/1.1 100 Continue\r\n\r\n");
    for head in [format!("Content-Length: {LARGE}"), "Transfer-Encoding: chunked".to_owned()] {
        let head = format!(
            "PUT /graph-store?default HTTP/1.1\r\nHost: localhost\r\n{}\r\n{bearer}\r\n{head}\r\n\r\n",
            put[0]
        );
        let second = raw(server.address, head.as_bytes()).await;
        assert_eq!((second.status, second.header("retry-after")), (503, Some("1")), "{head}");
        assert_eq!(second.header("connection"), Some("close"));
    }
    assert_eq!(server.ask("PUT /graph-store?graph=x:small", &put, "<a:b> <a:c> 1 .").await.status, 201);
    assert_eq!(update(&server, &[&bearer]).await.0, 204, "what is small needs no room");
    first.write_all(turtle.as_bytes()).await.expect("sent");
    assert_eq!(read(&mut first).await.status, 201);
    for _ in 0..3 {
        assert_eq!(server.ask("PUT /graph-store?default", &put, &turtle).await.status, 204, "it came back");
    }
}

/// Whoever announces nothing is taken to send all it may, until it has sent what it sends.
#[tokio::test]
async fn room_that_a_body_did_not_need_is_for_others() {
    let server = start(|settings| settings.limits.bodies = 33 << 20).await;
    let (writer, _) = server.token(Role::Writer, None);
    let head = format!(
        "POST /sparql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/sparql-query\r\n\
         Authorization: Bearer {writer}\r\nTransfer-Encoding: chunked\r\n\r\nb\r\nSELECT hang\r\n0\r\n\r\n"
    );
    let mut hanging = Vec::new();
    for number in 1..=3 {
        let mut client = TcpStream::connect(server.address).await.expect("connected");
        client.write_all(head.as_bytes()).await.expect("sent");
        hanging.push(client);
        let is_hanging = || server.catalogue.hanging.load(Ordering::SeqCst) == number;
        assert!(crate::serve::tests::soon(is_hanging).await, "{number}");
    }
}

#[tokio::test]
async fn whoever_finds_no_slot_is_told_when_to_come_back() {
    let server = start(|settings| settings.limits.requests = 1).await;
    let mut first = TcpStream::connect(server.address).await.expect("connected");
    first
        .write_all(b"GET /sparql?query=SELECT+hang HTTP/1.1\r\nHost: localhost\r\n\r\n")
        .await
        .expect("sent");
    assert!(crate::serve::tests::soon(|| server.catalogue.hanging.load(Ordering::SeqCst) == 1).await);
    let second = server.get("/sparql?query=ASK", &[]).await;
    assert_eq!((second.status, second.header("retry-after")), (503, Some("1")));
    assert_eq!(server.get("/health", &[]).await.status, 200, "whoever watches is always answered");
    assert!(server.get("/metrics", &[]).await.body.contains("pinakes_turned_away_total 1"));
    drop(first);
    assert!(crate::serve::tests::soon(|| server.catalogue.dropped.load(Ordering::SeqCst) == 1).await);
    assert_eq!(server.get("/sparql?query=ASK", &[]).await.status, 200, "the slot came back");
}

/// Whole graphs keep neither slots nor workers from queries: all but a few wait outside.
#[tokio::test]
async fn graphs_wait_for_their_turn_without_a_slot() {
    let server = start(|settings| {
        settings.limits.graphs = 1;
        settings.limits.requests = 2;
        settings.limits.connections = 16;
    })
    .await;
    server.catalogue.graphs_hang.store(true, Ordering::SeqCst);
    let ask = async || {
        let mut client = TcpStream::connect(server.address).await.expect("connected");
        let request = b"GET /graph-store?default HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        client.write_all(request).await.expect("sent");
        client
    };
    let mut readers = Vec::new();
    for _ in 0..30 {
        readers.push(ask().await);
    }
    assert!(crate::serve::tests::soon(|| server.catalogue.hanging.load(Ordering::SeqCst) >= 1).await);
    for _ in 0..10 {
        assert_eq!(server.get("/sparql?query=ASK", &[]).await.status, 200);
    }
    assert_eq!(server.catalogue.hanging.load(Ordering::SeqCst), 1, "one is read at a time");
    let metrics = server.get("/metrics", &[]).await.body;
    assert!(metrics.contains("pinakes_turned_away_total 0\n"), "{metrics}");
}

#[tokio::test]
async fn a_panic_is_one_answer() {
    let server = start(|_| {}).await;
    let answer = server.get("/sparql?query=SELECT+panic", &[]).await;
    assert_eq!(answer.status, 500);
    assert!(!answer.body.contains("as asked"), "{}", answer.body);
    assert_eq!(server.get("/sparql?query=ASK", &[]).await.status, 200);
    assert!(server.get("/metrics", &[]).await.body.contains("pinakes_panics_total 1"));
}

#[tokio::test]
async fn a_base_with_a_path_is_served_with_and_without_it() {
    let server = start(|settings| settings.base = "http://library.example/deep/".to_owned()).await;
    let iri = "http://library.example/deep/work/1";
    server.catalogue.things.lock().expect("a lock").insert(iri.to_owned(), thing(iri, "Walden"));
    for path in ["/work/1", "/deep/work/1"] {
        let page = server.get(path, &["Accept: text/html"]).await;
        assert_eq!(page.status, 200, "{path}");
        assert!(page.body.contains("href=\"/deep/style.css\""), "{}", page.body);
    }
    assert_eq!(server.get("/deep/sparql?query=ASK", &[]).await.status, 200);
}

/// What a subscriber writes.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("a lock").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// One thread, so that one subscriber hears everything.
#[tokio::test(flavor = "current_thread")]
async fn the_log_has_a_line_a_request_and_no_secret() {
    let lines = Lines::default();
    let writer = lines.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .with_max_level(tracing::Level::TRACE);
    let _guard = tracing::subscriber::set_default(subscriber.finish());
    // While there is one subscriber alone, what another thread says first is said to nobody from
    // then on, and other tests panic as well.
    let _second = tracing::Dispatch::new(tracing::subscriber::NoSubscriber::new());
    let server = start(|_| {}).await;
    let (token, _) = server.token(Role::Writer, None);
    let bearer = format!("Authorization: Bearer {token}");
    server.ask("POST /sparql", &[UPDATE, &bearer], "CLEAR ALL").await;
    server.get("/sparql?query=ASK+%7B+%22private+words%22+%7D", &[&bearer]).await;
    server.get(&format!("/sparql?query=ASK&access_token={token}"), &[]).await;
    server.get(&format!("/{token}"), &[]).await;
    server.get("/sparql?query=SELECT+panic", &[&bearer]).await;
    raw(
        server.address,
        format!("GET / HTTP/1.1\r\nAuthorization: Bearer {token}\r\nbad header\r\n\r\n").as_bytes(),
    )
    .await;
    let requests = |log: &str| log.lines().filter(|line| line.contains("request method=")).count();
    // A line is written once the answer is out, so the last may be a moment late.
    let mut log = String::new();
    for _ in 0..500 {
        log = String::from_utf8(lines.0.lock().expect("a lock").clone()).expect("text");
        if requests(&log) >= 5 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    assert!(log.contains("method=\"POST\" route=\"/sparql\" status=204"), "{log}");
    assert!(log.contains("role=\"writer\""), "{log}");
    assert!(log.contains("panic=\"as asked\""), "{log}");
    for secret in [token.as_str(), &token["pin_".len()..], "private", "Bearer", BASE] {
        assert!(!log.contains(secret), "`{secret}` is in the log:\n{log}");
    }
    assert_eq!(requests(&log), 5, "{log}");
}
