//! Oxigraph inside the process, on disk or in memory. It reaches no other server: it is compiled
//! without its HTTP client.

use super::backend::{Backend, GraphNames, Quads, Row, Selection};
use super::effects::{self, Realm};
use super::patch::Patch;
use super::results::{self, Answer};
use super::{CatalogueError, services, syntax};
use crate::ontology::sparql_parser;
use oxigraph::sparql::{QueryEvaluationError, QueryResults, SparqlEvaluator};
use oxigraph::store::{StorageError, Store};
use oxrdf::{GraphName, NamedNode, NamedOrBlankNode, Quad, Term, Triple, Variable};
#[cfg(not(feature = "rocksdb"))]
use oxrdfio::RdfFormat;
use rustc_hash::FxHashSet;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// Roughly what the bulk loader may use for one batch. Its default, 2 GB a thread, is more
/// than a whole import should take.
const BULK_MEGABYTES: usize = 800;

pub struct Embedded {
    store: Store,
    written: AtomicBool,
}

impl From<Store> for Embedded {
    fn from(store: Store) -> Self {
        Self { store, written: AtomicBool::new(false) }
    }
}

impl Embedded {
    /// A store that ends with the process.
    pub fn in_memory() -> Result<Self, CatalogueError> {
        Ok(Store::new()?.into())
    }

    /// The store in this directory.
    #[cfg(feature = "rocksdb")]
    pub fn open(directory: &Path) -> Result<Self, CatalogueError> {
        remove_orphans(directory)?;
        Ok(Store::open(directory)?.into())
    }

    #[cfg(feature = "rocksdb")]
    pub fn open_read_only(directory: &Path) -> Result<Self, CatalogueError> {
        Ok(Store::open_read_only(directory)?.into())
    }

    /// Without RocksDB there is nothing on disk: the pipeline fills the store from the archive.
    #[cfg(not(feature = "rocksdb"))]
    pub fn open(_: &Path) -> Result<Self, CatalogueError> {
        Self::in_memory()
    }

    #[cfg(not(feature = "rocksdb"))]
    pub fn open_read_only(_: &Path) -> Result<Self, CatalogueError> {
        Self::in_memory()
    }

    /// What [`Backend::snapshot`] made, for reading.
    #[cfg(feature = "rocksdb")]
    pub(super) fn open_snapshot(directory: &Path) -> Result<Self, CatalogueError> {
        Self::open_read_only(directory)
    }

    #[cfg(not(feature = "rocksdb"))]
    pub(super) fn open_snapshot(directory: &Path) -> Result<Self, CatalogueError> {
        let store = Store::new()?;
        let dump = std::fs::File::open(directory.join(DUMP))?;
        store
            .load_from_reader(RdfFormat::NQuads, dump)
            .map_err(|error| CatalogueError::Store(error.to_string()))?;
        Ok(store.into())
    }

    /// Evaluates a parsed query and writes its results; says in which media type, and how many
    /// rows or statements there were. Graphs that are named here stand for those of the query.
    pub(super) fn evaluate(
        &self,
        query: spargebra::Query,
        dataset: Option<Dataset>,
        how: &Answer,
        out: &mut dyn Write,
    ) -> Result<(&'static str, u64), CatalogueError> {
        let mut prepared = SparqlEvaluator::new().for_query(query);
        if let Some(dataset) = dataset {
            let default = dataset.default_graphs.into_iter().map(GraphName::from).collect();
            let named = dataset.named_graphs.into_iter().map(NamedOrBlankNode::from).collect();
            prepared.dataset_mut().set_default_graph(default);
            prepared.dataset_mut().set_available_named_graphs(named);
        } else if how.union && prepared.dataset().is_default_dataset() {
            prepared.dataset_mut().set_default_graph_as_union();
        }
        let results = prepared.on_store(&self.store).execute().map_err(evaluation)?;
        let media_type = results::media_type(&results, how);
        Ok((media_type, results::write(results, how, out)?))
    }
}

/// The graphs a client of the SPARQL Protocol wants to ask, whatever the query says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Dataset {
    pub default_graphs: Vec<NamedNode>,
    pub named_graphs: Vec<NamedNode>,
}

/// Without RocksDB a snapshot is a dump.
#[cfg(not(feature = "rocksdb"))]
const DUMP: &str = "store.nq";

/// A bulk load that was killed leaves its files behind, and the store does not look for them.
#[cfg(feature = "rocksdb")]
fn remove_orphans(directory: &Path) -> std::io::Result<()> {
    let entries = match std::fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with("bulk-") && name.ends_with(".sst") {
            std::fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

impl Embedded {
    /// The store, about to be written.
    fn to_write(&self) -> &Store {
        self.written.store(true, Ordering::Relaxed);
        &self.store
    }
}

impl Backend for Embedded {
    fn add(&self, quads: Vec<Quad>) -> Result<(), CatalogueError> {
        if quads.is_empty() {
            return Ok(());
        }
        let mut loader = self.to_write().bulk_loader().with_max_memory_size_in_megabytes(BULK_MEGABYTES);
        loader.load_quads(quads)?;
        Ok(loader.commit()?)
    }

    fn rewrite(&self, graphs: Vec<(NamedNode, Option<Vec<Triple>>)>) -> Result<(), CatalogueError> {
        if graphs.is_empty() {
            return Ok(());
        }
        let mut transaction = self.to_write().start_transaction()?;
        for (name, triples) in graphs {
            let Some(triples) = triples else {
                transaction.remove_named_graph(&name)?;
                continue;
            };
            transaction.clear_graph(&name)?;
            for triple in triples {
                transaction.insert(&triple.in_graph(name.clone()));
            }
        }
        Ok(transaction.commit()?)
    }

    fn add_stream(
        &self,
        quads: &mut dyn Iterator<Item = Result<Quad, CatalogueError>>,
    ) -> Result<(), CatalogueError> {
        let mut loader = self.to_write().bulk_loader().with_max_memory_size_in_megabytes(BULK_MEGABYTES);
        loader.load_ok_quads::<CatalogueError, CatalogueError>(quads)?;
        Ok(loader.commit()?)
    }

    fn clear(&self, graph: &GraphName, but: &FxHashSet<Quad>) -> Result<(), CatalogueError> {
        let mut transaction = self.to_write().start_transaction()?;
        transaction.clear_graph(graph)?;
        but.iter().for_each(|quad| transaction.insert(quad));
        Ok(transaction.commit()?)
    }

    fn patch(&self, removed: Vec<Quad>, added: Vec<Quad>) -> Result<(), CatalogueError> {
        if removed.is_empty() && added.is_empty() {
            return Ok(());
        }
        let mut transaction = self.to_write().start_transaction()?;
        for quad in &removed {
            transaction.remove(quad);
        }
        for quad in &added {
            transaction.insert(quad);
        }
        Ok(transaction.commit()?)
    }

    fn effects(&self, update: &spargebra::Update, realm: &Realm<'_>) -> Result<Patch, CatalogueError> {
        effects::effects(&self.store, &SparqlEvaluator::new, update, realm)
    }

    fn apply(&self, patch: &Patch) -> Result<(), CatalogueError> {
        if patch.is_empty() {
            return Ok(());
        }
        let mut transaction = self.to_write().start_transaction()?;
        patch.removed.iter().for_each(|quad| transaction.remove(quad));
        patch.added.iter().for_each(|quad| transaction.insert(quad));
        patch.created.iter().for_each(|graph| transaction.insert_named_graph(graph));
        for graph in &patch.dropped {
            let name = GraphName::from(graph.clone());
            if transaction.quads_for_pattern(None, None, None, Some(name.as_ref())).next().is_none() {
                transaction.remove_named_graph(graph)?;
            }
        }
        Ok(transaction.commit()?)
    }

    fn has_graph(&self, name: &NamedNode) -> Result<bool, CatalogueError> {
        Ok(self.store.contains_named_graph(name)?)
    }

    fn set(&self, quad: Quad) -> Result<(), CatalogueError> {
        let mut transaction = self.to_write().start_transaction()?;
        let old: Vec<Quad> = transaction
            .quads_for_pattern(
                Some(quad.subject.as_ref()),
                Some(quad.predicate.as_ref()),
                None,
                Some(quad.graph_name.as_ref()),
            )
            .collect::<Result<_, StorageError>>()?;
        for quad in &old {
            transaction.remove(quad);
        }
        transaction.insert(&quad);
        Ok(transaction.commit()?)
    }

    fn quads(&self, selection: &Selection) -> Result<Quads<'_>, CatalogueError> {
        let quads = self.store.quads_for_pattern(
            selection.subject.as_ref().map(NamedOrBlankNode::as_ref),
            selection.predicate.as_ref().map(NamedNode::as_ref),
            selection.object.as_ref().map(Term::as_ref),
            selection.graph.as_ref().map(GraphName::as_ref),
        );
        Ok(Box::new(quads.map(|quad| quad.map_err(CatalogueError::from))))
    }

    fn len(&self) -> Result<u64, CatalogueError> {
        Ok(self.store.len()? as u64)
    }

    fn graph_names(&self) -> Result<GraphNames, CatalogueError> {
        Ok(Box::new(self.store.named_graphs().filter_map(|name| match name {
            Ok(NamedOrBlankNode::NamedNode(name)) => Some(Ok(name)),
            Ok(NamedOrBlankNode::BlankNode(_)) => None,
            Err(error) => Some(Err(error.into())),
        })))
    }

    fn rows(
        &self,
        query: &str,
        bindings: &[(&str, Term)],
        union: bool,
        each: &mut dyn FnMut(Row) -> Result<(), CatalogueError>,
    ) -> Result<(), CatalogueError> {
        let mut prepared =
            SparqlEvaluator::new().for_query(sparql_parser().parse_query(query).map_err(evaluation)?);
        for (name, term) in bindings {
            prepared = prepared.substitute_variable(Variable::new_unchecked(*name), term.clone());
        }
        if union {
            prepared.dataset_mut().set_default_graph_as_union();
        }
        let QueryResults::Solutions(mut solutions) =
            prepared.on_store(&self.store).execute().map_err(evaluation)?
        else {
            return Err(CatalogueError::Evaluation("it is not a SELECT".to_owned()));
        };
        solutions.try_for_each(|solution| each(solution.map_err(evaluation)?.values().to_vec()))
    }

    fn answer(&self, query: &str, how: &Answer, out: &mut dyn Write) -> Result<u64, CatalogueError> {
        let mut query = sparql_parser()
            .parse_query(query)
            .map_err(|error| CatalogueError::Syntax(syntax::explain("query", query, &error.to_string())))?;
        services::refuse(&mut query)?;
        let mut prepared = SparqlEvaluator::new().for_query(query);
        for (name, term) in &how.bindings {
            prepared = prepared.substitute_variable(Variable::new_unchecked(name.as_str()), term.clone());
        }
        if how.union && prepared.dataset().is_default_dataset() {
            prepared.dataset_mut().set_default_graph_as_union();
        }
        let results = prepared.on_store(&self.store).execute().map_err(|error| match error {
            QueryEvaluationError::NotExistingSubstitutedVariable(variable) => CatalogueError::Evaluation(
                format!("`{variable}` is to be bound, and its SELECT has no `{variable}`"),
            ),
            error => evaluation(error),
        })?;
        results::write(results, how, out)
    }

    #[cfg(feature = "rocksdb")]
    fn snapshot(&self, to: &Path) -> Result<(), CatalogueError> {
        Ok(self.store.backup(to)?)
    }

    #[cfg(not(feature = "rocksdb"))]
    fn snapshot(&self, to: &Path) -> Result<(), CatalogueError> {
        std::fs::create_dir(to)?;
        let dump = std::io::BufWriter::new(std::fs::File::create_new(to.join(DUMP))?);
        self.store
            .dump_to_writer(RdfFormat::NQuads, dump)
            .map_err(|error| CatalogueError::Store(error.to_string()))?
            .flush()?;
        Ok(())
    }

    fn flush(&self) -> Result<(), CatalogueError> {
        #[cfg(feature = "rocksdb")]
        self.store.flush()?;
        Ok(())
    }

    fn was_written(&self) -> bool {
        self.written.swap(false, Ordering::Relaxed)
    }

    fn validate(&self) -> Result<(), CatalogueError> {
        Ok(self.store.validate()?)
    }

    fn optimize(&self) -> Result<(), CatalogueError> {
        #[cfg(feature = "rocksdb")]
        self.store.optimize()?;
        Ok(())
    }
}

fn evaluation(error: impl std::fmt::Display) -> CatalogueError {
    CatalogueError::Evaluation(error.to_string())
}

impl From<StorageError> for CatalogueError {
    fn from(error: StorageError) -> Self {
        match &error {
            StorageError::Corruption(_) => Self::Damaged(error.to_string()),
            StorageError::Io(cause) if cause.kind() == std::io::ErrorKind::StorageFull => {
                Self::DiskFull(error.to_string())
            }
            _ => Self::Store(error.to_string()),
        }
    }
}
