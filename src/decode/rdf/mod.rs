//! RDF in every syntax.
//!
//! A record is a named graph, or a whole description in the default graph: an instance with its
//! work, their agents, its items ([`describe`]). That needs all links of a document at once; one
//! that is too large for memory is cut by its subjects instead ([`by_subject`]). Payloads are
//! N-Quads: one syntax in the archive, whatever came in; the first line is about the resource
//! that the record describes. Blank nodes get labels from their content ([`label`]), so the same
//! record gives the same payload in any order.
//!
//! Foreign parsers recurse and expand; [`guard`] bounds depth and contexts before they see a byte,
//! [`expansion`] what they make of it, and RDF/XML passes the XML reader's check first. They run on
//! a thread of their own ([`isolation`]). Remote JSON-LD contexts are never fetched.

mod by_subject;
mod contexts;
mod describe;
mod document;
mod expansion;
mod graph;
mod guard;
mod isolation;
mod json;
mod label;
mod links;
mod read;
mod roots;
mod split;
#[cfg(test)]
mod tests;

pub use document::document;
pub(super) use split::split;

use crate::diagnostic::{Code, Diagnostic, RecordLog};
use crate::record::{Format, Model, Record, RecordBuilder};
use oxrdf::{GraphName, NamedOrBlankNode, Quad, Triple};
use oxrdfio::{RdfFormat, RdfParser};
use std::io;

/// Reads one payload, as [`split`] made it.
pub(super) fn decode(bytes: &[u8], diagnostics: &mut RecordLog) -> Option<Record> {
    let mut record = RecordBuilder::new(Model::Rdf).finish();
    let mut graph = None;
    let mut nameless = false;
    for quad in RdfParser::from_format(RdfFormat::NQuads).for_slice(bytes) {
        match quad {
            Ok(Quad { subject, predicate, object, graph_name }) => {
                match graph_name {
                    GraphName::NamedNode(name) => graph = Some(name.into_string()),
                    GraphName::BlankNode(_) => nameless = true,
                    GraphName::DefaultGraph => {}
                }
                record.triples.push(Triple::new(subject, predicate, object));
            }
            Err(error) => {
                return diagnostics.refuse(Diagnostic::new(Code::RdfSyntax, error.to_string()));
            }
        }
    }
    if record.triples.is_empty() {
        return diagnostics.refuse(Diagnostic::new(Code::NotARecord, "the record has no statements"));
    }
    if nameless {
        return Some(record);
    }
    record.id = graph.or_else(|| match &record.triples.first()?.subject {
        NamedOrBlankNode::NamedNode(subject) => Some(subject.as_str().to_owned()),
        NamedOrBlankNode::BlankNode(_) => None,
    });
    Some(record)
}

/// Why a document, or the rest of it, gives no records.
enum Failure {
    World(io::Error),
    Data(Box<Diagnostic>),
}

/// What is said of a document that a foreign parser did not survive.
fn panicked() -> Diagnostic {
    Diagnostic::new(Code::RdfSyntax, "the document is more than its parser can bear")
        .hint("give it in another syntax, such as N-Quads")
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::World(error)
    }
}

/// The foreign parser for a format of ours; none for what is no RDF.
pub fn syntax(format: Format) -> Option<RdfFormat> {
    match format {
        Format::Turtle => Some(RdfFormat::Turtle),
        Format::NTriples => Some(RdfFormat::NTriples),
        Format::NQuads => Some(RdfFormat::NQuads),
        Format::TriG => Some(RdfFormat::TriG),
        Format::RdfXml => Some(RdfFormat::RdfXml),
        Format::JsonLd => Some(RdfFormat::JsonLd { profile: oxrdfio::JsonLdProfileSet::empty() }),
        _ => None,
    }
}
