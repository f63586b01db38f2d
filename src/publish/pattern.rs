//! Finds the places of a graph that a rule's template could have made.
//!
//! A template is a tree: things of the record at the top, nodes below them. What is constant in
//! a node has to be there; what depends on a variable may be missing, as it is when a rule runs
//! forwards. A place is known by its *anchor*: the first node below a thing, or, where the
//! template has no node, the statement itself. The values found are not yet given to variables:
//! where two variables share a property, only trying tells whose value it was.

use super::graph::{self, RecordGraph};
use crate::concordance::codes::CodeList;
use crate::concordance::program::{Expr, Given, List, Place, Predicate, Rule, Step};
use crate::ontology::rdf;
use oxrdf::Term;
use rustc_hash::FxHashMap;

/// A value of the graph, and the variables it may be the value of.
#[derive(Debug, Clone)]
pub struct Offer {
    /// The statement it was found in.
    pub statement: u32,
    pub slots: Vec<usize>,
    /// The variable that gives the property, where one does.
    pub predicate_slot: Option<usize>,
    /// It stands on a thing of the record, where other rules leave their values too.
    pub shared: bool,
}

/// A place where a template fits.
#[derive(Debug, Clone, Default)]
pub struct Spot {
    pub offers: Vec<Offer>,
    /// The graph's names of the template's nodes.
    pub nodes: Vec<Option<String>>,
    pub item: Option<String>,
    /// Statements that are the rule's constants and links.
    pub fixed: Vec<u32>,
}

/// What identifies a place: two rules that fit the same anchor tell of the same thing.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Anchor {
    Node(String),
    Statement(u32),
    /// Everything of a kind together: the values of a field that is not repeated.
    Whole(String),
}

/// A rule prepared for matching.
#[derive(Debug)]
pub struct Pattern {
    /// For each variable that gives a property: the properties it can give.
    predicates: FxHashMap<usize, Vec<String>>,
    /// Triples whose subject is a thing of the record.
    tops: Vec<usize>,
    /// The triple that leads to the anchor.
    anchor: Option<usize>,
    /// The node that another rule makes and this one adds to.
    pub extends: Option<(usize, String)>,
}

impl Pattern {
    pub fn new(rule: &Rule, lists: &[CodeList]) -> Self {
        let template = &rule.template;
        let mut predicates = FxHashMap::default();
        for triple in &template.triples {
            if let Predicate::Slot(slot) = &triple.predicate {
                let mut found = Vec::new();
                if let Some(expr) = bind(rule, *slot) {
                    iris(rule, expr, lists, &mut found, 0);
                }
                found.sort_unstable();
                found.dedup();
                predicates.insert(*slot, found);
            }
        }
        let is_top = |place: &Place| match place {
            Place::Given(given) => *given != Given::Item,
            Place::Slot(_) => true,
            _ => false,
        };
        let tops: Vec<usize> = (0..template.triples.len())
            .filter(|index| template.triples.get(*index).is_some_and(|triple| is_top(&triple.subject)))
            .collect();
        let leads = |index: &&usize| {
            template.triples.get(**index).is_some_and(|triple| match &triple.object {
                Place::Node(node) => template.nodes.get(*node).is_some_and(|node| node.varies),
                Place::Given(Given::Item) => true,
                _ => false,
            })
        };
        let anchor = tops.iter().find(leads).copied();
        let extends = if tops.is_empty() {
            template.nodes.iter().enumerate().find_map(|(index, node)| {
                let slot = node.slot?;
                match bind(rule, slot)? {
                    Expr::Node { name, .. } => Some((index, name.clone())),
                    _ => None,
                }
            })
        } else {
            None
        };
        Self { predicates, tops, anchor, extends }
    }

    /// The node of this rule that others may add to: its index by its name.
    pub fn shared_nodes(rule: &Rule) -> Vec<(usize, String)> {
        let nodes = rule.template.nodes.iter().enumerate();
        nodes
            .filter_map(|(index, node)| match bind(rule, node.slot?)? {
                Expr::Node { name, .. } => Some((index, name.clone())),
                _ => None,
            })
            .collect()
    }

    /// All places where the rule fits; `together` keeps the values of a field that is not
    /// repeated in one place.
    pub fn places(&self, rule: &Rule, graph: &RecordGraph, together: bool) -> Vec<(Anchor, Spot)> {
        let template = &rule.template;
        let mut found = Vec::new();
        let empty = Spot { nodes: vec![None; template.nodes.len()], ..Spot::default() };
        if let Some(anchor) = self.anchor {
            let Some(triple) = template.triples.get(anchor) else { return found };
            for subject in subjects(&triple.subject, graph) {
                for (statement, made) in graph.about(subject) {
                    if !self.is_predicate(&triple.predicate, made.predicate.as_str()) {
                        continue;
                    }
                    let Term::NamedNode(node) = &made.object else { continue };
                    let mut place = empty.clone();
                    place.fixed.push(statement);
                    let fits = match &triple.object {
                        Place::Node(index) => self.fit(rule, graph, *index, node.as_str(), &mut place, 0),
                        _ => {
                            place.item = Some(node.as_str().to_owned());
                            self.collect(rule, graph, None, node.as_str(), &mut place, 0)
                        }
                    };
                    if fits && self.rest(rule, graph, &mut place, anchor) {
                        found.push((Anchor::Node(node.as_str().to_owned()), place));
                    }
                }
            }
            if !found.is_empty() {
                return found;
            }
        }
        // No node: each value is a place of its own, or all of them are one.
        let mut whole = empty.clone();
        if !self.rest(rule, graph, &mut whole, usize::MAX) || whole.offers.is_empty() {
            return found;
        }
        if together {
            found.push((Anchor::Whole(rule.id.clone()), whole));
        } else {
            for offer in &whole.offers {
                let place = Spot { offers: vec![offer.clone()], ..whole.clone() };
                found.push((Anchor::Statement(offer.statement), place));
            }
        }
        found
    }

    /// The place of a rule that adds to a node of another.
    pub fn at_node(&self, rule: &Rule, graph: &RecordGraph, node: &str) -> Option<Spot> {
        let (index, _) = self.extends.as_ref()?;
        let mut place = Spot { nodes: vec![None; rule.template.nodes.len()], ..Spot::default() };
        self.fit(rule, graph, *index, node, &mut place, 0).then_some(place)
    }

    /// The statements on things of the record besides the one that leads to the anchor.
    fn rest(&self, rule: &Rule, graph: &RecordGraph, place: &mut Spot, anchor: usize) -> bool {
        let mut seen: Vec<&str> = Vec::new();
        for top in &self.tops {
            let Some(triple) = rule.template.triples.get(*top) else { continue };
            for subject in subjects(&triple.subject, graph) {
                if !seen.contains(&subject) {
                    seen.push(subject);
                }
            }
            if let (Place::Constant(constant), Predicate::Constant(predicate)) =
                (&triple.object, &triple.predicate)
            {
                let mut there = subjects(&triple.subject, graph).into_iter().flat_map(|subject| {
                    graph.objects(subject, predicate.as_ref()).filter(|(_, term)| *term == constant)
                });
                match there.next() {
                    Some((statement, _)) => place.fixed.push(statement),
                    None => return false,
                }
            }
        }
        for subject in seen {
            self.offers(rule, graph, None, Some(subject), subject, place);
            self.children(rule, graph, Some(subject), None, subject, anchor, place, 0);
        }
        true
    }

    /// Whether a node of the template fits a node of the graph; fills the place.
    fn fit(
        &self,
        rule: &Rule,
        graph: &RecordGraph,
        node: usize,
        name: &str,
        place: &mut Spot,
        depth: usize,
    ) -> bool {
        match place.nodes.get(node) {
            Some(Some(known)) => return known == name,
            Some(None) => {}
            None => return false,
        }
        if depth > 8 || !graph.knows(name) {
            return false;
        }
        let before = place.clone();
        if let Some(slot) = place.nodes.get_mut(node) {
            *slot = Some(name.to_owned());
        }
        let found = self.collect(rule, graph, Some(node), name, place, depth);
        if !found {
            *place = before;
        }
        found
    }

    /// Constants, values and children of a node, or of an item.
    fn collect(
        &self,
        rule: &Rule,
        graph: &RecordGraph,
        node: Option<usize>,
        name: &str,
        place: &mut Spot,
        depth: usize,
    ) -> bool {
        let mut constants = Vec::new();
        for triple in rule.template.triples.iter().filter(|triple| is_subject(&triple.subject, node)) {
            if let (Place::Constant(constant), Predicate::Constant(predicate)) =
                (&triple.object, &triple.predicate)
            {
                let found = graph.objects(name, predicate.as_ref()).find(|(_, term)| *term == constant);
                let Some((statement, _)) = found else { return false };
                constants.push(statement);
            }
        }
        let before = place.offers.len();
        self.offers(rule, graph, node, None, name, place);
        place.offers.retain(|offer| !constants.contains(&offer.statement));
        self.children(rule, graph, None, node, name, usize::MAX, place, depth);
        place.fixed.extend(constants);
        let varies = node.is_none_or(|node| rule.template.nodes.get(node).is_some_and(|node| node.varies));
        !varies || place.offers.len() > before
    }

    fn offers(
        &self,
        rule: &Rule,
        graph: &RecordGraph,
        node: Option<usize>,
        thing: Option<&str>,
        name: &str,
        place: &mut Spot,
    ) {
        for (statement, made) in graph.about(name) {
            if matches!(&made.object, Term::NamedNode(object) if self.is_node_of_record(graph, object.as_str()))
            {
                continue;
            }
            let mut offer =
                Offer { statement, slots: Vec::new(), predicate_slot: None, shared: thing.is_some() };
            for triple in &rule.template.triples {
                let mine = match thing {
                    Some(thing) => subjects(&triple.subject, graph).contains(&thing),
                    None => is_subject(&triple.subject, node),
                };
                if !mine || !self.is_predicate(&triple.predicate, made.predicate.as_str()) {
                    continue;
                }
                if let Place::Slot(slot) = &triple.object {
                    offer.slots.push(*slot);
                    if let Predicate::Slot(slot) = &triple.predicate {
                        offer.predicate_slot = Some(*slot);
                    }
                }
            }
            if !offer.slots.is_empty() {
                place.offers.push(offer);
            }
        }
    }

    /// A value is no node that the rules of this record made.
    fn is_node_of_record(&self, graph: &RecordGraph, name: &str) -> bool {
        name.strip_prefix(graph.record()).is_some_and(|rest| rest.starts_with('#')) && graph.knows(name)
    }

    #[expect(clippy::too_many_arguments, reason = "a step down a tree needs to know where it is")]
    fn children(
        &self,
        rule: &Rule,
        graph: &RecordGraph,
        thing: Option<&str>,
        node: Option<usize>,
        name: &str,
        anchor: usize,
        place: &mut Spot,
        depth: usize,
    ) {
        for (index, triple) in rule.template.triples.iter().enumerate() {
            let mine = match thing {
                Some(thing) => subjects(&triple.subject, graph).contains(&thing),
                None => is_subject(&triple.subject, node),
            };
            let Place::Node(child) = &triple.object else { continue };
            if !mine || index == anchor {
                continue;
            }
            for (statement, made) in graph.about(name) {
                if !self.is_predicate(&triple.predicate, made.predicate.as_str()) {
                    continue;
                }
                let Term::NamedNode(object) = &made.object else { continue };
                if self.fit(rule, graph, *child, object.as_str(), place, depth + 1) {
                    place.fixed.push(statement);
                } else if place.nodes.get(*child).is_some_and(Option::is_some)
                    && self.is_list_node(rule, *child)
                {
                    // The same node again, for another member of a list.
                    let known = place.nodes.get_mut(*child).and_then(Option::take);
                    if self.fit(rule, graph, *child, object.as_str(), place, depth + 1) {
                        place.fixed.push(statement);
                    } else if let Some(slot) = place.nodes.get_mut(*child) {
                        *slot = known;
                    }
                }
            }
        }
    }

    /// Whether all variables of a node hold lists, so that it may be there several times.
    fn is_list_node(&self, rule: &Rule, node: usize) -> bool {
        rule.template.triples.iter().filter(|triple| is_subject(&triple.subject, Some(node))).all(|triple| {
            match &triple.object {
                Place::Slot(slot) => is_list(rule, *slot),
                Place::Constant(_) => true,
                _ => false,
            }
        })
    }

    fn is_predicate(&self, predicate: &Predicate, name: &str) -> bool {
        match predicate {
            Predicate::Constant(constant) => constant.as_str() == name,
            Predicate::Slot(slot) => {
                self.predicates.get(slot).is_some_and(|known| known.iter().any(|known| known == name))
            }
        }
    }
}

impl Spot {
    /// Whether the value of an offer is a class: a template never leaves that open.
    pub fn is_type(offer: &Offer, graph: &RecordGraph) -> bool {
        graph.triple(offer.statement).is_some_and(|triple| triple.predicate.as_ref() == rdf::TYPE)
    }
}

fn is_subject(place: &Place, node: Option<usize>) -> bool {
    match (place, node) {
        (Place::Node(index), Some(node)) => *index == node,
        (Place::Given(Given::Item), None) => true,
        _ => false,
    }
}

/// The graph's names of what may be the subject.
fn subjects<'g>(place: &Place, graph: &'g RecordGraph) -> Vec<&'g str> {
    match place {
        Place::Given(given) => graph.thing(*given).into_iter().collect(),
        // A variable names the hub, the work or the instance, as the field tells.
        Place::Slot(_) => [Given::Hub, Given::Work, Given::Instance]
            .into_iter()
            .filter_map(|given| graph.thing(given))
            .collect(),
        _ => Vec::new(),
    }
}

/// The expression that binds a variable.
pub fn bind(rule: &Rule, slot: usize) -> Option<&Expr> {
    rule.steps.iter().find_map(|step| match step {
        Step::Bind { slot: bound, expr, .. } if *bound == slot => Some(expr),
        _ => None,
    })
}

/// The list that binds a variable.
pub fn values(rule: &Rule, slot: usize) -> Option<&List> {
    let found = rule.steps.iter().find_map(|step| match step {
        Step::Values { slot: bound, list, .. } if *bound == slot => Some(list),
        _ => None,
    });
    found.or(match &rule.each {
        Some(crate::concordance::program::Each::List { slot: bound, list }) if *bound == slot => Some(list),
        _ => None,
    })
}

/// Whether a variable may have several values at once.
pub fn is_list(rule: &Rule, slot: usize) -> bool {
    rule.steps.iter().any(|step| match step {
        Step::Values { slot: bound, .. } => *bound == slot,
        Step::Bind { slot: bound, along, .. } => *bound == slot && along.is_some(),
    })
}

/// The IRIs an expression can give: constants, and columns of code lists.
fn iris(rule: &Rule, expr: &Expr, lists: &[CodeList], found: &mut Vec<String>, depth: usize) {
    if depth > 6 {
        return;
    }
    match expr {
        Expr::Iri(iri) => found.push(iri.clone()),
        Expr::If(_, a, b) => {
            iris(rule, a, lists, found, depth + 1);
            iris(rule, b, lists, found, depth + 1);
        }
        Expr::Coalesce(list) => list.iter().for_each(|expr| iris(rule, expr, lists, found, depth + 1)),
        Expr::Code { list, column, .. } => {
            if let Some(list) = lists.get(*list) {
                found.extend(list.codes().filter_map(|code| list.get(code, *column)).map(str::to_owned));
            }
        }
        Expr::Slot(slot) => {
            if let Some(expr) = bind(rule, *slot) {
                iris(rule, expr, lists, found, depth + 1);
            }
        }
        _ => {}
    }
}

/// What a value says.
pub fn said<'g>(graph: &'g RecordGraph, offer: &Offer) -> Option<&'g Term> {
    graph.triple(offer.statement).map(|triple| &triple.object)
}

/// A value as a text.
pub fn said_text<'g>(graph: &'g RecordGraph, offer: &Offer) -> &'g str {
    said(graph, offer).map_or("", graph::text)
}
