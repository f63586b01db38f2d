//! What the tests share: the shipped queries, made-up records, and both evaluators side by side.

#![allow(dead_code, reason = "each test uses a part of it")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it does not expect")]

pub mod records;

use oxrdf::{Dataset, NamedNode, Triple};
use pinakes_ask::{Graph, Questions};
use spareval::{QueryEvaluator, QueryResults};
use spargebra::{Query, SparqlParser};
use std::path::{Path, PathBuf};

/// The query files of resolving, in the order of their paths.
pub fn shipped() -> Vec<(PathBuf, Query)> {
    let mut files = Vec::new();
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../queries/resolve"), &mut files);
    files.sort();
    files
        .into_iter()
        .map(|file| {
            let text = std::fs::read_to_string(&file).unwrap();
            let query = parse(&text);
            (file, query)
        })
        .collect()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rq") {
            files.push(path);
        }
    }
}

pub fn parse(text: &str) -> Query {
    SparqlParser::new().parse_query(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The variables of a SELECT clause.
pub fn columns(query: &Query) -> Vec<String> {
    let Query::Select { pattern, .. } = query else { return Vec::new() };
    let mut columns = Vec::new();
    pattern.on_in_scope_variable(|variable| columns.push(variable.as_str().to_owned()));
    columns.sort();
    columns.dedup();
    columns
}

type Rows = Vec<Vec<Option<String>>>;

/// The rows that spareval gives, as a sorted set.
pub fn rows_of_spareval(query: &Query, name: &NamedNode, triples: &[Triple]) -> Rows {
    let columns = columns(query);
    let mut dataset = Dataset::new();
    for triple in triples {
        dataset.insert(triple.as_ref().in_graph(name));
    }
    let evaluator = QueryEvaluator::new();
    let QueryResults::Solutions(solutions) = evaluator.prepare(query).execute(&dataset).unwrap() else {
        panic!("no SELECT")
    };
    let rows = solutions.map(|solution| {
        let solution = solution.unwrap();
        columns.iter().map(|column| solution.get(column.as_str()).map(ToString::to_string)).collect()
    });
    sorted(rows.collect())
}

/// The rows that are given here, as a sorted set.
pub fn rows_of_ask(
    questions: &Questions,
    graph: &mut Graph,
    query: (usize, &Query),
    name: &NamedNode,
    triples: &[Triple],
) -> Rows {
    let columns = columns(query.1);
    let mut rows = Vec::new();
    questions
        .read(graph, name, triples)
        .answer(query.0, &mut |row| {
            rows.push(columns.iter().map(|column| row.get(column).map(|term| term.to_string())).collect());
        })
        .unwrap();
    sorted(rows)
}

fn sorted(mut rows: Rows) -> Rows {
    rows.sort();
    rows.dedup();
    rows
}
