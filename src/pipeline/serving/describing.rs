//! What is known of an entity: what it says, what leads to it, and what all that is called.

use super::codes::meaning;
use crate::catalogue::{Catalogue, CatalogueError, Selection};
use crate::ontology::{prov, rdfs, skos};
use crate::serve::{Description, Inbound};
use oxrdf::{GraphName, Literal, NamedNode, NamedOrBlankNode, Term, Triple};
use std::collections::BTreeMap;

/// More names than this are not looked up for one page.
const MOST_NAMES: usize = 1000;
/// Of more labels than this, in whatever languages, the rest is not looked at.
const MOST_LABELS: usize = 20;
/// As many links to an entity are listed.
const MOST_INBOUND: usize = 500;

/// What the snapshot knows of an entity; none if nothing.
pub(super) fn describe(catalogue: &Catalogue, iri: NamedNode) -> Result<Option<Description>, CatalogueError> {
    // A record is a graph of its own; everything else is part of the master, or of what there is
    // while nothing is merged.
    let mut triples: Vec<Triple> = catalogue.graph(&iri)?;
    if triples.is_empty() && was_record(catalogue, &iri)? {
        return Ok(Some(Description { gone: true, ..Description::new(iri) }));
    }
    if triples.is_empty() {
        triples = own_statements(catalogue, &iri, &GraphName::DefaultGraph)?;
    }
    if triples.is_empty() && !catalogue.has_master()? {
        triples = about(catalogue, &iri)?;
    }
    if triples.is_empty() {
        for name in [catalogue.graphs().sources(), catalogue.graphs().vocabulary()] {
            triples.extend(own_statements(catalogue, &iri, &name.into())?);
        }
    }
    let bound = [("entity", Term::from(iri.clone()))];
    if triples.is_empty() {
        let moved = catalogue.rows("serve/replaced", &bound)?;
        let now = moved.into_iter().flatten().flatten().find_map(|term| match term {
            Term::NamedNode(now) if now != iri => Some(now),
            _ => None,
        });
        return Ok(now.map(|now| Description { moved_to: Some(now), ..Description::new(iri) }));
    }
    let mut description = Description::new(iri);
    for row in catalogue.rows("serve/inbound", &bound)? {
        if let [Some(Term::NamedNode(role)), Some(Term::NamedNode(subject)), _] = row.as_slice() {
            description.inbound.push(Inbound { role: role.clone(), subject: subject.clone() });
        }
    }
    description.more_inbound = description.inbound.len() > MOST_INBOUND;
    description.inbound.truncate(MOST_INBOUND);
    description.inbound.sort();
    description.triples = triples;
    description.labels = names(catalogue, &description)?;
    Ok(Some(description))
}

/// Where a record came from stays known when it is withdrawn.
fn was_record(catalogue: &Catalogue, iri: &NamedNode) -> Result<bool, CatalogueError> {
    let graphs = catalogue.graphs();
    if !iri.as_str().starts_with(&graphs.records()) {
        return Ok(false);
    }
    let selection = Selection {
        subject: Some(iri.clone().into()),
        predicate: Some(prov::WAS_GENERATED_BY.into_owned()),
        graph: Some(graphs.provenance().into()),
        ..Selection::default()
    };
    Ok(catalogue.backend().quads(&selection)?.next().transpose()?.is_some())
}

fn own_statements(
    catalogue: &Catalogue,
    iri: &NamedNode,
    graph: &GraphName,
) -> Result<Vec<Triple>, CatalogueError> {
    Ok(catalogue.described(iri, graph)?.into_iter().map(Triple::from).collect())
}

/// Statements about one thing, in all graphs.
fn about(catalogue: &Catalogue, iri: &NamedNode) -> Result<Vec<Triple>, CatalogueError> {
    let selection = Selection { subject: Some(iri.clone().into()), ..Selection::default() };
    catalogue.backend().quads(&selection)?.map(|quad| quad.map(Triple::from)).collect()
}

/// What the things and properties of a description are called.
fn names(
    catalogue: &Catalogue,
    description: &Description,
) -> Result<BTreeMap<String, String>, CatalogueError> {
    let mut wanted: Vec<&NamedNode> = Vec::new();
    for triple in &description.triples {
        wanted.push(&triple.predicate);
        if let NamedOrBlankNode::NamedNode(subject) = &triple.subject {
            wanted.push(subject);
        }
        if let Term::NamedNode(object) = &triple.object {
            wanted.push(object);
        }
    }
    for inbound in &description.inbound {
        wanted.extend([&inbound.role, &inbound.subject]);
    }
    wanted.sort_unstable();
    wanted.dedup();
    let mut names = BTreeMap::new();
    for node in wanted.into_iter().take(MOST_NAMES) {
        for property in [rdfs::LABEL, skos::PREF_LABEL] {
            let selection = Selection {
                subject: Some(node.clone().into()),
                predicate: Some(property.into_owned()),
                ..Selection::default()
            };
            let mut labels: Vec<Literal> = Vec::new();
            for quad in catalogue.backend().quads(&selection)?.take(MOST_LABELS) {
                if let Term::Literal(label) = quad?.object {
                    labels.push(label);
                }
            }
            // The page is in English.
            let foreign = |label: &Literal| label.language().is_some_and(|tag| !tag.starts_with("en"));
            if let Some(label) = labels.iter().min_by_key(|label| (foreign(label), label.value())) {
                names.insert(node.as_str().to_owned(), label.value().to_owned());
                break;
            }
        }
        if let Some(meaning) = meaning(node.as_str()) {
            names.entry(node.as_str().to_owned()).or_insert_with(|| meaning.to_owned());
        }
    }
    Ok(names)
}
