//! Extents: pages or minutes, or volumes and pieces where neither is given.
//!
//! That two books have 312 pages says something; that two records are of one disc, one score or one sheet
//! does not.

use rayon::prelude::*;

use super::card;
use crate::feature::{Column, Id};
use crate::fold::fold;
use crate::words::Words;

/// Levels, best first.
pub const LEVELS: &[&str] = &["same", "near", "close", "alike", "different"];
const SAME: u8 = 1;
const NEAR: u8 = 2;
const CLOSE: u8 = 3;
const ALIKE: u8 = 4;
const DIFFERENT: u8 = 5;

/// So many pages or minutes are of many publications.
const FEW: u32 = 8;

#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Extent {
    /// Or leaves, or minutes: the largest number that is none of pieces.
    pages: u32,
    /// Or discs, reels, sheets.
    volumes: u32,
}

/// The extents of a column, read.
pub struct Extents {
    extents: Vec<Extent>,
}

impl Extents {
    pub fn read(column: &Column, words: &Words) -> Self {
        let count = column.strings().len() as u32;
        let read = |value| read(column.strings().get(value), words);
        Self { extents: (0..count).into_par_iter().map(read).collect() }
    }

    pub fn level(&self, column: &Column, left: Id, right: Id) -> u8 {
        let mut best = u8::MAX;
        for a in column.of(left) {
            for b in column.of(right) {
                let level = compare(self.extents[*a as usize], self.extents[*b as usize]);
                if level != 0 {
                    best = best.min(level);
                }
            }
        }
        if best == u8::MAX { 0 } else { best }
    }

    /// Pages and volumes, where one extent is given.
    pub fn card(&self, column: &Column, record: Id) -> u32 {
        let said = column.of(record).iter().map(|value| self.extents[*value as usize]);
        let mut said = said.filter(|extent| extent.pages > 0 || extent.volumes > 0);
        match (said.next(), said.next()) {
            (None, _) => card::NOTHING,
            (Some(one), None) if one.pages < 1 << 15 && one.volumes < 1 << 16 => {
                one.pages << 16 | one.volumes
            }
            _ => card::MANY,
        }
    }

    pub fn by_cards(left: u32, right: u32) -> Option<u8> {
        let extent = |card: u32| Extent { pages: card >> 16, volumes: card & 0xFFFF };
        match card::values(left, right) {
            Ok(_) => Some(compare(extent(left), extent(right))),
            Err(known) => known,
        }
    }

    pub fn pages(&self, value: u32) -> u32 {
        self.extents[value as usize].pages
    }
}

fn compare(a: Extent, b: Extent) -> u8 {
    if a.pages > 0 && b.pages > 0 {
        let apart = a.pages.abs_diff(b.pages);
        let larger = a.pages.max(b.pages);
        return match apart {
            0 if larger < FEW => ALIKE,
            0 => SAME,
            _ if larger < FEW => DIFFERENT,
            _ if apart <= 2 || apart * 100 <= larger => NEAR,
            _ if apart <= 10 || apart * 100 <= larger * 4 => CLOSE,
            _ => DIFFERENT,
        };
    }
    if a.volumes > 0 && b.volumes > 0 {
        return match (a.volumes, b.volumes) {
            (x, y) if x != y => DIFFERENT,
            // A set of many volumes is as telling as pages are.
            (FEW.., _) => SAME,
            _ => ALIKE,
        };
    }
    // One volume counted in pages against many volumes.
    if a.volumes.max(b.volumes) > 1 && a.pages.max(b.pages) > 0 { DIFFERENT } else { 0 }
}

fn read(text: &str, lists: &Words) -> Extent {
    let folded = fold(text);
    let mut extent = Extent::default();
    let words: Vec<&str> = folded.split(' ').collect();
    for (at, word) in words.iter().enumerate() {
        let digits: String = word.chars().take_while(char::is_ascii_digit).collect();
        let number = digits.parse::<u32>().ok().or_else(|| Words::digits(word));
        let Some(number) = number else { continue };
        let glued = word.get(digits.len()..).filter(|unit| !unit.is_empty());
        let unit = glued.or(words.get(at + 1).copied()).unwrap_or("");
        match unit {
            _ if lists.is_piece(unit) => extent.volumes = extent.volumes.max(number),
            _ if lists.measures.contains(unit) => {}
            _ if number < 20_000 => extent.pages = extent.pages.max(number),
            _ => {}
        }
    }
    if extent.volumes > 1 {
        // `2 v. (812 p.)` is counted by its volumes.
        extent.pages = 0;
    }
    extent
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(left: &str, right: &str, expected: u8) {
        let words = Words::parse(include_str!("../../../../mappings/resolve/words.toml")).unwrap();
        assert_eq!(compare(read(left, &words), read(right, &words)), expected, "{left} {right}");
    }

    #[test]
    fn pieces_say_less_than_pages() {
        check("xii, 312 p. ; 23 cm", "312 pages", SAME);
        check("312 p.", "310 p.", NEAR);
        check("1 sound disc : digital, stereo", "1 sound disc (digital)", ALIKE);
        check("1 sound disc (43 min.)", "1 sound disc (44 min.)", NEAR);
        check("1 sound disc (43 min.)", "1 sound disc (58 min.)", DIFFERENT);
        check("1 score + parts", "1 score (48 p.)", ALIKE);
        check("1 videodisc (ca. 153 min.)", "1 videodisc (ca. 115 min.)", DIFFERENT);
        check("1 sheet ; 25 x 16 cm", "1 sheet", ALIKE);
        check("4 p.", "4 p.", ALIKE);
        check("12 v.", "12 v.", SAME);
        check("3 Bde", "1 v.", DIFFERENT);
        check("2 v. (812 p.)", "2 v.", ALIKE);
    }
}
