//! Each of the faults that servers are known for, and what is right then.

use super::repository::{Canary, Fault, Repository, Serving, Verb};
use super::support::{Desk, spawn};
use super::{desk_with, records};
use std::process::Stdio;
use std::sync::Mutex;

const RECORDS: usize = 60;

/// What a harvest is to make of a fault.
enum Right {
    /// It asks again and has everything, in so many requests for pages at most.
    Completes { requests: usize },
    /// It gives up and says why, in so many requests at most; when the server is well again,
    /// it goes on.
    GivesUp { saying: &'static str, requests: usize },
}

use Right::{Completes, GivesUp};

/// The table of HTTP faults, row by row. Six pages are six requests.
fn right(fault: Fault) -> Right {
    match fault {
        Fault::ServerError => Completes { requests: 9 },
        Fault::RetryAfter
        | Fault::RetryAfterDate
        | Fault::TimeoutBody
        | Fault::Trickle
        | Fault::TruncatedGzip
        | Fault::WrongGzip
        | Fault::ContentLengthShort
        | Fault::ContentLengthLong
        | Fault::ConnectionReset
        | Fault::Empty200 => Completes { requests: 7 },
        Fault::RetryAfterHuge => GivesUp { saying: "503", requests: 1 },
        Fault::TooManyRequests => GivesUp { saying: "429", requests: 4 },
        Fault::RedirectLoop => GivesUp { saying: "redirect", requests: 11 },
        Fault::RedirectToLoopback => GivesUp { saying: "private", requests: 1 },
        Fault::RedirectToFile => GivesUp { saying: "file", requests: 1 },
        Fault::RedirectSchemeDowngrade => GivesUp { saying: "http", requests: 1 },
        // A page that is too large may be had in parts: the window is halved a few times.
        Fault::InfiniteBody | Fault::GzipBomb => GivesUp { saying: "limit", requests: 5 },
        Fault::HeaderFlood => GivesUp { saying: "header", requests: 1 },
        // The first page has records; those after it bring none that is new.
        _ => GivesUp { saying: "nothing new", requests: 6 },
    }
}

#[test]
fn every_http_fault_is_handled_as_it_should_be() {
    let canary = Canary::start(0);
    let left = Mutex::new(Fault::HTTP.to_vec());
    // Most of them wait most of the time.
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                while let Some(fault) = { left.lock().unwrap().pop() } {
                    handle(fault, &canary);
                }
            });
        }
    });
    assert_eq!(canary.connections(), 0);
}

fn handle(fault: Fault, canary: &Canary) {
    let mut repository = Repository::seeded(21)
        .records(RECORDS)
        .page(10)
        .trickle(std::time::Duration::from_millis(500))
        .redirect_to(&canary.url())
        .fault(fault);
    let secure = fault == Fault::RedirectSchemeDowngrade;
    if secure {
        repository = repository.tls();
    }
    let serving = repository.serve();
    let desk = desk_with(&serving);
    desk.write("authority.pem", if secure { serving.certificate() } else { "" });
    let (code, said, memory) = harvest(&desk);
    let asked = serving.requests(Verb::ListRecords).len();
    // What a harvest without faults takes, and a body at its limit.
    assert!(memory < 400, "{fault:?}: {memory} MB");
    match right(fault) {
        Completes { requests } => {
            assert_eq!(code, Some(0), "{fault:?}: {said}");
            assert!(asked <= requests, "{fault:?}: {asked} requests");
        }
        GivesUp { saying, requests } => {
            assert!(matches!(code, Some(1 | 2)), "{fault:?}: {code:?}, {said}");
            assert!(said.contains("source-failed") || said.contains("list-incomplete"), "{fault:?}: {said}");
            assert!(said.to_lowercase().contains(saying), "{fault:?}: {said}");
            assert!(asked <= requests, "{fault:?}: {asked} requests");
            let status = desk.run("pinakes harvest status").ok().text();
            assert!(
                status.contains("repo: failed") || status.contains("repo: incomplete"),
                "{fault:?}: {status}"
            );
            serving.heal();
            let (code, said, _) = harvest(&desk);
            assert_eq!(code, Some(0), "{fault:?}: {said}");
        }
    }
    assert_eq!(records(&desk), RECORDS, "{fault:?}: {said}");
    is_whole(&desk, &serving, fault);
}

/// Each record is there once, as the repository gives it.
fn is_whole(desk: &Desk, serving: &Serving, fault: Fault) {
    let query = "SELECT ?id WHERE { GRAPH ?g { ?record <https://w3id.org/pinakes#identifier> ?id } }";
    let found = desk.run(&format!("pinakes query --format csv -e '{query}'")).ok().text();
    for number in serving.numbers() {
        let id = serving.identifier(number);
        assert_eq!(found.lines().filter(|line| *line == id).count(), 1, "{fault:?}: {id}");
    }
}

/// Exit code, what was said, and the most memory in MB.
fn harvest(desk: &Desk) -> (Option<i32>, String, u64) {
    let mut command = desk.pinakes();
    command.args(["harvest"]).env("SSL_CERT_FILE", desk.path("authority.pem"));
    let mut child = spawn(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()));
    let pid = child.id();
    let mut stderr = child.stderr.take().unwrap();
    let reading = std::thread::spawn(move || {
        let mut said = String::new();
        std::io::Read::read_to_string(&mut stderr, &mut said).unwrap();
        said
    });
    let mut peak = 0;
    let status = loop {
        peak = peak.max(memory(pid));
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    };
    (status.code(), reading.join().unwrap(), peak)
}

/// The high-water mark of a process in MB, as the system keeps it.
fn memory(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let mark = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    mark.and_then(|mark| mark.trim().trim_end_matches(" kB").parse::<u64>().ok()).map_or(0, |kb| kb / 1024)
}
