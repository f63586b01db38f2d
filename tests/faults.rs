//! The disk fails under the running program, and what was acknowledged is there afterwards.
//!
//! `strace` lets one system call fail, or all from one on: a full disk (`ENOSPC`) or a broken one
//! (`EIO`), while archive, store, index and snapshots are written. The program must say so and end,
//! never crash, and the same command on a healthy disk ends where an undisturbed one does. A small
//! `tmpfs` gives what `strace` cannot: writes of which a part succeeds. Faults under the archive
//! alone, at every single operation, are in `src/archive/faults.rs`; kills are in `tests/kill.rs`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod support;

use std::time::{Duration, Instant};
use support::server::{Server, token};
use support::{CATALOGUE, Desk, Ran, marc};

/// System calls that change files, by what they do.
const WRITES: &str = "write,pwrite64,pwritev,writev";
const SYNCS: &str = "fsync,fdatasync,sync_file_range";
const SIZES: &str = "ftruncate,fallocate";
const NAMES: &str = "rename,renameat,renameat2,link,linkat,symlink,symlinkat,mkdir,mkdirat,unlink,unlinkat";

/// Runs a command line of ours in which some system calls fail. `when` counts them in each thread.
fn with_fault(desk: &Desk, calls: &str, error: &str, when: &str, line: &str) -> Ran {
    let strace = desk.run("command -v strace");
    assert_eq!(strace.code, Some(0), "strace is not there; run scripts/setup test");
    desk.run(&format!(
        "strace -f -qq --seccomp-bpf -o trace.log -e trace={calls} -e inject={calls}:error={error}:when={when} {line}"
    ))
}

/// Whether a system call failed in the last command run by [`with_fault`].
fn was_felt(desk: &Desk) -> bool {
    desk.run("grep -q INJECTED trace.log").code == Some(0)
}

/// Fails unless the program ended by itself and, if it gave up and could still write, said why.
#[track_caller]
fn ended_well(ran: &Ran, can_speak: bool, what: &str) {
    let said = ran.complaint();
    assert!(matches!(ran.code, Some(0..=2)), "{what}: ended with {:?}: {said}", ran.code);
    assert!(!said.contains("panicked"), "{what}: {said}");
    let is_silent = ran.code == Some(2) && !said.contains("error");
    assert!(!(is_silent && can_speak), "{what}: gave up without a word: {said}");
}

/// Runs `command` on copies of a prepared catalogue while the disk fails, then again on a healthy one,
/// and compares with the undisturbed run; `ask` is true before and after. Each kind of system call
/// fails once or from then on, at the first, the second and so on, with growing steps, until none is
/// left that could fail.
#[track_caller]
fn check_faults(desk: &Desk, command: &str, ask: &str) {
    desk.run(&format!("mv {CATALOGUE} prepared && cp -r prepared undisturbed")).ok();
    desk.run(&format!("{command} --catalogue undisturbed")).ok();
    let expected = desk.canonical("undisturbed");
    for (calls, errors) in [
        (WRITES, ["ENOSPC", "EIO"]),
        (SYNCS, ["EIO", "ENOSPC"]),
        (SIZES, ["ENOSPC", "EIO"]),
        (NAMES, ["ENOSPC", "EIO"]),
    ] {
        let (mut felt, mut gave_up) = (0, 0);
        for (error, goes_on) in errors.into_iter().zip([true, false]) {
            let mut place = 1;
            loop {
                let when = format!("{place}{}", if goes_on { "+" } else { "" });
                let what = format!("`{command}`, {error} at call {when} of {calls}");
                desk.run(&format!("rm -rf {CATALOGUE} && cp -r prepared {CATALOGUE}")).ok();
                let ran = with_fault(desk, calls, error, &when, command);
                // Of a fault that met standard error nobody can speak.
                ended_well(&ran, desk.run("grep -q 'write(2,.*INJECTED' trace.log").code == Some(1), &what);
                if !was_felt(desk) {
                    assert_eq!(ran.code, Some(0), "{what}: {}", ran.complaint());
                    break;
                }
                felt += 1;
                gave_up += usize::from(ran.code == Some(2));
                // Readers are not harmed by what a writer left.
                let asked = desk.run(&format!("pinakes query -e 'ASK {{ {ask} }}'")).ok().text();
                assert!(asked.contains("yes"), "{what}: {ask} is not there: {asked}");
                let again = desk.run(command);
                assert_eq!(again.code, Some(0), "{what}, again: {}", again.complaint());
                assert_eq!(desk.canonical(CATALOGUE), expected, "{what}");
                desk.run("pinakes verify").ok();
                place += 1 + place / 3;
            }
        }
        assert!(felt >= 4 && gave_up >= 2, "{calls}: {felt} failed, and {gave_up} times the command gave up");
    }
}

/// The disk is full or broken while records are imported.
#[test]
fn an_import_on_a_failing_disk_says_so_and_loses_nothing() {
    let desk = Desk::new();
    desk.write("many.mrc", marc::many(0..150, 1));
    check_faults(&desk, "pinakes import --quiet --source many many.mrc", "");
}

/// The same while entries are merged and indexed for the first time.
#[test]
fn a_resolution_on_a_failing_disk_says_so_and_loses_nothing() {
    let desk = Desk::new();
    desk.write("many.mrc", marc::many(0..60, 1));
    desk.run("pinakes import --source one many.mrc && pinakes import --source two many.mrc").ok();
    // What somebody wrote before there was a master is there whatever becomes of the first one.
    let writer = token(&desk, "--role writer");
    let server = Server::start(&desk, &[]);
    server.update(&writer, &insert(1)).unwrap().is(204);
    assert_eq!(server.stop(), Some(0));
    check_faults(&desk, "pinakes resolve", "<urn:s1> <urn:p> 1");
}

/// A store that cannot be read is an error with advice, not a crash: Oxigraph frees the messages of
/// RocksDB by the allocator of Rust, which must be that of RocksDB.
#[test]
fn a_damaged_store_is_told_and_made_again() {
    for name in ["CURRENT", "MANIFEST"] {
        let desk = Desk::new();
        desk.write("one.mrc", marc::book("1", "Walden"));
        desk.run("pinakes import --source shop one.mrc").ok();
        let expected = desk.canonical(CATALOGUE);
        desk.run(&format!("for file in catalogue/store/{name}*; do echo garbage > $file; done")).ok();
        for command in ["query -e 'ASK {}'", "status", "verify", "import --source shop one.mrc"] {
            let told = desk.run(&format!("pinakes {command}")).exits(2).complaint();
            assert!(told.contains("`pinakes rebuild`"), "{name}, {command}: {told}");
        }
        desk.run("pinakes rebuild").ok();
        assert_eq!(desk.canonical(CATALOGUE), expected);
    }
}

/// Runs a command on a disk that has room for a part of what it writes, then gives it room and runs it
/// again. The disk is mounted in a namespace, so nobody has to be root.
#[track_caller]
fn check_small_disk(desk: &Desk, prepared: &str, command: &str) {
    let size = |folder: &str| desk.run(&format!("du -sk {folder} | cut -f 1")).ok().text().trim().to_owned();
    desk.run(&format!("rm -rf undisturbed && cp -r {prepared} undisturbed")).ok();
    desk.run(&format!("{command} --catalogue undisturbed")).ok();
    let expected = desk.canonical("undisturbed");
    let (before, after) = (size(prepared), size("undisturbed"));
    let (before, after): (u64, u64) = (before.parse().unwrap(), after.parse().unwrap());
    // What is written in the meantime counts as well, and some of it goes again.
    let whole = after.saturating_sub(before).max(before / 2);
    let mut gave_up = 0;
    for percent in [3, 20, 45, 70, 90] {
        let room = (whole * percent / 100).max(100);
        let script = format!(
            "mount -t tmpfs -o size=2g small disk && cp -r {prepared} disk/catalogue && \
             mount -o remount,size=$(($(du -sk disk | cut -f 1) + {room}))k disk || exit 99; \
             {command} --catalogue disk/catalogue >&2; echo first $?; \
             pinakes query --catalogue disk/catalogue -e 'ASK {{}}' >&2; echo asked $?; \
             mount -o remount,size=2g disk; \
             {command} --catalogue disk/catalogue >&2; echo again $?; \
             pinakes verify --catalogue disk/catalogue >&2; echo verified $?; \
             pinakes export --canonical --catalogue disk/catalogue --output found.nq >&2; echo exported $?"
        );
        desk.write("small.sh", script);
        desk.run("rm -rf disk found.nq && mkdir disk").ok();
        let ran = desk.run("unshare --map-root-user --mount sh small.sh");
        let what = format!("`{command}` with room for {percent} %: {}{}", ran.text(), ran.complaint());
        assert_ne!(ran.code, Some(99), "a small disk cannot be mounted: {what}");
        let told = ran.text();
        let codes: Vec<&str> = told.lines().filter_map(|line| line.split(' ').nth(1)).collect();
        assert!(matches!(codes[0], "0" | "2"), "{what}");
        assert!(codes[1] == "0" || codes[1] == "2", "{what}");
        assert_eq!(codes[2..], ["0", "0", "0"], "{what}");
        assert!(!ran.complaint().contains("panicked"), "{what}");
        gave_up += usize::from(codes[0] == "2");
        assert_eq!(String::from_utf8(desk.read("found.nq")).unwrap(), expected, "{what}");
    }
    assert!(gave_up > 0, "`{command}` never ran out of room");
}

/// Full in the middle of a write, while records are taken in, merged, indexed, and made again.
#[test]
fn a_disk_too_small_costs_what_was_refused_and_no_more() {
    let desk = Desk::new();
    desk.write("many.mrc", marc::many(0..400, 1));
    desk.run(&format!("mv {CATALOGUE} empty")).ok();
    check_small_disk(&desk, "empty", "pinakes import --quiet --source many many.mrc");
    desk.run("cp -r undisturbed records").ok();
    check_small_disk(&desk, "records", "pinakes resolve");
    desk.run("cp -r undisturbed merged").ok();
    check_small_disk(&desk, "merged", "pinakes index rebuild");
    check_small_disk(&desk, "merged", "pinakes rebuild");
}

/// Bytes of the archive that cannot be read are not taken for bytes that are not there: the index was
/// lost, so all segments are read again, and one reading fails.
#[test]
fn an_archive_that_cannot_be_read_is_not_cut() {
    let desk = Desk::new();
    desk.write("many.mrc", marc::many(0..300, 1));
    desk.run("pinakes import --quiet --source many many.mrc").ok();
    let expected = desk.canonical(CATALOGUE);
    let segment = "catalogue/archive/segments/00000001.zst";
    let whole = desk.read(segment);
    for when in ["1", "2+", "3"] {
        desk.run(&format!("rm -f {CATALOGUE}/archive/index.redb")).ok();
        let ran = desk.run(&format!(
            "strace -f -qq -o trace.log -P $PWD/{segment} -e trace=read,pread64,ftruncate \
             -e inject=read,pread64:error=EIO:when={when} pinakes verify"
        ));
        assert!(was_felt(&desk), "nothing failed");
        ran.exits(2);
        assert_eq!(desk.read(segment), whole, "reading {when} failed");
    }
    assert_eq!(desk.canonical(CATALOGUE), expected);
    desk.run("pinakes verify").ok();
}

/// "Permission denied" alone helps nobody: the message names the file. The system refuses to open each
/// of them, so that the test is the same for root.
#[test]
fn a_file_that_may_not_be_opened_is_named() {
    let desk = Desk::new();
    desk.write("one.mrc", marc::book("1", "Walden"));
    desk.run("pinakes import --source shop one.mrc").ok();
    for file in [
        "one.mrc",
        "catalogue/pinakes.toml",
        "catalogue/pinakes.lock",
        "catalogue/archive/index.redb",
        "catalogue/archive/segments/00000001.zst",
        "catalogue/store/CURRENT",
    ] {
        let told = desk.run(&format!(
            "strace -f -qq -o trace.log -P {file} -P $PWD/{file} -e trace=open,openat \
             -e inject=open,openat:error=EACCES pinakes import --source shop one.mrc"
        ));
        assert!(was_felt(&desk), "{file}: nothing was refused");
        let told = told.exits(2).complaint();
        assert!(told.contains("ermission denied") && told.contains(&format!("`{file}`")), "{file}: {told}");
    }
    desk.run("pinakes import --source shop one.mrc").ok();
}

fn insert(n: usize) -> String {
    format!("INSERT DATA {{ <urn:s{n}> <urn:p> {n} }}")
}

const COUNT: &str = "SELECT (COUNT(*) AS ?n) { ?s <urn:p> ?o }";

/// A change that is archived and cannot be shown to readers yet is accepted, not refused: whoever is
/// told "nothing was changed" sends it again. It is seen as soon as the disk works, without another
/// change, and a rebuild has it, too.
#[test]
fn a_change_that_cannot_be_published_is_accepted_and_seen_later() {
    let desk = Desk::new();
    let writer = token(&desk, "--role writer");
    // What is there is published first, so that the first link is turned by the process that writes.
    Server::start(&desk, &[]).stop();
    let fault = "inject=symlink,symlinkat:error=ENOSPC:when=1";
    let program = [
        "strace",
        "-D",
        "-f",
        "-qq",
        "--seccomp-bpf",
        "-o",
        "/dev/null",
        "-e",
        "trace=symlink,symlinkat",
        "-e",
        fault,
    ];
    let server = Server::start_under(&desk, &program, &[]);
    let accepted = server.update(&writer, &insert(1)).unwrap().is(202);
    assert!(accepted.text().contains("archived"), "{}", accepted.text());
    let until = Instant::now() + Duration::from_secs(30);
    while server.count(COUNT) == 0 {
        assert!(Instant::now() < until, "nobody ever saw the change");
        std::thread::sleep(Duration::from_millis(100));
    }
    server.update(&writer, &insert(2)).unwrap().is(204);
    assert_eq!(server.count(COUNT), 2);
    drop(server);
    let before = desk.canonical(CATALOGUE);
    desk.run("pinakes rebuild").ok();
    assert_eq!(desk.canonical(CATALOGUE), before);
}

/// The disk fails while a server archives, writes and publishes what it is told: it says what it kept
/// and what it did not, and goes on.
#[test]
fn a_failing_disk_under_a_server_costs_what_was_refused_and_no_more() {
    let segment = "write -P catalogue/archive/segments/00000001.zst";
    let faults: [(&str, &str, &[&str]); 8] = [
        ("link,linkat", "ENOSPC", &["1", "20..30", "45"]),
        ("symlink,symlinkat", "ENOSPC", &["1..2"]),
        // The first is the server's own, which cannot start without it.
        ("mkdir,mkdirat", "ENOSPC", &["6", "8..9"]),
        ("rename,renameat,renameat2", "EIO", &["1", "2", "4..6"]),
        ("fsync,fdatasync", "EIO", &["1", "4", "9..12", "20"]),
        ("pwrite64", "ENOSPC", &["2", "7..9", "20"]),
        ("ftruncate,fallocate", "ENOSPC", &["1..3"]),
        (segment, "ENOSPC", &["1", "2..3"]),
    ];
    for (calls, error, when) in faults
        .iter()
        .flat_map(|(calls, error, places)| places.iter().map(move |when| (*calls, *error, *when)))
    {
        let what = format!("{error} at call {when} of {calls}");
        let (calls, place) =
            calls.split_once(" -P ").map_or((calls, None), |(calls, place)| (calls, Some(place)));
        let desk = Desk::new();
        desk.write("one.mrc", marc::book("1", "Walden"));
        desk.run("pinakes import --source shop one.mrc && pinakes resolve").ok();
        let writer = token(&desk, "--role writer");
        Server::start(&desk, &[]).stop();
        let (trace, inject) = (format!("trace={calls}"), format!("inject={calls}:error={error}:when={when}"));
        let mut program = vec![
            "strace",
            "-D",
            "-f",
            "-qq",
            "--seccomp-bpf",
            "-o",
            "trace.log",
            "-e",
            &trace,
            "-e",
            &inject,
        ];
        let place = place.map(|place| desk.path(place));
        if let Some(place) = &place {
            program.extend(["-P", place.to_str().unwrap()]);
        }
        let server = Server::start_under(&desk, &program, &[]);
        let (mut kept, mut refused) = (Vec::new(), Vec::new());
        for n in 0..8 {
            let answer = server.update(&writer, &insert(n)).unwrap();
            match answer.status {
                202 | 204 => kept.push(n),
                503 if answer.text().contains("nothing was changed") => refused.push(n),
                503 if answer.text().contains("not known") => {}
                status => panic!("{what}: {status} {}", answer.text()),
            }
        }
        assert!(was_felt(&desk), "{what}: nothing failed");
        assert!(!kept.is_empty(), "{what}: nothing was ever kept");
        assert_eq!(server.stop(), Some(0), "{what}");
        let server = Server::start(&desk, &[]);
        server.update(&writer, &insert(8)).unwrap().is(204);
        let found = |n: &usize| server.count(&format!("SELECT (COUNT(*) AS ?n) {{ <urn:s{n}> ?p ?o }}")) == 1;
        assert!(kept.iter().all(found), "{what}: not all of {kept:?} are there");
        assert!(!refused.iter().any(found), "{what}: some of {refused:?} are there");
        drop(server);
        let before = desk.canonical(CATALOGUE);
        desk.run("pinakes rebuild").ok();
        assert_eq!(desk.canonical(CATALOGUE), before, "{what}");
    }
}

/// The children of a process, by what they were started as.
fn child(of: u32, command: &str) -> u32 {
    let until = Instant::now() + Duration::from_secs(30);
    loop {
        for entry in std::fs::read_dir("/proc").unwrap().flatten() {
            let Ok(id) = entry.file_name().to_string_lossy().parse::<u32>() else { continue };
            let read = |file: &str| std::fs::read_to_string(entry.path().join(file)).unwrap_or_default();
            let is_child =
                read("stat").rsplit(')').next().and_then(|rest| rest.split(' ').nth(2)?.parse().ok())
                    == Some(of);
            if is_child && read("cmdline").split('\0').any(|word| word == command) {
                return id;
            }
        }
        assert!(Instant::now() < until, "{of} has no child `{command}`");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn kill(process: u32) {
    let told = std::process::Command::new("kill").args(["-9", &process.to_string()]).status();
    assert!(told.unwrap().success());
}

/// The process that writes is killed again and again: the server goes on, what it acknowledged or
/// accepted is there, and what it refused with "nothing was changed" is not.
#[test]
fn the_writing_process_may_be_killed_at_any_moment() {
    let desk = Desk::new();
    let writer = token(&desk, "--role writer");
    let server = Server::start(&desk, &[]);
    server.update(&writer, &insert(0)).unwrap().is(204);
    let (mut kept, mut refused) = (vec![0], Vec::new());
    let mut numbers = 1..;
    for round in 0..20_u64 {
        let first = numbers.next().unwrap();
        server.update(&writer, &insert(first)).unwrap().is(204);
        kept.push(first);
        let victim = child(server.id(), "writer");
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(round * 37 % 200));
                kill(victim);
            });
            for next in numbers.by_ref().take(3) {
                let answer = server.update(&writer, &insert(next)).unwrap();
                match answer.status {
                    202 | 204 => kept.push(next),
                    503 if answer.text().contains("nothing was changed") => refused.push(next),
                    503 if answer.text().contains("not known") => {}
                    status => panic!("{status}: {}", answer.text()),
                }
            }
        });
    }
    let there: Vec<usize> = {
        let until = Instant::now() + Duration::from_secs(30);
        loop {
            let found = server.query("SELECT ?o { ?s <urn:p> ?o }");
            let rows = found["results"]["bindings"].as_array().unwrap();
            let there: Vec<usize> =
                rows.iter().map(|row| row["o"]["value"].as_str().unwrap().parse().unwrap()).collect();
            if kept.iter().all(|n| there.contains(n)) || Instant::now() > until {
                break there;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    };
    assert!(kept.iter().all(|n| there.contains(n)), "kept {kept:?}, there {there:?}");
    assert!(!refused.iter().any(|n| there.contains(n)), "refused {refused:?}, there {there:?}");
    drop(server);
    let before = desk.canonical(CATALOGUE);
    desk.run("pinakes verify").ok();
    desk.run("pinakes rebuild").ok();
    assert_eq!(desk.canonical(CATALOGUE), before);
}

/// An update whose pattern never ends is ended with its process; others are written afterwards, and
/// the server can be stopped while it lasts.
#[test]
fn an_update_that_never_ends_is_ended_alone() {
    let desk = Desk::new();
    let writer = token(&desk, "--role writer");
    let tables: String = ["a", "b", "c", "d", "e"]
        .map(|name| {
            let values: Vec<String> = (0..1000).map(|n| n.to_string()).collect();
            format!("VALUES ?{name} {{ {} }} ", values.join(" "))
        })
        .concat();
    let endless =
        format!("INSERT {{ <urn:s> <urn:p> ?n }} WHERE {{ SELECT (COUNT(*) AS ?n) {{ {tables} }} }}");
    let server = Server::start(&desk, &["--update-seconds", "1"]);
    std::thread::scope(|scope| {
        let stopped = scope.spawn(|| server.update(&writer, &endless).unwrap());
        let waiting = scope.spawn(|| server.update(&writer, &insert(1)).unwrap());
        let stopped = stopped.join().unwrap().is(503);
        assert!(stopped.text().contains("longer than 1 s"), "{}", stopped.text());
        waiting.join().unwrap().is(204);
    });
    assert_eq!(server.count(COUNT), 1);
    drop(server);
    let server = Server::start(&desk, &[]);
    let id = server.id();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let _ = server.update(&writer, &endless);
        });
        child(id, "writer");
        let told = std::process::Command::new("kill").args(["-TERM", &id.to_string()]).status();
        assert!(told.unwrap().success());
    });
    assert_eq!(server.wait(), Some(0));
}

/// Texts on which parsers recurse end the process that reads them at most, never the server.
#[test]
fn texts_that_nest_or_chain_end_no_server() {
    let desk = Desk::new();
    let writer = token(&desk, "--role writer");
    let server = Server::start(&desk, &[]);
    let put = [("Content-Type", "application/ld+json"), ("Authorization", &format!("Bearer {writer}"))];
    let chain: String = (0..20_000).map(|n| format!("\"t{n}\":\"t{}\",", n + 1)).collect();
    let chain = format!(
        "{{\"@context\":{{{chain}\"t20000\":\"http://x.example/p\"}},\"@id\":\"http://x.example/s\",\"t0\":\"v\"}}"
    );
    let answer = server.ask("PUT", "/graph-store?graph=urn:g", &put, chain.as_bytes());
    assert!(matches!(answer.status, 201 | 400 | 413 | 503), "{} {}", answer.status, answer.text());
    let insert = |pattern: String| format!("INSERT {{ <urn:a> <urn:b> <urn:c> }} WHERE {{ {pattern} }}");
    for pattern in [
        "VALUES ?a{1}".repeat(20_000),
        "{}".repeat(100_000),
        "GRAPH ?g{}".repeat(30_000),
        format!("#\r{}{}", "{".repeat(100_000), "}".repeat(100_000)),
        format!("#\r BIND({}1{} AS ?x)", "(".repeat(100_000), ")".repeat(100_000)),
        format!("#\r BIND({}1 AS ?x)", "- ".repeat(100_000)),
    ] {
        let text = insert(pattern);
        let answer = server.update(&writer, &text).unwrap();
        // Many empty groups are one, and may be evaluated.
        assert!(matches!(answer.status, 204 | 400 | 413 | 503), "{} {}", answer.status, &text[..80]);
    }
    server.update(&writer, "INSERT DATA { <urn:s1> <urn:p> 1 }").unwrap().is(204);
    assert_eq!(server.count(COUNT), 1);
}
