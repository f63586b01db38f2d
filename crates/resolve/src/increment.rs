//! Some records came, changed or went: what follows from it?
//!
//! Only what they touch is looked at: the blocks they enter or leave, the pairs of these blocks,
//! and the groups those pairs hold together. With the same model the result is that of a full
//! run, record for record.
//!
//! What is kept from run to run is the [`State`]: the model, every record's name under a *handle*
//! that never changes, the keys, the pairs from the review band upwards, and the groups. A
//! changed record gets a new handle, and its old one dies with its keys and pairs. Features are
//! not kept; those of the records that are touched are asked for. [`State::follow`] finds out by
//! itself what changed, for of each record a hash of what it says is kept too.

mod file;
mod follow;

pub use self::file::StateError;

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use rustc_hash::{FxHashMap, FxHashSet};

use super::block::{Blocker, Blocking, Keyed, Pair, largest, pack, unpack};
use super::cluster::{Decisions, Edge, Refusal};
use super::compare::{Comparer, Vector};
use super::feature::{Builder, FeatureTable, Id};
use super::fold::{hash64, mix};
use super::profile::Profile;
use super::score::Model;
use super::split::{Places, Splitter};
use super::{Floor, Resolution, unite, weigh};

/// A record's number in a state.
pub type Handle = u32;

/// Where the features of records are.
pub trait Features {
    /// Calls `add` with every feature and value of a record.
    fn rows(&self, source: &str, key: &str, add: &mut dyn FnMut(&str, &str));

    /// Calls `add` with every key that queries give a record; the profile's own are computed.
    fn keys(&self, source: &str, key: &str, add: &mut dyn FnMut(&str)) {
        let _ = (source, key, add);
    }
}

impl Features for FeatureTable {
    fn rows(&self, source: &str, key: &str, add: &mut dyn FnMut(&str, &str)) {
        let Some(record) = self.find(source, key) else { return };
        for feature in self.features() {
            for value in self.values(record, feature) {
                add(feature, value);
            }
        }
    }
}

/// What is known between runs.
pub struct State {
    pub model: Model,
    names: Vec<(u32, Box<str>)>,
    sources: Vec<Box<str>>,
    alive: Vec<bool>,
    by_name: FxHashMap<u64, Handle>,
    /// Sorted runs, the largest first.
    keys: Vec<Vec<Keyed>>,
    edges: FxHashMap<Handle, Vec<(Handle, Vector, f64)>>,
    group: Vec<Handle>,
    /// What splits large blocks, of each record.
    places: Places,
    /// A hash of what each record says, and the features there were.
    said: Vec<u64>,
    features: BTreeSet<Box<str>>,
    /// People's decisions that count, in their order.
    joins: Vec<(Handle, Handle)>,
    nevers: Vec<(Handle, Handle)>,
    refused: Vec<Refusal>,
}

/// What an update did.
#[derive(Debug, Default)]
pub struct Update {
    /// Pairs compared, for blocks and for groups.
    pub compared: u64,
    /// The blocks that were entered or left.
    pub blocking: Blocking,
    /// Records whose features were asked for.
    pub read: u64,
    /// Groups that were formed anew, by the handles of their members.
    pub regrouped: Vec<Vec<Handle>>,
}

/// A block that has to be split, before or after the change.
struct Large {
    key: u64,
    before: Vec<Handle>,
    after: Vec<Handle>,
}

/// A record by source and key.
pub type Name<'a> = (&'a str, &'a str);

/// A decision of a person about two records.
pub type Named<'a> = (Name<'a>, Name<'a>);

/// What is different from the last run.
#[derive(Clone, Copy, Default)]
pub struct Changes<'a> {
    /// Records that are new or say something else.
    pub changed: &'a [Name<'a>],
    /// Records that are no more.
    pub gone: &'a [Name<'a>],
    /// All joins in force, in their order.
    pub joins: &'a [Named<'a>],
    /// All nevers in force.
    pub nevers: &'a [Named<'a>],
    /// Records about which a decision is new or was withdrawn.
    pub decided: &'a [Name<'a>],
}

impl State {
    /// The state after a full run, which had these keys of queries and these decisions.
    pub fn of(
        table: &FeatureTable,
        profile: &Profile,
        resolution: &Resolution,
        keys: &[(&str, Id)],
        decisions: &Decisions,
        budget: usize,
    ) -> io::Result<Self> {
        let (joins, nevers) = decisions.settled();
        let said = follow::said(table, keys);
        let comparer = Comparer::new(table, profile, Some(&resolution.model));
        let blocker = Blocker::new(&comparer, budget);
        let rows: Vec<Keyed> = keys.iter().map(|(key, record)| (blocker.row_key(key), *record)).collect();
        let keys: Vec<Keyed> = blocker.sorted_keys(&rows)?.list()?;
        let mut state = Self {
            model: resolution.model.clone(),
            names: Vec::with_capacity(table.len()),
            sources: table.sources().to_vec(),
            alive: vec![true; table.len()],
            by_name: FxHashMap::default(),
            keys: vec![keys],
            edges: FxHashMap::default(),
            group: resolution.clusters.of.clone(),
            places: blocker.places().clone(),
            said,
            features: table.features().map(Into::into).collect(),
            joins,
            nevers,
            refused: resolution.clusters.refused.clone(),
        };
        for record in 0..table.len() as u32 {
            state.names.push((table.source(record), table.key(record).into()));
            state.by_name.insert(name_hash(table.source_name(record), table.key(record)), record);
        }
        for edge in &resolution.edges {
            state.link(edge.left, edge.right, edge.vector, edge.weight);
        }
        Ok(state)
    }

    pub fn handle(&self, source: &str, key: &str) -> Option<Handle> {
        self.by_name.get(&name_hash(source, key)).copied().filter(|handle| self.alive[*handle as usize])
    }

    pub fn name(&self, handle: Handle) -> (&str, &str) {
        self.names
            .get(handle as usize)
            .map_or(("", ""), |(source, key)| (&self.sources[*source as usize], key))
    }

    /// The pairs from the review band upwards, each once.
    pub fn pairs(&self) -> impl Iterator<Item = Edge> + '_ {
        self.edges.iter().flat_map(|(left, edges)| {
            let once = edges.iter().filter(move |(right, ..)| left < right);
            once.map(move |(right, vector, weight)| Edge {
                left: *left,
                right: *right,
                vector: *vector,
                weight: *weight,
            })
        })
    }

    /// All that share a key with one of these, and they themselves. A key that is too common to
    /// tell anything brings nobody.
    pub fn near(&self, profile: &Profile, handles: &[Handle]) -> BTreeSet<Handle> {
        let asked: FxHashSet<Handle> = handles.iter().copied().collect();
        let all = self.keys.iter().flatten();
        let keys: BTreeSet<u64> =
            all.filter(|(_, handle)| asked.contains(handle)).map(|(key, _)| *key).collect();
        let mut near: BTreeSet<Handle> = handles.iter().copied().collect();
        for key in keys {
            let members = self.members(key);
            if members.len() <= largest(profile, key) {
                near.extend(members);
            }
        }
        near
    }

    /// The handle that stands for the group of this one.
    pub fn group_of(&self, handle: Handle) -> Handle {
        self.group.get(handle as usize).copied().unwrap_or(handle)
    }

    /// The groups of more than one, each by the sorted names of its members.
    pub fn groups(&self) -> BTreeSet<Vec<(String, String)>> {
        let mut groups: FxHashMap<Handle, Vec<(String, String)>> = FxHashMap::default();
        for handle in (0..self.names.len() as u32).filter(|handle| self.alive[*handle as usize]) {
            let (source, key) = self.name(handle);
            groups.entry(self.group[handle as usize]).or_default().push((source.into(), key.into()));
        }
        groups
            .into_values()
            .filter(|members| members.len() > 1)
            .map(|mut members| {
                members.sort_unstable();
                members
            })
            .collect()
    }

    /// Takes up changes.
    pub fn update(&mut self, profile: &Profile, features: &dyn Features, changes: &Changes<'_>) -> Update {
        let Changes { changed, gone, decided, .. } = *changes;
        let mut done = Update::default();
        let mut touched: BTreeSet<Handle> = BTreeSet::new();
        // What was there before is dead from here on.
        let mut dead: FxHashSet<Handle> = FxHashSet::default();
        for (source, key) in changed.iter().chain(gone) {
            if let Some(handle) = self.handle(source, key) {
                dead.insert(handle);
            }
        }
        let dead_keys: BTreeSet<u64> = match dead.is_empty() {
            true => BTreeSet::new(),
            false => {
                let all = self.keys.iter().flatten();
                all.filter(|(_, handle)| dead.contains(handle)).map(|(key, _)| *key).collect()
            }
        };
        let fresh: Vec<Handle> = changed.iter().map(|(source, key)| self.enter(source, key)).collect();
        let (fresh_keys, places) = self.read_keys(profile, features, &fresh, &mut done);
        for handle in &fresh {
            self.places.push(places.get(handle).map_or(&[], Vec::as_slice));
        }
        let mut dirty: BTreeMap<u64, Vec<Handle>> = BTreeMap::new();
        for (key, handle) in &fresh_keys {
            dirty.entry(*key).or_default().push(*handle);
        }
        for key in &dead_keys {
            dirty.entry(*key).or_default();
        }
        let mut proposed: BTreeSet<Pair> = BTreeSet::new();
        let mut withdrawn: BTreeSet<Pair> = BTreeSet::new();
        let mut large: Vec<Large> = Vec::new();
        done.blocking.keys = fresh_keys.len() as u64;
        for (key, arrived) in &dirty {
            let before = self.members(*key);
            let stayed: Vec<Handle> =
                before.iter().copied().filter(|handle| !dead.contains(handle)).collect();
            let after: Vec<Handle> = stayed.iter().chain(arrived).copied().collect();
            let most = largest(profile, *key);
            done.blocking.blocks += u64::from(after.len() > 1);
            done.blocking.split += u64::from(after.len() > most);
            done.blocking.largest = done.blocking.largest.max(after.len());
            if before.len() <= most && after.len() <= most {
                for new in arrived {
                    proposed
                        .extend(after.iter().filter(|other| *other != new).map(|other| pack(*new, *other)));
                }
            } else {
                large.push(Large { key: *key, before, after });
            }
        }
        self.large_blocks(profile, &large, &dead, &mut proposed, &mut withdrawn);
        self.add_keys(fresh_keys);
        for handle in &dead {
            self.alive[*handle as usize] = false;
            for (other, _, _) in self.edges.remove(handle).unwrap_or_default() {
                if let Some(edges) = self.edges.get_mut(&other) {
                    edges.retain(|edge| edge.0 != *handle);
                }
                touched.insert(other);
            }
        }
        // Their groups may fall apart without them.
        let broken: FxHashSet<Handle> = dead.iter().map(|handle| self.group[*handle as usize]).collect();
        if !broken.is_empty() {
            let all =
                (0..self.names.len() as u32).filter(|handle| broken.contains(&self.group[*handle as usize]));
            touched.extend(all);
        }
        for pair in withdrawn {
            let (left, right) = unpack(pair);
            if !proposed.contains(&pair) && !self.is_proposed(profile, features, left, right, &mut done) {
                for (from, to) in [(left, right), (right, left)] {
                    if let Some(edges) = self.edges.get_mut(&from) {
                        edges.retain(|edge| edge.0 != to);
                    }
                }
                touched.extend([left, right]);
            }
        }
        self.compare(profile, features, &proposed, &mut touched, &mut done);
        touched.extend(&fresh);
        touched.extend(decided.iter().filter_map(|(source, key)| self.handle(source, key)));
        self.regroup(profile, features, touched, changes, &mut done);
        done.blocking.pairs = done.compared;
        done
    }

    /// What blocks that have to be split propose now, and do not propose any more.
    fn large_blocks(
        &self,
        profile: &Profile,
        large: &[Large],
        dead: &FxHashSet<Handle>,
        proposed: &mut BTreeSet<Pair>,
        withdrawn: &mut BTreeSet<Pair>,
    ) {
        let is_dead = |pair: &Pair| dead.contains(&unpack(*pair).0) || dead.contains(&unpack(*pair).1);
        for block in large {
            let before = self.pairs_of(profile, block.key, &block.before);
            let after = self.pairs_of(profile, block.key, &block.after);
            proposed.extend(after.difference(&before));
            withdrawn.extend(before.difference(&after).filter(|pair| !is_dead(pair)));
        }
        let linked = |pair: &Pair| self.edge(unpack(*pair).0, unpack(*pair).1).is_some();
        withdrawn.retain(linked);
        proposed.retain(|pair| !linked(pair));
    }

    fn enter(&mut self, source: &str, key: &str) -> Handle {
        let place = match self.sources.iter().position(|name| **name == *source) {
            Some(place) => place,
            None => {
                self.sources.push(source.into());
                self.sources.len() - 1
            }
        };
        let handle = self.names.len() as u32;
        self.names.push((place as u32, key.into()));
        self.alive.push(true);
        self.group.push(handle);
        self.said.push(0);
        self.by_name.insert(name_hash(source, key), handle);
        handle
    }

    fn link(&mut self, left: Handle, right: Handle, vector: Vector, weight: f64) {
        self.edges.entry(left).or_default().push((right, vector, weight));
        self.edges.entry(right).or_default().push((left, vector, weight));
    }

    fn edge(&self, left: Handle, right: Handle) -> Option<f64> {
        self.edges.get(&left)?.iter().find(|edge| edge.0 == right).map(|edge| edge.2)
    }

    /// Who has a key and is alive.
    fn members(&self, key: u64) -> Vec<Handle> {
        let mut members = Vec::new();
        for run in &self.keys {
            let start = run.partition_point(|keyed| keyed.0 < key);
            let found = run.get(start..).unwrap_or_default().iter().take_while(|keyed| keyed.0 == key);
            members.extend(found.map(|keyed| keyed.1).filter(|handle| self.alive[*handle as usize]));
        }
        members
    }

    fn add_keys(&mut self, mut keys: Vec<Keyed>) {
        keys.sort_unstable();
        self.keys.push(keys);
        // Runs are merged when a small one has grown to a good part of the one before.
        while let [.., before, last] = &self.keys[..]
            && last.len() * 4 > before.len()
        {
            let last = self.keys.pop().unwrap_or_default();
            let mut merged = self.keys.pop().unwrap_or_default();
            merged.extend(last);
            merged.retain(|keyed| self.alive[keyed.1 as usize]);
            merged.sort_unstable();
            self.keys.push(merged);
        }
    }

    /// A small table of these records, and whose handle each of its numbers is.
    fn table(
        &self,
        features: &dyn Features,
        handles: &[Handle],
        done: &mut Update,
    ) -> (FeatureTable, Vec<Handle>) {
        let mut builder = Builder::default();
        for handle in handles {
            let (source, key) = self.name(*handle);
            let record = builder.record(source, key);
            features.rows(source, key, &mut |feature, value| builder.add(record, feature, value));
            done.read += 1;
        }
        let table = builder.finish();
        let of = (0..table.len() as u32)
            .filter_map(|record| {
                self.by_name.get(&name_hash(table.source_name(record), table.key(record))).copied()
            })
            .collect();
        (table, of)
    }

    /// The keys of some records, and the place of each in the order of handles.
    fn read_keys(
        &self,
        profile: &Profile,
        features: &dyn Features,
        handles: &[Handle],
        done: &mut Update,
    ) -> (Vec<Keyed>, BTreeMap<Handle, Vec<u32>>) {
        let (table, of) = self.table(features, handles, done);
        let comparer = Comparer::new(&table, profile, Some(&self.model));
        let blocker = Blocker::new(&comparer, usize::MAX);
        let mut keys = Vec::new();
        for record in 0..table.len() as u32 {
            blocker.keys(record, &mut keys);
            let mut add = |key: &str| keys.push((blocker.row_key(key), record));
            features.keys(table.source_name(record), table.key(record), &mut add);
        }
        keys.sort_unstable();
        keys.dedup();
        let keys = keys.iter().map(|(key, record)| (*key, of[*record as usize])).collect();
        let places =
            of.iter().enumerate().map(|(id, handle)| (*handle, blocker.places().of(id as Id).to_vec()));
        (keys, places.collect())
    }

    /// What a block proposes. The full run has records in the order of their names.
    fn pairs_of(&self, profile: &Profile, key: u64, members: &[Handle]) -> FxHashSet<Pair> {
        let mut of = members.to_vec();
        of.sort_unstable_by_key(|handle| self.name(*handle));
        let source = |id: Id| self.names[of[id as usize] as usize].0;
        let splitter = Splitter {
            profile,
            place: |id: Id| self.places.of(of[id as usize]),
            is_excluded: |left, right| {
                source(left) == source(right)
                    && profile.unique_sources.contains(&self.sources[source(left) as usize])
            },
        };
        let records: Vec<Id> = (0..of.len() as u32).collect();
        let mut pairs = Vec::new();
        splitter.pairs(largest(profile, key), &records, &mut pairs);
        let named = pairs.into_iter().map(unpack);
        named.map(|(left, right)| pack(of[left as usize], of[right as usize])).collect()
    }

    /// Whether any block proposes a pair.
    fn is_proposed(
        &self,
        profile: &Profile,
        features: &dyn Features,
        left: Handle,
        right: Handle,
        done: &mut Update,
    ) -> bool {
        let (keys, _) = self.read_keys(profile, features, &[left, right], done);
        let shared =
            keys.windows(2).filter(|two| two[0].0 == two[1].0 && two[0].1 != two[1].1).map(|two| two[0].0);
        shared.into_iter().any(|key| {
            let members = self.members(key);
            members.len() <= largest(profile, key)
                || self.pairs_of(profile, key, &members).contains(&pack(left, right))
        })
    }

    fn compare(
        &mut self,
        profile: &Profile,
        features: &dyn Features,
        proposed: &BTreeSet<Pair>,
        touched: &mut BTreeSet<Handle>,
        done: &mut Update,
    ) {
        let handles: BTreeSet<Handle> =
            proposed.iter().flat_map(|pair| [unpack(*pair).0, unpack(*pair).1]).collect();
        let handles: Vec<Handle> = handles.into_iter().collect();
        let (table, of) = self.table(features, &handles, done);
        let number: FxHashMap<Handle, Id> =
            of.iter().enumerate().map(|(id, handle)| (*handle, id as u32)).collect();
        let comparer = Comparer::new(&table, profile, Some(&self.model));
        let blocker = Blocker::new(&comparer, usize::MAX);
        let floor = Floor::new(profile);
        let mut kept = Vec::new();
        for pair in proposed {
            let (left, right) = unpack(*pair);
            let (Some(a), Some(b)) = (number.get(&left), number.get(&right)) else { continue };
            if blocker.is_excluded(*a, *b) {
                continue;
            }
            done.compared += 1;
            // Comparing is symmetric but for ties within; the full run has the smaller name first.
            let vector = comparer.vector(*a.min(b), *a.max(b));
            if floor.admits(vector) {
                kept.push((*pair, vector));
            }
        }
        for edge in weigh(profile, &self.model, &kept) {
            self.link(edge.left, edge.right, edge.vector, edge.weight);
            touched.extend([edge.left, edge.right]);
        }
    }

    /// Forms the groups of everything that hangs together with what was touched.
    fn regroup(
        &mut self,
        profile: &Profile,
        features: &dyn Features,
        touched: BTreeSet<Handle>,
        changes: &Changes<'_>,
        done: &mut Update,
    ) {
        let merge = super::score::weight_of(profile.bands.merge);
        let pairs = |named: &[Named<'_>]| -> Vec<(Handle, Handle)> {
            let found = named
                .iter()
                .map(|(left, right)| Some((self.handle(left.0, left.1)?, self.handle(right.0, right.1)?)));
            found.flatten().collect()
        };
        let (joins, nevers) = (pairs(changes.joins), pairs(changes.nevers));
        let mut joined: FxHashMap<Handle, Vec<Handle>> = FxHashMap::default();
        for (left, right) in &joins {
            joined.entry(*left).or_default().push(*right);
            joined.entry(*right).or_default().push(*left);
        }
        let mut handles: Vec<Handle> =
            touched.into_iter().filter(|handle| self.alive[*handle as usize]).collect();
        let mut seen: FxHashSet<Handle> = handles.iter().copied().collect();
        let mut at = 0;
        while let Some(handle) = handles.get(at).copied() {
            at += 1;
            let strong =
                self.edges.get(&handle).map_or(&[][..], Vec::as_slice).iter().filter(|edge| edge.2 >= merge);
            let near: Vec<Handle> =
                strong.map(|edge| edge.0).chain(joined.get(&handle).into_iter().flatten().copied()).collect();
            handles
                .extend(near.into_iter().filter(|other| self.alive[*other as usize] && seen.insert(*other)));
        }
        let (table, of) = self.table(features, &handles, done);
        let number: FxHashMap<Handle, Id> =
            of.iter().enumerate().map(|(id, handle)| (*handle, id as u32)).collect();
        let comparer = Comparer::new(&table, profile, Some(&self.model));
        let blocker = Blocker::new(&comparer, usize::MAX);
        let mut edges = Vec::new();
        for (handle, id) in &number {
            for (other, vector, weight) in self.edges.get(handle).map_or(&[][..], Vec::as_slice) {
                if let Some(other) = number.get(other)
                    && id < other
                {
                    edges.push(Edge { left: *id, right: *other, vector: *vector, weight: *weight });
                }
            }
        }
        let mut decisions = Decisions::default();
        for (list, together) in [(&joins, true), (&nevers, false)] {
            for (left, right) in list {
                if let (Some(a), Some(b)) = (number.get(left), number.get(right)) {
                    if together { decisions.join(*a, *b) } else { decisions.never(*a, *b) }
                }
            }
        }
        let clusters = unite(&comparer, &blocker, &self.model, &edges, &decisions);
        done.compared += clusters.looked;
        let mut regrouped: BTreeMap<Id, Vec<Handle>> = BTreeMap::new();
        for (id, root) in clusters.of.iter().enumerate() {
            self.group[of[id] as usize] = of[*root as usize];
            regrouped.entry(*root).or_default().push(of[id]);
        }
        done.regrouped = regrouped.into_values().collect();
        // What is refused hangs together, so it was judged again as a whole.
        let is_settled = |refusal: &Refusal| {
            [refusal.left, refusal.right]
                .iter()
                .all(|handle| self.alive[*handle as usize] && !number.contains_key(handle))
        };
        self.refused.retain(is_settled);
        let named = clusters.refused.into_iter().map(|refusal| refusal.renamed(|id| of[id as usize]));
        self.refused.extend(named);
        (self.joins, self.nevers) = (joins, nevers);
    }
}

fn name_hash(source: &str, key: &str) -> u64 {
    mix(hash64(source), hash64(key))
}
