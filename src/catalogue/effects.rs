//! What would an update do? Its operations are carried out one after the other in a transaction
//! that is thrown away, and what each of them changes is noted.

use super::patch::Patch;
use super::{CatalogueError, services};
use oxigraph::sparql::{QueryResults, QuerySolution, SparqlEvaluator};
use oxigraph::store::{StorageError, Store, Transaction};
use oxrdf::{BlankNode, GraphName, NamedNode, NamedOrBlankNode, Quad, Term};
use rustc_hash::FxHashMap;
use spargebra::algebra::GraphTarget;
use spargebra::term::{
    GraphNamePattern, GroundQuad, GroundQuadPattern, GroundTerm, GroundTermPattern, NamedNodePattern,
    QuadPattern, TermPattern,
};
use spargebra::{GraphUpdateOperation, Query, Update};

/// The effect of all operations of an update together.
pub(super) fn effects(
    store: &Store,
    evaluator: &dyn Fn() -> SparqlEvaluator,
    update: &Update,
) -> Result<Patch, CatalogueError> {
    let mut work = Work { transaction: store.start_transaction()?, patch: Patch::default() };
    for operation in &update.operations {
        work.carry_out(evaluator, operation)?;
    }
    Ok(work.patch)
}

struct Work<'a> {
    transaction: Transaction<'a>,
    patch: Patch,
}

impl Work<'_> {
    fn carry_out(
        &mut self,
        evaluator: &dyn Fn() -> SparqlEvaluator,
        operation: &GraphUpdateOperation,
    ) -> Result<(), CatalogueError> {
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
                let (removed, added) = self.solve(evaluator, query, delete, insert)?;
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
        evaluator: &dyn Fn() -> SparqlEvaluator,
        query: Query,
        delete: &[GroundQuadPattern],
        insert: &[QuadPattern],
    ) -> Result<(Vec<Quad>, Vec<Quad>), CatalogueError> {
        let failed = |error: &dyn std::fmt::Display| CatalogueError::Evaluation(error.to_string());
        let prepared = evaluator().for_query(query).on_transaction(&self.transaction);
        let answer = prepared.execute().map_err(|error| failed(&error))?;
        let (mut removed, mut added) = (Vec::new(), Vec::new());
        if let QueryResults::Solutions(solutions) = answer {
            for solution in solutions {
                let solution = solution.map_err(|error| failed(&error))?;
                removed.extend(delete.iter().filter_map(|pattern| ground(pattern, &solution)));
                let mut fresh = FxHashMap::default();
                added.extend(insert.iter().filter_map(|pattern| fill(pattern, &solution, &mut fresh)));
            }
        }
        Ok((removed, added))
    }

    fn add(&mut self, quad: Quad) -> Result<(), CatalogueError> {
        if !self.transaction.contains(&quad)? {
            self.transaction.insert(&quad);
            self.patch.add(quad);
        }
        Ok(())
    }

    fn remove(&mut self, quad: Quad) -> Result<(), CatalogueError> {
        if self.transaction.contains(&quad)? {
            self.transaction.remove(&quad);
            self.patch.remove(quad);
        }
        Ok(())
    }

    /// Empties graphs; of named ones not even the name stays if they are dropped.
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
                    graphs.push(name.into());
                }
                if *target == GraphTarget::AllGraphs {
                    graphs.push(GraphName::DefaultGraph);
                }
            }
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
