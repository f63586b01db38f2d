//! The catalogue: what the triplestore holds, and the only way to it.
//!
//! Callers hand over whole graphs and ask with the texts in `queries/`; nobody else imports a
//! store. What is behind is a [`Backend`]: today Oxigraph on disk or in memory, later any
//! SPARQL 1.1 server. The store is derived: it follows the archive and remembers in its own
//! provenance graph how far it got ([`Catalogue::position`]), so after a kill the pipeline
//! knows what to write again. Writing the same batch twice changes nothing.
//!
//! [`guard`] stands before every query text that is not ours, [`worker`] is the process that
//! can be killed when one does not end. A server, which answers many at once, has a [`pool`] of
//! such processes that read a [`snapshot`], so that others may write meanwhile.

mod backend;
mod bounded;
mod dataset;
mod effects;
mod embedded;
pub mod export;
mod graphs;
pub mod guard;
mod patch;
mod people;
pub mod pool;
mod queries;
pub mod results;
mod services;
pub mod snapshot;
pub mod spelling;
pub mod syntax;
mod views;
pub mod worker;

pub use backend::{Backend, Row, Selection};
pub use bounded::Bounded;
pub use effects::{Realm, check_size};
pub use embedded::Embedded;
pub use graphs::{Graphs, Owner};
pub use patch::Patch;
pub use people::{Author, People, Words};
pub use queries::{QUERIES, text as query_text};
pub use views::{Census, Views};

use crate::effort::Spent;
use crate::ontology::{pin, xsd};
use oxrdf::{GraphName, Literal, NamedNode, NamedOrBlankNode, Quad, Term, Triple};
use rustc_hash::FxHashSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Why the catalogue could not do what was asked. Bad records are no reason.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CatalogueError {
    #[error("the store failed: {0}")]
    Store(String),
    #[error("the store is damaged: {0}; `pinakes rebuild` makes it again from the archive")]
    Damaged(String),
    #[error("the disk is full: {0}; free some space and run the command again, which goes on where it was")]
    DiskFull(String),
    /// What records say cannot be computed.
    #[error("the records cannot be read: {0}")]
    Records(String),
    #[error("the query cannot be evaluated: {0}")]
    Evaluation(String),
    #[error("the query cannot be evaluated: it gives more than {0} rows; add a LIMIT or raise `--max-rows`")]
    TooManyRows(u64),
    #[error("{0}")]
    Syntax(String),
    #[error("there is no query `{0}`")]
    NoSuchQuery(String),
    /// Whoever read it had agreed to read no more.
    #[error("there are more than {0} statements to be read; ask for less")]
    TooMuch(u64),
    #[error("the catalogue was not read to the end: {0}")]
    Stopped(#[from] Spent),
    #[error(transparent)]
    Refused(#[from] guard::Refusal),
    /// A query or update is too large to be evaluated.
    #[error("{0}")]
    TooComplex(String),
    /// An update would write what is not for people to write.
    #[error("{0}")]
    Protected(String),
    /// It was published and is taken away again, because a newer one came.
    #[error("there is no snapshot {0} any more")]
    NoSuchSnapshot(u64),
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

/// What one step of the pipeline changes.
#[derive(Debug, Default)]
pub struct Changes {
    /// Statements of graphs that the store does not hold yet.
    pub added: Vec<Quad>,
    /// Graphs to be put in the place of what is there, or taken away; in this order, after
    /// the additions.
    pub rewritten: Vec<(NamedNode, Option<Vec<Triple>>)>,
    /// What somebody changed, after all that, and who it was.
    pub patch: Patch,
    pub author: Author,
    /// How far in the archive the store is once this is written.
    pub position: u64,
}

impl Changes {
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.rewritten.is_empty() && self.patch.is_empty()
    }
}

/// The facade over one store.
pub struct Catalogue {
    backend: Box<dyn Backend>,
    graphs: Graphs,
    /// Where to publish what is written.
    directory: Option<PathBuf>,
    /// Something was written that readers do not see.
    is_behind: AtomicBool,
    /// When something was published last.
    published: Mutex<Instant>,
    /// The lock of a snapshot.
    held: Option<File>,
    /// Whether anything is merged, where that cannot change any more.
    is_merged: Option<bool>,
}

/// While much is written, readers see it every few seconds.
const PUBLISH_EVERY: Duration = Duration::from_secs(2);

impl Catalogue {
    /// The store under a catalogue directory, made if it is not there. Record graphs are computed by
    /// `views`; without them the store holds them.
    pub fn open(
        directory: &Path,
        graphs: Graphs,
        views: Option<Arc<dyn Views>>,
    ) -> Result<Self, CatalogueError> {
        let is_behind = snapshot::is_stale(directory);
        snapshot::announce(directory)?;
        let store = Embedded::open(&directory.join("store"))?;
        let mut catalogue = Self::with(store, graphs, views);
        catalogue.directory = Some(directory.to_owned());
        catalogue.is_behind = AtomicBool::new(is_behind);
        Ok(catalogue)
    }

    /// The same, for reading beside other readers. Nobody may be writing.
    pub fn open_read_only(
        directory: &Path,
        graphs: Graphs,
        views: Option<Arc<dyn Views>>,
    ) -> Result<Self, CatalogueError> {
        Ok(Self::with(Embedded::open_read_only(&directory.join("store"))?, graphs, views))
    }

    fn with(store: Embedded, graphs: Graphs, views: Option<Arc<dyn Views>>) -> Self {
        Self::over(Box::new(store.named(&graphs, views)), graphs)
    }

    /// Nothing, for who needs no store.
    pub fn in_memory(graphs: Graphs) -> Result<Self, CatalogueError> {
        Ok(Self::with(Embedded::in_memory()?, graphs, None))
    }

    pub fn over(backend: Box<dyn Backend>, graphs: Graphs) -> Self {
        let published = Mutex::new(Instant::now());
        let is_behind = AtomicBool::new(false);
        Self { backend, graphs, directory: None, is_behind, published, held: None, is_merged: None }
    }

    /// Shows readers of snapshots what is written so far, if a server runs. It is also done when
    /// the catalogue is closed, and then a failure goes to the log.
    pub fn publish(&self) -> Result<(), CatalogueError> {
        let Some(directory) = &self.directory else { return Ok(()) };
        if !snapshot::is_served(directory) {
            return Ok(());
        }
        if self.backend.was_written() {
            self.is_behind.store(true, Ordering::Relaxed);
        }
        if self.is_behind.load(Ordering::Relaxed) {
            self.backend.flush()?;
            snapshot::publish(&*self.backend, directory, self.has_master()?)?;
            self.is_behind.store(false, Ordering::Relaxed);
            // Whoever is killed from here on may have written more.
            snapshot::announce(directory)?;
        }
        Ok(())
    }

    /// The same, if the last time is a while ago.
    fn publish_sometimes(&self) -> Result<(), CatalogueError> {
        let mut published = self.published.lock().unwrap_or_else(PoisonError::into_inner);
        if published.elapsed() >= PUBLISH_EVERY {
            self.publish()?;
            *published = Instant::now();
        }
        Ok(())
    }

    pub fn graphs(&self) -> &Graphs {
        &self.graphs
    }

    pub fn backend(&self) -> &dyn Backend {
        &*self.backend
    }

    /// What people may write.
    pub fn realm(&self) -> Result<Realm<'_>, CatalogueError> {
        Ok(Realm { graphs: &self.graphs, has_master: self.has_master()? })
    }

    /// What people wrote into the merged catalogue.
    pub fn people(&self) -> People<'_> {
        People { backend: &*self.backend, graphs: &self.graphs }
    }

    /// Writes one step and notes how far the store is. When this returns, a kill costs nothing;
    /// when it is interrupted, doing it again ends in the same store.
    pub fn write(&self, changes: Changes) -> Result<(), CatalogueError> {
        let position = changes.position;
        if !changes.is_empty() {
            self.backend.add(changes.added)?;
            self.backend.rewrite(changes.rewritten)?;
            self.backend.apply(&self.people().remember(changes.patch, &changes.author)?)?;
            // The journal must never be ahead of what it speaks of, not even on a disk that
            // lost its power.
            self.backend.flush()?;
        }
        self.note_position(position)?;
        self.publish_sometimes()
    }

    /// Up to which entry of the archive the store holds everything.
    pub fn position(&self) -> Result<u64, CatalogueError> {
        let selection = Selection {
            subject: Some(self.graphs.store().into()),
            predicate: Some(pin::APPLIED_UP_TO.into_owned()),
            graph: Some(self.graphs.provenance().into()),
            ..Selection::default()
        };
        let mut position = 0;
        for quad in self.backend.quads(&selection)? {
            if let Term::Literal(number) = quad?.object {
                position = position.max(number.value().parse().unwrap_or(0));
            }
        }
        Ok(position)
    }

    /// The base IRI under which the store was filled, where it is not the one in force.
    pub fn former_base(&self) -> Result<Option<String>, CatalogueError> {
        let ours = self.graphs.store();
        let selection =
            Selection { predicate: Some(pin::APPLIED_UP_TO.into_owned()), ..Selection::default() };
        for quad in self.backend.quads(&selection)? {
            if let NamedOrBlankNode::NamedNode(store) = quad?.subject
                && store != ours
                && let Some(base) = store.as_str().strip_suffix("store")
            {
                return Ok(Some(base.to_owned()));
            }
        }
        Ok(None)
    }

    /// Whether the store holds the graphs of records; `None` if it was never filled, or by a version
    /// that did not say so.
    pub fn holds_records(&self) -> Result<Option<bool>, CatalogueError> {
        let selection = Selection {
            subject: Some(self.graphs.store().into()),
            predicate: Some(pin::HOLDS_RECORDS.into_owned()),
            graph: Some(self.graphs.provenance().into()),
            ..Selection::default()
        };
        let said = self.backend.quads(&selection)?.next().transpose()?;
        Ok(said.map(|quad| quad.object == Literal::from(true).into()))
    }

    /// The statement behind [`holds_records`](Self::holds_records).
    pub fn layout(graphs: &Graphs, holds_records: bool) -> Quad {
        Quad::new(graphs.store(), pin::HOLDS_RECORDS, Literal::from(holds_records), graphs.provenance())
    }

    /// Notes how far the store is, when all that lies in between is no matter of the store.
    pub fn note(&self, position: u64) -> Result<(), CatalogueError> {
        self.backend.flush()?;
        self.note_position(position)
    }

    fn note_position(&self, position: u64) -> Result<(), CatalogueError> {
        let literal = Literal::new_typed_literal(position.to_string(), xsd::INTEGER);
        let journal = Quad::new(self.graphs.store(), pin::APPLIED_UP_TO, literal, self.graphs.provenance());
        self.backend.set(journal)
    }

    /// Whether anything was merged: until then the union of all graphs stands for the master. What
    /// people wrote into the default graph makes no master.
    pub fn has_master(&self) -> Result<bool, CatalogueError> {
        if let Some(known) = self.is_merged {
            return Ok(known);
        }
        let merged = Selection {
            predicate: Some(pin::MERGE_STATUS.into_owned()),
            object: Some(pin::MERGED.into_owned().into()),
            graph: Some(self.graphs.resolution().into()),
            ..Selection::default()
        };
        Ok(self.backend.quads(&merged)?.next().transpose()?.is_some())
    }

    /// The statements of one graph.
    pub fn graph(&self, name: &NamedNode) -> Result<Vec<Triple>, CatalogueError> {
        let selection = Selection { graph: Some(name.clone().into()), ..Selection::default() };
        self.backend.quads(&selection)?.map(|quad| quad.map(Triple::from)).collect()
    }

    /// Statements as the store gives them back ([`spelling`]).
    pub fn as_stored(triples: Vec<Triple>) -> Result<Vec<Triple>, CatalogueError> {
        let quads = triples.into_iter().map(|triple| triple.in_graph(GraphName::DefaultGraph)).collect();
        Ok(spelling::as_stored(quads)?.into_iter().map(Triple::from).collect())
    }

    /// All rows of one of the texts in `queries/`, with some of its variables bound.
    pub fn rows(&self, query: &str, bindings: &[(&str, Term)]) -> Result<Vec<Row>, CatalogueError> {
        let mut rows = Vec::new();
        self.each_row(query, bindings, |row| {
            rows.push(row);
            Ok(())
        })?;
        Ok(rows)
    }

    /// The same, one by one, for answers that memory should not hold.
    pub fn each_row(
        &self,
        query: &str,
        bindings: &[(&str, Term)],
        mut each: impl FnMut(Row) -> Result<(), CatalogueError>,
    ) -> Result<(), CatalogueError> {
        let text = queries::text(query)?;
        self.backend.rows(text, bindings, !self.has_master()?, &mut each)
    }

    /// The statements about a resource and about the nodes inside it, `<resource>#…`, in one graph.
    pub fn described(&self, resource: &NamedNode, graph: &GraphName) -> Result<Vec<Quad>, CatalogueError> {
        described(&*self.backend, resource, graph)
    }

    /// The same of a merged entry, with the nodes inside it that people have cut off from it.
    pub fn entry(&self, entry: &NamedNode, words: &Words) -> Result<Vec<Quad>, CatalogueError> {
        let cut = words.removed.iter().filter_map(|quad| match &quad.object {
            Term::NamedNode(object) => Some(object.clone()),
            _ => None,
        });
        described_from(&*self.backend, entry, cut, &GraphName::DefaultGraph)
    }
}

impl Drop for Catalogue {
    fn drop(&mut self) {
        let Some(directory) = self.directory.clone() else { return };
        match self.publish() {
            Err(error) => tracing::error!("readers do not see what was written: {error}"),
            Ok(()) if !self.is_behind.load(Ordering::Relaxed) && !self.backend.was_written() => {
                snapshot::revoke(&directory);
            }
            // No server runs: the next one publishes first.
            Ok(()) => {}
        }
    }
}

/// The statements about a resource and about the nodes inside it, `<resource>#…`, in one graph.
pub fn described(
    backend: &dyn Backend,
    resource: &NamedNode,
    graph: &GraphName,
) -> Result<Vec<Quad>, CatalogueError> {
    described_from(backend, resource, std::iter::empty(), graph)
}

/// The same, with the nodes inside it among `more`, even if nothing leads there.
fn described_from(
    backend: &dyn Backend,
    resource: &NamedNode,
    more: impl Iterator<Item = NamedNode>,
    graph: &GraphName,
) -> Result<Vec<Quad>, CatalogueError> {
    let inside = format!("{}#", resource.as_str());
    let mut waiting = vec![resource.clone()];
    waiting.extend(more.filter(|node| node.as_str().starts_with(&inside)));
    waiting.sort_unstable();
    waiting.dedup();
    let mut met: FxHashSet<NamedNode> = waiting.iter().cloned().collect();
    let mut found = Vec::new();
    while let Some(subject) = waiting.pop() {
        let selection =
            Selection { subject: Some(subject.into()), graph: Some(graph.clone()), ..Selection::default() };
        for quad in backend.quads(&selection)? {
            let quad = quad?;
            if let Term::NamedNode(object) = &quad.object
                && object.as_str().starts_with(&inside)
                && met.insert(object.clone())
            {
                waiting.push(object.clone());
            }
            found.push(quad);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ontology::rdf;

    fn catalogue() -> Catalogue {
        Catalogue::in_memory(Graphs::new("https://c.example/").unwrap()).unwrap()
    }

    fn triples(name: &NamedNode, source: &str) -> Vec<Triple> {
        vec![
            Triple::new(name.clone(), rdf::TYPE, pin::RECORD),
            Triple::new(
                name.clone(),
                pin::SOURCE,
                NamedNode::new_unchecked(format!("https://c.example/source/{source}")),
            ),
        ]
    }

    fn add(catalogue: &Catalogue, source: &str, id: &str, position: u64) {
        let name = catalogue.graphs().record(source, id);
        let added = triples(&name, source).into_iter().map(|triple| triple.in_graph(name.clone())).collect();
        catalogue.write(Changes { added, position, ..Changes::default() }).unwrap();
    }

    #[test]
    fn writing_a_step_twice_changes_nothing() {
        let catalogue = catalogue();
        add(&catalogue, "a", "1", 7);
        let before = catalogue.backend().len().unwrap();
        add(&catalogue, "a", "1", 7);
        assert_eq!(catalogue.backend().len().unwrap(), before);
        assert_eq!(catalogue.position().unwrap(), 7);
    }

    #[test]
    fn a_graph_is_replaced_whole_and_taken_away_whole() {
        let catalogue = catalogue();
        add(&catalogue, "a", "1", 1);
        let name = catalogue.graphs().record("a", "1");
        let new = vec![Triple::new(name.clone(), pin::SOURCE, name.clone())];
        let rewritten = vec![(name.clone(), Some(new.clone()))];
        catalogue.write(Changes { rewritten, position: 2, ..Changes::default() }).unwrap();
        assert_eq!(catalogue.graph(&name).unwrap(), new);
        let rewritten = vec![(name.clone(), None)];
        catalogue.write(Changes { rewritten, position: 3, ..Changes::default() }).unwrap();
        assert!(catalogue.graph(&name).unwrap().is_empty());
        assert!(!catalogue.backend().graph_names().unwrap().any(|known| known.unwrap() == name));
    }

    #[test]
    fn rows_can_be_asked_for_one_source_by_binding() {
        let catalogue = catalogue();
        add(&catalogue, "a", "1", 1);
        add(&catalogue, "b", "1", 1);
        let source = Term::from(catalogue.graphs().source("b"));
        assert_eq!(catalogue.rows("report/unmerged-records", &[("source", source)]).unwrap().len(), 1);
        assert_eq!(catalogue.rows("report/unmerged-records", &[]).unwrap().len(), 2);
    }

    #[test]
    fn every_shipped_query_runs() {
        let catalogue = catalogue();
        for (name, text) in QUERIES {
            let how = results::Answer {
                rows: results::RowFormat::Json,
                graph: oxrdfio::RdfFormat::Turtle,
                union: true,
                row_limit: 10,
                bindings: Vec::new(),
            };
            let answered = catalogue.backend().answer(text, &how, &mut Vec::new());
            answered.unwrap_or_else(|error| panic!("{name}: {error}"));
        }
    }
}
