//! Numbers apart from words: the parts of a whole, and other numbers in titles.

use super::card;
use super::title::Titles;
use crate::feature::{Column, Id};

/// Levels, best first. `partial`: all numbers of one are among those of the other; `overlap`: each has some that
/// the other lacks.
pub const LEVELS: &[&str] = &["same", "partial", "one-sided", "overlap", "different"];
const SAME: u8 = 1;
const PARTIAL: u8 = 2;
const ONE_SIDED: u8 = 3;
const OVERLAP: u8 = 4;
const DIFFERENT: u8 = 5;

/// Which numbers of a title are meant.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Numbers {
    /// `v. 2`, `second part`
    OfParts,
    /// `Agenda 21`, `1914-1918`
    InTitles,
}

/// How the numbers of two records go together.
pub fn level(a: &Set, b: &Set) -> u8 {
    let (a, b) = (a.get(), b.get());
    if a.is_empty() && b.is_empty() {
        return 0;
    }
    if a.is_empty() || b.is_empty() {
        return ONE_SIDED;
    }
    let shared = a.iter().filter(|number| b.contains(number)).count();
    match (shared == a.len(), shared == b.len()) {
        (true, true) => SAME,
        _ if shared == 0 => DIFFERENT,
        (false, false) => OVERLAP,
        _ => PARTIAL,
    }
}

/// As [`level`], of two cards.
pub fn by_cards(left: u32, right: u32) -> Option<u8> {
    match (left, right) {
        (card::NOTHING, card::NOTHING) => Some(0),
        (card::NOTHING, _) | (_, card::NOTHING) => Some(ONE_SIDED),
        (card::MANY, _) | (_, card::MANY) => None,
        _ => Some(if left == right { SAME } else { DIFFERENT }),
    }
}

/// The numbers of one record, gathered from several columns without allocation.
#[derive(Default)]
pub struct Set {
    numbers: [u32; 16],
    count: usize,
}

impl Set {
    /// Adds what the record's titles in one column say.
    pub fn gather(&mut self, titles: &Titles, column: &Column, numbers: Numbers, record: Id) {
        for value in column.of(record) {
            let found = match numbers {
                Numbers::OfParts => titles.parts(*value),
                Numbers::InTitles => titles.numbers(*value),
            };
            found.iter().for_each(|number| self.insert(*number));
        }
    }

    /// The number, where there is one.
    pub fn card(&self) -> u32 {
        match self.get() {
            [] => card::NOTHING,
            [one] if *one < card::MANY - 1 => one + 1,
            _ => card::MANY,
        }
    }

    fn insert(&mut self, number: u32) {
        if self.count < self.numbers.len() && !self.get().contains(&number) {
            self.numbers[self.count] = number;
            self.count += 1;
        }
    }

    fn get(&self) -> &[u32] {
        &self.numbers[..self.count]
    }
}
