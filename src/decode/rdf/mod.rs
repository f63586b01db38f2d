//! RDF in every syntax.
//!
//! A record is a named graph, or a resource described in the default graph with its
//! blank-node closure. Statements about one resource may stand anywhere in a file, so the
//! splitter sorts them (on disk, past a budget) and cuts by subject. Its payloads are
//! N-Quads: one syntax in the archive, whatever came in. Blank nodes get labels from their
//! content ([`label`]), so the same record gives the same payload in any order.
//!
//! Foreign parsers recurse and expand; [`guard`] bounds depth before they see a byte, and
//! RDF/XML passes the XML reader's check first. Remote JSON-LD contexts are never fetched.

mod guard;
mod label;
mod split;

pub(super) use split::split;

use crate::diagnostic::{Code, Diagnostic};
use crate::record::{Format, Model, Record, RecordBuilder};
use oxrdf::{GraphName, NamedOrBlankNode, Quad, Triple};
use oxrdfio::{RdfFormat, RdfParser};

/// Reads one payload, as [`split`] made it.
pub(super) fn decode(bytes: &[u8], diagnostics: &mut Vec<Diagnostic>) -> Option<Record> {
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
                diagnostics.push(Diagnostic::new(Code::RdfSyntax, error.to_string()));
                return None;
            }
        }
    }
    if record.triples.is_empty() {
        diagnostics.push(Diagnostic::new(Code::NotARecord, "the record has no statements"));
        return None;
    }
    if nameless {
        return Some(record);
    }
    // The closure of a resource holds no other named subject.
    record.id = graph.or_else(|| {
        record.triples.iter().find_map(|triple| match &triple.subject {
            NamedOrBlankNode::NamedNode(subject) => Some(subject.as_str().to_owned()),
            NamedOrBlankNode::BlankNode(_) => None,
        })
    });
    Some(record)
}

/// The foreign parser for a format of ours.
fn syntax(format: Format) -> Option<RdfFormat> {
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
