//! Which pairs are worth comparing?
//!
//! Records that share a key form a *block*, and every two of a block become a pair. Keys are
//! computed here from the profile, or come as rows (key, record) from queries. Keys and pairs
//! are sorted outside memory when they outgrow it, so a pair comes out once and in order.
//!
//! A block that is too large is split by further features, never dropped; what cannot be split
//! is ordered by content, and neighbours are paired. This module judges no pair.

use std::io;

use rayon::prelude::*;

use super::compare::{Comparer, Read};
use super::feature::Id;
use super::fold::{hash32, hash64, mix};
use super::profile::{Function, KeyPart, Profile};
use super::spill::{Sorted, Spill};

/// A key's number and a record that has it.
pub type Keyed = (u64, Id);

/// Two records, the smaller number first, packed.
pub type Pair = u64;

pub fn pack(left: Id, right: Id) -> Pair {
    let (low, high) = if left < right { (left, right) } else { (right, left) };
    (u64::from(low) << 32) | u64::from(high)
}

pub fn unpack(pair: Pair) -> (Id, Id) {
    ((pair >> 32) as u32, pair as u32)
}

/// More keys than this of one rule say that the rule does not fit the record.
const MOST_KEYS: usize = 24;
/// The rule of a key is kept in its upper bits.
const RULE_SHIFT: u32 = 58;

/// What blocking did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Blocking {
    pub keys: u64,
    pub blocks: u64,
    /// Blocks that had to be split.
    pub split: u64,
    pub largest: usize,
    pub pairs: u64,
}

/// Makes keys and pairs for one table.
pub struct Blocker<'a> {
    comparer: &'a Comparer<'a>,
    /// How many keys or pairs are held in memory.
    budget: usize,
    unique: Vec<bool>,
}

impl<'a> Blocker<'a> {
    pub fn new(comparer: &'a Comparer<'a>, budget: usize) -> Self {
        let names = &comparer.profile().unique_sources;
        let unique = comparer.table().sources().iter().map(|source| names.contains(source)).collect();
        Self { comparer, budget, unique }
    }

    /// Whether both are of one source that has no duplicates.
    pub fn is_excluded(&self, left: Id, right: Id) -> bool {
        let source = self.comparer.table().source(left);
        source == self.comparer.table().source(right) && self.unique.get(source as usize) == Some(&true)
    }

    /// The keys of one record, all rules.
    pub fn keys(&self, record: Id, into: &mut Vec<Keyed>) {
        let mut numbers = Vec::new();
        for (rule, block) in self.comparer.profile().blocks.iter().enumerate() {
            let mut keys = vec![0_u64];
            for part in &block.parts {
                numbers.clear();
                self.numbers(part, record, &mut numbers);
                numbers.sort_unstable();
                numbers.dedup();
                numbers.truncate(MOST_KEYS);
                keys = keys.iter().flat_map(|key| numbers.iter().map(|number| mix(*key, *number))).collect();
                if keys.is_empty() {
                    break;
                }
            }
            keys.truncate(MOST_KEYS);
            into.extend(keys.into_iter().map(|key| (of_rule(key, rule), record)));
        }
    }

    /// The rules under which two records have a key in common.
    pub fn shared_rules(&self, left: Id, right: Id) -> Vec<String> {
        let (mut a, mut b) = (Vec::new(), Vec::new());
        self.keys(left, &mut a);
        self.keys(right, &mut b);
        let shared = |key: u64| b.iter().any(|(other, _)| *other == key);
        let mut rules: Vec<usize> =
            a.iter().filter(|(key, _)| shared(*key)).map(|(key, _)| (key >> RULE_SHIFT) as usize).collect();
        rules.dedup();
        let blocks = &self.comparer.profile().blocks;
        rules.iter().filter_map(|rule| blocks.get(*rule)).map(|block| block.name.to_string()).collect()
    }

    /// The key of a row that a query gave.
    pub fn row_key(&self, key: &str) -> u64 {
        of_rule(hash64(key), 63)
    }

    /// All keys, sorted. `rows` are those of queries.
    pub fn sorted_keys(&self, rows: &[Keyed]) -> io::Result<Sorted<Keyed>> {
        let mut spill = Spill::new(self.budget);
        let records = self.comparer.table().len() as u32;
        const STEP: u32 = 1 << 15;
        for start in (0..records).step_by(STEP as usize) {
            let end = records.min(start + STEP);
            let keys: Vec<Vec<Keyed>> = (start..end)
                .into_par_iter()
                .with_min_len(512)
                .fold(Vec::new, |mut keys, record| {
                    self.keys(record, &mut keys);
                    keys
                })
                .collect();
            for some in keys {
                spill.extend(&some)?;
            }
        }
        spill.extend(rows)?;
        spill.sorted()
    }

    /// Every pair that shares a key, once, in order.
    pub fn pairs(&self, keys: Sorted<Keyed>) -> io::Result<(Sorted<Pair>, Blocking)> {
        let mut spill = Spill::new(self.budget);
        let mut done = Blocking::default();
        let mut block: Vec<Id> = Vec::new();
        let mut pairs: Vec<Pair> = Vec::new();
        let mut current = 0;
        for keyed in keys {
            let (key, record) = keyed?;
            done.keys += 1;
            if key != current {
                self.block(current, &block, &mut pairs, &mut done);
                block.clear();
                current = key;
                if pairs.len() > 1 << 16 {
                    spill.extend(&pairs)?;
                    pairs.clear();
                }
            }
            block.push(record);
        }
        self.block(current, &block, &mut pairs, &mut done);
        spill.extend(&pairs)?;
        Ok((spill.sorted()?, done))
    }

    fn block(&self, key: u64, records: &[Id], pairs: &mut Vec<Pair>, done: &mut Blocking) {
        if records.len() < 2 {
            return;
        }
        done.blocks += 1;
        done.largest = done.largest.max(records.len());
        done.split += u64::from(self.block_pairs(key, records, pairs));
    }

    /// The pairs of one block; whether it had to be split.
    pub fn block_pairs(&self, key: u64, records: &[Id], pairs: &mut Vec<Pair>) -> bool {
        let largest = largest(self.comparer.profile(), key);
        if records.len() <= largest {
            self.every_two(records, pairs);
            return false;
        }
        self.split(records, largest, 0, pairs);
        self.neighbours(records, pairs);
        true
    }

    fn every_two(&self, records: &[Id], pairs: &mut Vec<Pair>) {
        for (at, left) in records.iter().enumerate() {
            for right in records.iter().skip(at + 1) {
                if left != right && !self.is_excluded(*left, *right) {
                    pairs.push(pack(*left, *right));
                }
            }
        }
    }

    fn split(&self, records: &[Id], largest: usize, depth: usize, pairs: &mut Vec<Pair>) {
        let Some(part) = self.comparer.profile().split.get(depth) else { return };
        let mut numbers = Vec::new();
        let mut keyed: Vec<(u64, Id)> = Vec::new();
        for record in records {
            numbers.clear();
            self.numbers(part, *record, &mut numbers);
            numbers.truncate(4);
            if numbers.is_empty() {
                numbers.push(0);
            }
            keyed.extend(numbers.iter().map(|number| (*number, *record)));
        }
        keyed.sort_unstable();
        keyed.dedup();
        for group in keyed.chunk_by(|left, right| left.0 == right.0) {
            let records: Vec<Id> = group.iter().map(|(_, record)| *record).collect();
            if records.len() <= largest {
                self.every_two(&records, pairs);
            } else {
                self.split(&records, largest, depth + 1, pairs);
            }
        }
    }

    /// Orders by content and pairs what stands near.
    fn neighbours(&self, records: &[Id], pairs: &mut Vec<Pair>) {
        let profile = self.comparer.profile();
        let mut numbers = Vec::new();
        let mut ordered: Vec<(Vec<u64>, Id)> = records
            .iter()
            .map(|record| {
                let mut place = Vec::with_capacity(profile.split.len());
                for part in profile.split.iter().rev() {
                    numbers.clear();
                    self.numbers(part, *record, &mut numbers);
                    place.push(numbers.iter().min().copied().unwrap_or(0));
                }
                (place, *record)
            })
            .collect();
        ordered.sort_unstable();
        for (at, (_, left)) in ordered.iter().enumerate() {
            for (_, right) in ordered.iter().skip(at + 1).take(profile.window) {
                if !self.is_excluded(*left, *right) {
                    pairs.push(pack(*left, *right));
                }
            }
        }
    }

    /// What a part of a key is for a record, as numbers.
    fn numbers(&self, part: &KeyPart, record: Id, into: &mut Vec<u64>) {
        let Some(column) = self.comparer.column(part.comparison) else { return };
        let mut words = Vec::new();
        match self.comparer.read(part.comparison) {
            Read::Years(years) => {
                years.exact(column, record, &mut words);
                into.extend(words.iter().map(|year| u64::from(*year)));
            }
            read => {
                for value in column.of(record) {
                    words.clear();
                    match (read, part.function) {
                        (Read::Title(titles), Function::Value) => into.extend(titles.whole(*value)),
                        (Read::Title(titles), Function::Proper) => into.extend(titles.proper(*value)),
                        (Read::Title(titles), Function::Rare(most)) => {
                            titles.rarest(*value, most, &mut words);
                            into.extend(words.iter().map(|word| u64::from(*word)));
                        }
                        (Read::Title(titles), Function::Pairs(most)) => {
                            titles.rarest(*value, most, &mut words);
                            for (at, left) in words.iter().enumerate() {
                                for right in words.iter().skip(at + 1) {
                                    into.push(pack(*left, *right));
                                }
                            }
                        }
                        (Read::Title(titles), Function::First(most)) => {
                            titles.first(*value, most, &mut words);
                            if words.len() == most {
                                into.push(words.iter().fold(0, |key, word| mix(key, u64::from(*word))));
                            }
                        }
                        (Read::Names(names), function) => {
                            match function {
                                Function::Sound => names.sounds(*value, &mut words),
                                Function::Words => names.words(*value, &mut words),
                                _ => names.surnames(*value, &mut words),
                            }
                            into.extend(words.iter().map(|word| u64::from(*word)));
                        }
                        (Read::Identifiers(identifiers), _) if identifiers.counts(*value) => {
                            into.push(hash64(column.strings().get(*value)));
                        }
                        (Read::Codes(codes), _) => into.push(u64::from(codes.code(*value))),
                        (Read::Extents(extents), _) => {
                            let pages = extents.pages(*value);
                            into.extend((pages > 0).then_some(u64::from(pages)));
                        }
                        (Read::Texts(texts), function) => into.extend(letters(texts.text(*value), function)),
                        (Read::Phrases(phrases), function) => into.extend(letters(phrases.text(*value), function)),
                        _ => {}
                    }
                }
            }
        }
    }
}

/// How many records may share this key before the block is split.
pub fn largest(profile: &Profile, key: u64) -> usize {
    let rule = (key >> RULE_SHIFT) as usize;
    let most = || profile.blocks.iter().map(|block| block.largest).max().unwrap_or(40);
    profile.blocks.get(rule).map_or_else(most, |block| block.largest)
}

fn letters(text: &str, function: Function) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    match function {
        Function::Prefix(most) => {
            let end = text.char_indices().nth(most).map_or(text.len(), |(at, _)| at);
            text.get(..end).map(|start| u64::from(hash32(start)))
        }
        _ => Some(hash64(text)),
    }
}

/// A key with its rule in the upper bits, so that blocks of one rule know their limit.
fn of_rule(key: u64, rule: usize) -> u64 {
    (key >> (64 - RULE_SHIFT)) | ((rule as u64) << RULE_SHIFT)
}
