//! Rows that came from elsewhere, as a part of a query.
//!
//! `VALUES` holds them, inside a subquery: of a bare `VALUES` the optimizer thinks that going
//! through all of it for each row of the rest is cheap. As a subquery it is where the evaluation
//! begins, if it is short, and else one side of a hash join.
//!
//! A blank node cannot stand in `VALUES`, so its label does, and `BNODE` makes a node of it. The
//! label is a new one: two endpoints mean different things by `_:b0`, and neither means ours.

use oxrdf::{BlankNode, Literal, Term, Variable};
use rustc_hash::FxHashMap;
use spargebra::algebra::{Expression, Function, GraphPattern};
use spargebra::term::GroundTerm;

/// Some variables and what each row binds them to.
pub(super) struct Table {
    pub variables: Vec<Variable>,
    pub rows: Vec<Vec<Option<Term>>>,
}

impl Table {
    /// One row that binds nothing: joined with anything, it changes nothing.
    pub fn unit() -> Self {
        Self { variables: Vec::new(), rows: vec![Vec::new()] }
    }

    pub fn into_pattern(self) -> GraphPattern {
        let Self { variables, rows } = self;
        // Columns with blank nodes are two: the other terms, and the labels.
        let blank: Vec<usize> = (0..variables.len())
            .filter(|column| {
                rows.iter().any(|row| matches!(row.get(*column), Some(Some(Term::BlankNode(_)))))
            })
            .collect();
        let mut columns = variables.clone();
        let mut made = Vec::new();
        for column in &blank {
            if let Some(name) = columns.get_mut(*column) {
                let (term, label) = (apart(name, "term"), apart(name, "label"));
                let variable = std::mem::replace(name, term.clone());
                made.push((variable, term, label));
            }
        }
        columns.extend(made.iter().map(|(_, _, label)| label.clone()));
        let mut labels = Labels::default();
        let bindings = rows.into_iter().map(|row| labels.row(row, &blank)).collect();
        let mut inner = GraphPattern::Values { variables: columns, bindings };
        for (variable, term, label) in made {
            let node = Expression::FunctionCall(Function::BNode, vec![label.into()]);
            let expression = Expression::Coalesce(vec![term.into(), node]);
            inner = GraphPattern::Extend { inner: Box::new(inner), variable, expression };
        }
        GraphPattern::Project { inner: Box::new(inner), variables }
    }
}

/// A name that no query can spell.
fn apart(variable: &Variable, what: &str) -> Variable {
    Variable::new_unchecked(format!("{} {what}", variable.as_str()))
}

/// Blank nodes of one answer and what they are called here.
#[derive(Default)]
struct Labels(FxHashMap<BlankNode, Literal>);

impl Labels {
    /// The terms of a row, and after them the labels of the columns that have blank nodes.
    fn row(&mut self, row: Vec<Option<Term>>, blank: &[usize]) -> Vec<Option<GroundTerm>> {
        let labels = blank.iter().map(|column| match row.get(*column) {
            Some(Some(Term::BlankNode(node))) => {
                let fresh = || Literal::from(BlankNode::default().as_str());
                Some(GroundTerm::Literal(self.0.entry(node.clone()).or_insert_with(fresh).clone()))
            }
            _ => None,
        });
        let labels: Vec<_> = labels.collect();
        row.into_iter().map(|term| term.and_then(ground)).chain(labels).collect()
    }
}

fn ground(term: Term) -> Option<GroundTerm> {
    match term {
        Term::NamedNode(node) => Some(GroundTerm::NamedNode(node)),
        Term::Literal(literal) => Some(GroundTerm::Literal(literal)),
        Term::BlankNode(_) => None,
    }
}
