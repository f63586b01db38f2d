//! How rare a word is, and what its rarity is worth.
//!
//! Counted once over all records, then kept with the model: a record that arrives later is
//! weighed with the same weights, so comparing it does not change what was compared before.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// Weights are sixteenths of a bit, in whole numbers: their sums do not depend on an order.
pub const UNIT: u32 = 16;

/// In how many records words occur.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct Terms {
    records: u32,
    counts: FxHashMap<u32, u32>,
}

impl Terms {
    pub fn new(records: u32) -> Self {
        Self { records, counts: FxHashMap::default() }
    }

    /// Words that were counted before.
    pub fn counted(records: u32, counts: FxHashMap<u32, u32>) -> Self {
        Self { records, counts }
    }

    pub fn records(&self) -> u32 {
        self.records
    }

    /// Words and counts in the order of words.
    pub fn sorted(&self) -> Vec<(u32, u32)> {
        let mut sorted: Vec<(u32, u32)> = self.counts.iter().map(|(word, count)| (*word, *count)).collect();
        sorted.sort_unstable();
        sorted
    }

    pub fn extend(&mut self, words: impl Iterator<Item = u32>) {
        for word in words {
            *self.counts.entry(word).or_default() += 1;
        }
    }

    /// Forgets words that only one record has: not knowing them gives the same weight.
    pub fn settle(&mut self) {
        self.counts.retain(|_, count| *count > 1);
        self.counts.shrink_to_fit();
    }

    pub fn count(&self, word: u32) -> u32 {
        self.counts.get(&word).copied().unwrap_or(1)
    }

    /// log2(records / records with the word), at least half a bit.
    pub fn weight(&self, word: u32) -> u16 {
        let rarity = (f64::from(self.size()) + 1.0) / (f64::from(self.count(word)) + 0.5);
        let bits = rarity.log2().clamp(0.5, 30.0);
        (bits * f64::from(UNIT)).round() as u16
    }

    /// What it takes to tell one record from all others.
    pub fn telling(&self) -> u32 {
        (f64::from(self.size()).log2() * f64::from(UNIT)).round() as u32
    }

    /// Records among which words are rare or common. In a handful of them three copies of one book would make
    /// its title common; so a few more are thought of, which have other words.
    fn size(&self) -> u32 {
        const LEAST: u32 = 4096;
        self.records.max(LEAST)
    }
}
