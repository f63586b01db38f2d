//! Long texts by the words they have in common: tables of contents, track lists.
//!
//! Of each text the words with the smallest hashes are kept. They are a sample that is drawn the same
//! way everywhere, so what two samples have in common tells what the texts have in common (Broder).

use rayon::prelude::*;

use super::card;
use crate::feature::{Column, Id};
use crate::fold::{fold, hash32};
use crate::words::Words;

/// Levels, best first.
pub const LEVELS: &[&str] = &["same", "similar", "different"];
const SAME: u8 = 1;
const SIMILAR: u8 = 2;
const DIFFERENT: u8 = 3;

/// Words kept of each text.
const SAMPLE: usize = 48;
/// A text of fewer words says nothing.
const LEAST: usize = 4;

/// The texts of a column, sampled.
pub struct Contents {
    samples: Vec<Box<[u32]>>,
}

impl Contents {
    pub fn read(column: &Column, words: &Words) -> Self {
        let count = column.strings().len() as u32;
        let read = |value| {
            let folded = fold(column.strings().get(value));
            let says = |word: &&str| word.len() > 1 && !words.small.contains(*word);
            let mut sample: Vec<u32> = folded.split(' ').filter(says).map(hash32).collect();
            sample.sort_unstable();
            sample.dedup();
            sample.truncate(SAMPLE);
            if sample.len() < LEAST { Box::default() } else { sample.into_boxed_slice() }
        };
        Self { samples: (0..count).into_par_iter().map(read).collect() }
    }

    pub fn level(&self, column: &Column, left: Id, right: Id) -> u8 {
        let mut best = 0;
        for a in column.of(left).iter().map(|value| &self.samples[*value as usize]) {
            for b in column.of(right).iter().map(|value| &self.samples[*value as usize]) {
                if !a.is_empty() && !b.is_empty() {
                    let level = compare(a, b);
                    best = if best == 0 { level } else { level.min(best) };
                }
            }
        }
        best
    }

    pub fn card(&self, column: &Column, record: Id) -> u32 {
        let is_there = |value: &u32| !self.samples[*value as usize].is_empty();
        if column.of(record).iter().any(is_there) { card::MANY } else { card::NOTHING }
    }
}

fn compare(a: &[u32], b: &[u32]) -> u8 {
    let shared = a.iter().filter(|word| b.binary_search(word).is_ok()).count();
    // One table of contents may be cut short, so the shorter one counts.
    match shared * 100 / a.len().min(b.len()) {
        65.. => SAME,
        35.. => SIMILAR,
        _ => DIFFERENT,
    }
}
