//! The real and hostile record sets, against the binary users run.
//!
//! `make conformance DATA=FOLDER` says which sets it found there, what it measured and what
//! went wrong. Nothing of the folder is part of this project; without it there is nothing to
//! run. Real sets: no good record is refused, and field by field we read what pymarc reads.
//! Hostile sets: no crash, no hang, bounded memory, neighbours kept, nothing leaves the
//! machine, the same outcome twice; the same for what comes over a network. The server: all of the
//! W3C's protocol tests, and no query that harms it. The names `records`, `hostile`, `network`,
//! `protocol` and `probe` as arguments run these parts alone.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a failed check ends the run, and the run prints what it finds"
)]

mod hostile;
mod network;
mod process;
mod records;
#[path = "../repository/mod.rs"]
mod repository;
mod serve;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Where every address of the hostile sets leads that must not be asked.
pub(crate) const CANARY: u16 = 19_999;

/// Counts what held and what did not.
#[derive(Default)]
pub(crate) struct Score {
    passed: usize,
    failed: Vec<String>,
}

impl Score {
    fn check(&mut self, holds: bool, what: impl FnOnce() -> String) {
        if holds {
            self.passed += 1;
        } else {
            let what = what();
            println!("FAILED  {what}");
            self.failed.push(what);
        }
    }
}

fn main() -> ExitCode {
    let Some(data) = std::env::var_os("PINAKES_DATA").map(PathBuf::from).filter(|path| path.is_dir()) else {
        println!("no data: run `make conformance DATA=FOLDER` with a folder of record sets");
        return ExitCode::from(2);
    };
    let mut score = Score::default();
    let parts = [
        ("records", "records", records::run as fn(&Path, &mut Score)),
        ("hostile", "hostile", hostile::run),
        ("network", "hostile", network::run),
        ("protocol", "w3c", serve::protocol),
        ("probe", "hostile", serve::probe),
    ];
    let wanted: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    for (part, set, run) in parts {
        let folder = data.join(set);
        if !wanted.is_empty() && !wanted.iter().any(|word| word == part) {
            continue;
        }
        if folder.is_dir() {
            println!("\n== {part}: {}", folder.display());
            run(&folder, &mut score);
        } else {
            println!("\n== {part}: not found");
        }
    }
    println!();
    for failure in &score.failed {
        println!("failed: {failure}");
    }
    println!("{} passed, {} failed", score.passed, score.failed.len());
    if score.failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
