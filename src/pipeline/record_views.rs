//! What a record says, computed from the archive and the rules when somebody asks.
//!
//! The same [`RecordViews`] serve a session, whose rules may change while it runs, and readers of a
//! snapshot, which hold the rules of the moment when it was made.

use super::session::decode_entry;
use crate::archive::{self, Entry, Reader};
use crate::catalogue::{CatalogueError, Census, Graphs, Views};
use crate::concordance::{Concordances, Origin, Source};
use crate::map::{self, ContentTypes, Mapped};
use crate::ontology::prov;
use crate::record::Model;
use oxrdf::{NamedNode, Triple};
use serde::{Deserialize, Serialize};
use std::io;
use std::path::Path;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

/// The rules of a snapshot, unless they are those of the program.
const RULES: &str = "rules.json";

/// Rules that are compiled when they are first needed.
#[derive(Default)]
struct Rules {
    /// `None` stands for those of the program.
    sources: Option<Vec<Source>>,
    compiled: OnceLock<Arc<Concordances>>,
}

impl Rules {
    fn of(sources: Option<Vec<Source>>) -> Arc<Self> {
        Arc::new(Self { sources, compiled: OnceLock::new() })
    }

    fn concordances(&self) -> &Arc<Concordances> {
        self.compiled.get_or_init(|| match &self.sources {
            None => Concordances::shipped(),
            Some(sources) => Arc::new(Concordances::new(sources.clone())),
        })
    }
}

/// Computes record graphs.
pub struct RecordViews(Arc<Inner>);

struct Inner {
    reader: Reader,
    graphs: Graphs,
    content_types: ContentTypes,
    rules: RwLock<Arc<Rules>>,
}

/// One file of rules beside a snapshot.
#[derive(Serialize, Deserialize)]
struct RuleFile {
    path: String,
    text: String,
    /// The version that was loaded; `None` for a file of the program or of the folder it was given.
    version: Option<usize>,
}

impl RecordViews {
    pub fn new(reader: Reader, graphs: Graphs, sources: Option<Vec<Source>>) -> Self {
        let rules = RwLock::new(Rules::of(sources));
        Self(Arc::new(Inner { reader, graphs, content_types: ContentTypes::shipped(), rules }))
    }

    /// The views of a snapshot: `records` is what [`Views::snapshot`] made there.
    pub fn open(records: &Path, archive: &Path, graphs: Graphs) -> Result<Self, CatalogueError> {
        let reader = Reader::open(records, archive).map_err(failed)?;
        let sources = match std::fs::read(records.join(RULES)) {
            Ok(text) => {
                let files: Vec<RuleFile> = serde_json::from_slice(&text).map_err(io::Error::from)?;
                let source = |RuleFile { path, text, version }: RuleFile| {
                    Source::new(path, text, version.map_or(Origin::Shipped, Origin::Loaded))
                };
                Some(files.into_iter().map(source).collect())
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error.into()),
        };
        Ok(Self::new(reader, graphs, sources))
    }

    /// The rules in force.
    pub fn concordances(&self) -> Arc<Concordances> {
        Arc::clone(self.0.rules().concordances())
    }

    /// Puts other rules in force.
    pub fn set_rules(&self, sources: Option<Vec<Source>>) {
        *self.0.rules.write().unwrap_or_else(PoisonError::into_inner) = Rules::of(sources);
    }
}

impl Inner {
    fn rules(&self) -> Arc<Rules> {
        Arc::clone(&self.rules.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The graph of an entry of the archive; empty for what cannot be read.
    fn triples(&self, entry: &Entry, concordances: &Concordances) -> Vec<Triple> {
        let context = map::Context {
            graphs: &self.graphs,
            concordances,
            content_types: &self.content_types,
            source: &entry.source,
            id: &entry.id,
            default_type: entry.content_type.as_deref(),
        };
        let Some((_, Mapped { mut triples, .. })) = mapped(entry, &context) else { return Vec::new() };
        triples.push(provenance(&self.graphs, entry));
        triples
    }
}

/// Which run a version of a record came with.
pub(super) fn provenance(graphs: &Graphs, entry: &Entry) -> Triple {
    Triple::new(graphs.record(&entry.source, &entry.id), prov::WAS_GENERATED_BY, graphs.run(entry.run))
}

/// An archived record by the rules of its context, or `None` when it cannot be decoded.
pub(super) fn mapped(entry: &Entry, context: &map::Context<'_>) -> Option<(Model, Mapped)> {
    let record = decode_entry(entry)?;
    Some((record.model, map::map(&record, context)))
}

fn failed(error: archive::ArchiveError) -> CatalogueError {
    CatalogueError::Records(error.to_string())
}

impl Views for RecordViews {
    fn graph(&self, source: &str, id: &str) -> Result<Option<Vec<Triple>>, CatalogueError> {
        let Some(entry) = self.0.reader.current(source, id).map_err(failed)? else { return Ok(None) };
        let triples = self.0.triples(&entry, self.0.rules().concordances());
        // What cannot be read is not there.
        Ok(Some(triples).filter(|triples| !triples.is_empty()))
    }

    fn has(&self, source: &str, id: &str) -> Result<bool, CatalogueError> {
        Ok(self.graph(source, id)?.is_some())
    }

    fn census(&self) -> Result<Arc<dyn Census>, CatalogueError> {
        let census = self.0.reader.census().map_err(failed)?;
        Ok(Arc::new(Moment { inner: Arc::clone(&self.0), rules: self.0.rules(), census }))
    }

    fn snapshot(&self, to: &Path) -> Result<(), CatalogueError> {
        self.0.reader.snapshot(to).map_err(failed)?;
        let Some(sources) = &self.0.rules().sources else { return Ok(()) };
        let files = sources.iter().map(|source| RuleFile {
            path: source.path.clone(),
            text: source.text.to_string(),
            version: match source.origin {
                Origin::Loaded(version) => Some(version),
                _ => None,
            },
        });
        let text = serde_json::to_vec(&files.collect::<Vec<_>>()).map_err(io::Error::from)?;
        Ok(std::fs::write(to.join(RULES), text)?)
    }
}

/// All records as they were at one moment, by the rules of then.
struct Moment {
    inner: Arc<Inner>,
    rules: Arc<Rules>,
    census: Arc<archive::Census>,
}

impl Census for Moment {
    fn records(&self) -> u64 {
        self.census.records()
    }

    fn parts(&self) -> usize {
        self.census.blocks()
    }

    fn part(&self, number: usize) -> Result<Vec<(NamedNode, Vec<Triple>)>, CatalogueError> {
        let entries = self.inner.reader.records_in(&self.census, number).map_err(failed)?;
        let concordances = self.rules.concordances();
        let graphs = entries.iter().map(|entry| {
            let name = self.inner.graphs.record(&entry.source, &entry.id);
            (name, self.inner.triples(entry, concordances))
        });
        Ok(graphs.filter(|(_, triples)| !triples.is_empty()).collect())
    }

    fn names(&self, number: usize) -> Result<Vec<NamedNode>, CatalogueError> {
        let entries = self.inner.reader.records_in(&self.census, number).map_err(failed)?;
        let readable = entries.iter().filter(|entry| decode_entry(entry).is_some());
        Ok(readable.map(|entry| self.inner.graphs.record(&entry.source, &entry.id)).collect())
    }
}
