//! Cutting an RDF document into records.

use super::guard::DepthGuard;
use super::{label, syntax};
use crate::decode::{Payload, Piece, Pieces, RECORD_LIMIT, xml};
use crate::diagnostic::{Code, Diagnostic};
use crate::record::Format;
use crate::sort::{Sorted, Sorter};
use oxrdf::{BlankNode, GraphName, NamedOrBlankNode, Quad, Term};
use oxrdfio::{RdfFormat, RdfParseError, RdfParser};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read, Seek, Write};

/// Statements about named subjects held in memory before they go to disk.
const SORT_BUDGET: usize = 64 * 1024 * 1024;
/// Statements about blank nodes are held in memory until their owner is known.
const BLANK_LIMIT: usize = 1_000_000;
/// Statements about blank nodes that all records of a document may hold together.
const COPY_LIMIT: usize = 5_000_000;
/// After this many syntax errors the rest of the document is given up.
const ERROR_LIMIT: usize = 100;

pub(in crate::decode) fn split<'a>(
    reader: Box<dyn BufRead + Send + 'a>,
    format: Format,
    name: &str,
) -> Pieces<'a> {
    Box::new(Splitter {
        state: State::Unread { reader, format, base: format!("file:///{}", encode(name)) },
        number: 0,
    })
}

struct Splitter<'a> {
    state: State<'a>,
    number: u64,
}

enum State<'a> {
    Unread { reader: Box<dyn BufRead + Send + 'a>, format: Format, base: String },
    Cutting(Box<Cutting>),
    Done,
}

/// The document read and sorted.
struct Cutting {
    faults: VecDeque<Diagnostic>,
    statements: std::iter::Peekable<Sorted>,
    blank: FxHashMap<BlankNode, Vec<Quad>>,
    /// Blank nodes that some record holds.
    owned: FxHashSet<BlankNode>,
    /// Statements about blank nodes that went into records, some into several.
    copied: usize,
    /// Blank nodes that no statement points at, then all others, in document order.
    roots: VecDeque<BlankNode>,
}

impl Iterator for Splitter<'_> {
    type Item = io::Result<Piece>;

    fn next(&mut self) -> Option<Self::Item> {
        if let State::Unread { .. } = self.state
            && let State::Unread { reader, format, base } = std::mem::replace(&mut self.state, State::Done)
        {
            match read(reader, format, &base) {
                Ok(cutting) => self.state = State::Cutting(Box::new(cutting)),
                Err(Failure::World(error)) => return Some(Err(error)),
                Err(Failure::Data(diagnostic)) => return Some(Ok(self.reject(*diagnostic))),
            }
        }
        let State::Cutting(cutting) = &mut self.state else { return None };
        if let Some(fault) = cutting.faults.pop_front() {
            return Some(Ok(self.reject(fault)));
        }
        if cutting.copied > COPY_LIMIT {
            let message = format!("records share blank nodes with more than {COPY_LIMIT} statements in all");
            self.state = State::Done;
            return Some(Ok(self.reject(Diagnostic::new(Code::RdfLimit, message))));
        }
        match cutting.next_record() {
            Ok(Some(mut quads)) => Some(Ok(self.record(&mut quads))),
            Ok(None) => {
                self.state = State::Done;
                None
            }
            Err(error) => {
                self.state = State::Done;
                Some(Err(error))
            }
        }
    }
}

impl Splitter<'_> {
    fn record(&mut self, quads: &mut [Quad]) -> Piece {
        let bytes = label::labelled_lines(quads).concat().into_bytes();
        self.number += 1;
        if bytes.len() > RECORD_LIMIT {
            let diagnostic = Diagnostic::new(
                Code::OversizeRecord,
                format!("one resource is described in {} MB", bytes.len() / 1024 / 1024),
            );
            let cut = bytes.get(..RECORD_LIMIT).unwrap_or_default().to_vec();
            return Piece::Reject(Payload { bytes: cut, number: self.number, offset: 0 }, diagnostic);
        }
        Piece::Record(Payload { bytes, number: self.number, offset: 0 }, Vec::new())
    }

    fn reject(&mut self, diagnostic: Diagnostic) -> Piece {
        self.number += 1;
        let offset = diagnostic.place.offset.unwrap_or_default();
        Piece::Reject(Payload { bytes: Vec::new(), number: self.number, offset }, diagnostic)
    }
}

impl Cutting {
    fn next_record(&mut self) -> io::Result<Option<Vec<Quad>>> {
        if let Some(first) = self.statements.next() {
            let first = first?;
            let key = key_of(&first).to_vec();
            let mut quads = vec![parse(&first)?];
            // An error ends the reading, not just this record.
            while let Some(next) = self.statements.next_if(|next| match next {
                Ok(next) => key_of(next) == key.as_slice(),
                Err(_) => true,
            }) {
                quads.push(parse(&next?)?);
            }
            self.close(&mut quads);
            return Ok(Some(quads));
        }
        while let Some(root) = self.roots.pop_front() {
            if self.owned.contains(&root) {
                continue;
            }
            self.owned.insert(root.clone());
            let mut quads = self.blank.get(&root).cloned().unwrap_or_default();
            self.close(&mut quads);
            if !quads.is_empty() {
                return Ok(Some(quads));
            }
        }
        Ok(None)
    }

    /// Adds what is said of the blank nodes reached from here.
    fn close(&mut self, quads: &mut Vec<Quad>) {
        let mut reached = FxHashSet::default();
        let mut next = 0;
        while let Some(quad) = quads.get(next) {
            next += 1;
            if let Term::BlankNode(node) = &quad.object
                // What is said in the default graph belongs to whoever points there from it.
                && quad.graph_name == GraphName::DefaultGraph
                && reached.insert(node.clone())
            {
                self.owned.insert(node.clone());
                let said = self.blank.get(node).cloned().unwrap_or_default();
                self.copied += said.len();
                quads.extend(said);
            }
        }
    }
}

enum Failure {
    World(io::Error),
    Data(Box<Diagnostic>),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::World(error)
    }
}

fn read<'a>(reader: Box<dyn BufRead + Send + 'a>, format: Format, base: &str) -> Result<Cutting, Failure> {
    let Some(syntax) = syntax(format) else {
        let diagnostic = Diagnostic::new(Code::UnknownFormat, format!("`{format}` is not RDF"));
        return Err(Failure::Data(Box::new(diagnostic)));
    };
    let guarded: Box<dyn Read + 'a> = match syntax {
        RdfFormat::RdfXml => Box::new(checked(reader)?),
        RdfFormat::JsonLd { .. } => Box::new(DepthGuard::new(reader, true)),
        _ => Box::new(DepthGuard::new(reader, false)),
    };
    let mut faults = VecDeque::new();
    let mut sorter = Sorter::new(SORT_BUDGET);
    let mut blank: FxHashMap<BlankNode, Vec<Quad>> = FxHashMap::default();
    let mut order = Vec::new();
    let mut pointed_at = FxHashSet::default();
    let mut held = 0;
    let parser = RdfParser::from_format(syntax)
        .with_base_iri(base)
        .map_err(|error| Failure::World(io::Error::other(error)))?;
    for quad in parser.for_reader(BufReader::new(guarded)) {
        let quad = match quad {
            Ok(quad) => quad,
            Err(RdfParseError::Syntax(error)) => {
                let offset = error.location().map(|place| place.start.offset);
                let mut fault = Diagnostic::new(Code::RdfSyntax, error.to_string());
                fault.place.offset = offset;
                faults.push_back(fault);
                if faults.len() >= ERROR_LIMIT {
                    break;
                }
                continue;
            }
            Err(RdfParseError::Io(error)) if error.kind() == io::ErrorKind::Other => {
                faults.push_back(Diagnostic::new(
                    Code::RdfLimit,
                    format!("the rest of the document is refused: {error}"),
                ));
                break;
            }
            Err(RdfParseError::Io(error)) if error.kind() == io::ErrorKind::UnexpectedEof => {
                faults.push_back(Diagnostic::new(Code::RdfSyntax, "the document ends in the middle"));
                break;
            }
            Err(RdfParseError::Io(error)) => return Err(error.into()),
        };
        if let Term::BlankNode(object) = &quad.object {
            pointed_at.insert(object.clone());
        }
        match (&quad.graph_name, &quad.subject) {
            (GraphName::DefaultGraph, NamedOrBlankNode::BlankNode(subject)) => {
                held += 1;
                if held > BLANK_LIMIT {
                    let message = format!("more than {BLANK_LIMIT} statements about blank nodes");
                    let diagnostic = Diagnostic::new(Code::RdfLimit, message)
                        .hint("give the records as named graphs, or cut the file");
                    return Err(Failure::Data(Box::new(diagnostic)));
                }
                let said = blank.entry(subject.clone()).or_default();
                if said.is_empty() {
                    order.push(subject.clone());
                }
                said.push(quad);
            }
            _ => sorter.push(&line_of(&quad))?,
        }
    }
    let (inner, roots): (Vec<_>, Vec<_>) = order.into_iter().partition(|node| pointed_at.contains(node));
    Ok(Cutting {
        faults,
        statements: sorter.sorted()?.peekable(),
        blank,
        owned: FxHashSet::default(),
        copied: 0,
        // A ring of blank nodes has no root: whichever comes first stands for it.
        roots: roots.into_iter().chain(inner).collect(),
    })
}

/// The document, once our own reader found nothing in it that the foreign one must not see.
fn checked<'a>(mut reader: Box<dyn BufRead + Send + 'a>) -> Result<BufReader<std::fs::File>, Failure> {
    let mut copy = tempfile::tempfile()?;
    io::copy(&mut reader, &mut copy)?;
    copy.flush()?;
    copy.rewind()?;
    xml::check(BufReader::new(&copy)).map_err(|diagnostic| Failure::Data(Box::new(diagnostic)))?;
    copy.rewind()?;
    Ok(BufReader::new(copy))
}

/// A sortable line: the record's key, a zero, the statement.
fn line_of(quad: &Quad) -> Vec<u8> {
    let key = match &quad.graph_name {
        // A graph and a resource of one name are one record.
        GraphName::DefaultGraph => quad.subject.to_string(),
        graph => graph.to_string(),
    };
    format!("{key}\0{quad}").into_bytes()
}

fn key_of(line: &[u8]) -> &[u8] {
    line.split(|byte| *byte == 0).next().unwrap_or_default()
}

fn parse(line: &[u8]) -> io::Result<Quad> {
    let statement = line.splitn(2, |byte| *byte == 0).nth(1).unwrap_or_default();
    let statement = [statement, b" ."].concat();
    RdfParser::from_format(RdfFormat::NQuads)
        .for_slice(&statement)
        .next()
        .and_then(Result::ok)
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "a sorted statement cannot be read back"))
}

fn encode(name: &str) -> String {
    crate::record::percent_encode(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The payloads of N-Quads, each as its lines.
    fn records(text: &'static str) -> Vec<String> {
        split(Box::new(text.as_bytes()), Format::NQuads, "x.nq")
            .map(|piece| match piece.unwrap() {
                Piece::Record(payload, _) => String::from_utf8(payload.bytes).unwrap(),
                Piece::Reject(_, reason) => reason.message,
            })
            .collect()
    }

    /// It was once lost: the node counted as owned by the graph, which does not say it.
    #[test]
    fn a_blank_node_that_a_graph_points_at_keeps_what_is_said_of_it_outside() {
        let found = records("_:b <r:p> \"kept\" .\n<r:s> <r:p> _:b <r:g> .\n");
        assert_eq!(found.len(), 2);
        assert!(found.iter().any(|record| record.contains("kept")), "{found:?}");
    }

    /// One of the two once replaced the other.
    #[test]
    fn a_graph_and_a_resource_of_one_name_are_one_record() {
        let found = records("<r:a> <r:p> \"outside\" .\n<r:x> <r:p> \"inside\" <r:a> .\n");
        assert_eq!(found.len(), 1);
        assert!(found[0].contains("outside") && found[0].contains("inside"));
    }

    #[test]
    fn a_graph_with_a_blank_name_is_known_by_its_content() {
        let found = records("<r:a> <r:p> \"1\" .\n<r:a> <r:p> \"2\" _:g .\n");
        assert_eq!(found.len(), 2);
        let ids: Vec<_> = found
            .iter()
            .map(|record| crate::decode::rdf::decode(record.as_bytes(), &mut Vec::new()).unwrap().id)
            .collect();
        assert!(ids.contains(&None) && ids.contains(&Some("r:a".to_owned())), "{ids:?}");
    }
}
