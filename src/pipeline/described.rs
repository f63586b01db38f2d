//! The rules graph: with which rules the records of each model were mapped.
//!
//! One literal a model holds a line for each rule, so that the graph stays small beside the
//! records. A line has, between tabs, the rule, the line of its file it begins on, a hash of all
//! its result depends on, the sources it holds for, and the tags it selects:
//!
//! ```text
//! marc21/20x-24x-titles#title    31    07c1…         245
//! marc21/my-rules@loc#shelf       9    5e20…  =loc   852|949
//! marc21/6xx-subjects#topic      12    91aa…  !loc   650
//! ```
//!
//! A model is described before the first of its records is written. So a model without a
//! description has no records, and its rules need not be read to know that nothing changed.

use super::PipelineError;
use super::store_writer::Pending;
use crate::catalogue::{Catalogue, Graphs, Selection};
use crate::concordance::Concordances;
use crate::concordance::selector::Tag;
use crate::ontology::{pin, rdf, xsd};
use crate::record::{Model, percent_encode};
use oxrdf::{Literal, NamedOrBlankNode, Term, Triple};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Raised when the same rules give other statements than before: then all records follow.
const EVALUATOR_VERSION: u64 = 2;

/// The rules of one model, as the store remembers them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Described {
    /// Of the evaluator.
    pub version: String,
    /// Of all files that matter to the model.
    pub fingerprint: String,
    /// A line for each rule.
    pub list: String,
}

/// What is remembered of one rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Remembered {
    pub hash: String,
    pub holds: Holds,
    /// Tags, as a selector.
    pub selects: String,
}

/// The sources a rule holds for, percent-encoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Holds {
    /// All but these.
    AllBut(BTreeSet<String>),
    Only(BTreeSet<String>),
}

/// What the store says of its rules.
pub(super) struct Remembers {
    pub models: BTreeMap<Model, Described>,
    /// There are records, and nothing is said of their rules in a way we understand.
    pub nothing_known: bool,
}

impl Described {
    /// The rules in force.
    pub fn now(set: &Concordances, model: Model) -> Self {
        let mut list = String::from("\n");
        for rule in set.rules(model) {
            let mut tags: Vec<String> =
                rule.selector.alternatives.iter().map(|alternative| alternative.tag.notation()).collect();
            tags.sort();
            tags.dedup();
            let holds = match &rule.source {
                Some(source) => Holds::Only([percent_encode(source)].into()),
                None => Holds::AllBut(set.excepted(model, rule).map(percent_encode).collect()),
            };
            line(&mut list, &rule.id, rule.line, &rule.hash, &holds, &tags.join("|"));
        }
        if model == Model::Rdf {
            let everywhere = Holds::AllBut(BTreeSet::new());
            for query in set.queries() {
                line(&mut list, &query.name, 1, &query.hash, &everywhere, &Tag::Record.notation());
            }
        }
        Self { version: EVALUATOR_VERSION.to_string(), fingerprint: set.fingerprint(model), list }
    }

    /// Whether the rules in force are these; nothing is compiled to find out.
    pub fn is_current(&self, set: &Concordances, model: Model) -> bool {
        self.version == EVALUATOR_VERSION.to_string() && self.fingerprint == set.fingerprint(model)
    }

    /// The rules by their names.
    pub fn rules(&self) -> BTreeMap<&str, Remembered> {
        let rules = self.list.lines().filter_map(|line| {
            let mut parts = line.split('\t');
            let (id, _line) = (parts.next()?, parts.next()?);
            let (hash, holds, selects) = (parts.next()?, parts.next()?, parts.next()?);
            let remembered =
                Remembered { hash: hash.to_owned(), holds: Holds::read(holds), selects: selects.to_owned() };
            Some((id, remembered))
        });
        rules.collect()
    }

    pub fn triples(&self, graphs: &Graphs, model: Model) -> Vec<Triple> {
        let name = graphs.rules_of(model.name());
        let text = |text: &str| Literal::new_simple_literal(text);
        vec![
            Triple::new(name.clone(), rdf::TYPE, pin::CONCORDANCE_CLASS),
            Triple::new(name.clone(), pin::FORMAT, text(model.name())),
            Triple::new(
                name.clone(),
                pin::VERSION,
                Literal::new_typed_literal(self.version.as_str(), xsd::INTEGER),
            ),
            Triple::new(name.clone(), pin::RULE_HASH, text(&self.fingerprint)),
            Triple::new(name, pin::RULES, text(&self.list)),
        ]
    }
}

fn line(list: &mut String, id: &str, line: usize, hash: &str, holds: &Holds, selects: &str) {
    // A heading may hold a tab or a line break, and a line of the list may not.
    let selects = selects.replace(['\t', '\n', '\r'], " ");
    let _ = writeln!(list, "{id}\t{line}\t{hash}\t{}\t{selects}", holds.write());
}

impl Holds {
    fn write(&self) -> String {
        let (sign, sources) = match self {
            Self::AllBut(sources) if sources.is_empty() => return String::new(),
            Self::AllBut(sources) => ('!', sources),
            Self::Only(sources) => ('=', sources),
        };
        let sources: Vec<&str> = sources.iter().map(String::as_str).collect();
        format!("{sign}{}", sources.join(" "))
    }

    fn read(text: &str) -> Self {
        let sources = |text: &str| text.split(' ').filter(|s| !s.is_empty()).map(str::to_owned).collect();
        match text.strip_prefix('=') {
            Some(only) => Self::Only(sources(only)),
            None => Self::AllBut(sources(text.trim_start_matches('!'))),
        }
    }

    /// Whether a rule holds for a source, given percent-encoded.
    pub fn for_source(&self, source: &str) -> bool {
        match self {
            Self::AllBut(sources) => !sources.contains(source),
            Self::Only(sources) => sources.contains(source),
        }
    }

    /// The sources for which one holds and the other does not, where they can be named.
    pub fn difference(&self, other: &Self) -> Option<Self> {
        match (self, other) {
            (Self::AllBut(one), Self::AllBut(other)) | (Self::Only(one), Self::Only(other)) => {
                Some(Self::Only(one.symmetric_difference(other).cloned().collect()))
            }
            _ => None,
        }
    }
}

/// Reads the rules graph.
pub(super) fn remembered(catalogue: &Catalogue) -> Result<Remembers, PipelineError> {
    let graphs = catalogue.graphs();
    let mut models: BTreeMap<Model, Described> = BTreeMap::new();
    let prefix = graphs.rules_of("").into_string();
    let selection = Selection { graph: Some(graphs.rules().into()), ..Selection::default() };
    let mut other = false;
    for quad in catalogue.backend().quads(&selection)? {
        let quad = quad?;
        let NamedOrBlankNode::NamedNode(subject) = &quad.subject else { continue };
        let model = subject.as_str().strip_prefix(&prefix).and_then(|name| name.parse::<Model>().ok());
        let Some(model) = model else {
            other = true;
            continue;
        };
        let Term::Literal(value) = &quad.object else { continue };
        let empty = || Described { version: String::new(), fingerprint: String::new(), list: String::new() };
        let described = models.entry(model).or_insert_with(empty);
        let value = value.value().to_owned();
        match quad.predicate.as_ref() {
            p if p == pin::VERSION => described.version = value,
            p if p == pin::RULE_HASH => described.fingerprint = value,
            p if p == pin::RULES => described.list = value,
            _ => {}
        }
    }
    let nothing_known = other || models.is_empty() && catalogue.position()? > 0;
    Ok(Remembers { models, nothing_known })
}

/// Describes each model before its first record is written.
pub(super) struct Describing {
    known: BTreeSet<Model>,
}

impl Describing {
    pub fn new(catalogue: &Catalogue) -> Result<Self, PipelineError> {
        Ok(Self { known: remembered(catalogue)?.models.into_keys().collect() })
    }

    /// Adds the rules of those models that are not described yet.
    pub fn add(
        &mut self,
        models: impl Iterator<Item = Model>,
        set: &Concordances,
        graphs: &Graphs,
        pending: &mut Pending,
    ) {
        for model in models {
            if self.known.insert(model) {
                pending.add(graphs.rules(), Described::now(set, model).triples(graphs, model));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_is_read_as_it_was_written() {
        let set = Concordances::shipped();
        for model in [Model::Marc21, Model::Rdf, Model::Row] {
            let described = Described::now(&set, model);
            let rules = described.rules();
            let expected = set.rules(model).len() + if model == Model::Rdf { set.queries().len() } else { 0 };
            assert_eq!(rules.len(), expected, "{model}");
            assert!(rules.values().all(|rule| rule.holds == Holds::AllBut(BTreeSet::new())));
            assert!(described.is_current(&set, model));
        }
        let title = Described::now(&set, Model::Marc21);
        assert!(title.rules().get("marc21/20x-24x-titles#title").is_some_and(|rule| rule.selects == "245"));
    }

    #[test]
    fn sources_are_written_and_compared() {
        for text in ["", "=loc", "!a b"] {
            assert_eq!(Holds::read(text).write(), text);
        }
        assert!(Holds::read("=loc").for_source("loc") && !Holds::read("=loc").for_source("bnf"));
        assert!(!Holds::read("!loc").for_source("loc") && Holds::read("!loc").for_source("bnf"));
        assert_eq!(Holds::read("").difference(&Holds::read("!loc")), Some(Holds::read("=loc")));
        assert_eq!(Holds::read("").difference(&Holds::read("=loc")), None);
    }
}
