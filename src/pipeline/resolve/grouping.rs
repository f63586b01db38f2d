//! Which of all described things are one? Level by level, each with what the one before found.
//!
//! Instances are compared first. Works of one instance are one, and works that the profile `work`
//! takes for one belong to one hub. Within a hub, works of one language, form, translator and
//! performer are one expression; these are agents, so agents come before. Subjects and places are known by
//! their headings and by the entries of authority files.

use super::decisions::Ruling;
use super::entities::{Compared, Entities, Number, Sayings, Tables};
use super::entity::Kind;
use super::keeping::Keeping;
use super::labels::{Label, Labels};
use super::texts::{ProfileText, Texts};
use super::{PipelineError, ResolveError};
use crate::config::Home;
use crate::resolve::block::Blocking;
use crate::resolve::cluster::{Decisions, Edge, Refusal};
use crate::resolve::compare::crowded_in;
use crate::resolve::increment::State;
use crate::resolve::score::{Model, weight_of};
use crate::resolve::{BUDGET, Given, Resolution, resolve};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::io;

/// Weights learned earlier, by profile.
#[derive(Default)]
pub(super) struct Models {
    pub instance: Option<Model>,
    pub work: Option<Model>,
    pub agent: Option<Model>,
}

/// What comparing by one profile found.
pub(super) struct Level {
    pub model: Model,
    /// Pairs that are alike enough to be merged, strongest first; by numbers of things.
    pub edges: Vec<Edge>,
    /// Pairs that are not one, and of which one was made from the other.
    pub related: Vec<Edge>,
    /// Pairs for a person, likeliest first.
    pub review: Vec<Edge>,
    pub refused: Vec<Refusal>,
    pub blocking: Blocking,
    pub compared: u64,
    /// What the next run starts from, until it is written.
    pub state: Option<State>,
    /// The weights say more than those that were given.
    pub has_learned: bool,
}

/// Where the last run left what it found, by profile.
pub(super) struct Keepings {
    pub instance: Keeping,
    pub work: Keeping,
    pub agent: Keeping,
}

impl Keepings {
    pub fn new(home: &Home, texts: &Texts) -> Self {
        Self {
            instance: Keeping::new(home, "instance", &texts.instance),
            work: Keeping::new(home, "work", &texts.work),
            agent: Keeping::new(home, "agent", &texts.agent),
        }
    }

    /// Keeps what was found for the next run, and lets go of it.
    pub fn write(&self, groups: &mut Groups) -> Result<(), PipelineError> {
        let levels = [
            (&self.instance, &mut groups.instance),
            (&self.work, &mut groups.work),
            (&self.agent, &mut groups.agent),
        ];
        for (keeping, level) in levels {
            if let Some(state) = level.state.take() {
                keeping.write(&state)?;
            }
        }
        Ok(())
    }
}

/// Two things that are one because of what was found elsewhere, and not by comparing them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Following {
    pub left: Number,
    pub right: Number,
    pub ground: Ground,
}

/// What it follows from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ground {
    /// Works: their instances are one.
    Instances,
    /// Works of one hub: language, form, translators and performers are the same.
    Expression,
    /// Hubs: their works belong together.
    Works,
    /// Subjects and places: an authority file has one entry for both.
    Authority,
    /// Subjects and places: the heading is the same.
    Heading,
    /// A person's decision, by its number.
    Decision(u64),
}

/// All groups.
pub(super) struct Groups {
    /// For each thing the smallest number in its group.
    pub of: Vec<Number>,
    /// Of those that hold groups together without a comparison, no more than it takes.
    pub following: Vec<Following>,
    pub instance: Level,
    pub work: Level,
    pub agent: Level,
}

/// What groups follow from.
pub(super) struct Basis<'a> {
    pub entities: &'a Entities,
    pub tables: &'a Tables,
    pub texts: &'a Texts,
    pub rulings: &'a [Ruling],
    pub labels: &'a Labels,
    /// What the last run left; without it everything is compared.
    pub last: Option<&'a Keepings>,
}

impl Basis<'_> {
    /// Finds all groups.
    pub fn group(&self, models: Models) -> Result<Groups, PipelineError> {
        let Self { entities, tables, texts, labels, .. } = *self;
        let rulings = || self.rulings.iter().map(|ruling| (ruling.left, ruling.right, ruling.together));
        let mut forest = Forest::new(entities.len());
        let instance = Comparing {
            compared: &tables.instance,
            text: &texts.instance,
            labels: &labels.instance,
            last: self.last.map(|last| &last.instance),
        }
        .compare(rulings(), models.instance, &mut forest)?;
        let agent = Comparing {
            compared: &tables.agent,
            text: &texts.agent,
            labels: &labels.agent,
            last: self.last.map(|last| &last.agent),
        }
        .compare(rulings(), models.agent, &mut forest)?;
        let joined = works_of_instances(entities, &mut forest);
        let together = joined.iter().map(|(left, right)| (*left, *right, true));
        // Works are united to hubs in a forest of their own: one hub has many expressions.
        let mut hubs = Forest::new(entities.len());
        let work = Comparing {
            compared: &tables.work,
            text: &texts.work,
            labels: &labels.work,
            last: self.last.map(|last| &last.work),
        }
        .compare(together.chain(rulings()), models.work, &mut hubs)?;
        let mut uniting = Uniting { forest, following: Vec::new() };
        for (left, right) in &joined {
            uniting.unite(*left, *right, Ground::Instances);
        }
        expressions(entities, &mut hubs, &mut uniting);
        hubs_of_works(entities, &mut hubs, &mut uniting);
        headings(entities, &mut uniting);
        let Uniting { mut forest, mut following } = uniting;
        let of: Vec<Number> = (0..entities.len() as Number).map(|number| forest.root(number)).collect();
        for ruling in self.rulings.iter().filter(|ruling| ruling.together) {
            let [left, right] = [ruling.left, ruling.right].map(|number| decided_about(entities, number));
            if of.get(left as usize) == of.get(right as usize) {
                following.push(Following { left, right, ground: Ground::Decision(ruling.decision) });
            }
        }
        Ok(Groups { of, following, instance, work, agent })
    }
}

/// The things of one table, by what they are compared, and what is known of the last time.
struct Comparing<'a> {
    compared: &'a Compared,
    text: &'a ProfileText,
    labels: &'a [Label],
    last: Option<&'a Keeping>,
}

impl Comparing<'_> {
    fn compare(
        &self,
        decided: impl Iterator<Item = Label>,
        model: Option<Model>,
        forest: &mut Forest,
    ) -> Result<Level, PipelineError> {
        let compared = self.compared;
        let mut decisions = Decisions::default();
        for (left, right, together) in decided {
            if let (Some(left), Some(right)) = (compared.id(left), compared.id(right)) {
                if together { decisions.join(left, right) } else { decisions.never(left, right) }
            }
        }
        let words = model.as_ref().map(|model| model.weights.len());
        // An identifier may have become that of too many since the weights were learned.
        let mut model = model;
        let crowded = crowded_in(&compared.table, &self.text.profile);
        let is_crowded = model.as_mut().is_some_and(|model| model.distrust(crowded));
        let (found, state) =
            self.found(&decisions, model).map_err(|error| ResolveError::Cache(error.to_string()))?;
        let number = |id: u32| compared.of.get(id as usize).copied().unwrap_or(0);
        for (id, root) in found.clusters.of.iter().enumerate() {
            forest.unite(number(id as u32), number(*root));
        }
        let named = |edge: &Edge| Edge { left: number(edge.left), right: number(edge.right), ..*edge };
        let profile = &self.text.profile;
        let review = found.review(profile, &decisions).into_iter().map(named).collect();
        let Resolution { model, clusters, edges, blocking, compared } = found;
        let merge = weight_of(profile.bands.merge);
        let refused = clusters.refused.into_iter().map(|refusal| refusal.renamed(number)).collect();
        // What is not merged and no matter for review says nothing afterwards.
        let strong = || edges.iter().filter(|edge| edge.weight >= merge);
        let related = strong().filter(|edge| profile.is_related(edge.vector)).map(named).collect();
        let edges = strong().filter(|edge| profile.veto(edge.vector).is_none()).map(named).collect();
        let has_learned = is_crowded || words != Some(model.weights.len());
        let state = Some(state);
        Ok(Level { model, edges, related, review, refused, blocking, compared, state, has_learned })
    }

    /// What is different from the last run is taken up; without a last run everything is compared.
    fn found(&self, decisions: &Decisions, model: Option<Model>) -> io::Result<(Resolution, State)> {
        let (table, profile) = (&self.compared.table, &self.text.profile);
        let keys: Vec<(&str, u32)> = self.compared.keys.iter().map(|(key, id)| (&**key, *id)).collect();
        if let Some(mut state) = self.last.zip(model.as_ref()).and_then(|(last, model)| last.read(model))
            && state.can_follow(table)
        {
            let done = state.follow(table, profile, &keys, decisions);
            return Ok((state.resolution(table, &done), state));
        }
        let id = |number: Number| self.compared.id(number);
        let labels =
            self.labels.iter().filter_map(|(left, right, same)| Some((id(*left)?, id(*right)?, *same)));
        let labels: Vec<(u32, u32, bool)> = labels.filter(|(left, right, _)| left != right).collect();
        let given = Given { keys: &keys, decisions: decisions.clone(), labels: &labels, model, budget: 0 };
        let found = resolve(table, profile, given)?;
        let state = State::of(table, profile, &found, &keys, decisions, BUDGET)?;
        Ok((found, state))
    }
}

/// What a decision about a thing is about: who joins two works says that they belong to one hub, of
/// whatever language they are.
pub(super) fn decided_about(entities: &Entities, number: Number) -> Number {
    match entities.kind(number) {
        Kind::Work => entities.hub_of(number).unwrap_or(number),
        _ => number,
    }
}

/// The works that instances of one group are instances of, as pairs that are one.
fn works_of_instances(entities: &Entities, forest: &mut Forest) -> Vec<(Number, Number)> {
    let mut first: FxHashMap<Number, Number> = FxHashMap::default();
    let mut joined = Vec::new();
    for (from, to) in &entities.links {
        if entities.kind(*from) != Kind::Instance || entities.kind(*to) != Kind::Work {
            continue;
        }
        let work = *first.entry(forest.root(*from)).or_insert(*to);
        if work != *to {
            joined.push((work, *to));
        }
    }
    joined
}

/// Unites works of one hub that have language, form, translators and performers in common.
fn expressions(entities: &Entities, hubs: &mut Forest, uniting: &mut Uniting) {
    let mut first: BTreeMap<(Number, String), Number> = BTreeMap::new();
    for (number, said) in sorted(&entities.expressions) {
        let record = entities.all.get(number as usize).map_or(0, |entity| entity.record);
        let mut parts: Vec<String> = Vec::new();
        let mut has_language = false;
        for (feature, value) in said {
            match &**feature {
                role @ ("translator" | "performer" | "arranger") => {
                    let (source, id) = &entities.records[record as usize];
                    let agent = entities.find(source, id, Some(value), Kind::Agent);
                    parts.push(match agent {
                        Some(agent) => format!("{role} {}", uniting.forest.root(agent)),
                        None => format!("{role} {value}"),
                    });
                }
                feature => {
                    has_language |= feature == "language";
                    parts.push(format!("{feature} {value}"));
                }
            }
        }
        // A work of which not even the language is known is like no other.
        if !has_language {
            continue;
        }
        parts.sort_unstable();
        parts.dedup();
        let first = *first.entry((hubs.root(number), parts.join("\n"))).or_insert(number);
        uniting.unite(first, number, Ground::Expression);
    }
}

/// Unites the hubs of works that belong to one hub.
fn hubs_of_works(entities: &Entities, hubs: &mut Forest, uniting: &mut Uniting) {
    // Expressions of one hub are united by then, so the works of one expression are asked too.
    let mut first: FxHashMap<Number, Number> = FxHashMap::default();
    for (from, to) in &entities.links {
        if entities.kind(*from) == Kind::Work && entities.kind(*to) == Kind::Hub {
            let hub = *first.entry(hubs.root(*from)).or_insert(*to);
            uniting.unite(hub, *to, Ground::Works);
        }
    }
}

/// Unites subjects and places: those with an entry of an authority file in common; and those with
/// none that have heading and thesaurus in common with each other, or the heading with exactly one
/// that has an entry.
fn headings(entities: &Entities, uniting: &mut Uniting) {
    let fold = |text: &str| crate::resolve::fold::fold(text);
    let values = |said: &[(Box<str>, Box<str>)], feature: &str| -> Vec<Box<str>> {
        said.iter().filter(|(known, _)| **known == *feature).map(|(_, value)| value.clone()).collect()
    };
    let all = sorted(&entities.headings);
    let mut of_identifier: FxHashMap<(Kind, Box<str>), Number> = FxHashMap::default();
    for (number, said) in &all {
        for identifier in values(said, "identifier") {
            let first = *of_identifier.entry((entities.kind(*number), identifier)).or_insert(*number);
            uniting.unite(first, *number, Ground::Authority);
        }
    }
    // A heading that two entries share leads to neither.
    let mut of_label: FxHashMap<(Kind, String), Option<Number>> = FxHashMap::default();
    for (number, said) in &all {
        let is_authority = said.iter().any(|(feature, _)| **feature == *"identifier" || **feature == *"form");
        if !is_authority {
            continue;
        }
        let root = uniting.forest.root(*number);
        for label in values(said, "label").iter().chain(&values(said, "form")) {
            let known = of_label.entry((entities.kind(*number), fold(label))).or_insert(Some(root));
            if *known != Some(root) {
                *known = None;
            }
        }
    }
    let mut of_heading: FxHashMap<(Kind, String, Vec<Box<str>>), Number> = FxHashMap::default();
    for (number, said) in &all {
        let labels = values(said, "label");
        if labels.is_empty() || said.iter().any(|(feature, _)| **feature == *"identifier") {
            continue;
        }
        let mut folded: Vec<String> = labels.iter().map(|label| fold(label)).collect();
        folded.sort_unstable();
        folded.dedup();
        let kind = entities.kind(*number);
        let leads: Vec<Option<Number>> =
            folded.iter().filter_map(|label| of_label.get(&(kind, label.clone())).copied()).collect();
        if let [Some(root)] = leads.as_slice() {
            uniting.unite(*root, *number, Ground::Heading);
            continue;
        }
        let first = *of_heading.entry((kind, folded.join("\n"), values(said, "source"))).or_insert(*number);
        uniting.unite(first, *number, Ground::Heading);
    }
}

type Said<'a> = Vec<(Number, &'a Vec<(Box<str>, Box<str>)>)>;

fn sorted(said: &Sayings) -> Said<'_> {
    let mut all: Said<'_> = said.iter().map(|(number, said)| (*number, said)).collect();
    all.sort_unstable_by_key(|(number, _)| *number);
    all
}

/// Groups in the making, with what they follow from.
struct Uniting {
    forest: Forest,
    following: Vec<Following>,
}

impl Uniting {
    fn unite(&mut self, left: Number, right: Number, ground: Ground) {
        if self.forest.unite(left, right) {
            self.following.push(Following { left, right, ground });
        }
    }
}

/// Groups in the making; the root of a group is its smallest number.
struct Forest {
    parent: Vec<Number>,
}

impl Forest {
    fn new(size: usize) -> Self {
        Self { parent: (0..size as Number).collect() }
    }

    fn root(&mut self, number: Number) -> Number {
        let mut root = number;
        while let Some(parent) = self.parent.get(root as usize).copied()
            && parent != root
        {
            root = parent;
        }
        let mut at = number;
        while at != root {
            let Some(parent) = self.parent.get_mut(at as usize) else { break };
            at = std::mem::replace(parent, root);
        }
        root
    }

    /// Makes two groups one; says whether they were two.
    fn unite(&mut self, left: Number, right: Number) -> bool {
        let (left, right) = (self.root(left), self.root(right));
        if let Some(parent) = self.parent.get_mut(left.max(right) as usize) {
            *parent = left.min(right);
        }
        left != right
    }
}
