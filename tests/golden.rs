//! Whole records, from bytes to statements: `tests/golden/<format>/<case>/`.
//!
//! Each case is an `input.*`, the records that are read from it in the notation of rule
//! examples with everything that was noticed (`decoded.txt`), and the statements of their
//! graphs (`expected.nq`, sorted). `UPDATE_GOLDEN=1` writes the last two anew. Deleted records
//! have no graph. `build-inputs.py` makes the inputs that no editor shows.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod cases;
mod snapshot;

use oxrdf::{NamedNode, Quad};
use pinakes::archive::PayloadHash;
use pinakes::catalogue::Graphs;
use pinakes::decode::{self, Options, Piece};
use pinakes::diagnostic::Diagnostic;
use pinakes::diagnostic::render::{Style, render};
use pinakes::map::{self, ContentTypes};
use pinakes::record::{Format, Record, write_field};
use std::fmt::Write;
use std::fs;
use std::path::Path;

const BASE: &str = "https://catalogue.example/";
const SOURCE: &str = "golden";

#[test]
fn every_case_is_read_and_mapped_as_expected() {
    let mut differences = Vec::new();
    for folder in formats() {
        let format: Format = cases::name(&folder).parse().unwrap();
        for case in cases::entries(&folder) {
            check_golden(&case, format, &mut differences);
        }
    }
    snapshot::check_none(&differences);
}

#[test]
fn every_format_has_a_case() {
    let there: Vec<String> = formats().iter().map(|folder| cases::name(folder)).collect();
    for format in Format::ALL {
        assert!(there.iter().any(|name| name == format.name()), "tests/golden/{format} is missing");
    }
}

#[test]
fn the_content_of_every_case_shows_its_format() {
    for folder in formats() {
        for case in cases::entries(&folder) {
            let input = cases::input(&case);
            let found = decode::detect(&fs::read(&input).unwrap(), &cases::name(&input));
            let found = found.map(Format::name);
            assert_eq!(found, Some(cases::name(&folder).as_str()), "{}", input.display());
        }
    }
}

fn formats() -> Vec<std::path::PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    cases::entries(&folder).into_iter().filter(|path| path.is_dir()).collect()
}

fn check_golden(case: &Path, format: Format, differences: &mut Vec<String>) {
    let input = fs::read(cases::input(case)).unwrap();
    let mut decoded = String::new();
    let mut statements = Vec::new();
    for piece in decode::split(Box::new(input.as_slice()), format, "input") {
        match piece.unwrap() {
            Piece::Reject(payload, reason) => {
                writeln!(decoded, "rejected, {} bytes", payload.bytes.len()).unwrap();
                notice(&[reason], &mut decoded);
            }
            Piece::Record(payload, mut noticed) => {
                let stored = decode::stored_format(format);
                let record = decode::decode(&payload.bytes, stored, &Options::default(), &mut noticed);
                if let Some(record) = &record {
                    let id = record
                        .id
                        .clone()
                        .unwrap_or_else(|| format!("sha256-{}", PayloadHash::of(&payload.bytes)));
                    describe(record, &mut decoded);
                    if !record.withdrawn {
                        statements.extend(graph(record, &id));
                    }
                } else {
                    decoded.push_str("refused\n");
                }
                notice(&noticed, &mut decoded);
            }
        }
        decoded.push('\n');
    }
    statements.sort();
    // A field that stands twice is one node with two places; the store drops what is said again.
    statements.dedup();
    differences.extend(snapshot::difference(&case.join("decoded.txt"), &decoded));
    differences.extend(snapshot::difference(&case.join("expected.nq"), &statements.concat()));
}

fn describe(record: &Record, out: &mut String) {
    let withdrawn = if record.withdrawn { ", withdrawn" } else { "" };
    let id = record.id.as_deref().unwrap_or("without an identifier");
    writeln!(out, "record {id} ({}{withdrawn})", record.model).unwrap();
    if !record.leader().is_empty() {
        writeln!(out, "LDR {}", record.leader()).unwrap();
    }
    for field in record.fields() {
        let mut line = format!("{}{} ", "  ".repeat(field.depth()), field.tag());
        write_field(field, &mut line);
        // A line stays a line whatever the value holds.
        writeln!(out, "{}", line.trim_end().replace('\n', "⏎")).unwrap();
    }
    for triple in &record.triples {
        writeln!(out, "{triple}").unwrap();
    }
}

fn notice(noticed: &[Diagnostic], out: &mut String) {
    for diagnostic in noticed {
        let field = diagnostic.place.field.as_deref().map(|field| format!(" [{field}]")).unwrap_or_default();
        writeln!(out, "! {}{field}", render(diagnostic, Style::Short, false)).unwrap();
    }
}

/// The record's graph, as the pipeline hands it to the catalogue.
fn graph(record: &Record, id: &str) -> Vec<String> {
    let graphs = Graphs::new(BASE).unwrap();
    let content_types = ContentTypes::shipped();
    let concordances = pinakes::concordance::Concordances::shipped();
    let context = map::Context {
        graphs: &graphs,
        concordances: &concordances,
        content_types: &content_types,
        source: SOURCE,
        id,
        default_type: None,
    };
    let name: NamedNode = graphs.record(SOURCE, id);
    map::map(record, &context)
        .triples
        .into_iter()
        .map(|triple| {
            format!("{} .\n", Quad::new(triple.subject, triple.predicate, triple.object, name.clone()))
        })
        .collect()
}
