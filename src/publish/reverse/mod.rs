//! A record graph as a MARC record: every rule of the format read backwards.
//!
//! For each place of the graph that a rule's template fits ([`pattern`](super::pattern)), its
//! values are led back to subfields ([`invert`](super::invert)) and the field is tried
//! ([`tryout`](super::tryout)). Of several rules that fit one place the one that explains most
//! wins, and what one field has explained no other has to say again: so one contribution does
//! not come out as both 100 and 700.
//!
//! [`choose`] goes through the places, [`candidate`] finds the best field for one of them,
//! [`drafts`] gives its values to subfields in an order that [`cost`] tells.

mod candidate;
mod choose;
mod cost;
mod drafts;

use super::draft::Draft;
use super::graph::RecordGraph;
use super::hints::Hints;
use super::marc::Written;
use super::pattern::Pattern;
use super::table::Fields;
use super::tryout::{Tryout, Verdict};
use crate::concordance::Concordances;
use crate::concordance::program::Rule;
use crate::concordance::selector::Tag;
use crate::record::Model;
use cost::cost;
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;

/// The rules of a format, prepared for the way back.
pub struct Reverse<'a> {
    pub concordances: &'a Concordances,
    model: Model,
    rules: Vec<Prepared<'a>>,
    pub fields: Fields,
}

struct Prepared<'a> {
    rule: &'a Rule,
    pattern: Pattern,
    /// Nodes of it that other rules add to.
    shared: Vec<(usize, String)>,
    /// What slots cost: plain ones first, derived ones last.
    costs: Vec<usize>,
}

/// A field that a place of the graph gives.
struct Candidate {
    rule: usize,
    written: Vec<Written>,
    verdict: Verdict,
    /// The record is known to have had this field.
    known: bool,
}

/// The fields found, and what they leave to say.
#[derive(Debug, Default)]
pub struct Found {
    pub fields: Vec<Written>,
    pub leader: BTreeMap<usize, char>,
    /// Positions of fixed fields, by tag and subfield.
    pub fixed: BTreeMap<(String, Option<String>), BTreeMap<usize, char>>,
    pub explained: FxHashSet<u32>,
}

impl<'a> Reverse<'a> {
    pub fn new(concordances: &'a Concordances, model: Model) -> Self {
        let rules = concordances
            .rules(model)
            .iter()
            .filter(|rule| !rule.template.triples.is_empty() && !rule.selector.is_record())
            .filter(|rule| rule.selector.alternatives.iter().any(|way| way.embedded.is_none()))
            .map(|rule| Prepared {
                rule,
                pattern: Pattern::new(rule, &concordances.lists),
                shared: Pattern::shared_nodes(rule),
                costs: (0..rule.slots).map(|slot| cost(rule, slot)).collect(),
            })
            .collect();
        Self { concordances, model, rules, fields: Fields::read(concordances, model.name()) }
    }

    /// The fields that say what the graph says.
    pub fn run(&self, graph: &RecordGraph, source: &str) -> Found {
        let mut found = Found::default();
        let hints = Hints::read(graph, self.model.name());
        self.leader(graph, source, &hints, &mut found);
        let leader = self.leader_text(&found);
        let work = Work { reverse: self, graph, source, hints, leader };
        work.run(&mut found);
        found
    }

    /// The leader with the positions that are known.
    pub fn leader_text(&self, found: &Found) -> String {
        let draft = Draft { positions: found.leader.clone(), ..Draft::default() };
        draft.fixed_text(self.fields.base("LDR"))
    }

    /// The leader decides how other fields are read, so it comes first.
    fn leader(&self, graph: &RecordGraph, source: &str, hints: &Hints, found: &mut Found) {
        for prepared in &self.rules {
            let alternative = prepared.rule.selector.alternatives.first();
            let Some(alternative) = alternative.filter(|way| way.tag == Tag::Leader) else { continue };
            if !hints.fired(&prepared.rule.id) {
                continue;
            }
            for (_, spot) in prepared.pattern.places(prepared.rule, graph, false) {
                let work =
                    Work { reverse: self, graph, source, hints: Hints::default(), leader: String::new() };
                let mut drafts = work.drafts(prepared, alternative, "LDR", &spot, &[]);
                let usual = self.fields.get("LDR").map_or("", |field| field.order.as_str());
                drafts.sort_by_key(|draft| draft.positions.values().filter(|c| !usual.contains(**c)).count());
                for draft in drafts {
                    let mut positions = found.leader.clone();
                    positions.extend(draft.positions.iter().map(|(at, c)| (*at, *c)));
                    let leader = Draft { positions: positions.clone(), ..Draft::default() };
                    let text = leader.fixed_text(self.fields.base("LDR"));
                    let tryout = work.tryout(&text);
                    let verdict = tryout.verdict(&[]);
                    let known = work.tryout(&self.leader_text(found)).verdict(&[]);
                    if verdict.score() > known.score() {
                        found.leader = positions;
                        found.explained.extend(verdict.explained);
                        break;
                    }
                }
            }
        }
    }
}

/// One record on its way back.
struct Work<'a, 'g> {
    reverse: &'a Reverse<'a>,
    graph: &'g RecordGraph,
    source: &'g str,
    hints: Hints,
    leader: String,
}

impl<'a> Work<'a, '_> {
    fn tryout<'t>(&'t self, leader: &'t str) -> Tryout<'t> {
        Tryout {
            concordances: self.reverse.concordances,
            model: self.reverse.model,
            graph: self.graph,
            source: self.source,
            leader,
        }
    }
}
