//! Many clients at once that do not do what clients should.

use super::support::server::{Server, token};
use super::support::{BASE, Desk, marc};
use socket2::{Domain, Socket, Type};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// One of the figures of a server.
fn figure(server: &Server, name: &str) -> u64 {
    let metrics = server.get("/metrics", &[]).is(200).text();
    let line = metrics.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.and_then(|value| value.parse().ok()).unwrap_or_else(|| panic!("no {name} in {metrics}"))
}

/// Hundredths of a second that the server's own process has computed, and kilobytes that it holds.
fn spent(server: &Server) -> (u64, u64) {
    let file = |name: &str| std::fs::read_to_string(format!("/proc/{}/{name}", server.id())).unwrap();
    let stat = file("stat");
    // The name of the program, in brackets, is the second field; the times are 14 and 15.
    let mut after = stat.rsplit_once(')').unwrap().1.split_whitespace().skip(11);
    let ticks = || after.next().and_then(|ticks| ticks.parse::<u64>().ok()).unwrap();
    let ticks: u64 = std::iter::repeat_with(ticks).take(2).sum();
    let status = file("status");
    let held = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    (ticks, held.trim().trim_end_matches("kB").trim().parse().unwrap())
}

/// Whoever asks for the name of a large graph and leaves once left a whole copy of it behind to be made.
#[test]
fn clients_that_hang_up_on_large_graphs_leave_no_work() {
    const EACH: usize = 100;
    let desk = Desk::new();
    desk.write("books.mrc", marc::many(0..500, 0));
    desk.run("pinakes import --quiet --source shop books.mrc").ok();
    desk.run("pinakes resolve --quiet").ok();
    let writer = token(&desk, "--role writer");
    let server = Server::start(&desk, &[]);
    let numbers: Vec<String> = (0..100_000).map(|number| number.to_string()).collect();
    let text = format!("INSERT DATA {{ GRAPH <{BASE}mine> {{ <a:s> <a:p> {} }} }}", numbers.join(","));
    server.update(&writer, &text).unwrap().is(204);
    let paths = ["/resolution", "/provenance", "/mine"];
    for path in paths {
        assert!(server.get(path, &[("Accept", "text/turtle")]).is(200).body.len() < 10_000, "{path}");
    }
    let (computed, held) = spent(&server);
    for path in paths {
        let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nAccept: text/turtle\r\n\r\n");
        for _ in 0..EACH {
            let mut client = TcpStream::connect(server.authority()).unwrap();
            client.write_all(request.as_bytes()).unwrap();
            drop(client);
        }
    }
    // Nothing is left to do when the connections are closed and nothing is computed any more.
    let patience = Instant::now() + Duration::from_secs(10);
    let mut last = spent(&server).0;
    loop {
        std::thread::sleep(Duration::from_millis(200));
        let now = spent(&server).0;
        if now - last <= 2 && figure(&server, "pinakes_connections") <= 1 {
            break;
        }
        assert!(Instant::now() < patience, "the server computes on for nobody");
        last = spent(&server).0;
    }
    let (after, holds) = spent(&server);
    // A copy of the largest graph took half a second, and some fifty megabytes.
    assert!(after - computed < 1000, "{} hundredths of a second for {} requests", after - computed, 3 * EACH);
    assert!(holds < held + 100_000, "{held} kB before, {holds} kB after");
    server.get("/provenance", &[]).is(200);
}

/// A client that has asked for an answer, whose kernel takes little of it.
fn reluctant(address: SocketAddr, request: &str) -> std::io::Result<TcpStream> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
    socket.set_recv_buffer_size(4096)?;
    socket.connect(&address.into())?;
    let mut stream = TcpStream::from(socket);
    stream.set_read_timeout(Some(Duration::from_secs(3)))?;
    stream.write_all(request.as_bytes())?;
    Ok(stream)
}

/// Three hundred who ask for three megabytes, take the first bytes, and come back when they are cut off
/// or have enough of it.
#[test]
fn stalled_readers_who_come_back_keep_nobody_out() {
    const READERS: usize = 300;
    /// More than there are slots beyond those that have to be free.
    const STALLED: usize = 60;
    let desk = Desk::new();
    let writer = token(&desk, "--role writer");
    let server = Server::start(&desk, &[]);
    let filling = "x".repeat(400);
    let rows: String = (0..7500).map(|row| format!("<a:s{row}> <a:p> '{filling}{row}' .\n")).collect();
    server.update(&writer, &format!("INSERT DATA {{ GRAPH <a:g> {{ {rows} }} }}")).unwrap().is(204);
    let path = "/graph-store?graph=a:g&format=nt";
    assert!(server.get(path, &[]).is(200).body.len() > 3_000_000);
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n");
    let address: SocketAddr = server.authority().parse().unwrap();
    let (is_over, begun) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..READERS {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    let Ok(mut stream) = reluctant(address, &request) else { continue };
                    let mut first = [0; 12];
                    let is_answered = stream.read_exact(&mut first).is_ok() && first.ends_with(b"200");
                    begun.fetch_add(usize::from(is_answered), Ordering::Relaxed);
                    for _ in 0..if is_answered { 20 } else { 3 } {
                        if !is_over.load(Ordering::Relaxed) {
                            std::thread::sleep(Duration::from_millis(100));
                        }
                    }
                }
            });
        }
        // A panic must not leave the readers behind, for whom the scope waits.
        let probed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let patience = Instant::now() + Duration::from_secs(240);
            while begun.load(Ordering::Relaxed) < STALLED {
                assert!(Instant::now() < patience, "{} readers are served", begun.load(Ordering::Relaxed));
                std::thread::sleep(Duration::from_millis(50));
            }
            for probe in 0..20 {
                let answer = server.get("/sparql?query=ASK%20%7B%7D", &[]);
                assert_eq!(answer.status, 200, "probe {probe}: {}", answer.text());
                let free = figure(&server, "pinakes_slots_free");
                assert!(free > 200, "probe {probe}: {free} slots are free");
                std::thread::sleep(Duration::from_millis(100));
            }
        }));
        is_over.store(true, Ordering::Relaxed);
        if let Err(failed) = probed {
            std::panic::resume_unwind(failed);
        }
    });
    assert!(begun.load(Ordering::Relaxed) > STALLED);
}
