//! Which pairs are worth comparing?
//!
//! Records that share a key form a *block*, and every two of a block become a pair. Keys are
//! computed here from the profile, or come as rows (key, record) from queries. Keys and pairs
//! are sorted outside memory when they outgrow it, so a pair comes out once and in order.
//!
//! A block that is too large is split by further features ([`split`]), never dropped. This module
//! judges no pair.

use std::io;
use std::sync::OnceLock;

use rayon::prelude::*;

use super::compare::{Comparer, Read};
use super::feature::Id;
use super::fold::{hash32, hash64, mix};
use super::profile::{Function, KeyPart, Profile};
use super::spill::{Sorted, Spill};
use super::split::{self, Places, Splitter};

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
/// The rule of a key is kept in its lower bits.
const RULE_BITS: u32 = 6;

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

impl Blocking {
    fn add(&mut self, other: &Self) {
        self.keys += other.keys;
        self.blocks += other.blocks;
        self.split += other.split;
        self.largest = self.largest.max(other.largest);
        self.pairs += other.pairs;
    }
}

/// Makes keys and pairs for one table.
pub struct Blocker<'a> {
    comparer: &'a Comparer<'a>,
    /// How many keys or pairs are held in memory.
    budget: usize,
    unique: Vec<bool>,
    /// What keys are made of, each once, and for each rule the places of its parts.
    parts: Vec<KeyPart>,
    rules: Vec<Vec<usize>>,
    /// Where each record stands in a block that is too large.
    places: OnceLock<Places>,
}

/// Lists that are filled again for every record.
#[derive(Default)]
struct Scratch {
    words: Vec<u32>,
    /// For each part of a key its numbers.
    numbers: Vec<Vec<u64>>,
    keys: Vec<u64>,
    longer: Vec<u64>,
}

impl<'a> Blocker<'a> {
    pub fn new(comparer: &'a Comparer<'a>, budget: usize) -> Self {
        let profile = comparer.profile();
        let names = &profile.unique_sources;
        let unique = comparer.table().sources().iter().map(|source| names.contains(source)).collect();
        let mut parts: Vec<KeyPart> = Vec::new();
        let mut place = |part: &KeyPart| {
            parts.iter().position(|known| known == part).unwrap_or_else(|| {
                parts.push(part.clone());
                parts.len() - 1
            })
        };
        let rules = profile.blocks.iter().map(|block| block.parts.iter().map(&mut place).collect()).collect();
        Self { comparer, budget, unique, parts, rules, places: OnceLock::new() }
    }

    /// Whether both are of one source that has no duplicates.
    pub fn is_excluded(&self, left: Id, right: Id) -> bool {
        let source = self.comparer.table().source(left);
        source == self.comparer.table().source(right) && self.unique.get(source as usize) == Some(&true)
    }

    /// The keys of one record, all rules.
    pub fn keys(&self, record: Id, into: &mut Vec<Keyed>) {
        self.keys_with(&mut Scratch::default(), record, into);
    }

    fn keys_with(&self, scratch: &mut Scratch, record: Id, into: &mut Vec<Keyed>) {
        let Scratch { words, numbers, keys, longer } = scratch;
        numbers.resize_with(self.parts.len(), Vec::new);
        for (part, numbers) in self.parts.iter().zip(numbers.iter_mut()) {
            numbers.clear();
            self.numbers(part, record, words, numbers);
            if numbers.len() > 1 {
                numbers.sort_unstable();
                numbers.dedup();
                numbers.truncate(MOST_KEYS);
            }
        }
        for (rule, parts) in self.rules.iter().enumerate() {
            if parts.iter().any(|part| numbers[*part].is_empty()) {
                continue;
            }
            keys.clear();
            keys.push(0);
            for part in parts {
                longer.clear();
                longer.extend(
                    keys.iter().flat_map(|key| numbers[*part].iter().map(|number| mix(*key, *number))),
                );
                std::mem::swap(keys, longer);
            }
            keys.truncate(MOST_KEYS);
            into.extend(keys.iter().map(|key| (of_rule(*key, rule), record)));
        }
    }

    /// The rules under which two records have a key in common.
    pub fn shared_rules(&self, left: Id, right: Id) -> Vec<String> {
        let (mut a, mut b) = (Vec::new(), Vec::new());
        self.keys(left, &mut a);
        self.keys(right, &mut b);
        let shared = |key: u64| b.iter().any(|(other, _)| *other == key);
        let mut rules: Vec<usize> =
            a.iter().filter(|(key, _)| shared(*key)).map(|(key, _)| rule_of(*key)).collect();
        rules.sort_unstable();
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
                .fold(<(Scratch, Vec<Keyed>)>::default, |(mut scratch, mut keys), record| {
                    self.keys_with(&mut scratch, record, &mut keys);
                    (scratch, keys)
                })
                .map(|(_, keys)| keys)
                .collect();
            for some in keys {
                spill.push(some)?;
            }
        }
        spill.push(rows.to_vec())?;
        spill.sorted()
    }

    /// Every pair that shares a key, once, in order.
    pub fn pairs(&self, keys: Sorted<Keyed>) -> io::Result<(Sorted<Pair>, Blocking)> {
        // So many pieces of keys are dealt with at once.
        const STEP: usize = 64;
        let mut spill = Spill::new(self.budget);
        let mut done = Blocking::default();
        let mut pieces = keys.pieces();
        loop {
            let some = pieces.by_ref().take(STEP).collect::<io::Result<Vec<Vec<Keyed>>>>()?;
            if some.is_empty() {
                break;
            }
            let found: Vec<(Vec<Pair>, Blocking)> = some.par_iter().map(|keys| self.piece(keys)).collect();
            for (pairs, part) in found {
                spill.push(pairs)?;
                done.add(&part);
            }
        }
        Ok((spill.sorted()?, done))
    }

    /// The pairs of a few blocks.
    fn piece(&self, keys: &[Keyed]) -> (Vec<Pair>, Blocking) {
        let mut pairs = Vec::new();
        let mut done = Blocking { keys: keys.len() as u64, ..Blocking::default() };
        let mut block: Vec<Id> = Vec::new();
        for same in keys.chunk_by(|left, right| left.0 == right.0) {
            if let [(key, _), _, ..] = same {
                block.clear();
                block.extend(same.iter().map(|keyed| keyed.1));
                self.block(*key, &block, &mut pairs, &mut done);
            }
        }
        // The same pair often comes of several rules for one title.
        pairs.sort_unstable();
        pairs.dedup();
        (pairs, done)
    }

    fn block(&self, key: u64, records: &[Id], pairs: &mut Vec<Pair>, done: &mut Blocking) {
        done.blocks += 1;
        done.largest = done.largest.max(records.len());
        done.split += u64::from(self.block_pairs(key, records, pairs));
    }

    /// The pairs of one block; whether it had to be split.
    pub fn block_pairs(&self, key: u64, records: &[Id], pairs: &mut Vec<Pair>) -> bool {
        let profile = self.comparer.profile();
        let place = |record| self.places().of(record);
        let splitter = Splitter { profile, place, is_excluded: |left, right| self.is_excluded(left, right) };
        splitter.pairs(largest(profile, key), records, pairs)
    }

    /// What splits blocks that are too large, of every record.
    pub fn places(&self) -> &Places {
        self.places.get_or_init(|| {
            const STEP: u32 = 1 << 12;
            let records = self.comparer.table().len() as u32;
            let starts: Vec<u32> = (0..records).step_by(STEP as usize).collect();
            let lists: Vec<Vec<Vec<u32>>> = starts
                .into_par_iter()
                .map(|start| {
                    let mut scratch = <(Vec<u32>, Vec<u64>)>::default();
                    (start..records.min(start + STEP))
                        .map(|record| self.place(record, &mut scratch))
                        .collect()
                })
                .collect();
            let mut places = Places::default();
            lists.iter().flatten().for_each(|place| places.push(place));
            places
        })
    }

    fn place(&self, record: Id, (words, numbers): &mut (Vec<u32>, Vec<u64>)) -> Vec<u32> {
        let mut place = Vec::new();
        for (at, part) in self.comparer.profile().split.iter().enumerate() {
            numbers.clear();
            self.numbers(part, record, words, numbers);
            split::add(&mut place, at, numbers);
        }
        place
    }

    /// What a part of a key is for a record, as numbers.
    fn numbers(&self, part: &KeyPart, record: Id, words: &mut Vec<u32>, into: &mut Vec<u64>) {
        let Some(column) = self.comparer.column(part.comparison) else { return };
        words.clear();
        match self.comparer.read(part.comparison) {
            Read::Years(years) => {
                years.exact(column, record, words);
                into.extend(words.iter().map(|year| u64::from(*year)));
            }
            read => {
                for value in column.of(record) {
                    words.clear();
                    match (read, part.function) {
                        (Read::Title(titles), Function::Value) => into.extend(titles.whole(*value)),
                        (Read::Title(titles), Function::Proper) => into.extend(titles.proper(*value)),
                        (Read::Title(titles), Function::Rare(most)) => {
                            titles.rarest(*value, most, words);
                            into.extend(words.iter().map(|word| u64::from(*word)));
                        }
                        (Read::Title(titles), Function::Pairs(most)) => {
                            titles.rarest(*value, most, words);
                            for (at, left) in words.iter().enumerate() {
                                for right in words.iter().skip(at + 1) {
                                    into.push(pack(*left, *right));
                                }
                            }
                        }
                        (Read::Title(titles), Function::First(most)) => {
                            titles.first(*value, most, words);
                            if words.len() == most {
                                into.push(words.iter().fold(0, |key, word| mix(key, u64::from(*word))));
                            }
                        }
                        (Read::Title(titles), Function::Grams(bands)) => titles.grams(*value, bands, into),
                        (Read::Names(names), function) => {
                            match function {
                                Function::Sound => names.sounds(*value, words),
                                Function::Words => names.words(*value, words),
                                _ => names.surnames(*value, words),
                            }
                            into.extend(words.iter().map(|word| u64::from(*word)));
                        }
                        (Read::Identifiers(identifiers), _) if identifiers.counts(*value) => {
                            into.push(hash64(column.strings().get(*value)));
                        }
                        (Read::Numbered(numbers), _) => into.extend(numbers.key(*value)),
                        (Read::Codes(codes), _) => into.push(u64::from(codes.code(*value))),
                        (Read::Extents(extents), _) => {
                            let pages = extents.pages(*value);
                            into.extend((pages > 0).then_some(u64::from(pages)));
                        }
                        (Read::Texts(texts), function) => into.extend(letters(texts.text(*value), function)),
                        (Read::Phrases(phrases), function) => {
                            into.extend(letters(phrases.text(*value), function))
                        }
                        _ => {}
                    }
                }
            }
        }
    }
}

/// How many records may share this key before the block is split.
pub fn largest(profile: &Profile, key: u64) -> usize {
    let rule = rule_of(key);
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

/// A key with its rule in the lower bits, so that blocks of one rule know their limit.
fn of_rule(key: u64, rule: usize) -> u64 {
    key << RULE_BITS | rule as u64
}

fn rule_of(key: u64) -> usize {
    (key % (1 << RULE_BITS)) as usize
}
