//! Killed at random moments, a command that is run again ends where it would have ended.
//!
//! The moments are spread over the time that the undisturbed command takes, one in each
//! equal part of it, and seeded. What a catalogue says is compared by its canonical export.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod support;

use pinakes::catalogue::Catalogue;
use pinakes::config::Home;
use pinakes::pipeline::{Session, Unwatched};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};
use support::{CATALOGUE, Desk, close, marc, spawn};

/// Kills that one catalogue goes through before its command may end.
const KILLS_IN_A_ROW: usize = 5;

/// Random numbers, the same every time.
struct Dice(u64);

impl Dice {
    /// From 0 to 1.
    fn roll(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f64 / (1 << 24) as f64
    }
}

/// Runs `command` on copies of a prepared catalogue, kills it `kills` times in all, and
/// compares every end with that of the undisturbed run.
#[track_caller]
fn check_kills(desk: &Desk, command: &str, kills: usize, seed: u64) {
    desk.run(&format!("mv {CATALOGUE} prepared && cp -r prepared undisturbed")).ok();
    let begun = Instant::now();
    desk.run(&format!("{command} --catalogue undisturbed")).ok();
    let mut span = begun.elapsed();
    let expected = hash(desk, "undisturbed");
    let mut dice = Dice(seed);
    let mut killed = 0;
    for attempt in 0.. {
        assert!(attempt < 4 * kills, "of {killed} kills too many came too late");
        if killed == kills {
            break;
        }
        desk.run(&format!("rm -rf {CATALOGUE} && cp -r prepared {CATALOGUE}")).ok();
        for row in 0..KILLS_IN_A_ROW.min(kills - killed) {
            // What is left to do is less each time.
            let part = (killed as f64 + dice.roll()) / kills as f64;
            match kill_after(desk, command, span.mul_f64(part / (row + 1) as f64)) {
                None => killed += 1,
                Some(lasted) => {
                    // The machine has less to do than it had before: aim earlier.
                    span = span.min(lasted);
                    break;
                }
            }
        }
        desk.run(command).ok();
        assert_eq!(hash(desk, CATALOGUE), expected, "after {killed} kills");
        check_no_leavings(&desk.path(CATALOGUE));
    }
    desk.run("pinakes verify").ok();
}

/// Starts the command and kills it after a while. Says how long it took when it ended before.
fn kill_after(desk: &Desk, command: &str, moment: Duration) -> Option<Duration> {
    let mut arguments = command.split(' ');
    assert_eq!(arguments.next(), Some("pinakes"));
    let mut process = desk.pinakes();
    process.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = spawn(&mut process);
    let begun = Instant::now();
    while begun.elapsed() < moment {
        if let Some(status) = child.try_wait().unwrap() {
            assert!(status.success(), "`{command}` ended with {status}");
            return Some(begun.elapsed());
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    let status = child.wait().unwrap();
    assert!(status.success() || status.code().is_none(), "`{command}` ended with {status}");
    status.success().then(|| begun.elapsed())
}

fn hash(desk: &Desk, catalogue: &str) -> String {
    let line = desk.run(&format!("pinakes export --canonical --output /dev/null -c {catalogue}")).ok().text();
    assert_eq!(line.split(' ').next().map(str::len), Some(64), "{line}");
    line
}

fn check_no_leavings(catalogue: &Path) {
    assert!(!catalogue.join("store.old").exists());
    for entry in std::fs::read_dir(catalogue.join("store")).unwrap() {
        let name = entry.unwrap().file_name().to_string_lossy().into_owned();
        assert!(!name.starts_with("bulk-"), "{name} was left behind");
    }
}

/// S0.11: "Process killed with SIGKILL at random points 20 times; a supervisor-style rerun
/// finishes with the same final graph (isomorphic) as an uninterrupted run" — here: a first
/// import, killed 20 times. The graphs hold no blank nodes, so equal text is isomorphism.
#[test]
fn s0_11_an_import_killed_at_random_moments_ends_as_if_undisturbed() {
    let desk = Desk::new();
    desk.write("many.mrc", marc::many(0..2000, 1));
    check_kills(&desk, "pinakes import --source many many.mrc", 20, 11);
}

/// S0.11: "Process killed with SIGKILL at random points 20 times; a supervisor-style rerun
/// finishes with the same final graph (isomorphic) as an uninterrupted run" — here: an import
/// that changes, adds and withdraws records of an earlier one.
#[test]
fn s0_11_a_replacing_import_killed_at_random_moments_ends_as_if_undisturbed() {
    let desk = Desk::new();
    desk.write("many.mrc", marc::many(0..900, 1));
    desk.run("pinakes import --source many many.mrc").ok();
    desk.write("many.mrc", [marc::many(300..1200, 2), marc::many(600..660, 3)].concat());
    check_kills(&desk, "pinakes import --source many --replace many.mrc", 8, 12);
}

/// S0.11: "Process killed with SIGKILL at random points 20 times; a supervisor-style rerun
/// finishes with the same final graph (isomorphic) as an uninterrupted run" — here: making
/// the store again from the archive.
#[test]
fn s0_11_a_rebuild_killed_at_random_moments_ends_as_if_undisturbed() {
    let desk = Desk::new();
    desk.write("many.mrc", marc::many(0..900, 1));
    desk.run("pinakes import --source many many.mrc").ok();
    desk.write("many.mrc", marc::many(300..1200, 2));
    desk.run("pinakes import --source many --replace many.mrc").ok();
    check_kills(&desk, "pinakes rebuild", 8, 13);
}

/// A rebuild that was killed is finished by whoever comes next, the merged catalogue included: nobody
/// is answered from a store that is half made.
#[test]
fn whoever_comes_after_a_killed_rebuild_finds_all_of_it() {
    let desk = Desk::new();
    desk.write("many.mrc", marc::many(0..150, 1));
    desk.run("pinakes import --source one many.mrc && pinakes import --source two many.mrc").ok();
    desk.run("pinakes resolve").ok();
    let expected = hash(&desk, CATALOGUE);
    desk.run(&format!("mv {CATALOGUE} prepared && cp -r prepared {CATALOGUE}")).ok();
    let begun = Instant::now();
    desk.run("pinakes rebuild").ok();
    let span = begun.elapsed();
    for part in [0.15, 0.3, 0.45, 0.6, 0.75, 0.9] {
        desk.run(&format!("rm -rf {CATALOGUE} && cp -r prepared {CATALOGUE}")).ok();
        kill_after(&desk, "pinakes rebuild", span.mul_f64(part));
        desk.run("pinakes query -e 'ASK {}'").ok();
        assert_eq!(hash(&desk, CATALOGUE), expected, "killed after {part} of the time");
        desk.run("pinakes verify").ok();
    }
}

/// A kill at any moment of resolving leaves the last complete state, and the next run ends where an
/// undisturbed one does — here: the first master.
#[test]
fn a_first_resolution_killed_at_random_moments_ends_as_if_undisturbed() {
    let desk = Desk::new();
    desk.write("many.mrc", marc::many(0..300, 1));
    desk.run("pinakes import --source one many.mrc && pinakes import --source two many.mrc").ok();
    check_kills(&desk, "pinakes resolve", 8, 14);
}

/// The same, for a master that follows changes.
#[test]
fn a_later_resolution_killed_at_random_moments_ends_as_if_undisturbed() {
    let desk = Desk::new();
    desk.write("many.mrc", marc::many(0..300, 1));
    desk.run("pinakes import --source one many.mrc && pinakes import --source two many.mrc").ok();
    desk.run("pinakes resolve").ok();
    desk.write("many.mrc", marc::many(100..400, 2));
    desk.run("pinakes import --source two --replace many.mrc").ok();
    check_kills(&desk, "pinakes resolve", 12, 15);
}

/// A writer killed between its first batch and the note of it leaves statements in a store
/// whose position is 0. A record that had another version by then once kept both.
#[test]
fn statements_written_but_not_noted_do_not_linger() {
    let desk = Desk::new();
    desk.store_records();
    desk.write("twice.mrc", [marc::book("1", "Faust"), marc::book("1", "Hamlet")].concat());
    desk.run("pinakes import --source shop twice.mrc").ok();
    let expected = desk.canonical(CATALOGUE);
    let home = Home::open(&desk.path(CATALOGUE)).unwrap();
    let session = Session::write(home.clone(), &mut Unwatched).unwrap();
    let versions = session.archive.record("shop", "1").unwrap().unwrap().versions;
    let faust = session.archive.entry(versions[0].sequence).unwrap().unwrap();
    let name = home.graphs.record("shop", "1");
    let quads =
        session.triples(&faust).unwrap().into_iter().map(|triple| triple.in_graph(name.clone())).collect();
    close(session);
    std::fs::remove_dir_all(home.store()).unwrap();
    let catalogue = Catalogue::open(&home.directory, home.graphs.clone(), None).unwrap();
    catalogue.backend().add(quads).unwrap();
    catalogue.backend().flush().unwrap();
    close(catalogue);
    assert_eq!(desk.canonical(CATALOGUE), expected);
    desk.run("pinakes verify").ok();
}
