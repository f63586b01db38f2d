//! Values that are equal or not: languages, content types, coded data.

use super::card;
use crate::feature::{Column, Id};
use crate::fold::{fold, hash32};

/// Levels, best first.
pub const LEVELS: &[&str] = &["same", "shared", "different"];
const SAME: u8 = 1;
const SHARED: u8 = 2;
const DIFFERENT: u8 = 3;

/// The codes of a column, folded.
pub struct Codes {
    codes: Vec<u32>,
}

impl Codes {
    pub fn read(column: &Column) -> Self {
        let count = column.strings().len() as u32;
        let codes = (0..count).map(|value| hash32(&fold(column.strings().get(value)))).collect();
        Self { codes }
    }

    pub fn level(&self, column: &Column, left: Id, right: Id) -> u8 {
        let (a, b) = (column.of(left), column.of(right));
        if a.is_empty() || b.is_empty() {
            return 0;
        }
        let holds =
            |values: &[u32], code: u32| values.iter().any(|value| self.codes[*value as usize] == code);
        let shared = a.iter().filter(|value| holds(b, self.codes[**value as usize])).count();
        match shared {
            0 => DIFFERENT,
            _ if shared == a.len() && a.len() == b.len() => SAME,
            _ => SHARED,
        }
    }

    /// The code, where there is one.
    pub fn card(&self, column: &Column, record: Id) -> u32 {
        match column.of(record) {
            [] => card::NOTHING,
            [one] => self.code(*one).clamp(1, card::MANY - 1),
            _ => card::MANY,
        }
    }

    pub fn by_cards(left: u32, right: u32) -> Option<u8> {
        card::values(left, right)
            .map_or_else(|known| known, |(a, b)| Some(if a == b { SAME } else { DIFFERENT }))
    }

    pub fn code(&self, value: u32) -> u32 {
        self.codes[value as usize]
    }
}
