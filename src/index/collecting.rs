//! One pass over all hits: how many, which come first, and, if somebody counts them, which.

use super::facets::YEARS;
use super::schema::{FIRST_SEEN, TIE};
use super::searching::Sort;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use tantivy::collector::{Collector, SegmentCollector};
use tantivy::columnar::Column;
use tantivy::{BitSet, DocAddress, DocId, Score, SegmentOrdinal, SegmentReader};

/// What is wanted of the hits.
pub(super) struct Gather {
    pub sort: Sort,
    /// How many hits in order.
    pub first: usize,
    /// Whether to note every one of them.
    pub all: bool,
}

/// What was found.
pub(super) struct Gathered {
    pub total: u64,
    pub first: Vec<Ranked>,
    /// By segment; none if not all were to be noted.
    pub all: Vec<(SegmentOrdinal, BitSet)>,
}

/// A hit and its place in the order: greater comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Ranked {
    key: i64,
    /// Of equal hits the order is that of a hash of their names: the same in every index.
    tie: Reverse<u64>,
    address: DocAddress,
}

impl Ranked {
    pub fn address(&self) -> DocAddress {
        self.address
    }

    pub fn score(&self, sort: Sort) -> Score {
        if sort == Sort::Score { u32::try_from(self.key).map_or(0.0, f32::from_bits) } else { 0.0 }
    }
}

impl Collector for Gather {
    type Fruit = Gathered;
    type Child = InSegment;

    fn for_segment(&self, number: SegmentOrdinal, segment: &SegmentReader) -> tantivy::Result<InSegment> {
        let columns = segment.fast_fields();
        let key = match self.sort {
            Sort::Score => Key::Score,
            Sort::Newest | Sort::Oldest => match columns.column_opt::<i64>(YEARS)? {
                None => Key::None,
                Some(years) if self.sort == Sort::Newest => Key::Latest(years),
                Some(years) => Key::Earliest(years),
            },
            Sort::FirstSeen => columns.column_opt::<i64>(FIRST_SEEN)?.map_or(Key::None, Key::Latest),
        };
        let tie = columns.column_opt::<u64>(TIE)?;
        let all = self.all.then(|| BitSet::with_max_value(segment.max_doc()));
        Ok(InSegment { number, key, tie, most: self.first, total: 0, first: BinaryHeap::new(), all })
    }

    fn requires_scoring(&self) -> bool {
        self.sort == Sort::Score && self.first > 0
    }

    fn merge_fruits(&self, segments: Vec<SegmentHits>) -> tantivy::Result<Gathered> {
        let total = segments.iter().map(|segment| segment.total).sum();
        let (mut first, mut all) = (Vec::new(), Vec::new());
        for segment in segments {
            first.extend(segment.first);
            all.extend(segment.all.map(|hits| (segment.number, hits)));
        }
        first.sort_unstable_by(|left, right| right.cmp(left));
        first.truncate(self.first);
        Ok(Gathered { total, first, all })
    }
}

/// By what the hits of a segment are put in order.
enum Key {
    Score,
    /// The greatest value comes first, no value last.
    Latest(Column<i64>),
    /// The smallest value comes first, no value last.
    Earliest(Column<i64>),
    None,
}

pub(super) struct InSegment {
    number: SegmentOrdinal,
    key: Key,
    tie: Option<Column<u64>>,
    most: usize,
    total: u64,
    first: BinaryHeap<Reverse<Ranked>>,
    all: Option<BitSet>,
}

pub(super) struct SegmentHits {
    number: SegmentOrdinal,
    total: u64,
    first: Vec<Ranked>,
    all: Option<BitSet>,
}

impl SegmentCollector for InSegment {
    type Fruit = SegmentHits;

    fn collect(&mut self, doc: DocId, score: Score) {
        self.total += 1;
        if let Some(all) = &mut self.all {
            all.insert(doc);
        }
        let key = match &self.key {
            // Scores are never negative, and then their bits are in the order of the numbers.
            Key::Score => i64::from(score.to_bits()),
            Key::Latest(column) => column.values_for_doc(doc).max().unwrap_or(i64::MIN),
            Key::Earliest(column) => column.values_for_doc(doc).min().map_or(i64::MIN, |least| -least),
            Key::None => i64::MIN,
        };
        let full = self.first.len() >= self.most;
        if full && self.first.peek().is_none_or(|Reverse(last)| key < last.key) {
            return;
        }
        let tie = Reverse(self.tie.as_ref().and_then(|column| column.first(doc)).unwrap_or_default());
        self.first.push(Reverse(Ranked { key, tie, address: DocAddress::new(self.number, doc) }));
        if full {
            self.first.pop();
        }
    }

    fn harvest(self) -> SegmentHits {
        let first = self.first.into_iter().map(|Reverse(ranked)| ranked).collect();
        SegmentHits { number: self.number, total: self.total, first, all: self.all }
    }
}
