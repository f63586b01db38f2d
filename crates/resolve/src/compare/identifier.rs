//! Identifiers of one scheme: shared or not.
//!
//! An identifier that very many records carry was typed into a template; one that records with unlike
//! titles carry belongs to a set, a series or a pamphlet bound with others, or was copied with the record.
//! Both are *crowded*: they prove nothing and are treated as if they were not there. So are those of the deny
//! list.

use std::collections::BTreeSet;

use rayon::prelude::*;

use super::card;
use crate::feature::{Column, Id};
use crate::fold::fold;
use crate::profile::Trust;

/// Levels, best first.
pub const LEVELS: &[&str] = &["shared", "near", "different"];
const SHARED: u8 = 1;
const NEAR: u8 = 2;
const DIFFERENT: u8 = 3;

/// The identifiers of a column, normalized by whoever filled it.
pub struct Identifiers {
    /// Whether a value counts at all.
    counts: Vec<bool>,
    /// Whether identifiers one slip apart are looked for.
    slips: bool,
}

/// Holders of one identifier whose titles are looked at.
const MOST_TITLES: usize = 12;

/// The values of a column that prove nothing: too many records have them, or records with unlike titles.
pub fn crowded(column: &Column, titles: Option<&Column>, records: u32, crowd: u32) -> BTreeSet<Box<str>> {
    let mut holders: Vec<(u32, Id)> = Vec::new();
    for record in 0..records {
        holders.extend(column.of(record).iter().map(|value| (*value, record)));
    }
    holders.sort_unstable();
    let shared: Vec<&[(u32, Id)]> =
        holders.chunk_by(|one, other| one.0 == other.0).filter(|same| same.len() > 1).collect();
    let is_crowded = |same: &&&[(u32, Id)]| {
        same.len() > crowd as usize || titles.is_some_and(|titles| are_unlike(titles, same))
    };
    let crowded = shared.par_iter().filter(is_crowded);
    crowded.filter_map(|same| Some(column.strings().get(same.first()?.0).into())).collect()
}

/// Whether two of these records have titles with hardly a word in common. A title that is part of another is
/// like it.
fn are_unlike(titles: &Column, holders: &[(u32, Id)]) -> bool {
    let words = |record: Id| -> Vec<BTreeSet<String>> {
        let texts = titles.texts(record).map(fold);
        texts.map(|text| text.split(' ').filter(|word| word.len() > 2).map(str::to_owned).collect()).collect()
    };
    let all: Vec<Vec<BTreeSet<String>>> =
        holders.iter().take(MOST_TITLES).map(|(_, record)| words(*record)).collect();
    let are_like = |a: &BTreeSet<String>, b: &BTreeSet<String>| {
        let shared = a.intersection(b).count();
        a.is_empty() || b.is_empty() || shared * 10 >= a.len().min(b.len()) * 4
    };
    all.iter().enumerate().any(|(at, left)| {
        all.iter().skip(at + 1).any(|right| {
            !left.is_empty()
                && !right.is_empty()
                && !left.iter().any(|a| right.iter().any(|b| are_like(a, b)))
        })
    })
}

impl Identifiers {
    /// Which of them prove nothing is known by now; see [`crowded`].
    pub fn read(column: &Column, trust: &Trust, crowded: Option<&BTreeSet<Box<str>>>, slips: bool) -> Self {
        let count = column.strings().len() as u32;
        let counts = |value: u32| {
            let text = column.strings().get(value);
            !crowded.is_some_and(|crowded| crowded.contains(text)) && !trust.deny.contains(text)
        };
        Self { counts: (0..count).map(counts).collect(), slips }
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
}
