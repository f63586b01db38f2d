//! RDF records: their statements as they are, blank nodes given names in the record, and what the
//! queries of the concordances make of them.

use crate::concordance::{Concordances, Query, Words};
use crate::diagnostic::Diagnostic;
use crate::record::Record;
use oxrdf::{BlankNode, Dataset, GraphNameRef, NamedNode, NamedOrBlankNode, Term, Triple};
use rustc_hash::{FxHashMap, FxHashSet};

/// Copies the record's statements and adds what the queries construct.
pub(super) fn map(
    record: &Record,
    concordances: &Concordances,
    name: &NamedNode,
    triples: &mut Vec<Triple>,
) -> Vec<Diagnostic> {
    let first = triples.len();
    copy(record, name, triples);
    let own = triples.get(first..).unwrap_or_default();
    let words = Words::of(own);
    let asked: Vec<&Query> =
        concordances.queries().iter().filter(|query| query.need.is_met_by(&words)).collect();
    if asked.is_empty() {
        return Vec::new();
    }
    let dataset = dataset(own);
    let mut known: FxHashSet<Triple> = triples.iter().cloned().collect();
    for query in asked {
        let made = query.construct(concordances.evaluator(), name, &dataset);
        let rule = query.name.rsplit('/').next().unwrap_or("query");
        for triple in named(&made, rule, name) {
            if known.insert(triple.clone()) {
                triples.push(triple);
            }
        }
    }
    Vec::new()
}

/// The statements as queries are asked of them.
fn dataset(triples: &[Triple]) -> Dataset {
    triples.iter().map(|triple| triple.as_ref().in_graph(GraphNameRef::DefaultGraph)).collect()
}

/// Gives the blank nodes of a template names after their content, as everywhere.
fn named(triples: &[Triple], rule: &str, record: &NamedNode) -> Vec<Triple> {
    let mut of_node: FxHashMap<&BlankNode, Vec<&Triple>> = FxHashMap::default();
    for triple in triples {
        if let NamedOrBlankNode::BlankNode(node) = &triple.subject {
            of_node.entry(node).or_default().push(triple);
        }
    }
    let mut names: FxHashMap<&BlankNode, NamedNode> = FxHashMap::default();
    for node in of_node.keys() {
        let content = content(node, &of_node, 0);
        let hash = xxhash_rust::xxh3::xxh3_64(content.as_bytes());
        names.insert(node, NamedNode::new_unchecked(format!("{}#{rule}-{hash:016x}", record.as_str())));
    }
    let rename = |node: &BlankNode| {
        names.get(node).cloned().unwrap_or_else(|| {
            NamedNode::new_unchecked(format!("{}#{rule}-{}", record.as_str(), node.as_str()))
        })
    };
    triples
        .iter()
        .filter(|triple| match &triple.object {
            // A node of which nothing was made is not linked to.
            Term::BlankNode(node) => of_node.contains_key(node),
            _ => true,
        })
        .map(|triple| {
            let subject = match &triple.subject {
                NamedOrBlankNode::BlankNode(node) => rename(node).into(),
                subject => subject.clone(),
            };
            let object = match &triple.object {
                Term::BlankNode(node) => rename(node).into(),
                object => object.clone(),
            };
            Triple { subject, predicate: triple.predicate.clone(), object }
        })
        .collect()
}

/// What a node says, nodes inside it included.
fn content(node: &BlankNode, of_node: &FxHashMap<&BlankNode, Vec<&Triple>>, depth: usize) -> String {
    let mut lines: Vec<String> = of_node
        .get(node)
        .into_iter()
        .flatten()
        .map(|triple| match &triple.object {
            Term::BlankNode(inner) if depth < 8 => {
                format!("{} [{}]", triple.predicate, content(inner, of_node, depth + 1))
            }
            Term::BlankNode(_) => triple.predicate.to_string(),
            object => format!("{} {object}", triple.predicate),
        })
        .collect();
    lines.sort_unstable();
    lines.join("\n")
}

fn copy(record: &Record, name: &NamedNode, triples: &mut Vec<Triple>) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::{self, Options};
    use crate::record::Format;
    use std::fs;
    use std::path::Path;

    /// The records of a file of ours.
    fn records(path: &str, format: Format) -> Vec<Record> {
        let bytes = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
        decode::split(Box::new(bytes.as_slice()), format, path)
            .filter_map(|piece| match piece.unwrap() {
                decode::Piece::Record(payload, _) => {
                    decode::decode(&payload.bytes, Format::NQuads, &Options::default(), &mut Vec::new())
                }
                decode::Piece::Reject(..) => None,
            })
            .collect()
    }

    #[test]
    fn a_query_that_is_not_asked_would_have_found_nothing() {
        let concordances = Concordances::shipped();
        let name = NamedNode::new_unchecked("r:record");
        let (mut asked, mut spared) = (0, 0);
        for record in records("examples/museum.ttl", Format::Turtle) {
            let mut triples = Vec::new();
            copy(&record, &name, &mut triples);
            let words = Words::of(&triples);
            let dataset = dataset(&triples);
            for query in concordances.queries() {
                if query.need.is_met_by(&words) {
                    asked += 1;
                } else {
                    spared += 1;
                    let made = query.construct(concordances.evaluator(), &name, &dataset);
                    assert_eq!(made, [], "{}", query.name);
                }
            }
        }
        assert!(spared > 2 * asked, "asked {asked}, spared {spared}");
    }
}
