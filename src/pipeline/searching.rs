//! Reading the index and the snapshots that writers leave, as of now.
//!
//! A [`Reader`] holds what was opened last and looks before each use whether there is something
//! newer, which costs the reading of a link or of a small file. [`searching`] answers the
//! `pin:search` of queries with it.

use super::concepts::concepts;
use super::indexing::index_folder;
use super::{PipelineError, RecordViews, Session};
use crate::catalogue::{Catalogue, CatalogueError, Graphs, Views, snapshot};
use crate::config::Home;
use crate::effort::Effort;
use crate::index::sparql::{SearchRequest, rewrite};
use crate::index::{Concepts, Index, IndexError, Request, Thesaurus};
use spargebra::Query;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// How often a snapshot is asked for that goes away just then.
const TRIES: usize = 5;
/// How often whoever waits for concepts looks whether to go on.
const LOOK: Duration = Duration::from_millis(20);

/// What writers leave for readers in other processes.
pub struct Reader {
    directory: PathBuf,
    graphs: Graphs,
    index: Mutex<Option<Arc<Index>>>,
    /// The newest snapshot that was asked for, by its number.
    snapshot: Mutex<Option<(u64, Arc<Catalogue>)>>,
    concepts: Arc<Thesauri>,
}

/// The concepts of one snapshot. Reading them may take longer than anybody may wait, so it is nobody's
/// work in particular: one thread reads them once, and who needs them waits.
#[derive(Default)]
struct Thesauri {
    state: Mutex<ThesauriState>,
    /// A reading has ended.
    ended: Condvar,
}

#[derive(Default)]
struct ThesauriState {
    is_reading: bool,
    /// What was read last, of which snapshot.
    read: Option<(u64, Result<Arc<Concepts>, String>)>,
    /// How often they were read.
    #[cfg(test)]
    readings: usize,
}

impl Thesauri {
    /// The concepts of this snapshot or of a later one.
    fn get(
        self: &Arc<Self>,
        (newest, catalogue): (u64, Arc<Catalogue>),
        graphs: &Graphs,
        effort: &Effort,
    ) -> Result<Arc<Concepts>, CatalogueError> {
        let mut state = lock(&self.state);
        loop {
            if let Some((_, read)) = state.read.as_ref().filter(|(number, _)| *number >= newest) {
                let read = read.clone();
                // What failed may succeed for whoever asks next.
                state.read.take_if(|(_, read)| read.is_err());
                return read.map_err(CatalogueError::Store);
            }
            effort.check()?;
            if !state.is_reading {
                state.is_reading = true;
                drop(state);
                let (catalogue, graphs) = (Arc::clone(&catalogue), graphs.clone());
                let thread = thread::Builder::new().name("concepts".to_owned());
                self.read(thread, newest, move || concepts(catalogue.backend(), &graphs))?;
                state = lock(&self.state);
                // It may have ended already, and then nobody tells of it again.
                continue;
            }
            state = self.ended.wait_timeout(state, LOOK).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Has a thread read the concepts of a snapshot.
    fn read(
        self: &Arc<Self>,
        thread: thread::Builder,
        snapshot: u64,
        concepts: impl FnOnce() -> Result<Concepts, CatalogueError> + Send + 'static,
    ) -> std::io::Result<()> {
        let mut reading = Reading { thesauri: Arc::clone(self), snapshot, read: None };
        thread.spawn(move || {
            // This stands if it panics.
            reading.ends_with(Err("the concepts could not be read".to_owned()));
            reading.ends_with(concepts().map_err(|error| error.to_string()));
        })?;
        Ok(())
    }
}

/// A reading under way. It ends with the value, and so also where its thread panics or cannot be had:
/// nobody waits for what does not come.
struct Reading {
    thesauri: Arc<Thesauri>,
    snapshot: u64,
    /// None before it has begun.
    read: Option<Result<Arc<Concepts>, String>>,
}

impl Reading {
    fn ends_with(&mut self, read: Result<Concepts, String>) {
        self.read = Some(read.map(Arc::new));
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        let mut state = lock(&self.thesauri.state);
        state.is_reading = false;
        if let Some(read) = self.read.take() {
            state.read = Some((self.snapshot, read));
            #[cfg(test)]
            {
                state.readings += 1;
            }
        }
        self.thesauri.ended.notify_all();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Reader {
    /// Opens nothing yet.
    pub fn new(home: &Home) -> Self {
        Self {
            directory: home.directory.clone(),
            graphs: home.graphs.clone(),
            index: Mutex::default(),
            snapshot: Mutex::default(),
            concepts: Arc::default(),
        }
    }

    pub fn graphs(&self) -> &Graphs {
        &self.graphs
    }

    /// The index as of its latest commit.
    pub fn index(&self) -> Result<Arc<Index>, IndexError> {
        let mut held = lock(&self.index);
        if let Some(index) = held.as_ref()
            && index.refresh().is_ok()
        {
            return Ok(Arc::clone(index));
        }
        // None yet, or it was made anew in another form.
        *held = None;
        let index = Arc::new(Index::open(&index_folder(&self.directory))?);
        *held = Some(Arc::clone(&index));
        Ok(index)
    }

    /// The catalogue as of the newest snapshot, and the number of that.
    pub fn catalogue(&self) -> Result<(u64, Arc<Catalogue>), CatalogueError> {
        let mut held = lock(&self.snapshot);
        let mut tries = 0;
        loop {
            let number = snapshot::current(&self.directory).ok_or(CatalogueError::NoSuchSnapshot(0))?;
            if let Some((_, known)) = held.as_ref().filter(|(known, _)| *known == number) {
                return Ok((number, Arc::clone(known)));
            }
            let views = |records: &Path| open_views(&self.directory, &self.graphs, records);
            match snapshot::open(&self.directory, number, Some((&views, &self.graphs))) {
                Ok(opened) => {
                    let catalogue = Arc::new(opened.into_catalogue(self.graphs.clone()));
                    *held = Some((number, Arc::clone(&catalogue)));
                    return Ok((number, catalogue));
                }
                // A newer one came in between.
                Err(CatalogueError::NoSuchSnapshot(_)) if tries < TRIES => tries += 1,
                Err(error) => return Err(error),
            }
        }
    }

    /// The concepts of the newest snapshot, read when they are first asked for.
    pub fn concepts(&self, effort: &Effort) -> Result<Arc<Concepts>, CatalogueError> {
        self.concepts.get(self.catalogue()?, &self.graphs, effort)
    }
}

/// The record views of a snapshot of the catalogue in a directory.
pub fn open_views(
    directory: &Path,
    graphs: &Graphs,
    records: &Path,
) -> Result<Arc<dyn Views>, CatalogueError> {
    Ok(Arc::new(RecordViews::open(records, &directory.join("archive"), graphs.clone())?))
}

/// Answers the searches of queries by the index and the snapshots of a catalogue. A query without
/// any costs a walk over its algebra.
pub fn searching(home: &Home) -> impl Fn(Query) -> Result<Query, String> + Send + Sync + use<> {
    let reader = Reader::new(home);
    move |query| {
        rewrite(query, &|search| {
            let index = reader.index().map_err(|error| error.to_string())?;
            // It runs in a process that is killed when its time is up.
            let concepts = search.expand.then(|| reader.concepts(&Effort::unbounded())).transpose();
            answer(&index, concepts.map_err(|error| error.to_string())?.as_deref(), search)
        })
        .map_err(|error| error.to_string())
    }
}

/// The same by the catalogue that a command has opened.
pub fn searching_in(session: &Session) -> impl Fn(Query) -> Result<Query, String> + Sync {
    move |query| {
        rewrite(query, &|search| {
            let folder = index_folder(&session.home.directory);
            let index = Index::open(&folder).map_err(|error| missing(error).to_string())?;
            let backend = session.catalogue.backend();
            let concepts = search.expand.then(|| concepts(backend, &session.home.graphs)).transpose();
            answer(&index, concepts.map_err(|error| error.to_string())?.as_ref(), search)
        })
        .map_err(|error| error.to_string())
    }
}

/// Where there is no index, the folder is no news, but the command that makes one is.
fn missing(error: IndexError) -> PipelineError {
    match error {
        IndexError::Missing(_) => PipelineError::NoIndex,
        error => error.into(),
    }
}

fn answer(
    index: &Index,
    concepts: Option<&Concepts>,
    search: &SearchRequest,
) -> Result<Vec<(String, f32)>, String> {
    let request = Request {
        text: &search.words,
        field: search.field,
        only: search.entry.as_deref(),
        limit: search.limit,
        thesaurus: concepts.map(|concepts| concepts as &dyn Thesaurus),
        ..Request::default()
    };
    index.names(&request).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::Embedded;
    use crate::index::{BUDGET, Document};
    use tempfile::TempDir;

    fn home(directory: &TempDir) -> Home {
        Home::create(&directory.path().join("c"), "https://c.example/").unwrap()
    }

    fn parse(text: &str) -> Query {
        spargebra::SparqlParser::new().parse_query(text).unwrap()
    }

    fn put(home: &Home, label: &str, position: u64) {
        let folder = index_folder(&home.directory);
        let index = Index::open(&folder).or_else(|_| Index::create(&folder)).unwrap();
        let mut writer = index.writer(BUDGET).unwrap();
        let document =
            Document { iri: format!("x:{position}"), label: label.to_owned(), ..Document::default() };
        writer.put(&document).unwrap();
        writer.commit(position).unwrap();
        writer.finish().unwrap();
    }

    #[test]
    fn a_query_sees_every_commit_and_an_index_that_was_made_anew() {
        let directory = TempDir::new().unwrap();
        let home = home(&directory);
        let search = searching(&home);
        let query = || parse("SELECT ?e { ?e <https://w3id.org/pinakes#search> \"walden\" }");
        assert!(search(query()).unwrap_err().contains("index"), "there is none yet");
        put(&home, "Walden", 1);
        assert!(search(query()).unwrap().to_string().contains("x:1"));
        put(&home, "Walden again", 2);
        assert!(search(query()).unwrap().to_string().contains("x:2"));
        std::fs::remove_dir_all(index_folder(&home.directory)).unwrap();
        put(&home, "Walden anew", 3);
        let anew = search(query()).unwrap().to_string();
        assert!(anew.contains("x:3") && !anew.contains("x:2"), "{anew}");
    }

    #[test]
    fn a_query_without_a_search_needs_no_index() {
        let directory = TempDir::new().unwrap();
        let query = parse("ASK { ?s ?p ?o }");
        assert_eq!(searching(&home(&directory))(query.clone()), Ok(query));
    }

    #[test]
    fn readers_follow_snapshots() {
        let directory = TempDir::new().unwrap();
        let home = home(&directory);
        let reader = Reader::new(&home);
        assert!(matches!(reader.catalogue(), Err(CatalogueError::NoSuchSnapshot(0))));
        let store = Embedded::open(&home.store()).unwrap();
        for number in 1..=3 {
            snapshot::publish(&store, &home.directory, true).unwrap();
            assert_eq!(reader.catalogue().unwrap().0, number);
            assert!(reader.concepts(&Effort::unbounded()).unwrap().is_empty());
        }
    }

    #[test]
    fn concepts_are_read_once_for_a_snapshot_whoever_waits_for_them() {
        let directory = TempDir::new().unwrap();
        let home = home(&directory);
        let reader = Reader::new(&home);
        let store = Embedded::open(&home.store()).unwrap();
        snapshot::publish(&store, &home.directory, true).unwrap();
        let given_up = Effort::unbounded();
        drop(given_up.waiter());
        assert!(matches!(reader.concepts(&given_up), Err(CatalogueError::Stopped(_))));
        assert_eq!(lock(&reader.concepts.state).readings, 0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| reader.concepts(&Effort::unbounded()).unwrap());
            }
        });
        assert_eq!(lock(&reader.concepts.state).readings, 1);
        // What is there is given to whoever asks.
        assert!(reader.concepts(&given_up).is_ok());
    }

    /// Whoever asked after such a reading once waited for ever.
    #[test]
    fn a_reading_that_fails_in_whatever_way_is_over() {
        let directory = TempDir::new().unwrap();
        let home = home(&directory);
        let reader = Reader::new(&home);
        let store = Embedded::open(&home.store()).unwrap();
        snapshot::publish(&store, &home.directory, true).unwrap();
        let panics = || -> Result<Concepts, CatalogueError> { panic!("as asked") };
        let begin = |thread: thread::Builder| {
            lock(&reader.concepts.state).is_reading = true;
            reader.concepts.read(thread, 1, panics)
        };
        begin(thread::Builder::new()).unwrap();
        assert!(reader.concepts(&Effort::unbounded()).is_err(), "the reading panicked");
        assert!(reader.concepts(&Effort::unbounded()).is_ok(), "the next one does not");
        lock(&reader.concepts.state).read = None;
        // No system has so much for a stack.
        assert!(begin(thread::Builder::new().stack_size(1 << 60)).is_err());
        assert!(reader.concepts(&Effort::unbounded()).is_ok(), "there is a thread again");
    }
}
