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
            while let Some(Ok(next)) = self.statements.peek()
                && key_of(next) == key.as_slice()
            {
                if let Some(line) = self.statements.next() {
                    quads.push(parse(&line?)?);
                }
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
                && reached.insert(node.clone())
            {
                self.owned.insert(node.clone());
                let graph = quad.graph_name.clone();
                let said = self.blank.get(node).cloned().unwrap_or_default();
                quads.extend(said.into_iter().filter(|said| said.graph_name == graph));
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
                faults
                    .push_back(Diagnostic::new(Code::RdfLimit, format!("the document is refused: {error}")));
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
        GraphName::DefaultGraph => format!("s{}", quad.subject),
        graph => format!("g{graph}"),
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
