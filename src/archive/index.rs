//! Finding things in the segments: records and their versions, equal payloads, rejects, runs.
//!
//! One redb file. Most commits are not synced: after a kill the index is an older state of
//! itself, and [`Archive::open`](super::Archive::open) reads the rest from the segments.

use super::ArchiveError;
use super::entry::PayloadHash;
use super::writing::Tables;
use redb::{
    Database, Durability, ReadOnlyDatabase, ReadTransaction, ReadableDatabase, ReadableTable, TableDefinition,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// The first entry's number of each block, and where the block lies.
pub(super) const BLOCKS: TableDefinition<u64, (u32, u64, u64)> = TableDefinition::new("blocks");
/// `source NUL id`: the record's versions.
pub(super) const RECORDS: TableDefinition<&[u8], &[u8]> = TableDefinition::new("records");
/// `source NUL id NUL sequence`: versions that the record's row has no room for.
pub(super) const OLDER: TableDefinition<&[u8], &[u8]> = TableDefinition::new("older");
/// The entry that holds a payload.
pub(super) const PAYLOADS: TableDefinition<&[u8; 16], u64> = TableDefinition::new("payloads");
/// Rejects not made good, with `source NUL origin`.
pub(super) const REJECTS: TableDefinition<u64, &[u8]> = TableDefinition::new("rejects");
/// What makes two rejects the same one.
pub(super) const REJECT_KEYS: TableDefinition<&[u8; 16], u64> = TableDefinition::new("reject-keys");
pub(super) const RUNS: TableDefinition<u64, &[u8]> = TableDefinition::new("runs");
pub(super) const SOURCES: TableDefinition<&str, &[u8]> = TableDefinition::new("sources");
/// Loaded rule files by path, with their versions.
pub(super) const CONCORDANCES: TableDefinition<&str, &[u8]> = TableDefinition::new("concordances");
/// Loaded vocabularies by name, with their versions.
pub(super) const VOCABULARIES: TableDefinition<&str, &[u8]> = TableDefinition::new("vocabularies");
/// The last word on the harvest of a source.
pub(super) const HARVESTS: TableDefinition<&str, &[u8]> = TableDefinition::new("harvests");
/// People's decisions about duplicates, by their entry.
pub(super) const DECISIONS: TableDefinition<u64, &[u8]> = TableDefinition::new("decisions");
/// What resolving left behind: the entry, and what it is.
pub(super) const RESOLUTIONS: TableDefinition<u64, &str> = TableDefinition::new("resolutions");
pub(super) const META: TableDefinition<&str, u64> = TableDefinition::new("meta");

/// Pages of the index held in memory.
const CACHE: usize = 64 * 1024 * 1024;

/// Where a block lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub segment: u32,
    pub offset: u64,
    pub length: u64,
}

/// Up to where the segments are indexed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct End {
    pub segment: u32,
    pub offset: u64,
}

/// One version of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Version {
    /// The entry that holds it.
    pub sequence: u64,
    pub hash: PayloadHash,
    pub run: u64,
    pub withdrawn: bool,
}

impl Version {
    /// Bytes of one version in the index.
    const LENGTH: usize = 33;

    pub(super) fn encode(&self) -> [u8; Self::LENGTH] {
        let mut bytes = [0; Self::LENGTH];
        let parts = self.sequence.to_le_bytes().into_iter().chain(self.run.to_le_bytes());
        let parts = parts.chain(self.hash.0).chain([u8::from(self.withdrawn)]);
        for (to, from) in bytes.iter_mut().zip(parts) {
            *to = from;
        }
        bytes
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        Some(Self {
            sequence: number(bytes.get(..8)?),
            run: number(bytes.get(8..16)?),
            hash: PayloadHash(bytes.get(16..32)?.try_into().ok()?),
            withdrawn: bytes.get(32) == Some(&1),
        })
    }
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// The versions of a record, oldest first; never empty. Only the last [`HELD`](Self::HELD)
/// are at hand: an identifier that stands for everything must not make each record slower
/// than the one before.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RecordState {
    /// How many came before those at hand.
    pub older: usize,
    pub versions: Vec<Version>,
}

impl RecordState {
    const HELD: usize = 32;

    pub fn current(&self) -> Option<&Version> {
        self.versions.last()
    }

    /// How many versions there are.
    pub fn len(&self) -> usize {
        self.older + self.versions.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Takes out the oldest version at hand when there is no room for another.
    pub(super) fn make_room(&mut self) -> Option<Version> {
        if self.versions.len() < Self::HELD {
            return None;
        }
        self.older += 1;
        Some(self.versions.remove(0))
    }

    pub(super) fn push(&mut self, version: Version) {
        self.versions.push(version);
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut bytes = (self.older as u64).to_le_bytes().to_vec();
        self.versions.iter().for_each(|version| bytes.extend_from_slice(&version.encode()));
        bytes
    }

    pub(super) fn decode(bytes: &[u8]) -> Self {
        let (older, versions) = bytes.split_at_checked(8).unwrap_or_default();
        Self {
            older: usize::try_from(number(older)).unwrap_or(0),
            versions: versions.chunks_exact(Version::LENGTH).filter_map(Version::decode).collect(),
        }
    }
}

/// What one source has in the archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SourceCounts {
    /// Records that are there now.
    pub records: u64,
    pub withdrawn: u64,
    /// Versions of all records, withdrawals not counted.
    pub versions: u64,
    pub rejects: u64,
    /// Bytes of its payloads as received; equal ones count once.
    pub bytes: u64,
}

/// One version of a loaded rule file or vocabulary.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConcordanceVersion {
    /// The entry that holds it.
    pub sequence: u64,
    pub hash: PayloadHash,
    /// It was taken back.
    pub unloaded: bool,
    pub time: String,
}

/// One run of an import.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Run {
    pub source: String,
    /// The files or URLs read.
    pub origins: Vec<String>,
    /// The program and version that read them.
    pub agent: String,
    pub started: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished: Option<String>,
    /// Rejects of earlier runs that did not occur again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub made_good: Vec<u64>,
    /// What it amounted to, once it is finished.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<RunReport>,
}

/// What a run amounted to.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RunReport {
    pub records: u64,
    pub new: u64,
    pub changed: u64,
    pub unchanged: u64,
    pub withdrawn: u64,
    pub rejected: u64,
    /// How often each diagnostic was given.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub problems: BTreeMap<String, u64>,
}

pub(super) enum Index {
    Writable(Database),
    ReadOnly(ReadOnlyDatabase),
}

impl Index {
    pub fn open(path: &Path) -> Result<Self, ArchiveError> {
        Self::over(Database::builder().set_cache_size(CACHE).create(path).map_err(failed)?)
    }

    pub fn over(database: Database) -> Result<Self, ArchiveError> {
        let writing = database.begin_write().map_err(failed)?;
        Tables::open(&writing)?;
        writing.commit().map_err(failed)?;
        Ok(Self::Writable(database))
    }

    pub fn open_read_only(path: &Path) -> Result<Self, ArchiveError> {
        Ok(Self::ReadOnly(ReadOnlyDatabase::open(path).map_err(failed)?))
    }

    /// Runs `work` in one transaction; commits when it names an end of the segments.
    pub fn write<T>(
        &self,
        durable: bool,
        work: impl FnOnce(&mut Tables<'_>) -> Result<(T, Option<End>), ArchiveError>,
    ) -> Result<T, ArchiveError> {
        let Self::Writable(database) = self else {
            return Err(ArchiveError::Index("it was opened for reading".to_owned()));
        };
        let mut transaction = database.begin_write().map_err(failed)?;
        let durability = if durable { Durability::Immediate } else { Durability::None };
        transaction.set_durability(durability).map_err(failed)?;
        // A killed process then costs milliseconds at the next opening, not a walk of all pages.
        transaction.set_quick_repair(durable);
        let mut tables = Tables::open(&transaction)?;
        let (result, end) = work(&mut tables)?;
        if let Some(end) = end {
            tables.close(end)?;
            drop(tables);
            transaction.commit().map_err(failed)?;
        } else {
            drop(tables);
            transaction.abort().map_err(failed)?;
        }
        Ok(result)
    }

    pub fn end(&self) -> Result<End, ArchiveError> {
        let reading = self.read()?;
        let meta = reading.open_table(META).map_err(failed)?;
        let value = |key| -> Result<u64, ArchiveError> {
            Ok(meta.get(key).map_err(failed)?.map_or(0, |value| value.value()))
        };
        Ok(End { segment: u32::try_from(value("segment")?).unwrap_or(0), offset: value("offset")? })
    }

    pub fn last_sequence(&self) -> Result<u64, ArchiveError> {
        let reading = self.read()?;
        let meta = reading.open_table(META).map_err(failed)?;
        let last = meta.get("last").map_err(failed)?;
        Ok(last.map_or(0, |value| value.value()))
    }

    pub fn record(&self, source: &str, id: &str) -> Result<Option<RecordState>, ArchiveError> {
        let reading = self.read()?;
        let records = reading.open_table(RECORDS).map_err(failed)?;
        let state = records.get(key(source, id).as_slice()).map_err(failed)?;
        Ok(state.map(|state| RecordState::decode(state.value())))
    }

    /// Version `number` of a record, from 1.
    pub fn version(&self, source: &str, id: &str, number: usize) -> Result<Option<Version>, ArchiveError> {
        let Some(state) = self.record(source, id)? else { return Ok(None) };
        let Some(index) = number.checked_sub(1) else { return Ok(None) };
        if let Some(at_hand) = index.checked_sub(state.older) {
            return Ok(state.versions.get(at_hand).copied());
        }
        let older = self.read()?.open_table(OLDER).map_err(failed)?;
        let (first, last) = (older_key(source, id, 0), older_key(source, id, u64::MAX));
        let mut rows = older.range::<&[u8]>(first.as_slice()..=last.as_slice()).map_err(failed)?;
        let row = rows.nth(index).transpose().map_err(failed)?;
        Ok(row.and_then(|(_, version)| Version::decode(version.value())))
    }

    pub fn records(
        &self,
        source: Option<&str>,
    ) -> Result<impl Iterator<Item = Result<(String, String, RecordState), ArchiveError>> + use<>, ArchiveError>
    {
        let table = self.read()?.open_table(RECORDS).map_err(failed)?;
        let range = match source {
            Some(source) => {
                let (first, last) = (key(source, ""), [source.as_bytes(), &[1]].concat());
                table.range::<&[u8]>(first.as_slice()..last.as_slice())
            }
            None => table.range::<&[u8]>(..),
        };
        Ok(range.map_err(failed)?.map(|row| {
            let (key, state) = row.map_err(failed)?;
            let key = String::from_utf8_lossy(key.value()).into_owned();
            let (source, id) = key.split_once('\0').unwrap_or((&key, ""));
            Ok((source.to_owned(), id.to_owned(), RecordState::decode(state.value())))
        }))
    }

    pub fn sources(&self) -> Result<Vec<(String, SourceCounts)>, ArchiveError> {
        let table = self.read()?.open_table(SOURCES).map_err(failed)?;
        let mut sources = Vec::new();
        for row in table.iter().map_err(failed)? {
            let (source, counts) = row.map_err(failed)?;
            sources.push((source.value().to_owned(), from_json(counts.value())?));
        }
        Ok(sources)
    }

    pub fn runs(&self) -> Result<Vec<(u64, Run)>, ArchiveError> {
        let table = self.read()?.open_table(RUNS).map_err(failed)?;
        let mut runs = Vec::new();
        for row in table.iter().map_err(failed)? {
            let (number, run) = row.map_err(failed)?;
            runs.push((number.value(), from_json(run.value())?));
        }
        Ok(runs)
    }

    /// Every rule file that was ever loaded, by path, with its versions.
    pub fn concordances(&self) -> Result<Vec<(String, Vec<ConcordanceVersion>)>, ArchiveError> {
        self.loaded(CONCORDANCES)
    }

    /// Every vocabulary that was ever loaded, by name, with its versions.
    pub fn vocabularies(&self) -> Result<Vec<(String, Vec<ConcordanceVersion>)>, ArchiveError> {
        self.loaded(VOCABULARIES)
    }

    fn loaded(
        &self,
        table: TableDefinition<&str, &[u8]>,
    ) -> Result<Vec<(String, Vec<ConcordanceVersion>)>, ArchiveError> {
        let table = match self.read()?.open_table(table) {
            Ok(table) => table,
            // An archive from before there were any, opened for reading.
            Err(redb::TableError::TableDoesNotExist(_)) => return Ok(Vec::new()),
            Err(error) => return Err(failed(error)),
        };
        let mut found = Vec::new();
        for row in table.iter().map_err(failed)? {
            let (path, versions) = row.map_err(failed)?;
            found.push((path.value().to_owned(), from_json(versions.value())?));
        }
        Ok(found)
    }

    /// The sources that were ever harvested.
    pub fn harvests(&self) -> Result<Vec<String>, ArchiveError> {
        let table = match self.read()?.open_table(HARVESTS) {
            Ok(table) => table,
            Err(redb::TableError::TableDoesNotExist(_)) => return Ok(Vec::new()),
            Err(error) => return Err(failed(error)),
        };
        let rows = table.iter().map_err(failed)?;
        rows.map(|row| Ok(row.map_err(failed)?.0.value().to_owned())).collect()
    }

    /// How far the harvest of a source is, as whoever harvested it noted.
    pub fn harvest(&self, source: &str) -> Result<Option<Vec<u8>>, ArchiveError> {
        let table = match self.read()?.open_table(HARVESTS) {
            Ok(table) => table,
            Err(redb::TableError::TableDoesNotExist(_)) => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        let note = table.get(source).map_err(failed)?;
        Ok(note.map(|note| note.value().to_vec()))
    }

    /// People's decisions, oldest first.
    pub fn decisions(&self) -> Result<Vec<(u64, Vec<u8>)>, ArchiveError> {
        let table = match self.read()?.open_table(DECISIONS) {
            Ok(table) => table,
            Err(redb::TableError::TableDoesNotExist(_)) => return Ok(Vec::new()),
            Err(error) => return Err(failed(error)),
        };
        let rows = table.iter().map_err(failed)?;
        rows.map(|row| {
            let (sequence, payload) = row.map_err(failed)?;
            Ok((sequence.value(), payload.value().to_vec()))
        })
        .collect()
    }

    /// What resolving left behind, oldest first.
    pub fn resolutions(&self) -> Result<Vec<(u64, String)>, ArchiveError> {
        let table = match self.read()?.open_table(RESOLUTIONS) {
            Ok(table) => table,
            Err(redb::TableError::TableDoesNotExist(_)) => return Ok(Vec::new()),
            Err(error) => return Err(failed(error)),
        };
        let rows = table.iter().map_err(failed)?;
        rows.map(|row| {
            let (sequence, what) = row.map_err(failed)?;
            Ok((sequence.value(), what.value().to_owned()))
        })
        .collect()
    }

    pub fn rejects(&self) -> Result<Vec<u64>, ArchiveError> {
        let table = self.read()?.open_table(REJECTS).map_err(failed)?;
        let rows = table.iter().map_err(failed)?;
        rows.map(|row| Ok(row.map_err(failed)?.0.value())).collect()
    }

    /// The rejects of some files of a source.
    pub fn rejects_of(&self, source: &str, origins: &[String]) -> Result<Vec<u64>, ArchiveError> {
        let table = self.read()?.open_table(REJECTS).map_err(failed)?;
        let mut found = Vec::new();
        for row in table.iter().map_err(failed)? {
            let (sequence, origin) = row.map_err(failed)?;
            if origins.iter().any(|name| key(source, name) == origin.value()) {
                found.push(sequence.value());
            }
        }
        Ok(found)
    }

    /// The block that holds an entry, and its first entry's number.
    pub fn block(&self, sequence: u64) -> Result<Option<(u64, Place)>, ArchiveError> {
        let table = self.read()?.open_table(BLOCKS).map_err(failed)?;
        let block = table.range(..=sequence).map_err(failed)?.next_back();
        block
            .map(|row| {
                let (first, place) = row.map_err(failed)?;
                Ok((first.value(), place_of(place.value())))
            })
            .transpose()
    }

    /// All blocks from the one that holds this entry on.
    pub fn blocks(&self, from: u64) -> Result<Vec<(u64, Place)>, ArchiveError> {
        let start = self.block(from)?.map_or(from, |(first, _)| first);
        let table = self.read()?.open_table(BLOCKS).map_err(failed)?;
        let rows = table.range(start..).map_err(failed)?;
        rows.map(|row| {
            let (first, place) = row.map_err(failed)?;
            Ok((first.value(), place_of(place.value())))
        })
        .collect()
    }

    fn read(&self) -> Result<ReadTransaction, ArchiveError> {
        match self {
            Self::Writable(database) => database.begin_read(),
            Self::ReadOnly(database) => database.begin_read(),
        }
        .map_err(failed)
    }
}

/// Big-endian, so that versions sort as they came.
pub(super) fn older_key(source: &str, id: &str, sequence: u64) -> Vec<u8> {
    [key(source, id).as_slice(), &[0], &sequence.to_be_bytes()].concat()
}

pub(super) fn key(source: &str, id: &str) -> Vec<u8> {
    [source.as_bytes(), &[0], id.as_bytes()].concat()
}

fn place_of((segment, offset, length): (u32, u64, u64)) -> Place {
    Place { segment, offset, length }
}

pub(super) fn from_json<T: for<'de> Deserialize<'de>>(json: &[u8]) -> Result<T, ArchiveError> {
    serde_json::from_slice(json).map_err(failed)
}

pub(super) fn failed(error: impl std::fmt::Display) -> ArchiveError {
    ArchiveError::Index(error.to_string())
}
