//! Statements of one record as Turtle a person likes to read: nodes nested where they are named
//! once, prefixes for everything that has one.

use crate::ontology::{Prefixes, rdf, xsd};
use oxrdf::{NamedOrBlankNode, Term, Triple};
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt::Write;

/// Writes statements; things of the record are `$record`, `$work` … after its IRI.
pub fn write(triples: &[Triple], record: &str) -> String {
    let writer = Writer::new(triples, record);
    let mut out = String::new();
    for subject in &writer.order {
        if !writer.nested.contains(subject) {
            writer.block(subject, &mut out);
        }
    }
    out
}

struct Writer<'a> {
    record: &'a str,
    order: Vec<NamedOrBlankNode>,
    by_subject: FxHashMap<&'a NamedOrBlankNode, Vec<&'a Triple>>,
    nested: FxHashSet<NamedOrBlankNode>,
}

impl<'a> Writer<'a> {
    fn new(triples: &'a [Triple], record: &'a str) -> Self {
        let mut by_subject: FxHashMap<&NamedOrBlankNode, Vec<&Triple>> = FxHashMap::default();
        let mut order = Vec::new();
        let mut named: FxHashMap<NamedOrBlankNode, usize> = FxHashMap::default();
        for triple in triples {
            let of_subject = by_subject.entry(&triple.subject).or_default();
            if of_subject.is_empty() {
                order.push(triple.subject.clone());
            }
            of_subject.push(triple);
            let object = match &triple.object {
                Term::NamedNode(node) => node.clone().into(),
                Term::BlankNode(node) => NamedOrBlankNode::BlankNode(node.clone()),
                Term::Literal(_) => continue,
            };
            *named.entry(object).or_default() += 1;
        }
        let nested = order
            .iter()
            .filter(|subject| named.get(*subject) == Some(&1) && is_node(subject, record))
            .cloned()
            .collect();
        Self { record, order, by_subject, nested }
    }

    fn block(&self, subject: &NamedOrBlankNode, out: &mut String) {
        let name = self.name(subject);
        out.push_str(&name);
        out.push(' ');
        let indent = 2;
        self.properties(subject, indent, out);
        out.push_str(" .\n");
    }

    fn properties(&self, subject: &NamedOrBlankNode, indent: usize, out: &mut String) {
        let Some(triples) = self.by_subject.get(subject) else { return };
        let mut previous: Option<&str> = None;
        for triple in triples {
            if previous == Some(triple.predicate.as_str()) {
                out.push_str(", ");
            } else {
                if previous.is_some() {
                    let _ = write!(out, " ;\n{}", " ".repeat(indent));
                }
                if triple.predicate.as_ref() == rdf::TYPE {
                    out.push_str("a ");
                } else {
                    let _ = write!(out, "{} ", self.iri(triple.predicate.as_str()));
                }
                previous = Some(triple.predicate.as_str());
            }
            self.object(&triple.object, indent, out);
        }
    }

    fn object(&self, object: &Term, indent: usize, out: &mut String) {
        let node: NamedOrBlankNode = match object {
            Term::Literal(literal) => {
                let _ = match (literal.language(), literal.datatype()) {
                    (Some(language), _) => write!(out, "{}@{language}", quoted(literal.value())),
                    (None, datatype) if datatype == xsd::STRING => write!(out, "{}", quoted(literal.value())),
                    (None, datatype) if datatype == xsd::INTEGER || datatype == xsd::BOOLEAN => {
                        write!(out, "{}", literal.value())
                    }
                    (None, datatype) => {
                        write!(out, "{}^^{}", quoted(literal.value()), self.iri(datatype.as_str()))
                    }
                };
                return;
            }
            Term::NamedNode(node) => node.clone().into(),
            Term::BlankNode(node) => node.clone().into(),
        };
        if self.nested.contains(&node) {
            out.push_str("[ ");
            self.properties(&node, indent + 4, out);
            out.push_str(" ]");
        } else {
            out.push_str(&self.name(&node));
        }
    }

    fn name(&self, node: &NamedOrBlankNode) -> String {
        match node {
            NamedOrBlankNode::NamedNode(node) => self.iri(node.as_str()),
            NamedOrBlankNode::BlankNode(node) => node.to_string(),
        }
    }

    fn iri(&self, iri: &str) -> String {
        if let Some(rest) = iri.strip_prefix(self.record) {
            match rest {
                "" => return "$record".to_owned(),
                "#hub" | "#work" | "#instance" => return format!("${}", rest.trim_start_matches('#')),
                _ if rest.starts_with('#') => return format!("<{rest}>"),
                _ => {}
            }
        }
        Prefixes::shipped().shorten(iri).unwrap_or_else(|| format!("<{iri}>"))
    }
}

/// Whether a node has a name only because no blank nodes are written.
pub fn is_node(subject: &NamedOrBlankNode, record: &str) -> bool {
    match subject {
        NamedOrBlankNode::BlankNode(_) => true,
        NamedOrBlankNode::NamedNode(node) => node
            .as_str()
            .strip_prefix(record)
            .and_then(|rest| rest.strip_prefix('#'))
            .is_some_and(|name| !matches!(name, "hub" | "work" | "instance")),
    }
}

fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
