//! Which words mean the same, as vocabularies and authority records say?
//!
//! The labels and the hierarchy of every vocabulary that was loaded, and the variant names of the
//! agents and subjects of the master. Matches between vocabularies are left alone: whoever searches
//! for a word of one does not ask for the words of all.

use super::{Kind, indexing::Around};
use crate::catalogue::{Backend, CatalogueError, Graphs, Selection};
use crate::index::Concepts;
use crate::index::expansion::Label;
use crate::ontology::{rdf, rdfs, skos};
use oxrdf::{GraphName, NamedNode, NamedNodeRef, NamedOrBlankNode, Term};
use rustc_hash::FxHashSet;

/// Labels beyond these are not held in memory.
const MOST_LABELS: usize = 2_000_000;

/// All concepts of a store.
pub fn concepts(backend: &dyn Backend, graphs: &Graphs) -> Result<Concepts, CatalogueError> {
    let mut gathering = Gathering { backend, concepts: Concepts::new(), labels: 0 };
    for vocabulary in loaded(backend, graphs)? {
        gathering.vocabulary(&vocabulary.into())?;
    }
    gathering.authorities(&Around { backend, graphs, spool: None })?;
    Ok(gathering.concepts)
}

/// The graphs of the vocabularies that were loaded.
pub(super) fn loaded(backend: &dyn Backend, graphs: &Graphs) -> Result<Vec<NamedNode>, CatalogueError> {
    let selection = Selection {
        predicate: Some(rdf::TYPE.into_owned()),
        graph: Some(graphs.vocabularies().into()),
        ..Selection::default()
    };
    let mut found = Vec::new();
    for quad in backend.quads(&selection)? {
        if let NamedOrBlankNode::NamedNode(name) = quad?.subject {
            found.push(name);
        }
    }
    found.sort_unstable();
    Ok(found)
}

struct Gathering<'a> {
    backend: &'a dyn Backend,
    concepts: Concepts,
    labels: usize,
}

impl Gathering<'_> {
    fn vocabulary(&mut self, graph: &GraphName) -> Result<(), CatalogueError> {
        for (predicate, label) in [
            (skos::PREF_LABEL, Label::Preferred),
            (skos::ALT_LABEL, Label::Alternative),
            (skos::HIDDEN_LABEL, Label::Alternative),
        ] {
            self.each(graph, predicate, |gathering, concept, term| {
                if let Term::Literal(text) = term {
                    gathering.label(concept, label, text.value());
                }
                Ok(())
            })?;
        }
        for (predicate, downwards) in [(skos::NARROWER, true), (skos::BROADER, false)] {
            self.each(graph, predicate, |gathering, concept, term| {
                if let Term::NamedNode(other) = term {
                    let (broader, narrower) =
                        if downwards { (concept, other.as_str()) } else { (other.as_str(), concept) };
                    gathering.concepts.narrower(broader, narrower);
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Agents and subjects with more than one name.
    fn authorities(&mut self, around: &Around<'_>) -> Result<(), CatalogueError> {
        let mut met: FxHashSet<String> = FxHashSet::default();
        self.each(&GraphName::DefaultGraph, skos::ALT_LABEL, |gathering, entry, term| {
            let is_authority = matches!(around.kind(entry), Some(Kind::Agent | Kind::Subject | Kind::Place));
            let Term::Literal(variant) = term else { return Ok(()) };
            if !is_authority {
                return Ok(());
            }
            if met.insert(entry.to_owned()) {
                for name in gathering.names(entry)? {
                    gathering.label(entry, Label::Preferred, &name);
                }
            }
            gathering.label(entry, Label::Alternative, variant.value());
            Ok(())
        })
    }

    /// What an entry is called.
    fn names(&self, entry: &str) -> Result<Vec<String>, CatalogueError> {
        let selection = Selection {
            subject: Some(NamedNode::new_unchecked(entry).into()),
            predicate: Some(rdfs::LABEL.into_owned()),
            graph: Some(GraphName::DefaultGraph),
            ..Selection::default()
        };
        let mut names = Vec::new();
        for quad in self.backend.quads(&selection)? {
            if let Term::Literal(name) = quad?.object {
                names.push(name.value().to_owned());
            }
        }
        Ok(names)
    }

    fn label(&mut self, concept: &str, label: Label, text: &str) {
        if self.labels < MOST_LABELS {
            self.labels += 1;
            self.concepts.label(concept, label, text);
        }
    }

    /// Hands on who has which value of a property.
    fn each(
        &mut self,
        graph: &GraphName,
        predicate: NamedNodeRef<'_>,
        mut take: impl FnMut(&mut Self, &str, &Term) -> Result<(), CatalogueError>,
    ) -> Result<(), CatalogueError> {
        let selection = Selection {
            predicate: Some(predicate.into_owned()),
            graph: Some(graph.clone()),
            ..Selection::default()
        };
        for quad in self.backend.quads(&selection)? {
            let quad = quad?;
            if let NamedOrBlankNode::NamedNode(subject) = &quad.subject {
                take(self, subject.as_str(), &quad.object)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::Embedded;
    use crate::index::{BUDGET, Document, Index, Relation, Request, Thesaurus};
    use crate::ontology::void;
    use oxrdf::{Literal, Quad};

    const BASE: &str = "https://c.example/";

    fn node(name: &str) -> NamedNode {
        NamedNode::new_unchecked(format!("{BASE}{name}"))
    }

    fn text(text: &str) -> Term {
        Literal::new_simple_literal(text).into()
    }

    fn store() -> (Embedded, Graphs) {
        let graphs = Graphs::new(BASE).unwrap();
        let store = Embedded::in_memory().unwrap();
        let vocabulary = graphs.loaded_vocabulary("animals");
        let mut quads = vec![Quad::new(vocabulary.clone(), rdf::TYPE, void::DATASET, graphs.vocabularies())];
        for (subject, predicate, object) in [
            ("dog", skos::PREF_LABEL, text("Dogs")),
            ("dog", skos::ALT_LABEL, text("Hounds")),
            ("dog", skos::EXACT_MATCH, node("other").into()),
            ("terrier", skos::PREF_LABEL, text("Terriers")),
            ("terrier", skos::BROADER, node("dog").into()),
            ("other", skos::PREF_LABEL, text("Canidae")),
        ] {
            quads.push(Quad::new(node(subject), predicate, object, vocabulary.clone()));
        }
        for (subject, predicate, object) in [
            ("agent/00000000000000aa", rdfs::LABEL, text("Twain, Mark")),
            ("agent/00000000000000aa", skos::ALT_LABEL, text("Clemens, Samuel")),
            ("work/00000000000000bb", skos::ALT_LABEL, text("Huck Finn")),
            ("work/00000000000000bb", rdfs::LABEL, text("Huckleberry Finn")),
        ] {
            quads.push(Quad::new(node(subject), predicate, object, GraphName::DefaultGraph));
        }
        store.patch(Vec::new(), quads).unwrap();
        (store, graphs)
    }

    fn check(term: &str, expected: &[&str]) {
        let (store, graphs) = store();
        let found = concepts(&store, &graphs).unwrap().expand(term);
        assert_eq!(found.iter().map(|one| one.term.as_str()).collect::<Vec<_>>(), expected, "{term}");
    }

    #[test]
    fn vocabularies_and_variant_names_are_known_and_nothing_else() {
        check("hounds", &["Dogs", "Terriers"]);
        check("dogs", &["Hounds", "Terriers"]);
        check("Clemens, Samuel", &["Twain, Mark"]);
        check("Huck Finn", &[]);
    }

    #[test]
    fn d_5_a_record_without_the_word_is_found_by_what_it_means() {
        let (store, graphs) = store();
        let concepts = concepts(&store, &graphs).unwrap();
        let index = Index::in_memory().unwrap();
        let mut writer = index.writer(BUDGET).unwrap();
        for (iri, label) in [("x:1", "All about terriers"), ("x:2", "Cats"), ("x:3", "Works of Twain, Mark")]
        {
            let document = Document { iri: iri.to_owned(), label: label.to_owned(), ..Document::default() };
            writer.put(&document).unwrap();
        }
        writer.commit(1).unwrap();
        index.refresh().unwrap();
        let search = |text, thesaurus| {
            let hits =
                index.search(&Request { text, limit: 9, thesaurus, ..Request::default() }).unwrap().hits;
            hits.into_iter()
                .map(|hit| (hit.entry.iri, hit.because.first().map(|because| because.relation)))
                .collect::<Vec<_>>()
        };
        let meant = |iri: &str, relation| vec![(iri.to_owned(), Some(relation))];
        assert_eq!(search("hounds", None), []);
        assert_eq!(search("hounds", Some(&concepts)), meant("x:1", Relation::Narrower));
        assert_eq!(search("\"Clemens, Samuel\"", Some(&concepts)), meant("x:3", Relation::Preferred));
    }
}
