//! The first master on its way to the full-text index.
//!
//! The index needs every entry, with its neighbours, right after all of them were loaded. Reading a
//! statement back from the store costs some microseconds, and there are dozens a record. So while
//! the first master is loaded its entries are also written to a temporary file, in short, and the
//! index is made from there. Whatever goes wrong with it, the store has everything.

use super::cache::{Bytes, EntryKey, put_number, put_text};
use super::entity::Kind;
use crate::catalogue::Graphs;
use crate::catalogue::spelling::respell;
use crate::pipeline::indexing::is_of_named;
use oxrdf::{GraphName, Literal, NamedNode, NamedOrBlankNode, Quad, Term, Triple};
use rustc_hash::FxHashMap;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Bytes gathered before they are written.
const GATHERED: usize = 1 << 20;

/// Where an entry lies in the file.
#[derive(Debug, Clone, Copy)]
struct Place {
    offset: u64,
    length: u32,
    /// The beginning, which says what the entry is called.
    names: u32,
}

/// Entries in a temporary file.
pub(in crate::pipeline) struct Spool {
    file: File,
    base: String,
    places: FxHashMap<EntryKey, Place>,
    /// In the order in which they came: those of one record are near each other.
    order: Vec<EntryKey>,
    gathered: Vec<u8>,
    written: u64,
    /// Properties and datatypes, by their numbers.
    terms: Vec<NamedNode>,
    numbers: FxHashMap<NamedNode, usize>,
}

/// What an object is.
#[repr(u8)]
enum Tag {
    /// The entry itself or a node inside it: what follows its name.
    Own,
    /// Another entry.
    Entry,
    Iri,
    Plain,
    Tagged,
    Typed,
}

impl Spool {
    /// An empty one, below a directory that has room.
    pub fn new(directory: &Path, graphs: &Graphs) -> io::Result<Self> {
        Ok(Self {
            file: tempfile::tempfile_in(directory)?,
            base: graphs.base().to_owned(),
            places: FxHashMap::default(),
            order: Vec::new(),
            gathered: Vec::new(),
            written: 0,
            terms: Vec::new(),
            numbers: FxHashMap::default(),
        })
    }

    /// Takes up the statements of an entry; those about how it came to be are left out.
    pub fn put(&mut self, (kind, id): EntryKey, quads: &[Quad]) -> io::Result<()> {
        let name = format!("{}{}/{id:016x}", self.base, kind.name());
        let start = self.gathered.len();
        let mut names = start;
        for of_names in [true, false] {
            for quad in quads.iter().filter(|quad| quad.graph_name == GraphName::DefaultGraph) {
                let is_own =
                    matches!(&quad.subject, NamedOrBlankNode::NamedNode(node) if node.as_str() == name);
                if (is_own && is_of_named(quad.predicate.as_ref())) == of_names {
                    self.write(&name, quad);
                }
            }
            if of_names {
                names = self.gathered.len();
            }
        }
        let length = |from: usize, to: usize| u32::try_from(to - from).map_err(io::Error::other);
        let place = Place {
            offset: self.written + start as u64,
            length: length(start, self.gathered.len())?,
            names: length(start, names)?,
        };
        self.places.insert((kind, id), place);
        self.order.push((kind, id));
        if self.gathered.len() >= GATHERED {
            self.flush()?;
        }
        Ok(())
    }

    /// Makes all that was put readable.
    pub fn flush(&mut self) -> io::Result<()> {
        self.file.write_all(&self.gathered)?;
        self.written += self.gathered.len() as u64;
        self.gathered.clear();
        Ok(())
    }

    /// The entries in the order in which they came.
    pub fn order(&self) -> &[EntryKey] {
        &self.order
    }

    /// What is said of an entry and the nodes inside it.
    pub fn about(&self, key: EntryKey) -> io::Result<Vec<Triple>> {
        self.read(key, |place| place.length)
    }

    /// What an entry is called.
    pub fn names(&self, key: EntryKey) -> io::Result<Vec<Triple>> {
        self.read(key, |place| place.names)
    }

    fn read(&self, key: EntryKey, length: impl FnOnce(&Place) -> u32) -> io::Result<Vec<Triple>> {
        let Some(place) = self.places.get(&key) else { return Ok(Vec::new()) };
        let mut bytes = vec![0; length(place) as usize];
        self.file.read_exact_at(&mut bytes, place.offset)?;
        let name = format!("{}{}/{:016x}", self.base, key.0.name(), key.1);
        let mut bytes = Bytes(&bytes);
        let mut triples = Vec::new();
        while !bytes.0.is_empty() {
            let triple = self.triple(&name, &mut bytes);
            triples.push(triple.ok_or_else(|| io::Error::other("what was spooled cannot be read"))?);
        }
        Ok(triples)
    }

    fn number(&mut self, term: &NamedNode) -> usize {
        if let Some(number) = self.numbers.get(term) {
            return *number;
        }
        let number = self.terms.len();
        self.terms.push(term.clone());
        self.numbers.insert(term.clone(), number);
        number
    }

    fn write(&mut self, name: &str, quad: &Quad) {
        let NamedOrBlankNode::NamedNode(subject) = &quad.subject else { return };
        let Some(inside) = subject.as_str().strip_prefix(name) else { return };
        put_text(&mut self.gathered, inside);
        let predicate = self.number(&quad.predicate);
        put_number(&mut self.gathered, predicate);
        match &quad.object {
            Term::NamedNode(node) => {
                if let Some(inside) = node.as_str().strip_prefix(name).filter(|rest| is_inside(rest)) {
                    self.gathered.push(Tag::Own as u8);
                    put_text(&mut self.gathered, inside);
                } else if let Some((kind, id)) = self.entry(node.as_str()) {
                    self.gathered.push(Tag::Entry as u8);
                    self.gathered.push(kind as u8);
                    self.gathered.extend_from_slice(&id.to_le_bytes());
                } else {
                    self.gathered.push(Tag::Iri as u8);
                    put_text(&mut self.gathered, node.as_str());
                }
            }
            // Nobody makes any.
            Term::BlankNode(node) => {
                self.gathered.push(Tag::Iri as u8);
                put_text(&mut self.gathered, node.as_str());
            }
            Term::Literal(literal) => {
                if let Some(language) = literal.language() {
                    self.gathered.push(Tag::Tagged as u8);
                    put_text(&mut self.gathered, language);
                } else if literal.datatype() == oxrdf::vocab::xsd::STRING {
                    self.gathered.push(Tag::Plain as u8);
                } else {
                    self.gathered.push(Tag::Typed as u8);
                    let datatype = self.number(&literal.datatype().into_owned());
                    put_number(&mut self.gathered, datatype);
                }
                put_text(&mut self.gathered, literal.value());
            }
        }
    }

    /// The entry that a name is of, if it is written in the usual way.
    fn entry(&self, iri: &str) -> Option<EntryKey> {
        let (kind, id) = iri.strip_prefix(&self.base)?.split_once('/')?;
        let kind = Kind::from_name(kind)?;
        let is_usual = id.len() == 16 && id.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        Some((kind, u64::from_str_radix(id, 16).ok().filter(|_| is_usual)?))
    }

    fn triple(&self, name: &str, bytes: &mut Bytes<'_>) -> Option<Triple> {
        let term = |number: usize| self.terms.get(number).cloned();
        let subject = NamedNode::new_unchecked(format!("{name}{}", bytes.text()?));
        let predicate = term(bytes.number()?)?;
        let tag = bytes.byte()?;
        let object: Term = if tag == Tag::Own as usize {
            NamedNode::new_unchecked(format!("{name}{}", bytes.text()?)).into()
        } else if tag == Tag::Entry as usize {
            let kind = Kind::ALL.get(bytes.byte()?)?;
            let id = u64::from_le_bytes(bytes.take(8)?.try_into().ok()?);
            NamedNode::new_unchecked(format!("{}{}/{id:016x}", self.base, kind.name())).into()
        } else if tag == Tag::Iri as usize {
            NamedNode::new_unchecked(bytes.text()?).into()
        } else if tag == Tag::Plain as usize {
            Literal::new_simple_literal(bytes.text()?).into()
        } else if tag == Tag::Tagged as usize {
            let language = bytes.text()?;
            Literal::new_language_tagged_literal_unchecked(bytes.text()?, language).into()
        } else {
            let datatype = term(bytes.number()?)?;
            let mut value = Literal::new_typed_literal(bytes.text()?, datatype).into();
            // The index must be the same when it is made from the store.
            respell(&mut value);
            value
        };
        Some(Triple::new(subject, predicate, object))
    }
}

/// Whether what follows an entry's name makes it the name of a node inside.
fn is_inside(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with('#')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ontology::{bf, dcterms, pin, rdf, rdfs, xsd};
    use std::collections::BTreeSet;
    use tempfile::TempDir;

    #[test]
    fn entries_come_back_as_they_were() {
        let directory = TempDir::new().unwrap();
        let graphs = Graphs::new("https://c.example/").unwrap();
        let mut spool = Spool::new(directory.path(), &graphs).unwrap();
        let entry = |id: u64| graphs.entry("work", id);
        let inside = NamedNode::new_unchecked(format!("{}#title-1", entry(7).as_str()));
        let said: Vec<(NamedNode, NamedNode, Term)> = vec![
            (entry(7), rdf::TYPE.into_owned(), bf::WORK.into_owned().into()),
            (entry(7), rdfs::LABEL.into_owned(), Literal::new_simple_literal("Walden").into()),
            (entry(7), bf::TITLE.into_owned(), inside.clone().into()),
            (
                inside,
                bf::MAIN_TITLE.into_owned(),
                Literal::new_language_tagged_literal("é", "en").unwrap().into(),
            ),
            (entry(7), bf::EXPRESSION_OF.into_owned(), graphs.entry("hub", 0xab).into()),
            (entry(7), pin::MEMBER.into_owned(), graphs.record("s", "1").into()),
            (entry(7), bf::RELATED_TO.into_owned(), entry(0x71).into()),
            (entry(7), dcterms::ISSUED.into_owned(), Literal::new_typed_literal("1854", xsd::INTEGER).into()),
        ];
        let quads: Vec<Quad> = said
            .into_iter()
            .map(|(subject, predicate, object)| {
                Quad::new(subject, predicate, object, GraphName::DefaultGraph)
            })
            .collect();
        let mut all = quads.clone();
        all.push(Quad::new(entry(7), rdf::TYPE.into_owned(), pin::MERGE.into_owned(), graphs.resolution()));
        spool.put((Kind::Work, 7), &all).unwrap();
        spool.put((Kind::Work, 8), &quads[..0]).unwrap();
        spool.flush().unwrap();
        let lines = |triples: Vec<Triple>| triples.iter().map(ToString::to_string).collect::<BTreeSet<_>>();
        let expected = lines(quads.iter().cloned().map(Triple::from).collect());
        assert_eq!(lines(spool.about((Kind::Work, 7)).unwrap()), expected);
        assert_eq!(lines(spool.names((Kind::Work, 7)).unwrap()).len(), 2);
        assert!(spool.about((Kind::Work, 8)).unwrap().is_empty());
        assert!(spool.about((Kind::Work, 9)).unwrap().is_empty());
        assert_eq!(spool.order(), [(Kind::Work, 7), (Kind::Work, 8)]);
    }
}
