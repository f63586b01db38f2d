//! A number within something: a volume of a series, an entry of a bibliography, an address on a host,
//! pages of a journal.
//!
//! A value is `Series ; v. 3`, `GW ; 8713`: the whole and the number in it, with the mark of ISBD that
//! introduces numbers between them. Two records that name one whole and other numbers in it are two
//! things; where they name different wholes nothing follows.

use rayon::prelude::*;

use super::card;
use crate::feature::{Column, Id};
use crate::fold::{fold, hash32};
use crate::words::Words;

/// Levels, best first: the same number, the same whole with a number missing, another number.
pub const LEVELS: &[&str] = &["same", "shared", "different"];
const SAME: u8 = 1;
const SHARED: u8 = 2;
const DIFFERENT: u8 = 3;

#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Numbered {
    /// Of the whole; 0 when the value says nothing.
    whole: u32,
    /// Of the number; 0 when there is none.
    number: u32,
}

/// The values of a column, read.
pub struct Numbers {
    numbers: Vec<Numbered>,
}

impl Numbers {
    pub fn read(column: &Column, words: &Words) -> Self {
        let count = column.strings().len() as u32;
        let read = |value| read(column.strings().get(value), words);
        Self { numbers: (0..count).into_par_iter().map(read).collect() }
    }

    pub fn level(&self, column: &Column, left: Id, right: Id) -> u8 {
        let mut best = 0;
        for a in column.of(left).iter().map(|value| self.numbers[*value as usize]) {
            for b in column.of(right).iter().map(|value| self.numbers[*value as usize]) {
                if a.whole != b.whole || a.whole == 0 {
                    continue;
                }
                let level = match (a.number, b.number) {
                    (0, _) | (_, 0) => SHARED,
                    (x, y) if x == y => SAME,
                    _ => DIFFERENT,
                };
                // Of one whole with several numbers, one in common is enough; another whole with
                // another number does not undo that.
                best = match (best, level) {
                    (SAME, _) | (_, SAME) => SAME,
                    (DIFFERENT, _) | (_, DIFFERENT) => DIFFERENT,
                    _ => SHARED,
                };
            }
        }
        best
    }

    /// A whole and the number in it as one number, for blocking; a whole alone has too many parts.
    pub fn key(&self, value: u32) -> Option<u64> {
        let Numbered { whole, number } = self.numbers[value as usize];
        (whole != 0 && number != 0).then(|| u64::from(whole) << 32 | u64::from(number))
    }

    pub fn card(&self, column: &Column, record: Id) -> u32 {
        let is_there = |value: &u32| self.numbers[*value as usize].whole != 0;
        if column.of(record).iter().any(is_there) { card::MANY } else { card::NOTHING }
    }
}

fn read(value: &str, words: &Words) -> Numbered {
    let value = without_issn(value);
    let (whole, number) = match value.rsplit_once(" ; ") {
        Some((whole, number)) => (fold(whole), number_of(&fold(number), words)),
        None => without_mark(&fold(value), words),
    };
    let kept: Vec<&str> = whole.split(' ').filter(|word| !words.small.contains(*word)).collect();
    let whole = if kept.is_empty() { 0 } else { hash32(&kept.join(" ")).max(1) };
    Numbered { whole, number }
}

/// Some write the ISSN of the series behind the number: `Lecture notes ; 1349. 0302-9743`.
fn without_issn(value: &str) -> &str {
    let trimmed = value.trim_end_matches(['.', ',', ' ']);
    let is_issn = |last: &str| match last.as_bytes() {
        [year @ .., b'-', b'0'..=b'9', b'0'..=b'9', b'0'..=b'9', b'0'..=b'9' | b'X' | b'x'] => {
            year.len() == 4 && year.iter().all(u8::is_ascii_digit)
        }
        _ => false,
    };
    match trimmed.rsplit_once([' ', ',']) {
        Some((before, last)) if is_issn(last) && before.bytes().any(|byte| byte.is_ascii_digit()) => before,
        _ => value,
    }
}

/// `series no 7`: some leave the mark out.
fn without_mark(folded: &str, words: &Words) -> (String, u32) {
    let Some((before, last)) = folded.rsplit_once(' ') else { return (folded.to_owned(), 0) };
    if Words::digits(last).is_none() {
        return (folded.to_owned(), 0);
    }
    let whole = match before.rsplit_once(' ') {
        Some((before, designation)) if words.designations.contains(designation) => before,
        _ => before,
    };
    (whole.to_owned(), number_of(last, words))
}

/// The numbers in it one after the other, whatever introduces them; without any, its words.
fn number_of(folded: &str, words: &Words) -> u32 {
    if folded.is_empty() {
        return 0;
    }
    let says = |word: &&str| !words.designations.contains(*word);
    let parts = folded.split(' ').filter(says).flat_map(|word| {
        // `v98` is volume 98.
        let letters = word.find(|letter: char| letter.is_ascii_digit()).unwrap_or(0);
        let is_designation = word.get(..letters).is_some_and(|start| words.designations.contains(start));
        word.get(letters..).filter(|_| is_designation).or(Some(word))
    });
    let mut numbers = String::new();
    for word in parts {
        if let Some(number) = words.number(word) {
            numbers.push_str(&format!("{number} "));
        } else if word.bytes().any(|byte| byte.is_ascii_digit()) {
            numbers.push_str(word);
            numbers.push(' ');
        }
    }
    hash32(if numbers.is_empty() { folded } else { numbers.trim_end() }).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feature::Builder;

    fn level(left: &[&str], right: &[&str]) -> u8 {
        let words = Words::parse(include_str!("../../../../mappings/resolve/words.toml")).unwrap();
        let mut builder = Builder::default();
        for (key, values) in [("a", left), ("b", right)] {
            let record = builder.record("s", key);
            values.iter().for_each(|value| builder.add(record, "series", value));
        }
        let table = builder.finish();
        let Some(column) = table.column("series") else { return 0 };
        Numbers::read(column, &words).level(column, 0, 1)
    }

    #[test]
    fn numbers_of_one_whole_are_compared_and_of_two_are_not() {
        let jazz = "A New Approach to Jazz Improvisation";
        assert_eq!(level(&[&format!("{jazz} ; v.98")], &[&format!("{jazz}, 98")]), SAME);
        assert_eq!(level(&[&format!("{jazz} ; v. 98")], &[&format!("{jazz} ; 93")]), DIFFERENT);
        assert_eq!(level(&[&format!("{jazz} ; v. 98")], &[jazz]), SHARED);
        assert_eq!(level(&["GW ; 8713", "Goff ; D-318"], &["GW ; 8682", "Goff ; D-315"]), DIFFERENT);
        assert_eq!(level(&["GW ; 8713"], &["Goff ; D-318"]), 0);
        assert_eq!(level(&["Goff ; D-318"], &["goff ; D 318", "GW ; 8713"]), SAME);
        assert_eq!(level(&["Notes ; 1349. 0302-9743"], &["Notes ; 1349,"]), SAME);
        assert_eq!(level(&["Reports ; 1994-1995"], &["Reports ; 1994-1996"]), DIFFERENT);
        assert_eq!(level(&["example.org ; a/b?c=1"], &["example.org ; a/b?c=2"]), DIFFERENT);
    }
}
