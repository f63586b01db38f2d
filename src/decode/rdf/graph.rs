//! The statements of a document's default graph in memory, each term once.
//!
//! [`Gathering`] takes statements until they fill a budget; [`Graph`] then finds what is said of
//! a resource. Resources are known by the number of their term.

use oxrdf::{NamedOrBlankNode, Quad, Term, Triple};
use rustc_hash::FxHashMap;

/// Memory for one document. Terms cost their text and their place in a table.
const BUDGET: usize = 128 * 1024 * 1024;
const TERM_COST: usize = 100;
const STATEMENT_COST: usize = 48;

pub(super) type Node = u32;

/// A statement by the numbers of its terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Statement {
    pub subject: Node,
    pub predicate: Node,
    pub object: Node,
}

/// A document while it is read.
#[derive(Debug, Default)]
pub(super) struct Gathering {
    numbers: FxHashMap<Term, Node>,
    statements: Vec<Statement>,
    graph_names: Vec<Node>,
    held: usize,
}

impl Gathering {
    /// Takes what the default graph says.
    pub fn push(&mut self, triple: Triple) {
        let subject = self.number(triple.subject.into());
        let predicate = self.number(triple.predicate.into());
        let object = self.number(triple.object);
        self.statements.push(Statement { subject, predicate, object });
        self.held += STATEMENT_COST;
    }

    /// Notes that a graph has this name.
    pub fn name_graph(&mut self, name: NamedOrBlankNode) {
        let name = self.number(name.into());
        if self.graph_names.last() != Some(&name) {
            self.graph_names.push(name);
            self.held += STATEMENT_COST;
        }
    }

    pub fn is_full(&self) -> bool {
        self.held > BUDGET
    }

    fn number(&mut self, term: Term) -> Node {
        let next = Node::try_from(self.numbers.len()).unwrap_or(Node::MAX);
        let cost = TERM_COST + text_length(&term);
        let number = *self.numbers.entry(term).or_insert(next);
        if number == next {
            self.held += cost;
        }
        number
    }

    pub fn finish(self) -> Graph {
        let mut terms: Vec<(Node, Term)> =
            self.numbers.into_iter().map(|(term, number)| (number, term)).collect();
        terms.sort_unstable_by_key(|(number, _)| *number);
        let terms: Vec<Term> = terms.into_iter().map(|(_, term)| term).collect();
        let mut by_subject: Vec<u32> = (0..).take(self.statements.len()).collect();
        let subject = |index: &u32| self.statements.get(*index as usize).map(|said| said.subject);
        by_subject.sort_by_key(subject);
        let starts = Index::new(terms.len(), by_subject.iter().filter_map(subject));
        Graph { terms, statements: self.statements, by_subject, starts, graph_names: self.graph_names }
    }
}

/// A document, read.
#[derive(Debug)]
pub(super) struct Graph {
    terms: Vec<Term>,
    /// In the order of the document.
    statements: Vec<Statement>,
    /// Positions in `statements`.
    by_subject: Vec<u32>,
    starts: Index,
    /// Resources whose name a graph has, some of them several times.
    pub graph_names: Vec<Node>,
}

impl Graph {
    /// How many terms there are: all nodes are below this.
    pub fn size(&self) -> usize {
        self.terms.len()
    }

    pub fn statements(&self) -> &[Statement] {
        &self.statements
    }

    /// What is said of a resource, in the order of the document.
    pub fn about(&self, node: Node) -> impl Iterator<Item = Statement> {
        let positions = self.by_subject.get(self.starts.range(node)).unwrap_or_default();
        positions.iter().filter_map(|position| self.statements.get(*position as usize).copied())
    }

    /// The place of the first statement about a resource, if there is one.
    pub fn first_about(&self, node: Node) -> Option<u32> {
        self.by_subject.get(self.starts.range(node))?.first().copied()
    }

    pub fn is_subject(&self, node: Node) -> bool {
        !self.starts.range(node).is_empty()
    }

    pub fn is_blank(&self, node: Node) -> bool {
        matches!(self.term(node), Some(Term::BlankNode(_)))
    }

    /// The IRI of a named resource.
    pub fn iri(&self, node: Node) -> Option<&str> {
        match self.term(node)? {
            Term::NamedNode(name) => Some(name.as_str()),
            _ => None,
        }
    }

    pub fn resource(&self, node: Node) -> Option<NamedOrBlankNode> {
        match self.term(node)? {
            Term::NamedNode(name) => Some(name.clone().into()),
            Term::BlankNode(name) => Some(name.clone().into()),
            Term::Literal(_) => None,
        }
    }

    /// About how many bytes a statement is when written.
    pub fn length(&self, said: Statement) -> usize {
        [said.subject, said.predicate, said.object]
            .into_iter()
            .filter_map(|node| self.term(node))
            .map(|term| text_length(term) + 3)
            .sum()
    }

    pub fn quad(&self, said: Statement) -> Option<Quad> {
        let Some(Term::NamedNode(predicate)) = self.term(said.predicate) else { return None };
        let triple =
            Triple::new(self.resource(said.subject)?, predicate.clone(), self.term(said.object)?.clone());
        Some(triple.in_graph(oxrdf::GraphName::DefaultGraph))
    }

    fn term(&self, node: Node) -> Option<&Term> {
        self.terms.get(node as usize)
    }
}

fn text_length(term: &Term) -> usize {
    match term {
        Term::NamedNode(name) => name.as_str().len(),
        Term::BlankNode(name) => name.as_str().len(),
        Term::Literal(literal) => literal.value().len() + literal.datatype().as_str().len(),
    }
}

/// Where the entries of each node begin in a list that is sorted by node.
#[derive(Debug)]
pub(super) struct Index(Vec<u32>);

impl Index {
    pub fn new(size: usize, sorted: impl Iterator<Item = Node>) -> Self {
        let mut starts = Vec::with_capacity(size + 1);
        starts.push(0);
        let mut count = 0;
        for node in sorted {
            while starts.len() <= node as usize {
                starts.push(count);
            }
            count += 1;
        }
        starts.resize(size + 1, count);
        Self(starts)
    }

    pub fn range(&self, node: Node) -> std::ops::Range<usize> {
        let at = |index: usize| self.0.get(index).copied().unwrap_or_default() as usize;
        at(node as usize)..at(node as usize + 1)
    }
}
