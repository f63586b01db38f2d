//! `SERVICE`: what other endpoints know, in its place.
//!
//! Each clause is asked once, as a SELECT of its pattern, and its answer takes its place before the
//! evaluation begins. So a query costs as many requests as it has clauses, however many rows there
//! are to join; an endpoint that fails does so before anything is evaluated; and the optimizer knows
//! how many rows there are. An endpoint that is a variable cannot be asked this way; the standard
//! does not demand it (SPARQL 1.1 Federated Query, "SERVICE Variables", which is informative).
//!
//! With `SILENT`, whatever keeps an endpoint from answering gives one row that binds nothing.
//!
//! Who may be asked, and how, is for an [`Elsewhere`] to say: the catalogue knows no network.

use super::table::Table;
use crate::catalogue::services;
use oxrdf::{NamedNode, Variable};
use sparesults::{QueryResultsFormat, QueryResultsParser, SliceQueryResultsParserOutput};
use spargebra::Query;
use spargebra::algebra::GraphPattern;
use spargebra::term::NamedNodePattern;
use std::fmt::Display;
use std::time::{Duration, Instant};

/// Asks an endpoint a query, for so long at most. The answer is in SPARQL Query Results JSON.
pub type Elsewhere<'a> = &'a (dyn Fn(&NamedNode, &str, Duration) -> Result<Vec<u8>, Unanswered> + Sync);

/// How often one query may ask.
const REQUESTS: u32 = 32;
/// How many rows all answers to one query may have together.
const ROWS: usize = 100_000;

/// Why an endpoint gave no rows.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unanswered {
    /// It may not be asked.
    #[error("{0}")]
    Refused(String),
    /// It was asked, and what came was no answer.
    #[error("{0}")]
    Failed(String),
    /// It was asked for more than one query may have.
    #[error("{0}")]
    TooMuch(String),
}

/// What one query may still ask.
pub(super) struct Federation<'a> {
    elsewhere: Elsewhere<'a>,
    deadline: Instant,
    requests: u32,
    rows: usize,
}

impl<'a> Federation<'a> {
    /// For a query that has so much time left.
    pub fn new(elsewhere: Elsewhere<'a>, time: Duration) -> Self {
        Self { elsewhere, deadline: Instant::now() + time, requests: REQUESTS, rows: ROWS }
    }

    /// Puts an answer in the place of each `SERVICE`.
    pub fn answer(mut self, query: &mut Query) -> Result<(), Unanswered> {
        services::each(query, |pattern| {
            let GraphPattern::Service { name, inner, silent } = pattern else { return Ok(()) };
            let table = match self.ask(name, inner) {
                Err(_) if *silent => Table::unit(),
                answered => answered?,
            };
            *pattern = table.into_pattern();
            Ok(())
        })
    }

    fn ask(&mut self, name: &NamedNodePattern, inner: &mut GraphPattern) -> Result<Table, Unanswered> {
        let NamedNodePattern::NamedNode(endpoint) = name else {
            let message = format!("`SERVICE {name}` is refused: name the endpoint; a variable is not asked");
            return Err(Unanswered::Refused(message));
        };
        services::each_in(inner, |_| {
            // Whom an endpoint asks in turn is nothing that a list of ours could govern.
            let message = format!("`SERVICE` within `SERVICE <{}>` is refused", endpoint.as_str());
            Err(Unanswered::Refused(message))
        })?;
        self.requests = self.requests.checked_sub(1).ok_or_else(|| {
            Unanswered::TooMuch(format!("the query asks other endpoints more than {REQUESTS} times"))
        })?;
        let mut variables: Vec<Variable> = Vec::new();
        inner.on_in_scope_variable(|variable| variables.push(variable.clone()));
        variables.sort_unstable();
        variables.dedup();
        let select = Query::Select { dataset: None, pattern: inner.clone(), base_iri: None };
        // Half of what is left: who is kept waiting in vain can still say so, and a SILENT clause
        // still leaves time for the rest of the query.
        let time = self.deadline.saturating_duration_since(Instant::now()) / 2;
        let bytes = (self.elsewhere)(endpoint, &select.to_string(), time)?;
        self.read(endpoint, variables, &bytes)
    }

    /// Of an answer, what was asked for: an endpoint binds no other variables of the query.
    fn read(
        &mut self,
        endpoint: &NamedNode,
        variables: Vec<Variable>,
        bytes: &[u8],
    ) -> Result<Table, Unanswered> {
        let unreadable = |reason: &dyn Display| {
            Unanswered::Failed(format!("the answer of `{}` cannot be read: {reason}", endpoint.as_str()))
        };
        let parser = QueryResultsParser::from_format(QueryResultsFormat::Json);
        let parsed = parser.for_slice(bytes).map_err(|error| unreadable(&error))?;
        let SliceQueryResultsParserOutput::Solutions(solutions) = parsed else {
            return Err(unreadable(&"it is yes or no, and rows were asked for"));
        };
        let mut rows = Vec::new();
        for solution in solutions {
            let solution = solution.map_err(|error| unreadable(&error))?;
            self.rows = self.rows.checked_sub(1).ok_or_else(|| {
                let message = "other endpoints gave more than";
                Unanswered::TooMuch(format!("{message} {ROWS} rows; add a LIMIT within SERVICE"))
            })?;
            rows.push(variables.iter().map(|variable| solution.get(variable).cloned()).collect());
        }
        Ok(Table { variables, rows })
    }
}

#[cfg(test)]
mod tests;
