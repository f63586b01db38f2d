//! SELECT queries that are compiled once and asked of many small graphs, one at a time.
//!
//! Resolving asks the same few queries of every record graph. A general evaluator spends most of
//! its time on getting ready: it plans the query, builds a dataset and moves terms about. Here the
//! queries are compiled before the first record, a graph of a hundred triples is numbered and
//! indexed within microseconds, and rows borrow the terms of the triples that they come from.
//!
//! The answers are those of spareval for a dataset with an empty default graph and the one named
//! graph, taken as a set of rows: a row may come more than once. A query with something that is not
//! [supported](Questions::obstacle) is left to spareval, so only its speed differs.
//!
//! ```
//! use oxrdf::{Literal, NamedNode, Triple};
//! use pinakes_ask::{Graph, Questions};
//! use spargebra::SparqlParser;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let query = SparqlParser::new()
//!     .parse_query("SELECT ?key WHERE { GRAPH ?g { ?s <http://example.org/p> ?o } BIND(LCASE(?o) AS ?key) }")?;
//! let questions = Questions::new(vec![query]);
//! let name = NamedNode::new("http://example.org/record")?;
//! let property = NamedNode::new("http://example.org/p")?;
//! let triples = [Triple::new(name.clone(), property, Literal::from("Walden"))];
//!
//! let mut graph = Graph::new();
//! let mut keys = Vec::new();
//! questions.read(&mut graph, &name, &triples).answer(0, &mut |row| {
//!     keys.extend(row.get("key").map(|term| term.to_string()));
//! })?;
//! assert_eq!(keys, ["\"walden\""]);
//! # Ok(())
//! # }
//! ```

mod compile;
mod compute;
mod evaluate;
mod expression;
mod fallback;
mod graph;
mod plan;
mod questions;
mod regexes;
mod term;
mod text;
mod value;

pub use graph::Graph;
pub use questions::{Questions, Reading, Row};
pub use spareval::QueryEvaluationError;
