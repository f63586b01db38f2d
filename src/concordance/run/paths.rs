//! The ways to the fields of a record: `mods:titleInfo/mods:title`.
//!
//! A megabyte of elements with long names may stand around millions of empty ones. So a way is known
//! by its last tag and the number of the way before it, each different one is kept once, and it is
//! written out only for whoever wants it and only up to [`LONGEST_PATH`].

use super::view::View;
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// Bytes of the tags of a way that is written out. For a field at the end of a longer one its tag
/// stands alone.
const LONGEST_PATH: usize = 1024;

/// Bytes of all ways that a record is listed with.
const LONGEST_LIST: usize = 1024 * 1024;

/// The ways to all fields of a record.
#[derive(Debug, Default)]
pub struct Paths<'a> {
    /// Each different one, in the order of the record.
    ways: Vec<Way<'a>>,
    of_field: Vec<Number>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Number(u32);

#[derive(Debug)]
struct Way<'a> {
    before: Option<Number>,
    tag: &'a str,
    /// Bytes of its tags.
    length: usize,
}

impl<'a> Paths<'a> {
    pub fn new(view: &View<'a>) -> Self {
        let mut paths = Self { ways: Vec::new(), of_field: Vec::with_capacity(view.fields.len()) };
        let mut numbers: FxHashMap<(Option<Number>, &'a str), Number> = FxHashMap::default();
        // The ways to the field before and to those around it, outermost first.
        let mut open: Vec<Number> = Vec::new();
        for field in &view.fields {
            // The values of a JSON array share one key, at one place of the record's text. It may be
            // long, so it is not read again for each of them.
            let again = open.get(field.depth).copied();
            let again =
                again.filter(|way| paths.way(*way).is_some_and(|way| std::ptr::eq(way.tag, field.tag)));
            open.truncate(field.depth);
            let number = again.unwrap_or_else(|| {
                let before = open.last().copied();
                *numbers.entry((before, field.tag)).or_insert_with(|| paths.push(before, field.tag))
            });
            open.push(number);
            paths.of_field.push(number);
        }
        paths
    }

    /// The way to the field with this index.
    pub fn of_field(&self, index: usize) -> Cow<'a, str> {
        self.of_field.get(index).map_or(Cow::Borrowed(""), |number| self.text(*number))
    }

    /// Every way once; `None` if they are too long or too many to be written down.
    pub fn all(&self) -> Option<Vec<Cow<'a, str>>> {
        let mut length = 0;
        for way in &self.ways {
            length += way.length + 1;
            if way.length > LONGEST_PATH && way.before.is_some() || length > LONGEST_LIST {
                return None;
            }
        }
        Some((0..).map(Number).take(self.ways.len()).map(|number| self.text(number)).collect())
    }

    fn push(&mut self, before: Option<Number>, tag: &'a str) -> Number {
        let number = Number(u32::try_from(self.ways.len()).unwrap_or(u32::MAX));
        let length = before.and_then(|before| self.way(before)).map_or(0, |before| before.length);
        self.ways.push(Way { before, tag, length: length + tag.len() });
        number
    }

    fn way(&self, number: Number) -> Option<&Way<'a>> {
        self.ways.get(number.0 as usize)
    }

    fn text(&self, number: Number) -> Cow<'a, str> {
        let Some(way) = self.way(number) else { return Cow::Borrowed("") };
        if way.before.is_none() || way.length > LONGEST_PATH {
            return Cow::Borrowed(way.tag);
        }
        let mut tags = Vec::new();
        let mut next = Some(way);
        while let Some(way) = next {
            tags.push(way.tag);
            next = way.before.and_then(|before| self.way(before));
        }
        tags.reverse();
        Cow::Owned(tags.join("/"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Model, Record, RecordBuilder};

    fn record(fields: impl IntoIterator<Item = (usize, String)>) -> Record {
        let mut builder = RecordBuilder::new(Model::Mods);
        for (depth, tag) in fields {
            builder.field(&tag, [' ', ' '], "", depth);
        }
        builder.finish()
    }

    #[test]
    fn a_field_is_known_by_the_way_to_it_and_each_way_is_kept_once() {
        let fields = [(0, "a"), (1, "b"), (2, "c"), (1, "b"), (0, "b"), (1, "b"), (0, "a"), (1, "b")];
        let record = record(fields.map(|(depth, tag)| (depth, tag.to_owned())));
        let view = View::new(&record);
        let paths = Paths::new(&view);
        let found: Vec<_> = (0..fields.len()).map(|index| paths.of_field(index)).collect();
        assert_eq!(found, ["a", "a/b", "a/b/c", "a/b", "b", "b/b", "a", "a/b"]);
        assert_eq!(paths.all().unwrap(), ["a", "a/b", "a/b/c", "b", "b/b"]);
    }

    #[test]
    fn values_of_one_key_are_one_way() {
        let mut builder = RecordBuilder::new(Model::Json);
        let key = builder.name("k");
        for _ in 0..3 {
            builder.field_named(key, [' ', ' '], "", 0);
            builder.field_named(key, [' ', ' '], "", 1);
            builder.field("k", [' ', ' '], "", 1);
        }
        let record = builder.finish();
        assert_eq!(Paths::new(&View::new(&record)).all().unwrap(), ["k", "k/k"]);
    }

    /// The way was once written out for each of them: a megabyte for four bytes.
    #[test]
    fn the_way_to_many_deep_leaves_is_not_written_for_each() {
        let deep = (0..255).map(|depth| (depth, "x".repeat(4096)));
        let same = record(deep.clone().chain((0..10_000).map(|_| (255, "a".to_owned()))));
        let view = View::new(&same);
        let paths = Paths::new(&view);
        assert_eq!((paths.ways.len(), paths.of_field.len()), (256, 10_255));
        assert_eq!(paths.of_field(10_000), "a");
        assert_eq!(paths.all(), None);
        let different = record(deep.chain((0..10_000).map(|number| (255, number.to_string()))));
        let view = View::new(&different);
        let paths = Paths::new(&view);
        assert_eq!((paths.ways.len(), paths.all()), (10_255, None));
    }

    #[test]
    fn more_different_ways_than_anybody_reads_are_not_listed() {
        let listed = |count: usize| {
            let leaves = (0..count).map(|number| (1, format!("{number:05}")));
            let record = record(std::iter::once((0, "x".repeat(1000))).chain(leaves));
            let view = View::new(&record);
            Paths::new(&view).all().map(|all| all.len())
        };
        assert_eq!((listed(1000), listed(2000)), (Some(1001), None));
    }
}
