//! Every record's answers in one row of numbers.
//!
//! Comparing two records through columns of texts costs several trips to memory for each
//! feature; with a million records that is most of the work. A *card* is one number for each
//! comparison: most records say one thing of each kind, and one number holds it. What does not
//! fit in a number is looked up as before, so cards change no result.

use rayon::prelude::*;

use crate::feature::Id;

/// The record says nothing.
pub const NOTHING: u32 = 0;
/// More than a number holds: look it up.
pub const MANY: u32 = u32::MAX;

/// One row of numbers for each record.
#[derive(Default)]
pub struct Cards {
    width: usize,
    numbers: Vec<u32>,
}

impl Cards {
    /// `card` gives the number of a record in one place of its row.
    pub fn new(records: usize, width: usize, card: impl Fn(Id, usize) -> u32 + Sync) -> Self {
        let mut numbers = vec![NOTHING; records * width];
        if width > 0 {
            numbers.par_chunks_mut(width).with_min_len(1024).enumerate().for_each(|(record, row)| {
                row.iter_mut().enumerate().for_each(|(place, number)| *number = card(record as Id, place));
            });
        }
        Self { width, numbers }
    }

    pub fn of(&self, record: Id) -> &[u32] {
        let start = record as usize * self.width;
        &self.numbers[start..start + self.width]
    }
}

/// The card of a record that has values of these numbers.
pub fn of_values(mut values: impl Iterator<Item = u32>) -> u32 {
    match (values.next(), values.next()) {
        (None, _) => NOTHING,
        (Some(one), None) => one + 1,
        _ => MANY,
    }
}

/// Two values, when each card stands for one; `Err`: what follows from one saying nothing, or
/// `None` when it has to be looked up.
pub fn values(left: u32, right: u32) -> Result<(u32, u32), Option<u8>> {
    if left == NOTHING || right == NOTHING {
        Err(Some(0))
    } else if left == MANY || right == MANY {
        Err(None)
    } else {
        Ok((left - 1, right - 1))
    }
}

/// Nothing where one side says nothing; everything else is looked up.
pub fn unless_missing(left: u32, right: u32) -> Option<u8> {
    (left == NOTHING || right == NOTHING).then_some(0)
}
