//! Reading the index and the snapshots that writers leave, as of now.
//!
//! A [`Reader`] holds what was opened last and looks before each use whether there is something
//! newer, which costs the reading of a link or of a small file. [`searching`] answers the
//! `pin:search` of queries with it.

use super::concepts::concepts;
use super::indexing::index_folder;
use super::{PipelineError, Session};
use crate::catalogue::{Catalogue, CatalogueError, Graphs, snapshot};
use crate::config::Home;
use crate::index::sparql::{SearchRequest, rewrite};
use crate::index::{Concepts, Index, IndexError, Request, Thesaurus};
use spargebra::Query;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How often a snapshot is asked for that goes away just then.
const TRIES: usize = 5;

/// What writers leave for readers in other processes.
pub struct Reader {
    directory: PathBuf,
    graphs: Graphs,
    index: Mutex<Option<Arc<Index>>>,
    /// The newest snapshot that was asked for, by its number.
    snapshot: Mutex<Option<(u64, Arc<Catalogue>)>>,
    /// With the number of the snapshot they were read from.
    concepts: Mutex<Option<(u64, Arc<Concepts>)>>,
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
            concepts: Mutex::default(),
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
            match snapshot::open(&self.directory, number) {
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
    pub fn concepts(&self) -> Result<Arc<Concepts>, CatalogueError> {
        let (newest, catalogue) = self.catalogue()?;
        let mut held = lock(&self.concepts);
        if let Some((number, concepts)) = held.as_ref()
            && *number == newest
        {
            return Ok(Arc::clone(concepts));
        }
        let read = Arc::new(concepts(catalogue.backend(), &self.graphs)?);
        *held = Some((newest, Arc::clone(&read)));
        Ok(read)
    }
}

/// Answers the searches of queries by the index and the snapshots of a catalogue. A query without
/// any costs a walk over its algebra.
pub fn searching(home: &Home) -> impl Fn(Query) -> Result<Query, String> + Send + Sync + use<> {
    let reader = Reader::new(home);
    move |query| {
        rewrite(query, &|search| {
            let index = reader.index().map_err(|error| error.to_string())?;
            let concepts = search.expand.then(|| reader.concepts()).transpose();
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
            snapshot::publish(&store, &home.directory).unwrap();
            assert_eq!(reader.catalogue().unwrap().0, number);
            assert!(reader.concepts().unwrap().is_empty());
        }
    }
}
