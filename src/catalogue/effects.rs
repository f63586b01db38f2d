//! What would an update do? Its operations are carried out one after the other in a transaction
//! that is thrown away, and what each of them changes is noted.

use super::dataset::{Dataset, Stored};
use super::graphs::{Graphs, Owner};
use super::patch::Patch;
use super::pool::algebra;
use super::spelling::has_spellings;
use super::views::Views;
use super::{CatalogueError, services};
use oxigraph::sparql::{QueryEvaluationError, QueryResults, QuerySolution, SparqlEvaluator};
use oxigraph::store::{StorageError, Store, Transaction};
use oxrdf::{BlankNode, GraphName, NamedNode, NamedOrBlankNode, Quad, Term};
use rustc_hash::FxHashMap;
use spargebra::algebra::GraphTarget;
use spargebra::term::{
    GraphNamePattern, GroundQuad, GroundQuadPattern, GroundTerm, GroundTermPattern, NamedNodePattern,
    QuadPattern, TermPattern,
};
use spargebra::{GraphUpdateOperation, Query, Update};
use std::sync::Arc;

/// The effect of all operations of an update together.
pub(super) fn effects(
    store: &Store,
    views: Option<&Arc<dyn Views>>,
    update: &Update,
    realm: &Realm<'_>,
) -> Result<Patch, CatalogueError> {
    let transaction = store.start_transaction()?;
    let mut work = Work { transaction, views, patch: Patch::default(), bytes: 0, realm };
    for operation in &update.operations {
        work.carry_out(operation)?;
    }
    Ok(work.patch)
}

/// The most statements that one update may add and take away.
pub const MOST_CHANGES: usize = 1_000_000;
/// The most bytes that their terms may have together.
const MOST_BYTES: usize = 256 << 20;

/// What people may write: everything but what the program and the sources keep.
pub struct Realm<'a> {
    pub graphs: &'a Graphs,
    /// The default graph holds merged entries.
    pub has_master: bool,
}

impl Realm<'_> {
    /// Refuses to write a graph that others own.
    pub fn check(&self, graph: &GraphName) -> Result<(), CatalogueError> {
        let advice = match self.graphs.owner(graph) {
            Owner::People => return Ok(()),
            Owner::Source => {
                "says what its source says, and changes when the record does: import the record anew"
            }
            Owner::Program => "is kept by the catalogue itself, and cannot be written",
        };
        Err(CatalogueError::Protected(format!("nothing was changed: the graph {graph} {advice}")))
    }

    /// Refuses to empty a graph that others own, or share.
    pub fn check_emptying(&self, graph: &GraphName) -> Result<(), CatalogueError> {
        if *graph == GraphName::DefaultGraph && self.has_master {
            return Err(CatalogueError::Protected(
                "nothing was changed: the default graph holds the merged catalogue, which `pinakes resolve` \
                 makes of the records, and cannot be emptied or replaced; delete single statements instead"
                    .to_owned(),
            ));
        }
        self.check(graph)
    }
}

struct Work<'a> {
    transaction: Transaction<'a>,
    /// Where the graphs of records come from, unless the store holds them.
    views: Option<&'a Arc<dyn Views>>,
    patch: Patch,
    /// Of all terms that were added or taken away so far.
    bytes: usize,
    realm: &'a Realm<'a>,
}

impl Work<'_> {
    fn carry_out(&mut self, operation: &GraphUpdateOperation) -> Result<(), CatalogueError> {
        match operation {
            GraphUpdateOperation::InsertData { data } => {
                data.iter().try_for_each(|quad| self.add(given(quad)))
            }
            GraphUpdateOperation::DeleteData { data } => {
                data.iter().try_for_each(|quad| self.remove(named(quad)))
            }
            GraphUpdateOperation::DeleteInsert { delete, insert, using, pattern } => {
                let mut query =
                    Query::Select { dataset: using.clone(), pattern: (**pattern).clone(), base_iri: None };
                services::refuse(&mut query)?;
                algebra::check(&query).map_err(|excess| CatalogueError::TooComplex(excess.to_string()))?;
                let (removed, added) = self.solve(query, delete, insert)?;
                // All is taken away before anything is added.
                removed.into_iter().try_for_each(|quad| self.remove(quad))?;
                added.into_iter().try_for_each(|quad| self.add(quad))
            }
            GraphUpdateOperation::Clear { silent, graph } => self.clear(graph, *silent, false),
            GraphUpdateOperation::Drop { silent, graph } => self.clear(graph, *silent, true),
            GraphUpdateOperation::Create { silent, graph } => {
                if self.transaction.contains_named_graph(graph)? {
                    let message = format!("the graph {graph} is there already");
                    return if *silent { Ok(()) } else { Err(CatalogueError::Evaluation(message)) };
                }
                self.realm.check(&graph.clone().into())?;
                self.transaction.insert_named_graph(graph);
                self.patch.create(graph.clone());
                Ok(())
            }
            GraphUpdateOperation::Load { .. } => {
                Err(CatalogueError::Evaluation("nothing is loaded from elsewhere".to_owned()))
            }
        }
    }

    /// What the templates give for every solution.
    fn solve(
        &self,
        query: Query,
        delete: &[GroundQuadPattern],
        insert: &[QuadPattern],
    ) -> Result<(Vec<Quad>, Vec<Quad>), CatalogueError> {
        let failed = |error: QueryEvaluationError| match error {
            // The disk, and nothing that whoever sent the update could mend.
            QueryEvaluationError::Dataset(error) => match error.downcast::<StorageError>() {
                Ok(error) => CatalogueError::from(*error),
                Err(error) => CatalogueError::Store(error.to_string()),
            },
            error => CatalogueError::Evaluation(error.to_string()),
        };
        let names_graphs = algebra::names_graphs(&query);
        let prepared = SparqlEvaluator::new().for_query(query);
        let answer = match self.views {
            Some(views) if names_graphs.may_be_records(self.realm.graphs) => {
                let stored = Stored::Transaction(&self.transaction);
                let dataset = Dataset::new(stored, Arc::clone(views), self.realm.graphs.clone());
                prepared.on_queryable_dataset(dataset).execute()
            }
            _ => prepared.on_transaction(&self.transaction).execute(),
        };
        let answer = answer.map_err(failed)?;
        let (mut removed, mut added) = (Vec::new(), Vec::new());
        if let QueryResults::Solutions(solutions) = answer {
            for solution in solutions {
                let solution = solution.map_err(failed)?;
                removed.extend(delete.iter().filter_map(|pattern| ground(pattern, &solution)));
                let mut fresh = FxHashMap::default();
                added.extend(insert.iter().filter_map(|pattern| fill(pattern, &solution, &mut fresh)));
            }
        }
        Ok((removed, added))
    }

    fn add(&mut self, quad: Quad) -> Result<(), CatalogueError> {
        self.realm.check(&quad.graph_name)?;
        if self.stored(&quad)?.is_none() {
            self.transaction.insert(&quad);
            let stored = self.stored(&quad)?.unwrap_or(quad);
            self.count(&stored)?;
            self.patch.add(stored);
        }
        Ok(())
    }

    fn remove(&mut self, quad: Quad) -> Result<(), CatalogueError> {
        self.realm.check(&quad.graph_name)?;
        if let Some(stored) = self.stored(&quad)? {
            self.transaction.remove(&stored);
            self.count(&stored)?;
            self.patch.remove(stored);
        }
        Ok(())
    }

    /// A statement as the store has it: of a typed number or date it keeps the value and not the
    /// spelling. What is remembered of an update must be spelt as it will be found.
    fn stored(&self, quad: &Quad) -> Result<Option<Quad>, CatalogueError> {
        if !has_spellings(quad) {
            return Ok(self.transaction.contains(quad)?.then(|| quad.clone()));
        }
        let mut found = self.transaction.quads_for_pattern(
            Some(quad.subject.as_ref()),
            Some(quad.predicate.as_ref()),
            Some(quad.object.as_ref()),
            Some(quad.graph_name.as_ref()),
        );
        Ok(found.next().transpose()?)
    }

    /// An update that is archived must be applied, whatever it takes: so it may not be too large.
    fn count(&mut self, quad: &Quad) -> Result<(), CatalogueError> {
        self.bytes += length(quad);
        if self.patch.len() < MOST_CHANGES && self.bytes <= MOST_BYTES {
            return Ok(());
        }
        Err(too_many())
    }

    /// Empties graphs; of named ones not even the name stays if they are dropped. *All* graphs are
    /// those of people: the program's own are not among them, and a catalogue with records or
    /// merged entries is not emptied at all.
    fn clear(&mut self, target: &GraphTarget, silent: bool, is_drop: bool) -> Result<(), CatalogueError> {
        let mut graphs: Vec<GraphName> = Vec::new();
        match target {
            GraphTarget::NamedNode(name) => {
                if !self.transaction.contains_named_graph(name)? {
                    let message = format!("there is no graph {name}");
                    return if silent { Ok(()) } else { Err(CatalogueError::Evaluation(message)) };
                }
                graphs.push(name.clone().into());
            }
            GraphTarget::DefaultGraph => graphs.push(GraphName::DefaultGraph),
            GraphTarget::NamedGraphs | GraphTarget::AllGraphs => {
                for name in self.transaction.named_graphs().collect::<Result<Vec<_>, StorageError>>()? {
                    let graph = GraphName::from(name);
                    if self.realm.graphs.owner(&graph) != Owner::Program {
                        graphs.push(graph);
                    }
                }
                if *target == GraphTarget::AllGraphs {
                    graphs.push(GraphName::DefaultGraph);
                }
            }
        }
        for graph in &graphs {
            self.realm.check_emptying(graph)?;
        }
        if matches!(target, GraphTarget::AllGraphs | GraphTarget::NamedGraphs)
            && let Some(views) = self.views
            && views.census()?.records() > 0
        {
            self.realm.check(&NamedNode::new_unchecked(self.realm.graphs.records()).into())?;
        }
        for graph in graphs {
            let quads: Vec<Quad> = self
                .transaction
                .quads_for_pattern(None, None, None, Some(graph.as_ref()))
                .collect::<Result<_, StorageError>>()?;
            quads.into_iter().try_for_each(|quad| self.remove(quad))?;
            if let (true, GraphName::NamedNode(name)) = (is_drop, graph) {
                self.transaction.remove_named_graph(&name)?;
                self.patch.drop(name);
            }
        }
        Ok(())
    }
}

/// Refuses a change that is too large to be archived.
pub fn check_size(patch: &Patch) -> Result<(), CatalogueError> {
    let bytes: usize = patch.added.iter().chain(&patch.removed).map(length).sum();
    if patch.len() <= MOST_CHANGES && bytes <= MOST_BYTES { Ok(()) } else { Err(too_many()) }
}

fn too_many() -> CatalogueError {
    CatalogueError::TooComplex(format!(
        "nothing was changed: it would change more than {MOST_CHANGES} statements, or more than {} MB of \
         them; change some at a time",
        MOST_BYTES >> 20
    ))
}

/// About how long the terms of a statement are.
fn length(quad: &Quad) -> usize {
    let subject = match &quad.subject {
        NamedOrBlankNode::NamedNode(node) => node.as_str().len(),
        NamedOrBlankNode::BlankNode(node) => node.as_str().len(),
    };
    let object = match &quad.object {
        Term::NamedNode(node) => node.as_str().len(),
        Term::BlankNode(node) => node.as_str().len(),
        Term::Literal(literal) => literal.value().len(),
    };
    subject + quad.predicate.as_str().len() + object
}

fn graph_of(name: &spargebra::term::GraphName) -> GraphName {
    match name {
        spargebra::term::GraphName::NamedNode(node) => node.clone().into(),
        spargebra::term::GraphName::DefaultGraph => GraphName::DefaultGraph,
    }
}

/// A quad of `INSERT DATA`.
fn given(quad: &spargebra::term::Quad) -> Quad {
    Quad::new(quad.subject.clone(), quad.predicate.clone(), quad.object.clone(), graph_of(&quad.graph_name))
}

/// A quad of `DELETE DATA`, which has no blank nodes.
fn named(quad: &GroundQuad) -> Quad {
    let object: Term = match &quad.object {
        GroundTerm::NamedNode(node) => node.clone().into(),
        GroundTerm::Literal(literal) => literal.clone().into(),
    };
    Quad::new(quad.subject.clone(), quad.predicate.clone(), object, graph_of(&quad.graph_name))
}

/// A quad of the `DELETE` part; none where a variable is unbound or does not fit.
fn ground(pattern: &GroundQuadPattern, solution: &QuerySolution) -> Option<Quad> {
    let term = |pattern: &GroundTermPattern| match pattern {
        GroundTermPattern::NamedNode(node) => Some(Term::from(node.clone())),
        GroundTermPattern::Literal(literal) => Some(literal.clone().into()),
        GroundTermPattern::Variable(variable) => solution.get(variable).cloned(),
    };
    quad(term(&pattern.subject)?, &pattern.predicate, term(&pattern.object)?, &pattern.graph_name, solution)
}

/// A quad of the `INSERT` part; its blank nodes are new for every solution.
fn fill(
    pattern: &QuadPattern,
    solution: &QuerySolution,
    fresh: &mut FxHashMap<BlankNode, BlankNode>,
) -> Option<Quad> {
    let mut term = |pattern: &TermPattern| match pattern {
        TermPattern::NamedNode(node) => Some(Term::from(node.clone())),
        TermPattern::BlankNode(node) => Some(fresh.entry(node.clone()).or_default().clone().into()),
        TermPattern::Literal(literal) => Some(literal.clone().into()),
        TermPattern::Variable(variable) => solution.get(variable).cloned(),
    };
    let (subject, object) = (term(&pattern.subject)?, term(&pattern.object)?);
    quad(subject, &pattern.predicate, object, &pattern.graph_name, solution)
}

fn quad(
    subject: Term,
    predicate: &NamedNodePattern,
    object: Term,
    graph: &GraphNamePattern,
    solution: &QuerySolution,
) -> Option<Quad> {
    let subject = NamedOrBlankNode::try_from(subject).ok()?;
    let named = |variable| match solution.get(variable) {
        Some(Term::NamedNode(node)) => Some(node.clone()),
        _ => None,
    };
    let predicate: NamedNode = match predicate {
        NamedNodePattern::NamedNode(node) => node.clone(),
        NamedNodePattern::Variable(variable) => named(variable)?,
    };
    let graph: GraphName = match graph {
        GraphNamePattern::NamedNode(node) => node.clone().into(),
        GraphNamePattern::DefaultGraph => GraphName::DefaultGraph,
        GraphNamePattern::Variable(variable) => named(variable)?.into(),
    };
    Some(Quad::new(subject, predicate, object, graph))
}
