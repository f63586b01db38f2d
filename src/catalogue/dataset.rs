//! Store and record views as one dataset, for queries that ask about records.
//!
//! The evaluator joins patterns one after the other, so after a scan has found a record the next
//! pattern asks about the same one. Views are therefore held for a moment. A join may also lead
//! back from a value to all records that have it; scanning again for each value would take for ever,
//! so what all records say by one property is gathered when it is asked for a second time.

use super::CatalogueError;
use super::Graphs;
use super::views::{Hit, Pattern, View, Views, names, record_of, scan};
use oxigraph::store::{StorageError, Store, Transaction};
use oxrdf::{GraphName, NamedNode, NamedOrBlankNode, NamedOrBlankNodeRef, Quad, Term};
use rustc_hash::FxHashMap;
use spareval::{InternalQuad, QueryableDataset};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

/// Views held for the next pattern.
const HELD: usize = 64;
/// How often all records are scanned for values of one property before its values are gathered.
const SCANS: u32 = 2;

/// A term that is cheap to hand on.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Shared(Arc<Term>);

impl From<Term> for Shared {
    fn from(term: Term) -> Self {
        Self(Arc::new(term))
    }
}

type Found = InternalQuad<Shared>;
type Quads<'a> = Box<dyn Iterator<Item = Result<Found, CatalogueError>> + 'a>;

/// Where the other graphs are read from.
pub(super) enum Stored<'a> {
    Store(Store),
    /// With what was changed in it so far.
    Transaction(&'a Transaction<'a>),
}

/// What a dataset and its iterators share.
struct State<'a> {
    stored: Stored<'a>,
    views: Arc<dyn Views>,
    graphs: Graphs,
    recent: RefCell<VecDeque<Arc<View>>>,
    /// How often a property was looked for by its value, and in the end all its values.
    by_value: RefCell<FxHashMap<Shared, Values>>,
}

enum Values {
    Scanned(u32),
    Gathered(Rc<ByValue>),
}

/// Subject and graph of the statements with each value of one property.
type ByValue = FxHashMap<Shared, Vec<(Shared, Shared)>>;

/// The dataset of one query.
pub(super) struct Dataset<'a>(Rc<State<'a>>);

impl<'a> Dataset<'a> {
    pub fn new(stored: Stored<'a>, views: Arc<dyn Views>, graphs: Graphs) -> Self {
        let (recent, by_value) = (RefCell::default(), RefCell::default());
        Self(Rc::new(State { stored, views, graphs, recent, by_value }))
    }
}

impl<'a> State<'a> {
    /// The view that holds all statements about a node, if its name tells.
    fn view_of(&self, node: &Term) -> Option<Result<Option<Arc<View>>, CatalogueError>> {
        let Term::NamedNode(node) = node else { return None };
        let (source, id, name) = record_of(&self.graphs, node.as_str())?;
        let mut recent = self.recent.borrow_mut();
        if let Some(known) = recent.iter().find(|view| view.name.as_str() == name) {
            return Some(Ok(Some(Arc::clone(known))));
        }
        let computed = self.views.graph(&source, &id);
        Some(computed.map(|triples| {
            let view = Arc::new(View::new(NamedNode::new_unchecked(name), triples?));
            hold(&mut recent, Arc::clone(&view));
            Some(view)
        }))
    }

    fn stored(&self, pattern: &Pattern, graph: Option<&GraphName>) -> Quads<'a> {
        let subject = match &pattern.subject {
            Some(Term::NamedNode(node)) => Some(NamedOrBlankNode::from(node.clone())),
            Some(Term::BlankNode(node)) => Some(node.clone().into()),
            Some(Term::Literal(_)) => return Box::new(std::iter::empty()),
            None => None,
        };
        let predicate = match &pattern.predicate {
            Some(Term::NamedNode(node)) => Some(node.clone()),
            Some(_) => return Box::new(std::iter::empty()),
            None => None,
        };
        let subject = subject.as_ref().map(NamedOrBlankNode::as_ref);
        let predicate = predicate.as_ref().map(NamedNode::as_ref);
        let object = pattern.object.as_ref().map(Term::as_ref);
        let name = graph.map(GraphName::as_ref);
        let taken = |quad: Result<Quad, StorageError>| Ok(found(quad?));
        match &self.stored {
            Stored::Store(store) => {
                Box::new(store.quads_for_pattern(subject, predicate, object, name).map(taken))
            }
            Stored::Transaction(transaction) => {
                Box::new(transaction.quads_for_pattern(subject, predicate, object, name).map(taken))
            }
        }
    }

    /// The names of stored graphs.
    fn names(&self) -> Box<dyn Iterator<Item = Result<Shared, CatalogueError>> + 'a> {
        match &self.stored {
            Stored::Store(store) => Box::new(store.named_graphs().map(|name| Ok(Term::from(name?).into()))),
            Stored::Transaction(transaction) => {
                Box::new(transaction.named_graphs().map(|name| Ok(Term::from(name?).into())))
            }
        }
    }

    fn has_stored<'n>(&self, name: impl Into<NamedOrBlankNodeRef<'n>>) -> Result<bool, CatalogueError> {
        Ok(match &self.stored {
            Stored::Store(store) => store.contains_named_graph(name)?,
            Stored::Transaction(transaction) => transaction.contains_named_graph(name)?,
        })
    }

    /// What all records say, by a scan, or by what is gathered of a property.
    fn scanned(self: &Rc<Self>, pattern: Pattern) -> Result<Quads<'a>, CatalogueError> {
        if let (None, Some(predicate), Some(object)) = (&pattern.subject, &pattern.predicate, &pattern.object)
        {
            let (predicate, object) = (Shared::from(predicate.clone()), Shared::from(object.clone()));
            if let Some(values) = self.gathered(&predicate)? {
                let count = values.get(&object).map_or(0, Vec::len);
                return Ok(Box::new((0..count).filter_map(move |place| {
                    let (subject, graph) = values.get(&object)?.get(place)?.clone();
                    let (predicate, object) = (predicate.clone(), object.clone());
                    Some(Ok(InternalQuad { subject, predicate, object, graph_name: Some(graph) }))
                })));
            }
        }
        let state = Rc::clone(self);
        let hits = scan(self.views.census()?, pattern);
        Ok(Box::new(hits.flat_map(move |hit| match hit {
            Ok(hit) => {
                // What comes next asks about this record.
                hold(&mut state.recent.borrow_mut(), Arc::clone(&hit.view));
                of_hit(hit).map(Ok).collect::<Vec<_>>()
            }
            Err(error) => vec![Err(error)],
        })))
    }

    /// All values of a property, from the time when scanning for each of them is too much.
    fn gathered(&self, predicate: &Shared) -> Result<Option<Rc<ByValue>>, CatalogueError> {
        {
            let mut known = self.by_value.borrow_mut();
            match known.entry(predicate.clone()).or_insert(Values::Scanned(0)) {
                Values::Gathered(values) => return Ok(Some(Rc::clone(values))),
                Values::Scanned(times) if *times < SCANS => {
                    *times += 1;
                    return Ok(None);
                }
                Values::Scanned(_) => {}
            }
        }
        let mut values = ByValue::default();
        let pattern = Pattern { predicate: Some((*predicate.0).clone()), ..Pattern::default() };
        for hit in scan(self.views.census()?, pattern) {
            for quad in of_hit(hit?) {
                let graph = quad.graph_name.unwrap_or_else(|| quad.subject.clone());
                values.entry(quad.object).or_default().push((quad.subject, graph));
            }
        }
        let values = Rc::new(values);
        self.by_value.borrow_mut().insert(predicate.clone(), Values::Gathered(Rc::clone(&values)));
        Ok(Some(values))
    }
}

fn hold(recent: &mut VecDeque<Arc<View>>, view: Arc<View>) {
    if recent.len() >= HELD {
        recent.pop_back();
    }
    recent.push_front(view);
}

fn found(quad: Quad) -> Found {
    InternalQuad {
        subject: Term::from(quad.subject).into(),
        predicate: Term::from(quad.predicate).into(),
        object: quad.object.into(),
        graph_name: match quad.graph_name {
            GraphName::NamedNode(name) => Some(Term::from(name).into()),
            GraphName::BlankNode(name) => Some(Term::from(name).into()),
            GraphName::DefaultGraph => None,
        },
    }
}

fn of_hit(Hit { view, places }: Hit) -> impl Iterator<Item = Found> {
    let graph = Shared::from(Term::from(view.name.clone()));
    places.into_iter().filter_map(move |place| {
        let triple = view.triples.get(place as usize)?;
        Some(InternalQuad {
            subject: Term::from(triple.subject.clone()).into(),
            predicate: Term::from(triple.predicate.clone()).into(),
            object: triple.object.clone().into(),
            graph_name: Some(graph.clone()),
        })
    })
}

fn failed<'a>(error: CatalogueError) -> Quads<'a> {
    Box::new(std::iter::once(Err(error)))
}

fn of_view<'a>(view: Result<Option<Arc<View>>, CatalogueError>, pattern: &Pattern) -> Quads<'a> {
    match view {
        Ok(Some(view)) => {
            let places = view.matches(pattern);
            Box::new(of_hit(Hit { view, places }).map(Ok))
        }
        Ok(None) => Box::new(std::iter::empty()),
        Err(error) => failed(error),
    }
}

impl<'a> QueryableDataset<'a> for Dataset<'a> {
    type InternalTerm = Shared;
    type Error = CatalogueError;

    fn internal_quads_for_pattern(
        &self,
        subject: Option<&Shared>,
        predicate: Option<&Shared>,
        object: Option<&Shared>,
        graph_name: Option<Option<&Shared>>,
    ) -> impl Iterator<Item = Result<Found, CatalogueError>> + use<'a> {
        let term = |term: Option<&Shared>| term.map(|term| (*term.0).clone());
        let pattern = Pattern { subject: term(subject), predicate: term(predicate), object: term(object) };
        let state = &self.0;
        match graph_name {
            Some(None) => state.stored(&pattern, Some(&GraphName::DefaultGraph)),
            Some(Some(graph)) => match &*graph.0 {
                Term::NamedNode(name) => match state.view_of(&graph.0) {
                    // A node of a record is no graph.
                    Some(Ok(Some(view))) if view.name != *name => Box::new(std::iter::empty()),
                    Some(view) => of_view(view, &pattern),
                    None => state.stored(&pattern, Some(&name.clone().into())),
                },
                Term::BlankNode(name) => state.stored(&pattern, Some(&name.clone().into())),
                Term::Literal(_) => Box::new(std::iter::empty()),
            },
            // The default graph is among them; the evaluator leaves it out where it is not meant.
            None => {
                let stored = state.stored(&pattern, None);
                let known = [&pattern.subject, &pattern.object].into_iter().flatten();
                let of_record = known.filter_map(|node| state.view_of(node)).next();
                let viewed = match of_record {
                    Some(view) => of_view(view, &pattern),
                    None => state.scanned(pattern).unwrap_or_else(failed),
                };
                Box::new(stored.chain(viewed))
            }
        }
    }

    fn internal_named_graphs(&self) -> impl Iterator<Item = Result<Shared, CatalogueError>> + use<'a> {
        let stored = self.0.names();
        let records: Box<dyn Iterator<Item = Result<NamedNode, CatalogueError>>> = match self.0.views.census()
        {
            Ok(census) => Box::new(names(census)),
            Err(error) => Box::new(std::iter::once(Err(error))),
        };
        stored.chain(records.map(|name| Ok(Term::from(name?).into())))
    }

    fn contains_internal_graph_name(&self, graph: &Shared) -> Result<bool, CatalogueError> {
        Ok(match &*graph.0 {
            Term::NamedNode(name) => match record_of(&self.0.graphs, name.as_str()) {
                Some((source, id, record)) if record == name.as_str() => self.0.views.has(&source, &id)?,
                _ => self.0.has_stored(name)?,
            },
            Term::BlankNode(name) => self.0.has_stored(name)?,
            Term::Literal(_) => false,
        })
    }

    fn internalize_term(&self, term: Term) -> Result<Shared, CatalogueError> {
        Ok(term.into())
    }

    fn externalize_term(&self, term: Shared) -> Result<Term, CatalogueError> {
        Ok(Arc::unwrap_or_clone(term.0))
    }
}
