//! Cutting a document by its subjects, however large it is.
//!
//! A record is a named graph, or a named resource of the default graph with its blank nodes.
//! Statements about named resources are sorted (on disk, past a budget), those about blank nodes
//! wait in memory for their owner. Nothing else is remembered of the document: a blank node that
//! others only point at costs no memory, however many there are.

use super::Failure;
use crate::diagnostic::{Code, Diagnostic};
use crate::sort::{Sorted, Sorter};
use oxrdf::{BlankNode, GraphName, NamedOrBlankNode, Quad, Term};
use oxrdfio::{RdfFormat, RdfParser};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;
use std::io;

/// Statements about named subjects held in memory before they go to disk.
const SORT_BUDGET: usize = 64 * 1024 * 1024;
/// Statements about blank nodes are held in memory until their owner is known.
const BLANK_LIMIT: usize = 1_000_000;
/// Statements about blank nodes that all records of a document may hold together.
const COPY_LIMIT: usize = 5_000_000;

/// The document while it is read.
pub(super) struct Sorting {
    sorter: Sorter,
    blank: FxHashMap<BlankNode, Vec<Quad>>,
    order: Vec<BlankNode>,
    /// The objects of `blank`. Whom named resources point at need not be known before their
    /// statements come back in order: by then [`Subjects`] has given them to their owners.
    pointed_at: FxHashSet<BlankNode>,
    /// Statements of `blank`.
    held: usize,
}

impl Sorting {
    pub fn new() -> Self {
        Self {
            sorter: Sorter::new(SORT_BUDGET),
            blank: FxHashMap::default(),
            order: Vec::new(),
            pointed_at: FxHashSet::default(),
            held: 0,
        }
    }

    pub fn push(&mut self, quad: Quad) -> Result<(), Failure> {
        match (&quad.graph_name, &quad.subject) {
            (GraphName::DefaultGraph, NamedOrBlankNode::BlankNode(subject)) => {
                self.held += 1;
                if self.held > BLANK_LIMIT {
                    let message = format!("more than {BLANK_LIMIT} statements about blank nodes");
                    let diagnostic = Diagnostic::new(Code::RdfLimit, message)
                        .hint("give the records as named graphs, or cut the file");
                    return Err(Failure::Data(Box::new(diagnostic)));
                }
                if let Term::BlankNode(object) = &quad.object {
                    self.pointed_at.insert(object.clone());
                }
                let said = self.blank.entry(subject.clone()).or_default();
                if said.is_empty() {
                    self.order.push(subject.clone());
                }
                said.push(quad);
            }
            _ => self.sorter.push(&line_of(&quad))?,
        }
        Ok(())
    }

    pub fn finish(self) -> io::Result<Subjects> {
        let pointed_at = self.pointed_at;
        let (inner, roots): (Vec<_>, Vec<_>) =
            self.order.into_iter().partition(|node| pointed_at.contains(node));
        Ok(Subjects {
            statements: self.sorter.sorted()?.peekable(),
            blank: self.blank,
            owned: FxHashSet::default(),
            copied: 0,
            // A ring of blank nodes has no root: whichever comes first stands for it.
            roots: roots.into_iter().chain(inner).collect(),
        })
    }
}

/// The document, read and sorted.
pub(super) struct Subjects {
    statements: std::iter::Peekable<Sorted>,
    blank: FxHashMap<BlankNode, Vec<Quad>>,
    /// Blank nodes of `blank` that some record holds.
    owned: FxHashSet<BlankNode>,
    /// Statements about blank nodes that went into records, some into several.
    copied: usize,
    /// Blank nodes that no other points at, then all others, in document order.
    roots: VecDeque<BlankNode>,
}

impl Subjects {
    /// The statements of the next record.
    pub fn next(&mut self) -> Result<Option<Vec<Quad>>, Failure> {
        if self.copied > COPY_LIMIT {
            let message = format!("records share blank nodes with more than {COPY_LIMIT} statements in all");
            return Err(Failure::Data(Box::new(Diagnostic::new(Code::RdfLimit, message))));
        }
        if let Some(mut quads) = self.next_sorted()? {
            self.close(&mut quads);
            return Ok(Some(quads));
        }
        while let Some(root) = self.roots.pop_front() {
            if self.owned.contains(&root) {
                continue;
            }
            self.owned.insert(root.clone());
            let mut quads = self.blank.get(&root).cloned().unwrap_or_default();
            self.close(&mut quads);
            if !quads.is_empty() {
                return Ok(Some(quads));
            }
        }
        Ok(None)
    }

    /// What the next graph or named resource is called, as [`key`] writes it.
    pub fn next_key(&mut self) -> io::Result<Option<Vec<u8>>> {
        if let Some(failed) = self.statements.next_if(Result::is_err) {
            failed?;
        }
        Ok(self.statements.peek().and_then(|line| line.as_ref().ok()).map(|line| key_of(line).to_vec()))
    }

    /// The statements of the next graph or named resource alone.
    pub fn next_sorted(&mut self) -> io::Result<Option<Vec<Quad>>> {
        let Some(first) = self.statements.next() else { return Ok(None) };
        let first = first?;
        let key = key_of(&first).to_vec();
        let mut quads = vec![parse(&first)?];
        // An error ends the reading, not just this record.
        while let Some(next) = self.statements.next_if(|next| match next {
            Ok(next) => key_of(next) == key.as_slice(),
            Err(_) => true,
        }) {
            quads.push(parse(&next?)?);
        }
        Ok(Some(quads))
    }

    /// Adds what is said of the blank nodes reached from here.
    fn close(&mut self, quads: &mut Vec<Quad>) {
        let mut reached = FxHashSet::default();
        let mut next = 0;
        while let Some(quad) = quads.get(next) {
            next += 1;
            if let Term::BlankNode(node) = &quad.object
                // What is said in the default graph belongs to whoever points there from it.
                && quad.graph_name == GraphName::DefaultGraph
                && let Some(said) = self.blank.get(node)
                && reached.insert(node.clone())
            {
                self.owned.insert(node.clone());
                self.copied += said.len();
                quads.extend_from_slice(said);
            }
        }
    }
}

/// How records are ordered: a graph and a resource of one name are one record.
pub(super) fn key(name: &impl ToString) -> String {
    name.to_string()
}

/// A sortable line: the record's key, a zero, the statement.
fn line_of(quad: &Quad) -> Vec<u8> {
    let key = match &quad.graph_name {
        GraphName::DefaultGraph => key(&quad.subject),
        graph => key(graph),
    };
    format!("{key}\0{quad}").into_bytes()
}

fn key_of(line: &[u8]) -> &[u8] {
    line.split(|byte| *byte == 0).next().unwrap_or_default()
}

fn parse(line: &[u8]) -> io::Result<Quad> {
    let statement = line.splitn(2, |byte| *byte == 0).nth(1).unwrap_or_default();
    let statement = [statement, b" ."].concat();
    RdfParser::from_format(RdfFormat::NQuads)
        .for_slice(&statement)
        .next()
        .and_then(Result::ok)
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "a sorted statement cannot be read back"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorting(statements: &str) -> Sorting {
        let mut sorting = Sorting::new();
        for quad in RdfParser::from_format(RdfFormat::NQuads).for_slice(statements.as_bytes()) {
            assert!(sorting.push(quad.unwrap()).is_ok());
        }
        sorting
    }

    /// The statements of each record.
    fn records(subjects: &mut Subjects) -> Vec<Vec<String>> {
        let next = || subjects.next().unwrap_or_else(|_| panic!("the sorted statements are read"));
        let lines = |quads: Vec<Quad>| quads.iter().map(ToString::to_string).collect();
        std::iter::from_fn(next).map(lines).collect()
    }

    /// Each was once remembered, so that memory grew with the file.
    #[test]
    fn blank_nodes_of_which_nothing_is_said_cost_no_memory() {
        let statements: String = (0..1000)
            .map(|n| format!("<r:s{n}> <r:p> _:n{n} .\n<r:s{n}> <r:p> _:g{n} <r:g{n}> .\n"))
            .collect();
        let sorting = sorting(&statements);
        assert_eq!((sorting.pointed_at.len(), sorting.held), (0, 0));
        let mut subjects = sorting.finish().unwrap();
        assert_eq!(records(&mut subjects).len(), 2000);
        assert!(subjects.owned.is_empty());
    }

    #[test]
    fn blank_nodes_go_to_their_owners_whoever_these_are() {
        let sorting = sorting(
            "_:inner <r:p> \"1\" .\n_:root <r:p> _:inner .\n_:ring <r:p> _:round .\n_:round <r:p> _:ring .\n\
             _:of_named <r:p> \"2\" .\n<r:s> <r:p> _:of_named .\n\
             _:under <r:p> \"3\" .\n_:of_graph <r:p> _:under .\n<r:s> <r:p> _:of_graph <r:g> .\n",
        );
        let found = records(&mut sorting.finish().unwrap());
        let expected = [
            vec!["<r:s> <r:p> _:of_graph <r:g>"],
            vec!["<r:s> <r:p> _:of_named", "_:of_named <r:p> \"2\""],
            vec!["_:root <r:p> _:inner", "_:inner <r:p> \"1\""],
            vec!["_:of_graph <r:p> _:under", "_:under <r:p> \"3\""],
            vec!["_:ring <r:p> _:round", "_:round <r:p> _:ring", "_:ring <r:p> _:round"],
        ];
        assert_eq!(found, expected);
    }
}
