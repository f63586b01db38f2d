//! What resolving keeps beside the store so that it need not be found out again.
//!
//! One redb file, `resolution/cache.redb`, all of it derived: without it the next run takes longer
//! and ends the same. It holds what was read from each record, by the record's version and the
//! texts it was read with; the names given to entries, as the archive has them; and what the
//! master holds of each entry. Before the store is written the entries concerned are marked here,
//! so a run after a kill knows what it cannot rely on.

use super::entity::{Found, Kind};
use super::texts::Asked;
use super::{PipelineError, ResolveError};
use crate::config::Home;
use redb::{
    Database, ReadOnlyDatabase, ReadTransaction, ReadableDatabase, ReadableTable, ReadableTableMetadata,
    TableDefinition,
};
use rustc_hash::FxHashMap;
use std::path::Path;

/// `source NUL id`: what was read from the record.
const RECORDS: TableDefinition<&[u8], &[u8]> = TableDefinition::new("records");
/// `source NUL id`: with which version and which names the record is in the master.
const WRITTEN: TableDefinition<&[u8], &[u8; 16]> = TableDefinition::new("written");
/// The entries of the master: a hash of the members and one of the statements.
const ENTRIES: TableDefinition<(u8, u64), (u64, u64)> = TableDefinition::new("entries");
/// Entities whose entry is not named after them.
const NAMES: TableDefinition<(u8, &[u8]), u64> = TableDefinition::new("names");
/// Names given up, and what answers in their place.
const FORWARDED: TableDefinition<(u8, u64), u64> = TableDefinition::new("forwarded");
/// Pairs a person should look at, the likeliest first.
const REVIEW: TableDefinition<u64, &[u8]> = TableDefinition::new("review");
/// Unions that were refused, by profile.
const REFUSED: TableDefinition<u64, &[u8]> = TableDefinition::new("refused");
/// Entries that the full-text index has not followed yet.
const UNINDEXED: TableDefinition<(u8, u64), ()> = TableDefinition::new("unindexed");
const META: TableDefinition<&str, u64> = TableDefinition::new("meta");

/// How many records were read since the last run, as they came in.
pub(super) const READ: &str = "read";

/// Pages held in memory.
const CACHE: usize = 128 * 1024 * 1024;

/// `source NUL id`.
pub(super) type RecordKey = Box<[u8]>;

/// What a record was when it was read or written.
pub(super) type Digest = [u8; 16];

/// Things whose entry is not named after them, with the number in its name.
pub(super) type Names = FxHashMap<(Kind, Box<[u8]>), u64>;

/// An entry: what it is, and the number in its name.
pub(super) type EntryKey = (Kind, u64);

/// What was read from one record.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::pipeline) struct Reading {
    /// Of the record's version and of the texts it was read with.
    pub(super) hash: [u8; 16],
    pub(super) found: Vec<Found>,
    /// Instances to works, works to hubs, by place in `found`.
    pub(super) links: Vec<(usize, usize)>,
    pub(super) rows: Vec<Row>,
}

/// What was read from a record as it came in.
pub(in crate::pipeline) struct ReadingNews {
    pub key: Vec<u8>,
    /// `None` if it must be read again.
    pub reading: Option<Reading>,
    /// The record is the same and the rules are others, so what the master has of it is not current.
    pub is_remapped: bool,
}

/// One value that a query gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    /// By place in `found`.
    pub entity: usize,
    pub asked: Asked,
    /// Empty for a key.
    pub feature: Box<str>,
    pub value: Box<str>,
}

pub(in crate::pipeline) enum Cache {
    Writable(Database),
    ReadOnly(ReadOnlyDatabase),
}

/// Where a record stands in the tables.
pub(in crate::pipeline) fn record_key(source: &str, id: &str) -> Vec<u8> {
    [source.as_bytes(), &[0], id.as_bytes()].concat()
}

fn failed(error: impl std::fmt::Display) -> PipelineError {
    ResolveError::Cache(error.to_string()).into()
}

impl Cache {
    pub const FOLDER: &'static str = "resolution";

    pub fn open(home: &Home) -> Result<Self, PipelineError> {
        Self::open_in(&home.directory)
    }

    /// The cache of the catalogue in a directory.
    pub fn open_in(directory: &Path) -> Result<Self, PipelineError> {
        let folder = directory.join(Self::FOLDER);
        std::fs::create_dir_all(&folder).map_err(failed)?;
        let path = folder.join("cache.redb");
        let open = || Database::builder().set_cache_size(CACHE).create(&path);
        // All of it is derived: a file that cannot be used is made again.
        let database = open().or_else(|_| {
            let _ = std::fs::remove_file(&path);
            open()
        });
        let cache = Self::Writable(database.map_err(failed)?);
        cache.write(|_| Ok(()))?;
        Ok(cache)
    }

    /// For reading, beside other readers; `None` when nothing was resolved yet.
    pub fn open_read_only(home: &Home) -> Result<Option<Self>, PipelineError> {
        let path = home.directory.join(Self::FOLDER).join("cache.redb");
        if !path.exists() {
            return Ok(None);
        }
        match ReadOnlyDatabase::open(&path) {
            Ok(database) => Ok(Some(Self::ReadOnly(database))),
            // The last writer was killed; a writer has to have its turn first.
            Err(_) => Self::open(home).map(Some),
        }
    }

    /// Takes up what was read while records came in, or were mapped again.
    pub fn take(&self, news: &[ReadingNews]) -> Result<(), PipelineError> {
        let before = self.number(READ)?;
        self.write(|tables| {
            tables.set_number(READ, before + news.len() as u64)?;
            for ReadingNews { key, reading, is_remapped } in news {
                match reading {
                    Some(reading) => tables.set_reading(key, reading)?,
                    None => tables.forget_reading(key)?,
                }
                if *is_remapped {
                    tables.set_written(key, None)?;
                }
            }
            Ok(())
        })
    }

    fn read(&self) -> Result<ReadTransaction, PipelineError> {
        match self {
            Self::Writable(database) => database.begin_read(),
            Self::ReadOnly(database) => database.begin_read(),
        }
        .map_err(failed)
    }

    /// Takes away all that was kept; for a store that is made anew.
    pub fn remove(home: &Home) -> std::io::Result<()> {
        match std::fs::remove_dir_all(home.directory.join(Self::FOLDER)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Whether anything was kept.
    pub fn exists(home: &Home) -> bool {
        home.directory.join(Self::FOLDER).join("cache.redb").exists()
    }

    /// Changes some tables, all or nothing, durably.
    pub fn write<T>(
        &self,
        work: impl FnOnce(&mut Writing<'_>) -> Result<T, PipelineError>,
    ) -> Result<T, PipelineError> {
        let Self::Writable(database) = self else {
            return Err(failed("it was opened for reading"));
        };
        let transaction = database.begin_write().map_err(failed)?;
        let result = {
            let mut writing = Writing {
                records: transaction.open_table(RECORDS).map_err(failed)?,
                written: transaction.open_table(WRITTEN).map_err(failed)?,
                entries: transaction.open_table(ENTRIES).map_err(failed)?,
                names: transaction.open_table(NAMES).map_err(failed)?,
                forwarded: transaction.open_table(FORWARDED).map_err(failed)?,
                review: transaction.open_table(REVIEW).map_err(failed)?,
                refused: transaction.open_table(REFUSED).map_err(failed)?,
                unindexed: transaction.open_table(UNINDEXED).map_err(failed)?,
                meta: transaction.open_table(META).map_err(failed)?,
            };
            work(&mut writing)?
        };
        transaction.commit().map_err(failed)?;
        Ok(result)
    }

    /// Every reading, in the order of source and id.
    pub fn each_reading(
        &self,
        mut each: impl FnMut(&[u8], Reading) -> Result<(), PipelineError>,
    ) -> Result<(), PipelineError> {
        let reading = self.read()?;
        let table = reading.open_table(RECORDS).map_err(failed)?;
        for row in table.iter().map_err(failed)? {
            let (key, value) = row.map_err(failed)?;
            let Some(reading) = decode(value.value()) else { continue };
            each(key.value(), reading)?;
        }
        Ok(())
    }

    pub fn reading(&self, source: &str, id: &str) -> Result<Option<Reading>, PipelineError> {
        let reading = self.read()?;
        let table = reading.open_table(RECORDS).map_err(failed)?;
        let value = table.get(record_key(source, id).as_slice()).map_err(failed)?;
        Ok(value.and_then(|value| decode(value.value())))
    }

    /// The hash of every reading, in the order of source and id.
    pub fn hashes(&self) -> Result<Vec<(RecordKey, Digest)>, PipelineError> {
        let reading = self.read()?;
        let table = reading.open_table(RECORDS).map_err(failed)?;
        let rows = table.iter().map_err(failed)?;
        rows.map(|row| {
            let (key, value) = row.map_err(failed)?;
            let hash = value.value().get(..16).and_then(|hash| hash.try_into().ok()).unwrap_or_default();
            Ok((key.value().into(), hash))
        })
        .collect()
    }

    /// With which version and names each record is in the master.
    pub fn written(&self) -> Result<FxHashMap<RecordKey, Digest>, PipelineError> {
        let reading = self.read()?;
        let table = reading.open_table(WRITTEN).map_err(failed)?;
        let rows = table.iter().map_err(failed)?;
        rows.map(|row| {
            let (key, value) = row.map_err(failed)?;
            Ok((key.value().into(), *value.value()))
        })
        .collect()
    }

    /// Whether the master holds a version of a record.
    pub fn is_written(&self, key: &[u8]) -> Result<bool, PipelineError> {
        let reading = self.read()?;
        let table = reading.open_table(WRITTEN).map_err(failed)?;
        Ok(table.get(key).map_err(failed)?.is_some())
    }

    /// How many records the master holds.
    pub fn count_written(&self) -> Result<u64, PipelineError> {
        let reading = self.read()?;
        reading.open_table(WRITTEN).map_err(failed)?.len().map_err(failed)
    }

    /// What the master holds of each entry.
    pub fn entries(&self) -> Result<FxHashMap<EntryKey, (u64, u64)>, PipelineError> {
        self.by_entry(ENTRIES)
    }

    /// Names given up, and what answers in their place.
    pub fn forwarded(&self) -> Result<FxHashMap<EntryKey, u64>, PipelineError> {
        self.by_entry(FORWARDED)
    }

    /// A table with a row for each entry. Rows of a kind that is not known any more are left out.
    fn by_entry<T, V>(
        &self,
        definition: TableDefinition<(u8, u64), V>,
    ) -> Result<FxHashMap<EntryKey, T>, PipelineError>
    where
        V: for<'v> redb::Value<SelfType<'v> = T> + 'static,
    {
        let reading = self.read()?;
        let table = reading.open_table(definition).map_err(failed)?;
        let mut rows = FxHashMap::default();
        for row in table.iter().map_err(failed)? {
            let (key, value) = row.map_err(failed)?;
            let (kind, id) = key.value();
            if let Some(kind) = Kind::ALL.get(usize::from(kind)) {
                rows.insert((*kind, id), value.value());
            }
        }
        Ok(rows)
    }

    /// Entries that the full-text index has not followed yet.
    pub fn unindexed(&self) -> Result<Vec<EntryKey>, PipelineError> {
        let mut keys: Vec<EntryKey> = match self.by_entry(UNINDEXED) {
            Ok(rows) => rows.into_keys().collect(),
            // A cache from before there was an index, opened for reading.
            Err(_) if matches!(self, Self::ReadOnly(_)) => Vec::new(),
            Err(error) => return Err(error),
        };
        keys.sort_unstable();
        Ok(keys)
    }

    /// Entities whose entry is not named after them.
    pub fn names(&self) -> Result<Names, PipelineError> {
        let reading = self.read()?;
        let table = reading.open_table(NAMES).map_err(failed)?;
        let mut names = FxHashMap::default();
        for row in table.iter().map_err(failed)? {
            let (key, value) = row.map_err(failed)?;
            let (kind, name) = key.value();
            if let Some(kind) = Kind::ALL.get(usize::from(kind)) {
                names.insert((*kind, name.into()), value.value());
            }
        }
        Ok(names)
    }

    /// The name of a thing's entry, when it is not named after the thing.
    pub fn name(&self, kind: Kind, name: &[u8]) -> Result<Option<u64>, PipelineError> {
        let reading = self.read()?;
        let table = reading.open_table(NAMES).map_err(failed)?;
        Ok(table.get((kind as u8, name)).map_err(failed)?.map(|id| id.value()))
    }

    pub fn review(&self) -> Result<Vec<Vec<u8>>, PipelineError> {
        let reading = self.read()?;
        let table = reading.open_table(REVIEW).map_err(failed)?;
        let rows = table.iter().map_err(failed)?;
        rows.map(|row| Ok(row.map_err(failed)?.1.value().to_vec())).collect()
    }

    /// `None` in a cache from before refusals were kept, opened for reading.
    pub fn refused(&self) -> Result<Option<Vec<Vec<u8>>>, PipelineError> {
        let reading = self.read()?;
        let table = match reading.open_table(REFUSED) {
            Ok(table) => table,
            Err(redb::TableError::TableDoesNotExist(_)) => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        let rows = table.iter().map_err(failed)?;
        let rows = rows.map(|row| Ok(row.map_err(failed)?.1.value().to_vec()));
        rows.collect::<Result<_, PipelineError>>().map(Some)
    }

    pub fn number(&self, name: &str) -> Result<u64, PipelineError> {
        let reading = self.read()?;
        let table = reading.open_table(META).map_err(failed)?;
        Ok(table.get(name).map_err(failed)?.map_or(0, |value| value.value()))
    }
}

/// The tables while one transaction changes them.
pub(in crate::pipeline) struct Writing<'t> {
    records: redb::Table<'t, &'static [u8], &'static [u8]>,
    written: redb::Table<'t, &'static [u8], &'static [u8; 16]>,
    entries: redb::Table<'t, (u8, u64), (u64, u64)>,
    names: redb::Table<'t, (u8, &'static [u8]), u64>,
    forwarded: redb::Table<'t, (u8, u64), u64>,
    review: redb::Table<'t, u64, &'static [u8]>,
    refused: redb::Table<'t, u64, &'static [u8]>,
    unindexed: redb::Table<'t, (u8, u64), ()>,
    meta: redb::Table<'t, &'static str, u64>,
}

impl Writing<'_> {
    pub fn set_reading(&mut self, key: &[u8], reading: &Reading) -> Result<(), PipelineError> {
        self.records.insert(key, encode(reading).as_slice()).map_err(failed)?;
        Ok(())
    }

    pub fn forget_reading(&mut self, key: &[u8]) -> Result<(), PipelineError> {
        self.records.remove(key).map_err(failed)?;
        Ok(())
    }

    pub fn set_written(&mut self, key: &[u8], digest: Option<[u8; 16]>) -> Result<(), PipelineError> {
        match digest {
            Some(digest) => self.written.insert(key, &digest).map_err(failed)?.map(drop),
            None => self.written.remove(key).map_err(failed)?.map(drop),
        };
        Ok(())
    }

    pub fn set_entry(
        &mut self,
        (kind, id): EntryKey,
        hashes: Option<(u64, u64)>,
    ) -> Result<(), PipelineError> {
        match hashes {
            Some(hashes) => self.entries.insert((kind as u8, id), hashes).map_err(failed)?.map(drop),
            None => self.entries.remove((kind as u8, id)).map_err(failed)?.map(drop),
        };
        Ok(())
    }

    pub fn set_name(&mut self, kind: Kind, name: &[u8], id: Option<u64>) -> Result<(), PipelineError> {
        match id {
            Some(id) => self.names.insert((kind as u8, name), id).map_err(failed)?.map(drop),
            None => self.names.remove((kind as u8, name)).map_err(failed)?.map(drop),
        };
        Ok(())
    }

    pub fn set_forward(&mut self, (kind, id): EntryKey, into: Option<u64>) -> Result<(), PipelineError> {
        match into {
            Some(into) => self.forwarded.insert((kind as u8, id), into).map_err(failed)?.map(drop),
            None => self.forwarded.remove((kind as u8, id)).map_err(failed)?.map(drop),
        };
        Ok(())
    }

    /// Notes that the full-text index has to follow an entry.
    pub fn mark_unindexed(&mut self, (kind, id): EntryKey) -> Result<(), PipelineError> {
        self.unindexed.insert((kind as u8, id), ()).map_err(failed)?;
        Ok(())
    }

    /// Notes that the full-text index has followed all of them.
    pub fn clear_unindexed(&mut self) -> Result<(), PipelineError> {
        self.unindexed.retain(|_, ()| false).map_err(failed)
    }

    pub fn set_review(&mut self, pairs: &[Vec<u8>]) -> Result<(), PipelineError> {
        replace(&mut self.review, pairs)
    }

    pub fn set_refused(&mut self, refused: &[Vec<u8>]) -> Result<(), PipelineError> {
        replace(&mut self.refused, refused)
    }

    pub fn set_number(&mut self, name: &str, number: u64) -> Result<(), PipelineError> {
        self.meta.insert(name, number).map_err(failed)?;
        Ok(())
    }
}

/// Puts a list in the place of the one before.
fn replace(table: &mut redb::Table<'_, u64, &'static [u8]>, list: &[Vec<u8>]) -> Result<(), PipelineError> {
    table.retain(|_, _| false).map_err(failed)?;
    for (place, one) in (0_u64..).zip(list) {
        table.insert(place, one.as_slice()).map_err(failed)?;
    }
    Ok(())
}

pub(super) fn put_number(out: &mut Vec<u8>, mut number: usize) {
    while number >= 0x80 {
        out.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

pub(super) fn put_text(out: &mut Vec<u8>, text: &str) {
    put_number(out, text.len());
    out.extend_from_slice(text.as_bytes());
}

fn encode(reading: &Reading) -> Vec<u8> {
    let mut out = reading.hash.to_vec();
    put_number(&mut out, reading.found.len());
    for found in &reading.found {
        out.push(found.kind as u8);
        put_text(&mut out, &found.node);
    }
    put_number(&mut out, reading.links.len());
    for (from, to) in &reading.links {
        put_number(&mut out, *from);
        put_number(&mut out, *to);
    }
    put_number(&mut out, reading.rows.len());
    for row in &reading.rows {
        put_number(&mut out, row.entity);
        out.push(row.asked as u8);
        put_text(&mut out, &row.feature);
        put_text(&mut out, &row.value);
    }
    out
}

/// Bytes that are read from the front.
pub(super) struct Bytes<'a>(pub &'a [u8]);

impl<'a> Bytes<'a> {
    pub fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    pub fn number(&mut self) -> Option<usize> {
        let (mut number, mut shift) = (0_usize, 0);
        loop {
            let byte = *self.take(1)?.first()?;
            number |= usize::from(byte & 0x7f).checked_shl(shift)?;
            if byte < 0x80 {
                return Some(number);
            }
            shift += 7;
        }
    }

    pub fn text(&mut self) -> Option<&'a str> {
        let length = self.number()?;
        std::str::from_utf8(self.take(length)?).ok()
    }

    pub fn byte(&mut self) -> Option<usize> {
        self.take(1)?.first().map(|byte| usize::from(*byte))
    }
}

fn decode(bytes: &[u8]) -> Option<Reading> {
    let mut bytes = Bytes(bytes);
    let hash = bytes.take(16)?.try_into().ok()?;
    let mut reading = Reading { hash, ..Reading::default() };
    for _ in 0..bytes.number()? {
        let kind = *Kind::ALL.get(bytes.byte()?)?;
        reading.found.push(Found { kind, node: bytes.text()?.into() });
    }
    for _ in 0..bytes.number()? {
        reading.links.push((bytes.number()?, bytes.number()?));
    }
    for _ in 0..bytes.number()? {
        let entity = bytes.number()?;
        let asked = *Asked::ALL.get(bytes.byte()?)?;
        reading.rows.push(Row { entity, asked, feature: bytes.text()?.into(), value: bytes.text()?.into() });
    }
    Some(reading)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reading_comes_back_as_it_was() {
        let reading = Reading {
            hash: [7; 16],
            found: vec![Found { kind: Kind::Instance, node: "#instance".into() }],
            links: vec![(0, 300)],
            rows: vec![Row {
                entity: 0,
                asked: Asked::Agent,
                feature: "title".into(),
                value: "é".repeat(200).into(),
            }],
        };
        assert_eq!(decode(&encode(&reading)), Some(reading));
        assert_eq!(decode(&[0; 15]), None);
    }
}
