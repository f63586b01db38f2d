//! Clients that are slow, large, rude or gone.

use crate::serve::Role;
use crate::serve::connections::Unsent;
use crate::serve::tests::{FILE, head, raw, read, reluctant, soon, start};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// File handles that this process may still open, as far as it is told.
fn handles() -> usize {
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let line = limits.lines().find(|line| line.starts_with("Max open files"));
    line.and_then(|line| line.split_whitespace().nth(3)).and_then(|soft| soft.parse().ok()).unwrap_or(1024)
}

/// Half a request header each. Oxigraph's server answered nobody for a minute.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_slow_clients_silence_nobody() {
    let server = start(|settings| settings.limits.connections = 128).await;
    let many = 1000.min(handles().saturating_sub(400));
    let mut slow = Vec::new();
    for number in 0..many {
        let mut client = TcpStream::connect(server.address).await.expect("connected");
        client.write_all(b"GET /sparql HTTP/1.1\r\nHost: localhost\r\nX-Slow: ").await.expect("sent");
        slow.push(client);
        if number % 100 == 0 {
            let began = Instant::now();
            assert_eq!(server.get("/sparql?query=ASK", &[]).await.status, 200, "beside {number}");
            assert!(began.elapsed() < Duration::from_secs(1), "beside {number}");
        }
    }
    for _ in 0..20 {
        let began = Instant::now();
        assert_eq!(server.get("/sparql?query=ASK", &[]).await.status, 200);
        assert!(began.elapsed() < Duration::from_secs(1));
    }
    let metrics = server.get("/metrics", &[]).await.body;
    let open = metrics.lines().find_map(|line| line.strip_prefix("pinakes_connections "));
    assert!(open.and_then(|open| open.parse().ok()).is_some_and(|open: usize| open <= 128), "{open:?}");
}

/// The same with bodies: who has not sent one whole keeps nobody from being answered.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_bodies_take_neither_slots_nor_places() {
    let server = start(|settings| {
        settings.limits.connections = 32;
        settings.limits.requests = 4;
    })
    .await;
    let head = "POST /sparql HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/sparql-query\r\nContent-Length: 9\r\n\r\nASK";
    let mut slow = Vec::new();
    for _ in 0..100 {
        let mut client = TcpStream::connect(server.address).await.expect("connected");
        client.write_all(head.as_bytes()).await.expect("sent");
        slow.push(client);
    }
    for _ in 0..10 {
        assert_eq!(server.get("/sparql?query=ASK", &[]).await.status, 200);
    }
    let mut last = slow.pop().expect("a client");
    last.write_all(b" { } #").await.expect("sent");
    assert_eq!(read(&mut last).await.status, 200, "whoever finishes in time is answered");
}

#[tokio::test]
async fn half_a_header_and_an_idle_connection_end() {
    let server = start(|settings| settings.limits.head_time = Duration::from_millis(200)).await;
    let mut slow = TcpStream::connect(server.address).await.expect("connected");
    slow.write_all(b"GET / HTTP/1.1\r\nHost:").await.expect("sent");
    let began = Instant::now();
    read(&mut slow).await;
    let mut idle = TcpStream::connect(server.address).await.expect("connected");
    idle.write_all(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n").await.expect("sent");
    assert_eq!(read(&mut idle).await.status, 200);
    assert!(began.elapsed() < Duration::from_secs(8), "both were closed");
}

#[tokio::test]
async fn a_body_too_large_is_refused_before_it_comes() {
    let server = start(|_| {}).await;
    let mut client = TcpStream::connect(server.address).await.expect("connected");
    let head = "POST /sparql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/sparql-query\r\nContent-Length: 104857600\r\n\r\n";
    client.write_all(head.as_bytes()).await.expect("sent");
    // Not a byte of the body was sent.
    let answer = read(&mut client).await;
    assert_eq!((answer.status, answer.header("connection")), (413, Some("close")));
}

#[tokio::test]
async fn a_body_that_announces_nothing_is_cut_at_the_limit() {
    let server = start(|settings| settings.limits.anonymous.text = 1000).await;
    let mut client = TcpStream::connect(server.address).await.expect("connected");
    let head = "POST /sparql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/sparql-query\r\nTransfer-Encoding: chunked\r\n\r\n";
    client.write_all(head.as_bytes()).await.expect("sent");
    let chunk = format!("1000\r\n{}\r\n", "x".repeat(0x1000));
    for _ in 0..1000 {
        if client.write_all(chunk.as_bytes()).await.is_err() {
            break;
        }
    }
    assert_eq!(read(&mut client).await.status, 413, "the answer arrives although the client went on sending");
}

#[tokio::test]
async fn a_whole_upload_meets_its_answer() {
    let server = start(|_| {}).await;
    let mut client = TcpStream::connect(server.address).await.expect("connected");
    let head = "PUT /graph-store?default HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/turtle\r\nContent-Length: 8000000\r\n\r\n";
    client.write_all(head.as_bytes()).await.expect("sent");
    let _ = client.write_all(&vec![b' '; 8_000_000]).await;
    assert_eq!(read(&mut client).await.status, 413);
}

#[tokio::test]
async fn a_body_that_trickles_is_given_up() {
    let server = start(|settings| settings.limits.idle_time = Duration::from_millis(200)).await;
    let head = "POST /sparql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/sparql-query\r\nContent-Length: 100\r\n\r\nASK";
    assert_eq!(raw(server.address, head.as_bytes()).await.status, 408);
    let server = start(|settings| settings.limits.body_time = Duration::from_millis(300)).await;
    let mut client = TcpStream::connect(server.address).await.expect("connected");
    client.write_all(head.as_bytes()).await.expect("sent");
    for _ in 0..40 {
        if client.write_all(b" ").await.is_err() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(read(&mut client).await.status, 408, "a byte now and then is not enough");
}

#[tokio::test]
async fn whoever_does_not_read_is_cut_off() {
    let server = start(|settings| settings.limits.stall_time = Duration::from_millis(200)).await;
    let mut client = TcpStream::connect(server.address).await.expect("connected");
    client
        .write_all(b"GET /sparql?query=SELECT+much HTTP/1.1\r\nHost: localhost\r\n\r\n")
        .await
        .expect("sent");
    let mut first = [0; 4];
    client.read_exact(&mut first).await.expect("the beginning");
    let mut gone = false;
    for _ in 0..200 {
        let metrics = server.get("/metrics", &[]).await.body;
        gone = metrics.contains("pinakes_connections 1\n");
        if gone {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(gone, "only the one that asks is left");
}

/// Reads so many bytes, a few at a time; says how many came before the connection ended.
async fn sip(client: &mut TcpStream, wanted: usize) -> usize {
    let mut few = [0; 4096];
    let mut taken = 0;
    while taken < wanted {
        match client.read(&mut few[..4096.min(wanted - taken)]).await {
            Ok(0) | Err(_) => break,
            Ok(length) => taken += length,
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    taken
}

/// What the kernel would buffer is far more than such a client takes in the time without progress.
#[tokio::test]
async fn whoever_reads_slowly_and_steadily_is_not_cut_off() {
    let server = start(|settings| settings.limits.stall_time = Duration::from_millis(300)).await;
    for query in ["much", "file"] {
        let mut client = reluctant(server.address, &format!("/sparql?query=SELECT+{query}")).await;
        assert_eq!(head(&mut client).await as u64, FILE);
        let wanted = 2 << 20;
        assert_eq!(sip(&mut client, wanted).await, wanted, "{query}");
    }
}

/// The time for the next request begins when the answer is taken, not when it is written.
#[tokio::test]
async fn the_end_of_an_answer_is_not_lost_on_slow_readers() {
    let server = start(|settings| settings.limits.head_time = Duration::from_millis(30)).await;
    let mut client = reluctant(server.address, "/sparql?query=SELECT+spooled").await;
    let length = head(&mut client).await;
    assert_eq!(length, 200_000);
    assert_eq!(sip(&mut client, length).await, length);
}

#[tokio::test]
async fn a_slot_is_for_work_and_not_for_sending() {
    let server = start(|settings| settings.limits.requests = 1).await;
    let mut stalled = Vec::new();
    for query in ["much", "file"].repeat(4) {
        let mut client = reluctant(server.address, &format!("/sparql?query=SELECT+{query}")).await;
        head(&mut client).await;
        stalled.push(client);
        assert_eq!(server.get("/sparql?query=ASK", &[]).await.status, 200, "beside {}", stalled.len());
    }
    let metrics = server.get("/metrics", &[]).await.body;
    for line in ["pinakes_slots_free 1\n", "pinakes_turned_away_total 0\n", "pinakes_connections 9\n"] {
        assert!(metrics.contains(line), "{line} is not in\n{metrics}");
    }
}

#[tokio::test]
async fn whoever_takes_nothing_makes_room_for_others() {
    let server = start(|settings| {
        settings.limits.connections = 8;
        settings.limits.grace = Duration::ZERO;
    })
    .await;
    let mut stalled = Vec::new();
    for _ in 0..24 {
        let mut client = reluctant(server.address, "/sparql?query=SELECT+file").await;
        head(&mut client).await;
        stalled.push(client);
        assert_eq!(server.get("/sparql?query=ASK", &[]).await.status, 200, "beside {}", stalled.len());
    }
    let metrics = server.get("/metrics", &[]).await.body;
    let dismissed =
        metrics.lines().find_map(|line| line.strip_prefix("pinakes_connections_dismissed_total "));
    let dismissed: usize = dismissed.and_then(|number| number.parse().ok()).expect("a number");
    assert!(dismissed >= 16, "{dismissed}");
}

#[tokio::test]
async fn what_waits_to_be_taken_has_a_bound() {
    let one = Unsent { memory: FILE, disk: FILE };
    for (query, other) in [("much", "file"), ("file", "much")] {
        let server = start(|settings| {
            settings.limits.unsent = one;
            settings.limits.grace = Duration::from_secs(3600);
        })
        .await;
        let path = format!("/sparql?query=SELECT+{query}");
        let mut first = reluctant(server.address, &path).await;
        head(&mut first).await;
        let second = server.get(&path, &[]).await;
        assert_eq!((second.status, second.header("retry-after")), (503, Some("5")), "{query}");
        assert!(second.body.contains("wait to be taken"), "{}", second.body);
        assert_eq!(server.get("/sparql?query=ASK", &[]).await.status, 200, "a short answer has room");
        let mut third = reluctant(server.address, &format!("/sparql?query=SELECT+{other}")).await;
        assert_eq!(head(&mut third).await as u64, FILE, "what lies elsewhere has room");
        drop(first);
        let mut again = server.get(&path, &[]).await.status;
        for _ in 0..100 {
            if again == 200 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
            again = server.get(&path, &[]).await.status;
        }
        assert_eq!(again, 200, "{query}");
    }
}

#[tokio::test]
async fn headers_and_addresses_have_an_end() {
    let server = start(|_| {}).await;
    let long = format!("GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: {}\r\n\r\n", "x".repeat(1_000_000));
    assert_eq!(raw(server.address, long.as_bytes()).await.status, 431);
    let many = format!("GET / HTTP/1.1\r\nHost: localhost\r\n{}\r\n", "X-Many: 1\r\n".repeat(5000));
    assert_eq!(raw(server.address, many.as_bytes()).await.status, 431);
    let address = format!("/sparql?query={}", "x".repeat(25 * 1024));
    assert_eq!(server.get(&address, &[]).await.status, 414);
    let endless = "x".repeat(1_000_000);
    assert!(matches!(raw(server.address, endless.as_bytes()).await.status, 400 | 414 | 431));
    assert_eq!(server.get("/health", &[]).await.status, 200);
}

#[tokio::test]
async fn odd_requests_are_refused_and_harm_nothing() {
    let server = start(|_| {}).await;
    for (request, statuses) in [
        ("GET /health HTTP/1.1\r\nConnection: close\r\n\r\n", &[400][..]),
        ("GET /health HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n", &[400]),
        ("GET /health HTTP/1.0\r\n\r\n", &[200]),
        (
            "GET http://elsewhere.example/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
            &[421],
        ),
        (
            "GET http://library.example/health HTTP/1.1\r\nHost: elsewhere\r\nConnection: close\r\n\r\n",
            &[200],
        ),
        ("OPTIONS * HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", &[204]),
        ("CONNECT a.example:80 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", &[400, 421]),
        ("BREW /sparql HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", &[405]),
        ("GET /health HTTP/2.0\r\nHost: localhost\r\n\r\n", &[0, 400, 505]),
        ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", &[0, 400, 505]),
        ("\u{0}\u{1}\u{2}\r\n\r\n", &[400]),
        ("GET /health HTTP/1.1\nHost: localhost\nConnection: close\n\n", &[200, 400]),
    ] {
        let status = raw(server.address, request.as_bytes()).await.status;
        assert!(statuses.contains(&status), "{status} for {request}");
    }
    assert!(server.get("/metrics", &[]).await.body.contains("pinakes_panics_total 0"));
}

#[tokio::test]
async fn requests_in_a_row_are_answered_in_a_row() {
    let server = start(|_| {}).await;
    let two = "GET /sparql?query=ASK+1 HTTP/1.1\r\nHost: localhost\r\n\r\nGET /sparql?query=ASK+2 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    let answers = raw(server.address, two.as_bytes()).await.body;
    let first = answers.find("ASK 1|").expect("the first");
    let second = answers.find("ASK 2|").expect("the second");
    assert!(first < second);
}

/// What two servers in a row could cut differently is not cut at all.
#[tokio::test]
async fn nothing_is_smuggled() {
    let server = start(|_| {}).await;
    let hidden = "GET /sparql?query=ASK+smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n";
    for (shape, body) in [
        ("Content-Length: 6\r\nTransfer-Encoding: chunked", "0\r\n\r\n"),
        ("Transfer-Encoding: chunked\r\nContent-Length: 5", "0\r\n\r\n"),
        ("Content-Length: 0\r\nContent-Length: 5", "12345"),
        ("Content-Length: 0, 5", "12345"),
        ("Content-Length: +5", "12345"),
        ("Content-Length: 0x5", "12345"),
        ("Content-Length: -1", ""),
        ("Content-Length : 5", "12345"),
        ("Transfer-Encoding: chunked, identity", "0\r\n\r\n"),
        ("Transfer-Encoding: xchunked", "0\r\n\r\n"),
        ("Transfer-Encoding: chunked\r\n", "0 \r\nx\r\n\r\n"),
        ("Transfer-Encoding:\r\n chunked", "0\r\n\r\n"),
        ("Transfer-Encoding: chunked", "-1\r\n\r\n"),
        ("Transfer-Encoding: chunked", "ffffffffffffffffff\r\n\r\n"),
    ] {
        // One handler reads its body, the other one does not.
        for line in ["POST /health", "POST /sparql"] {
            let kind = "Content-Type: application/sparql-query";
            let request =
                format!("{line} HTTP/1.1\r\nHost: localhost\r\n{kind}\r\n{shape}\r\n\r\n{body}{hidden}");
            let answer = raw(server.address, request.as_bytes()).await;
            let all = format!("{}{}", answer.head, answer.body);
            assert!(!all.contains("smuggled"), "{line} {shape}: {all}");
            assert!(all.matches("HTTP/1.1 ").count() <= 1, "{line} {shape}: {all}");
        }
    }
    // The same in good shape is two requests, or this test would prove nothing.
    let kind = "Content-Type: application/sparql-query\r\nTransfer-Encoding: chunked";
    let last = hidden.replace("Host: localhost", "Host: localhost\r\nConnection: close");
    let good =
        format!("POST /sparql HTTP/1.1\r\nHost: localhost\r\n{kind}\r\n\r\n3\r\nASK\r\n0\r\n\r\n{last}");
    assert!(raw(server.address, good.as_bytes()).await.body.contains("ASK smuggled|"));
}

#[tokio::test]
async fn a_query_ends_when_its_client_hangs_up() {
    let server = start(|_| {}).await;
    for round in 1..=3 {
        let mut client = TcpStream::connect(server.address).await.expect("connected");
        client
            .write_all(b"GET /sparql?query=SELECT+hang HTTP/1.1\r\nHost: localhost\r\n\r\n")
            .await
            .expect("sent");
        assert!(soon(|| server.catalogue.hanging.load(Ordering::SeqCst) == round).await);
        assert_eq!(server.catalogue.dropped.load(Ordering::SeqCst), round - 1);
        drop(client);
        assert!(soon(|| server.catalogue.dropped.load(Ordering::SeqCst) == round).await, "round {round}");
    }
    let metrics = server.get("/metrics", &[]).await.body;
    assert!(metrics.contains("pinakes_requests_total{route=\"/sparql\",status=\"499\"} 3"), "{metrics}");
}

#[tokio::test]
async fn a_stop_finishes_what_is_under_way() {
    let mut server = start(|_| {}).await;
    let mut idle = TcpStream::connect(server.address).await.expect("connected");
    let mut client = TcpStream::connect(server.address).await.expect("connected");
    client
        .write_all(b"GET /sparql?query=SELECT+slow HTTP/1.1\r\nHost: localhost\r\n\r\n")
        .await
        .expect("sent");
    assert!(soon(|| server.catalogue.hanging.load(Ordering::SeqCst) == 1).await);
    server.tell_to_stop();
    let answer = read(&mut client).await;
    assert_eq!((answer.status, answer.body.as_str()), (200, "slow"));
    assert_eq!(read(&mut idle).await.status, 0, "who only waited is let go");
    assert!(server.stop().await, "nothing was left");
    assert!(TcpStream::connect(server.address).await.is_err(), "nobody listens");
}

#[tokio::test]
async fn a_stop_does_not_wait_for_ever() {
    let mut server = start(|settings| settings.limits.stop_time = Duration::from_millis(200)).await;
    let mut client = TcpStream::connect(server.address).await.expect("connected");
    client
        .write_all(b"GET /sparql?query=SELECT+hang HTTP/1.1\r\nHost: localhost\r\n\r\n")
        .await
        .expect("sent");
    assert!(soon(|| server.catalogue.hanging.load(Ordering::SeqCst) == 1).await);
    assert!(!server.stop().await);
}

#[tokio::test]
async fn writers_may_send_more_than_others() {
    let server = start(|_| {}).await;
    let (writer, _) = server.token(Role::Writer, None);
    let bearer = format!("Authorization: Bearer {writer}");
    let spaces = format!("<http://a> <http://p> 1 .{}", " ".repeat(500_000));
    let put = "PUT /graph-store?default";
    assert_eq!(server.ask(put, &["Content-Type: text/turtle", &bearer], &spaces).await.status, 201);
    assert_eq!(server.ask(put, &["Content-Type: text/turtle"], &spaces).await.status, 413);
}
