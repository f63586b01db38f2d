//! A store that is read for as long as somebody waits, and no further than agreed.
//!
//! What a server reads in its own process cannot be killed. Whoever reads through [`Bounded`] is told
//! at every statement whether to go on, so that nobody has to remember to ask.

use super::backend::{Backend, GraphNames, Quads, Row, Selection};
use super::effects::Realm;
use super::patch::Patch;
use super::results::Answer;
use super::{Catalogue, CatalogueError, Graphs};
use crate::effort::Effort;
use oxrdf::{GraphName, NamedNode, Quad, Term, Triple};
use rustc_hash::FxHashSet;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A backend to read from, and how much of it may be read.
pub struct Bounded<'a> {
    catalogue: &'a Catalogue,
    effort: &'a Effort,
    most: u64,
    read: AtomicU64,
}

impl<'a> Bounded<'a> {
    /// At most `most` statements and rows are read.
    pub fn new(catalogue: &'a Catalogue, effort: &'a Effort, most: u64) -> Self {
        Self { catalogue, effort, most, read: AtomicU64::new(0) }
    }

    pub fn graphs(&self) -> &Graphs {
        self.catalogue.graphs()
    }

    fn backend(&self) -> &dyn Backend {
        self.catalogue.backend()
    }

    /// Whether anything was merged: until then the union of all graphs stands for the master.
    pub fn has_master(&self) -> Result<bool, CatalogueError> {
        self.catalogue.has_master()
    }

    /// How many statements and rows were read so far.
    pub fn read(&self) -> u64 {
        self.read.load(Relaxed)
    }

    /// Counts one more; or says why there is none.
    fn step(&self) -> Result<(), CatalogueError> {
        self.effort.check()?;
        if self.read.fetch_add(1, Relaxed) >= self.most {
            return Err(CatalogueError::TooMuch(self.most));
        }
        Ok(())
    }
}

/// Nobody writes through this.
fn refused<T>() -> Result<T, CatalogueError> {
    Err(CatalogueError::Store("it was opened for reading".to_owned()))
}

impl Backend for Bounded<'_> {
    fn quads(&self, selection: &Selection) -> Result<Quads<'_>, CatalogueError> {
        self.effort.check()?;
        // A scan of all records could not be ended in between.
        let selection = Selection { is_near: true, ..selection.clone() };
        let quads = self.backend().quads(&selection)?;
        Ok(Box::new(quads.map(|quad| self.step().and(quad))))
    }

    fn rows(
        &self,
        query: &str,
        bindings: &[(&str, Term)],
        union: bool,
        each: &mut dyn FnMut(Row) -> Result<(), CatalogueError>,
    ) -> Result<(), CatalogueError> {
        self.effort.check()?;
        self.backend().rows(query, bindings, union, &mut |row| {
            self.step()?;
            each(row)
        })
    }

    fn has_graph(&self, name: &NamedNode) -> Result<bool, CatalogueError> {
        self.effort.check()?;
        self.backend().has_graph(name)
    }

    fn graph_names(&self) -> Result<GraphNames, CatalogueError> {
        self.effort.check()?;
        self.backend().graph_names()
    }

    fn len(&self) -> Result<u64, CatalogueError> {
        self.backend().len()
    }

    fn answer(&self, query: &str, how: &Answer, out: &mut dyn Write) -> Result<u64, CatalogueError> {
        self.effort.check()?;
        self.backend().answer(query, how, out)
    }

    fn was_written(&self) -> bool {
        false
    }

    fn add(&self, _: Vec<Quad>) -> Result<(), CatalogueError> {
        refused()
    }

    fn rewrite(&self, _: Vec<(NamedNode, Option<Vec<Triple>>)>) -> Result<(), CatalogueError> {
        refused()
    }

    fn add_stream(
        &self,
        _: &mut dyn Iterator<Item = Result<Quad, CatalogueError>>,
    ) -> Result<(), CatalogueError> {
        refused()
    }

    fn clear(&self, _: &GraphName, _: &FxHashSet<Quad>) -> Result<(), CatalogueError> {
        refused()
    }

    fn patch(&self, _: Vec<Quad>, _: Vec<Quad>) -> Result<(), CatalogueError> {
        refused()
    }

    fn effects(&self, _: &spargebra::Update, _: &Realm<'_>) -> Result<Patch, CatalogueError> {
        refused()
    }

    fn apply(&self, _: &Patch) -> Result<(), CatalogueError> {
        refused()
    }

    fn set(&self, _: Quad) -> Result<(), CatalogueError> {
        refused()
    }

    fn snapshot(&self, _: &Path) -> Result<(), CatalogueError> {
        refused()
    }

    fn flush(&self) -> Result<(), CatalogueError> {
        refused()
    }

    fn validate(&self) -> Result<(), CatalogueError> {
        refused()
    }

    fn optimize(&self) -> Result<(), CatalogueError> {
        refused()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effort::Spent;
    use crate::ontology::rdfs;
    use oxrdf::Literal;

    fn catalogue(statements: u64) -> Catalogue {
        let catalogue = Catalogue::in_memory(Graphs::new("x:").unwrap()).unwrap();
        let name = NamedNode::new_unchecked("x:s");
        let quad = |number: u64| {
            Quad::new(name.clone(), rdfs::LABEL, Literal::from(number.to_string()), GraphName::DefaultGraph)
        };
        catalogue.backend().add((0..statements).map(quad).collect()).unwrap();
        catalogue
    }

    #[test]
    fn no_statement_is_read_beyond_what_was_agreed_or_for_nobody() {
        let catalogue = catalogue(100);
        let effort = Effort::unbounded();
        let count = |bounded: &Bounded<'_>| {
            bounded.quads(&Selection::default()).unwrap().take_while(Result::is_ok).count()
        };
        assert_eq!(count(&Bounded::new(&catalogue, &effort, 100)), 100);
        let few = Bounded::new(&catalogue, &effort, 30);
        assert_eq!(count(&few), 30);
        assert!(matches!(
            few.quads(&Selection::default()).unwrap().next(),
            Some(Err(CatalogueError::TooMuch(30)))
        ));

        let bounded = Bounded::new(&catalogue, &effort, 100);
        let mut quads = bounded.quads(&Selection::default()).unwrap();
        assert!(quads.by_ref().take(10).all(|quad| quad.is_ok()));
        drop(effort.waiter());
        assert!(matches!(quads.next(), Some(Err(CatalogueError::Stopped(Spent::GivenUp)))));
        assert_eq!(bounded.read(), 10);
    }
}
