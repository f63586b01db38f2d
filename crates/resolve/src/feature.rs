//! What is compared: a table of records and the values of their features.
//!
//! It is filled from rows (record, feature, value), as `SELECT ?record ?feature ?value` gives
//! them, in any order. A record is named by its source and its key within the source. When the
//! table is finished, records are numbered in the order of these names and the values of a
//! feature in the order of their text. So whatever is computed from numbers alone does not
//! depend on the order of arrival.

use std::collections::BTreeMap;
use std::ops::Range;

use rustc_hash::FxHashMap;

use super::fold::hash64;

/// A record's number in one table.
pub type Id = u32;

/// Strings one after the other.
#[derive(Default, Clone)]
pub struct Strings {
    text: String,
    ends: Vec<u64>,
}

impl Strings {
    pub fn get(&self, index: u32) -> &str {
        let index = index as usize;
        let end = self.ends.get(index).copied().unwrap_or(0);
        let start = if index == 0 { 0 } else { self.ends.get(index - 1).copied().unwrap_or(0) };
        self.text.get(start as usize..end as usize).unwrap_or_default()
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    fn push(&mut self, text: &str) -> u32 {
        self.text.push_str(text);
        self.ends.push(self.text.len() as u64);
        (self.ends.len() - 1) as u32
    }
}

/// Strings of which equal ones have one number.
#[derive(Default)]
struct Interner {
    strings: Strings,
    by_hash: FxHashMap<u64, u32>,
}

impl Interner {
    fn intern(&mut self, text: &str) -> u32 {
        let mut hash = hash64(text);
        loop {
            match self.by_hash.get(&hash) {
                Some(index) if self.strings.get(*index) == text => return *index,
                // Two texts of one hash: the next free number is as good.
                Some(_) => hash = hash.wrapping_add(1),
                None => break,
            }
        }
        let index = self.strings.push(text);
        self.by_hash.insert(hash, index);
        index
    }
}

/// The values of one feature: which record has which.
#[derive(Default, Clone)]
pub struct Column {
    strings: Strings,
    starts: Vec<u32>,
    values: Vec<u32>,
}

impl Column {
    /// The numbers of a record's values, in the order of their text.
    pub fn of(&self, record: Id) -> &[u32] {
        self.values.get(self.range(record)).unwrap_or_default()
    }

    pub fn texts(&self, record: Id) -> impl Iterator<Item = &str> {
        self.of(record).iter().map(|value| self.strings.get(*value))
    }

    /// The distinct values of all records.
    pub fn strings(&self) -> &Strings {
        &self.strings
    }

    fn range(&self, record: Id) -> Range<usize> {
        let at = record as usize;
        let start = self.starts.get(at).copied().unwrap_or(0) as usize;
        let end = self.starts.get(at + 1).copied().unwrap_or(0) as usize;
        start..end.max(start)
    }
}

/// Records and their features.
#[derive(Default, Clone)]
pub struct FeatureTable {
    sources: Vec<Box<str>>,
    source_of: Vec<u32>,
    keys: Strings,
    columns: BTreeMap<Box<str>, Column>,
}

impl FeatureTable {
    pub fn len(&self) -> usize {
        self.source_of.len()
    }

    pub fn is_empty(&self) -> bool {
        self.source_of.is_empty()
    }

    /// The sources in the order of their names.
    pub fn sources(&self) -> &[Box<str>] {
        &self.sources
    }

    /// The number of a record's source among [`sources`](Self::sources).
    pub fn source(&self, record: Id) -> u32 {
        self.source_of.get(record as usize).copied().unwrap_or(0)
    }

    pub fn source_name(&self, record: Id) -> &str {
        self.sources.get(self.source(record) as usize).map_or("", |name| name)
    }

    /// What the record is called in its source.
    pub fn key(&self, record: Id) -> &str {
        self.keys.get(record)
    }

    /// The record of this name.
    pub fn find(&self, source: &str, key: &str) -> Option<Id> {
        let (mut low, mut high) = (0, self.len() as u32);
        while low < high {
            let middle = low + (high - low) / 2;
            if (self.source_name(middle), self.key(middle)) < (source, key) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let found = (low as usize) < self.len() && (self.source_name(low), self.key(low)) == (source, key);
        found.then_some(low)
    }

    pub fn column(&self, feature: &str) -> Option<&Column> {
        self.columns.get(feature)
    }

    pub fn features(&self) -> impl Iterator<Item = &str> {
        self.columns.keys().map(|name| &**name)
    }

    /// A record's values of a feature.
    pub fn values<'a>(&'a self, record: Id, feature: &str) -> Vec<&'a str> {
        self.column(feature).map(|column| column.texts(record).collect()).unwrap_or_default()
    }
}

#[derive(Default)]
struct Rows {
    interner: Interner,
    rows: Vec<(Id, u32)>,
}

/// Takes rows in any order; [`finish`](Self::finish) makes the table.
#[derive(Default)]
pub struct Builder {
    sources: Vec<Box<str>>,
    source_of: Vec<u32>,
    keys: Strings,
    by_name: FxHashMap<u64, Id>,
    columns: BTreeMap<Box<str>, Rows>,
}

impl Builder {
    /// The number by which [`add`](Self::add) knows this record. It is provisional: the table
    /// has its own.
    pub fn record(&mut self, source: &str, key: &str) -> Id {
        let source = match self.sources.iter().position(|name| **name == *source) {
            Some(position) => position as u32,
            None => {
                self.sources.push(source.into());
                (self.sources.len() - 1) as u32
            }
        };
        let mut hash = hash64(key) ^ u64::from(source).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        loop {
            match self.by_name.get(&hash) {
                Some(id)
                    if self.source_of.get(*id as usize) == Some(&source) && self.keys.get(*id) == key =>
                {
                    return *id;
                }
                Some(_) => hash = hash.wrapping_add(1),
                None => break,
            }
        }
        let id = self.keys.push(key);
        self.source_of.push(source);
        self.by_name.insert(hash, id);
        id
    }

    /// One row. An empty value says nothing and is left out.
    pub fn add(&mut self, record: Id, feature: &str, value: &str) {
        let value = value.trim();
        if value.is_empty() {
            return;
        }
        if !self.columns.contains_key(feature) {
            self.columns.insert(feature.into(), Rows::default());
        }
        if let Some(rows) = self.columns.get_mut(feature) {
            let value = rows.interner.intern(value);
            rows.rows.push((record, value));
        }
    }

    pub fn finish(self) -> FeatureTable {
        drop(self.by_name);
        let mut order: Vec<u32> = (0..self.sources.len() as u32).collect();
        order.sort_unstable_by_key(|source| self.sources.get(*source as usize));
        let mut source_rank = vec![0_u32; self.sources.len()];
        for (rank, source) in order.iter().enumerate() {
            source_rank[*source as usize] = rank as u32;
        }
        let mut records: Vec<Id> = (0..self.source_of.len() as u32).collect();
        let name = |id: Id| (source_rank[self.source_of[id as usize] as usize], self.keys.get(id));
        records.sort_unstable_by(|left, right| name(*left).cmp(&name(*right)));
        let mut rank = vec![0; records.len()];
        let mut keys = Strings::default();
        let mut source_of = Vec::with_capacity(records.len());
        for (position, id) in records.iter().enumerate() {
            rank[*id as usize] = position as u32;
            keys.push(self.keys.get(*id));
            source_of.push(source_rank[self.source_of[*id as usize] as usize]);
        }
        let columns = self.columns.into_iter().map(|(name, rows)| (name, column(rows, &rank))).collect();
        let sources = order.iter().map(|source| self.sources[*source as usize].clone()).collect();
        FeatureTable { sources, source_of, keys, columns }
    }
}

fn column(rows: Rows, rank: &[u32]) -> Column {
    let Rows { interner, rows } = rows;
    let strings = interner.strings;
    let mut starts = vec![0_u32; rank.len() + 1];
    for (record, _) in &rows {
        starts[rank[*record as usize] as usize + 1] += 1;
    }
    for at in 1..starts.len() {
        starts[at] += starts[at - 1];
    }
    let mut next = starts.clone();
    let mut values = vec![0; rows.len()];
    for (record, value) in &rows {
        let at = &mut next[rank[*record as usize] as usize];
        values[*at as usize] = *value;
        *at += 1;
    }
    // Equal rows are one, and the order is that of the texts.
    let mut kept = 0;
    for record in 0..rank.len() {
        let (start, end) = (starts[record] as usize, starts[record + 1] as usize);
        starts[record] = kept as u32;
        let some = &mut values[start..end];
        some.sort_unstable_by(|left, right| strings.get(*left).cmp(strings.get(*right)));
        let mut last = None;
        for at in start..end {
            let value = values[at];
            if last != Some(value) {
                values[kept] = value;
                kept += 1;
                last = Some(value);
            }
        }
    }
    values.truncate(kept);
    if let Some(last) = starts.last_mut() {
        *last = kept as u32;
    }
    Column { strings, starts, values }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_follow_names_and_texts_not_arrival() {
        let rows = [("b", "2", "title", "Walden"), ("a", "9", "title", "Emma"), ("b", "1", "year", "1854")];
        let more = [("b", "2", "title", "Cape Cod"), ("b", "2", "title", "Walden"), ("b", "2", "year", " ")];
        let all: Vec<_> = rows.into_iter().chain(more).collect();
        for turn in 0..all.len() {
            let mut builder = Builder::default();
            for (source, key, feature, value) in all.iter().cycle().skip(turn).take(all.len()) {
                let record = builder.record(source, key);
                builder.add(record, feature, value);
            }
            let table = builder.finish();
            assert_eq!(table.len(), 3);
            assert_eq!(table.sources(), ["a".into(), "b".into()]);
            assert_eq!(table.find("b", "2"), Some(2));
            assert_eq!(table.find("b", "3"), None);
            assert_eq!(table.values(2, "title"), ["Cape Cod", "Walden"]);
            assert_eq!(table.values(2, "year"), Vec::<&str>::new());
            assert_eq!(table.values(1, "year"), ["1854"]);
        }
    }
}
