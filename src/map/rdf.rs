//! RDF records: their statements as they are, blank nodes given names in the record.

use crate::record::Record;
use oxrdf::{BlankNode, NamedNode, NamedOrBlankNode, Term, Triple};

pub(super) fn copy(record: &Record, name: &NamedNode, triples: &mut Vec<Triple>) {
    // The decoder labelled blank nodes by their content, so these names are stable.
    let skolem = |node: &BlankNode| NamedNode::new_unchecked(format!("{}#{}", name.as_str(), node.as_str()));
    for triple in &record.triples {
        let subject: NamedOrBlankNode = match &triple.subject {
            NamedOrBlankNode::BlankNode(node) => skolem(node).into(),
            subject => subject.clone(),
        };
        let object: Term = match &triple.object {
            Term::BlankNode(node) => skolem(node).into(),
            object => object.clone(),
        };
        triples.push(Triple::new(subject, triple.predicate.clone(), object));
    }
}
