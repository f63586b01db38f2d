//! Short strings of any kind, compared letter by letter: addresses, dates as digits.

use rayon::prelude::*;

use super::card;
use super::edit::damerau;
use crate::feature::{Column, Id};
use crate::fold::fold;

/// Levels, best first.
pub const LEVELS: &[&str] = &["same", "near", "similar", "different"];
const SAME: u8 = 1;
const NEAR: u8 = 2;
const SIMILAR: u8 = 3;
const DIFFERENT: u8 = 4;

/// The strings of a column, folded.
pub struct Texts {
    texts: Vec<Box<str>>,
}

impl Texts {
    pub fn read(column: &Column) -> Self {
        let count = column.strings().len() as u32;
        let read = |value| fold(column.strings().get(value)).into_boxed_str();
        Self { texts: (0..count).into_par_iter().map(read).collect() }
    }

    pub fn level(&self, column: &Column, left: Id, right: Id) -> u8 {
        let mut best = u8::MAX;
        for a in column.of(left) {
            for b in column.of(right) {
                best = best.min(compare(&self.texts[*a as usize], &self.texts[*b as usize]));
            }
        }
        if best == u8::MAX { 0 } else { best }
    }

    pub fn card(&self, column: &Column, record: Id) -> u32 {
        card::of_values(column.of(record).iter().copied())
    }

    pub fn by_cards(&self, left: u32, right: u32) -> Option<u8> {
        match card::values(left, right) {
            Ok((a, b)) if a == b => Some(SAME),
            Ok((a, b)) => Some(compare(self.text(a), self.text(b))),
            Err(known) => known,
        }
    }

    pub fn text(&self, value: u32) -> &str {
        &self.texts[value as usize]
    }
}

fn compare(left: &str, right: &str) -> u8 {
    if left == right {
        return SAME;
    }
    let shorter = left.len().min(right.len());
    // Of a year or a short code every letter counts.
    let near = if shorter >= 6 { 1 + shorter / 12 } else { 0 };
    if near > 0 && damerau(left.as_bytes(), right.as_bytes(), near).is_some() {
        return NEAR;
    }
    let similar = damerau(left.as_bytes(), right.as_bytes(), shorter / 3).is_some()
        || (shorter >= 4 && strsim::jaro_winkler(left, right) >= 0.88);
    if similar { SIMILAR } else { DIFFERENT }
}
