//! Reading an RDF document, and deciding how it is cut.
//!
//! As long as it fits in memory it is cut into whole descriptions, else by its subjects.

use super::Failure;
use super::by_subject::{Sorting, Subjects};
use super::describe::Descriptions;
use super::expansion::Expansion;
use super::graph::{Gathering, Graph};
use super::guard::Guard;
use super::isolation::{self, Lost};
use super::{panicked, syntax};
use crate::decode::{input, xml};
use crate::diagnostic::{Code, Diagnostic};
use crate::record::Format;
use oxrdf::{GraphName, NamedOrBlankNode, Quad, Triple};
use oxrdfio::{RdfFormat, RdfParseError, RdfParser};
use std::collections::{BTreeSet, VecDeque};
use std::io::{self, BufRead, BufReader, Read, Seek, Write};

/// After this many syntax errors the rest of the document is given up.
const ERROR_LIMIT: usize = 100;

/// A document, read.
pub(super) struct Document {
    /// What could not be read.
    pub faults: VecDeque<Diagnostic>,
    /// What is worth knowing about the way it is cut.
    pub note: Option<Diagnostic>,
    pub cut: Cut,
}

pub(super) enum Cut {
    /// Descriptions of what the default graph says, and the named graphs.
    Whole(Box<Descriptions>, Box<Subjects>),
    BySubject(Box<Subjects>),
}

pub(super) fn read<'a>(
    reader: Box<dyn BufRead + Send + 'a>,
    format: Format,
    base: &str,
) -> Result<Document, Failure> {
    let Some(syntax) = syntax(format) else {
        let diagnostic = Diagnostic::new(Code::UnknownFormat, format!("`{format}` is not RDF"));
        return Err(Failure::Data(Box::new(diagnostic)));
    };
    let guarded: Guard<Box<dyn BufRead + Send + 'a>> = match syntax {
        RdfFormat::RdfXml => Guard::counting(Box::new(checked(reader)?)),
        RdfFormat::JsonLd { .. } => Guard::json_ld(reader),
        _ => Guard::turtle(reader),
    };
    match isolation::run(|| parse(guarded, syntax, base)) {
        Ok(outcome) => outcome,
        Err(Lost::Panicked) => Err(Failure::Data(Box::new(panicked()))),
        Err(Lost::World(error)) => Err(error.into()),
    }
}

fn parse(guarded: Guard<impl Read>, syntax: RdfFormat, base: &str) -> Result<Document, Failure> {
    let mut expansion = Expansion::of(guarded.counter());
    let mut faults = VecDeque::new();
    // What is wrong with a JSON-LD context has no place and comes in any order: it is sorted.
    let mut unplaced: BTreeSet<String> = BTreeSet::new();
    let mut statements = Statements::default();
    let parser = RdfParser::from_format(syntax)
        .with_base_iri(base)
        .map_err(|error| Failure::World(io::Error::other(error)))?;
    for quad in parser.for_reader(BufReader::new(guarded)) {
        match quad {
            Ok(quad) => match expansion.take(&quad) {
                Ok(()) => statements.push(quad)?,
                Err(error) => {
                    faults.push_back(refused(&error));
                    break;
                }
            },
            Err(RdfParseError::Syntax(error)) => {
                let Some(place) = error.location() else {
                    unplaced.insert(error.to_string());
                    if unplaced.len() > ERROR_LIMIT {
                        unplaced.pop_last();
                    }
                    continue;
                };
                let mut fault = Diagnostic::new(Code::RdfSyntax, error.to_string());
                fault.place.offset = Some(place.start.offset);
                faults.push_back(fault);
                if faults.len() >= ERROR_LIMIT {
                    break;
                }
            }
            Err(RdfParseError::Io(error)) if error.kind() == io::ErrorKind::Other => {
                faults.push_back(refused(&error));
                break;
            }
            Err(RdfParseError::Io(error)) if error.kind() == io::ErrorKind::UnexpectedEof => {
                faults.push_back(Diagnostic::new(Code::RdfSyntax, "the document ends in the middle"));
                break;
            }
            Err(RdfParseError::Io(error)) => return Err(error.into()),
        }
    }
    faults.extend(unplaced.into_iter().map(|message| Diagnostic::new(Code::RdfSyntax, message)));
    let (cut, note) = statements.cut()?;
    Ok(Document { faults, note, cut })
}

fn refused(error: &io::Error) -> Diagnostic {
    Diagnostic::new(Code::RdfLimit, format!("the rest of the document is refused: {error}"))
}

/// The document while it is read.
struct Statements {
    /// The default graph, as long as there is room for it.
    gathering: Option<Gathering>,
    sorting: Sorting,
    /// Whether statements that could belong to a description were sorted by their subject.
    spilled: bool,
}

impl Default for Statements {
    fn default() -> Self {
        Self { gathering: Some(Gathering::default()), sorting: Sorting::new(), spilled: false }
    }
}

impl Statements {
    fn push(&mut self, quad: Quad) -> Result<(), Failure> {
        let Some(gathering) = &mut self.gathering else {
            self.spilled |= quad.graph_name == GraphName::DefaultGraph;
            return self.sorting.push(quad);
        };
        let graph: NamedOrBlankNode = match quad.graph_name.clone() {
            GraphName::DefaultGraph => {
                gathering.push(Triple::new(quad.subject, quad.predicate, quad.object));
                return self.make_room();
            }
            GraphName::NamedNode(name) => name.into(),
            GraphName::BlankNode(name) => name.into(),
        };
        gathering.name_graph(graph);
        self.sorting.push(quad)?;
        self.make_room()
    }

    fn make_room(&mut self) -> Result<(), Failure> {
        match self.gathering.take_if(|gathering| gathering.is_full()) {
            Some(gathering) => self.spill(&gathering.finish()),
            None => Ok(()),
        }
    }

    fn spill(&mut self, graph: &Graph) -> Result<(), Failure> {
        for quad in graph.statements().iter().filter_map(|said| graph.quad(*said)) {
            self.spilled = true;
            self.sorting.push(quad)?;
        }
        Ok(())
    }

    fn cut(mut self) -> Result<(Cut, Option<Diagnostic>), Failure> {
        if let Some(gathering) = self.gathering.take() {
            match Descriptions::new(gathering.finish()) {
                Ok(descriptions) => {
                    let graphs = self.sorting.finish()?;
                    return Ok((Cut::Whole(Box::new(descriptions), Box::new(graphs)), None));
                }
                Err(graph) => self.spill(&graph)?,
            }
        }
        let note = self.spilled.then(|| {
            let message = "the document is too large for whole descriptions; each named resource is a record";
            Diagnostic::new(Code::RdfBySubject, message)
                .hint("cut the file, or give the records as named graphs")
        });
        Ok((Cut::BySubject(Box::new(self.sorting.finish()?)), note))
    }
}

/// The document, once our own reader found nothing in it that the foreign one must not see.
fn checked<'a>(mut reader: Box<dyn BufRead + Send + 'a>) -> Result<BufReader<std::fs::File>, Failure> {
    let mut copy = input::temporary()?;
    io::copy(&mut reader, &mut copy)?;
    copy.flush()?;
    copy.rewind()?;
    xml::check(BufReader::new(&copy)).map_err(|diagnostic| Failure::Data(Box::new(diagnostic)))?;
    copy.rewind()?;
    Ok(BufReader::new(copy))
}
