//! How large and how deep a parsed query is.
//!
//! The guard limits the text; but chains become deep trees and abbreviations many nodes, and
//! what comes after the parser recurses. So the tree is measured, with a stack of its own.

use crate::catalogue::Graphs;
use oxrdf::NamedNode;
use spargebra::Query;
use spargebra::algebra::{
    AggregateExpression, Expression, GraphPattern, OrderExpression, PropertyPathExpression,
};
use spargebra::term::NamedNodePattern;

/// Patterns, expressions and steps of paths.
pub(in crate::catalogue) const NODE_LIMIT: usize = 5_000;
pub(in crate::catalogue) const DEPTH_LIMIT: usize = 200;

/// Why a query is not evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(in crate::catalogue) enum Excess {
    #[error("the query has more than {NODE_LIMIT} patterns and expressions")]
    Nodes,
    #[error("the query is deeper than {DEPTH_LIMIT} levels once its chains are taken apart")]
    Depth,
}

pub(in crate::catalogue) fn check(query: &Query) -> Result<(), Excess> {
    walk(query).map(drop)
}

/// The graphs that a query asks by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::catalogue) struct NamedGraphs {
    names: Vec<NamedNode>,
    /// Any graph at all: by a variable, or nobody looked that far.
    any: bool,
}

impl NamedGraphs {
    /// Whether one of them may be the graph of a record.
    pub fn may_be_records(&self, graphs: &Graphs) -> bool {
        self.any || self.names.iter().any(|name| name.as_str().starts_with(&graphs.records()))
    }
}

/// Which graphs a query asks beside the default graph.
pub(in crate::catalogue) fn names_graphs(query: &Query) -> NamedGraphs {
    let Ok(mut graphs) = walk(query) else { return NamedGraphs { any: true, ..NamedGraphs::default() } };
    if let Some(dataset) = query.dataset() {
        graphs.names.extend(dataset.default.iter().chain(dataset.named.iter().flatten()).cloned());
    }
    graphs
}

fn walk(query: &Query) -> Result<NamedGraphs, Excess> {
    let mut walk = Walk { waiting: Vec::new(), nodes: 0, graphs: NamedGraphs::default() };
    match query {
        Query::Select { pattern, .. } | Query::Describe { pattern, .. } | Query::Ask { pattern, .. } => {
            walk.push(Node::Pattern(pattern), 1)?;
        }
        Query::Construct { template, pattern, .. } => {
            walk.count(template.len())?;
            walk.push(Node::Pattern(pattern), 1)?;
        }
    }
    while let Some((node, depth)) = walk.waiting.pop() {
        match node {
            Node::Pattern(pattern) => walk.pattern(pattern, depth + 1)?,
            Node::Expression(expression) => walk.expression(expression, depth + 1)?,
            Node::Path(path) => walk.path(path, depth + 1)?,
        }
    }
    Ok(walk.graphs)
}

#[derive(Clone, Copy)]
enum Node<'a> {
    Pattern(&'a GraphPattern),
    Expression(&'a Expression),
    Path(&'a PropertyPathExpression),
}

struct Walk<'a> {
    waiting: Vec<(Node<'a>, usize)>,
    nodes: usize,
    graphs: NamedGraphs,
}

impl<'a> Walk<'a> {
    fn count(&mut self, more: usize) -> Result<(), Excess> {
        self.nodes += more;
        if self.nodes > NODE_LIMIT { Err(Excess::Nodes) } else { Ok(()) }
    }

    fn push(&mut self, node: Node<'a>, depth: usize) -> Result<(), Excess> {
        self.count(1)?;
        if depth > DEPTH_LIMIT {
            return Err(Excess::Depth);
        }
        self.waiting.push((node, depth));
        Ok(())
    }

    fn patterns<const N: usize>(
        &mut self,
        patterns: [&'a GraphPattern; N],
        depth: usize,
    ) -> Result<(), Excess> {
        patterns.into_iter().try_for_each(|pattern| self.push(Node::Pattern(pattern), depth))
    }

    fn expressions(
        &mut self,
        expressions: impl IntoIterator<Item = &'a Expression>,
        depth: usize,
    ) -> Result<(), Excess> {
        expressions.into_iter().try_for_each(|expression| self.push(Node::Expression(expression), depth))
    }

    fn pattern(&mut self, pattern: &'a GraphPattern, depth: usize) -> Result<(), Excess> {
        match pattern {
            GraphPattern::Bgp { patterns } => self.count(patterns.len()),
            GraphPattern::Path { path, .. } => self.push(Node::Path(path), depth),
            // The rows of VALUES are flat, and as many as the text has room for.
            GraphPattern::Values { .. } => Ok(()),
            GraphPattern::Join { left, right }
            | GraphPattern::Lateral { left, right }
            | GraphPattern::Union { left, right }
            | GraphPattern::Minus { left, right } => self.patterns([left, right], depth),
            GraphPattern::LeftJoin { left, right, expression } => {
                self.patterns([left, right], depth)?;
                self.expressions(expression, depth)
            }
            GraphPattern::Filter { expr, inner } => {
                self.patterns([inner], depth)?;
                self.expressions([expr], depth)
            }
            GraphPattern::Extend { inner, expression, .. } => {
                self.patterns([inner], depth)?;
                self.expressions([expression], depth)
            }
            GraphPattern::OrderBy { inner, expression } => {
                self.patterns([inner], depth)?;
                let keys = expression.iter().map(|key| match key {
                    OrderExpression::Asc(key) | OrderExpression::Desc(key) => key,
                });
                self.expressions(keys, depth)
            }
            GraphPattern::Group { inner, aggregates, .. } => {
                self.patterns([inner], depth)?;
                let arguments = aggregates.iter().filter_map(|(_, aggregate)| match aggregate {
                    AggregateExpression::CountSolutions { .. } => None,
                    AggregateExpression::FunctionCall { expr, .. } => Some(expr),
                });
                self.expressions(arguments, depth)
            }
            GraphPattern::Graph { inner, name } => {
                match name {
                    NamedNodePattern::NamedNode(name) => self.graphs.names.push(name.clone()),
                    NamedNodePattern::Variable(_) => self.graphs.any = true,
                }
                self.patterns([inner], depth)
            }
            GraphPattern::Project { inner, .. }
            | GraphPattern::Distinct { inner }
            | GraphPattern::Reduced { inner }
            | GraphPattern::Slice { inner, .. }
            | GraphPattern::Service { inner, .. } => self.patterns([inner], depth),
        }
    }

    fn expression(&mut self, expression: &'a Expression, depth: usize) -> Result<(), Excess> {
        match expression {
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
            | Expression::Divide(left, right) => self.expressions([&**left, right], depth),
            Expression::UnaryPlus(inner) | Expression::UnaryMinus(inner) | Expression::Not(inner) => {
                self.expressions([&**inner], depth)
            }
            Expression::In(needle, list) => {
                self.expressions([&**needle], depth)?;
                self.expressions(list, depth)
            }
            Expression::Exists(pattern) => self.patterns([pattern], depth),
            Expression::If(condition, then, other) => self.expressions([&**condition, then, other], depth),
            Expression::Coalesce(list) | Expression::FunctionCall(_, list) => self.expressions(list, depth),
        }
    }

    fn path(&mut self, path: &'a PropertyPathExpression, depth: usize) -> Result<(), Excess> {
        match path {
            PropertyPathExpression::NamedNode(_) => Ok(()),
            PropertyPathExpression::NegatedPropertySet(names) => self.count(names.len()),
            PropertyPathExpression::Sequence(left, right)
            | PropertyPathExpression::Alternative(left, right) => {
                self.push(Node::Path(left), depth)?;
                self.push(Node::Path(right), depth)
            }
            PropertyPathExpression::Reverse(inner)
            | PropertyPathExpression::ZeroOrMore(inner)
            | PropertyPathExpression::OneOrMore(inner)
            | PropertyPathExpression::ZeroOrOne(inner) => self.push(Node::Path(inner), depth),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use spargebra::SparqlParser;

    fn checked(text: &str) -> Result<(), Excess> {
        check(&SparqlParser::new().parse_query(text).unwrap())
    }

    #[test]
    fn ordinary_queries_pass() {
        for text in [
            "SELECT * { ?s ?p ?o FILTER(?o IN (1, 2, 3) && EXISTS { ?s a ?t }) } ORDER BY ?s",
            "SELECT (COUNT(?s) AS ?n) { { ?s ?p 1 } UNION { ?s ^<x:p>/<x:q>* 2 } } GROUP BY ?p",
            "CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o OPTIONAL { ?o ?q ?r } }",
        ] {
            assert_eq!(checked(text), Ok(()), "{text}");
        }
    }

    #[test]
    fn chains_are_as_deep_as_they_are_long() {
        assert_eq!(checked(&format!("SELECT * {{ FILTER({}1) }}", "1+".repeat(250))), Err(Excess::Depth));
        assert_eq!(checked(&format!("SELECT * {{ {} {{}} }}", "{} UNION ".repeat(250))), Err(Excess::Depth));
        assert_eq!(checked(&format!("SELECT * {{ ?s {}<x:p> ?o }}", "<x:p>/".repeat(150))), Ok(()));
        assert_eq!(
            checked(&format!("ASK {{ ?s {}<x:p>{} ?o }}", "(".repeat(210), ")*".repeat(210))),
            Err(Excess::Depth)
        );
    }

    #[test]
    fn abbreviations_are_counted_in_full() {
        assert_eq!(checked(&format!("SELECT * {{ ?s ?p {}1 }}", "1,".repeat(6_000))), Err(Excess::Nodes));
        assert_eq!(
            checked(&format!("SELECT * {{ FILTER(1 IN ({}1)) }}", "1,".repeat(6_000))),
            Err(Excess::Nodes)
        );
        assert_eq!(checked(&format!("SELECT * {{ VALUES ?s {{ {} }} }}", "1 ".repeat(6_000))), Ok(()));
    }

    #[test]
    fn the_graphs_that_a_query_asks_are_known() {
        let graphs = Graphs::new("https://c.example/").unwrap();
        let records = |text: &str| {
            names_graphs(&SparqlParser::new().parse_query(text).unwrap()).may_be_records(&graphs)
        };
        assert!(!records(
            "SELECT * { ?s ?p ?o FILTER EXISTS { GRAPH <https://c.example/rules> { ?s ?p 1 } } }"
        ));
        assert!(!records("SELECT * FROM <https://c.example/sources> { ?s ?p ?o }"));
        for text in [
            "SELECT * { GRAPH ?g { ?s ?p ?o } }",
            "SELECT * { ?s ?p ?o FILTER EXISTS { GRAPH ?g { ?s ?p 1 } } }",
            "ASK { GRAPH <https://c.example/record/a/1> { ?s ?p ?o } }",
            "SELECT * FROM <https://c.example/record/a/1> { ?s ?p ?o }",
            "SELECT * FROM NAMED <https://c.example/record/a/1> { ?s ?p ?o }",
        ] {
            assert!(records(text), "{text}");
        }
    }
}
