//! The real and hostile record sets, against the binary users run.
//!
//! `make conformance DATA=FOLDER` says which sets it found there, what it measured and what
//! went wrong. Nothing of the folder is part of this project; without it there is nothing to
//! run. Real sets: no good record is refused, and field by field we read what pymarc reads.
//! Hostile sets: no crash, no hang, bounded memory, neighbours kept, nothing leaves the
//! machine, the same outcome twice.

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

use std::path::PathBuf;
use std::process::ExitCode;

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
    for (set, run) in
        [("records", records::run as fn(&std::path::Path, &mut Score)), ("hostile", hostile::run)]
    {
        let folder = data.join(set);
        if folder.is_dir() {
            println!("\n== {set}: {}", folder.display());
            run(&folder, &mut score);
            if set == "hostile" {
                network::run(&folder, &mut score);
            }
        } else {
            println!("\n== {set}: not found");
        }
    }
    println!();
    for failure in &score.failed {
        println!("failed: {failure}");
    }
    println!("{} passed, {} failed", score.passed, score.failed.len());
    if score.failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
