//! By what can hits be counted and narrowed, and how often does each value occur?
//!
//! Counting is exact and over all hits; which documents are looked at for it is decided by
//! [`counting`](super::counting). Within a segment values are numbers, and a document costs an
//! increment each. Between segments the numbers differ, so that counts are added up by value; but
//! looking a value up costs more than counting it, and a facet may have a hundred thousand. So only
//! those are looked up that can be among the most frequent: see [`frequent`].

use super::document::words;
use rustc_hash::{FxHashMap, FxHashSet};
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
    /// Whether there are others.
    pub more: bool,
}

/// The first year of a decade; years before our era count down.
pub fn decade(year: i64) -> i64 {
    year.div_euclid(10) * 10
}

/// Counts one facet in one segment.
#[derive(Clone)]
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

    /// Adds the values of documents.
    pub(super) fn count(&mut self, documents: &[DocId]) {
        match self {
            Self::Absent => {}
            Self::Words { column, counts } => {
                for number in documents.iter().flat_map(|doc| column.term_ords(*doc)) {
                    if let Some(count) = counts.get_mut(number as usize) {
                        *count += 1;
                    }
                }
            }
            Self::Years { column, counts, group } => {
                for doc in documents {
                    // Years are stored in order, so those of one decade follow each other.
                    let mut last = None;
                    for year in column.values_for_doc(*doc).map(*group) {
                        if last.replace(year) != Some(year) {
                            *counts.entry(year).or_default() += 1;
                        }
                    }
                }
            }
        }
    }

    /// Takes off what another tally, of some of the same documents, has counted.
    pub(super) fn take_off(&mut self, other: &Self) {
        match (self, other) {
            (Self::Words { counts, .. }, Self::Words { counts: off, .. }) => {
                counts.iter_mut().zip(off).for_each(|(count, off)| *count = count.saturating_sub(*off));
            }
            (Self::Years { counts, .. }, Self::Years { counts: off, .. }) => {
                counts.retain(|year, count| {
                    *count = count.saturating_sub(off.get(year).copied().unwrap_or_default());
                    *count > 0
                });
            }
            _ => {}
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
        let more = years.len() > most;
        let mut years: Vec<(i64, u64)> = years.into_iter().collect();
        years.sort_unstable_by_key(|(year, _)| Reverse(*year));
        years.truncate(most);
        let values = years.into_iter().map(|(year, count)| (year.to_string(), count)).collect();
        return Ok(Counts { facet, values, more });
    }
    let (values, more) = match words.as_slice() {
        [] => (Vec::new(), false),
        [segment] => (resolve(segment, &top(segment, most))?, occurring(&segment.1).len() > most),
        segments => of_segments(segments, most)?,
    };
    Ok(Counts { facet, values, more })
}

/// The numbers of values in a segment, and how often each occurs.
type Segment = (StrColumn, Vec<u32>);

fn of_segments(segments: &[Segment], most: usize) -> io::Result<(Vec<(String, u64)>, bool)> {
    let mut sums: FxHashMap<String, u64> = FxHashMap::default();
    let found: Vec<_> = segments.iter().map(|(_, counts)| occurring(counts)).collect();
    let frequent =
        if found.iter().map(Vec::len).sum::<usize>() > FEW { frequent(segments, most)? } else { None };
    match frequent {
        Some(values) => {
            for value in values {
                let mut sum = 0;
                for (column, counts) in segments {
                    let number = column.dictionary().term_ord(&value)?;
                    sum += number
                        .and_then(|number| counts.get(number as usize))
                        .map_or(0, |count| u64::from(*count));
                }
                sums.insert(value, sum);
            }
        }
        None => {
            for (segment, found) in segments.iter().zip(&found) {
                for (value, count) in resolve(segment, found)? {
                    *sums.entry(value).or_default() += count;
                }
            }
        }
    }
    let more = sums.len() > most || found.iter().any(|found| found.len() > most);
    let mut values: Vec<(String, u64)> = sums.into_iter().collect();
    keep_first(&mut values, most, |(value, count)| (Reverse(*count), value.clone()));
    Ok((values, more))
}

/// Fewer values than these are looked up at once.
const FEW: usize = if cfg!(test) { 2 } else { 2_000 };
/// More values than these are faster looked up in order.
const MANY: usize = 4_000;

/// The values of which the `most` frequent are some; `None` if they are not few.
///
/// The first ones of each segment, added up, give `most` values that occur at least so often. What
/// occurs as often in all segments together must, in one of them, occur that often divided by their
/// number.
fn frequent(segments: &[Segment], most: usize) -> io::Result<Option<FxHashSet<String>>> {
    let mut sums: FxHashMap<String, u64> = FxHashMap::default();
    for segment in segments {
        for (value, count) in resolve(segment, &top(segment, most))? {
            *sums.entry(value).or_default() += count;
        }
    }
    let mut sums: Vec<u64> = sums.into_values().collect();
    keep_first(&mut sums, most, |sum| Reverse(*sum));
    let least = if sums.len() < most { 1 } else { sums.last().copied().unwrap_or(1) };
    let share = least.div_ceil(segments.len() as u64);
    let mut values = FxHashSet::default();
    for segment in segments {
        let mut often = occurring(&segment.1);
        often.retain(|(_, count)| u64::from(*count) >= share);
        if values.len() + often.len() > MANY {
            return Ok(None);
        }
        values.extend(resolve(segment, &often)?.into_iter().map(|(value, _)| value));
    }
    Ok(Some(values))
}

/// The most frequent values of a segment; of equally frequent ones the first, as numbers are in
/// the order of the values.
fn top((_, counts): &Segment, most: usize) -> Vec<(u64, u32)> {
    let mut found = occurring(counts);
    keep_first(&mut found, most, |(number, count)| (Reverse(*count), *number));
    found
}

/// Numbers become values; the order stays.
fn resolve((column, _): &Segment, numbers: &[(u64, u32)]) -> io::Result<Vec<(String, u64)>> {
    let mut order: Vec<usize> = (0..numbers.len()).collect();
    order.sort_unstable_by_key(|at| numbers[*at].0);
    let sorted: Vec<u64> = order.iter().map(|at| numbers[*at].0).collect();
    let mut values: Vec<(String, u64)> =
        numbers.iter().map(|(_, count)| (String::new(), u64::from(*count))).collect();
    let mut places = order.into_iter();
    column.dictionary().sorted_ords_to_term_cb(&sorted, |value| {
        if let Some((place, _)) = places.next().and_then(|at| values.get_mut(at)) {
            *place = String::from_utf8_lossy(value).into_owned();
        }
    })?;
    Ok(values)
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
