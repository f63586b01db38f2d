//! Oxigraph inside the process, on disk or in memory. It reaches no other server: it is compiled
//! without its HTTP client.

use super::backend::{Backend, GraphNames, Quads, Row, Selection};
use super::dataset::{Dataset as Layered, Stored};
use super::effects::{self, Realm};
use super::patch::Patch;
use super::pool::algebra;
use super::results::{self, Answer};
use super::views::{self, Pattern, View, Views, record_of};
use super::{CatalogueError, Graphs, services, syntax};
use crate::ontology::sparql_parser;
use oxigraph::sparql::{PreparedSparqlQuery, QueryEvaluationError, QueryResults, SparqlEvaluator};
use oxigraph::store::{StorageError, Store};
use oxrdf::{GraphName, NamedNode, NamedOrBlankNode, Quad, Term, Triple, Variable};
#[cfg(not(feature = "rocksdb"))]
use oxrdfio::RdfFormat;
use rustc_hash::FxHashSet;
use spargebra::SparqlParser;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Roughly what the bulk loader may use for one batch. Its default, 2 GB a thread, is more
/// than a whole import should take.
const BULK_MEGABYTES: usize = 800;

pub struct Embedded {
    store: Store,
    written: AtomicBool,
    /// What relative names in queries are relative to: `GRAPH <sources>`.
    base: Option<String>,
    /// Where the graphs of records come from, unless the store holds them.
    records: Option<Records>,
}

/// The graphs of records, computed when they are asked for.
struct Records {
    views: Arc<dyn Views>,
    graphs: Graphs,
}

impl Records {
    /// The view that holds all statements about a node, if its name tells that there is one.
    fn view_of(&self, node: &str) -> Option<Result<Option<View>, CatalogueError>> {
        let (source, id, name) = record_of(&self.graphs, node)?;
        let computed = self.views.graph(&source, &id);
        Some(computed.map(|triples| Some(View::new(NamedNode::new_unchecked(name), triples?))))
    }

    /// Statements of record graphs; whether the selection can be of anything else, too.
    fn quads(&self, selection: &Selection) -> Result<(Quads<'static>, bool), CatalogueError> {
        let of_graph = match &selection.graph {
            Some(GraphName::NamedNode(name)) if name.as_str().starts_with(&self.graphs.records()) => {
                Some(name)
            }
            Some(_) => return Ok((Box::new(std::iter::empty()), true)),
            None => None,
        };
        let pattern = Pattern {
            subject: selection.subject.clone().map(Term::from),
            predicate: selection.predicate.clone().map(Term::from),
            object: selection.object.clone(),
        };
        let node = of_graph.map(NamedNode::as_str).or_else(|| {
            let nodes = [&pattern.subject, &pattern.object].into_iter().flatten();
            nodes
                .filter_map(|node| match node {
                    Term::NamedNode(node) if node.as_str().starts_with(&self.graphs.records()) => {
                        Some(node.as_str())
                    }
                    _ => None,
                })
                .next()
        });
        let is_mixed = of_graph.is_none();
        let Some(node) = node else {
            if selection.is_near {
                return Ok((Box::new(std::iter::empty()), is_mixed));
            }
            let hits = views::scan(self.views.census()?, pattern);
            let quads = hits.flat_map(|hit| match hit {
                Ok(hit) => quads_of(&hit.view, &hit.places).into_iter().map(Ok).collect::<Vec<_>>(),
                Err(error) => vec![Err(error)],
            });
            return Ok((Box::new(quads), is_mixed));
        };
        let view = self.view_of(node).transpose()?.flatten();
        // A node of a record is no graph.
        let view = view.filter(|view| of_graph.is_none_or(|name| *name == view.name));
        let quads = view.map(|view| quads_of(&view, &view.matches(&pattern))).unwrap_or_default();
        Ok((Box::new(quads.into_iter().map(Ok)), is_mixed))
    }

    fn has(&self, name: &NamedNode) -> Option<Result<bool, CatalogueError>> {
        let (source, id, record) = record_of(&self.graphs, name.as_str())?;
        Some(if record == name.as_str() { self.views.has(&source, &id) } else { Ok(false) })
    }
}

fn quads_of(view: &View, places: &[u32]) -> Vec<Quad> {
    let triples = places.iter().filter_map(|place| view.triples.get(*place as usize));
    triples.map(|triple| triple.clone().in_graph(view.name.clone())).collect()
}

impl From<Store> for Embedded {
    fn from(store: Store) -> Self {
        Self { store, written: AtomicBool::new(false), base: None, records: None }
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

    /// The same store as that of a catalogue with these names. Record graphs are computed by `views`,
    /// or the store holds them.
    #[must_use]
    pub fn named(mut self, graphs: &Graphs, views: Option<Arc<dyn Views>>) -> Self {
        self.base = Some(graphs.base().to_owned());
        self.records = views.map(|views| Records { views, graphs: graphs.clone() });
        self
    }

    /// Evaluates on the store alone where that is all a query can be about: that path is Oxigraph's
    /// own. Else on store and views together.
    fn execute(
        &self,
        prepared: PreparedSparqlQuery,
        names_records: impl FnOnce(&Graphs) -> bool,
    ) -> Result<QueryResults<'static>, QueryEvaluationError> {
        match &self.records {
            Some(Records { views, graphs }) if names_records(graphs) => {
                let dataset =
                    Layered::new(Stored::Store(self.store.clone()), Arc::clone(views), graphs.clone());
                prepared.on_queryable_dataset(dataset).execute()
            }
            _ => prepared.on_store(&self.store).execute(),
        }
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
        let names_graphs = algebra::names_graphs(&query);
        let is_about_graphs = dataset.is_some() || how.union;
        let mut prepared = SparqlEvaluator::new().for_query(query);
        if let Some(dataset) = dataset {
            let default = dataset.default_graphs.into_iter().map(GraphName::from).collect();
            let named = dataset.named_graphs.into_iter().map(NamedOrBlankNode::from).collect();
            prepared.dataset_mut().set_default_graph(default);
            prepared.dataset_mut().set_available_named_graphs(named);
        } else if how.union && prepared.dataset().is_default_dataset() {
            prepared.dataset_mut().set_default_graph_as_union();
        }
        let about_records = |graphs: &Graphs| is_about_graphs || names_graphs.may_be_records(graphs);
        let results = self.execute(prepared, about_records).map_err(evaluation)?;
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
    fn parser(&self) -> SparqlParser {
        let base = self.base.as_deref();
        base.and_then(|base| sparql_parser().with_base_iri(base).ok()).unwrap_or_else(sparql_parser)
    }

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
        effects::effects(&self.store, self.records.as_ref().map(|records| &records.views), update, realm)
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
        if let Some(has) = self.records.as_ref().and_then(|records| records.has(name)) {
            return has;
        }
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
        let viewed = match &self.records {
            Some(records) => match records.quads(selection)? {
                (quads, false) => return Ok(quads),
                (quads, true) => Some(quads),
            },
            None => None,
        };
        let quads = self.store.quads_for_pattern(
            selection.subject.as_ref().map(NamedOrBlankNode::as_ref),
            selection.predicate.as_ref().map(NamedNode::as_ref),
            selection.object.as_ref().map(Term::as_ref),
            selection.graph.as_ref().map(GraphName::as_ref),
        );
        let quads = quads.map(|quad| quad.map_err(CatalogueError::from));
        Ok(match viewed {
            Some(viewed) => Box::new(quads.chain(viewed)),
            None => Box::new(quads),
        })
    }

    fn is_empty(&self) -> Result<bool, CatalogueError> {
        Ok(self.store.is_empty()?)
    }

    fn len(&self) -> Result<u64, CatalogueError> {
        Ok(self.store.len()? as u64)
    }

    fn graph_names(&self) -> Result<GraphNames, CatalogueError> {
        let stored = self.store.named_graphs().filter_map(|name| match name {
            Ok(NamedOrBlankNode::NamedNode(name)) => Some(Ok(name)),
            Ok(NamedOrBlankNode::BlankNode(_)) => None,
            Err(error) => Some(Err(error.into())),
        });
        Ok(match &self.records {
            Some(records) => Box::new(stored.chain(views::names(records.views.census()?))),
            None => Box::new(stored),
        })
    }

    fn rows(
        &self,
        query: &str,
        bindings: &[(&str, Term)],
        union: bool,
        each: &mut dyn FnMut(Row) -> Result<(), CatalogueError>,
    ) -> Result<(), CatalogueError> {
        let query = self.parser().parse_query(query).map_err(evaluation)?;
        let names_graphs = algebra::names_graphs(&query);
        let mut prepared = SparqlEvaluator::new().for_query(query);
        for (name, term) in bindings {
            prepared = prepared.substitute_variable(Variable::new_unchecked(*name), term.clone());
        }
        if union {
            prepared.dataset_mut().set_default_graph_as_union();
        }
        let QueryResults::Solutions(mut solutions) = self
            .execute(prepared, |graphs| union || names_graphs.may_be_records(graphs))
            .map_err(evaluation)?
        else {
            return Err(CatalogueError::Evaluation("it is not a SELECT".to_owned()));
        };
        solutions.try_for_each(|solution| each(solution.map_err(evaluation)?.values().to_vec()))
    }

    fn answer(&self, query: &str, how: &Answer, out: &mut dyn Write) -> Result<u64, CatalogueError> {
        let mut query = self
            .parser()
            .parse_query(query)
            .map_err(|error| CatalogueError::Syntax(syntax::explain("query", query, &error.to_string())))?;
        services::refuse(&mut query)?;
        let names_graphs = algebra::names_graphs(&query);
        let mut prepared = SparqlEvaluator::new().for_query(query);
        for (name, term) in &how.bindings {
            prepared = prepared.substitute_variable(Variable::new_unchecked(name.as_str()), term.clone());
        }
        if how.union && prepared.dataset().is_default_dataset() {
            prepared.dataset_mut().set_default_graph_as_union();
        }
        let about_records = |graphs: &Graphs| how.union || names_graphs.may_be_records(graphs);
        let results = self.execute(prepared, about_records).map_err(|error| match error {
            QueryEvaluationError::NotExistingSubstitutedVariable(variable) => CatalogueError::Evaluation(
                format!("`{variable}` is to be bound, and its SELECT has no `{variable}`"),
            ),
            error => evaluation(error),
        })?;
        results::write(results, how, out)
    }

    fn snapshot_views(&self, to: &Path) -> Result<(), CatalogueError> {
        match &self.records {
            Some(records) => records.views.snapshot(to),
            None => Ok(()),
        }
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
