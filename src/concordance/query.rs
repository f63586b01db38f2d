//! Concordances for RDF sources: `CONSTRUCT` queries over the statements of one record, with our
//! functions of texts and code lists.
//!
//! A query is evaluated as the `SELECT` of its pattern, and its template is filled in here: so
//! `$record`, `$hub`, `$work` and `$instance` may stand anywhere in it without being bound.

use super::codes::{CodeList, OnMissing};
use super::need::Need;
use super::program::Function;
use super::run::{Value, apply_all};
use crate::ontology::FUNCTIONS;
use oxrdf::{BlankNode, Dataset, NamedNode, NamedOrBlankNode, Term, Triple, Variable};
use rustc_hash::FxHashMap;
use spareval::{QueryEvaluator, QueryResults};
use spargebra::algebra::GraphPattern;
use spargebra::term::{NamedNodePattern, TermPattern, TriplePattern};
use std::sync::Arc;

/// What `$record` and the others stand for in a record.
const GIVEN: [(&str, &str); 4] =
    [("record", ""), ("hub", "#hub"), ("work", "#work"), ("instance", "#instance")];
/// A record gives no more solutions of a query than this.
const MOST_SOLUTIONS: usize = 20_000;

/// A `CONSTRUCT` over the statements of an RDF record.
#[derive(Debug)]
pub struct Query {
    /// `bibframe/titles`
    pub name: String,
    pub hash: String,
    /// What a record must say for the query to find anything: its pattern, and `# needs`.
    pub need: Need,
    select: spargebra::Query,
    template: Vec<TriplePattern>,
}

impl Query {
    /// `None` for what is no `CONSTRUCT`.
    pub fn new(name: &str, text: &str, hash: String, query: spargebra::Query) -> Option<Self> {
        let spargebra::Query::Construct { template, dataset, pattern, base_iri } = query else { return None };
        let need = Need::of(&pattern);
        let mut variables: Vec<Variable> = Vec::new();
        let mut add = |variable: &Variable| {
            if !variables.contains(variable) {
                variables.push(variable.clone());
            }
        };
        GIVEN.iter().for_each(|(name, _)| add(&Variable::new_unchecked(*name)));
        for triple in &template {
            for term in [&triple.subject, &triple.object] {
                if let TermPattern::Variable(variable) = term {
                    add(variable);
                }
            }
            if let NamedNodePattern::Variable(variable) = &triple.predicate {
                add(variable);
            }
        }
        let inner = match pattern {
            GraphPattern::Project { inner, .. } => inner,
            pattern => Box::new(pattern),
        };
        let pattern = GraphPattern::Project { inner, variables };
        let select = spargebra::Query::Select { dataset, pattern, base_iri };
        let stated = text.lines().filter_map(|line| line.strip_prefix("# needs"));
        let need = need.and_one_of(stated.flat_map(str::split_whitespace));
        Some(Self { name: name.to_owned(), hash, need, select, template })
    }

    /// Its template and its pattern, to be looked at.
    pub(super) fn parts(&self) -> (&[TriplePattern], &GraphPattern) {
        static NONE: GraphPattern = GraphPattern::Bgp { patterns: Vec::new() };
        let pattern = match &self.select {
            spargebra::Query::Select { pattern, .. } => pattern,
            _ => &NONE,
        };
        (&self.template, pattern)
    }

    /// What the query makes of a record's statements; its nodes are blank.
    pub fn construct(
        &self,
        evaluator: &QueryEvaluator,
        record: &NamedNode,
        dataset: &Dataset,
    ) -> Vec<Triple> {
        let given: Vec<(Variable, NamedNode)> = GIVEN
            .iter()
            .map(|(name, end)| {
                let iri = NamedNode::new_unchecked(format!("{}{end}", record.as_str()));
                (Variable::new_unchecked(*name), iri)
            })
            .collect();
        let mut prepared = evaluator.prepare(&self.select);
        for (variable, iri) in &given {
            prepared = prepared.substitute_variable(variable.clone(), iri.clone());
        }
        let Ok(QueryResults::Solutions(solutions)) = prepared.execute(dataset) else { return Vec::new() };
        let mut made = Vec::new();
        for solution in solutions.flatten().take(MOST_SOLUTIONS) {
            // Blank nodes of a template are new for each solution.
            let mut nodes: FxHashMap<&BlankNode, BlankNode> = FxHashMap::default();
            let value = |variable: &Variable| -> Option<Term> {
                let known = given.iter().find(|(known, _)| known == variable);
                known.map(|(_, iri)| iri.clone().into()).or_else(|| solution.get(variable).cloned())
            };
            for pattern in &self.template {
                let [subject, object] = [&pattern.subject, &pattern.object].map(|term| match term {
                    TermPattern::NamedNode(node) => Some(node.clone().into()),
                    TermPattern::Literal(literal) => Some(literal.clone().into()),
                    TermPattern::BlankNode(node) => Some(nodes.entry(node).or_default().clone().into()),
                    TermPattern::Variable(variable) => value(variable),
                });
                let predicate = match &pattern.predicate {
                    NamedNodePattern::NamedNode(node) => Some(Term::NamedNode(node.clone())),
                    NamedNodePattern::Variable(variable) => value(variable),
                };
                let subject = match subject {
                    Some(Term::NamedNode(node)) => NamedOrBlankNode::NamedNode(node),
                    Some(Term::BlankNode(node)) => NamedOrBlankNode::BlankNode(node),
                    _ => continue,
                };
                let (Some(Term::NamedNode(predicate)), Some(object)) = (predicate, object) else { continue };
                made.push(Triple { subject, predicate, object });
            }
        }
        made
    }
}

/// An evaluator of SPARQL that knows our functions.
pub fn query_functions(lists: &Arc<Vec<CodeList>>) -> QueryEvaluator {
    let name = |name: &str| NamedNode::new_unchecked(format!("{FUNCTIONS}{}", name.trim_start_matches(':')));
    let mut evaluator = QueryEvaluator::new();
    for (function, known, ..) in Function::ALL.iter().filter(|(name, ..)| name.starts_with(':')) {
        evaluator = evaluator.with_custom_function(name(function), move |arguments| call(*known, arguments));
    }
    let of_code = Arc::clone(lists);
    evaluator = evaluator.with_custom_function(name(":code"), move |arguments| {
        let (list, code) = (text(arguments.first()?), text(arguments.get(1)?));
        look_up(&of_code, &list, &code, arguments.get(2).map(text).as_deref())
    });
    let of_language = Arc::clone(lists);
    evaluator.with_custom_function(name(":language"), move |arguments| {
        look_up(&of_language, "languages", &text(arguments.first()?), Some("tag"))
    })
}

fn text(term: &Term) -> String {
    match term {
        Term::NamedNode(node) => node.as_str().to_owned(),
        Term::BlankNode(node) => node.as_str().to_owned(),
        Term::Literal(literal) => literal.value().to_owned(),
    }
}

fn look_up(lists: &[CodeList], list: &str, code: &str, column: Option<&str>) -> Option<Term> {
    let list = lists.iter().find(|known| known.name == list)?;
    let column = column.map_or(Some(1), |column| list.column(column))?;
    let value = match list.get(code, column) {
        Some(found) if list.is_iri(column) => Value::Iri(found.into()),
        Some(found) => Value::Text(found.into()),
        None if list.on_missing == OnMissing::Keep && !list.has(code) => Value::Text(code.into()),
        None => return None,
    };
    Some(value.into_term())
}

/// Calls a function with terms; `None` leaves the variable of the query unbound.
fn call(function: Function, arguments: &[Term]) -> Option<Term> {
    let mut values = arguments.iter().map(|term| match term {
        Term::NamedNode(node) => Value::Iri(node.as_str().into()),
        Term::BlankNode(node) => Value::Text(node.as_str().into()),
        Term::Literal(literal) => match literal.language() {
            Some(language) => Value::Tagged(literal.value().into(), language.into()),
            None => Value::Text(literal.value().into()),
        },
    });
    Some(match apply_all(function, &mut values)? {
        // A key or a number of a tagged text is no text of that language.
        Value::Tagged(text, _) if function != Function::Tagged => Value::Text(text).into_term(),
        other => other.into_term(),
    })
}
