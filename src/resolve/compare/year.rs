//! Years, known exactly, to the decade, or as a range.

use rayon::prelude::*;

use crate::resolve::feature::{Column, Id};
use crate::resolve::fold::roman;

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

/// The years of a column, read.
pub struct Years {
    spans: Vec<Vec<Span>>,
}

impl Years {
    pub fn read(column: &Column) -> Self {
        let count = column.strings().len() as u32;
        Self { spans: (0..count).into_par_iter().map(|value| read(column.strings().get(value))).collect() }
    }

    pub fn level(&self, column: &Column, left: Id, right: Id) -> u8 {
        let mut best = u8::MAX;
        for a in self.of(column, left) {
            for b in self.of(column, right) {
                best = best.min(compare(a, b));
            }
        }
        if best == u8::MAX { 0 } else { best }
    }

    /// The years known exactly.
    pub fn exact(&self, column: &Column, record: Id, into: &mut Vec<u32>) {
        into.extend(self.of(column, record).filter(|span| span.0 == span.1).map(|span| u32::from(span.0)));
    }

    fn of<'a>(&'a self, column: &'a Column, record: Id) -> impl Iterator<Item = Span> + 'a {
        column.of(record).iter().flat_map(|value| self.spans[*value as usize].iter().copied())
    }
}

fn compare(a: Span, b: Span) -> u8 {
    if a == b {
        return SAME;
    }
    let apart = if a.1 < b.0 { b.0 - a.1 } else if b.1 < a.0 { a.0 - b.1 } else { return OVERLAP };
    match apart {
        1 => NEAR,
        2..=3 => CLOSE,
        _ => DIFFERENT,
    }
}

/// `c1985`, `[1984] ©1985`, `1839-41`, `18--?`, `186u`, `MDCCCXLII`.
fn read(text: &str) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
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
                let unknown = bytes[at + run..].iter().take_while(|byte| matches!(byte, b'-' | b'u' | b'?' | b'X' | b'x')).count();
                if unknown >= 4 - run {
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
    if spans.is_empty() {
        let small = text.to_lowercase().replace(['.', ' '], "");
        let numeral: String = small.chars().filter(char::is_ascii_alphabetic).collect();
        if let Some(year) = roman(&numeral).filter(|year| (1400..=2100).contains(year)) {
            spans.push((year as u16, year as u16));
        }
    }
    spans.sort_unstable();
    spans.dedup();
    spans.truncate(MOST);
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn years_are_read_as_catalogues_write_them() {
        assert_eq!(read("[1984] ©1985"), [(1984, 1984), (1985, 1985)]);
        assert_eq!(read("1839-41."), [(1839, 1839), (1839, 1841)]);
        assert_eq!(read("[18--?]"), [(1800, 1899)]);
        assert_eq!(read("186u"), [(1860, 1869)]);
        assert_eq!(read("MDCCCXLII."), [(1842, 1842)]);
        assert_eq!(read("n.d."), []);
        assert_eq!(read("19990219"), [(1999, 1999)]);
    }
}
