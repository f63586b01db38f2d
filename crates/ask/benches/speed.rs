//! Microseconds for one record: all shipped queries, here and by spareval.
//!
//! `cargo bench -p pinakes-ask`. The records are made up as in the tests, and the same every time.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a benchmark prints, and stops at what it does not expect"
)]

#[path = "../tests/support/mod.rs"]
mod support;

use oxrdf::{Dataset, NamedNode, Triple};
use pinakes_ask::{Graph, Questions};
use spareval::{QueryEvaluator, QueryResults};
use std::hint::black_box;
use std::time::Instant;
use support::records::record;
use support::shipped;

#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Records that are read in one round.
const RECORDS: u64 = 400;
/// Graphs that spareval is asked of at once.
const TOGETHER: usize = 64;
const VARIABLES: [&str; 5] = ["graph", "entity", "feature", "value", "key"];

fn main() {
    let records: Vec<(NamedNode, Vec<Triple>)> = (0..RECORDS).map(record).collect();
    let triples: usize = records.iter().map(|(_, triples)| triples.len()).sum();
    println!("{RECORDS} records, {} triples each", triples / records.len());
    let shipped = shipped();
    let questions = Questions::new(shipped.iter().map(|(_, query)| query.clone()).collect());
    let mut graph = Graph::new();

    let loading = fastest(60, || {
        for (name, triples) in &records {
            black_box(questions.read(&mut graph, name, triples));
        }
    });
    println!("{:8.2} µs  loading", loading);
    let mut rows = 0;
    for (number, (file, _)) in shipped.iter().enumerate() {
        let time = fastest(20, || {
            for (name, triples) in &records {
                let mut reading = questions.read(&mut graph, name, triples);
                reading.answer(number, &mut |row| rows += take(|variable| row.get(variable))).unwrap();
            }
        });
        let name = file.iter().rev().take(2).collect::<Vec<_>>();
        println!("{:8.2} µs  {}/{}", time - loading, name[1].display(), name[0].display());
    }
    let ask = fastest(60, || {
        for (name, triples) in &records {
            let mut reading = questions.read(&mut graph, name, triples);
            for number in 0..shipped.len() {
                reading.answer(number, &mut |row| rows += take(|variable| row.get(variable))).unwrap();
            }
        }
    });
    println!("{ask:8.2} µs  all");
    let spareval = fastest(2, || {
        for some in records.chunks(TOGETHER) {
            let mut dataset = Dataset::new();
            for (name, triples) in some {
                for triple in triples {
                    dataset.insert(triple.as_ref().in_graph(name));
                }
            }
            let evaluator = QueryEvaluator::new();
            for (_, query) in &shipped {
                let QueryResults::Solutions(solutions) = evaluator.prepare(query).execute(&dataset).unwrap()
                else {
                    panic!("no SELECT")
                };
                for solution in solutions {
                    let solution = solution.unwrap();
                    rows += take(|variable| solution.get(variable).map(Into::into));
                }
            }
        }
    });
    println!(
        "{spareval:8.2} µs  all by spareval, {TOGETHER} records at once: {:.0} times as long",
        spareval / ask
    );
    black_box(rows);
}

/// Reads a row as the caller would.
fn take<'t>(get: impl Fn(&str) -> Option<oxrdf::TermRef<'t>>) -> usize {
    VARIABLES.iter().filter_map(|variable| get(variable)).map(black_box).count()
}

/// The time for one record in the fastest round, in microseconds.
fn fastest(rounds: u32, mut work: impl FnMut()) -> f64 {
    (0..rounds)
        .map(|_| {
            let begin = Instant::now();
            work();
            begin.elapsed().as_secs_f64() * 1e6 / RECORDS as f64
        })
        .fold(f64::INFINITY, f64::min)
}
