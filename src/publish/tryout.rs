//! Runs the rules over a field in the making and compares what they make with the graph.
//!
//! Reading a rule backwards leaves choices open. Here they are settled: a field is right when
//! the rules make of it what the graph says and nothing else. Nodes are compared by what they
//! say, for their names tell which rule made them, and that may have been one of another format.

use super::graph::{self, RecordGraph};
use super::marc::Written;
use crate::concordance::Concordances;
use crate::concordance::run::{RecordNames, View};
use crate::record::{Model, RecordBuilder};
use oxrdf::{Term, Triple};
use rustc_hash::{FxHashMap, FxHashSet};

/// What the rules make of a field, against the graph.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Statements of the graph that they make.
    pub explained: Vec<u32>,
    /// How many they make that the graph does not have.
    pub missing: usize,
}

impl Verdict {
    pub fn score(&self) -> i64 {
        let count = |number: usize| i64::try_from(number).unwrap_or(i64::MAX / 8);
        count(self.explained.len()) - 3 * count(self.missing)
    }
}

/// The rules of a format, and a graph they are tried against.
pub struct Tryout<'a> {
    pub concordances: &'a Concordances,
    pub model: Model,
    pub graph: &'a RecordGraph,
    pub source: &'a str,
    pub leader: &'a str,
}

impl Tryout<'_> {
    /// Tries some fields together.
    pub fn verdict(&self, fields: &[&Written]) -> Verdict {
        let mut builder = RecordBuilder::new(self.model);
        builder.leader(self.leader);
        for field in fields {
            field.push_to(&mut builder);
        }
        let record = builder.finish();
        let view = View::new(&record);
        let base = self.graph.record().trim_end_matches(|c| c != '/').to_owned();
        let of_source = |id: &str| format!("{base}{}", crate::record::percent_encode(id));
        let agency = record.field("003").map(|field| field.text().trim().to_owned());
        let names =
            RecordNames { record: self.graph.record(), of_source: &of_source, agency: agency.as_deref() };
        let is_leader = fields.is_empty();
        let outcome = self.concordances.run_parts(&view, &names, self.source, is_leader, !is_leader);
        self.compare(&outcome.triples)
    }

    fn compare(&self, made: &[Triple]) -> Verdict {
        let mut of_node: FxHashMap<&str, Vec<&Triple>> = FxHashMap::default();
        let mut tops: Vec<&Triple> = Vec::new();
        for triple in made {
            let name = graph::subject(triple);
            if is_thing(name, self.graph.record()) {
                tops.push(triple);
            } else {
                of_node.entry(name).or_default().push(triple);
            }
        }
        let mut comparison = Comparison {
            graph: self.graph,
            of_node,
            names: FxHashMap::default(),
            verdict: Verdict::default(),
        };
        for triple in tops {
            let name = self.graph.renamed(graph::subject(triple));
            comparison.statement(triple, name, 0);
        }
        let mut verdict = comparison.verdict;
        verdict.explained.sort_unstable();
        verdict.explained.dedup();
        verdict
    }
}

/// The record itself, its hub, work or instance.
fn is_thing(name: &str, record: &str) -> bool {
    matches!(name.strip_prefix(record), Some("" | "#hub" | "#work" | "#instance"))
}

struct Comparison<'a> {
    graph: &'a RecordGraph,
    of_node: FxHashMap<&'a str, Vec<&'a Triple>>,
    /// Which node of the graph a made one was taken for.
    names: FxHashMap<String, String>,
    verdict: Verdict,
}

impl Comparison<'_> {
    fn statement(&mut self, triple: &Triple, subject: &str, depth: usize) {
        let object = match &triple.object {
            Term::NamedNode(node) if self.of_node.contains_key(node.as_str()) => node.as_str(),
            other => {
                // A plain value: there or not there.
                let renamed = match other {
                    Term::NamedNode(node) => self.graph.renamed(node.as_str()),
                    _ => "",
                };
                let there = self.graph.about(subject).find(|(_, known)| {
                    known.predicate == triple.predicate
                        && (known.object == *other
                            || matches!(&known.object, Term::NamedNode(node) if node.as_str() == renamed))
                });
                match there {
                    Some((index, _)) => self.verdict.explained.push(index),
                    None => self.verdict.missing += 1,
                }
                return;
            }
        };
        if depth > 8 {
            return;
        }
        let candidates: Vec<(u32, String)> = self
            .graph
            .about(subject)
            .filter(|(_, known)| known.predicate == triple.predicate)
            .filter_map(|(index, known)| match &known.object {
                Term::NamedNode(node) if self.graph.knows(node.as_str()) => {
                    Some((index, node.as_str().to_owned()))
                }
                _ => None,
            })
            .collect();
        if let Some(known) = self.names.get(object).cloned() {
            match candidates.iter().find(|(_, name)| *name == known) {
                Some((index, _)) => self.verdict.explained.push(*index),
                None => self.verdict.missing += 1,
            }
            return;
        }
        let own = candidates.iter().position(|(_, name)| name == object);
        let chosen = match own {
            Some(own) => candidates.get(own).cloned(),
            None => self.best(object, &candidates),
        };
        let Some((index, name)) = chosen else {
            self.verdict.missing += 1 + self.of_node.get(object).map_or(0, Vec::len);
            return;
        };
        self.verdict.explained.push(index);
        self.names.insert(object.to_owned(), name.clone());
        for triple in self.of_node.get(object).cloned().unwrap_or_default() {
            self.statement(triple, &name, depth + 1);
        }
    }

    /// The node of the graph that says most of what a made one says.
    fn best(&self, made: &str, candidates: &[(u32, String)]) -> Option<(u32, String)> {
        let triples = self.of_node.get(made)?;
        let mut best: Option<(usize, &(u32, String))> = None;
        for candidate in candidates {
            let known: FxHashSet<(&str, &Term)> = self
                .graph
                .about(&candidate.1)
                .map(|(_, triple)| (triple.predicate.as_str(), &triple.object))
                .collect();
            let shared = triples
                .iter()
                .filter(|triple| {
                    known.contains(&(triple.predicate.as_str(), &triple.object))
                        || self
                            .names
                            .get(graph::text(&triple.object))
                            .is_some_and(|name| known.iter().any(|(_, object)| graph::text(object) == name))
                        || self.nested(triple, &known)
                })
                .count();
            if best.is_none_or(|(most, _)| shared > most) {
                best = Some((shared, candidate));
            }
        }
        best.filter(|(shared, _)| *shared > 0).map(|(_, candidate)| candidate.clone())
    }

    /// Whether a made statement leads to a node whose values the graph has one step on.
    fn nested(&self, triple: &Triple, known: &FxHashSet<(&str, &Term)>) -> bool {
        let Some(inner) = self.of_node.get(graph::text(&triple.object)) else { return false };
        known.iter().filter(|(predicate, _)| *predicate == triple.predicate.as_str()).any(|(_, object)| {
            self.graph.about(graph::text(object)).any(|(_, there)| {
                matches!(there.object, Term::Literal(_))
                    && inner
                        .iter()
                        .any(|made| made.predicate == there.predicate && made.object == there.object)
            })
        })
    }
}
