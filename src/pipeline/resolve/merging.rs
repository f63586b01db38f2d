//! From members to one entry: what all of them say, under one name.
//!
//! Nothing is lost. What members say is united; equal nodes inside them have equal names, so three
//! equal titles are one. One label is preferred, the others are kept as `skos:altLabel`; of other
//! declared properties all values stay, and a preference says which one to show and why. What
//! belongs to how an entry came about goes to the graph of resolution.

use super::cache::EntryKey;
use super::entities::{Entities, Number};
use super::entity::{Description, Kind};
use super::grouping::{Following, Ground, Groups, Level};
use super::growth::Growth;
use super::naming::Naming;
use super::preferring::{Candidate, Preferring, Standing};
use super::texts::{ProfileText, Texts};
use super::{PipelineError, ResolveError};
use crate::archive::Entry;
use crate::catalogue::Graphs;
use crate::ontology::{bf, dcterms, pin, prov, rdf, rdfs, skos, xsd};
use crate::pipeline::Session;
use crate::resolve::cluster::Edge;
use crate::resolve::compare::Vector;
use crate::resolve::increment::State;
use crate::resolve::score::{Model, probability};
use oxrdf::{GraphName, Literal, NamedNode, NamedNodeRef, Quad, Term, Triple};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::Arc;

/// Records mapped side by side.
const BATCH: usize = 1024;

/// An entry as the store is to have it.
pub(super) struct Merged {
    pub key: EntryKey,
    /// Of its members, and of its statements.
    pub hashes: (u64, u64),
    pub quads: Vec<Quad>,
}

/// What new members add to an entry that keeps all it has.
pub(super) struct Added {
    pub key: EntryKey,
    /// Of all its members.
    pub members: u64,
    /// What the new ones call it.
    pub labels: Vec<Term>,
    /// What they say of it beside that, and that they are members.
    pub quads: Vec<Quad>,
    /// All that is said of how the entry came to be.
    pub resolution: Vec<Quad>,
}

/// An entry that was made.
pub(super) enum Made {
    Whole(Merged),
    Added(Added),
}

/// What one member gives to its entry.
struct Contribution {
    number: Number,
    standing: Arc<Standing>,
    said: Arc<Said>,
}

/// What a record says of an entry.
#[derive(PartialEq, Eq, Hash)]
struct Said {
    triples: Vec<Triple>,
    /// Labels to be used when no member has one.
    spare: Vec<Term>,
}

/// The members of an entry as they come. Thousands of records may say the same of a subject, and
/// all wait for the last of them, so what is equal is kept once.
#[derive(Default)]
struct Gathered {
    members: Vec<Contribution>,
    said: FxHashSet<Arc<Said>>,
}

impl Gathered {
    fn take(&mut self, mut contribution: Contribution) {
        match self.said.get(&contribution.said) {
            Some(known) => contribution.said = known.clone(),
            None => _ = self.said.insert(contribution.said.clone()),
        }
        self.members.push(contribution);
    }
}

/// The evidence behind entries, by kind.
struct Evidence<'a> {
    level: &'a Level,
    profile: &'a ProfileText,
    /// The pairs that hold each entry together, by its root. Those of a hub are pairs of its works.
    pairs: FxHashMap<Number, Vec<Edge>>,
}

/// Makes entries.
pub(super) struct Merging<'a> {
    session: &'a Session,
    texts: &'a Texts,
    entities: &'a Entities,
    groups: &'a Groups,
    naming: &'a Naming,
    evidence: FxHashMap<Kind, Evidence<'a>>,
    /// What holds entries together beside that, by root.
    following: FxHashMap<Number, Vec<Following>>,
    preferring: FxHashMap<Kind, Preferring>,
    /// Hubs of which one was made from the other, by root.
    related: FxHashMap<Number, BTreeSet<Number>>,
    /// The place of each source among them, the most important first.
    rank: FxHashMap<&'a str, usize>,
    /// When this run was started.
    time: &'a str,
}

impl<'a> Merging<'a> {
    pub fn new(
        session: &'a Session,
        texts: &'a Texts,
        entities: &'a Entities,
        groups: &'a Groups,
        naming: &'a Naming,
        ranked: &'a [String],
        time: &'a str,
    ) -> Self {
        let mut evidence = FxHashMap::default();
        let levels = [
            (Kind::Instance, &groups.instance, &texts.instance),
            (Kind::Work, &groups.work, &texts.work),
            (Kind::Agent, &groups.agent, &texts.agent),
        ];
        for (kind, level, profile) in levels {
            let pairs = spanning(&level.edges, &groups.of);
            evidence.insert(kind, Evidence { level, profile, pairs });
        }
        let pairs = spanning(&groups.work.edges, &hubs_of_works(entities, groups));
        evidence.insert(Kind::Hub, Evidence { level: &groups.work, profile: &texts.work, pairs });
        let mut following: FxHashMap<Number, Vec<Following>> = FxHashMap::default();
        for one in &groups.following {
            if let Some(root) = groups.of.get(one.left as usize) {
                following.entry(*root).or_default().push(*one);
            }
        }
        let mut preferring = FxHashMap::default();
        for kind in Kind::ALL {
            let profile = match kind {
                Kind::Instance | Kind::Item => &texts.instance,
                Kind::Hub | Kind::Work => &texts.work,
                Kind::Agent | Kind::Subject | Kind::Place => &texts.agent,
            };
            preferring.insert(kind, Preferring::new(&profile.profile.survivorship, ranked));
        }
        let rank = ranked.iter().enumerate().map(|(place, source)| (source.as_str(), place)).collect();
        let related = related_hubs(entities, groups);
        Self {
            session,
            texts,
            entities,
            groups,
            naming,
            evidence,
            following,
            preferring,
            related,
            rank,
            time,
        }
    }

    /// The hash of the members of an entry, of what people said of them, and of the order of their
    /// sources.
    pub fn member_hash(&self, members: &[Number]) -> u64 {
        let mut sum = members.iter().fold(0_u64, |sum, member| {
            sum.wrapping_add(xxhash_rust::xxh3::xxh3_64(&super::naming::name_of(self.entities, *member)))
        });
        for following in self.following(members) {
            if let Ground::Decision(number) = following.ground {
                sum = sum.wrapping_add(xxhash_rust::xxh3::xxh3_64(&number.to_le_bytes()));
            }
        }
        for (_, id) in self.related_to(members) {
            sum = sum.wrapping_add(xxhash_rust::xxh3::xxh3_64(format!("related {id:x}").as_bytes()));
        }
        let source = |member: &Number| self.entities.name(*member).0;
        let mut sources: Vec<&str> = members.iter().map(source).collect();
        sources.sort_unstable_by_key(|source| (self.rank.get(source), *source));
        sources.dedup();
        if sources.len() > 1 {
            let ranks: Vec<bool> = sources.iter().map(|source| self.rank.contains_key(source)).collect();
            let order = format!("{sources:?}{ranks:?}");
            sum = sum.wrapping_add(xxhash_rust::xxh3::xxh3_64(order.as_bytes()));
        }
        // Never that of an entry of which nothing is known.
        sum.max(1)
    }

    /// The hash of what decides, beside members and records, what is written: profiles and weights.
    pub fn ways(&self) -> u64 {
        let mut text = String::new();
        for kind in [Kind::Instance, Kind::Work, Kind::Agent] {
            if let Some(evidence) = self.evidence.get(&kind) {
                let _ = write!(text, "\0{}\0{}", evidence.profile.hash, State::digest(&evidence.level.model));
            }
        }
        let _ = write!(text, "\0{}", self.texts.placing);
        // Never that of a master of which nothing is known.
        xxhash_rust::xxh3::xxh3_64(text.as_bytes()).max(1)
    }

    /// Hubs that were made from this one, or this one from them.
    fn related_to(&self, members: &[Number]) -> Vec<EntryKey> {
        let root = members.first().and_then(|member| self.groups.of.get(*member as usize));
        let related = root.and_then(|root| self.related.get(root)).into_iter().flatten();
        related.filter_map(|root| Some((self.entities.kind(*root), *self.naming.of.get(root)?))).collect()
    }

    /// What holds members together beside comparisons.
    fn following(&self, members: &[Number]) -> &[Following] {
        let root = members.first().and_then(|member| self.groups.of.get(*member as usize));
        root.and_then(|root| self.following.get(root)).map(Vec::as_slice).unwrap_or_default()
    }

    /// Makes the entries of `wanted`, each once, in the order in which they are complete; of those in
    /// `growth` only what their new members add.
    pub fn each(
        &self,
        wanted: &FxHashSet<EntryKey>,
        growth: &Growth,
        mut each: impl FnMut(Made) -> Result<(), PipelineError>,
        mut progress: impl FnMut(u64),
    ) -> Result<(), PipelineError> {
        // Which records have a member of a wanted entry.
        let mut records: Vec<u32> = Vec::new();
        let mut missing: FxHashMap<EntryKey, usize> = FxHashMap::default();
        for key in wanted {
            let grown = growth.members.get(key);
            let Some(members) = grown.or_else(|| self.naming.members.get(key)) else { continue };
            missing.insert(*key, members.len());
            records.extend(
                members.iter().filter_map(|member| Some(self.entities.all.get(*member as usize)?.record)),
            );
        }
        records.sort_unstable();
        records.dedup();
        // Records of one hub together, so that its entries are soon complete and what waits stays
        // little; else in the order of the archive, of which a block is read at a time.
        let mut places: Vec<(Number, u64, u32)> = Vec::with_capacity(records.len());
        for record in records {
            let Some((source, id)) = self.entities.records.get(record as usize) else { continue };
            let state = self.session.archive.record(source, id)?.unwrap_or_default();
            let sequence = state.current().map_or(0, |version| version.sequence);
            places.push((self.home_of(record), sequence, record));
        }
        places.sort_unstable();
        let mut waiting: FxHashMap<EntryKey, Gathered> = FxHashMap::default();
        let mut done = 0;
        for some in places.chunks(BATCH) {
            let mut read: Vec<(u32, Option<Entry>)> = Vec::with_capacity(some.len());
            for (_, sequence, record) in some {
                read.push((*record, self.session.archive.entry(*sequence)?));
            }
            let given: Vec<Vec<(EntryKey, Contribution)>> = read
                .into_par_iter()
                .map(|(record, entry)| self.of_record(record, entry, wanted, growth))
                .collect();
            let mut complete = Vec::new();
            for (key, contribution) in given.into_iter().flatten() {
                let gathered = waiting.entry(key).or_default();
                gathered.take(contribution);
                if missing.get(&key) == Some(&gathered.members.len())
                    && let Some(gathered) = waiting.remove(&key)
                {
                    complete.push((key, gathered.members));
                }
            }
            let made: Vec<Made> = complete
                .into_par_iter()
                .map(|(key, gathered)| match growth.members.contains_key(&key) {
                    true => Made::Added(self.add(key, &gathered)),
                    false => Made::Whole(self.merge(key, gathered)),
                })
                .collect();
            made.into_iter().try_for_each(&mut each)?;
            done += some.len() as u64;
            progress(done);
        }
        Ok(())
    }

    /// The hub of a record, or the instance if it has none.
    fn home_of(&self, record: u32) -> Number {
        let range = self.entities.of_record(record);
        let root = |kind: Kind| {
            let number = range.clone().find(|number| self.entities.kind(*number) == kind)?;
            self.groups.of.get(number as usize).copied()
        };
        root(Kind::Hub).or_else(|| root(Kind::Instance)).unwrap_or(range.start)
    }

    /// What a record gives to wanted entries.
    fn of_record(
        &self,
        record: u32,
        entry: Option<Entry>,
        wanted: &FxHashSet<EntryKey>,
        growth: &Growth,
    ) -> Vec<(EntryKey, Contribution)> {
        let Some((source, id)) = self.entities.records.get(record as usize) else { return Vec::new() };
        let graphs = &self.session.home.graphs;
        let name = graphs.record(source, id);
        let triples = entry.and_then(|entry| self.session.triples(&entry)).unwrap_or_default();
        let description = Description::new(&name, &triples, &self.texts.questionnaire.entries);
        let range = self.entities.of_record(record);
        let key = |number: Number| -> Option<EntryKey> {
            let root = self.groups.of.get(number as usize)?;
            Some((self.entities.kind(number), self.naming.of.get(root).copied()?))
        };
        let named = |node: &str| -> Option<NamedNode> {
            let place = range.clone().find(|number| self.entities.name(*number).2 == node)?;
            let (kind, id) = key(place)?;
            Some(graphs.entry(kind.name(), id))
        };
        let standing = Arc::new(Standing {
            source: source.clone(),
            complete: description.len(),
            modified: description.of_record(dcterms::MODIFIED).unwrap_or_default().into(),
        });
        let mut given = Vec::new();
        for number in range.clone() {
            let Some(key) = key(number).filter(|key| wanted.contains(key)) else { continue };
            if growth.is_known(key, number) {
                continue;
            }
            let node = self.entities.name(number).2;
            let entry = graphs.entry(key.0.name(), key.1);
            let triples = description.statements(node, &entry, &self.texts.levels, &named);
            let spare =
                if key.0 == Kind::Hub { description.labels_of(node, bf::EXPRESSION_OF) } else { Vec::new() };
            let said = Arc::new(Said { triples, spare });
            given.push((key, Contribution { number, standing: standing.clone(), said }));
        }
        given
    }

    /// What new members add to an entry.
    fn add(&self, key: EntryKey, gathered: &[Contribution]) -> Added {
        let (kind, id) = key;
        let graphs = &self.session.home.graphs;
        let entry = graphs.entry(kind.name(), id);
        let (mut labels, mut triples) = (Vec::new(), FxHashSet::default());
        for contribution in gathered {
            for triple in &contribution.said.triples {
                let is_own = triple.subject == entry.clone().into();
                if triple.predicate == rdfs::LABEL && is_own {
                    labels.push(triple.object.clone());
                } else {
                    triples.insert(triple.clone());
                }
            }
            triples.insert(Triple::new(entry.clone(), pin::MEMBER, self.node(graphs, contribution.number)));
        }
        let members = self.naming.members.get(&key).map(Vec::as_slice).unwrap_or_default();
        let mut resolution = Vec::new();
        self.resolution(key, &entry, members, &[], &mut resolution);
        let quads = triples.into_iter().map(|triple| triple.in_graph(GraphName::DefaultGraph)).collect();
        Added { key, members: self.member_hash(members), labels, quads, resolution }
    }

    /// Properties of which one value is preferred.
    pub fn single(&self, kind: Kind) -> impl Iterator<Item = &NamedNode> {
        self.preferring.get(&kind).into_iter().flat_map(|preferring| &preferring.single).map(|(name, _)| name)
    }

    /// When the run was started that makes a merge what it is.
    pub fn ended(&self, (kind, id): EntryKey) -> Quad {
        let graphs = &self.session.home.graphs;
        let time = Literal::new_typed_literal(self.time, xsd::DATE_TIME);
        Quad::new(graphs.merge(kind.name(), id), prov::ENDED_AT_TIME.into_owned(), time, graphs.resolution())
    }

    /// One entry of what its members give.
    fn merge(&self, key: EntryKey, mut gathered: Vec<Contribution>) -> Merged {
        gathered.sort_unstable_by_key(|contribution| contribution.number);
        let (kind, id) = key;
        let graphs = &self.session.home.graphs;
        let entry = graphs.entry(kind.name(), id);
        let about = Term::from(entry.clone());
        let is_own = |triple: &Triple| Term::from(triple.subject.clone()) == about;
        let mut triples: FxHashSet<Triple> = FxHashSet::default();
        let mut labels: Vec<(Term, usize)> = Vec::new();
        let mut known: FxHashSet<*const Said> = FxHashSet::default();
        for (member, contribution) in gathered.iter().enumerate() {
            let is_new = known.insert(Arc::as_ptr(&contribution.said));
            for triple in &contribution.said.triples {
                if triple.predicate == rdfs::LABEL && is_own(triple) {
                    labels.push((triple.object.clone(), member));
                } else if is_new {
                    triples.insert(triple.clone());
                }
            }
            triples.insert(Triple::new(entry.clone(), pin::MEMBER, self.node(graphs, contribution.number)));
        }
        let members: Vec<Number> = gathered.iter().map(|contribution| contribution.number).collect();
        for (kind, id) in self.related_to(&members) {
            let other = graphs.entry(kind.name(), id);
            triples.insert(Triple::new(entry.clone(), bf::RELATED_TO, other));
        }
        if labels.is_empty() {
            let spare = gathered.iter().enumerate();
            labels = spare
                .flat_map(|(member, one)| one.said.spare.iter().map(move |label| (label.clone(), member)))
                .collect();
        }
        fn candidates<'c>(values: &'c [(Term, usize)], gathered: &'c [Contribution]) -> Vec<Candidate<'c>> {
            let candidate = |(value, member): &'c (Term, usize)| Candidate {
                value,
                standing: &gathered[*member].standing,
                member: *member,
            };
            values.iter().map(candidate).collect()
        }
        let preferring = self.preferring.get(&kind);
        let mut preferences: Vec<(NamedNode, Term, Number, &'static str)> = Vec::new();
        if let Some(preferring) = preferring
            && let Some((best, reason)) = preferring.label(&candidates(&labels, &gathered))
        {
            let preferred = labels[best].0.clone();
            for (label, _) in &labels {
                let predicate = if *label == preferred { rdfs::LABEL } else { skos::ALT_LABEL };
                triples.insert(Triple::new(entry.clone(), predicate, label.clone()));
            }
            if labels.iter().any(|(label, _)| *label != preferred) {
                preferences.push((
                    rdfs::LABEL.into_owned(),
                    preferred,
                    gathered[labels[best].1].number,
                    reason,
                ));
            }
        }
        for (property, rules) in preferring.map(|preferring| preferring.single.as_slice()).unwrap_or_default()
        {
            let mut values: Vec<(Term, usize)> = Vec::new();
            for (member, contribution) in gathered.iter().enumerate() {
                let triples = contribution.said.triples.iter();
                let said = triples.filter(|triple| triple.predicate == *property && is_own(triple));
                values.extend(
                    said.filter(|triple| triple.object.is_literal())
                        .map(|triple| (triple.object.clone(), member)),
                );
            }
            let one = values.first().map(|(value, _)| value.clone());
            if values.iter().all(|(value, _)| Some(value) == one.as_ref()) {
                continue;
            }
            if let Some(preferring) = preferring
                && let Some((best, reason)) = preferring.value(rules, &candidates(&values, &gathered))
            {
                let member = gathered[values[best].1].number;
                preferences.push((property.clone(), values[best].0.clone(), member, reason));
            }
        }
        let mut quads: Vec<Quad> =
            triples.into_iter().map(|triple| triple.in_graph(GraphName::DefaultGraph)).collect();
        let is_explained = members.len() > 1 || !preferences.is_empty();
        if is_explained {
            self.resolution(key, &entry, &members, &preferences, &mut quads);
        }
        let hash = hash_of(&quads).max(1);
        // The time is none of what it says: a merge keeps that of the run that made it so.
        if is_explained {
            quads.push(self.ended(key));
        }
        Merged { key, hashes: (self.member_hash(&members), hash), quads }
    }

    /// How the entry came to be, for the graph of resolution.
    fn resolution(
        &self,
        (kind, id): EntryKey,
        entry: &NamedNode,
        members: &[Number],
        preferences: &[(NamedNode, Term, Number, &'static str)],
        quads: &mut Vec<Quad>,
    ) {
        let graphs = &self.session.home.graphs;
        let merge = graphs.merge(kind.name(), id);
        let graph = GraphName::from(graphs.resolution());
        let mut say = |subject: &NamedNode, predicate: NamedNodeRef<'_>, object: Term| {
            quads.push(Quad::new(subject.clone(), predicate.into_owned(), object, graph.clone()));
        };
        say(&merge, rdf::TYPE, pin::MERGE.into_owned().into());
        say(&merge, pin::ENTRY, entry.clone().into());
        say(&merge, prov::WAS_ASSOCIATED_WITH, graphs.agent(super::AGENT).into());
        for (property, value, member, reason) in preferences {
            let hash = xxhash_rust::xxh3::xxh3_64(property.as_str().as_bytes());
            let node = NamedNode::new_unchecked(format!("{}#preference-{hash:016x}", merge.as_str()));
            say(&merge, pin::PREFERENCE, node.clone().into());
            say(&node, rdf::TYPE, pin::PREFERENCE_CLASS.into_owned().into());
            say(&node, pin::PROPERTY, property.clone().into());
            say(&node, pin::PREFERRED_VALUE, value.clone());
            say(&node, prov::WAS_DERIVED_FROM, self.record(graphs, *member).into());
            say(&node, pin::REASON, Literal::new_simple_literal(*reason).into());
        }
        let Some(root) = members.first().and_then(|member| self.groups.of.get(*member as usize)) else {
            return;
        };
        let mut reasons: BTreeSet<String> = BTreeSet::new();
        for Following { left, right, ground } in self.following(members) {
            let reason = match ground {
                Ground::Decision(number) => {
                    let node = self.pair(&merge, *left, *right, &mut say);
                    say(&node, pin::REASON, Literal::new_simple_literal("a person joined them").into());
                    say(&node, prov::WAS_DERIVED_FROM, graphs.decision(*number).into());
                    continue;
                }
                Ground::Instances => "their instances are one",
                Ground::Expression => {
                    "they belong to one hub, and language, form, translators and performers are the same"
                }
                Ground::Works => "their works belong together",
                // Thousands may have a heading in common, so it is said once.
                Ground::Authority | Ground::Heading => {
                    reasons.extend(self.in_common(*left, *right, *ground));
                    continue;
                }
            };
            let node = self.pair(&merge, *left, *right, &mut say);
            say(&node, pin::REASON, Literal::new_simple_literal(reason).into());
        }
        for reason in reasons {
            say(&merge, pin::REASON, Literal::new_simple_literal(reason).into());
        }
        let Some(evidence) = self.evidence.get(&kind) else { return };
        let rules = evidence.profile.hash.to_string();
        say(&merge, pin::RULE_HASH, Literal::new_simple_literal(rules).into());
        for edge in evidence.pairs.get(root).into_iter().flatten() {
            let node = self.pair(&merge, edge.left, edge.right, &mut say);
            say(&node, pin::PROBABILITY, decimal(probability(edge.weight), 6));
            say(&node, pin::WEIGHT, decimal(edge.weight, 2));
            let levels = levels(&evidence.profile.profile, &evidence.level.model, edge.vector);
            say(&node, pin::LEVELS, Literal::new_simple_literal(levels).into());
        }
    }

    /// Says which two things a pair of a merge is; gives its name.
    fn pair(
        &self,
        merge: &NamedNode,
        left: Number,
        right: Number,
        say: &mut dyn FnMut(&NamedNode, NamedNodeRef<'_>, Term),
    ) -> NamedNode {
        let graphs = &self.session.home.graphs;
        let (left, right) = (self.node(graphs, left.min(right)), self.node(graphs, left.max(right)));
        let hash = xxhash_rust::xxh3::xxh3_64(format!("{left} {right}").as_bytes());
        let node = NamedNode::new_unchecked(format!("{}#pair-{hash:016x}", merge.as_str()));
        say(merge, pin::PAIR, node.clone().into());
        say(&node, rdf::TYPE, pin::PAIR_CLASS.into_owned().into());
        say(&node, pin::MEMBER, left.into());
        say(&node, pin::MEMBER, right.into());
        node
    }

    /// What makes a subject or place part of its entry: an entry of an authority file that another
    /// member has, or its heading.
    fn in_common(&self, known: Number, member: Number, ground: Ground) -> Option<String> {
        let values = |number: Number, feature: &'static str| {
            let said = self.entities.headings.get(&number).map(Vec::as_slice).unwrap_or_default();
            said.iter().filter(move |(known, _)| **known == *feature).map(|(_, value)| &**value)
        };
        if ground == Ground::Heading {
            return values(member, "label").next().map(|heading| format!("the heading {heading}"));
        }
        let mut shared = values(member, "identifier");
        let shared = shared.find(|one| values(known, "identifier").any(|other| other == *one));
        shared.map(|identifier| format!("the entry {identifier} of an authority file"))
    }

    fn node(&self, graphs: &Graphs, number: Number) -> NamedNode {
        let (source, id, node) = self.entities.name(number);
        NamedNode::new_unchecked(super::entity::absolute(graphs.record(source, id).as_str(), node))
    }

    fn record(&self, graphs: &Graphs, number: Number) -> NamedNode {
        let (source, id, _) = self.entities.name(number);
        graphs.record(source, id)
    }
}

/// The hash of some statements: a sum, for they have no order.
pub(super) fn hash_of<'q>(quads: impl IntoIterator<Item = &'q Quad>) -> u64 {
    let mut line = String::new();
    quads.into_iter().fold(0_u64, |sum, quad| {
        line.clear();
        let _ = write!(line, "{quad}");
        sum.wrapping_add(xxhash_rust::xxh3::xxh3_64(line.as_bytes()))
    })
}

pub(super) fn decimal(number: f64, digits: usize) -> Term {
    Literal::new_typed_literal(format!("{number:.digits$}"), xsd::DECIMAL).into()
}

/// What each comparison found, one a line: its name, its level, its weight in bits.
pub(super) fn levels(profile: &crate::resolve::profile::Profile, model: &Model, vector: Vector) -> String {
    let verdict = model.verdict(vector);
    let mut lines = Vec::new();
    for (at, compare) in profile.compare.iter().enumerate() {
        let level = compare.slot.level(vector);
        let part = verdict.parts.iter().find(|(first, second, _)| *first == at || *second == Some(at));
        if level == 0 {
            continue;
        }
        let bits = part.filter(|(first, ..)| *first == at).map_or(0.0, |(_, _, bits)| *bits);
        lines.push(format!("{} {} {bits:+.1}", compare.name, compare.level_name(level)));
    }
    lines.join("\n")
}

/// For each work the root of its hub; everything else is by itself.
pub(super) fn hubs_of_works(entities: &Entities, groups: &Groups) -> Vec<Number> {
    let mut of: Vec<Number> = (0..entities.len() as Number).collect();
    for (from, to) in &entities.links {
        if entities.kind(*from) == Kind::Work
            && entities.kind(*to) == Kind::Hub
            && let (Some(place), Some(root)) = (of.get_mut(*from as usize), groups.of.get(*to as usize))
        {
            *place = *root;
        }
    }
    of
}

/// The hubs of works that are not one and of which one was made from the other, by roots, both ways.
fn related_hubs(entities: &Entities, groups: &Groups) -> FxHashMap<Number, BTreeSet<Number>> {
    let root = |work: Number| groups.of.get(entities.hub_of(work)? as usize).copied();
    let mut related: FxHashMap<Number, BTreeSet<Number>> = FxHashMap::default();
    for edge in &groups.work.related {
        if let (Some(left), Some(right)) = (root(edge.left), root(edge.right))
            && left != right
        {
            related.entry(left).or_default().insert(right);
            related.entry(right).or_default().insert(left);
        }
    }
    related
}

/// For each group the strongest pairs that hold it together: one less than it has members.
pub(super) fn spanning(edges: &[Edge], of: &[Number]) -> FxHashMap<Number, Vec<Edge>> {
    let mut parent: FxHashMap<Number, Number> = FxHashMap::default();
    fn root(parent: &FxHashMap<Number, Number>, mut number: Number) -> Number {
        while let Some(next) = parent.get(&number) {
            number = *next;
        }
        number
    }
    let mut found: FxHashMap<Number, Vec<Edge>> = FxHashMap::default();
    for edge in edges {
        let group = of.get(edge.left as usize);
        if group.is_none() || group != of.get(edge.right as usize) {
            continue;
        }
        let (left, right) = (root(&parent, edge.left), root(&parent, edge.right));
        if left != right {
            parent.insert(left.max(right), left.min(right));
            found.entry(group.copied().unwrap_or(0)).or_default().push(*edge);
        }
    }
    found
}

impl From<ResolveError> for PipelineError {
    fn from(error: ResolveError) -> Self {
        Self::Resolve(error)
    }
}
