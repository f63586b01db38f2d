//! A little OAI-PMH repository to try Pinakes on: the one the tests harvest.
//!
//! Prints its base URL on the first line and serves until it is ended. The request log is at
//! `/log`, and `POST /control/change?ids=1,2,3` (also `delete`, `restore`, `add?count=5`)
//! changes what it holds.

#![allow(clippy::print_stdout, reason = "the URL is its output")]

#[path = "../tests/repository/mod.rs"]
mod repository;

use clap::Parser;
use repository::{DeletedRecord, Granularity, Planned, Repository};
use std::io::Write;
use std::time::Duration;

/// Serve made-up records over OAI-PMH on a loopback port
#[derive(Parser)]
struct Arguments {
    /// What the records are made from
    #[arg(long, default_value_t = 42)]
    seed: u64,
    #[arg(long, default_value_t = 100)]
    records: usize,
    /// How many of the records are deleted
    #[arg(long, default_value_t = 0)]
    deleted: usize,
    /// Records a page
    #[arg(long, default_value_t = 25)]
    page: usize,
    /// How long every page takes
    #[arg(long, default_value_t = 0)]
    delay_ms: u64,
    /// 0 takes a free one
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Metadata prefixes, of oai_dc, marc21, marcxml and mods
    #[arg(long, value_delimiter = ',', default_value = "oai_dc,marc21")]
    prefixes: Vec<String>,
    /// Datestamps in days instead of seconds
    #[arg(long)]
    days: bool,
    /// Deleted records vanish without a word
    #[arg(long)]
    no_deletions: bool,
    /// Lists without completeListSize and cursor
    #[arg(long)]
    no_totals: bool,
    #[arg(long)]
    gzip: bool,
    /// The system's time instead of a clock that stands still
    #[arg(long)]
    system_clock: bool,
    /// Render all pages of the first prefix beforehand, for benches
    #[arg(long)]
    prerendered: bool,
    /// What goes wrong: NAME[:RECORD][@WHEN], with WHEN `always`, `3`, `from3` or `every3`
    #[arg(long)]
    fault: Vec<Planned>,
}

fn main() -> std::io::Result<()> {
    let arguments = Arguments::parse();
    let prefixes: Vec<&str> = arguments.prefixes.iter().map(String::as_str).collect();
    let mut repository = Repository::seeded(arguments.seed)
        .records(arguments.records)
        .deleted(arguments.deleted)
        .page(arguments.page)
        .prefixes(&prefixes)
        .totals(!arguments.no_totals)
        .delay(Duration::from_millis(arguments.delay_ms));
    if arguments.days {
        repository = repository.granularity(Granularity::Day);
    }
    if arguments.no_deletions {
        repository = repository.deleted_record(DeletedRecord::No);
    }
    if arguments.gzip {
        repository = repository.gzip();
    }
    if arguments.system_clock {
        repository = repository.system_clock();
    }
    if arguments.prerendered {
        repository = repository.prerendered(prefixes[0]);
    }
    for Planned { fault, when, verb } in arguments.fault {
        repository = repository.fault_on(verb, fault, when);
    }
    let serving = repository.serve_on(arguments.port);
    println!("{}", serving.url());
    std::io::stdout().flush()?;
    serving.run();
    Ok(())
}
