//! What things and properties are called on a page, and whose word counts for it.
//!
//! Every record may say anything about anything, so a label is looked for only where the right to
//! give it lies. Properties and kinds are called as the program and the vocabularies say; no record
//! has a say in that. A thing is called as the page's own statements have it, then as the master
//! does, then as the record does that the thing is part of. A thing of others is called as the
//! program, the vocabularies and the records behind the page say, which reach no other page, or as the
//! entry of the master that it is part of.

#[cfg(test)]
mod tests;

use super::codes::meaning;
use crate::catalogue::{Backend, CatalogueError, Graphs, Selection};
use crate::ontology::{pin, rdf, rdfs, skos};
use crate::serve::Description;
use oxrdf::{GraphName, Literal, NamedNode, NamedNodeRef, NamedOrBlankNode, Term, Triple};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// More names than this are not looked up for one page.
const MOST_NAMES: usize = 1000;
/// Of more labels than this, in whatever languages, the rest is not looked at.
const MOST_LABELS: usize = 20;
/// Of more records behind a page than this, the rest is not asked what things of others are called.
const MOST_MEMBERS: usize = 16;

/// What a thing is called by, the best first.
const LABELS: [NamedNodeRef<'static>; 2] = [rdfs::LABEL, skos::PREF_LABEL];

/// What the things and properties of a description are called, by IRI.
pub(super) fn names(
    store: &dyn Backend,
    graphs: &Graphs,
    description: &Description,
) -> Result<BTreeMap<String, String>, CatalogueError> {
    let authorities = Authorities::new(store, graphs, description)?;
    let mut terms: BTreeSet<&NamedNode> = BTreeSet::new();
    let mut things: BTreeSet<&NamedNode> = BTreeSet::new();
    for triple in &description.triples {
        terms.insert(&triple.predicate);
        if let NamedOrBlankNode::NamedNode(subject) = &triple.subject {
            things.insert(subject);
        }
        if let Term::NamedNode(object) = &triple.object {
            let names = if triple.predicate == rdf::TYPE { &mut terms } else { &mut things };
            names.insert(object);
        }
    }
    for inbound in &description.inbound {
        terms.insert(&inbound.role);
        things.insert(&inbound.subject);
    }
    let mut names = BTreeMap::new();
    // What is used as a property on the page is one, whatever else is said of it there.
    let things = things.difference(&terms).copied();
    for (node, is_term) in
        terms.iter().map(|term| (*term, true)).chain(things.map(|thing| (thing, false))).take(MOST_NAMES)
    {
        let name = if is_term { authorities.term(node)? } else { authorities.thing(node)? };
        names.extend(name.map(|name| (node.as_str().to_owned(), name)));
    }
    Ok(names)
}

/// The graphs of vocabularies: the one that is shipped, and those that were loaded.
pub(super) fn vocabularies(store: &dyn Backend, graphs: &Graphs) -> Result<Vec<GraphName>, CatalogueError> {
    let list = Selection { graph: Some(graphs.vocabularies().into()), ..Selection::default() };
    let mut loaded = BTreeSet::new();
    for quad in store.quads(&list)? {
        if let NamedOrBlankNode::NamedNode(graph) = quad?.subject {
            loaded.insert(graph);
        }
    }
    Ok(std::iter::once(graphs.vocabulary()).chain(loaded).map(GraphName::from).collect())
}

/// Whoever may say what something is called on one page.
struct Authorities<'a> {
    store: &'a dyn Backend,
    graphs: &'a Graphs,
    /// The labels among the page's own statements, by subject and property.
    own: FxHashMap<(&'a str, &'a str), Vec<&'a Literal>>,
    vocabularies: Vec<GraphName>,
    /// The records that the page is made of.
    records: Vec<GraphName>,
}

impl<'a> Authorities<'a> {
    fn new(
        store: &'a dyn Backend,
        graphs: &'a Graphs,
        description: &'a Description,
    ) -> Result<Self, CatalogueError> {
        let vocabularies = vocabularies(store, graphs)?;
        let members = description.triples.iter().filter(|triple| triple.predicate == pin::MEMBER);
        let members: BTreeSet<NamedNode> = members
            .filter_map(|triple| match &triple.object {
                Term::NamedNode(member) => record_of(graphs, member),
                _ => None,
            })
            .take(MOST_MEMBERS)
            .collect();
        let records = members.into_iter().map(GraphName::from).collect();
        let mut own: FxHashMap<_, Vec<&Literal>> = FxHashMap::default();
        for Triple { subject, predicate, object } in &description.triples {
            if let (NamedOrBlankNode::NamedNode(subject), Term::Literal(label)) = (subject, object)
                && LABELS.contains(&predicate.as_ref())
            {
                own.entry((subject.as_str(), predicate.as_str())).or_default().push(label);
            }
        }
        Ok(Self { store, graphs, own, vocabularies, records })
    }

    /// The name of a property, a kind or a role.
    fn term(&self, node: &NamedNode) -> Result<Option<String>, CatalogueError> {
        match self.label_in_any(node, &self.vocabularies)? {
            None => Ok(meaning(node.as_str()).map(str::to_owned)),
            name => Ok(name),
        }
    }

    fn thing(&self, node: &NamedNode) -> Result<Option<String>, CatalogueError> {
        let graphs = self.graphs;
        if node.as_str().starts_with(graphs.base()) {
            if let Some(name) = self.own_label(node) {
                return Ok(Some(name));
            }
            let mut places = vec![GraphName::DefaultGraph];
            places.extend(record_of(graphs, node).map(GraphName::from));
            places.push(graphs.sources().into());
            if let Some(name) = self.label_in_any(node, &places)? {
                return Ok(Some(name));
            }
            return self.label_in_any(node, &self.vocabularies);
        }
        if let Some(name) = self.term(node)? {
            return Ok(Some(name));
        }
        if let Some(name) = self.own_label(node) {
            return Ok(Some(name));
        }
        match (self.label_in_any(node, &self.records)?, self.entry_with(node)?) {
            (None, Some(entry)) => self.label_in_any(&entry, &[GraphName::DefaultGraph]),
            (name, _) => Ok(name),
        }
    }

    /// The entry of the master that a thing is part of.
    fn entry_with(&self, node: &NamedNode) -> Result<Option<NamedNode>, CatalogueError> {
        let selection = Selection {
            predicate: Some(pin::MEMBER.into_owned()),
            object: Some(node.clone().into()),
            graph: Some(GraphName::DefaultGraph),
            ..Selection::default()
        };
        match self.store.quads(&selection)?.next().transpose()?.map(|quad| quad.subject) {
            Some(NamedOrBlankNode::NamedNode(entry)) => Ok(Some(entry)),
            _ => Ok(None),
        }
    }

    /// The name that a page's own statements give.
    fn own_label(&self, node: &NamedNode) -> Option<String> {
        let labels = LABELS.iter().filter_map(|property| self.own.get(&(node.as_str(), property.as_str())));
        labels.filter_map(|labels| best(labels.iter().copied())).next()
    }

    /// The name that the first of these graphs gives which gives one.
    fn label_in_any(&self, node: &NamedNode, graphs: &[GraphName]) -> Result<Option<String>, CatalogueError> {
        for graph in graphs {
            for property in LABELS {
                let selection = Selection {
                    subject: Some(node.clone().into()),
                    predicate: Some(property.into_owned()),
                    graph: Some(graph.clone()),
                    ..Selection::default()
                };
                let mut labels: Vec<Literal> = Vec::new();
                for quad in self.store.quads(&selection)?.take(MOST_LABELS) {
                    if let Term::Literal(label) = quad?.object {
                        labels.push(label);
                    }
                }
                if let Some(label) = best(labels.iter()) {
                    return Ok(Some(label));
                }
            }
        }
        Ok(None)
    }
}

/// The graph of the record that a node is part of, by its name: nobody else's record can have it.
fn record_of(graphs: &Graphs, node: &NamedNode) -> Option<NamedNode> {
    let records = graphs.records();
    let (record, _) = node.as_str().rsplit_once('#').unwrap_or((node.as_str(), ""));
    record.starts_with(&records).then(|| NamedNode::new_unchecked(record))
}

/// Of several labels, one that readers of an English page understand.
fn best<'a>(labels: impl Iterator<Item = &'a Literal>) -> Option<String> {
    let is_foreign = |label: &Literal| label.language().is_some_and(|tag| !tag.starts_with("en"));
    labels.min_by_key(|label| (is_foreign(label), label.value())).map(|label| label.value().to_owned())
}
