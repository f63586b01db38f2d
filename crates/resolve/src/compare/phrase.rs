//! Short phrases such as publishers, places, series: a few words, some of them common.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::card;
use super::edit::{alike, damerau, neighbours};
use crate::feature::{Column, Id};
use crate::fold::fold;
use crate::words::Words;

/// Levels, best first.
pub const LEVELS: &[&str] = &["same", "similar", "shared", "different"];
const SAME: u8 = 1;
const SIMILAR: u8 = 2;
const SHARED: u8 = 3;
const DIFFERENT: u8 = 4;

/// The phrases of a column, read: words that say something, in order.
pub struct Phrases {
    /// The phrase of each value; that of a value that says nothing is the empty one, number 0.
    of: Vec<u32>,
    phrases: Vec<Box<str>>,
    /// For each a bit for each pair of neighbouring letters, folded into 64.
    letters: Vec<u64>,
}

impl Phrases {
    pub fn read(column: &Column, words: &Words) -> Self {
        let count = column.strings().len() as u32;
        let read = |value| read(column.strings().get(value), words);
        let texts: Vec<Box<str>> = (0..count).into_par_iter().map(read).collect();
        let mut numbers: FxHashMap<Box<str>, u32> = FxHashMap::default();
        let mut phrases: Vec<Box<str>> = vec!["".into()];
        numbers.insert("".into(), 0);
        let of = texts
            .into_iter()
            .map(|text| {
                *numbers.entry(text).or_insert_with_key(|text| {
                    phrases.push(text.clone());
                    (phrases.len() - 1) as u32
                })
            })
            .collect();
        let letters = phrases.iter().map(|phrase| neighbours(phrase)).collect();
        Self { of, phrases, letters }
    }

    pub fn level(&self, column: &Column, left: Id, right: Id) -> u8 {
        let mut best = u8::MAX;
        for a in self.numbers(column, left) {
            for b in self.numbers(column, right) {
                best = best.min(self.compare(a, b));
            }
        }
        if best == u8::MAX { 0 } else { best }
    }

    /// The number of the phrase, where there is one.
    pub fn card(&self, column: &Column, record: Id) -> u32 {
        card::of_values(self.numbers(column, record))
    }

    pub fn by_cards(&self, left: u32, right: u32) -> Option<u8> {
        card::values(left, right).map_or_else(|known| known, |(a, b)| Some(self.compare(a, b)))
    }

    pub fn text(&self, value: u32) -> &str {
        &self.phrases[self.of[value as usize] as usize]
    }

    fn numbers<'a>(&'a self, column: &'a Column, record: Id) -> impl Iterator<Item = u32> + 'a {
        column.of(record).iter().map(|value| self.of[*value as usize]).filter(|phrase| *phrase != 0)
    }

    fn compare(&self, left: u32, right: u32) -> u8 {
        if left == right {
            return SAME;
        }
        let (left, right) = (left as usize, right as usize);
        if is_acronym(&self.phrases[left], &self.phrases[right])
            || is_acronym(&self.phrases[right], &self.phrases[left])
        {
            return SIMILAR;
        }
        // Without two neighbouring letters in common no word is another's beginning, nor one slip
        // away.
        if self.letters[left] & self.letters[right] == 0 {
            return DIFFERENT;
        }
        compare(&self.phrases[left], &self.phrases[right])
    }
}

/// Whether one is the first letters of the other: `NY`, `N.Y.` and `New York`.
fn is_acronym(short: &str, long: &str) -> bool {
    let letters = || short.bytes().filter(|byte| *byte != b' ');
    let firsts = || long.split(' ').filter_map(|word| word.bytes().next());
    (2..=4).contains(&letters().count())
        && short.split(' ').all(|word| word.len() == 1 || short.len() <= 4)
        && long.len() > 6
        && letters().eq(firsts())
}

fn compare(left: &str, right: &str) -> u8 {
    let (mut shared, mut close, mut few, mut many) = (0, 0, 0, 0);
    for x in left.split(' ') {
        few += 1;
        let (mut found, mut near) = (false, false);
        for y in right.split(' ') {
            found |= x == y;
            // `Univ.` is `University`, `Pub.` `Publishing`.
            near |= x.len().min(y.len()) >= 2 && (x.starts_with(y) || y.starts_with(x)) || alike(x, y);
        }
        shared += u32::from(found);
        close += u32::from(found || near);
    }
    for _ in right.split(' ') {
        many += 1;
    }
    if few > many {
        std::mem::swap(&mut few, &mut many);
    }
    let whole = || damerau(left.as_bytes(), right.as_bytes(), left.len().min(right.len()) / 6).is_some();
    if close >= few && shared > 0 || whole() {
        SIMILAR
    } else if close > 0 {
        SHARED
    } else {
        DIFFERENT
    }
}

fn read(text: &str, words: &Words) -> Box<str> {
    let folded = fold(text);
    if words.nobody.contains(folded.as_str()) {
        return "".into();
    }
    let says =
        |word: &&str| !words.publishing.contains(*word) && !word.bytes().any(|byte| byte.is_ascii_digit());
    let mut kept: Vec<&str> = folded.split(' ').filter(says).take(8).collect();
    if kept.is_empty() {
        kept = folded.split(' ').take(8).collect();
    }
    kept.join(" ").into()
}
