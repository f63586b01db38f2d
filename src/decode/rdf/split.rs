//! From a document to its records, one after the other.

use super::by_subject::key;
use super::read::{Cut, Document, read};
use super::{Failure, label};
use crate::decode::{Payload, Piece, Pieces, RECORD_LIMIT};
use crate::diagnostic::{Code, Diagnostic};
use crate::record::Format;
use oxrdf::{NamedOrBlankNode, Quad};
use std::cmp::Ordering;
use std::io::{self, BufRead};

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
    Cutting(Box<Document>),
    Done,
}

impl Iterator for Splitter<'_> {
    type Item = io::Result<Piece>;

    fn next(&mut self) -> Option<Self::Item> {
        let piece = self.piece();
        if let Err(failure) = piece {
            self.state = State::Done;
            return Some(match failure {
                Failure::World(error) => Err(error),
                Failure::Data(diagnostic) => Ok(self.reject(*diagnostic)),
            });
        }
        piece.ok().flatten().map(Ok)
    }
}

impl Splitter<'_> {
    fn piece(&mut self) -> Result<Option<Piece>, Failure> {
        if let State::Unread { .. } = self.state
            && let State::Unread { reader, format, base } = std::mem::replace(&mut self.state, State::Done)
        {
            self.state = State::Cutting(Box::new(read(reader, format, &base)?));
        }
        let State::Cutting(document) = &mut self.state else { return Ok(None) };
        if let Some(fault) = document.faults.pop_front() {
            return Ok(Some(self.reject(fault)));
        }
        let Some(mut record) = document.next()? else {
            self.state = State::Done;
            return Ok(None);
        };
        let noticed = document.note.take().into_iter().collect();
        Ok(Some(self.record(&mut record, noticed)))
    }

    fn record(&mut self, record: &mut Statements, noticed: Vec<Diagnostic>) -> Piece {
        let bytes = label::labelled_lines(&mut record.quads, record.root.as_ref()).concat().into_bytes();
        self.number += 1;
        if bytes.len() > RECORD_LIMIT {
            let diagnostic = Diagnostic::new(
                Code::OversizeRecord,
                format!("one resource is described in {} MB", bytes.len() / 1024 / 1024),
            );
            let cut = bytes.get(..RECORD_LIMIT).unwrap_or_default().to_vec();
            return Piece::Reject(Payload { bytes: cut, number: self.number, offset: 0 }, diagnostic);
        }
        Piece::Record(Payload { bytes, number: self.number, offset: 0 }, noticed)
    }

    fn reject(&mut self, diagnostic: Diagnostic) -> Piece {
        self.number += 1;
        let offset = diagnostic.place.offset.unwrap_or_default();
        Piece::Reject(Payload { bytes: Vec::new(), number: self.number, offset }, diagnostic)
    }
}

/// What a record says.
struct Statements {
    /// The resource whose description this is; none for a named graph, which has its name.
    root: Option<NamedOrBlankNode>,
    quads: Vec<Quad>,
}

impl Document {
    fn next(&mut self) -> Result<Option<Statements>, Failure> {
        let (descriptions, graphs) = match &mut self.cut {
            Cut::BySubject(subjects) => {
                let quads = subjects.next()?;
                return Ok(quads.map(|quads| Statements { root: None, quads }));
            }
            Cut::Whole(descriptions, graphs) => (descriptions, graphs),
        };
        let resource = descriptions.next_name().map(|name| key(&name).into_bytes());
        let order = match (graphs.next_key()?, resource) {
            (Some(graph), Some(resource)) => graph.cmp(&resource),
            (Some(_), None) => Ordering::Less,
            (None, _) => Ordering::Greater,
        };
        let mut quads = Vec::new();
        let mut root = None;
        if order != Ordering::Greater {
            quads = graphs.next_sorted()?.unwrap_or_default();
        }
        if order != Ordering::Less {
            let Some((of, said)) = descriptions.next() else { return Ok(None) };
            root = Some(of);
            quads.extend(said);
        }
        Ok(Some(Statements { root, quads }))
    }
}

fn encode(name: &str) -> String {
    crate::record::percent_encode(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::RecordLog;

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
            .map(|record| {
                crate::decode::rdf::decode(record.as_bytes(), &mut RecordLog::default()).unwrap().id
            })
            .collect();
        assert!(ids.contains(&None) && ids.contains(&Some("r:a".to_owned())), "{ids:?}");
    }
}
