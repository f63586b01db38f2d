//! What a record must say for a query to find anything in it.
//!
//! All queries are asked of every RDF record, and most are for another vocabulary. Preparing and
//! evaluating one costs far more than looking whether the words it cannot do without are there.
//! Only the parts of a query count that every solution needs: what is optional, negated or
//! aggregated over nothing does not, and what we do not understand needs nothing.

use crate::ontology::rdf;
use oxrdf::{Term, Triple, Variable};
use regex::Regex;
use rustc_hash::FxHashSet;
use spargebra::algebra::{Expression, Function, GraphPattern, PropertyPathExpression};
use spargebra::term::{GroundTerm, NamedNodePattern, TermPattern, TriplePattern};

/// A condition without which a query has no solution.
#[derive(Debug, Clone)]
pub enum Need {
    Nothing,
    /// This IRI is a predicate or an object.
    Iri(String),
    /// A predicate or a class lies in this namespace.
    Vocabulary(String),
    /// A predicate matches.
    Predicate(Regex),
    /// A class matches.
    Class(Regex),
    All(Vec<Self>),
    Any(Vec<Self>),
}

/// The words a record uses.
#[derive(Debug, Default)]
pub struct Words<'a> {
    iris: FxHashSet<&'a str>,
    predicates: FxHashSet<&'a str>,
    classes: FxHashSet<&'a str>,
}

impl<'a> Words<'a> {
    pub fn of(triples: &'a [Triple]) -> Self {
        let mut words = Self::default();
        for triple in triples {
            words.iris.insert(triple.predicate.as_str());
            words.predicates.insert(triple.predicate.as_str());
            if let Term::NamedNode(object) = &triple.object {
                words.iris.insert(object.as_str());
                if triple.predicate == rdf::TYPE {
                    words.classes.insert(object.as_str());
                }
            }
        }
        words
    }
}

impl Need {
    /// What a pattern needs.
    pub fn of(pattern: &GraphPattern) -> Self {
        match pattern {
            GraphPattern::Bgp { patterns } => Self::all(patterns.iter().map(of_triple)),
            GraphPattern::Path { path, .. } => of_path(path),
            GraphPattern::Join { left, right } => {
                let places = Places::of(pattern);
                Self::all([left, right].map(|side| match &**side {
                    GraphPattern::Values { variables, bindings } => of_values(variables, bindings, &places),
                    side => Self::of(side),
                }))
            }
            GraphPattern::Union { left, right } => Self::any([Self::of(left), Self::of(right)]),
            GraphPattern::LeftJoin { left, .. } | GraphPattern::Minus { left, .. } => Self::of(left),
            GraphPattern::Filter { expr, inner } => {
                Self::all([Self::of(inner), of_condition(expr, &Places::of(inner))])
            }
            // Aggregates over everything give a row even if there is nothing.
            GraphPattern::Group { variables, .. } if variables.is_empty() => Self::Nothing,
            GraphPattern::Group { inner, .. }
            | GraphPattern::Extend { inner, .. }
            | GraphPattern::OrderBy { inner, .. }
            | GraphPattern::Project { inner, .. }
            | GraphPattern::Distinct { inner }
            | GraphPattern::Reduced { inner }
            | GraphPattern::Slice { inner, .. } => Self::of(inner),
            _ => Self::Nothing,
        }
    }

    /// This, and a term of one of some namespaces, if any are given.
    pub fn and_one_of<'a>(self, namespaces: impl Iterator<Item = &'a str>) -> Self {
        let stated: Vec<Self> = namespaces.map(|namespace| Self::Vocabulary(namespace.to_owned())).collect();
        if stated.is_empty() { self } else { Self::all([Self::any(stated), self]) }
    }

    pub fn is_met_by(&self, words: &Words<'_>) -> bool {
        match self {
            Self::Nothing => true,
            Self::Iri(iri) => words.iris.contains(iri.as_str()),
            Self::Vocabulary(namespace) => {
                words.predicates.iter().chain(&words.classes).any(|iri| iri.starts_with(namespace.as_str()))
            }
            Self::Predicate(pattern) => words.predicates.iter().any(|iri| pattern.is_match(iri)),
            Self::Class(pattern) => words.classes.iter().any(|iri| pattern.is_match(iri)),
            Self::All(needs) => needs.iter().all(|need| need.is_met_by(words)),
            Self::Any(needs) => needs.iter().any(|need| need.is_met_by(words)),
        }
    }

    fn all(needs: impl IntoIterator<Item = Self>) -> Self {
        let mut needs: Vec<Self> = needs.into_iter().filter(|need| !matches!(need, Self::Nothing)).collect();
        // Looking a word up is cheaper than trying a pattern on every word.
        needs.sort_by_key(|need| !matches!(need, Self::Iri(_)));
        if needs.is_empty() { Self::Nothing } else { Self::All(needs) }
    }

    fn any(needs: impl IntoIterator<Item = Self>) -> Self {
        let needs: Vec<Self> = needs.into_iter().collect();
        if needs.iter().any(|need| matches!(need, Self::Nothing)) { Self::Nothing } else { Self::Any(needs) }
    }
}

fn of_triple(triple: &TriplePattern) -> Need {
    let predicate = match &triple.predicate {
        NamedNodePattern::NamedNode(iri) => Need::Iri(iri.as_str().to_owned()),
        NamedNodePattern::Variable(_) => Need::Nothing,
    };
    let object = match &triple.object {
        TermPattern::NamedNode(iri) => Need::Iri(iri.as_str().to_owned()),
        _ => Need::Nothing,
    };
    Need::all([predicate, object])
}

fn of_path(path: &PropertyPathExpression) -> Need {
    match path {
        PropertyPathExpression::NamedNode(iri) => Need::Iri(iri.as_str().to_owned()),
        PropertyPathExpression::Reverse(path) | PropertyPathExpression::OneOrMore(path) => of_path(path),
        PropertyPathExpression::Sequence(first, then) => Need::all([of_path(first), of_path(then)]),
        PropertyPathExpression::Alternative(one, other) => Need::any([of_path(one), of_path(other)]),
        PropertyPathExpression::ZeroOrMore(_)
        | PropertyPathExpression::ZeroOrOne(_)
        | PropertyPathExpression::NegatedPropertySet(_) => Need::Nothing,
    }
}

/// A table of values beside the statements that its variables stand in.
fn of_values(variables: &[Variable], rows: &[Vec<Option<GroundTerm>>], places: &Places<'_>) -> Need {
    let columns = variables.iter().enumerate().filter(|(_, name)| places.is_iri_of_the_record(name));
    Need::all(columns.map(|(column, _)| {
        Need::any(rows.iter().map(|row| match row.get(column) {
            Some(Some(GroundTerm::NamedNode(iri))) => Need::Iri(iri.as_str().to_owned()),
            _ => Need::Nothing,
        }))
    }))
}

fn of_condition(condition: &Expression, places: &Places<'_>) -> Need {
    match condition {
        Expression::And(one, other) => Need::all([of_condition(one, places), of_condition(other, places)]),
        Expression::Or(one, other) => Need::any([of_condition(one, places), of_condition(other, places)]),
        Expression::Exists(pattern) => Need::of(pattern),
        Expression::In(value, list) => match &**value {
            Expression::Variable(variable) if places.is_iri_of_the_record(variable) => {
                Need::any(list.iter().map(|item| match item {
                    Expression::NamedNode(iri) => Need::Iri(iri.as_str().to_owned()),
                    _ => Need::Nothing,
                }))
            }
            _ => Need::Nothing,
        },
        Expression::FunctionCall(Function::Regex, arguments) => of_regex(arguments, places),
        _ => Need::Nothing,
    }
}

/// `REGEX(STR(?variable), "pattern")`, without flags.
fn of_regex(arguments: &[Expression], places: &Places<'_>) -> Need {
    let [Expression::FunctionCall(Function::Str, of), Expression::Literal(pattern)] = arguments else {
        return Need::Nothing;
    };
    let (Some(Expression::Variable(variable)), Ok(pattern)) = (of.first(), Regex::new(pattern.value()))
    else {
        return Need::Nothing;
    };
    if places.predicates.contains(variable) {
        Need::Predicate(pattern)
    } else if places.classes.contains(variable) {
        Need::Class(pattern)
    } else {
        Need::Nothing
    }
}

/// Where variables stand in the statements that every solution needs.
#[derive(Default)]
struct Places<'a> {
    predicates: FxHashSet<&'a Variable>,
    classes: FxHashSet<&'a Variable>,
}

impl<'a> Places<'a> {
    fn of(pattern: &'a GraphPattern) -> Self {
        let mut places = Self::default();
        places.add(pattern);
        places
    }

    fn add(&mut self, pattern: &'a GraphPattern) {
        match pattern {
            GraphPattern::Bgp { patterns } => patterns.iter().for_each(|triple| self.add_triple(triple)),
            GraphPattern::Join { left, right } => {
                self.add(left);
                self.add(right);
            }
            GraphPattern::LeftJoin { left: inner, .. }
            | GraphPattern::Filter { inner, .. }
            | GraphPattern::Extend { inner, .. } => self.add(inner),
            _ => {}
        }
    }

    fn add_triple(&mut self, triple: &'a TriplePattern) {
        match (&triple.predicate, &triple.object) {
            (NamedNodePattern::Variable(predicate), _) => {
                self.predicates.insert(predicate);
            }
            (NamedNodePattern::NamedNode(predicate), TermPattern::Variable(class))
                if *predicate == rdf::TYPE =>
            {
                self.classes.insert(class);
            }
            _ => {}
        }
    }

    fn is_iri_of_the_record(&self, variable: &Variable) -> bool {
        self.predicates.contains(variable) || self.classes.contains(variable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxrdfio::{RdfFormat, RdfParser};
    use spargebra::{Query, SparqlParser};

    /// Whether a query is asked of a record.
    fn is_asked(condition: &str, record: &str) -> bool {
        let text = format!("PREFIX r: <r:> CONSTRUCT {{ ?s r:made ?o }} WHERE {{ {condition} }}");
        let Query::Construct { pattern, .. } = SparqlParser::new().parse_query(&text).unwrap() else {
            panic!("not a CONSTRUCT")
        };
        let record = format!("PREFIX r: <r:> {record}");
        let triples: Vec<Triple> = RdfParser::from_format(RdfFormat::Turtle)
            .for_slice(&record)
            .map(|quad| quad.unwrap().into())
            .collect();
        Need::of(&pattern).is_met_by(&Words::of(&triples))
    }

    #[test]
    fn predicates_and_classes_of_the_pattern_must_be_there() {
        assert!(is_asked("?s a r:Work ; r:title ?o", "r:1 a r:Work ; r:title 'x' ."));
        assert!(!is_asked("?s a r:Work ; r:title ?o", "r:1 a r:Instance ; r:title 'x' ."));
        assert!(!is_asked("?s a r:Work ; r:title ?o", "r:1 a r:Work ."));
        assert!(!is_asked("?s r:agent/(r:label|^r:name) ?o", "r:1 r:agent r:2 ."));
        assert!(is_asked("?s r:agent/(r:label|^r:name) ?o", "r:1 r:agent r:2 ; r:name r:1 ."));
    }

    #[test]
    fn what_is_optional_negated_or_aggregated_need_not_be_there() {
        let record = "r:1 r:title 'x' .";
        assert!(is_asked("?s r:title ?o OPTIONAL { ?s r:date ?d }", record));
        assert!(is_asked("?s r:title ?o FILTER NOT EXISTS { ?s r:date ?d }", record));
        assert!(is_asked("?s r:title ?o MINUS { ?s r:date ?d }", record));
        assert!(is_asked("?s r:title ?o { SELECT (MIN(?d) AS ?min) WHERE { ?x r:date ?d } }", record));
        assert!(is_asked("?s r:title|r:label ?o . ?s r:sameAs* ?t", record));
        assert!(is_asked("{ ?s r:title ?o } UNION { ?s r:date ?o }", record));
        assert!(!is_asked("{ ?s r:name ?o } UNION { ?s r:date ?o }", record));
        assert!(!is_asked("?s r:title ?o FILTER EXISTS { ?s r:date ?d }", record));
        assert!(!is_asked("{ SELECT ?s (MIN(?d) AS ?o) WHERE { ?s r:date ?d } GROUP BY ?s }", record));
    }

    #[test]
    fn filters_and_values_of_predicates_and_classes_count() {
        let record = "r:1 a r:Book ; r:title 'r:date' .";
        assert!(is_asked("?s ?p ?o FILTER(REGEX(STR(?p), '^r:ti'))", record));
        assert!(!is_asked("?s ?p ?o FILTER(REGEX(STR(?p), '^r:date'))", record));
        // A text may match, and so may a name that is no class.
        assert!(is_asked("?s ?p ?o FILTER(REGEX(STR(?o), '^r:date'))", record));
        assert!(is_asked("?s a ?o FILTER(REGEX(STR(?o), 'Book$') || ?o IN (r:Map))", record));
        assert!(!is_asked("?s a ?o FILTER(?o IN (r:Map, r:Atlas))", record));
        assert!(is_asked("?s a ?o FILTER(?o NOT IN (r:Map, r:Atlas))", record));
        assert!(is_asked("VALUES (?o ?k) { (r:Map 1) (r:Book 2) } ?s a ?o", record));
        assert!(!is_asked("VALUES (?o ?k) { (r:Map 1) (r:Atlas 2) } ?s a ?o", record));
        assert!(is_asked("VALUES (?o ?k) { (r:Map 1) (UNDEF 2) } ?s a ?o", record));
    }
}
