//! What does `pin:search` mean in a SPARQL query?
//!
//! ```sparql
//! ?entry pin:search "words" .
//! ?entry pin:search [ pin:query "words" ; pin:field "title" ; pin:expand true ; pin:limit 20 ; pin:score ?score ] .
//! ```
//!
//! No store holds such statements. [`rewrite`] takes them out of the query's algebra, asks the index
//! once for each, and puts what it answers in their place as `VALUES (?entry ?score)`, before what
//! else stands in the same basic graph pattern, so that evaluation starts from the hits. It stands
//! there as any other part of a query does: in `OPTIONAL`, `UNION`, `GRAPH`, sub-queries and
//! `FILTER EXISTS`. Everything else is left as it was, `SERVICE` included. What comes out can be
//! written as text and parsed again.

mod asked;

use super::document::Field;
use crate::ontology::{pin, xsd};
use asked::Asked;
use oxrdf::{Literal, NamedNode, Variable};
use rustc_hash::FxHashMap;
use spargebra::algebra::{AggregateExpression, Expression, GraphPattern, OrderExpression};
use spargebra::term::{GroundTerm, NamedNodePattern, TermPattern, TriplePattern};
use spargebra::{GraphUpdateOperation, Query, Update};
use std::mem;

/// Searches in one query.
pub const MOST_SEARCHES: usize = 16;
/// Hits of a search that names no limit, and of any.
pub const MOST_HITS: usize = super::searching::DEEPEST;

/// One `pin:search` of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchRequest {
    pub words: String,
    /// Where words are searched that name no field.
    pub field: Option<Field>,
    /// How many hits are wanted.
    pub limit: usize,
    /// Whether other terms of the same meaning count.
    pub expand: bool,
    /// The one entry that is asked about, if the query names it.
    pub entry: Option<String>,
}

/// What answers a search: names of entries with scores, best first.
pub type Search<'a> = dyn Fn(&SearchRequest) -> Result<Vec<(String, f32)>, String> + 'a;

/// What is wrong with a search in a query.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum SearchError {
    #[error("pin:search finds entries: its subject must be a variable or an IRI, not `{0}`")]
    Entry(String),
    #[error("the words of pin:search must stand in the query as a string, not as `{0}`")]
    Words(String),
    #[error("`{0}` has no pin:query beside it that says the words of its pin:search")]
    NoWords(String),
    #[error("a search has pin:query, pin:field, pin:limit, pin:expand and pin:score, but not `{0}`")]
    Property(String),
    #[error("a search has one {0}")]
    Twice(&'static str),
    #[error("{property} must be {expected}, not `{found}`")]
    Value { property: &'static str, expected: &'static str, found: String },
    #[error("a query may search {MOST_SEARCHES} times")]
    TooMany,
    #[error("the search failed: {0}")]
    Failed(String),
}

/// Puts the hits of all searches in a query in their places.
pub fn rewrite(mut query: Query, search: &Search<'_>) -> Result<Query, SearchError> {
    let (Query::Select { pattern, .. }
    | Query::Construct { pattern, .. }
    | Query::Describe { pattern, .. }
    | Query::Ask { pattern, .. }) = &mut query;
    Rewriter { search, searches: 0 }.pattern(pattern)?;
    Ok(query)
}

/// Puts the hits of all searches in the conditions of an update in their places.
pub fn rewrite_update(mut update: Update, search: &Search<'_>) -> Result<Update, SearchError> {
    let mut rewriter = Rewriter { search, searches: 0 };
    for operation in &mut update.operations {
        if let GraphUpdateOperation::DeleteInsert { pattern, .. } = operation {
            rewriter.pattern(pattern)?;
        }
    }
    Ok(update)
}

struct Rewriter<'a> {
    search: &'a Search<'a>,
    searches: usize,
}

impl Rewriter<'_> {
    fn pattern(&mut self, pattern: &mut GraphPattern) -> Result<(), SearchError> {
        match pattern {
            GraphPattern::Bgp { patterns } => {
                if patterns.iter().any(is_search) {
                    *pattern = self.basic(mem::take(patterns))?;
                }
            }
            GraphPattern::Path { .. } | GraphPattern::Values { .. } | GraphPattern::Service { .. } => {}
            GraphPattern::Join { left, right }
            | GraphPattern::Lateral { left, right }
            | GraphPattern::Union { left, right }
            | GraphPattern::Minus { left, right } => {
                self.pattern(left)?;
                self.pattern(right)?;
            }
            GraphPattern::LeftJoin { left, right, expression } => {
                self.pattern(left)?;
                self.pattern(right)?;
                self.expressions(expression)?;
            }
            GraphPattern::Filter { expr, inner } => {
                self.pattern(inner)?;
                self.expression(expr)?;
            }
            GraphPattern::Extend { inner, expression, .. } => {
                self.pattern(inner)?;
                self.expression(expression)?;
            }
            GraphPattern::OrderBy { inner, expression } => {
                self.pattern(inner)?;
                for OrderExpression::Asc(by) | OrderExpression::Desc(by) in expression {
                    self.expression(by)?;
                }
            }
            GraphPattern::Group { inner, aggregates, .. } => {
                self.pattern(inner)?;
                for (_, aggregate) in aggregates {
                    if let AggregateExpression::FunctionCall { expr, .. } = aggregate {
                        self.expression(expr)?;
                    }
                }
            }
            GraphPattern::Graph { inner, .. }
            | GraphPattern::Project { inner, .. }
            | GraphPattern::Distinct { inner }
            | GraphPattern::Reduced { inner }
            | GraphPattern::Slice { inner, .. } => self.pattern(inner)?,
        }
        Ok(())
    }

    /// Patterns stand in expressions as `EXISTS` only.
    fn expression(&mut self, expression: &mut Expression) -> Result<(), SearchError> {
        match expression {
            Expression::Exists(pattern) => self.pattern(pattern),
            Expression::NamedNode(_)
            | Expression::Literal(_)
            | Expression::Variable(_)
            | Expression::Bound(_) => Ok(()),
            Expression::Or(left, right)
            | Expression::And(left, right)
            | Expression::Equal(left, right)
            | Expression::SameTerm(left, right)
            | Expression::Greater(left, right)
            | Expression::GreaterOrEqual(left, right)
            | Expression::Less(left, right)
            | Expression::LessOrEqual(left, right)
            | Expression::Add(left, right)
            | Expression::Subtract(left, right)
            | Expression::Multiply(left, right)
            | Expression::Divide(left, right) => {
                self.expression(left)?;
                self.expression(right)
            }
            Expression::UnaryPlus(inner) | Expression::UnaryMinus(inner) | Expression::Not(inner) => {
                self.expression(inner)
            }
            Expression::In(inner, list) => {
                self.expression(inner)?;
                self.expressions(list)
            }
            Expression::If(condition, yes, no) => {
                self.expression(condition)?;
                self.expression(yes)?;
                self.expression(no)
            }
            Expression::Coalesce(list) | Expression::FunctionCall(_, list) => self.expressions(list),
        }
    }

    fn expressions<'e>(
        &mut self,
        all: impl IntoIterator<Item = &'e mut Expression>,
    ) -> Result<(), SearchError> {
        all.into_iter().try_for_each(|expression| self.expression(expression))
    }

    /// A basic graph pattern with its searches answered.
    fn basic(&mut self, patterns: Vec<TriplePattern>) -> Result<GraphPattern, SearchError> {
        let (searches, others): (Vec<_>, Vec<_>) = patterns.into_iter().partition(is_search);
        let is_node = |term: &TermPattern| {
            matches!(term, TermPattern::Variable(_) | TermPattern::BlankNode(_))
                && searches.iter().any(|search| search.object == *term)
        };
        let (properties, others): (Vec<_>, Vec<_>) =
            others.into_iter().partition(|one| is_node(&one.subject));
        let mut tables: Vec<Table> = Vec::new();
        for search in &searches {
            self.searches += 1;
            if self.searches > MOST_SEARCHES {
                return Err(SearchError::TooMany);
            }
            let table = self.answer(search, &properties)?;
            match tables.iter_mut().find(|before| before.entry.is_some() && before.entry == table.entry) {
                Some(before) => before.narrow(table),
                None => tables.push(table),
            }
        }
        let mut rest = (!others.is_empty()).then_some(GraphPattern::Bgp { patterns: others });
        while let Some(table) = tables.pop() {
            rest = Some(table.before(rest));
        }
        Ok(rest.unwrap_or_default())
    }

    fn answer(&self, search: &TriplePattern, properties: &[TriplePattern]) -> Result<Table, SearchError> {
        let mut asked = Asked::read(&search.object, properties)?;
        let entry = match &search.subject {
            TermPattern::Variable(variable) => Some(variable.clone()),
            TermPattern::NamedNode(node) => {
                asked.request.entry = Some(node.as_str().to_owned());
                None
            }
            other => return Err(SearchError::Entry(other.to_string())),
        };
        let mut hits = (self.search)(&asked.request).map_err(SearchError::Failed)?;
        if let Some(only) = &asked.request.entry {
            hits.retain(|(iri, _)| iri == only);
        }
        hits.truncate(asked.request.limit);
        let scored = asked.score.is_some();
        let row = |(iri, score): (String, f32)| {
            let scores = if scored { vec![decimal(score)] } else { Vec::new() };
            Some((NamedNode::new(iri).ok()?, scores))
        };
        let rows = hits.into_iter().filter_map(row).collect();
        Ok(Table { entry, scores: asked.score.into_iter().collect(), rows })
    }
}

/// The hits of the searches for one entry.
struct Table {
    /// The variable, unless the query names the entry.
    entry: Option<Variable>,
    scores: Vec<Variable>,
    rows: Vec<(NamedNode, Vec<Literal>)>,
}

impl Table {
    /// Keeps what another search found too. The evaluator would compare each row with each.
    fn narrow(&mut self, other: Self) {
        let mut found: FxHashMap<NamedNode, Vec<Literal>> = other.rows.into_iter().collect();
        self.rows.retain_mut(|(iri, scores)| match found.remove(iri) {
            Some(more) => {
                scores.extend(more);
                true
            }
            None => false,
        });
        self.scores.extend(other.scores);
    }

    /// The hits joined with the rest of the pattern, in which the evaluator starts from the hits.
    ///
    /// Its optimizer starts from what it takes for the smallest, and takes a pattern with a variable
    /// for the subject alone (`?x a bf:Work`) for 1,000 statements, however many there are. More
    /// hits than that would be gone through for every one of them, so they are shared out.
    fn before(self, rest: Option<GraphPattern>) -> GraphPattern {
        const SHARE: usize = 900;
        let variables: Vec<Variable> = self.entry.iter().chain(&self.scores).cloned().collect();
        let named = self.entry.is_some();
        let values = |rows: &[(NamedNode, Vec<Literal>)]| {
            let row = |(iri, scores): &(NamedNode, Vec<Literal>)| {
                let entry = named.then(|| Some(GroundTerm::NamedNode(iri.clone())));
                entry
                    .into_iter()
                    .chain(scores.iter().cloned().map(|one| Some(GroundTerm::Literal(one))))
                    .collect()
            };
            let bindings = rows.iter().map(row).collect();
            let values = GraphPattern::Values { variables: variables.clone(), bindings };
            match &rest {
                None => values,
                Some(rest) => GraphPattern::Join { left: Box::new(values), right: Box::new(rest.clone()) },
            }
        };
        let shares = self.rows.chunks(SHARE).map(values);
        let union = |left, right| GraphPattern::Union { left: Box::new(left), right: Box::new(right) };
        shares.reduce(union).unwrap_or_else(|| values(&[]))
    }
}

fn is_search(pattern: &TriplePattern) -> bool {
    matches!(&pattern.predicate, NamedNodePattern::NamedNode(predicate) if predicate.as_ref() == pin::SEARCH)
}

fn decimal(score: f32) -> Literal {
    let score = if score.is_finite() { score } else { 0.0 };
    Literal::new_typed_literal(format!("{score:.4}"), xsd::DECIMAL)
}

#[cfg(test)]
mod tests;
