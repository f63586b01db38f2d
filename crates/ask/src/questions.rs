//! The queries, the graph that they are asked of, and the rows that come back.

use crate::compile::compile;
use crate::evaluate::{Bindings, World};
use crate::fallback;
use crate::graph::{Graph, Keep, Loaded, Table};
use crate::plan::Plan;
use crate::term::{Constants, Id};
use oxrdf::{NamedNode, Term, TermRef, Triple};
use spareval::{QueryEvaluationError, QuerySolution};
use spargebra::Query;
use std::mem;

/// Compiled queries, to be shared between threads.
#[derive(Debug)]
pub struct Questions {
    constants: Constants,
    table: Table,
    keep: Keep,
    questions: Vec<Question>,
}

#[derive(Debug)]
enum Question {
    Compiled(Plan),
    /// Left to spareval, and why.
    Left(Box<Query>, &'static str),
}

impl Questions {
    /// Compiles queries. They are asked by their place in the list.
    #[must_use]
    pub fn new(queries: Vec<Query>) -> Self {
        let mut constants = Constants::default();
        let questions: Vec<Question> = queries
            .into_iter()
            .map(|query| match compile(&query, &mut constants) {
                Ok(plan) => Question::Compiled(plan),
                Err(obstacle) => Question::Left(Box::new(query), obstacle),
            })
            .collect();
        let any = questions
            .iter()
            .any(|question| matches!(question, Question::Compiled(plan) if plan.any_predicate));
        Self {
            table: Table::of(&constants),
            keep: if any { Keep::All } else { Keep::Named },
            constants,
            questions,
        }
    }

    /// How many queries there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.questions.len()
    }

    /// Whether there is no query.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.questions.is_empty()
    }

    /// What in a query is not supported, so that it is left to spareval and slow. None if all is.
    #[must_use]
    pub fn obstacle(&self, question: usize) -> Option<&'static str> {
        match self.questions.get(question)? {
            Question::Compiled(_) => None,
            Question::Left(_, obstacle) => Some(obstacle),
        }
    }

    /// Takes in a graph, by its name and triples, in the room of the one before.
    pub fn read<'a>(
        &'a self,
        graph: &'a mut Graph,
        name: &'a NamedNode,
        triples: &'a [Triple],
    ) -> Reading<'a> {
        graph.load(&self.constants, &self.table, self.keep, name, triples);
        Reading { questions: self, graph, name, triples }
    }
}

/// A graph that is ready to be asked.
pub struct Reading<'a> {
    questions: &'a Questions,
    graph: &'a mut Graph,
    name: &'a NamedNode,
    triples: &'a [Triple],
}

impl Reading<'_> {
    /// Calls with each row of a query. The same row may come twice; there is no order.
    ///
    /// # Errors
    /// Only a query that is left to spareval can fail, as it would there.
    pub fn answer(
        &mut self,
        question: usize,
        each: &mut dyn FnMut(Row<'_>),
    ) -> Result<(), QueryEvaluationError> {
        match self.questions.questions.get(question) {
            Some(Question::Compiled(plan)) => {
                let mut row = mem::take(&mut self.graph.room);
                let loaded = Loaded {
                    constants: &self.questions.constants,
                    graph: self.graph,
                    name: self.name,
                    triples: self.triples,
                };
                let world = World { loaded, plan };
                world.answer(&mut row, &mut |bindings| {
                    each(Row(Source::Compiled { world: &world, bindings }));
                });
                self.graph.room = row;
                Ok(())
            }
            Some(Question::Left(query, _)) => {
                fallback::answer(query, self.name, self.triples, &mut |solution| {
                    each(Row(Source::Left(solution)));
                })
            }
            None => Ok(()),
        }
    }
}

/// One row of an answer.
#[derive(Clone, Copy)]
pub struct Row<'r>(Source<'r>);

#[derive(Clone, Copy)]
enum Source<'r> {
    Compiled { world: &'r World<'r>, bindings: &'r Bindings },
    Left(&'r QuerySolution),
}

impl<'r> Row<'r> {
    /// The value of a variable of the SELECT clause, by its name without the question mark.
    #[must_use]
    pub fn get(&self, variable: &str) -> Option<TermRef<'r>> {
        match self.0 {
            Source::Compiled { world, bindings } => {
                let (_, slot) = world.plan.columns.iter().find(|(name, _)| name == variable)?;
                match bindings.get(*slot) {
                    Id::UNBOUND => None,
                    id => world.term(id, bindings),
                }
            }
            Source::Left(solution) => solution.get(variable).map(Term::as_ref),
        }
    }
}
