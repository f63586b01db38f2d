//! The hostile sets that come over a network: SSRF addresses, compressed bodies, robots.txt and
//! OAI-PMH answers, each served by a loopback server to the binary or to the fetcher.

use super::Score;
use crate::repository::Canary;
use pinakes::fetch::{Access, Fetcher, Options, Transport, robots};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Where every address that must not be asked leads.
const CANARY: u16 = 19_999;
/// What one file may take.
const SECONDS: u64 = 10;

pub fn run(folder: &Path, score: &mut Score) {
    let canary = Canary::start(CANARY);
    ssrf(&folder.join("ssrf/urls.txt"), score);
    compressed(&folder.join("compress"), score);
    rules_for_robots(&folder.join("robots"), score);
    oai(&folder.join("oai"), score);
    score.check(canary.connections() == 0, || format!("{} connections to the canary", canary.connections()));
}

fn fetcher() -> Fetcher {
    Fetcher::new(Options::default()).unwrap()
}

/// Every address is refused, before anything is connected to.
fn ssrf(file: &Path, score: &mut Score) {
    let Ok(text) = std::fs::read_to_string(file) else { return };
    let (fetcher, mut count) = (fetcher(), 0);
    let access = Access { respect_robots: false, ..Access::default() };
    for url in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let url = url.split('\t').next().unwrap_or(url);
        let begun = Instant::now();
        let refused = match fetcher.open(&access, url, Arc::new(AtomicBool::new(false))) {
            Ok(session) => session.get(url).is_err(),
            Err(_) => true,
        };
        score.check(refused, || format!("ssrf: `{url}` was fetched"));
        score.check(begun.elapsed().as_secs() < 60, || format!("ssrf: `{url}` took too long"));
        count += 1;
    }
    println!("ssrf: {count} addresses");
}

/// Answers every request with the same bytes, and says how many there were.
fn serve(head: String, body: Vec<u8>) -> (u16, std::thread::JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let thread = std::thread::spawn(move || {
        // A connection that sends `QUIT` ends the server.
        for stream in listener.incoming() {
            let Ok(stream) = stream else { break };
            if !answer(stream, &head, &body) {
                break;
            }
        }
    });
    (port, thread)
}

fn answer(mut stream: TcpStream, head: &str, body: &[u8]) -> bool {
    let _ = stream.set_read_timeout(Some(Duration::from_secs(5)));
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut line = String::new();
    let mut first = String::new();
    while reader.read_line(&mut line).is_ok_and(|read| read > 0) {
        if first.is_empty() {
            first = line.clone();
        }
        if line.trim().is_empty() {
            break;
        }
        line.clear();
    }
    if first.starts_with("QUIT") {
        return false;
    }
    let head =
        format!("HTTP/1.1 200 OK\r\n{head}Content-Length: {}\r\nConnection: close\r\n\r\n", body.len());
    let _ = stream.write_all(head.as_bytes());
    let _ = stream.write_all(body);
    let _ = stream.flush();
    let _ = stream.shutdown(std::net::Shutdown::Write);
    let _ = reader.read(&mut [0; 1]);
    true
}

fn quit(port: u16, thread: std::thread::JoinHandle<()>) {
    if let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) {
        let _ = stream.write_all(b"QUIT\r\n\r\n");
    }
    let _ = thread.join();
}

/// A body is whole and within its limits, or it is a fault.
fn compressed(folder: &Path, score: &mut Score) {
    let Ok(files) = std::fs::read_dir(folder) else { return };
    let mut count = 0;
    for file in files.filter_map(Result::ok).map(|entry| entry.path()) {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let encoding = match file.extension().and_then(|extension| extension.to_str()) {
            Some("gz") => "gzip",
            Some("zlib") => "deflate",
            _ => continue,
        };
        let bytes = std::fs::read(&file).unwrap();
        let (port, thread) = serve(format!("Content-Encoding: {encoding}\r\n"), bytes);
        let url = format!("http://127.0.0.1:{port}/");
        let mut access = Access { allow_private: vec![format!("127.0.0.1:{port}")], ..Access::default() };
        access.respect_robots = false;
        access.retries.attempts = 1;
        let begun = Instant::now();
        let session = fetcher().open(&access, &url, Arc::new(AtomicBool::new(false))).unwrap();
        let got = session.get(&url);
        let good = name.contains("concatenated") || name.contains("trailing") || name.contains("double");
        let small = got.as_ref().map_or(true, |answer| answer.body.len() <= access.limits.body);
        score.check(small, || format!("compress: `{name}` grew beyond the limit"));
        score.check(got.is_err() || good, || format!("compress: `{name}` was taken"));
        score.check(begun.elapsed().as_secs() < SECONDS, || format!("compress: `{name}` took too long"));
        quit(port, thread);
        count += 1;
    }
    println!("compress: {count} bodies");
}

/// No robots.txt makes us fall over, and a delay is never longer than a minute.
fn rules_for_robots(folder: &Path, score: &mut Score) {
    let Ok(files) = std::fs::read_dir(folder) else { return };
    let mut count = 0;
    for file in files.filter_map(Result::ok).map(|entry| entry.path()) {
        let name = file.display().to_string();
        let rules = robots::Rules::parse(&std::fs::read(&file).unwrap());
        let delay = rules.delay().unwrap_or_default();
        score.check(delay <= Duration::from_secs(60), || format!("robots: `{name}` delays by {delay:?}"));
        count += 1;
    }
    println!("robots: {count} files");
}

/// Every answer is harvested without a crash or a hang, within memory, and twice alike.
fn oai(folder: &Path, score: &mut Score) {
    let Ok(files) = std::fs::read_dir(folder) else { return };
    let pinakes = env!("CARGO_BIN_EXE_pinakes");
    let mut count = 0;
    for file in files.filter_map(Result::ok).map(|entry| entry.path()) {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !name.ends_with(".xml") && !name.ends_with(".html") {
            continue;
        }
        let (port, thread) = serve("Content-Type: text/xml\r\n".to_owned(), std::fs::read(&file).unwrap());
        let outcomes: Vec<(Option<i32>, String)> = (0..2)
            .map(|_| {
                let directory = tempfile::tempdir().unwrap();
                let home = directory.path().join("catalogue");
                let home = home.to_str().unwrap();
                let call = |arguments: &[&str]| {
                    Command::new(pinakes).args(["-c", home]).args(arguments).output().unwrap()
                };
                call(&["init", "--base", "https://catalogue.example/"]);
                let url = format!("http://127.0.0.1:{port}/oai");
                call(&[
                    "source",
                    "add",
                    "repo",
                    "name=r",
                    &format!("website={url}"),
                    "technique=oai-pmh",
                    &format!("oai.url={url}"),
                    "oai.prefix=oai_dc",
                    &format!("access.allow_private=127.0.0.1:{port}"),
                    "access.retries.attempts=1",
                ]);
                let begun = Instant::now();
                let ran = call(&["harvest", "--quiet", "--json"]);
                let code = ran.status.code();
                score.check(matches!(code, Some(0..=2)), || {
                    format!("oai: `{name}` ended with {:?}", ran.status)
                });
                score.check(begun.elapsed().as_secs() < SECONDS, || format!("oai: `{name}` took too long"));
                let export = call(&["export", "--canonical", "--quiet", "--format", "nquads"]);
                let text = String::from_utf8_lossy(&export.stdout).into_owned();
                score.check(!text.contains("root:"), || format!("oai: `{name}` read a file of this machine"));
                (code, text)
            })
            .collect();
        score.check(outcomes.first() == outcomes.last(), || format!("oai: `{name}` gives two outcomes"));
        quit(port, thread);
        count += 1;
    }
    println!("oai: {count} answers, each harvested twice");
}
