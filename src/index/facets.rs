//! By what can hits be counted and narrowed, and how often does each value occur?
//!
//! Counting is exact and over all hits. Within a segment values are numbers, and a hit costs an
//! increment each; between segments the numbers differ, so counts are added up by value. With one
//! segment, as after [`Writer::optimize`](super::Writer::optimize), only the values that are given
//! back are looked up.

use super::document::words;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::io;
use tantivy::columnar::{Column, StrColumn};
use tantivy::{DocId, SegmentReader};

words! {
    /// A way to divide hits.
    Facet {
        Kind "kind"
        ContentType "type"
        Language "language"
        Source "source"
        Subject "subject"
        Creator "creator"
        Year "year"
        /// Ten years by the first of them: 1990.
        Decade "decade"
    }
}

/// The column of an entry's years.
pub(super) const YEARS: &str = "years";

impl Facet {
    /// The column that holds its values.
    pub(super) fn column(self) -> &'static str {
        match self {
            Self::Kind => "kind",
            Self::ContentType => "content_type",
            Self::Language => "language",
            Self::Source => "source",
            Self::Subject => "subject_label",
            Self::Creator => "creator_label",
            Self::Year | Self::Decade => YEARS,
        }
    }
}

/// The values of a facet among all hits, most frequent first, then in the order of the values;
/// years and decades latest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counts {
    pub facet: Facet,
    pub values: Vec<(String, u64)>,
    /// How many values there are, with those that were not asked for.
    pub distinct: usize,
}

/// The first year of a decade; years before our era count down.
pub fn decade(year: i64) -> i64 {
    year.div_euclid(10) * 10
}

/// Counts one facet in one segment.
pub(super) enum Tally {
    Absent,
    Words { column: StrColumn, counts: Vec<u32> },
    Years { column: Column<i64>, counts: FxHashMap<i64, u64>, group: fn(i64) -> i64 },
}

impl Tally {
    pub(super) fn new(facet: Facet, segment: &SegmentReader) -> tantivy::Result<Self> {
        let columns = segment.fast_fields();
        Ok(match facet {
            Facet::Year | Facet::Decade => match columns.column_opt::<i64>(facet.column())? {
                None => Self::Absent,
                Some(column) => {
                    let group = if facet == Facet::Year { |year| year } else { decade };
                    Self::Years { column, counts: FxHashMap::default(), group }
                }
            },
            _ => match columns.str(facet.column())? {
                None => Self::Absent,
                Some(column) => {
                    let counts = vec![0; column.num_terms()];
                    Self::Words { column, counts }
                }
            },
        })
    }

    pub(super) fn count(&mut self, doc: DocId) {
        match self {
            Self::Absent => {}
            Self::Words { column, counts } => {
                for number in column.term_ords(doc) {
                    if let Some(count) = counts.get_mut(number as usize) {
                        *count += 1;
                    }
                }
            }
            Self::Years { column, counts, group } => {
                // Years are stored in order, so those of one decade follow each other.
                let mut last = None;
                for year in column.values_for_doc(doc).map(*group) {
                    if last.replace(year) != Some(year) {
                        *counts.entry(year).or_default() += 1;
                    }
                }
            }
        }
    }
}

/// Adds up the tallies of all segments and keeps the first `most` values.
pub(super) fn add_up(facet: Facet, tallies: Vec<Tally>, most: usize) -> io::Result<Counts> {
    let mut years: FxHashMap<i64, u64> = FxHashMap::default();
    let mut words = Vec::new();
    for tally in tallies {
        match tally {
            Tally::Absent => {}
            Tally::Words { column, counts } => words.push((column, counts)),
            Tally::Years { counts, .. } => {
                counts.into_iter().for_each(|(year, count)| *years.entry(year).or_default() += count);
            }
        }
    }
    if matches!(facet, Facet::Year | Facet::Decade) {
        let distinct = years.len();
        let mut years: Vec<(i64, u64)> = years.into_iter().collect();
        years.sort_unstable_by_key(|(year, _)| Reverse(*year));
        years.truncate(most);
        let values = years.into_iter().map(|(year, count)| (year.to_string(), count)).collect();
        return Ok(Counts { facet, values, distinct });
    }
    let (values, distinct) = match words.as_slice() {
        [] => (Vec::new(), 0),
        [(column, counts)] => of_one_segment(column, counts, most)?,
        segments => of_segments(segments, most)?,
    };
    Ok(Counts { facet, values, distinct })
}

fn of_one_segment(column: &StrColumn, counts: &[u32], most: usize) -> io::Result<(Vec<(String, u64)>, usize)> {
    let mut found = occurring(counts);
    let distinct = found.len();
    // Numbers are in the order of the values.
    keep_first(&mut found, most, |(number, count)| (Reverse(*count), *number));
    let mut values = Vec::with_capacity(found.len());
    for (number, count) in found {
        let mut value = String::new();
        column.ord_to_str(number, &mut value)?;
        values.push((value, u64::from(count)));
    }
    Ok((values, distinct))
}

fn of_segments(segments: &[(StrColumn, Vec<u32>)], most: usize) -> io::Result<(Vec<(String, u64)>, usize)> {
    let mut sums: FxHashMap<Vec<u8>, u64> = FxHashMap::default();
    for (column, counts) in segments {
        let found = occurring(counts);
        let mut order = found.iter();
        let numbers: Vec<u64> = found.iter().map(|(number, _)| *number).collect();
        column.dictionary().sorted_ords_to_term_cb(&numbers, |value| {
            let count = order.next().map_or(0, |(_, count)| u64::from(*count));
            match sums.get_mut(value) {
                Some(sum) => *sum += count,
                None => _ = sums.insert(value.to_vec(), count),
            }
        })?;
    }
    let distinct = sums.len();
    let mut found: Vec<(Vec<u8>, u64)> = sums.into_iter().collect();
    keep_first(&mut found, most, |(value, count)| (Reverse(*count), value.clone()));
    let text = |value: Vec<u8>| String::from_utf8(value).unwrap_or_default();
    Ok((found.into_iter().map(|(value, count)| (text(value), count)).collect(), distinct))
}

fn occurring(counts: &[u32]) -> Vec<(u64, u32)> {
    (0..).zip(counts.iter().copied()).filter(|(_, count)| *count > 0).collect()
}

/// The first `most` in the order of their keys, without sorting the others.
fn keep_first<T, K: Ord>(all: &mut Vec<T>, most: usize, key: impl Fn(&T) -> K) {
    if most == 0 {
        all.clear();
    } else if all.len() > most {
        all.select_nth_unstable_by_key(most - 1, &key);
        all.truncate(most);
    }
    all.sort_unstable_by_key(key);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decades_go_on_before_our_era() {
        assert_eq!([1999, 2000, 0, -1, -10, -11].map(decade), [1990, 2000, 0, -10, -10, -20]);
    }

    #[test]
    fn only_the_first_are_kept_and_in_order() {
        let mut all = vec![5, 1, 4, 2, 3];
        keep_first(&mut all, 3, |n| *n);
        assert_eq!(all, [1, 2, 3]);
        keep_first(&mut all, 0, |n| *n);
        assert_eq!(all, [0; 0]);
    }
}
