//! What must not knock it over.

use super::support::server::{Server, token};
use super::support::{CATALOGUE, Desk, marc, project, spawn};
use std::io::Write;
use std::net::TcpStream;
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// 25 kills under updates: every acknowledged one is there afterwards, and none is there in part.
#[test]
fn nothing_acknowledged_is_lost_by_kills() {
    const STATEMENTS: usize = 20;
    let desk = Desk::new();
    let writer = token(&desk, "--role writer");
    let mut acknowledged: Vec<u64> = Vec::new();
    let next = AtomicU64::new(0);
    for round in 0..25_u64 {
        let server = Server::start(&desk, &[]);
        let acks = std::sync::Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    loop {
                        let n = next.fetch_add(1, Ordering::Relaxed);
                        let objects: Vec<String> = (0..STATEMENTS).map(|k| k.to_string()).collect();
                        let text = format!(
                            "INSERT DATA {{ GRAPH <http://x.example/{n}> {{ <a:s> <a:p> {} }} }}",
                            objects.join(", ")
                        );
                        match server.update(&writer, &text) {
                            Ok(answer) if answer.status == 204 => acks.lock().unwrap().push(n),
                            // Killed, or refused because it is about to be.
                            _ => break,
                        }
                    }
                });
            }
            std::thread::sleep(Duration::from_millis(400 + round * 97 % 1200));
            let told = std::process::Command::new("kill").args(["-9", &server.id().to_string()]).status();
            assert!(told.unwrap().success());
        });
        server.kill();
        acknowledged.extend(acks.into_inner().unwrap());
    }
    assert!(acknowledged.len() > 25, "{} updates in 25 rounds", acknowledged.len());
    let server = Server::start(&desk, &[]);
    let found = server.query("SELECT ?g (COUNT(*) AS ?n) { GRAPH ?g { <a:s> <a:p> ?o } } GROUP BY ?g");
    let rows = found["results"]["bindings"].as_array().unwrap();
    let mut whole = std::collections::BTreeSet::new();
    for row in rows {
        assert_eq!(row["n"]["value"], STATEMENTS.to_string(), "{} is there in part", row["g"]);
        whole.insert(row["g"]["value"].as_str().unwrap().rsplit('/').next().unwrap().parse::<u64>().unwrap());
    }
    let lost: Vec<&u64> = acknowledged.iter().filter(|n| !whole.contains(n)).collect();
    assert!(lost.is_empty(), "lost: {lost:?}");
}

/// A command that is killed anywhere, also between its writing and its publishing, and then run
/// again: the server shows what it did. A server that starts in between shows all the store has.
#[test]
fn commands_killed_beside_a_server_are_seen_once_they_end() {
    let desk = Desk::new();
    let mut server = Server::start(&desk, &[]);
    let held = "SELECT (COUNT(?r) AS ?n) { GRAPH ?g { ?r a pin:Record } }";
    let each = 60;
    for round in 0..8 {
        desk.write("more.mrc", marc::many(round * each..(round + 1) * each, 0));
        let mut import = desk.pinakes();
        import.args(["import", "--quiet", "--source", "shop", "more.mrc"]);
        let mut import = spawn(import.stdout(Stdio::null()).stderr(Stdio::null()));
        std::thread::sleep(Duration::from_millis(40 * round as u64));
        import.kill().unwrap();
        import.wait().unwrap();
        if round % 2 == 1 {
            server.kill();
            server = Server::start(&desk, &[]);
            let stored = desk.run(&format!("pinakes query --format csv -e '{held}'")).ok().number();
            assert_eq!(server.count(held), stored, "round {round}");
        }
        desk.run("pinakes import --quiet --source shop more.mrc").ok();
        assert_eq!(server.count(held), (round as u64 + 1) * each as u64, "round {round}");
    }
}

/// Queries that eat time, memory or the stack end alone; others are answered meanwhile.
#[test]
fn a_query_that_goes_too_far_ends_alone() {
    let desk = Desk::with_sample();
    let server = Server::start(&desk, &["--query-seconds", "1"]);
    let post = [("Content-Type", "application/sparql-query")];
    let ask = |text: &str| server.ask("POST", "/sparql", &post, text.as_bytes()).status;
    let nested = format!("SELECT * {{ {} ?s ?p ?o {} }}", "{".repeat(1000), "}".repeat(1000));
    assert!(matches!(ask(&nested), 400 | 413));
    std::thread::scope(|scope| {
        let heavy = scope.spawn(|| ask("SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }"));
        for _ in 0..20 {
            assert_eq!(ask("ASK {}"), 200);
        }
        assert!(matches!(heavy.join().unwrap(), 408 | 503), "a heavy query was answered");
    });
    assert_eq!(ask("SELECT * { SERVICE <http://127.0.0.1:9/> {} }"), 403);
    let long = "x".repeat(200_000);
    assert_eq!(ask(&format!("SELECT * {{ ?s ?p '{long}' }}")), 413);
    let mut huge = TcpStream::connect(server.authority()).unwrap();
    let head = "POST /sparql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/sparql-query\r\nContent-Length: 104857600\r\n\r\n";
    huge.write_all(head.as_bytes()).unwrap();
    let mut answer = [0; 12];
    std::io::Read::read_exact(&mut huge, &mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 413");
    assert_eq!(ask("ASK {}"), 200);
}

/// A thousand clients that never finish their request keep nobody else waiting.
#[test]
fn a_thousand_slow_clients_silence_nobody() {
    let desk = Desk::new();
    let server = Server::start(&desk, &[]);
    let address = server.authority().to_owned();
    let mut slow = Vec::new();
    for _ in 0..1000 {
        let Ok(mut stream) = TcpStream::connect(&address) else { continue };
        let _ = stream.write_all(b"GET /sparql?query=ASK%20%7B%7D HTTP/1.1\r\nHost: localhost\r\nX-");
        slow.push(stream);
        if slow.len() % 100 == 0 {
            assert_eq!(server.get("/sparql?query=ASK%20%7B%7D", &[]).status, 200, "after {}", slow.len());
        }
    }
    assert!(slow.len() > 900, "{} connected", slow.len());
    for _ in 0..10 {
        assert_eq!(server.get("/health", &[]).status, 200);
    }
}

/// On a disk that is full writing stops with a clear word and reading goes on; writing goes on by
/// itself when there is room again.
#[test]
fn a_full_disk_stops_writing_and_nothing_else() {
    let desk = Desk::new();
    let library = project("examples/library.mrc");
    desk.run(&format!("pinakes import --quiet --source library {}", library.display())).ok();
    let writer = token(&desk, "--role writer");
    // A small disk in the place of the catalogue's, in a namespace, so that nobody has to be root.
    let script = "cp -r catalogue copy && mount -t tmpfs -o size=96m small catalogue && \
                  cp -r copy/. catalogue && exec \"$0\" \"$@\"";
    let program = ["unshare", "--map-root-user", "--mount", "sh", "-c", script];
    let server = Server::start_under(&desk, &program, &[]);
    let disk = format!("/proc/{}/root{}", server.id(), desk.path(CATALOGUE).display());
    let insert = |n: usize| format!("INSERT DATA {{ GRAPH <http://x.example/g{n}> {{ <a:s> <a:p> {n} }} }}");
    server.update(&writer, &insert(0)).unwrap().is(204);
    desk.run(&format!("dd if=/dev/zero of={disk}/ballast bs=1M 2>/dev/null; test -s {disk}/ballast")).ok();
    // More than what is left in the last page of the archive.
    let noise: String =
        (0..100_000_u64).map(|n| format!("{:x}", n.wrapping_mul(0x9E37_79B9_7F4A_7C15))).collect();
    let refused = server.update(&writer, &format!("INSERT DATA {{ <a:s> <a:p> '{noise}' }}")).unwrap();
    assert_eq!(refused.status, 503, "{}", refused.text());
    assert!(refused.header("retry-after").is_some() && refused.text().contains("nothing was changed"));
    let graphs = "SELECT (COUNT(DISTINCT ?g) AS ?n) { GRAPH ?g { <a:s> <a:p> ?o } }";
    assert_eq!(server.count(graphs), 1, "reading does not go on");
    desk.run(&format!("rm {disk}/ballast")).ok();
    let written = (0..20).any(|_| {
        std::thread::sleep(Duration::from_millis(500));
        server.update(&writer, &insert(2)).unwrap().status == 204
    });
    assert!(written, "writing does not go on");
    assert!(server.count(graphs) >= 2);
}
