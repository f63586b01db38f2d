//! The pattern of a query, taken apart: one [`Branch`] for each way through its `UNION`s, in
//! which every variable has its definitions.

use super::case::Known;
use super::rules::name_of;
use crate::ontology::Ontology;
use oxrdf::Variable;
use spargebra::algebra::{
    AggregateExpression, Expression, Function, GraphPattern, PropertyPathExpression as PathExpression,
};
use spargebra::term::{GroundTerm, NamedNodePattern, TermPattern};

/// More ways through a query are not followed.
const MOST_BRANCHES: usize = 256;

/// One way through a pattern.
#[derive(Debug, Clone, Default)]
pub(super) struct Branch {
    pub triples: Vec<Link>,
    pub binds: Vec<(String, Formula)>,
    pub tables: Vec<Inline>,
    /// All of them hold.
    pub filters: Vec<Formula>,
}

impl Branch {
    fn asks(&mut self, filter: &Formula) {
        match filter {
            Formula::And(parts) => parts.iter().for_each(|part| self.asks(part)),
            other => self.filters.push(other.clone()),
        }
    }
}

/// A triple of a pattern; variables and blank nodes by their names.
#[derive(Debug, Clone)]
pub(super) struct Link {
    pub subject: Option<String>,
    pub predicate: Linking,
    pub object: Option<String>,
}

#[derive(Debug, Clone)]
pub(super) enum Linking {
    /// Any of these.
    Names(Vec<String>),
    Variable(String),
}

/// `VALUES`
#[derive(Debug, Clone)]
pub(super) struct Inline {
    pub variables: Vec<String>,
    pub rows: Vec<Vec<Option<Known>>>,
}

/// An expression, as far as it tells where a value comes from.
#[derive(Debug, Clone)]
pub(super) enum Formula {
    Variable(String),
    Known(Known),
    If(Box<[Self; 3]>),
    Coalesce(Vec<Self>),
    Equal(Box<[Self; 2]>),
    In(Box<Self>, Vec<Self>),
    Not(Box<Self>),
    And(Box<[Self; 2]>),
    Or(Box<[Self; 2]>),
    Matches(Box<Self>, String),
    /// The text of a value, cut or changed in case.
    Same(Box<Self>),
    Call(Vec<Self>),
    /// Asks something of other parts of the graph.
    Nothing,
}

impl Formula {
    /// The variable whose text this is.
    pub(super) fn same_as(&self) -> Option<&str> {
        match self {
            Self::Variable(name) => Some(name),
            Self::Same(inner) => inner.same_as(),
            _ => None,
        }
    }

    /// Every variable in it.
    pub(super) fn variables(&self, found: &mut Vec<String>) {
        match self {
            Self::Variable(name) => found.push(name.clone()),
            Self::Known(_) | Self::Nothing => {}
            Self::If(parts) => parts.iter().for_each(|part| part.variables(found)),
            Self::Equal(parts) | Self::And(parts) | Self::Or(parts) => {
                parts.iter().for_each(|part| part.variables(found));
            }
            Self::Coalesce(parts) | Self::Call(parts) => parts.iter().for_each(|part| part.variables(found)),
            Self::Not(part) | Self::Matches(part, _) | Self::Same(part) => part.variables(found),
            Self::In(part, parts) => {
                part.variables(found);
                parts.iter().for_each(|part| part.variables(found));
            }
        }
    }
}

/// The ways through the pattern of a query.
pub(super) fn branches(pattern: &GraphPattern) -> Vec<Branch> {
    let mut scopes = 0;
    // The outermost projection is that of the query itself.
    let inner = match pattern {
        GraphPattern::Project { inner, .. } => inner,
        pattern => pattern,
    };
    walk(inner, &Scope { shown: None, number: 0, outer: None }, &mut scopes)
}

/// Names inside a sub-query are its own, those it shows apart.
struct Scope<'a> {
    shown: Option<&'a [Variable]>,
    number: usize,
    outer: Option<&'a Self>,
}

impl Scope<'_> {
    fn name(&self, variable: &Variable) -> String {
        match (self.shown, self.outer) {
            (Some(shown), Some(outer)) if shown.contains(variable) => outer.name(variable),
            (Some(_), _) => format!("{}#{}", variable.as_str(), self.number),
            _ => variable.as_str().to_owned(),
        }
    }

    fn term(&self, term: &TermPattern) -> Option<String> {
        match term {
            TermPattern::Variable(variable) => Some(self.name(variable)),
            TermPattern::BlankNode(node) => Some(format!("_:{}", node.as_str())),
            _ => None,
        }
    }
}

fn walk(pattern: &GraphPattern, scope: &Scope<'_>, scopes: &mut usize) -> Vec<Branch> {
    let with = |mut branches: Vec<Branch>, change: &dyn Fn(&mut Branch)| {
        branches.iter_mut().for_each(change);
        branches
    };
    match pattern {
        GraphPattern::Bgp { patterns } => {
            let triples = patterns.iter().map(|triple| Link {
                subject: scope.term(&triple.subject),
                predicate: match &triple.predicate {
                    NamedNodePattern::NamedNode(node) => Linking::Names(vec![term_name(node.as_str())]),
                    NamedNodePattern::Variable(variable) => Linking::Variable(scope.name(variable)),
                },
                object: scope.term(&triple.object),
            });
            vec![Branch { triples: triples.collect(), ..Branch::default() }]
        }
        GraphPattern::Path { subject, path, object } => {
            let (subject, object) = (scope.term(subject), scope.term(object));
            let link = Link { subject, predicate: Linking::Names(path_names(path)), object };
            vec![Branch { triples: vec![link], ..Branch::default() }]
        }
        GraphPattern::Join { left, right } => joined(walk(left, scope, scopes), &walk(right, scope, scopes)),
        GraphPattern::LeftJoin { left, right, expression } => {
            let both = joined(walk(left, scope, scopes), &walk(right, scope, scopes));
            match expression {
                Some(expression) => {
                    let asked = formula(expression, scope);
                    with(both, &|branch| branch.asks(&asked))
                }
                None => both,
            }
        }
        GraphPattern::Filter { expr, inner } => {
            let asked = formula(expr, scope);
            with(walk(inner, scope, scopes), &|branch| branch.asks(&asked))
        }
        GraphPattern::Union { left, right } => {
            let mut both = walk(left, scope, scopes);
            both.extend(walk(right, scope, scopes));
            both
        }
        GraphPattern::Extend { inner, variable, expression } => {
            let bound = (scope.name(variable), formula(expression, scope));
            with(walk(inner, scope, scopes), &|branch| branch.binds.push(bound.clone()))
        }
        GraphPattern::Values { variables, bindings } => {
            let known = |term: &GroundTerm| match term {
                GroundTerm::NamedNode(node) => Known::Iri(node.as_str().to_owned()),
                GroundTerm::Literal(literal) => Known::Text(literal.value().to_owned()),
            };
            let rows = bindings.iter().map(|row| row.iter().map(|cell| cell.as_ref().map(known)).collect());
            let variables = variables.iter().map(|variable| scope.name(variable)).collect();
            let table = Inline { variables, rows: rows.collect() };
            vec![Branch { tables: vec![table], ..Branch::default() }]
        }
        GraphPattern::Project { inner, variables } => {
            *scopes += 1;
            let inside = Scope { shown: Some(variables), number: *scopes, outer: Some(scope) };
            walk(inner, &inside, scopes)
        }
        GraphPattern::Group { inner, aggregates, .. } => {
            let bound: Vec<(String, Formula)> = aggregates
                .iter()
                .filter_map(|(variable, aggregate)| match aggregate {
                    AggregateExpression::FunctionCall { expr, .. } => {
                        Some((scope.name(variable), Formula::Call(vec![formula(expr, scope)])))
                    }
                    AggregateExpression::CountSolutions { .. } => None,
                })
                .collect();
            with(walk(inner, scope, scopes), &|branch| branch.binds.extend(bound.clone()))
        }
        GraphPattern::Minus { left: inner, .. }
        | GraphPattern::Graph { inner, .. }
        | GraphPattern::Distinct { inner }
        | GraphPattern::Reduced { inner }
        | GraphPattern::Slice { inner, .. }
        | GraphPattern::OrderBy { inner, .. } => walk(inner, scope, scopes),
        // Queries over one record ask no other service.
        _ => vec![Branch::default()],
    }
}

fn joined(left: Vec<Branch>, right: &[Branch]) -> Vec<Branch> {
    let mut all = Vec::new();
    for one in &left {
        for other in right {
            let mut both = one.clone();
            both.triples.extend(other.triples.iter().cloned());
            both.binds.extend(other.binds.iter().cloned());
            both.tables.extend(other.tables.iter().cloned());
            both.filters.extend(other.filters.iter().cloned());
            all.push(both);
        }
    }
    all.truncate(MOST_BRANCHES);
    all
}

fn path_names(path: &PathExpression) -> Vec<String> {
    match path {
        PathExpression::NamedNode(node) => vec![term_name(node.as_str())],
        PathExpression::Reverse(inner) => path_names(inner).iter().map(|name| format!("^{name}")).collect(),
        PathExpression::Sequence(first, then) => {
            let then = path_names(then);
            let first = path_names(first);
            first.iter().flat_map(|first| then.iter().map(move |then| format!("{first}/{then}"))).collect()
        }
        PathExpression::Alternative(one, other) => {
            let mut names = path_names(one);
            names.extend(path_names(other));
            names
        }
        PathExpression::ZeroOrMore(inner)
        | PathExpression::OneOrMore(inner)
        | PathExpression::ZeroOrOne(inner) => path_names(inner),
        PathExpression::NegatedPropertySet(_) => Vec::new(),
    }
}

/// A term as people write it. schema.org has two namespaces, and RDA splits its element sets
/// into parts for texts and for resources; the reader knows one name of each.
pub(super) fn term_name(iri: &str) -> String {
    let local = iri.rsplit('/').next().unwrap_or_default();
    if let Some(name) = rda_name(local) {
        return name;
    }
    let name = name_of(iri);
    name.strip_prefix("sdo:").map_or_else(|| name.clone(), |local| format!("schema:{local}"))
}

/// The element of RDA with a number: `P30156` is `rdam:P30156`.
pub(super) fn rda_name(number: &str) -> Option<String> {
    let digits = number.strip_prefix('P')?;
    if digits.len() != 5 || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let ontology = Ontology::shipped();
    ["rdaw", "rdae", "rdam", "rdai", "rdaa", "rdan", "rdap", "rdat"]
        .into_iter()
        .find(|prefix| ontology.terms(prefix).any(|(name, _)| name == number))
        .map(|prefix| format!("{prefix}:{number}"))
}

fn formula(expression: &Expression, scope: &Scope<'_>) -> Formula {
    let boxed = |e: &Expression| Box::new(formula(e, scope));
    let all = |list: &[Expression]| list.iter().map(|e| formula(e, scope)).collect::<Vec<_>>();
    match expression {
        Expression::Variable(variable) => Formula::Variable(scope.name(variable)),
        Expression::NamedNode(node) => Formula::Known(Known::Iri(node.as_str().to_owned())),
        Expression::Literal(literal) => Formula::Known(Known::Text(literal.value().to_owned())),
        Expression::If(a, b, c) => Formula::If(Box::new([a, b, c].map(|e| formula(e, scope)))),
        Expression::Coalesce(list) => Formula::Coalesce(all(list)),
        Expression::Equal(a, b) | Expression::SameTerm(a, b) => {
            Formula::Equal(Box::new([a, b].map(|e| formula(e, scope))))
        }
        Expression::And(a, b) => Formula::And(Box::new([a, b].map(|e| formula(e, scope)))),
        Expression::Or(a, b) => Formula::Or(Box::new([a, b].map(|e| formula(e, scope)))),
        Expression::Not(a) => Formula::Not(boxed(a)),
        Expression::In(a, list) => Formula::In(boxed(a), all(list)),
        Expression::FunctionCall(Function::Regex, arguments) => match arguments.as_slice() {
            [text, Expression::Literal(pattern), ..] => {
                Formula::Matches(boxed(text), pattern.value().to_owned())
            }
            _ => Formula::Nothing,
        },
        Expression::FunctionCall(Function::Str | Function::LCase | Function::Replace, arguments) => {
            arguments.first().map_or(Formula::Nothing, |text| Formula::Same(boxed(text)))
        }
        Expression::FunctionCall(_, arguments) => Formula::Call(all(arguments)),
        Expression::Add(a, b)
        | Expression::Subtract(a, b)
        | Expression::Multiply(a, b)
        | Expression::Divide(a, b) => Formula::Call(vec![formula(a, scope), formula(b, scope)]),
        Expression::UnaryPlus(a) | Expression::UnaryMinus(a) => formula(a, scope),
        _ => Formula::Nothing,
    }
}
