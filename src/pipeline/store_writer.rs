//! The one writer of the store, beside the reading of the next records.
//!
//! Bulk loading is nearly all of an import's time, so it has a thread of its own; what waits
//! for it is bounded by a channel of one, and memory by that.

use super::PipelineError;
use super::holdings::{Log, News};
use super::record_views::provenance;
use super::resolve::{Cache, ReadingNews};
use crate::archive::{Entry, Kind, Run};
use crate::catalogue::{Author, Catalogue, CatalogueError, Changes, Graphs, Owner, Patch};
use crate::map::ContentTypes;
use crate::ontology::{pin, prov, rdf, skos, xsd};
use oxrdf::{Literal, NamedNode, Quad, Triple};
use std::path::Path;
use std::sync::mpsc::{SyncSender, sync_channel};

/// Statements gathered before they are written. More makes larger, fewer files in the store;
/// at 300,000 all that is in flight takes some 500 MB.
const CHECKPOINT: usize = 300_000;
/// Records between two notes of how far the store is: after a kill so many are mapped again.
const RECORDS: usize = 8_000;
/// Graphs replaced in one transaction.
const REWRITES: usize = 2_000;

/// What is to be written next.
#[derive(Default)]
pub(super) struct Pending {
    added: Vec<Quad>,
    rewritten: Vec<(NamedNode, Option<Vec<Triple>>)>,
    /// Statements among them.
    rewriting: usize,
    /// What somebody changed after all that, and who it was.
    patch: Patch,
    author: Author,
    /// What becomes of records.
    news: News,
    /// What was read from them for resolving.
    readings: Vec<ReadingNews>,
    /// The store holds the graphs of records.
    stores_records: bool,
    /// The last archive entry this covers.
    pub position: u64,
}

impl Pending {
    /// Nothing yet, for a store that holds the graphs of records or does not.
    pub fn storing(stores_records: bool) -> Self {
        Self { stores_records, ..Self::default() }
    }

    /// Nothing yet, for a store that is at this place of the archive.
    pub fn at(position: u64, stores_records: bool) -> Self {
        Self { position, ..Self::storing(stores_records) }
    }

    /// What there is, leaving nothing.
    pub fn take(&mut self) -> Self {
        let next = Self::at(self.position, self.stores_records);
        std::mem::replace(self, next)
    }

    pub fn is_full(&self) -> bool {
        self.added.len() + self.rewriting >= CHECKPOINT
            || self.rewritten.len() >= REWRITES
            || self.news.len() >= RECORDS
    }

    /// Notes whether the store holds the graphs of records.
    pub fn layout(&mut self, graphs: &Graphs) {
        self.added.push(Catalogue::layout(graphs, self.stores_records));
    }

    /// A record's graph, or its end when there are no triples.
    pub fn record(&mut self, graphs: &Graphs, entry: &Entry, triples: Option<Vec<Triple>>, known: bool) {
        let name = graphs.record(&entry.source, &entry.id);
        match triples {
            Some(mut triples) => {
                self.news.held(graphs, entry, &triples);
                if !self.stores_records {
                    return;
                }
                triples.push(provenance(graphs, entry));
                if known {
                    self.rewriting += triples.len();
                    self.rewritten.push((name, Some(triples)));
                } else {
                    self.added.extend(triples.into_iter().map(|triple| triple.in_graph(name.clone())));
                }
            }
            None => {
                // What never was there is not missed.
                if known || entry.kind == Kind::Withdrawal {
                    self.news.withdrawn(entry);
                    let (run, graph) = (graphs.run(entry.run), graphs.provenance());
                    self.added.push(Quad::new(name.clone(), prov::WAS_INVALIDATED_BY, run, graph));
                }
                if self.stores_records {
                    self.rewritten.push((name, None));
                }
            }
        }
    }

    /// What was read from a record for resolving.
    pub fn reading(&mut self, reading: ReadingNews) {
        self.readings.push(reading);
    }

    /// A record that is the same as before, and of which the rules say something else now.
    pub fn remapped(&mut self, graphs: &Graphs, entry: &Entry, mut triples: Vec<Triple>) {
        self.news.held(graphs, entry, &triples);
        if !self.stores_records {
            return;
        }
        triples.push(provenance(graphs, entry));
        self.rewrite(graphs.record(&entry.source, &entry.id), triples);
    }

    /// Puts a graph in the place of what is there.
    pub fn rewrite(&mut self, name: NamedNode, triples: Vec<Triple>) {
        self.rewriting += triples.len();
        self.rewritten.push((name, Some(triples)));
    }

    /// Statements of a graph, beside those it has.
    pub fn add(&mut self, name: NamedNode, triples: Vec<Triple>) {
        self.added.extend(triples.into_iter().map(|triple| triple.in_graph(name.clone())));
    }

    /// An archived update, after all the rest.
    pub fn update(&mut self, graphs: &Graphs, entry: &Entry) -> Result<(), CatalogueError> {
        self.patch = Patch::read(&String::from_utf8_lossy(&entry.payload))?;
        self.patch.respell()?;
        self.author = Author { token: entry.id.clone(), time: entry.time.clone() };
        // Older versions let people write into the graphs of records and of the program.
        let others = self.patch.retain(|graph| graphs.owner(graph) == Owner::People);
        if others > 0 {
            tracing::warn!(
                "entry {} of the archive changes {others} statements in graphs that are not people's; \
                 they are left out",
                entry.sequence
            );
        }
        Ok(())
    }

    /// When and by what an import was run.
    pub fn run(&mut self, graphs: &Graphs, number: u64, run: &Run) {
        let name = graphs.run(number);
        let time = |time: &str| Literal::new_typed_literal(time, xsd::DATE_TIME);
        let mut say = |predicate: oxrdf::NamedNodeRef<'_>, object: oxrdf::Term| {
            self.added.push(Quad::new(name.clone(), predicate, object, graphs.provenance()));
        };
        say(rdf::TYPE, pin::RUN.into_owned().into());
        say(prov::STARTED_AT_TIME, time(&run.started).into());
        if let Some(finished) = &run.finished {
            say(prov::ENDED_AT_TIME, time(finished).into());
        }
        say(prov::WAS_ASSOCIATED_WITH, graphs.agent(&run.agent).into());
        say(prov::USED, graphs.source(&run.source).into());
        for origin in &run.origins {
            say(pin::ORIGIN, Literal::new_simple_literal(origin.as_str()).into());
        }
    }

    /// The labels of the content types.
    pub fn vocabulary(&mut self, graphs: &Graphs, types: &ContentTypes) {
        let mut triples = Vec::new();
        for content_type in types.types() {
            let name = graphs.content_type(&content_type.code);
            triples.push(Triple::new(name.clone(), rdf::TYPE, pin::CONTENT_TYPE_CLASS));
            for (language, label) in &content_type.labels {
                let label = Literal::new_language_tagged_literal_unchecked(label.as_str(), language.as_str());
                triples.push(Triple::new(name.clone(), skos::PREF_LABEL, label));
            }
        }
        self.rewritten.push((graphs.vocabulary(), Some(triples)));
    }
}

/// What goes to disk together.
struct Step {
    changes: Changes,
    news: News,
    readings: Vec<ReadingNews>,
}

/// Hands changes to the writing thread.
pub(super) struct Store {
    sender: SyncSender<Step>,
}

impl Store {
    /// Waits while the one before is still being written.
    pub fn send(&self, pending: Pending) -> Result<(), PipelineError> {
        let Pending { added, rewritten, patch, author, news, readings, position, .. } = pending;
        let changes = Changes { added, rewritten, patch, author, position };
        self.sender.send(Step { changes, news, readings }).map_err(|_| PipelineError::WriterGone)
    }
}

/// Runs `work` with a writer beside it and waits until all is written; what becomes of records goes
/// to the log of holdings in `directory`, too.
pub(super) fn run<T>(
    catalogue: &Catalogue,
    directory: &Path,
    work: impl FnOnce(&Store) -> Result<T, PipelineError>,
) -> Result<T, PipelineError> {
    std::thread::scope(|scope| {
        let (sender, receiver) = sync_channel(1);
        let writer = scope.spawn(move || write(catalogue, directory, receiver.into_iter()));
        let result = work(&Store { sender });
        let written = writer.join().map_err(|_| PipelineError::WriterGone)?;
        // The store's own failure says more than a channel that closed on us.
        written?;
        result
    })
}

fn write(
    catalogue: &Catalogue,
    directory: &Path,
    steps: impl Iterator<Item = Step>,
) -> Result<(), PipelineError> {
    let (mut log, mut cache) = (None, None);
    for Step { mut changes, news, readings } in steps {
        // First: what is missing here is read again, and what is out of date would be believed.
        if !readings.is_empty() {
            let cache = match &cache {
                Some(cache) => cache,
                None => cache.insert(Cache::open_in(directory)?),
            };
            cache.take(&readings)?;
        }
        if !news.is_empty() {
            let log = match &mut log {
                Some(log) => log,
                None => log.insert(Log::open(directory, catalogue)?),
            };
            // Before the store has it: what the store holds must not be missing in the log.
            let step = log.step(catalogue.graphs(), news).map_err(CatalogueError::from)?;
            changes.rewritten.push(step);
        }
        catalogue.write(changes)?;
    }
    Ok(())
}
