//! What the queries for RDF carry: for each triple of a `CONSTRUCT` with a variable as its
//! object, the way to it and the predicates on the way to the variable in the pattern.
//!
//! Which predicate or class a template writes often depends on a `VALUES` table or on `IF`; what
//! has been assumed to get there is an [`Assumed`], so that `rdam:P30107` stands beside
//! `bf:editionStatement` and not beside everything else in the table.

use super::assume::Assumed;
use super::case::Known;
use super::field::Field;
use super::pattern::{Branch, Formula, Linking, branches, rda_name, term_name};
use super::{Cells, Path, is_discriminator};
use crate::concordance::query::Query;
use spargebra::term::{NamedNodePattern, TermPattern, TriplePattern};
use std::collections::BTreeSet;

/// A step before the last is shown when there are no more than this many ways to take it.
const MOST_WAYS_BEFORE: usize = 4;
/// More combinations of classes and predicates are not followed.
const MOST_ASSUMPTIONS: usize = 4_000;

/// Adds what a query says, in its column. `passes` is for sources in BIBFRAME, whose nodes are
/// linked as they are and bring their own statements along.
pub(super) fn add(query: &Query, column: usize, passes: bool, cells: &mut Cells) {
    let (template, pattern) = query.parts();
    for branch in branches(pattern) {
        let look = Look { template, branch: &branch };
        for assumed in look.assumptions() {
            look.add(&assumed, column, passes, cells);
        }
    }
}

struct Look<'a> {
    template: &'a [TriplePattern],
    branch: &'a Branch,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Way {
    root: String,
    properties: Vec<String>,
    first: Option<String>,
}

const ROOTS: [&str; 4] = ["record", "hub", "work", "instance"];

impl Look<'_> {
    fn add(&self, assumed: &Assumed, column: usize, passes: bool, cells: &mut Cells) {
        for triple in self.template {
            let TermPattern::Variable(object) = &triple.object else { continue };
            let object = object.as_str();
            if ROOTS.contains(&object) {
                continue;
            }
            let Some(property) = self.property(triple, assumed) else { continue };
            let Some(subject) = term(&triple.subject) else { continue };
            let Some(way) = self.way(&subject, assumed, 0) else { continue };
            let at_root = ROOTS.contains(&subject.as_str());
            if property == "rdf:type" && !at_root
                || way.first.as_ref() == Some(&subject) && is_discriminator(&property)
            {
                continue;
            }
            let mut properties = way.properties.clone();
            properties.push(property.clone());
            let sources = self.sources(object, assumed, 0);
            if sources.is_empty() {
                continue;
            }
            let fields = sources.into_iter().map(Field::whole);
            if passes && self.is_theirs(object, &property, assumed) {
                let (root, properties) = match root_by(&property) {
                    Some(root) => (root.to_owned(), Vec::new()),
                    None => (way.root, properties),
                };
                cells.passed(root, properties, column, fields.collect());
                continue;
            }
            if self.template.iter().any(|other| term(&other.subject).as_deref() == Some(object)) {
                continue;
            }
            let kind = way.first.as_ref().and_then(|first| self.kind(first, assumed));
            cells.cell(Path { root: way.root, kind, properties }, column).extend(fields);
        }
    }

    /// Whether the source says the same of the value as the template.
    fn is_theirs(&self, object: &str, property: &str, assumed: &Assumed) -> bool {
        self.branch.triples.iter().any(|link| {
            link.object.as_deref() == Some(object)
                && self.names(&link.predicate, assumed).iter().any(|n| n == property)
        })
    }

    /// Every combination of what predicates and classes of the template may be.
    fn assumptions(&self) -> Vec<Assumed> {
        let mut all = vec![Assumed::default()];
        let mut seen = Vec::new();
        for triple in self.template {
            let mut variables = Vec::new();
            if let NamedNodePattern::Variable(variable) = &triple.predicate {
                variables.push((variable.as_str(), true));
            }
            if let (NamedNodePattern::NamedNode(property), TermPattern::Variable(object)) =
                (&triple.predicate, &triple.object)
                && is_discriminator(&term_name(property.as_str()))
            {
                variables.push((object.as_str(), false));
            }
            for (variable, is_predicate) in variables {
                if seen.contains(&variable) {
                    continue;
                }
                seen.push(variable);
                let mut next = Vec::new();
                for assumed in all {
                    let mut possible = self.branch.possible(variable, &assumed, 0);
                    // Another row of the same table may leave this variable open.
                    if is_predicate || possible.is_empty() {
                        possible.push(assumed);
                    }
                    next.extend(possible);
                }
                next.truncate(MOST_ASSUMPTIONS);
                all = next;
            }
        }
        all
    }

    fn property(&self, triple: &TriplePattern, assumed: &Assumed) -> Option<String> {
        match &triple.predicate {
            NamedNodePattern::NamedNode(node) => Some(term_name(node.as_str())),
            NamedNodePattern::Variable(variable) => match assumed.is.get(variable.as_str())? {
                Known::Iri(iri) => Some(term_name(iri)),
                Known::Text(_) | Known::Thing(_) => None,
            },
        }
    }

    /// The longest way to a node of the template.
    fn way(&self, node: &str, assumed: &Assumed, depth: usize) -> Option<Way> {
        if ROOTS.contains(&node) {
            return Some(Way { root: node.to_owned(), properties: vec![], first: None });
        }
        if depth > 8 {
            return None;
        }
        let links = self.template.iter().filter(|triple| term(&triple.object).as_deref() == Some(node));
        let ways = links.filter_map(|link| {
            let mut way = self.way(&term(&link.subject)?, assumed, depth + 1)?;
            let property = self.property(link, assumed)?;
            if let Some(root) = root_by(&property) {
                return Some(Way { root: root.to_owned(), properties: vec![], first: None });
            }
            way.properties.push(property);
            way.first = way.first.or_else(|| Some(node.to_owned()));
            Some(way)
        });
        let found = ways.min_by(|a, b| b.properties.len().cmp(&a.properties.len()).then_with(|| a.cmp(b)));
        found.or_else(|| self.way_of_theirs(node, assumed, depth))
    }

    /// The way to a node that the pattern finds below one the template links.
    fn way_of_theirs(&self, node: &str, assumed: &Assumed, depth: usize) -> Option<Way> {
        let links = self.branch.triples.iter().filter(|link| link.object.as_deref() == Some(node));
        let ways = links.filter_map(|link| {
            let subject = link.subject.as_deref()?;
            let known = self.template.iter().any(|triple| term(&triple.object).as_deref() == Some(subject));
            let mut way = self.way(subject, assumed, depth + 1).filter(|_| known)?;
            way.properties.push(self.names(&link.predicate, assumed).into_iter().next()?);
            Some(way)
        });
        ways.min()
    }

    fn kind(&self, node: &str, assumed: &Assumed) -> Option<String> {
        for discriminator in super::DISCRIMINATORS {
            for triple in self.template.iter().filter(|triple| term(&triple.subject).as_deref() == Some(node))
            {
                if self.property(triple, assumed).as_deref() != Some(discriminator) {
                    continue;
                }
                let known = match &triple.object {
                    TermPattern::NamedNode(node) => Some(Known::Iri(node.as_str().to_owned())),
                    TermPattern::Literal(literal) => Some(Known::Text(literal.value().to_owned())),
                    TermPattern::Variable(variable) => assumed.is.get(variable.as_str()).cloned(),
                    TermPattern::BlankNode(_) => None,
                };
                if let Some(known) = known {
                    return Some(known.notation());
                }
            }
        }
        None
    }

    /// Where the value of a variable comes from: `bf:title/bf:mainTitle`.
    fn sources(&self, variable: &str, assumed: &Assumed, depth: usize) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        if depth > 8 || ROOTS.contains(&variable) {
            return found;
        }
        if let Some(formula) = self.branch.bound(variable) {
            self.sources_of(formula, assumed, depth + 1, &mut found);
            if found.is_empty() && !matches!(formula, Formula::If(_) | Formula::Coalesce(_)) {
                let mut variables = Vec::new();
                formula.variables(&mut variables);
                found.extend(variables.iter().flat_map(|name| self.sources(name, assumed, depth + 1)));
            }
            return found;
        }
        for link in &self.branch.triples {
            if matches!(&link.predicate, Linking::Variable(name) if name == variable) {
                found.extend(self.names(&link.predicate, assumed));
            }
            if link.object.as_deref() != Some(variable) {
                continue;
            }
            let before: BTreeSet<String> = self
                .branch
                .triples
                .iter()
                .filter(|above| above.object.is_some() && above.object == link.subject)
                .flat_map(|above| self.names(&above.predicate, assumed))
                .collect();
            for name in self.names(&link.predicate, assumed) {
                if (1..=MOST_WAYS_BEFORE).contains(&before.len()) {
                    found.extend(before.iter().map(|before| format!("{before}/{name}")));
                } else {
                    found.insert(name);
                }
            }
        }
        if found.is_empty() {
            for table in
                self.branch.tables.iter().filter(|table| table.variables.iter().any(|n| n == variable))
            {
                let others = table.variables.iter().filter(|name| *name != variable);
                found.extend(others.flat_map(|name| {
                    // Only what has a meaning outside of the table leads on.
                    let elsewhere = self.branch.bound(name).is_some()
                        || self.branch.triples.iter().any(|link| {
                            link.object.as_ref() == Some(name)
                                || matches!(&link.predicate, Linking::Variable(known) if known == name)
                        });
                    if elsewhere { self.sources(name, assumed, depth + 1) } else { BTreeSet::new() }
                }));
            }
        }
        found
    }

    fn sources_of(&self, formula: &Formula, assumed: &Assumed, depth: usize, found: &mut BTreeSet<String>) {
        match formula {
            Formula::Variable(name) => found.extend(self.sources(name, assumed, depth)),
            Formula::Same(inner) => self.sources_of(inner, assumed, depth, found),
            Formula::If(parts) => {
                let [asked, yes, no] = parts.as_ref();
                for (answer, then) in [(true, yes), (false, no)] {
                    if let Some(taken) = self.branch.assume(asked, answer, assumed, 0) {
                        self.sources_of(then, &taken, depth, found);
                    }
                }
            }
            Formula::Coalesce(list) | Formula::Call(list) => {
                list.iter().for_each(|one| self.sources_of(one, assumed, depth, found));
            }
            _ => {}
        }
    }

    /// The names a predicate of the pattern may have.
    fn names(&self, predicate: &Linking, assumed: &Assumed) -> Vec<String> {
        let variable = match predicate {
            Linking::Names(names) => return names.clone(),
            Linking::Variable(variable) => variable,
        };
        let mut found = BTreeSet::new();
        // RDA's predicates are told apart by their number, cut from the IRI.
        for (name, formula) in &self.branch.binds {
            if formula.same_as() == Some(variable) {
                let numbers = self.branch.possible(name, assumed, 0).into_iter();
                found.extend(numbers.filter_map(|taken| {
                    rda_name(match taken.is.get(name)? {
                        Known::Text(text) | Known::Iri(text) | Known::Thing(text) => text,
                    })
                }));
            }
        }
        if found.is_empty() {
            for taken in self.branch.possible(variable, assumed, 0) {
                if let Some(Known::Iri(iri)) = taken.is.get(variable) {
                    found.insert(term_name(iri));
                }
            }
        }
        if found.is_empty() {
            for filter in &self.branch.filters {
                numbers(filter, variable, &mut found);
            }
        }
        found.into_iter().collect()
    }
}

/// What a property leads to that is a root of its own.
fn root_by(property: &str) -> Option<&'static str> {
    match property {
        super::DESCRIBES => Some(super::ENTITY),
        "bf:hasItem" => Some("item"),
        _ => None,
    }
}

/// The numbers of RDA that a condition asks of a predicate: `/m/(datatype/)?P(30134|30156)$`.
fn numbers(filter: &Formula, variable: &str, found: &mut BTreeSet<String>) {
    match filter {
        Formula::And(parts) | Formula::Or(parts) => {
            parts.iter().for_each(|part| numbers(part, variable, found));
        }
        Formula::Matches(asked, pattern) if asked.same_as() == Some(variable) => {
            let digits = pattern.split(|c: char| !c.is_ascii_digit());
            found.extend(digits.filter_map(|digits| rda_name(&format!("P{digits}"))));
        }
        _ => {}
    }
}

/// A variable or blank node by its name.
fn term(term: &TermPattern) -> Option<String> {
    match term {
        TermPattern::Variable(variable) => Some(variable.as_str().to_owned()),
        TermPattern::BlankNode(node) => Some(format!("_:{}", node.as_str())),
        _ => None,
    }
}
