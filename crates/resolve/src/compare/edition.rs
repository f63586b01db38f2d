//! Edition statements: a number, and words such as *revised*.

use rayon::prelude::*;

use super::card;
use crate::feature::{Column, Id};
use crate::fold::fold;
use crate::words::Words;

/// Levels, best first. One record may simply not say that it is a second edition.
pub const LEVELS: &[&str] = &["same", "first-unsaid", "compatible", "one-sided", "different"];
const SAME: u8 = 1;
const FIRST_UNSAID: u8 = 2;
const COMPATIBLE: u8 = 3;
const ONE_SIDED: u8 = 4;
const DIFFERENT: u8 = 5;

/// Set on the card of a record that has an edition statement.
const SAID: u32 = 1 << 31;

#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Edition {
    /// At most 9999.
    number: u16,
    /// A bit for each kind of edition named.
    kinds: u16,
}

/// The edition statements of a column, read.
pub struct Editions {
    editions: Vec<Edition>,
}

impl Editions {
    pub fn read(column: &Column, words: &Words) -> Self {
        let count = column.strings().len() as u32;
        Self {
            editions: (0..count)
                .into_par_iter()
                .map(|value| read(column.strings().get(value), words))
                .collect(),
        }
    }

    /// Number and kinds; they always fit.
    pub fn card(&self, column: &Column, record: Id) -> u32 {
        let said = self.of(column, record);
        said.map_or(card::NOTHING, |edition| {
            SAID | u32::from(edition.kinds) << 14 | u32::from(edition.number)
        })
    }

    pub fn by_cards(left: u32, right: u32) -> u8 {
        let edition = |card: u32| {
            (card != card::NOTHING)
                .then_some(Edition { number: (card & 0x3FFF) as u16, kinds: (card >> 14) as u16 })
        };
        match (edition(left), edition(right)) {
            (None, None) => 0,
            // That it is the first is often left unsaid.
            (Some(one), None) | (None, Some(one)) => {
                if one.number <= 1 && one.kinds == 0 {
                    FIRST_UNSAID
                } else {
                    ONE_SIDED
                }
            }
            (Some(a), Some(b)) if a == b => SAME,
            (Some(a), Some(b)) if a.number != 0 && b.number != 0 => {
                if a.number == b.number {
                    COMPATIBLE
                } else {
                    DIFFERENT
                }
            }
            (Some(a), Some(b)) => {
                if a.kinds & b.kinds != 0 || a.kinds == 0 || b.kinds == 0 {
                    COMPATIBLE
                } else {
                    DIFFERENT
                }
            }
        }
    }

    /// All statements of a record together.
    fn of(&self, column: &Column, record: Id) -> Option<Edition> {
        let mut all: Option<Edition> = None;
        for value in column.of(record) {
            let one = self.editions[*value as usize];
            let sum = all.get_or_insert_default();
            sum.number = sum.number.max(one.number);
            sum.kinds |= one.kinds;
        }
        all
    }
}

fn read(text: &str, words: &Words) -> Edition {
    let folded = fold(text);
    let mut edition = Edition::default();
    // The fourth impression of a book is the same edition as the third.
    if ["impression", "printing", "thousand", "print"].iter().any(|word| folded.contains(word))
        && !folded.contains("ed")
    {
        return edition;
    }
    for word in folded.split(' ') {
        if let Some(kind) = words.editions.get(word) {
            edition.kinds |= 1 << kind.min(&15);
        } else if edition.number == 0
            && let Some(number) = words.number(word)
        {
            edition.number = number.min(9999) as u16;
        }
    }
    edition
}
