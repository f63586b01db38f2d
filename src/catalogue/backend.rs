//! What a store must be able to do. Every call could be one request to a SPARQL 1.1 server:
//! graph store PUT and DELETE, an update, a query.

use super::CatalogueError;
use super::effects::Realm;
use super::patch::Patch;
use oxrdf::{GraphName, NamedNode, NamedOrBlankNode, Quad, Term, Triple};
use rustc_hash::FxHashSet;
use std::path::Path;

/// Which statements are asked for; `None` stands for any.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    pub subject: Option<NamedOrBlankNode>,
    pub predicate: Option<NamedNode>,
    pub object: Option<Term>,
    pub graph: Option<GraphName>,
    /// Records that nothing here names are left where they are: no scan of all of them.
    pub is_near: bool,
}

/// A stream of statements.
pub type Quads<'a> = Box<dyn Iterator<Item = Result<Quad, CatalogueError>> + 'a>;

/// The names of graphs as they were when they were asked for.
pub type GraphNames = Box<dyn Iterator<Item = Result<NamedNode, CatalogueError>>>;

/// One row; an unbound variable is `None`.
pub type Row = Vec<Option<Term>>;

pub trait Backend: Send + Sync {
    /// Adds statements, all or none. Statements that are there already stay as they are.
    fn add(&self, quads: Vec<Quad>) -> Result<(), CatalogueError>;

    /// Puts graphs in the place of what is there, or takes them away (`None`), in this order,
    /// all or none.
    fn rewrite(&self, graphs: Vec<(NamedNode, Option<Vec<Triple>>)>) -> Result<(), CatalogueError>;

    /// Adds a stream of statements, all or none, without holding them.
    fn add_stream(
        &self,
        quads: &mut dyn Iterator<Item = Result<Quad, CatalogueError>>,
    ) -> Result<(), CatalogueError>;

    /// Takes all statements of a graph away but some, all or none.
    fn clear(&self, graph: &GraphName, but: &FxHashSet<Quad>) -> Result<(), CatalogueError>;

    /// Takes statements away and puts others in their place, all or none.
    fn patch(&self, removed: Vec<Quad>, added: Vec<Quad>) -> Result<(), CatalogueError>;

    /// What an update would change. It has passed the guard, and neither loads nor asks elsewhere.
    fn effects(&self, update: &spargebra::Update, realm: &Realm<'_>) -> Result<Patch, CatalogueError>;

    /// Carries a patch out, all or nothing. Doing it again changes nothing.
    fn apply(&self, patch: &Patch) -> Result<(), CatalogueError>;

    /// Whether there is a graph of this name, be it empty.
    fn has_graph(&self, name: &NamedNode) -> Result<bool, CatalogueError>;

    /// Makes this the only statement with its subject and predicate in its graph.
    fn set(&self, quad: Quad) -> Result<(), CatalogueError>;

    fn quads(&self, selection: &Selection) -> Result<Quads<'_>, CatalogueError>;

    /// How many statements there are.
    fn len(&self) -> Result<u64, CatalogueError>;

    fn is_empty(&self) -> Result<bool, CatalogueError> {
        Ok(self.len()? == 0)
    }

    /// The names of all graphs.
    fn graph_names(&self) -> Result<GraphNames, CatalogueError>;

    /// Hands on the rows of a SELECT of ours one by one, in the order of its variables.
    fn rows(
        &self,
        query: &str,
        bindings: &[(&str, Term)],
        union: bool,
        each: &mut dyn FnMut(Row) -> Result<(), CatalogueError>,
    ) -> Result<(), CatalogueError>;

    /// Evaluates a guarded query and writes its results.
    fn answer(
        &self,
        query: &str,
        how: &super::results::Answer,
        out: &mut dyn std::io::Write,
    ) -> Result<u64, CatalogueError>;

    /// Makes a copy of the store as it is now, for readers in other processes, in a directory that is
    /// not there yet. A server that is asked over the network has its readers itself, and does
    /// nothing.
    fn snapshot(&self, to: &Path) -> Result<(), CatalogueError>;

    /// The same of what is computed, if anything is.
    fn snapshot_views(&self, _: &Path) -> Result<(), CatalogueError> {
        Ok(())
    }

    /// Whether anything was written since this was asked last.
    fn was_written(&self) -> bool;

    /// Everything written so far survives a power cut.
    fn flush(&self) -> Result<(), CatalogueError>;

    /// Checks the store's own invariants.
    fn validate(&self) -> Result<(), CatalogueError>;

    /// Makes the files smaller and reading faster, after much was written.
    fn optimize(&self) -> Result<(), CatalogueError>;
}
