//! What no rule carried, kept as it is: one node a field, with its tag, its place and the part
//! of its content that reached no statement, in the notation of rule examples.
//!
//! A node is named after its content, not its place: a field inserted before it does not
//! rename it, and a field that stands twice is one node with two places.
//!
//! Rules stop at a number of statements, and so does this. What is left out then is not lost: the
//! archive has the record as it came.

use crate::concordance::run::{Outcome, Paths, View, WHOLE};
use crate::ontology::{pin, rdf, xsd};
use crate::record::RECORD_LIMIT;
use oxrdf::{Literal, NamedNode, Triple};
use sha2::{Digest, Sha256};

/// Fields of one record that are kept. Real ones have up to some ten thousand, a library's holdings of
/// a newspaper; each makes five statements.
const MOST_NODES: usize = 100_000;

/// Bytes of all that is kept of one record. Values are parts of it, but a tag or a code that stands
/// in it once may be that of many.
const MOST_BYTES: usize = 2 * RECORD_LIMIT;

/// Whether all was kept that no rule carried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kept {
    Everything,
    /// There was more of it than a record's graph may hold.
    Beginning,
}

/// Keeps what is left of the leader and of every field.
pub(super) fn keep(
    view: &View<'_>,
    paths: &Paths<'_>,
    outcome: &Outcome,
    name: &NamedNode,
    triples: &mut Vec<Triple>,
) -> Kept {
    if is_left(view.leader, view.leader_item, outcome) {
        node(name, "LDR", view.leader, 0, triples);
    }
    let mut value = String::new();
    let (mut nodes, mut bytes) = (0, 0);
    for (index, field) in view.fields.iter().enumerate() {
        let text = is_left(field.text, field.item, outcome);
        let mut subs =
            view.subs(&field.subs).iter().filter(|sub| is_left(sub.value, sub.item, outcome)).peekable();
        if !text && subs.peek().is_none() {
            continue;
        }
        if nodes == MOST_NODES {
            return Kept::Beginning;
        }
        value.clear();
        if text {
            value.push_str(field.text);
        } else if view.model.is_marc() {
            value.extend([field.ind1, field.ind2].map(|c| if c == ' ' { '#' } else { c }));
        }
        for sub in subs {
            if !value.is_empty() {
                value.push(' ');
            }
            value.push('$');
            value.push_str(sub.code);
            value.push(' ');
            value.push_str(sub.value);
            if bytes + value.len() > MOST_BYTES {
                return Kept::Beginning;
            }
        }
        // A nested element is known by the way to it: mods:titleInfo/mods:title.
        let tag = paths.of_field(index);
        nodes += 1;
        bytes += tag.len() + value.len();
        if bytes > MOST_BYTES {
            return Kept::Beginning;
        }
        node(name, &tag, &value, index + 1, triples);
    }
    Kept::Everything
}

/// Whether a value says something that was neither carried nor left out on purpose.
pub fn is_left(value: &str, item: u32, outcome: &Outcome) -> bool {
    let carried = outcome.carried.get(item as usize).copied().unwrap_or_default();
    let ignored = outcome.ignored.get(item as usize).copied().unwrap_or_default();
    let done = carried | ignored;
    if done == WHOLE {
        return false;
    }
    let says = |c: char| !c.is_whitespace() && c != '|';
    if done == 0 {
        return value.chars().any(says);
    }
    // Some positions of a fixed field were read; the others count where they say something.
    value.chars().enumerate().any(|(position, c)| says(c) && done >> position.min(63) & 1 == 0)
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
