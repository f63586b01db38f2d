//! Is an entry already in the merged set? Several agents look, each in its own part.
//!
//! The profile assigns *sets* of agents to content types (`[[agents]]`). An entry goes to the set
//! of its type, with the evidence for it, and no other set sees it. The m agents of a set own
//! disjoint *shards* that together hold every merged entry of the type; which shard owns an entry
//! follows from its name alone. The first agent that finds the entry stops the others.
//!
//! A [`Shard`] is a plain value, keys and numbers, that can be sent to another machine; looking
//! through one is a function of the shard and the entry. What is found tells *that* an entry is
//! known. Which group it joins is left to [`cluster`](super::cluster), which does not depend on
//! who was first.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::block::{Blocker, Keyed, largest};
use super::compare::Comparer;
use super::feature::{FeatureTable, Id};
use super::fold::{fold, hash64};
use super::profile::Profile;
use super::score::{Model, weight_of};

/// Where an entry goes, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Route {
    /// The set's place in the profile; none when nothing tells the type.
    pub set: Option<usize>,
    pub content_type: Option<String>,
    pub evidence: String,
}

/// One agent's part of the merged set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    /// The name of the set of agents.
    pub set: String,
    /// Which of how many.
    pub number: u32,
    pub of: u32,
    pub members: Vec<Id>,
    /// The members' keys, sorted.
    pub keys: Vec<Keyed>,
}

impl Shard {
    /// Members that share a key with an entry, those that share most first. A key that too many
    /// have brings only those that share another one too.
    pub fn candidates(&self, profile: &Profile, keys: &[Keyed]) -> Vec<Id> {
        let mut shared: FxHashMap<Id, (u32, bool)> = FxHashMap::default();
        for (key, entry) in keys {
            let start = self.keys.partition_point(|keyed| keyed.0 < *key);
            let rest = self.keys.get(start..).unwrap_or_default();
            let same = &rest[..rest.partition_point(|keyed| keyed.0 == *key)];
            let is_small = same.len() <= largest(profile, *key);
            for (_, member) in same.iter().filter(|keyed| keyed.1 != *entry) {
                let (count, is_near) = shared.entry(*member).or_default();
                *count += 1;
                *is_near |= is_small;
            }
        }
        let mut candidates: Vec<(u32, Id)> = shared
            .into_iter()
            .filter(|(_, (count, is_near))| *is_near || *count > 1)
            .map(|(member, (count, _))| (count, member))
            .collect();
        candidates.sort_unstable_by_key(|(count, member)| (u32::MAX - count, *member));
        candidates.into_iter().map(|(_, member)| member).collect()
    }
}

/// What looking for one entry came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Search {
    pub route: Route,
    pub found: Option<Found>,
    /// Pairs compared until it was found, and pairs to compare without stopping.
    pub compared: u64,
    pub without_stop: u64,
}

/// The merged entry that an agent found.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    pub member: Id,
    /// The agent: its set and number.
    pub set: String,
    pub agent: u32,
    pub weight: f64,
}

/// What all searches came to, by set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    pub sets: BTreeMap<String, SetReport>,
    pub entries: u64,
    pub found: u64,
    pub compared: u64,
    pub without_stop: u64,
}

/// The agents of a set and what they own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SetReport {
    /// How many agents there are: m.
    pub agents: u32,
    /// How many merged entries each owns.
    pub shards: Vec<usize>,
    /// Entries that were looked for in it.
    pub entries: u64,
}

/// Shares the merged set out and asks the agents.
pub struct Dispatch<'a> {
    comparer: &'a Comparer<'a>,
    blocker: &'a Blocker<'a>,
    model: &'a Model,
    router: Router<'a>,
    /// By set of the profile; after them one shard of entries of unknown type.
    shards: Vec<Vec<Shard>>,
    report: Report,
}

/// The set of entries of which nothing tells the type. Everyone may have to do with them.
const UNKNOWN: &str = "unknown type";

impl<'a> Dispatch<'a> {
    pub fn new(
        comparer: &'a Comparer<'a>,
        blocker: &'a Blocker<'a>,
        model: &'a Model,
        merged: &[Id],
    ) -> Self {
        let profile = comparer.profile();
        let router = Router::new(comparer.table(), profile);
        let mut shards: Vec<Vec<Shard>> = sets(profile)
            .map(|(name, count)| {
                let shard = |number| Shard {
                    set: name.into(),
                    number,
                    of: count,
                    members: Vec::new(),
                    keys: Vec::new(),
                };
                (0..count).map(shard).collect()
            })
            .collect();
        for entry in merged {
            let set = router.route(*entry).set.unwrap_or(profile.agents.len());
            let owner = owner(comparer.table(), *entry, shards[set].len());
            let shard = &mut shards[set][owner];
            shard.members.push(*entry);
            blocker.keys(*entry, &mut shard.keys);
        }
        shards.iter_mut().flatten().for_each(|shard| shard.keys.sort_unstable());
        let report = Report { sets: owned(comparer.table(), profile, merged), ..Report::default() };
        Self { comparer, blocker, model, router, shards, report }
    }

    /// The work of all agents.
    pub fn shards(&self) -> impl Iterator<Item = &Shard> {
        self.shards.iter().flatten()
    }

    pub fn report(&self) -> &Report {
        &self.report
    }

    /// Asks the agents of an entry's type. All compare one candidate at a time, and stop when one
    /// of them has found it.
    pub fn look_for(&mut self, entry: Id) -> Search {
        let profile = self.comparer.profile();
        let route = self.router.route(entry);
        let unknown = profile.agents.len();
        let asked: Vec<usize> = match route.set {
            Some(set) => vec![set, unknown],
            None => (0..=unknown).collect(),
        };
        let mut keys = Vec::new();
        self.blocker.keys(entry, &mut keys);
        let agents: Vec<(&Shard, Vec<Id>)> = asked
            .iter()
            .flat_map(|set| &self.shards[*set])
            .map(|shard| (shard, shard.candidates(profile, &keys)))
            .collect();
        let rounds = agents.iter().map(|(_, candidates)| candidates.len()).max().unwrap_or(0);
        let without_stop = agents.iter().map(|(_, candidates)| candidates.len() as u64).sum();
        let mut compared = 0;
        let mut found: Option<Found> = None;
        for round in 0..rounds {
            for (shard, candidates) in &agents {
                let Some(member) = candidates.get(round) else { continue };
                compared += 1;
                let best = found.as_ref().map_or(weight_of(profile.bands.merge), |found| found.weight);
                // Of two that find it in the same round the better one is first.
                if let Some(weight) = self.weight(entry, *member).filter(|weight| *weight >= best) {
                    found =
                        Some(Found { member: *member, set: shard.set.clone(), agent: shard.number, weight });
                }
            }
            if found.is_some() {
                break;
            }
        }
        for set in &asked {
            if let Some(told) =
                self.shards[*set].first().and_then(|shard| self.report.sets.get_mut(&shard.set))
            {
                told.entries += 1;
            }
        }
        self.report.entries += 1;
        self.report.found += u64::from(found.is_some());
        self.report.compared += compared;
        self.report.without_stop += without_stop;
        Search { route, found, compared, without_stop }
    }

    fn weight(&self, entry: Id, member: Id) -> Option<f64> {
        if self.blocker.is_excluded(entry, member) {
            return None;
        }
        let vector = self.comparer.vector(entry.min(member), entry.max(member));
        self.comparer.profile().veto(vector).is_none().then(|| self.model.weight(vector))
    }
}

/// Tells the content type of entries: what they say, or what they have that only one type has.
pub struct Router<'a> {
    table: &'a FeatureTable,
    profile: &'a Profile,
    /// The set of each value that tells the type.
    of_value: Vec<Option<usize>>,
}

impl<'a> Router<'a> {
    pub fn new(table: &'a FeatureTable, profile: &'a Profile) -> Self {
        let types: Vec<Vec<String>> =
            profile.agents.iter().map(|set| set.types.iter().map(|kind| fold(kind)).collect()).collect();
        let set_of = |value: &str| {
            let folded = fold(value);
            types.iter().position(|types| types.contains(&folded))
        };
        let of_value = table.column(&profile.agents_by).map_or_else(Vec::new, |column| {
            let values = column.strings();
            (0..values.len() as u32).map(|value| set_of(values.get(value))).collect()
        });
        Self { table, profile, of_value }
    }

    pub fn route(&self, entry: Id) -> Route {
        let (table, profile) = (self.table, self.profile);
        if let Some(column) = table.column(&profile.agents_by) {
            for value in column.of(entry) {
                let Some(Some(set)) = self.of_value.get(*value as usize) else { continue };
                let value = column.strings().get(*value);
                let evidence = format!("`{}` is `{value}`", profile.agents_by);
                return Route { set: Some(*set), content_type: Some(value.to_owned()), evidence };
            }
        }
        for (set, agents) in profile.agents.iter().enumerate() {
            let has =
                |feature: &str| table.column(feature).is_some_and(|column| !column.of(entry).is_empty());
            if let Some(feature) = agents.has.iter().find(|feature| has(feature)) {
                let content_type = agents.types.first().map(ToString::to_string);
                return Route { set: Some(set), content_type, evidence: format!("it has `{feature}`") };
            }
        }
        Route { set: None, content_type: None, evidence: "nothing tells the type".to_owned() }
    }
}

/// The agents of each set, and how many of these entries each of them owns.
pub fn owned(table: &FeatureTable, profile: &Profile, merged: &[Id]) -> BTreeMap<String, SetReport> {
    let router = Router::new(table, profile);
    let mut sets: Vec<(&str, Vec<usize>)> =
        sets(profile).map(|(name, count)| (name, vec![0; count as usize])).collect();
    for entry in merged {
        let set = router.route(*entry).set.unwrap_or(profile.agents.len());
        let owner = owner(table, *entry, sets[set].1.len());
        sets[set].1[owner] += 1;
    }
    let told = |shards: Vec<usize>| SetReport { agents: shards.len() as u32, shards, entries: 0 };
    sets.into_iter().map(|(name, shards)| (name.to_owned(), told(shards))).collect()
}

/// The sets of a profile with their number of agents, and the one for the rest.
fn sets(profile: &Profile) -> impl Iterator<Item = (&str, u32)> {
    profile.agents.iter().map(|set| (&*set.name, set.count)).chain([(UNKNOWN, 1)])
}

/// Which of so many shards owns an entry.
fn owner(table: &FeatureTable, entry: Id, shards: usize) -> usize {
    let name = format!("{}\0{}", table.source_name(entry), table.key(entry));
    (hash64(&name) % shards.max(1) as u64) as usize
}
