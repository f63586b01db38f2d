//! What no rule covers, kept as it is: one node a field, with its tag, its place and its
//! content in the notation of rule examples.
//!
//! A node is named after its content, not its place: a field inserted before it does not
//! rename it, and a field that stands twice is one node with two places.

use crate::ontology::{pin, rdf, xsd};
use crate::record::{Record, write_field};
use oxrdf::{Literal, NamedNode, Triple};
use sha2::{Digest, Sha256};

/// A way longer than this is not written out for each leaf at its end.
const LONGEST_PATH: usize = 1024;

/// Keeps the leader and every field that says something.
pub(super) fn keep(record: &Record, name: &NamedNode, triples: &mut Vec<Triple>) {
    if !record.leader().is_empty() {
        node(name, "LDR", record.leader(), 0, triples);
    }
    let mut value = String::new();
    let mut path: Vec<&str> = Vec::new();
    for (index, field) in record.fields().enumerate() {
        // A nested element is known by the way to it: mods:titleInfo/mods:title.
        path.truncate(field.depth());
        path.push(field.tag());
        if field.is_control() && field.text().is_empty() {
            continue;
        }
        value.clear();
        write_field(field, &mut value);
        if path.len() == 1 || path.iter().map(|tag| tag.len()).sum::<usize>() > LONGEST_PATH {
            node(name, field.tag(), &value, index + 1, triples);
        } else {
            node(name, &path.join("/"), &value, index + 1, triples);
        }
    }
}

fn node(record: &NamedNode, tag: &str, value: &str, order: usize, triples: &mut Vec<Triple>) {
    let mut hasher = Sha256::new();
    hasher.update(tag.as_bytes());
    hasher.update([0]);
    hasher.update(value.as_bytes());
    let mut iri = String::with_capacity(record.as_str().len() + 26);
    iri.push_str(record.as_str());
    iri.push_str("#unmapped-");
    for byte in hasher.finalize().iter().take(8) {
        iri.push(char::from_digit(u32::from(byte >> 4), 16).unwrap_or('0'));
        iri.push(char::from_digit(u32::from(byte & 15), 16).unwrap_or('0'));
    }
    let node = NamedNode::new_unchecked(iri);
    triples.push(Triple::new(record.clone(), pin::UNMAPPED, node.clone()));
    triples.push(Triple::new(node.clone(), rdf::TYPE, pin::UNMAPPED_FIELD));
    triples.push(Triple::new(node.clone(), pin::UNMAPPED_TAG, Literal::new_simple_literal(tag)));
    let order = Literal::new_typed_literal(order.to_string(), xsd::INTEGER);
    triples.push(Triple::new(node.clone(), pin::UNMAPPED_ORDER, order));
    triples.push(Triple::new(node, pin::UNMAPPED_VALUE, Literal::new_simple_literal(value)));
}
