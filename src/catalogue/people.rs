//! What people wrote into the merged catalogue, remembered beside it.
//!
//! The default graph has two writers: `resolve`, which makes entries of records and makes them again
//! when these change, and people with a token. So that neither undoes the other, the graph
//! `<base>people` has a node for each statement of the default graph that somebody added or took
//! away, and the last word counts:
//!
//! ```text
//! master = (what resolve makes - what people took away) + what people added
//! ```
//!
//! What is remembered follows from the archived updates alone, whatever was merged when they came.
//! So a store that is made anew ends as the one before it.

use super::backend::{Backend, Selection};
use super::patch::Patch;
use super::spelling::{self, has_spellings};
use super::{CatalogueError, Graphs};
use crate::ontology::{pin, prov, rdf, xsd};
use oxrdf::{GraphName, Literal, NamedNode, NamedOrBlankNode, Quad, Term, Triple};
use oxrdfio::{RdfFormat, RdfParser};
use rustc_hash::FxHashSet;
use xxhash_rust::xxh3::xxh3_128;

/// Who changed something, and when.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Author {
    /// The name of a token, which is no secret; nothing if it is not known.
    pub token: String,
    /// RFC 3339.
    pub time: String,
}

/// What people said of some statements of the default graph.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Words {
    pub added: FxHashSet<Quad>,
    pub removed: FxHashSet<Quad>,
    /// Subjects of which something was taken away that the store may spell in another way.
    respelt: FxHashSet<NamedOrBlankNode>,
}

/// The graph of what people wrote.
#[derive(Clone, Copy)]
pub struct People<'a> {
    pub(super) backend: &'a dyn Backend,
    pub(super) graphs: &'a Graphs,
}

impl People<'_> {
    /// A patch together with what is to be remembered of it.
    pub(super) fn remember(&self, patch: Patch, author: &Author) -> Result<Patch, CatalogueError> {
        let mut whole = patch.clone();
        let words = [(&patch.added, pin::ADDED), (&patch.removed, pin::REMOVED)];
        for (quads, word) in words {
            for quad in quads.iter().filter(|quad| quad.graph_name == GraphName::DefaultGraph) {
                let text = format!("{} .", Triple::from(quad.clone()));
                let node = self.graphs.statement(xxh3_128(text.as_bytes()));
                let said = Selection { subject: Some(node.clone().into()), ..self.everything() };
                for old in self.backend.quads(&said)? {
                    whole.remove(old?);
                }
                let mut say = |predicate: oxrdf::NamedNodeRef<'_>, object: Term| {
                    whole.add(Quad::new(node.clone(), predicate, object, self.graphs.people()));
                };
                say(rdf::TYPE, pin::EDIT.into_owned().into());
                say(word, Literal::new_simple_literal(text).into());
                if let NamedOrBlankNode::NamedNode(subject) = &quad.subject {
                    say(pin::ABOUT, self.entry_of(subject).into());
                }
                if !author.token.is_empty() {
                    let token = self.graphs.agent(&format!("token-{}", author.token));
                    say(prov::WAS_ATTRIBUTED_TO, token.into());
                }
                if !author.time.is_empty() {
                    let time = Literal::new_typed_literal(author.time.as_str(), xsd::DATE_TIME);
                    say(prov::GENERATED_AT_TIME, time.into());
                }
            }
        }
        Ok(whole)
    }

    /// Whether nobody ever wrote into the default graph, which most catalogues never see.
    pub fn is_silent(&self) -> Result<bool, CatalogueError> {
        Ok(self.backend.quads(&self.everything())?.next().transpose()?.is_none())
    }

    /// What people said of an entry and of the nodes inside it.
    pub fn about(&self, entry: &NamedNode) -> Result<Words, CatalogueError> {
        let mut words = Words::default();
        let about = Selection {
            predicate: Some(pin::ABOUT.into_owned()),
            object: Some(entry.clone().into()),
            ..self.everything()
        };
        for quad in self.backend.quads(&about)? {
            let said = Selection { subject: Some(quad?.subject), ..self.everything() };
            for quad in self.backend.quads(&said)? {
                words.take(&quad?)?;
            }
        }
        Ok(words)
    }

    /// What people said of anything.
    pub fn all(&self) -> Result<Words, CatalogueError> {
        let mut words = Words::default();
        for quad in self.backend.quads(&self.everything())? {
            words.take(&quad?)?;
        }
        Ok(words)
    }

    fn everything(&self) -> Selection {
        Selection { graph: Some(self.graphs.people().into()), ..Selection::default() }
    }

    /// The entry that a node is part of: `<base>work/1` of `<base>work/1#title`.
    fn entry_of(&self, node: &NamedNode) -> NamedNode {
        match node.as_str().split_once('#') {
            Some((entry, _)) if entry.starts_with(self.graphs.base()) => {
                NamedNode::new_unchecked(entry.to_owned())
            }
            _ => node.clone(),
        }
    }
}

impl Words {
    /// What is left of statements without those that people took away.
    pub fn without_removed(&self, quads: Vec<Quad>) -> Result<Vec<Quad>, CatalogueError> {
        if self.removed.is_empty() {
            return Ok(quads);
        }
        let is_doubtful = |quad: &Quad| self.respelt.contains(&quad.subject) && has_spellings(quad);
        let (doubtful, mut kept): (Vec<Quad>, Vec<Quad>) = quads.into_iter().partition(is_doubtful);
        kept.extend(spelling::as_stored(doubtful)?);
        kept.retain(|quad| !self.removed.contains(quad));
        Ok(kept)
    }

    /// Takes up a statement of the graph of what people wrote.
    fn take(&mut self, quad: &Quad) -> Result<(), CatalogueError> {
        let side = match quad.predicate.as_ref() {
            pin::ADDED => &mut self.added,
            pin::REMOVED => &mut self.removed,
            _ => return Ok(()),
        };
        let Term::Literal(text) = &quad.object else { return Ok(()) };
        for said in RdfParser::from_format(RdfFormat::NTriples).for_slice(text.value().as_bytes()) {
            let damaged = |_| CatalogueError::Store(format!("{} holds no statement", quad.subject));
            let said = said.map_err(damaged)?;
            if quad.predicate.as_ref() == pin::REMOVED && has_spellings(&said) {
                self.respelt.insert(said.subject.clone());
            }
            side.insert(said);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{Catalogue, Changes, Embedded};

    fn catalogue() -> Catalogue {
        let graphs = Graphs::new("https://c.example/").unwrap();
        Catalogue::over(Box::new(Embedded::in_memory().unwrap()), graphs)
    }

    fn quad(subject: &str, text: &str) -> Quad {
        let node = |path: &str| NamedNode::new_unchecked(format!("https://c.example/{path}"));
        Quad::new(node(subject), node("p"), Literal::new_simple_literal(text), GraphName::DefaultGraph)
    }

    fn write(catalogue: &Catalogue, removed: &[Quad], added: &[Quad]) {
        let mut patch = Patch::default();
        removed.iter().for_each(|quad| patch.remove(quad.clone()));
        added.iter().for_each(|quad| patch.add(quad.clone()));
        let author = Author { token: "t1".to_owned(), time: "2026-01-01T00:00:00Z".to_owned() };
        catalogue.write(Changes { patch, author, position: 1, ..Changes::default() }).unwrap();
    }

    #[test]
    fn the_last_word_on_a_statement_counts() {
        let catalogue = catalogue();
        assert!(catalogue.people().is_silent().unwrap());
        let note = quad("work/1#note", "by \"hand\"\n");
        write(&catalogue, &[], std::slice::from_ref(&note));
        let entry = NamedNode::new_unchecked("https://c.example/work/1");
        assert!(catalogue.people().about(&entry).unwrap().added.contains(&note));
        write(&catalogue, std::slice::from_ref(&note), &[]);
        let words = catalogue.people().about(&entry).unwrap();
        assert!(words.added.is_empty() && words.removed.contains(&note));
        assert_eq!(catalogue.people().all().unwrap(), words);
        // One node says it all: what it was, of what, by whom and when.
        assert_eq!(catalogue.graph(&catalogue.graphs().people()).unwrap().len(), 5);
    }

    #[test]
    fn what_was_taken_away_is_known_in_any_spelling() {
        let catalogue = catalogue();
        let typed = |text: &str| {
            let literal = Literal::new_typed_literal(text, xsd::INTEGER);
            Quad { object: literal.into(), ..quad("work/1", "") }
        };
        write(&catalogue, &[typed("4")], &[]);
        let words = catalogue.people().all().unwrap();
        let left = words.without_removed(vec![typed("04"), typed("5"), quad("work/1", "4")]).unwrap();
        assert!(left.len() == 2 && !left.contains(&typed("4")), "{left:?}");
    }

    #[test]
    fn what_people_write_elsewhere_is_theirs_alone() {
        let catalogue = catalogue();
        let graph = NamedNode::new_unchecked("https://c.example/graph/g");
        let own = Quad { graph_name: graph.into(), ..quad("x", "y") };
        write(&catalogue, &[], &[own]);
        assert!(catalogue.people().is_silent().unwrap());
    }
}
