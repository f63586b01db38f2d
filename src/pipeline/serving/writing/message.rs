//! What the server and the process that writes for it say to each other.
//!
//! Orders go one way, notices the other; both are a line of JSON, and an order is followed by as many
//! bytes as it says. Both ends are the same program, so there is no version.

use crate::serve::{Change, Document, GraphWrite, Holder, Refusal, Update, Written};
use bytes::Bytes;
use oxrdf::{GraphName, NamedNode};
use oxrdfio::RdfFormat;
use serde::{Deserialize, Serialize};
use std::io::{self, BufRead, Write};

/// What is to be done.
#[derive(Debug)]
pub(in super::super) enum Job {
    Update(Update),
    Graph(GraphWrite),
    /// Nothing new: what is archived is to be written and published.
    Repair,
}

/// A job, for whom it is done, and the number that notices name it by.
#[derive(Debug)]
pub(super) struct Order {
    pub number: u64,
    pub by: Holder,
    pub job: Job,
}

/// How far an order is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Stage {
    /// It is read and evaluated. If the process ends now, nothing is changed.
    Evaluating,
    /// It is about to be archived. If the process ends now, nobody knows.
    Archiving,
    /// All that it changes is in the archive, be it nothing, and will be shown.
    Kept,
    /// It is done with.
    Done(Result<Written, Refusal>),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Notice {
    pub number: u64,
    pub stage: Stage,
}

/// The line before the bytes of an order.
#[derive(Serialize, Deserialize)]
struct Header {
    number: u64,
    by: Holder,
    job: Kind,
    /// Of each piece that follows.
    lengths: Vec<usize>,
}

/// A job without its texts.
#[derive(Serialize, Deserialize)]
enum Kind {
    Update { base: String, using: Vec<String>, using_named: Vec<String> },
    Replace { graph: Option<String>, documents: Vec<(String, String)> },
    Add { graph: Option<String>, documents: Vec<(String, String)> },
    Remove { graph: Option<String> },
    Repair,
}

impl Order {
    pub fn write(&self) -> io::Result<Vec<u8>> {
        let mut pieces: Vec<&[u8]> = Vec::new();
        let job = match &self.job {
            Job::Repair => Kind::Repair,
            Job::Update(update) => {
                pieces.push(update.text.as_bytes());
                Kind::Update {
                    base: update.base.clone(),
                    using: texts(&update.using),
                    using_named: texts(&update.using_named),
                }
            }
            Job::Graph(GraphWrite { graph, change }) => {
                let graph = match graph {
                    GraphName::NamedNode(name) => Some(name.as_str().to_owned()),
                    _ => None,
                };
                let described = |documents: &[Document]| -> Vec<(String, String)> {
                    let named = |one: &Document| (one.format.media_type().to_owned(), one.base.clone());
                    documents.iter().map(named).collect()
                };
                match change {
                    Change::Replace(documents) => {
                        pieces.extend(documents.iter().map(|one| &*one.body));
                        Kind::Replace { graph, documents: described(documents) }
                    }
                    Change::Add(documents) => {
                        pieces.extend(documents.iter().map(|one| &*one.body));
                        Kind::Add { graph, documents: described(documents) }
                    }
                    Change::Remove => Kind::Remove { graph },
                }
            }
        };
        let lengths = pieces.iter().map(|piece| piece.len()).collect();
        let header = Header { number: self.number, by: self.by.clone(), job, lengths };
        let mut bytes = serde_json::to_vec(&header)?;
        bytes.push(b'\n');
        pieces.iter().for_each(|piece| bytes.extend_from_slice(piece));
        Ok(bytes)
    }

    /// The next order; `None` when there will be no more.
    pub fn read(from: &mut impl BufRead) -> io::Result<Option<Self>> {
        let mut line = String::new();
        if from.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let Header { number, by, job, lengths } = serde_json::from_str(&line)?;
        let mut pieces = Vec::new();
        for length in lengths {
            let mut piece = vec![0; length];
            from.read_exact(&mut piece)?;
            pieces.push(Bytes::from(piece));
        }
        let mut pieces = pieces.into_iter();
        let job = match job {
            Kind::Repair => Job::Repair,
            Kind::Update { base, using, using_named } => {
                let text = pieces.next().unwrap_or_default();
                let text = String::from_utf8(text.into()).map_err(io::Error::other)?;
                Job::Update(Update { text, base, using: names(using)?, using_named: names(using_named)? })
            }
            Kind::Replace { graph, documents: described } => {
                let change = Change::Replace(documents(described, pieces)?);
                Job::Graph(GraphWrite { graph: graph_of(graph)?, change })
            }
            Kind::Add { graph, documents: described } => {
                let change = Change::Add(documents(described, pieces)?);
                Job::Graph(GraphWrite { graph: graph_of(graph)?, change })
            }
            Kind::Remove { graph } => {
                Job::Graph(GraphWrite { graph: graph_of(graph)?, change: Change::Remove })
            }
        };
        Ok(Some(Self { number, by, job }))
    }
}

impl Notice {
    pub fn write(&self, to: &mut impl Write) -> io::Result<()> {
        let mut line = serde_json::to_vec(self)?;
        line.push(b'\n');
        to.write_all(&line)?;
        to.flush()
    }

    pub fn read(line: &str) -> io::Result<Self> {
        Ok(serde_json::from_str(line)?)
    }
}

fn texts(names: &[NamedNode]) -> Vec<String> {
    names.iter().map(|name| name.as_str().to_owned()).collect()
}

fn names(texts: Vec<String>) -> io::Result<Vec<NamedNode>> {
    texts.into_iter().map(|text| NamedNode::new(text).map_err(io::Error::other)).collect()
}

fn graph_of(name: Option<String>) -> io::Result<GraphName> {
    match name {
        Some(name) => Ok(NamedNode::new(name).map_err(io::Error::other)?.into()),
        None => Ok(GraphName::DefaultGraph),
    }
}

fn documents(
    described: Vec<(String, String)>,
    pieces: impl Iterator<Item = Bytes>,
) -> io::Result<Vec<Document>> {
    let one = |((media_type, base), body): ((String, String), Bytes)| {
        let format = RdfFormat::from_media_type(&media_type)
            .ok_or_else(|| io::Error::other(format!("`{media_type}` is not RDF")))?;
        Ok(Document { format, base, body })
    };
    described.into_iter().zip(pieces).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serve::Role;
    use std::io::Cursor;

    fn holder() -> Holder {
        Holder { role: Role::Writer, token: Some("t1".to_owned()), source: None }
    }

    #[test]
    fn orders_are_read_as_they_were_written() {
        let name = |text: &str| NamedNode::new_unchecked(text);
        let update = Update {
            text: "INSERT DATA {\n}".to_owned(),
            base: "http://c.example/".to_owned(),
            using: vec![name("http://g.example/")],
            using_named: Vec::new(),
        };
        let document = |body: &'static str| Document {
            format: RdfFormat::Turtle,
            base: "http://c.example/".to_owned(),
            body: Bytes::from_static(body.as_bytes()),
        };
        let change = Change::Add(vec![document("<a> <b> <c> ."), document("\n")]);
        let graph = GraphWrite { graph: name("http://g.example/").into(), change };
        let jobs = [Job::Update(update), Job::Graph(graph), Job::Repair];
        let mut bytes = Vec::new();
        let mut written = Vec::new();
        for (number, job) in (1..).zip(jobs) {
            let order = Order { number, by: holder(), job };
            bytes.extend(order.write().unwrap());
            written.push(format!("{order:?}"));
        }
        let mut from = Cursor::new(bytes);
        let mut read = Vec::new();
        while let Some(order) = Order::read(&mut from).unwrap() {
            read.push(format!("{order:?}"));
        }
        assert_eq!(read, written);
    }

    #[test]
    fn notices_are_read_as_they_were_written() {
        let refused = Refusal::Unavailable { message: "full\n".to_owned(), retry_after: 10 };
        for stage in
            [Stage::Evaluating, Stage::Kept, Stage::Done(Ok(Written::Created)), Stage::Done(Err(refused))]
        {
            let notice = Notice { number: 7, stage };
            let mut line = Vec::new();
            notice.write(&mut line).unwrap();
            assert_eq!(line.iter().filter(|byte| **byte == b'\n').count(), 1);
            assert_eq!(Notice::read(std::str::from_utf8(&line).unwrap()).unwrap(), notice);
        }
    }
}
