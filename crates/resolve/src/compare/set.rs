//! Several short phrases that belong together: the sections of a title, the codes of carriers.

use rayon::prelude::*;

use super::card;
use super::edit::damerau;
use crate::feature::{Column, Id};
use crate::fold::fold;
use crate::words::Words;

/// Levels, best first. `contained`: all that one says the other says too; `overlap`: each says more.
pub const LEVELS: &[&str] = &["same", "contained", "overlap", "different"];
const SAME: u8 = 1;
const CONTAINED: u8 = 2;
const OVERLAP: u8 = 3;
const DIFFERENT: u8 = 4;

/// Values of one record that are looked at.
const MOST: usize = 16;

/// The phrases of a column, folded and without small words.
pub struct Sets {
    phrases: Vec<Box<str>>,
}

impl Sets {
    pub fn read(column: &Column, words: &Words) -> Self {
        let count = column.strings().len() as u32;
        let read = |value| {
            let folded = fold(column.strings().get(value));
            let kept: Vec<&str> = folded.split(' ').filter(|word| !words.small.contains(*word)).collect();
            if kept.is_empty() { folded.into() } else { kept.join(" ").into_boxed_str() }
        };
        Self { phrases: (0..count).into_par_iter().map(read).collect() }
    }

    pub fn level(&self, column: &Column, left: Id, right: Id) -> u8 {
        let (a, b) = (self.of(column, left), self.of(column, right));
        if a.is_empty() || b.is_empty() {
            return 0;
        }
        let found = |some: &[&str], all: &[&str]| {
            some.iter().filter(|one| all.iter().any(|other| is_same(one, other))).count()
        };
        let (of_a, of_b) = (found(&a, &b), found(&b, &a));
        match (of_a == a.len(), of_b == b.len()) {
            (true, true) => SAME,
            (true, false) | (false, true) => CONTAINED,
            _ if of_a > 0 => OVERLAP,
            _ => DIFFERENT,
        }
    }

    pub fn card(&self, column: &Column, record: Id) -> u32 {
        if self.of(column, record).is_empty() { card::NOTHING } else { card::MANY }
    }

    fn of<'a>(&'a self, column: &Column, record: Id) -> Vec<&'a str> {
        let phrases = column.of(record).iter().map(|value| &*self.phrases[*value as usize]);
        let mut phrases: Vec<&str> = phrases.filter(|phrase| !phrase.is_empty()).take(MOST).collect();
        phrases.sort_unstable();
        phrases.dedup();
        phrases
    }
}

/// Equal, or a slip in a long phrase; of a short one every letter counts.
fn is_same(left: &str, right: &str) -> bool {
    left == right || {
        let slips = left.len().min(right.len()) / 10;
        let has_digits = |text: &str| text.bytes().any(|byte| byte.is_ascii_digit());
        slips > 0
            && !has_digits(left)
            && !has_digits(right)
            && damerau(left.as_bytes(), right.as_bytes(), slips).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feature::Builder;

    #[test]
    fn sections_are_compared_as_sets() {
        let words = Words::parse(include_str!("../../../../mappings/resolve/words.toml")).unwrap();
        let check = |left: &[&str], right: &[&str], expected: u8| {
            let mut builder = Builder::default();
            for (key, values) in [("a", left), ("b", right)] {
                let record = builder.record("s", key);
                values.iter().for_each(|value| builder.add(record, "section", value));
            }
            let table = builder.finish();
            let column = table.column("section").unwrap();
            assert_eq!(Sets::read(column, &words).level(column, 0, 1), expected, "{left:?} {right:?}");
        };
        let class = "Classe des sciences mathématiques et naturelles";
        check(&[class, "Sciences naturelles"], &[class, "Sciences mathématiques"], OVERLAP);
        check(&[class, "Sciences naturelles"], &["Sciences naturelles"], CONTAINED);
        check(&["Sciences naturelles"], &["Les sciences naturelle"], SAME);
        check(&["Reihe 5"], &["Reihe 11"], DIFFERENT);
    }
}
