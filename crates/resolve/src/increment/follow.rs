//! What is different from the last run, found out by looking at everything once.

use rayon::prelude::*;

use super::{Changes, Features, Handle, Name, State, Update};
use crate::cluster::{Clusters, Couples, Decisions, Edge, Refusal};
use crate::feature::{FeatureTable, Id};
use crate::fold::{hash64, mix};
use crate::profile::Profile;
use crate::{Resolution, strongest_first};
use rustc_hash::FxHashSet;

/// A table with the keys that queries gave its records.
struct Said<'a> {
    table: &'a FeatureTable,
    keys: Vec<(Id, &'a str)>,
}

impl<'a> Said<'a> {
    fn new(table: &'a FeatureTable, keys: &[(&'a str, Id)]) -> Self {
        let mut keys: Vec<(Id, &str)> = keys.iter().map(|(key, record)| (*record, *key)).collect();
        keys.sort_unstable();
        Self { table, keys }
    }

    fn keys_of(&self, record: Id) -> impl Iterator<Item = &'a str> {
        let start = self.keys.partition_point(|(other, _)| *other < record);
        let rest = self.keys.get(start..).unwrap_or_default().iter();
        rest.take_while(move |(other, _)| *other == record).map(|(_, key)| *key)
    }

    fn hash(&self, record: Id) -> u64 {
        let mut hash = 0;
        for feature in self.table.features() {
            let Some(column) = self.table.column(feature) else { continue };
            if !column.of(record).is_empty() {
                hash = mix(hash, hash64(feature));
            }
            hash = column.texts(record).fold(hash, |hash, value| mix(hash, hash64(value)));
        }
        self.keys_of(record).fold(mix(hash, 1), |hash, key| mix(hash, hash64(key)))
    }
}

impl Features for Said<'_> {
    fn rows(&self, source: &str, key: &str, add: &mut dyn FnMut(&str, &str)) {
        self.table.rows(source, key, add);
    }

    fn keys(&self, source: &str, key: &str, add: &mut dyn FnMut(&str)) {
        if let Some(record) = self.table.find(source, key) {
            self.keys_of(record).for_each(add);
        }
    }
}

/// A hash of what each record says.
pub(super) fn said(table: &FeatureTable, keys: &[(&str, Id)]) -> Vec<u64> {
    let said = Said::new(table, keys);
    (0..table.len() as Id).into_par_iter().map(|record| said.hash(record)).collect()
}

/// Two records that a person decided about, by their names.
type Decided<'a> = (Name<'a>, Name<'a>);

impl State {
    /// Whether this state can follow to a table. A feature that was unknown when the weights were
    /// learned has to be looked at in all records; and what went or changed keeps its handle, so a
    /// state that mostly consists of such is made anew.
    pub fn can_follow(&self, table: &FeatureTable) -> bool {
        let alive = self.alive.iter().filter(|is_alive| **is_alive).count();
        alive * 2 >= self.alive.len() && table.features().all(|feature| self.features.contains(feature))
    }

    /// Takes up whatever is different in all records there are and all decisions in force.
    pub fn follow(
        &mut self,
        table: &FeatureTable,
        profile: &Profile,
        keys: &[(&str, Id)],
        decisions: &Decisions,
    ) -> Update {
        let hashes = said(table, keys);
        let name = |record: Id| -> Name<'_> { (table.source_name(record), table.key(record)) };
        let mut changed: Vec<Name<'_>> = Vec::new();
        let mut met = vec![false; self.names.len()];
        for (record, hash) in (0..).zip(&hashes) {
            let (source, key) = name(record);
            match self.handle(source, key) {
                Some(handle) if self.said[handle as usize] == *hash => met[handle as usize] = true,
                _ => changed.push((source, key)),
            }
        }
        // A record that changed is not met under its old handle, and is not gone.
        let missed = (0..).zip(&met).filter(|(handle, met)| !**met && self.alive[*handle as usize]);
        let named = missed.map(|(handle, _)| self.name(handle));
        let gone: Vec<(String, String)> = named
            .filter(|(source, key)| table.find(source, key).is_none())
            .map(|(source, key)| (source.to_owned(), key.to_owned()))
            .collect();
        let gone: Vec<Name<'_>> = gone.iter().map(|(source, key)| (&**source, &**key)).collect();
        let (joins, nevers) = decisions.settled();
        let of_table = |couples: &Couples| -> Vec<Decided<'_>> {
            couples.iter().map(|(left, right)| (name(*left), name(*right))).collect()
        };
        let (joins, nevers) = (of_table(&joins), of_table(&nevers));
        let mut decided: Vec<(String, String)> = Vec::new();
        for (before, now) in [(&self.joins, &joins), (&self.nevers, &nevers)] {
            let before: Vec<Decided<'_>> =
                before.iter().map(|(left, right)| (self.name(*left), self.name(*right))).collect();
            let owned = |(source, key): Name<'_>| (source.to_owned(), key.to_owned());
            decided.extend(differing(&before, now).flat_map(|(left, right)| [owned(left), owned(right)]));
        }
        let decided: Vec<Name<'_>> = decided.iter().map(|(source, key)| (&**source, &**key)).collect();
        let changes =
            Changes { changed: &changed, gone: &gone, joins: &joins, nevers: &nevers, decided: &decided };
        let done = self.update(profile, &Said::new(table, keys), &changes);
        for (record, hash) in (0..).zip(&hashes) {
            let (source, key) = name(record);
            if let Some(handle) = self.handle(source, key) {
                self.said[handle as usize] = *hash;
            }
        }
        done
    }

    /// What a full run over this table would find; the state has followed to it.
    pub fn resolution(&self, table: &FeatureTable, done: &Update) -> Resolution {
        let mut number: Vec<Option<Id>> = vec![None; self.names.len()];
        for record in 0..table.len() as Id {
            if let Some(handle) = self.handle(table.source_name(record), table.key(record)) {
                number[handle as usize] = Some(record);
            }
        }
        let id = |handle: Handle| number.get(handle as usize).copied().flatten().unwrap_or(0);
        let mut edges: Vec<Edge> = self
            .pairs()
            .map(|edge| {
                let (left, right) = (id(edge.left), id(edge.right));
                Edge { left: left.min(right), right: left.max(right), ..edge }
            })
            .collect();
        strongest_first(&mut edges);
        // Of each group the smallest number stands for it, and handles have another order.
        let mut smallest = vec![Id::MAX; self.names.len()];
        for (handle, record) in number.iter().enumerate() {
            if let Some(record) = record {
                let group = self.group_of(handle as Handle) as usize;
                smallest[group] = smallest[group].min(*record);
            }
        }
        let mut of: Vec<Id> = (0..table.len() as Id).collect();
        for (handle, record) in number.iter().enumerate() {
            if let Some(record) = record {
                of[*record as usize] = smallest[self.group_of(handle as Handle) as usize];
            }
        }
        let ordered = |refusal: Refusal| {
            let refusal = refusal.renamed(id);
            let (left, right) = (refusal.left.min(refusal.right), refusal.left.max(refusal.right));
            Refusal { left, right, ..refusal }
        };
        let refused = self.refused.iter().cloned().map(ordered).collect();
        Resolution {
            model: self.model.clone(),
            clusters: Clusters { of, refused, looked: 0 },
            edges,
            blocking: done.blocking.clone(),
            compared: done.compared,
        }
    }
}

/// What is in one list and not in the other. Order counts among decisions: where those that both
/// lists have come in another order, all of them differ.
fn differing<'a>(before: &[Decided<'a>], now: &[Decided<'a>]) -> impl Iterator<Item = Decided<'a>> {
    let (old, new): (FxHashSet<&Decided<'a>>, FxHashSet<&Decided<'a>>) =
        (before.iter().collect(), now.iter().collect());
    let in_order =
        before.iter().filter(|one| new.contains(one)).eq(now.iter().filter(|one| old.contains(one)));
    let only = |list: &[Decided<'a>], other: &FxHashSet<&Decided<'a>>| -> Vec<Decided<'a>> {
        list.iter().filter(|one| !in_order || !other.contains(one)).copied().collect()
    };
    only(before, &new).into_iter().chain(only(now, &old))
}
