//! The full-text index: which entries does a reader mean by a few words?
//!
//! Documents in, hits out. The index knows no triplestore, no archive and no command line; whoever
//! reads the catalogue hands over a [`Document`] for each entry and, with each
//! [commit](Writer::commit), how far in the catalogue's journal it has come. What a kill leaves is
//! the last commit with its [position](Index::position): the rest is handed over again. The whole
//! index can be removed and made anew.
//!
//! | file | question |
//! |---|---|
//! | [`document`] | what is known of an entry? |
//! | [`analysis`] | which words does a text consist of? |
//! | [`schema`], [`writing`] | how does a document lie on disk, and how does it get there? |
//! | [`query`] | what did the reader ask for? |
//! | [`expansion`] | which other words mean the same, or something narrower? |
//! | [`matching`], [`searching`], [`collecting`] | which entries match, in which order, and why? |
//! | [`cancel`] | how is a search stopped? |
//! | [`facets`], [`counting`] | how are the hits distributed? |
//! | [`keeping`] | which answers are given again? |
//! | [`suggest`] | what could the reader be about to type? |
//! | [`sparql`] | what does `pin:search` mean in a query? |
//!
//! [`writing`]: Writer

pub mod analysis;
mod cancel;
mod collecting;
mod counting;
pub mod document;
pub mod expansion;
pub mod facets;
mod keeping;
mod matching;
pub mod query;
mod rescale;
mod schema;
mod searching;
pub mod sparql;
mod suggest;
#[cfg(test)]
mod tests;
mod writing;

pub use document::{Document, Field, Kind, Named};
pub use expansion::{Concepts, Expansion, Label, Relation, Thesaurus};
pub use facets::{Counts, Facet};
pub use searching::{Because, Hit, Hits, Request, Shown, Sort};
pub use suggest::{Suggestion, Suggests};
pub use writing::{BUDGET, Writer};

use crate::effort::Spent;
use analysis::{WORDS, Words};
use schema::Schema;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use tantivy::directory::MmapDirectory;
use tantivy::directory::error::OpenDirectoryError;
use tantivy::index::SegmentId;
use tantivy::{IndexMeta, IndexReader, ReloadPolicy, Searcher, SegmentMeta, TantivyError};

/// Why the index could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IndexError {
    #[error("there is no index in `{0}`")]
    Missing(String),
    /// The words of documents were cut by other rules than those of queries are.
    #[error("the index was made by another version of this program and has to be made anew")]
    Outdated,
    #[error("another process is writing the index")]
    Busy,
    #[error("the name of an entry has {0} bytes, and the index takes {max}", max = document::LONGEST_IRI)]
    LongIri(usize),
    #[error("the search was stopped: {0}")]
    Stopped(#[from] Spent),
    /// The engine writes on threads of its own and does not pass on why one of them gave up.
    #[error("the index cannot be written; look whether the disk is full, and run the command again")]
    Unwritten,
    #[error("the index cannot be used: {0}")]
    Engine(#[source] TantivyError),
}

impl From<TantivyError> for IndexError {
    fn from(error: TantivyError) -> Self {
        match error {
            TantivyError::LockFailure(..) => Self::Busy,
            TantivyError::SchemaError(_) => Self::Outdated,
            TantivyError::ErrorInThread(_) => Self::Unwritten,
            other => Self::Engine(other),
        }
    }
}

impl From<std::io::Error> for IndexError {
    fn from(error: std::io::Error) -> Self {
        Self::Engine(error.into())
    }
}

/// An index as of one of its commits; [`refresh`](Self::refresh) moves on to the latest.
pub struct Index {
    engine: tantivy::Index,
    schema: Schema,
    reader: IndexReader,
    /// What the reader shows.
    shown: Mutex<State>,
    kept: suggest::Kept,
    everything: counting::Everything,
    answers: keeping::Answers,
    /// Documents that were looked at, each time one was.
    #[cfg(test)]
    looked_at: std::sync::atomic::AtomicU64,
}

/// A commit, and the segments that hold it: they are tidied up behind commits.
#[derive(PartialEq, Eq)]
struct State(u64, Vec<SegmentId>);

impl State {
    fn of(metas: &IndexMeta) -> Self {
        Self(metas.opstamp, metas.segments.iter().map(SegmentMeta::id).collect())
    }
}

impl Index {
    /// Makes an empty index in a folder that has none.
    pub fn create(folder: &Path) -> Result<Self, IndexError> {
        std::fs::create_dir_all(folder)?;
        let (schema, fields) = Schema::new();
        let engine =
            tantivy::Index::builder().schema(fields).settings(schema::settings()).create_in_dir(folder)?;
        Self::with(engine, schema)
    }

    pub fn open(folder: &Path) -> Result<Self, IndexError> {
        let missing = || IndexError::Missing(folder.display().to_string());
        let directory = match MmapDirectory::open(folder) {
            Ok(directory) => directory,
            Err(OpenDirectoryError::DoesNotExist(_)) => return Err(missing()),
            Err(error) => return Err(TantivyError::from(error).into()),
        };
        if !tantivy::Index::exists(&directory).map_err(TantivyError::from)? {
            return Err(missing());
        }
        let (schema, fields) = Schema::new();
        let engine = tantivy::Index::open(directory)?;
        let payload = engine.load_metas()?.payload;
        if engine.schema() != fields || payload.is_some_and(|payload| writing::position(&payload).is_none()) {
            return Err(IndexError::Outdated);
        }
        Self::with(engine, schema)
    }

    /// An index that lasts as long as the value.
    pub fn in_memory() -> Result<Self, IndexError> {
        let (schema, fields) = Schema::new();
        let engine = tantivy::Index::builder().schema(fields).settings(schema::settings()).create_in_ram()?;
        Self::with(engine, schema)
    }

    fn with(engine: tantivy::Index, schema: Schema) -> Result<Self, IndexError> {
        engine.tokenizers().register(WORDS, Words);
        let shown = Mutex::new(State::of(&engine.load_metas()?));
        let reader = engine.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        Ok(Self {
            engine,
            schema,
            reader,
            shown,
            kept: suggest::Kept::default(),
            everything: counting::Everything::default(),
            answers: keeping::Answers::default(),
            #[cfg(test)]
            looked_at: std::sync::atomic::AtomicU64::default(),
        })
    }

    /// Shows the latest commit, of whichever process. Costs the reading of a small file if there
    /// is none.
    pub fn refresh(&self) -> Result<(), IndexError> {
        let latest = State::of(&self.engine.load_metas()?);
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        if *shown != latest {
            self.reader.reload()?;
            self.kept.lock().unwrap_or_else(PoisonError::into_inner).clear();
            self.everything.lock().unwrap_or_else(PoisonError::into_inner).clear();
            self.answers.clear();
            *shown = latest;
        }
        Ok(())
    }

    /// How far in the catalogue's journal the latest commit has come; `None` before the first.
    pub fn position(&self) -> Result<Option<u64>, IndexError> {
        Ok(self.engine.load_metas()?.payload.and_then(|payload| writing::position(&payload)))
    }

    /// How many documents there are.
    pub fn len(&self) -> u64 {
        self.searcher().num_docs()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn searcher(&self) -> Searcher {
        self.reader.searcher()
    }

    /// Notes work done, for tests that count it.
    #[cfg_attr(not(test), allow(clippy::unused_self, unused_variables, reason = "only tests count"))]
    fn looked_at(&self, documents: u64) {
        #[cfg(test)]
        self.looked_at.fetch_add(documents, std::sync::atomic::Ordering::Relaxed);
    }
}
