//! Identifiers of one scheme: shared or not.
//!
//! An identifier that very many records carry was typed into a template or belongs to a set;
//! it is *crowded*, proves nothing, and is treated as if it were not there. So are those of the
//! deny list.

use std::collections::BTreeSet;

use super::card;
use crate::resolve::feature::{Column, Id};
use crate::resolve::profile::Trust;

/// Levels, best first.
pub const LEVELS: &[&str] = &["shared", "near", "different"];
const SHARED: u8 = 1;
const NEAR: u8 = 2;
const DIFFERENT: u8 = 3;

/// The identifiers of a column, normalized by whoever filled it.
pub struct Identifiers {
    /// Whether a value counts at all.
    counts: Vec<bool>,
    crowded: Vec<u32>,
    /// Whether identifiers one slip apart are looked for.
    slips: bool,
}

impl Identifiers {
    /// Who is crowded is counted, or known from an earlier run.
    pub fn read(
        column: &Column,
        records: u32,
        trust: &Trust,
        known: Option<Option<&BTreeSet<Box<str>>>>,
        slips: bool,
    ) -> Self {
        let mut holders = vec![0_u32; column.strings().len()];
        for record in 0..records {
            for value in column.of(record) {
                holders[*value as usize] += 1;
            }
        }
        let mut crowded = Vec::new();
        let mut counts = Vec::with_capacity(holders.len());
        for (value, holders) in holders.iter().enumerate() {
            let text = column.strings().get(value as u32);
            let is_crowded = match known {
                None => *holders > trust.crowd,
                Some(known) => known.is_some_and(|known| known.contains(text)),
            };
            if is_crowded {
                crowded.push(value as u32);
            }
            counts.push(!is_crowded && !trust.deny.contains(text));
        }
        Self { counts, crowded, slips }
    }

    pub fn level(&self, column: &Column, left: Id, right: Id) -> u8 {
        let good = |value: &&u32| self.counts[**value as usize];
        let (a, b) = (column.of(left), column.of(right));
        if !a.iter().any(|value| good(&value)) || !b.iter().any(|value| good(&value)) {
            return 0;
        }
        if a.iter().filter(good).any(|value| b.contains(value)) {
            return SHARED;
        }
        let near = self.slips
            && a.iter().filter(good).any(|x| {
                b.iter().filter(good).any(|y| {
                    let (x, y) = (column.strings().get(*x), column.strings().get(*y));
                    super::edit::damerau(x.as_bytes(), y.as_bytes(), 1).is_some()
                })
            });
        if near { NEAR } else { DIFFERENT }
    }

    /// The identifier, where one counts.
    pub fn card(&self, column: &Column, record: Id) -> u32 {
        card::of_values(column.of(record).iter().copied().filter(|value| self.counts(*value)))
    }

    pub fn by_cards(&self, left: u32, right: u32) -> Option<u8> {
        match card::values(left, right) {
            Ok((a, b)) if a == b => Some(SHARED),
            Ok(_) if self.slips => None,
            Ok(_) => Some(DIFFERENT),
            Err(known) => known,
        }
    }

    pub fn counts(&self, value: u32) -> bool {
        self.counts[value as usize]
    }

    /// Values that too many records carry.
    pub fn crowded(&self) -> &[u32] {
        &self.crowded
    }
}
