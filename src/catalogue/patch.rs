//! What an update changes, statement by statement, and how the archive keeps it.
//!
//! The text is that of RDF Patch: `A` adds a statement, `D` takes one away, `PA` and `PD` are left
//! to others, and two letters of ours say which graphs came to be (`C`) and which are no more
//! (`X`). An update is kept by what it did and not by its words: `NOW()` and `RAND()` would say
//! something else when the store is made anew.

use super::{CatalogueError, spelling};
use oxrdf::{GraphName, NamedNode, Quad};
use oxrdfio::{RdfFormat, RdfParser};
use rustc_hash::FxHashSet;
use std::fmt::Write;

/// The effect of an update.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Patch {
    pub removed: FxHashSet<Quad>,
    pub added: FxHashSet<Quad>,
    /// Graphs that are there afterwards even if they are empty.
    pub created: FxHashSet<NamedNode>,
    /// Graphs that are not there afterwards unless something was added to them.
    pub dropped: FxHashSet<NamedNode>,
}

impl Patch {
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A statement that was not there is added.
    pub fn add(&mut self, quad: Quad) {
        if !self.removed.remove(&quad) {
            self.added.insert(quad);
        }
    }

    /// A statement that was there is taken away.
    pub fn remove(&mut self, quad: Quad) {
        if !self.added.remove(&quad) {
            self.removed.insert(quad);
        }
    }

    pub fn create(&mut self, graph: NamedNode) {
        if !self.dropped.remove(&graph) {
            self.created.insert(graph);
        }
    }

    pub fn drop(&mut self, graph: NamedNode) {
        if !self.created.remove(&graph) {
            self.dropped.insert(graph);
        }
    }

    /// Leaves out what concerns other graphs than those to be kept; says how much that is.
    pub fn retain(&mut self, keep: impl Fn(&GraphName) -> bool) -> usize {
        let before = self.len();
        let named = |graph: &NamedNode| keep(&graph.clone().into());
        self.removed.retain(|quad| keep(&quad.graph_name));
        self.added.retain(|quad| keep(&quad.graph_name));
        self.created.retain(named);
        self.dropped.retain(named);
        before - self.len()
    }

    /// Spells statements as the store does, which older versions did not.
    pub fn respell(&mut self) -> Result<(), CatalogueError> {
        let respelt = |quads: FxHashSet<Quad>| -> Result<FxHashSet<Quad>, CatalogueError> {
            Ok(spelling::as_stored(quads.into_iter().collect())?.into_iter().collect())
        };
        self.added = respelt(std::mem::take(&mut self.added))?;
        self.removed = respelt(std::mem::take(&mut self.removed))?;
        // What is taken away and added again stays.
        self.removed.retain(|quad| !self.added.contains(quad));
        Ok(())
    }

    /// How many statements and graphs it concerns.
    pub fn len(&self) -> usize {
        self.removed.len() + self.added.len() + self.created.len() + self.dropped.len()
    }

    /// The text, in an order of its own: equal patches are equal texts.
    pub fn write(&self) -> String {
        let mut lines: Vec<String> = Vec::new();
        for (letter, quads) in [('D', &self.removed), ('A', &self.added)] {
            lines.extend(quads.iter().map(|quad| format!("{letter} {quad} .\n")));
        }
        for (letter, graphs) in [('C', &self.created), ('X', &self.dropped)] {
            lines.extend(graphs.iter().map(|graph| format!("{letter} {graph} .\n")));
        }
        lines.sort_unstable();
        lines.into_iter().fold(String::new(), |mut text, line| {
            let _ = text.write_str(&line);
            text
        })
    }

    /// Reads what [`write`](Self::write) wrote.
    pub fn read(text: &str) -> Result<Self, CatalogueError> {
        let damaged = |line: &str| CatalogueError::Store(format!("an archived update has the line `{line}`"));
        let mut patch = Self::default();
        for line in text.lines().filter(|line| !line.is_empty()) {
            let (letter, rest) = line.split_once(' ').ok_or_else(|| damaged(line))?;
            if matches!(letter, "C" | "X") {
                let name = rest.strip_prefix('<').and_then(|rest| rest.strip_suffix("> ."));
                let name = NamedNode::new(name.unwrap_or_default()).map_err(|_| damaged(line))?;
                if letter == "C" {
                    patch.created.insert(name)
                } else {
                    patch.dropped.insert(name)
                };
                continue;
            }
            for quad in RdfParser::from_format(RdfFormat::NQuads).for_slice(rest.as_bytes()) {
                let quad = quad.map_err(|_| damaged(line))?;
                match letter {
                    "A" => patch.added.insert(quad),
                    "D" => patch.removed.insert(quad),
                    _ => return Err(damaged(line)),
                };
            }
        }
        Ok(patch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxrdf::{BlankNode, Literal};

    #[test]
    fn a_patch_is_read_as_it_was_written() {
        let graph = NamedNode::new_unchecked("https://c.example/g");
        let quad = |text: &str| {
            let object = Literal::new_simple_literal(text);
            Quad::new(BlankNode::new_unchecked("b7"), graph.clone(), object, graph.clone())
        };
        let mut patch = Patch::default();
        patch.add(quad("two\nlines \"quoted\""));
        patch.add(quad("taken back"));
        patch.remove(quad("taken back"));
        patch.remove(quad("gone"));
        patch.add(Quad::new(graph.clone(), graph.clone(), graph.clone(), GraphName::DefaultGraph));
        patch.create(graph.clone());
        patch.drop(NamedNode::new_unchecked("https://c.example/old"));
        assert_eq!((patch.added.len(), patch.removed.len()), (2, 1));
        assert_eq!(Patch::read(&patch.write()).unwrap(), patch);
        assert!(Patch::read("B _:a <b:c> <d:e> .").is_err());
        assert!(Patch::read("A what").is_err());
    }
}
