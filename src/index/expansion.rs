//! Which other words mean what the reader asked for, or a part of it?
//!
//! A [`Thesaurus`] is asked for each word, each phrase and each run of words of a query; what it
//! answers is searched beside the words, and a hit says because of what it is one. [`Concepts`] is
//! a thesaurus in memory, from the labels and narrower links of SKOS vocabularies and authority
//! records.

use super::analysis::fold;
use super::document::words;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// What knows other words.
pub trait Thesaurus: Sync {
    /// The terms to search beside this one, best first; nothing if it is not known.
    fn expand(&self, term: &str) -> Vec<Expansion>;
}

/// A term to search beside the one that was asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Expansion {
    pub term: String,
    pub relation: Relation,
    /// More than 0 and less than 1: what a hit by this term counts, of one by the term asked for.
    pub weight: f32,
}

words! {
    /// How a term relates to the one asked for.
    Relation {
        /// The preferred term of the same concept.
        Preferred "preferred"
        /// Another term of the same concept.
        Alternative "alternative"
        /// A term of a narrower concept.
        Narrower "narrower"
    }
}

/// Whether a label is the one that its vocabulary prefers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Label {
    Preferred,
    Alternative,
}

/// What a hit counts by another term of the same concept.
const SAME: f32 = 0.8;
/// What a hit counts by a term of a concept one step narrower, and of each step again.
const STEP: f32 = 0.6;
/// How many steps down are taken.
const DEEPEST: usize = 3;
/// Terms for one term; a concept above everything must not become a query for everything.
const MOST: usize = 48;

/// Concepts with their labels and narrower concepts.
#[derive(Debug, Default)]
pub struct Concepts {
    numbers: FxHashMap<String, usize>,
    concepts: Vec<Concept>,
    by_label: FxHashMap<String, Vec<usize>>,
}

#[derive(Debug, Default)]
struct Concept {
    labels: Vec<(Label, String)>,
    narrower: Vec<usize>,
}

impl Concepts {
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a label of a concept. A label of several concepts leads to all of them.
    pub fn label(&mut self, concept: &str, label: Label, text: &str) {
        let folded = fold(text);
        if folded.is_empty() {
            return;
        }
        let number = self.number(concept);
        let of_label = self.by_label.entry(folded).or_default();
        if !of_label.contains(&number) {
            of_label.push(number);
        }
        if let Some(concept) = self.concepts.get_mut(number) {
            concept.labels.push((label, text.to_owned()));
        }
    }

    /// Adds that one concept is narrower than another. Circles do no harm.
    pub fn narrower(&mut self, broader: &str, narrower: &str) {
        let (broader, narrower) = (self.number(broader), self.number(narrower));
        if let Some(concept) = self.concepts.get_mut(broader)
            && !concept.narrower.contains(&narrower)
        {
            concept.narrower.push(narrower);
        }
    }

    /// How many concepts there are.
    pub fn len(&self) -> usize {
        self.concepts.len()
    }

    pub fn is_empty(&self) -> bool {
        self.concepts.is_empty()
    }

    fn number(&mut self, concept: &str) -> usize {
        if let Some(number) = self.numbers.get(concept) {
            return *number;
        }
        self.concepts.push(Concept::default());
        self.numbers.insert(concept.to_owned(), self.concepts.len() - 1);
        self.concepts.len() - 1
    }
}

impl Thesaurus for Concepts {
    fn expand(&self, term: &str) -> Vec<Expansion> {
        let asked = fold(term);
        let Some(meant) = self.by_label.get(&asked) else { return Vec::new() };
        let mut given = FxHashSet::from_iter([asked]);
        let mut seen = FxHashSet::from_iter(meant.iter().copied());
        let mut waiting: VecDeque<(usize, usize)> = meant.iter().map(|number| (*number, 0)).collect();
        let mut expansions = Vec::new();
        while let Some((number, depth)) = waiting.pop_front() {
            let Some(concept) = self.concepts.get(number) else { continue };
            let weight = SAME * STEP.powi(depth as i32);
            let preferred_first = [Label::Preferred, Label::Alternative];
            for (label, text) in preferred_first
                .iter()
                .flat_map(|one| concept.labels.iter().filter(move |(label, _)| label == one))
            {
                if expansions.len() == MOST {
                    return expansions;
                }
                let relation = match (depth, label) {
                    (0, Label::Preferred) => Relation::Preferred,
                    (0, Label::Alternative) => Relation::Alternative,
                    _ => Relation::Narrower,
                };
                if given.insert(fold(text)) {
                    expansions.push(Expansion { term: text.clone(), relation, weight });
                }
            }
            if depth < DEEPEST {
                let next = concept.narrower.iter().filter(|number| seen.insert(**number));
                waiting.extend(next.map(|number| (*number, depth + 1)));
            }
        }
        expansions
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn animals() -> Concepts {
        let mut concepts = Concepts::new();
        for (concept, label, text) in [
            ("c:animal", Label::Preferred, "Animals"),
            ("c:dog", Label::Alternative, "Hounds"),
            ("c:dog", Label::Preferred, "Dogs"),
            ("c:dog", Label::Preferred, "Hunde"),
            ("c:terrier", Label::Preferred, "Terriers"),
            ("c:cat", Label::Preferred, "Cats"),
        ] {
            concepts.label(concept, label, text);
        }
        concepts.narrower("c:animal", "c:dog");
        concepts.narrower("c:animal", "c:cat");
        concepts.narrower("c:dog", "c:terrier");
        concepts
    }

    fn check(concepts: &Concepts, term: &str, expected: &[&str]) {
        let found: Vec<String> = concepts
            .expand(term)
            .iter()
            .map(|one| format!("{} {} {:.2}", one.term, one.relation.as_str(), one.weight))
            .collect();
        assert_eq!(found, expected, "{term}");
    }

    #[test]
    fn d_5_a_term_leads_to_its_synonyms_and_narrower_terms() {
        check(
            &animals(),
            "HOUNDS",
            &["Dogs preferred 0.80", "Hunde preferred 0.80", "Terriers narrower 0.48"],
        );
        check(
            &animals(),
            "animals",
            &[
                "Dogs narrower 0.48",
                "Hunde narrower 0.48",
                "Hounds narrower 0.48",
                "Cats narrower 0.48",
                "Terriers narrower 0.29",
            ],
        );
        check(&animals(), "terriers", &[]);
        check(&animals(), "plants", &[]);
    }

    #[test]
    fn circles_do_no_harm() {
        let mut concepts = animals();
        concepts.narrower("c:terrier", "c:animal");
        concepts.narrower("c:dog", "c:dog");
        check(
            &concepts,
            "dogs",
            &[
                "Hunde preferred 0.80",
                "Hounds alternative 0.80",
                "Terriers narrower 0.48",
                "Animals narrower 0.29",
                "Cats narrower 0.17",
            ],
        );
    }

    #[test]
    fn depth_and_number_are_bounded() {
        let mut chain = Concepts::new();
        let mut star = Concepts::new();
        for n in 0..500 {
            chain.label(&format!("c:{n}"), Label::Preferred, &format!("term{n}"));
            chain.narrower(&format!("c:{n}"), &format!("c:{}", n + 1));
            star.label(&format!("c:{n}"), Label::Preferred, &format!("term{n}"));
            star.narrower("c:0", &format!("c:{n}"));
        }
        assert_eq!(chain.expand("term0").len(), DEEPEST);
        assert_eq!(star.expand("term0").len(), MOST);
    }
}
