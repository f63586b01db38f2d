//! Asks spareval what is not compiled: the graph becomes a dataset of one named graph.

use oxrdf::{Dataset, NamedNode, Triple};
use spareval::{QueryEvaluationError, QueryEvaluator, QueryResults, QuerySolution};
use spargebra::Query;

/// Calls with each solution. A query that gives no solutions has no rows.
pub(crate) fn answer(
    query: &Query,
    name: &NamedNode,
    triples: &[Triple],
    each: &mut dyn FnMut(&QuerySolution),
) -> Result<(), QueryEvaluationError> {
    let mut dataset = Dataset::new();
    for triple in triples {
        dataset.insert(triple.as_ref().in_graph(name.as_ref()));
    }
    let evaluator = QueryEvaluator::new();
    if let QueryResults::Solutions(solutions) = evaluator.prepare(query).execute(&dataset)? {
        for solution in solutions {
            each(&solution?);
        }
    }
    Ok(())
}
