//! Short phrases such as publishers, places, series: a few words, some of them common.

use rayon::prelude::*;

use super::edit::{alike, damerau, neighbours};
use crate::resolve::feature::{Column, Id};
use crate::resolve::fold::fold;
use crate::resolve::words::Words;

/// Levels, best first.
pub const LEVELS: &[&str] = &["same", "similar", "shared", "different"];
const SAME: u8 = 1;
const SIMILAR: u8 = 2;
const SHARED: u8 = 3;
const DIFFERENT: u8 = 4;

/// The phrases of a column, read: words that say something, in order.
pub struct Phrases {
    phrases: Vec<Box<str>>,
    /// For each a bit for each pair of neighbouring letters, folded into 64.
    letters: Vec<u64>,
}

impl Phrases {
    pub fn read(column: &Column, words: &Words) -> Self {
        let count = column.strings().len() as u32;
        let read = |value| read(column.strings().get(value), words);
        let phrases: Vec<Box<str>> = (0..count).into_par_iter().map(read).collect();
        let letters = phrases.iter().map(|phrase| neighbours(phrase)).collect();
        Self { phrases, letters }
    }

    pub fn level(&self, column: &Column, left: Id, right: Id) -> u8 {
        let mut best = u8::MAX;
        for a in column.of(left) {
            for b in column.of(right) {
                let (x, y) = (&self.phrases[*a as usize], &self.phrases[*b as usize]);
                if x.is_empty() || y.is_empty() {
                    continue;
                }
                // Without two neighbouring letters in common no word is another's beginning, nor
                // one slip away.
                let nothing = a != b && x != y && self.letters[*a as usize] & self.letters[*b as usize] == 0;
                best = best.min(if nothing { DIFFERENT } else { compare(x, y) });
            }
        }
        if best == u8::MAX { 0 } else { best }
    }

    pub fn text(&self, value: u32) -> &str {
        &self.phrases[value as usize]
    }
}

fn compare(left: &str, right: &str) -> u8 {
    if left == right {
        return SAME;
    }
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
    let says = |word: &&str| !words.publishing.contains(*word) && !word.bytes().any(|byte| byte.is_ascii_digit());
    let mut kept: Vec<&str> = folded.split(' ').filter(says).take(8).collect();
    if kept.is_empty() {
        kept = folded.split(' ').take(8).collect();
    }
    kept.join(" ").into()
}
