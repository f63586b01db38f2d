//! Writing the log, a step at a time.

use super::{Line, listed_up_to, note, path};
use crate::archive::Entry;
use crate::catalogue::{Catalogue, CatalogueError, Graphs};
use crate::ontology::pin;
use crate::publish::oai::Datestamp;
use crate::record::percent_decode;
use oxrdf::{NamedNode, NamedNodeRef, NamedOrBlankNode, Term, Triple};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// How much of the end of a log is read to find its last line.
const WINDOW: u64 = 64 * 1024;

/// What a step does to records.
#[derive(Debug, Default)]
pub struct News {
    /// Each with the time at which it came.
    lines: Vec<(Option<Datestamp>, Line)>,
}

impl News {
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// The store holds a record with these statements.
    pub fn held(&mut self, graphs: &Graphs, entry: &Entry, triples: &[Triple]) {
        let name = graphs.record(&entry.source, &entry.id);
        let of_record = |triple: &&Triple, predicate: NamedNodeRef<'_>| {
            triple.predicate.as_ref() == predicate
                && matches!(&triple.subject, NamedOrBlankNode::NamedNode(subject) if *subject == name)
        };
        let types = triples.iter().filter(|triple| of_record(triple, pin::CONTENT_TYPE));
        let types = types.filter_map(|triple| code(graphs, &triple.object)).collect();
        let model = triples.iter().find(|triple| of_record(triple, pin::FORMAT));
        let model = match model.map(|triple| &triple.object) {
            Some(Term::Literal(model)) => model.value().to_owned(),
            _ => String::new(),
        };
        self.push(entry, Line { types, model, ..Line::default() });
    }

    /// The store holds a record no more. Its content type is what the entry says, for who does not
    /// know it from an earlier line.
    pub fn withdrawn(&mut self, entry: &Entry) {
        let types = entry.content_type.iter().cloned().collect();
        self.push(entry, Line { withdrawn: true, types, ..Line::default() });
    }

    fn push(&mut self, entry: &Entry, line: Line) {
        let time = Datestamp::of_rfc3339(&entry.time);
        self.lines.push((time, Line { source: entry.source.clone(), id: entry.id.clone(), ..line }));
    }
}

/// The code of a content type is the end of its name.
fn code(graphs: &Graphs, term: &Term) -> Option<String> {
    let Term::NamedNode(name) = term else { return None };
    name.as_str().strip_prefix(graphs.content_type("").as_str()).map(percent_decode)
}

/// A log that is open for writing.
pub struct Log {
    file: File,
    /// The last step, of which the store may know nothing.
    last: Option<Datestamp>,
}

impl Log {
    /// The log of a catalogue that is held for writing, made if it is not there.
    pub fn open(directory: &Path, catalogue: &Catalogue) -> Result<Self, CatalogueError> {
        let noted = listed_up_to(catalogue.backend(), catalogue.graphs())?;
        Ok(Self::open_at(&path(directory), noted)?)
    }

    /// The file at this path, with nothing to be written before this time.
    pub(super) fn open_at(path: &Path, noted: Option<Datestamp>) -> io::Result<Self> {
        let mut file = File::options().create(true).read(true).append(true).open(path)?;
        let (last, is_torn) = end(&mut file)?;
        if is_torn {
            // What is left of the torn line becomes a line that nobody can read.
            file.write_all(b"\n")?;
        }
        Ok(Self { file, last: last.max(noted) })
    }

    pub(super) fn last(&self) -> Option<Datestamp> {
        self.last
    }

    /// Writes a step; gives the graph by which the store notes it.
    pub fn step(&mut self, graphs: &Graphs, news: News) -> io::Result<(NamedNode, Option<Vec<Triple>>)> {
        let time = self.write(news, self.last.map(Datestamp::next))?;
        self.file.sync_data()?;
        Ok(note(graphs, time))
    }

    /// Writes a part of a step.
    pub(super) fn part(&mut self, news: News) -> io::Result<()> {
        if !news.is_empty() {
            self.write(news, self.last)?;
        }
        Ok(())
    }

    pub(super) fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    /// Writes lines in the order of time, the first of them not before a moment.
    fn write(&mut self, news: News, first: Option<Datestamp>) -> io::Result<Datestamp> {
        let mut bytes = Vec::new();
        let mut last = first.unwrap_or(Datestamp::EPOCH);
        for (time, line) in news.lines {
            last = time.map_or(last, |time| last.max(time));
            serde_json::to_writer(&mut bytes, &Line { time: last.to_string(), ..line })?;
            bytes.push(b'\n');
        }
        self.last = Some(last);
        self.file.write_all(&bytes)?;
        Ok(last)
    }
}

/// The time of the last line, and whether something torn comes behind it.
fn end(file: &mut File) -> io::Result<(Option<Datestamp>, bool)> {
    let length = file.seek(SeekFrom::End(0))?;
    let mut window = WINDOW.min(length);
    loop {
        file.seek(SeekFrom::Start(length - window))?;
        let mut bytes = Vec::new();
        Read::by_ref(file).take(window).read_to_end(&mut bytes)?;
        let is_torn = bytes.last().is_some_and(|last| *last != b'\n');
        let last = bytes.rsplit(|byte| *byte == b'\n').find_map(Line::read);
        if last.is_some() || window == length {
            return Ok((last.map(|(time, _)| time), is_torn));
        }
        window = window.saturating_mul(4).min(length);
    }
}
