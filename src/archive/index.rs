//! Finding things in the segments: records and their versions, equal payloads, rejects, runs.
//!
//! One redb file. Most commits are not synced: after a kill the index is an older state of
//! itself, and [`Archive::open`](super::Archive::open) reads the rest from the segments.

use super::entry::{Entry, Kind, PayloadHash};
use super::{ArchiveError, Outcome};
use redb::{
    Database, Durability, ReadOnlyDatabase, ReadTransaction, ReadableDatabase, ReadableTable, Table,
    TableDefinition, WriteTransaction,
};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The first entry's number of each block, and where the block lies.
const BLOCKS: TableDefinition<u64, (u32, u64, u64)> = TableDefinition::new("blocks");
/// `source NUL id`: the record's versions.
const RECORDS: TableDefinition<&[u8], &[u8]> = TableDefinition::new("records");
/// The entry that holds a payload.
const PAYLOADS: TableDefinition<&[u8; 16], u64> = TableDefinition::new("payloads");
/// Rejects not made good, with `source NUL origin`.
const REJECTS: TableDefinition<u64, &[u8]> = TableDefinition::new("rejects");
/// What makes two rejects the same one.
const REJECT_KEYS: TableDefinition<&[u8; 16], u64> = TableDefinition::new("reject-keys");
const RUNS: TableDefinition<u64, &[u8]> = TableDefinition::new("runs");
const SOURCES: TableDefinition<&str, &[u8]> = TableDefinition::new("sources");
const META: TableDefinition<&str, u64> = TableDefinition::new("meta");

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

/// All versions of a record, oldest first; never empty.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RecordState {
    pub versions: Vec<Version>,
}

impl RecordState {
    pub fn current(&self) -> Option<&Version> {
        self.versions.last()
    }

    fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.versions.len() * 33);
        for version in &self.versions {
            bytes.extend_from_slice(&version.sequence.to_le_bytes());
            bytes.extend_from_slice(&version.run.to_le_bytes());
            bytes.extend_from_slice(&version.hash.0);
            bytes.push(u8::from(version.withdrawn));
        }
        bytes
    }

    fn decode(bytes: &[u8]) -> Self {
        let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte));
        let versions = bytes
            .chunks_exact(33)
            .filter_map(|version| {
                Some(Version {
                    sequence: number(version.get(..8)?),
                    run: number(version.get(8..16)?),
                    hash: PayloadHash(version.get(16..32)?.try_into().ok()?),
                    withdrawn: version.get(32) == Some(&1),
                })
            })
            .collect();
        Self { versions }
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
}

pub(super) enum Index {
    Writable(Database),
    ReadOnly(ReadOnlyDatabase),
}

impl Index {
    pub fn open(path: &Path) -> Result<Self, ArchiveError> {
        let database = Database::builder().set_cache_size(CACHE).create(path).map_err(failed)?;
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

/// The tables while one transaction writes them.
pub(super) struct Tables<'t> {
    blocks: Table<'t, u64, (u32, u64, u64)>,
    records: Table<'t, &'static [u8], &'static [u8]>,
    payloads: Table<'t, &'static [u8; 16], u64>,
    rejects: Table<'t, u64, &'static [u8]>,
    reject_keys: Table<'t, &'static [u8; 16], u64>,
    runs: Table<'t, u64, &'static [u8]>,
    sources: Table<'t, &'static str, &'static [u8]>,
    meta: Table<'t, &'static str, u64>,
    next: u64,
    counts: FxHashMap<String, SourceCounts>,
    /// Known rejects met again.
    pub seen_again: Vec<u64>,
}

impl<'t> Tables<'t> {
    fn open(transaction: &'t WriteTransaction) -> Result<Self, ArchiveError> {
        let meta = transaction.open_table(META).map_err(failed)?;
        let last = meta.get("last").map_err(failed)?.map_or(0, |last| last.value());
        Ok(Self {
            blocks: transaction.open_table(BLOCKS).map_err(failed)?,
            records: transaction.open_table(RECORDS).map_err(failed)?,
            payloads: transaction.open_table(PAYLOADS).map_err(failed)?,
            rejects: transaction.open_table(REJECTS).map_err(failed)?,
            reject_keys: transaction.open_table(REJECT_KEYS).map_err(failed)?,
            runs: transaction.open_table(RUNS).map_err(failed)?,
            sources: transaction.open_table(SOURCES).map_err(failed)?,
            meta,
            next: last + 1,
            counts: FxHashMap::default(),
            seen_again: Vec::new(),
        })
    }

    fn close(&mut self, end: End) -> Result<(), ArchiveError> {
        for (source, counts) in &self.counts {
            let json = serde_json::to_vec(counts).map_err(failed)?;
            self.sources.insert(source.as_str(), json.as_slice()).map_err(failed)?;
        }
        for (key, value) in
            [("segment", u64::from(end.segment)), ("offset", end.offset), ("last", self.next - 1)]
        {
            self.meta.insert(key, value).map_err(failed)?;
        }
        Ok(())
    }

    /// The number the next entry gets.
    pub fn next_sequence(&self) -> u64 {
        self.next
    }

    pub fn note_block(&mut self, first: u64, place: Place) -> Result<(), ArchiveError> {
        self.blocks.insert(first, (place.segment, place.offset, place.length)).map_err(failed)?;
        Ok(())
    }

    /// What a new entry amounts to, and the entry as it is to be stored, if it is.
    pub fn take(&mut self, entry: &Entry, force: bool) -> Result<(Outcome, Option<Entry>), ArchiveError> {
        let outcome = match entry.kind {
            Kind::Record | Kind::Withdrawal => {
                let outcome = judge(&self.state(entry)?, entry);
                if force && outcome == Outcome::Known { Outcome::Changed } else { outcome }
            }
            Kind::Reject => match self.reject_keys.get(&reject_key(entry).0).map_err(failed)? {
                Some(known) => {
                    let known = known.value();
                    self.seen_again.push(known);
                    Outcome::Unchanged
                }
                None => Outcome::New,
            },
            Kind::RunStarted | Kind::RunFinished => Outcome::New,
        };
        if matches!(outcome, Outcome::Unchanged | Outcome::Known) {
            return Ok((outcome, None));
        }
        let mut stored = entry.clone();
        stored.sequence = self.next;
        if stored.kind == Kind::RunStarted {
            stored.run = self.next;
        }
        if stored.kind.is_received() && !stored.payload.is_empty() {
            let holder = self.payloads.get(&stored.hash.0).map_err(failed)?;
            stored.same = holder.map(|holder| holder.value());
        }
        self.replay(&stored)?;
        Ok((outcome, Some(stored)))
    }

    /// Notes an entry that is in the segments, or is about to be.
    pub fn replay(&mut self, entry: &Entry) -> Result<(), ArchiveError> {
        let sequence = entry.sequence;
        self.next = sequence + 1;
        if entry.kind.is_received() && entry.same.is_none() && !entry.payload.is_empty() {
            self.payloads.insert(&entry.hash.0, sequence).map_err(failed)?;
        }
        let mut counts = self.counts(&entry.source)?;
        match entry.kind {
            Kind::Record | Kind::Withdrawal => {
                let mut state = self.state(entry)?;
                let was = state.current().map(|version| version.withdrawn);
                let withdrawn = entry.kind == Kind::Withdrawal;
                match (was, withdrawn) {
                    (None, false) => counts.records += 1,
                    (Some(true), false) => {
                        counts.records += 1;
                        counts.withdrawn -= 1;
                    }
                    (Some(false), true) => {
                        counts.records -= 1;
                        counts.withdrawn += 1;
                    }
                    (None, true) => counts.withdrawn += 1,
                    (Some(false), false) | (Some(true), true) => {}
                }
                if !withdrawn {
                    counts.versions += 1;
                }
                if entry.same.is_none() {
                    counts.bytes += entry.payload.len() as u64;
                }
                state.versions.push(Version { sequence, hash: entry.hash, run: entry.run, withdrawn });
                let key = key(&entry.source, &entry.id);
                self.records.insert(key.as_slice(), state.encode().as_slice()).map_err(failed)?;
            }
            Kind::Reject => {
                counts.rejects += 1;
                let origin = key(&entry.source, &entry.origin.name);
                self.rejects.insert(sequence, origin.as_slice()).map_err(failed)?;
                self.reject_keys.insert(&reject_key(entry).0, sequence).map_err(failed)?;
            }
            Kind::RunStarted => {
                self.runs.insert(sequence, entry.payload.as_slice()).map_err(failed)?;
            }
            Kind::RunFinished => {
                self.runs.insert(entry.run, entry.payload.as_slice()).map_err(failed)?;
                let run: Run = from_json(&entry.payload)?;
                for sequence in run.made_good {
                    if self.rejects.remove(sequence).map_err(failed)?.is_some() {
                        counts.rejects = counts.rejects.saturating_sub(1);
                    }
                    self.reject_keys.retain(|_, known| known != sequence).map_err(failed)?;
                }
            }
        }
        self.counts.insert(entry.source.clone(), counts);
        Ok(())
    }

    fn state(&self, entry: &Entry) -> Result<RecordState, ArchiveError> {
        let state = self.records.get(key(&entry.source, &entry.id).as_slice()).map_err(failed)?;
        Ok(state.map_or_else(RecordState::default, |state| RecordState::decode(state.value())))
    }

    fn counts(&self, source: &str) -> Result<SourceCounts, ArchiveError> {
        if let Some(counts) = self.counts.get(source) {
            return Ok(*counts);
        }
        let counts = self.sources.get(source).map_err(failed)?;
        counts.map_or_else(|| Ok(SourceCounts::default()), |counts| from_json(counts.value()))
    }
}

/// What a record or withdrawal is, given the versions before it.
fn judge(state: &RecordState, entry: &Entry) -> Outcome {
    let withdrawal = entry.kind == Kind::Withdrawal;
    match state.current() {
        // A notice of deletion is kept even when the record was never seen.
        None if withdrawal => Outcome::Withdrawn,
        None => Outcome::New,
        Some(current) if withdrawal => {
            if current.withdrawn {
                Outcome::Unchanged
            } else {
                Outcome::Withdrawn
            }
        }
        Some(current) if current.withdrawn => Outcome::Changed,
        Some(current) if current.hash == entry.hash => Outcome::Unchanged,
        // Both payloads came in one run before: a file that holds an id twice gives the same
        // pair each time it is read, and neither is news.
        Some(current) if state.versions.iter().any(|v| v.hash == entry.hash && v.run == current.run) => {
            Outcome::Known
        }
        Some(current) if current.run == entry.run => Outcome::Duplicate,
        Some(_) => Outcome::Changed,
    }
}

fn reject_key(entry: &Entry) -> PayloadHash {
    let code = entry.diagnostic.as_ref().map(|diagnostic| diagnostic.code.slug());
    let text = format!(
        "{}\0{}\0{}\0{}\0{}\0{}",
        entry.source,
        entry.origin.name,
        entry.origin.number,
        entry.origin.offset,
        code.unwrap_or_default(),
        entry.hash
    );
    PayloadHash::of(text.as_bytes())
}

fn key(source: &str, id: &str) -> Vec<u8> {
    [source.as_bytes(), &[0], id.as_bytes()].concat()
}

fn place_of((segment, offset, length): (u32, u64, u64)) -> Place {
    Place { segment, offset, length }
}

fn from_json<T: for<'de> Deserialize<'de>>(json: &[u8]) -> Result<T, ArchiveError> {
    serde_json::from_slice(json).map_err(failed)
}

fn failed(error: impl std::fmt::Display) -> ArchiveError {
    ArchiveError::Index(error.to_string())
}
