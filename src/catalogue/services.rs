//! Where a query says `SERVICE`.
//!
//! Only the algebra tells for certain: the guard looks at words, and the parser takes some that are
//! written together. A walk with a stack of its own, as deep as the query is.

use super::guard;
use spargebra::Query;
use spargebra::algebra::{AggregateExpression, Expression, GraphPattern, OrderExpression};

/// Refuses a query that asks other endpoints.
pub(super) fn refuse(query: &mut Query) -> Result<(), guard::Refusal> {
    each(query, |_| Err(guard::Refusal::Forbidden(guard::SERVICE)))
}

/// Hands over each `SERVICE` of a query, to be replaced, in the order in which they stand. What one
/// of them holds is not looked into: it is for others to evaluate.
pub(super) fn each<E>(
    query: &mut Query,
    visit: impl FnMut(&mut GraphPattern) -> Result<(), E>,
) -> Result<(), E> {
    let (Query::Select { pattern, .. }
    | Query::Construct { pattern, .. }
    | Query::Describe { pattern, .. }
    | Query::Ask { pattern, .. }) = query;
    each_in(pattern, visit)
}

/// The same in a pattern.
pub(super) fn each_in<E>(
    pattern: &mut GraphPattern,
    mut visit: impl FnMut(&mut GraphPattern) -> Result<(), E>,
) -> Result<(), E> {
    let mut waiting = vec![Node::Pattern(pattern)];
    while let Some(node) = waiting.pop() {
        match node {
            Node::Pattern(pattern) if matches!(pattern, GraphPattern::Service { .. }) => visit(pattern)?,
            Node::Pattern(pattern) => within_pattern(pattern, &mut waiting),
            Node::Expression(expression) => within_expression(expression, &mut waiting),
        }
    }
    Ok(())
}

enum Node<'a> {
    Pattern(&'a mut GraphPattern),
    Expression(&'a mut Expression),
}

/// What comes first in the text is pushed last, and so looked at first.
fn within_pattern<'a>(pattern: &'a mut GraphPattern, waiting: &mut Vec<Node<'a>>) {
    match pattern {
        GraphPattern::Bgp { .. }
        | GraphPattern::Path { .. }
        | GraphPattern::Values { .. }
        | GraphPattern::Service { .. } => {}
        GraphPattern::Join { left, right }
        | GraphPattern::Lateral { left, right }
        | GraphPattern::Union { left, right }
        | GraphPattern::Minus { left, right } => {
            waiting.extend([Node::Pattern(right), Node::Pattern(left)]);
        }
        GraphPattern::LeftJoin { left, right, expression } => {
            waiting.extend(expression.iter_mut().map(Node::Expression));
            waiting.extend([Node::Pattern(right), Node::Pattern(left)]);
        }
        GraphPattern::Filter { expr, inner } => {
            waiting.extend([Node::Expression(expr), Node::Pattern(inner)]);
        }
        GraphPattern::Extend { inner, expression, .. } => {
            waiting.extend([Node::Expression(expression), Node::Pattern(inner)]);
        }
        GraphPattern::OrderBy { inner, expression } => {
            waiting.extend(expression.iter_mut().rev().map(|key| match key {
                OrderExpression::Asc(key) | OrderExpression::Desc(key) => Node::Expression(key),
            }));
            waiting.push(Node::Pattern(inner));
        }
        GraphPattern::Group { inner, aggregates, .. } => {
            waiting.extend(aggregates.iter_mut().filter_map(|(_, aggregate)| match aggregate {
                AggregateExpression::CountSolutions { .. } => None,
                AggregateExpression::FunctionCall { expr, .. } => Some(Node::Expression(expr)),
            }));
            waiting.push(Node::Pattern(inner));
        }
        GraphPattern::Graph { inner, .. }
        | GraphPattern::Project { inner, .. }
        | GraphPattern::Distinct { inner }
        | GraphPattern::Reduced { inner }
        | GraphPattern::Slice { inner, .. } => waiting.push(Node::Pattern(inner)),
    }
}

/// Patterns stand in expressions as `EXISTS` only.
fn within_expression<'a>(expression: &'a mut Expression, waiting: &mut Vec<Node<'a>>) {
    match expression {
        Expression::Exists(pattern) => waiting.push(Node::Pattern(pattern)),
        Expression::NamedNode(_)
        | Expression::Literal(_)
        | Expression::Variable(_)
        | Expression::Bound(_) => {}
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
            waiting.extend([Node::Expression(right), Node::Expression(left)]);
        }
        Expression::UnaryPlus(inner) | Expression::UnaryMinus(inner) | Expression::Not(inner) => {
            waiting.push(Node::Expression(inner));
        }
        Expression::In(needle, list) => {
            waiting.extend(list.iter_mut().rev().map(Node::Expression));
            waiting.push(Node::Expression(needle));
        }
        Expression::If(condition, then, other) => {
            waiting.extend([Node::Expression(other), Node::Expression(then), Node::Expression(condition)]);
        }
        Expression::Coalesce(list) | Expression::FunctionCall(_, list) => {
            waiting.extend(list.iter_mut().rev().map(Node::Expression));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use spargebra::SparqlParser;

    fn endpoints(text: &str) -> Vec<String> {
        let mut query = SparqlParser::new().parse_query(text).unwrap();
        let mut found = Vec::new();
        each(&mut query, |pattern| {
            if let GraphPattern::Service { name, .. } = pattern {
                found.push(name.to_string());
            }
            Ok::<_, ()>(())
        })
        .unwrap();
        found
    }

    #[test]
    fn every_service_is_found_wherever_it_stands_and_in_order() {
        let text = "SELECT (SUM(IF(EXISTS { SERVICE <x:9> {} }, 1, 2)) AS ?n) {
            SERVICE <x:1> { ?s ?p ?o SERVICE <x:inside> {} } OPTIONAL { SERVICE SILENT <x:2> { ?s ?p ?o } }
            { SERVICE ?three {} } UNION { GRAPH ?g { SERVICE <x:4> {} } } MINUS { SERVICE <x:5> {} }
            { SELECT DISTINCT * { SERVICE <x:6> { ?a ?b ?c } } LIMIT 1 }
            BIND(COALESCE(1, EXISTS { SERVICE <x:7> {} }) AS ?e)
            FILTER(?s IN (1, EXISTS { SERVICE <x:8> {} })) } GROUP BY ?s";
        let found = endpoints(text);
        let expected = ["<x:1>", "<x:2>", "?three", "<x:4>", "<x:5>", "<x:6>", "<x:7>", "<x:8>", "<x:9>"];
        assert_eq!(found, expected);
        assert!(endpoints("ASK { ?s a <x:SERVICE> }").is_empty());
    }

    /// The parser needs no blank between a word and a name; to the guard both are one name.
    #[test]
    fn what_the_guard_takes_for_a_name_is_found() {
        let text = "PREFIX ex: <x:> ASK { SERVICEex:1 {} }";
        assert_eq!(guard::check(text), Ok(()));
        assert_eq!(endpoints(text), ["<x:1>"]);
        let refused = refuse(&mut SparqlParser::new().parse_query(text).unwrap());
        assert_eq!(refused, Err(guard::Refusal::Forbidden("SERVICE")));
    }
}
