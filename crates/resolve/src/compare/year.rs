//! Years, known exactly, to the decade, or as a range.

use rayon::prelude::*;

use super::card;
use crate::feature::{Column, Id};
use crate::fold::roman;

/// Levels, best first.
pub const LEVELS: &[&str] = &["same", "overlap", "near", "close", "different"];
const SAME: u8 = 1;
const OVERLAP: u8 = 2;
const NEAR: u8 = 3;
const CLOSE: u8 = 4;
const DIFFERENT: u8 = 5;

/// First and last year; equal when one year is meant.
type Span = (u16, u16);
const MOST: usize = 4;

/// What one value says: years of publication, and of copyright. A reprint repeats the copyright,
/// so that alone does not make it the same publication.
#[derive(Default, Clone, PartialEq, Eq, Debug)]
struct Said {
    published: Vec<Span>,
    copyright: Vec<Span>,
}

/// The years of a column, read.
pub struct Years {
    said: Vec<Said>,
}

impl Years {
    pub fn read(column: &Column) -> Self {
        let count = column.strings().len() as u32;
        Self { said: (0..count).into_par_iter().map(|value| read(column.strings().get(value))).collect() }
    }

    pub fn level(&self, column: &Column, left: Id, right: Id) -> u8 {
        let mut best = u8::MAX;
        for a in self.of(column, left) {
            for b in self.of(column, right) {
                best = best.min(compare(a, b));
            }
        }
        if best == u8::MAX {
            return 0;
        }
        if best > OVERLAP && self.shares_any(column, left, right) { OVERLAP } else { best }
    }

    /// The years, where one span is all that is said.
    pub fn card(&self, column: &Column, record: Id) -> u32 {
        let said = column.of(record).iter().map(|value| &self.said[*value as usize]);
        let mut spans = said.flat_map(|said| said.published.iter().chain(&said.copyright));
        match (spans.next(), spans.next()) {
            (None, _) => card::NOTHING,
            (Some((first, last)), None) => u32::from(*first) << 16 | u32::from(*last),
            _ => card::MANY,
        }
    }

    pub fn by_cards(left: u32, right: u32) -> Option<u8> {
        let span = |card: u32| ((card >> 16) as u16, card as u16);
        match card::values(left, right) {
            Ok(_) => Some(compare(span(left), span(right))),
            Err(known) => known,
        }
    }

    fn shares_any(&self, column: &Column, left: Id, right: Id) -> bool {
        let all = |record| {
            let said = column.of(record).iter().map(|value| &self.said[*value as usize]);
            said.flat_map(|said| said.published.iter().chain(&said.copyright))
        };
        all(left).any(|a| all(right).any(|b| a == b))
    }

    /// The years known exactly: of publication, or else of copyright.
    pub fn exact(&self, column: &Column, record: Id, into: &mut Vec<u32>) {
        into.extend(self.of(column, record).filter(|span| span.0 == span.1).map(|span| u32::from(span.0)));
    }

    fn of<'a>(&'a self, column: &'a Column, record: Id) -> impl Iterator<Item = Span> + 'a {
        let values = column.of(record);
        let published = values.iter().any(|value| !self.said[*value as usize].published.is_empty());
        values.iter().flat_map(move |value| {
            let said = &self.said[*value as usize];
            if published { said.published.iter() } else { said.copyright.iter() }.copied()
        })
    }
}

fn compare(a: Span, b: Span) -> u8 {
    if a == b {
        return SAME;
    }
    let apart = if a.1 < b.0 {
        b.0 - a.1
    } else if b.1 < a.0 {
        a.0 - b.1
    } else {
        return OVERLAP;
    };
    match apart {
        1 => NEAR,
        2..=3 => CLOSE,
        _ => DIFFERENT,
    }
}

/// `c1985`, `[1984] ©1985`, `1839-41`, `18--?`, `186u`, `MDCCCXLII`.
fn read(text: &str) -> Said {
    let mut said = Said::default();
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if !bytes[at].is_ascii_digit() || (at > 0 && bytes[at - 1].is_ascii_digit()) {
            at += 1;
            continue;
        }
        let run = bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let number = |from: usize, length: usize| {
            text.get(from..from + length).and_then(|digits| digits.parse::<u16>().ok()).unwrap_or(0)
        };
        let before = text.get(..at).unwrap_or_default();
        let is_copyright = before.ends_with(['c', '©', 'p', '℗'])
            || before.trim_end().ends_with(['©', '℗'])
            || before.ends_with("copyright ");
        let spans = if is_copyright { &mut said.copyright } else { &mut said.published };
        match run {
            4 => {
                let year = number(at, 4);
                if (1000..=2100).contains(&year) {
                    spans.push((year, year));
                    // `1839-41` is a range, `1839-1841` too.
                    let dash = bytes.get(at + 4) == Some(&b'-');
                    let next = bytes.get(at + 5..).unwrap_or_default();
                    let digits = next.iter().take_while(|byte| byte.is_ascii_digit()).count();
                    let last = match digits {
                        2 => year / 100 * 100 + number(at + 5, 2),
                        4 => number(at + 5, 4),
                        _ => 0,
                    };
                    if dash && last > year && last - year <= 60 {
                        spans.push((year, last));
                        at += digits + 1;
                    }
                }
            }
            8 if number(at, 4) >= 1000 && number(at, 4) <= 2100 => spans.push((number(at, 4), number(at, 4))),
            2 | 3 => {
                let unknown = bytes[at + run..]
                    .iter()
                    .take_while(|byte| matches!(byte, b'-' | b'u' | b'?' | b'X' | b'x'))
                    .count();
                let is_open = bytes.get(at + run + unknown).is_none_or(|next| !next.is_ascii_digit());
                if unknown >= 4 - run || (run == 2 && unknown == 1 && is_open) {
                    let scale = if run == 2 { 100 } else { 10 };
                    let first = number(at, run) * scale;
                    if (1000..=2100).contains(&first) {
                        spans.push((first, first + scale - 1));
                    }
                }
            }
            _ => {}
        }
        at += run;
    }
    if said.published.is_empty() && said.copyright.is_empty() {
        let small = text.to_lowercase().replace(['.', ' '], "");
        let numeral: String = small.chars().filter(char::is_ascii_alphabetic).collect();
        if let Some(year) = roman(&numeral).filter(|year| (1400..=2100).contains(year)) {
            said.published.push((year as u16, year as u16));
        }
    }
    for spans in [&mut said.published, &mut said.copyright] {
        spans.sort_unstable();
        spans.dedup();
        spans.truncate(MOST);
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;

    fn published(text: &str) -> Vec<Span> {
        read(text).published
    }

    #[test]
    fn years_are_read_as_catalogues_write_them() {
        assert_eq!(published("[1984] ©1985"), [(1984, 1984)]);
        assert_eq!(read("[1984] ©1985").copyright, [(1985, 1985)]);
        assert_eq!(published("1839-41."), [(1839, 1839), (1839, 1841)]);
        assert_eq!(published("[18--?]"), [(1800, 1899)]);
        assert_eq!(published("18-."), [(1800, 1899)]);
        assert_eq!(published("186u"), [(1860, 1869)]);
        assert_eq!(published("MDCCCXLII."), [(1842, 1842)]);
        assert_eq!(published("n.d."), []);
        assert_eq!(published("19990219"), [(1999, 1999)]);
        assert_eq!(read("c1941"), Said { published: vec![], copyright: vec![(1941, 1941)] });
    }
}
