//! Numbers apart from words: the parts of a whole, and other numbers in titles.

use super::title::Titles;
use crate::resolve::feature::{Column, Id};

/// Levels, best first.
pub const LEVELS: &[&str] = &["same", "partial", "one-sided", "different"];
const SAME: u8 = 1;
const PARTIAL: u8 = 2;
const ONE_SIDED: u8 = 3;
const DIFFERENT: u8 = 4;

/// Which numbers of a title are meant.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Numbers {
    /// `v. 2`, `second part`
    OfParts,
    /// `Agenda 21`, `1914-1918`
    InTitles,
}

/// The numbers two records have, gathered from several columns.
pub fn level(columns: &[(&Titles, &Column)], numbers: Numbers, left: Id, right: Id) -> u8 {
    let (mut a, mut b) = (Set::default(), Set::default());
    for (titles, column) in columns {
        for (record, set) in [(left, &mut a), (right, &mut b)] {
            for value in column.of(record) {
                let found = match numbers {
                    Numbers::OfParts => titles.parts(*value),
                    Numbers::InTitles => titles.numbers(*value),
                };
                found.iter().for_each(|number| set.insert(*number));
            }
        }
    }
    let (a, b) = (a.get(), b.get());
    if a.is_empty() && b.is_empty() {
        return 0;
    }
    if a.is_empty() || b.is_empty() {
        return ONE_SIDED;
    }
    let shared = a.iter().filter(|number| b.contains(number)).count();
    if shared == a.len() && shared == b.len() {
        SAME
    } else if shared == 0 || (numbers == Numbers::OfParts && a.len() == 1 && b.len() == 1) {
        DIFFERENT
    } else {
        PARTIAL
    }
}

/// A few numbers without allocation.
#[derive(Default)]
struct Set {
    numbers: [u32; 16],
    count: usize,
}

impl Set {
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
