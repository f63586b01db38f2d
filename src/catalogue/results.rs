//! Writing the results of a query: a table for people, the W3C formats for programs.

use super::CatalogueError;
use crate::markup::Replacing;
use crate::ontology::{Prefixes, prefixes, shorten};
use crate::statements::{Writer, cannot_be_said};
use oxigraph::sparql::results::{QueryResultsFormat, QueryResultsSerializer};
use oxigraph::sparql::{QueryEvaluationError, QueryResults, QuerySolution};
use oxrdf::{NamedOrBlankNode, Term, Triple, Variable};
use oxrdfio::RdfFormat;
use rustc_hash::FxHashSet;
use std::io::{self, Write};

/// How the rows of a SELECT are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RowFormat {
    #[default]
    Table,
    Json,
    Csv,
    Tsv,
    Xml,
}

impl RowFormat {
    pub const ALL: [Self; 5] = [Self::Table, Self::Json, Self::Csv, Self::Tsv, Self::Xml];

    pub fn media_type(self) -> &'static str {
        row_syntax(self).map_or("text/plain; charset=utf-8", |syntax| syntax.media_type())
    }
}

/// How a query is to be answered.
#[derive(Debug, Clone)]
pub struct Answer {
    pub rows: RowFormat,
    /// For CONSTRUCT and DESCRIBE.
    pub graph: RdfFormat,
    /// The default graph is the union of all graphs.
    pub union: bool,
    /// More rows than this end the answer with an error.
    pub row_limit: u64,
    /// Values for variables of the query.
    pub bindings: Vec<(String, Term)>,
}

/// In which syntax these results will be written: the form of the query decides.
pub(super) fn media_type(results: &QueryResults<'_>, how: &Answer) -> &'static str {
    match results {
        QueryResults::Graph(_) => how.graph.media_type(),
        QueryResults::Boolean(_) | QueryResults::Solutions(_) => how.rows.media_type(),
    }
}

/// Writes results as they come; says how many rows or statements there were.
pub(super) fn write(
    results: QueryResults<'_>,
    how: &Answer,
    out: &mut dyn Write,
) -> Result<u64, CatalogueError> {
    match results {
        QueryResults::Boolean(value) => {
            match row_syntax(how.rows) {
                Some(format) => {
                    QueryResultsSerializer::from_format(format)
                        .serialize_boolean_to_writer(&mut *out, value)?;
                }
                None => writeln!(out, "{}", if value { "yes" } else { "no" })?,
            }
            Ok(1)
        }
        QueryResults::Graph(triples) => graph(triples, how, out),
        QueryResults::Solutions(solutions) => {
            let variables = solutions.variables().to_vec();
            let rows = solutions.map(|solution| solution.map_err(evaluation));
            match row_syntax(how.rows) {
                Some(format) => machine(&variables, rows, format, how, out),
                None => table(&variables, rows, how, out),
            }
        }
    }
}

fn graph(
    triples: impl Iterator<Item = Result<Triple, QueryEvaluationError>>,
    how: &Answer,
    out: &mut dyn Write,
) -> Result<u64, CatalogueError> {
    /// Statements looked at for the prefixes they use.
    const SAMPLE: usize = 10_000;
    let mut triples = triples.map(|triple| triple.map_err(evaluation));
    let first: Vec<Triple> = triples.by_ref().take(SAMPLE).collect::<Result<_, _>>()?;
    let mut writer = writer_for(&mut *out, how.graph, &first)?;
    let mut count = 0;
    for triple in first.into_iter().map(Ok).chain(triples) {
        count += 1;
        within(count, how)?;
        writer.triple(&triple?)?;
    }
    if writer.left_out() > 0 {
        return Err(CatalogueError::Evaluation(cannot_be_said(writer.left_out())));
    }
    writer.finish()?;
    Ok(count)
}

fn row_syntax(format: RowFormat) -> Option<QueryResultsFormat> {
    match format {
        RowFormat::Table => None,
        RowFormat::Json => Some(QueryResultsFormat::Json),
        RowFormat::Csv => Some(QueryResultsFormat::Csv),
        RowFormat::Tsv => Some(QueryResultsFormat::Tsv),
        RowFormat::Xml => Some(QueryResultsFormat::Xml),
    }
}

/// A writer with those of our prefixes that these statements use, for what people read.
pub fn writer_for<W: Write>(out: W, format: RdfFormat, triples: &[Triple]) -> io::Result<Writer<W>> {
    let mut used = FxHashSet::default();
    let mut note = |iri: &str| {
        if let Some((prefix, _)) = Prefixes::shipped().split(iri) {
            used.insert(prefix.name.clone());
        }
    };
    for triple in triples {
        note(triple.predicate.as_str());
        if let NamedOrBlankNode::NamedNode(subject) = &triple.subject {
            note(subject.as_str());
        }
        match &triple.object {
            Term::NamedNode(object) => note(object.as_str()),
            Term::Literal(literal) => note(literal.datatype().as_str()),
            _ => {}
        }
    }
    Writer::new(out, format, prefixes().filter(|(prefix, _)| used.contains(*prefix)))
}

fn within(count: u64, how: &Answer) -> Result<(), CatalogueError> {
    if count > how.row_limit {
        return Err(CatalogueError::TooManyRows(how.row_limit));
    }
    Ok(())
}

fn evaluation(error: QueryEvaluationError) -> CatalogueError {
    CatalogueError::Evaluation(error.to_string())
}

fn machine(
    variables: &[Variable],
    rows: impl Iterator<Item = Result<QuerySolution, CatalogueError>>,
    format: QueryResultsFormat,
    how: &Answer,
    out: &mut dyn Write,
) -> Result<u64, CatalogueError> {
    // Whatever the values hold, XML must be readable.
    let mut replacing;
    let out: &mut dyn Write = if format == QueryResultsFormat::Xml {
        replacing = Replacing::new(out);
        &mut replacing
    } else {
        out
    };
    let mut serializer =
        QueryResultsSerializer::from_format(format).serialize_solutions_to_writer(out, variables.to_vec())?;
    let mut count = 0;
    for row in rows {
        count += 1;
        within(count, how)?;
        serializer.serialize(&row?)?;
    }
    serializer.finish()?;
    Ok(count)
}

/// Columns as wide as the first rows need. Later rows may stick out: the table streams.
fn table(
    variables: &[Variable],
    mut rows: impl Iterator<Item = Result<QuerySolution, CatalogueError>>,
    how: &Answer,
    out: &mut dyn Write,
) -> Result<u64, CatalogueError> {
    const SAMPLE: usize = 200;
    const WIDEST: usize = 60;
    let mut first = Vec::new();
    let mut count = 0;
    for row in rows.by_ref().take(SAMPLE) {
        count += 1;
        within(count, how)?;
        first.push(cells(row?.values()));
    }
    let names: Vec<String> = variables.iter().map(|variable| variable.as_str().to_owned()).collect();
    let mut widths: Vec<usize> = names.iter().map(|name| width(name)).collect();
    for row in &first {
        for (column, cell) in widths.iter_mut().zip(row) {
            *column = (*column).max(width(cell)).min(WIDEST);
        }
    }
    line(&names, &widths, out)?;
    let rule: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
    line(&rule, &widths, out)?;
    for row in &first {
        line(row, &widths, out)?;
    }
    for row in rows {
        count += 1;
        within(count, how)?;
        line(&cells(row?.values()), &widths, out)?;
    }
    writeln!(out, "({count} {})", if count == 1 { "row" } else { "rows" })?;
    Ok(count)
}

fn cells(row: &[Option<Term>]) -> Vec<String> {
    row.iter()
        .map(|value| match value {
            None => String::new(),
            Some(Term::Literal(literal)) => {
                let text: String =
                    literal.value().chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
                match literal.language() {
                    Some(language) => format!("{text}@{language}"),
                    None => text,
                }
            }
            Some(Term::NamedNode(node)) => {
                shorten(node.as_str()).unwrap_or_else(|| format!("<{}>", node.as_str()))
            }
            Some(term) => term.to_string(),
        })
        .collect()
}

fn width(text: &str) -> usize {
    text.chars().count()
}

fn line(cells: &[String], widths: &[usize], out: &mut dyn Write) -> std::io::Result<()> {
    let mut text = String::new();
    for (cell, column) in cells.iter().zip(widths) {
        if !text.is_empty() {
            text.push_str("  ");
        }
        text.push_str(cell);
        text.extend(std::iter::repeat_n(' ', column.saturating_sub(width(cell))));
    }
    writeln!(out, "{}", text.trim_end())
}
