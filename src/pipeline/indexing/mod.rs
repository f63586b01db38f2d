//! How does the full-text index follow the catalogue?
//!
//! There is a document for each entry of the master but items; while nothing is merged, for each
//! record. Whoever changes entries marks them durably before the store is written; once it is,
//! [`follow`] puts the marked ones into the index, and only then are the marks taken away. So a kill
//! at any moment costs the work of the next run and nothing else. An index that is missing, outdated
//! or damaged is made anew, from the store alone.
//!
//! A document holds texts of other entries: an instance those of its work and hub, both of them the
//! names of agents and subjects. So what depends on a marked entry follows, too; on an agent or a
//! subject only if it has other names now.

mod around;
mod documents;
mod near;
#[cfg(test)]
mod tests;

pub use around::Around;
pub(super) use around::is_of_named;
pub(super) use documents::document;
pub use near::Near;

use super::resolve::Spool;
use super::{Kind, PipelineError, Session, Watch};
use crate::catalogue::Selection;
use crate::index::{BUDGET, Document, Index, IndexError, Request, Shown, Writer};
use crate::ontology::pin;
use crate::sort::Sorter;
use documents::Documents;
use oxrdf::{GraphName, NamedNode, NamedOrBlankNode, Term};
use rayon::prelude::*;
use rustc_hash::FxHashSet;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Documents made side by side before they are put into the index.
const BATCH: usize = 512;
/// What names of entries may take in memory before they are written out, in bytes.
const NAMES: usize = 64 << 20;

/// What was done to the index.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Indexed {
    /// Documents there are now.
    pub documents: u64,
    /// Documents that were put in or taken out.
    pub put: u64,
    pub removed: u64,
    /// All of them, because there was no index to go on from, or on purpose.
    pub anew: bool,
}

/// How the index stands.
#[derive(Debug, Clone, Serialize)]
pub struct IndexStatus {
    pub state: IndexState,
    pub documents: u64,
    /// How far in the archive the index is, and how far the archive is.
    pub position: Option<u64>,
    pub last: u64,
    /// Entries that the index has not followed yet.
    pub waiting: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum IndexState {
    /// It has all that is in the catalogue.
    Current,
    /// Something came since; `resolve` or `index rebuild` brings it up.
    Behind,
    Missing,
    /// It was made by another version of the program, or is damaged.
    Unusable,
}

/// What the index has to follow.
pub(super) enum Marks {
    All,
    Entries(Vec<NamedNode>),
}

/// Where the index of a catalogue lies.
pub fn index_folder(directory: &Path) -> PathBuf {
    directory.join("index")
}

/// Makes the index anew, of the master, or of the records while there is none.
pub fn rebuild_index(session: &Session, watch: &mut dyn Watch) -> Result<Indexed, PipelineError> {
    let mut indexed = Indexing::new(session, None)?.anew(watch)?;
    super::resolve::forget_marks(&session.home)?;
    let waiting = index_waiting(session, watch)?;
    indexed.put += waiting;
    indexed.documents += waiting;
    Ok(indexed)
}

/// Puts records that wait to be merged into the index of the merged catalogue, each as what it is; says
/// how many. The next run of resolving takes them out again.
pub fn index_waiting(session: &Session, watch: &mut dyn Watch) -> Result<u64, PipelineError> {
    if !session.catalogue.has_master()? {
        return Ok(0);
    }
    let waiting = super::resolve::came_since(session)?;
    let index = match Index::open(&index_folder(&session.home.directory)) {
        Ok(index) if !waiting.is_empty() => index,
        // Whoever makes it will find them.
        _ => return Ok(0),
    };
    let Some(position) = index.position()? else { return Ok(0) };
    let indexing = Indexing::new(session, None)?;
    let graphs = &session.home.graphs;
    let names: Vec<NamedNode> = waiting.iter().map(|(source, id)| graphs.record(source, id)).collect();
    let mut writer = match index.writer(BUDGET) {
        Ok(writer) => writer,
        // Somebody else does it.
        Err(IndexError::Busy) => return Ok(0),
        Err(error) => return Err(error.into()),
    };
    let mut indexed = Indexed::default();
    watch.begin("indexing what waits", Some(names.len() as u64));
    for batch in names.chunks(BATCH) {
        indexing.put(batch, &mut writer, &mut indexed, |_, _| Ok(()))?;
        watch.advance(indexed.put, indexed.put);
    }
    watch.end();
    // The master is where it was.
    writer.commit(position)?;
    writer.finish()?;
    Ok(indexed.put)
}

/// Brings the index up to the entries that are marked; the first master may be at hand.
pub(super) fn follow(
    session: &Session,
    marks: Marks,
    spool: Option<&Spool>,
    watch: &mut dyn Watch,
) -> Result<Indexed, PipelineError> {
    let indexing = Indexing::new(session, spool)?;
    match (Index::open(&index_folder(&session.home.directory)), marks) {
        (Ok(index), Marks::Entries(marked))
            if index.position()?.is_some_and(|at| at <= indexing.position) =>
        {
            indexing.changed(&index, marked, watch)
        }
        (Err(IndexError::Busy), _) => Err(IndexError::Busy.into()),
        _ => indexing.anew(watch),
    }
}

/// How the index of a catalogue stands.
pub fn index_status(session: &Session) -> Result<IndexStatus, PipelineError> {
    let last = session.archive.last_sequence()?;
    let waiting = super::resolve::marks(&session.home)?;
    let mut status =
        IndexStatus { state: IndexState::Missing, documents: 0, position: None, last, waiting: 0 };
    match Index::open(&index_folder(&session.home.directory)) {
        Ok(index) => {
            status.documents = index.len();
            status.position = index.position()?;
            status.waiting = match waiting {
                Marks::All => 0,
                Marks::Entries(ref marked) => marked.len() as u64,
            };
            let is_current = status.position == Some(last)
                && matches!(&waiting, Marks::Entries(marked) if marked.is_empty());
            status.state = if is_current { IndexState::Current } else { IndexState::Behind };
        }
        Err(IndexError::Missing(_)) => {}
        Err(_) => status.state = IndexState::Unusable,
    }
    Ok(status)
}

struct Indexing<'a> {
    session: &'a Session,
    around: Around<'a>,
    documents: Documents<'a>,
    /// How far in the archive the store is.
    position: u64,
}

impl<'a> Indexing<'a> {
    fn new(session: &'a Session, spool: Option<&'a Spool>) -> Result<Self, PipelineError> {
        let around = Around { backend: session.catalogue.backend(), graphs: &session.home.graphs, spool };
        let documents = Documents::new(around, &session.archive, session.concordances())?;
        Ok(Self { session, around, documents, position: session.archive.last_sequence()? })
    }

    /// Makes all documents again. Readers see the old ones until the last is there.
    fn anew(&self, watch: &mut dyn Watch) -> Result<Indexed, PipelineError> {
        let folder = index_folder(&self.session.home.directory);
        let index = match Index::open(&folder) {
            Ok(index) => index,
            Err(IndexError::Busy) => return Err(IndexError::Busy.into()),
            Err(_) => {
                if folder.exists() {
                    std::fs::remove_dir_all(&folder)?;
                }
                Index::create(&folder)?
            }
        };
        let mut writer = index.writer(BUDGET)?;
        writer.gather();
        writer.clear()?;
        let mut indexed = Indexed { anew: true, ..Indexed::default() };
        watch.begin("indexing", None);
        let mut names: Box<dyn Iterator<Item = Result<NamedNode, PipelineError>>> = match self.around.spool {
            Some(spool) => {
                let graphs = &self.session.home.graphs;
                let keys = spool.order().iter().filter(|(kind, _)| *kind != Kind::Item);
                Box::new(keys.map(|(kind, id)| Ok(graphs.entry(kind.name(), *id))))
            }
            None => Box::new(self.names()?),
        };
        loop {
            let batch: Vec<NamedNode> = names.by_ref().take(BATCH).collect::<Result<_, PipelineError>>()?;
            if batch.is_empty() {
                break;
            }
            self.put(&batch, &mut writer, &mut indexed, |_, _| Ok(()))?;
            watch.advance(indexed.put, indexed.put);
        }
        watch.end();
        self.close(&index, writer, &mut indexed)?;
        Ok(indexed)
    }

    /// Puts marked entries and what depends on them.
    fn changed(
        &self,
        index: &Index,
        marked: Vec<NamedNode>,
        watch: &mut dyn Watch,
    ) -> Result<Indexed, PipelineError> {
        let mut indexed = Indexed::default();
        let mut writer = index.writer(BUDGET)?;
        // Nothing waits any more.
        writer.remove_kind(crate::index::Kind::Record);
        let mut dependent: FxHashSet<NamedNode> = FxHashSet::default();
        watch.begin("indexing", Some(marked.len() as u64));
        for batch in marked.chunks(BATCH) {
            self.put(batch, &mut writer, &mut indexed, |iri, document| {
                if self.is_seen_elsewhere(index, iri, document)? {
                    self.dependents(iri, &mut dependent)?;
                }
                Ok(())
            })?;
            watch.advance(indexed.put, indexed.put);
        }
        marked.iter().for_each(|iri| {
            dependent.remove(iri);
        });
        let dependent: Vec<NamedNode> = dependent.into_iter().collect();
        for batch in dependent.chunks(BATCH) {
            self.put(batch, &mut writer, &mut indexed, |_, _| Ok(()))?;
            watch.advance(indexed.put, indexed.put);
        }
        watch.end();
        self.close(index, writer, &mut indexed)?;
        Ok(indexed)
    }

    /// Makes documents side by side and puts them, or takes away those of entries that are gone.
    fn put(
        &self,
        batch: &[NamedNode],
        writer: &mut Writer,
        indexed: &mut Indexed,
        mut each: impl FnMut(&NamedNode, Option<&Document>) -> Result<(), PipelineError>,
    ) -> Result<(), PipelineError> {
        let is_item = |iri: &NamedNode| self.around.kind(iri.as_str()) == Some(Kind::Item);
        let made: Vec<(&NamedNode, Option<Document>)> = batch
            .par_iter()
            .filter(|iri| !is_item(iri))
            .map(|iri| Ok((iri, self.documents.document(iri)?)))
            .collect::<Result<_, PipelineError>>()?;
        for (iri, document) in made {
            each(iri, document.as_ref())?;
            match document {
                // A name that the index cannot take is one that nobody can ask for.
                Some(document) if document.iri.len() > crate::index::document::LONGEST_IRI => {}
                Some(document) => {
                    writer.put(&document)?;
                    indexed.put += 1;
                }
                None => {
                    writer.remove(iri.as_str());
                    indexed.removed += 1;
                }
            }
        }
        Ok(())
    }

    fn close(&self, index: &Index, mut writer: Writer, indexed: &mut Indexed) -> Result<(), PipelineError> {
        writer.commit(self.position)?;
        if indexed.anew {
            writer.optimize()?;
        }
        writer.finish()?;
        index.refresh()?;
        indexed.documents = index.len();
        Ok(())
    }

    /// Whether documents of others hold something of this entry that is different now. A name that
    /// is new or gone changed those who use it, too, and they are marked themselves.
    fn is_seen_elsewhere(
        &self,
        index: &Index,
        iri: &NamedNode,
        document: Option<&Document>,
    ) -> Result<bool, PipelineError> {
        let Some(document) = document else { return Ok(false) };
        Ok(match self.around.kind(iri.as_str()) {
            Some(Kind::Hub | Kind::Work) => true,
            Some(Kind::Agent | Kind::Subject | Kind::Place) => {
                let request = Request { only: Some(iri.as_str()), limit: 1, ..Request::default() };
                let known = index.search(&request)?.hits;
                let now = document.shown();
                let is_same = |known: &Shown| known.label == now.label && known.titles == now.titles;
                known.first().is_some_and(|hit| !is_same(&hit.entry))
            }
            _ => false,
        })
    }

    /// The works and instances whose documents hold something of an entry.
    fn dependents(&self, iri: &NamedNode, found: &mut FxHashSet<NamedNode>) -> Result<(), PipelineError> {
        for entry in self.around.leading_to(iri)? {
            match self.around.kind(entry.as_str()) {
                Some(Kind::Work) if found.insert(entry.clone()) => self.dependents(&entry, found)?,
                Some(Kind::Instance) => {
                    found.insert(entry);
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The names of all that gets a document, each once. Those of one record follow each other, so
    /// that what an instance, its work and its hub have in common is near at hand.
    fn names(&self) -> Result<impl Iterator<Item = Result<NamedNode, PipelineError>>, PipelineError> {
        let mut sorter = Sorter::new(NAMES);
        if self.session.catalogue.has_master()? {
            let selection = Selection {
                predicate: Some(pin::MEMBER.into_owned()),
                graph: Some(GraphName::DefaultGraph),
                ..Selection::default()
            };
            let mut members = Sorter::new(NAMES);
            for quad in self.around.backend.quads(&selection)? {
                let quad = quad?;
                if let (NamedOrBlankNode::NamedNode(entry), Term::NamedNode(member)) =
                    (&quad.subject, &quad.object)
                    && self.around.kind(entry.as_str()).is_some_and(|kind| kind != Kind::Item)
                {
                    let record = member.as_str().split('#').next().unwrap_or_default();
                    members.push(format!("{} {record}", entry.as_str()).as_bytes())?;
                }
            }
            // An entry has its place beside the first of its records.
            let mut last: Vec<u8> = Vec::new();
            for line in members.sorted()? {
                let line = line?;
                // Names of entries have no blank.
                let entry = line.split(|byte| *byte == b' ').next().unwrap_or_default();
                if last != entry {
                    sorter.push(&[&line[entry.len()..], b" ", entry].concat())?;
                    last = entry.to_vec();
                }
            }
        } else {
            let records = self.around.graphs.records();
            for name in self.around.backend.graph_names()? {
                let name = name?;
                if name.as_str().starts_with(&records) {
                    sorter.push(name.as_str().as_bytes())?;
                }
            }
        }
        let names = sorter.sorted()?;
        Ok(names.map(|line| {
            let line = line?;
            let name = line.rsplit(|byte| *byte == b' ').next().unwrap_or_default();
            Ok(NamedNode::new_unchecked(String::from_utf8_lossy(name)))
        }))
    }
}
