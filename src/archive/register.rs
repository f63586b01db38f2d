//! Which entry is current for each record, in files that may be read beside a writer.
//!
//! The archive's index is one file that its writer holds alone. Readers of a snapshot need no more
//! of it than two things: the current entry of each record, and the block that holds an entry. The
//! register has both. Rows lie in *runs*: files in the order of a hash of source and id, written
//! once and never changed, of which the newer one counts. A run that is not much smaller than the
//! one before is merged with it, so there are few, and each row is written a logarithm of times.
//! The manifest names the runs, so a copy of it with hard links to them is a snapshot.
//!
//! The register is derived. It is written now and then, and what it misses after a kill is read
//! from the index and the segments when the archive is opened ([`Register::open`]).

use super::entry::PayloadHash;
use super::index::Place;
use crate::disk::{self, Readers};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

/// Rows held in memory before they become a run.
const HELD: usize = 1 << 16;
/// A run is merged with the one before unless that is this many times as long.
const GROWTH: u64 = 4;
/// Bytes of a row: the hash, then the entry's number and whether the record is withdrawn.
const ROW: usize = 24;
/// Rows read at once while one is looked for. Hashes are spread evenly, so a guess is seldom
/// further off than half of this.
const WINDOW: u64 = 512;
/// Bytes of one block in its file: the first entry's number, segment, offset, length.
const BLOCK: usize = 28;

const MANIFEST: &str = "manifest.json";
const BLOCKS: &str = "blocks";

/// The hash of a record's source and id.
type Key = [u8; 16];

/// The current entry of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Current {
    pub sequence: u64,
    pub withdrawn: bool,
}

impl Current {
    fn pack(self) -> u64 {
        self.sequence << 1 | u64::from(self.withdrawn)
    }

    fn unpack(bits: u64) -> Self {
        Self { sequence: bits >> 1, withdrawn: bits & 1 == 1 }
    }
}

/// What belongs together.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Manifest {
    /// The last entry that is taken into account.
    last: u64,
    /// How many blocks the file of blocks holds for it.
    blocks: u64,
    /// The number of the next run's file.
    next: u64,
    /// Files and their rows, oldest first.
    runs: Vec<(u64, u64)>,
}

/// One file of rows in order.
#[derive(Debug)]
struct Run {
    number: u64,
    rows: u64,
    file: File,
}

#[derive(Debug, Default)]
struct State {
    recent: FxHashMap<Key, u64>,
    runs: Vec<Arc<Run>>,
    /// The first entry of each block, and where the block lies.
    blocks: Vec<(u64, Place)>,
    /// How many of them are in the file.
    written: usize,
    last: u64,
    next: u64,
}

/// The register of an archive, or of a snapshot of it.
#[derive(Debug)]
pub(super) struct Register {
    directory: PathBuf,
    state: RwLock<State>,
}

fn key(source: &str, id: &str) -> Key {
    PayloadHash::of(&super::index::key(source, id)).0
}

fn read_lock<T>(lock: &RwLock<T>) -> std::sync::RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

fn write_lock<T>(lock: &RwLock<T>) -> std::sync::RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}

impl Register {
    /// The register in a directory as far as it was written; an empty one where there is none, or
    /// where it is not whole.
    pub fn open(directory: &Path) -> Self {
        let state = State::read(directory).unwrap_or_else(|error| {
            if error.kind() != io::ErrorKind::NotFound {
                tracing::info!("{}: {error}; it is made again", directory.display());
            }
            State::default()
        });
        Self { directory: directory.to_owned(), state: RwLock::new(state) }
    }

    /// A register that must be there.
    pub fn open_snapshot(directory: &Path) -> io::Result<Self> {
        Ok(Self { directory: directory.to_owned(), state: RwLock::new(State::read(directory)?) })
    }

    /// The last entry that is taken into account.
    pub fn last(&self) -> u64 {
        read_lock(&self.state).last
    }

    /// Takes up entries in the order in which they came, with the block they lie in.
    pub fn take<'e>(
        &self,
        blocks: &[(u64, Place)],
        records: impl Iterator<Item = (&'e str, &'e str, Current)>,
        last: u64,
    ) {
        let mut state = write_lock(&self.state);
        state.blocks.extend_from_slice(blocks);
        for (source, id, current) in records {
            state.recent.insert(key(source, id), current.pack());
        }
        state.last = last;
    }

    /// Whether so much is held in memory that it should be written.
    pub fn is_full(&self) -> bool {
        read_lock(&self.state).recent.len() >= HELD
    }

    /// The current entry of a record.
    pub fn current(&self, source: &str, id: &str) -> io::Result<Option<Current>> {
        let key = key(source, id);
        let state = read_lock(&self.state);
        if let Some(bits) = state.recent.get(&key) {
            return Ok(Some(Current::unpack(*bits)));
        }
        for run in state.runs.iter().rev() {
            if let Some(bits) = run.find(&key)? {
                return Ok(Some(Current::unpack(bits)));
            }
        }
        Ok(None)
    }

    /// The numbers of all current entries of records that are not withdrawn, as a set of bits, and
    /// the blocks.
    pub fn all(&self) -> io::Result<(Bits, Vec<(u64, Place)>)> {
        let state = read_lock(&self.state);
        let mut bits = Bits::new(state.last);
        state.merged(&state.runs, true, &mut |_, packed| {
            let current = Current::unpack(packed);
            if !current.withdrawn {
                bits.set(current.sequence);
            }
            Ok(())
        })?;
        Ok((bits, state.blocks.clone()))
    }

    /// The block that holds an entry, and its first entry's number.
    pub fn block(&self, sequence: u64) -> Option<(u64, Place)> {
        let state = read_lock(&self.state);
        if sequence > state.last {
            return None;
        }
        let place = state.blocks.partition_point(|(first, _)| *first <= sequence).checked_sub(1)?;
        state.blocks.get(place).copied()
    }

    /// Writes what is held in memory.
    pub fn write(&self) -> io::Result<()> {
        let mut state = write_lock(&self.state);
        if state.recent.is_empty()
            && let Ok(manifest) = State::manifest(&self.directory)
            && manifest.last == state.last
            && manifest.runs.len() == state.runs.len()
        {
            return Ok(());
        }
        disk::create_directory(&self.directory)?;
        state.write(&self.directory)
    }

    /// Makes a copy for readers beside the writer, in a directory that is not there yet.
    pub fn snapshot(&self, to: &Path) -> io::Result<()> {
        self.write()?;
        let state = read_lock(&self.state);
        std::fs::create_dir(to)?;
        for run in &state.runs {
            link(&path(&self.directory, run.number), &path(to, run.number))?;
        }
        link(&self.directory.join(BLOCKS), &to.join(BLOCKS))?;
        // A link would do, but the manifest is replaced by renaming and this is as cheap.
        std::fs::copy(self.directory.join(MANIFEST), to.join(MANIFEST))?;
        Ok(())
    }

    /// Forgets everything, to be filled anew.
    pub fn clear(&self) {
        let mut state = write_lock(&self.state);
        *state = State { next: state.next, ..State::default() };
    }
}

/// Another name for a file, or a copy where the archive lies on another disk.
fn link(from: &Path, to: &Path) -> io::Result<()> {
    match std::fs::hard_link(from, to) {
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => std::fs::copy(from, to).map(drop),
        linked => linked,
    }
}

fn path(directory: &Path, number: u64) -> PathBuf {
    directory.join(format!("{number:08}.run"))
}

impl State {
    fn manifest(directory: &Path) -> io::Result<Manifest> {
        Ok(serde_json::from_slice(&std::fs::read(directory.join(MANIFEST))?)?)
    }

    fn read(directory: &Path) -> io::Result<Self> {
        let manifest = Self::manifest(directory)?;
        let mut blocks = Vec::new();
        let file = BufReader::new(File::open(directory.join(BLOCKS))?);
        let mut file = file.take(manifest.blocks * BLOCK as u64);
        let mut row = [0; BLOCK];
        for _ in 0..manifest.blocks {
            file.read_exact(&mut row)?;
            blocks.push(block_of(&row));
        }
        let mut runs = Vec::with_capacity(manifest.runs.len());
        for (number, rows) in manifest.runs {
            let file = File::open(path(directory, number))?;
            if file.metadata()?.len() != rows * ROW as u64 {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "a run has another length"));
            }
            runs.push(Arc::new(Run { number, rows, file }));
        }
        let written = blocks.len();
        Ok(Self {
            recent: FxHashMap::default(),
            runs,
            blocks,
            written,
            last: manifest.last,
            next: manifest.next,
        })
    }

    fn write(&mut self, directory: &Path) -> io::Result<()> {
        let mut parts = self.runs.len();
        let mut rows = self.recent.len() as u64;
        if rows > 0 {
            while let Some(before) = parts.checked_sub(1).and_then(|place| self.runs.get(place))
                && before.rows < rows.saturating_mul(GROWTH)
            {
                rows += before.rows;
                parts -= 1;
            }
            let merged = self.runs.split_off(parts);
            let (number, file) = (self.next, path(directory, self.next));
            self.next += 1;
            let mut out = BufWriter::new(File::create(&file)?);
            let mut count = 0;
            let made = self.merged(&merged, true, &mut |key, bits| {
                count += 1;
                out.write_all(key)?;
                out.write_all(&bits.to_le_bytes())
            });
            if let Err(error) = made.and_then(|()| out.flush()) {
                self.runs.extend(merged);
                return Err(error);
            }
            out.get_ref().sync_data()?;
            self.runs.push(Arc::new(Run { number, rows: count, file: File::open(&file)? }));
            self.recent = FxHashMap::default();
        }
        // Rows of blocks only ever come behind those that are there, which snapshots share.
        let mut blocks =
            File::options().create(true).truncate(false).write(true).open(directory.join(BLOCKS))?;
        if self.written == 0 && blocks.metadata()?.len() > 0 {
            drop(blocks);
            std::fs::remove_file(directory.join(BLOCKS))?;
            blocks = File::create(directory.join(BLOCKS))?;
        }
        let mut bytes = Vec::new();
        for (first, place) in self.blocks.get(self.written..).unwrap_or_default() {
            bytes.extend_from_slice(&first.to_le_bytes());
            bytes.extend_from_slice(&place.segment.to_le_bytes());
            bytes.extend_from_slice(&place.offset.to_le_bytes());
            bytes.extend_from_slice(&place.length.to_le_bytes());
        }
        blocks.write_all_at(&bytes, (self.written * BLOCK) as u64)?;
        blocks.sync_data()?;
        let manifest = Manifest {
            last: self.last,
            blocks: self.blocks.len() as u64,
            next: self.next,
            runs: self.runs.iter().map(|run| (run.number, run.rows)).collect(),
        };
        let text = serde_json::to_vec(&manifest)?;
        disk::replace(&directory.join(MANIFEST), Readers::Usual, |out| out.write_all(&text))?;
        self.written = self.blocks.len();
        // What is not named any more is no use; snapshots have links of their own.
        for entry in std::fs::read_dir(directory)? {
            let name = entry?.file_name();
            let number =
                name.to_string_lossy().strip_suffix(".run").and_then(|name| name.parse::<u64>().ok());
            if let Some(number) = number.filter(|number| !self.runs.iter().any(|run| run.number == *number)) {
                std::fs::remove_file(path(directory, number))?;
            }
        }
        Ok(())
    }

    /// Rows of some runs in order, the newest of each record; with what is held in memory, if wanted.
    fn merged(
        &self,
        runs: &[Arc<Run>],
        recent: bool,
        each: &mut dyn FnMut(&Key, u64) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut held: Vec<(Key, u64)> = Vec::new();
        if recent {
            held.extend(self.recent.iter().map(|(key, bits)| (*key, *bits)));
            held.sort_unstable();
        }
        let mut streams: Vec<Rows<'_>> = runs.iter().map(|run| Rows::of_run(run)).collect();
        streams.push(Rows::Held(held.into_iter()));
        let mut heads: Vec<Option<(Key, u64)>> =
            streams.iter_mut().map(|rows| rows.next().transpose()).collect::<io::Result<_>>()?;
        while let Some(least) = heads.iter().flatten().map(|(key, _)| *key).min() {
            let mut newest = 0;
            // The later stream is the newer one.
            for (head, rows) in heads.iter_mut().zip(&mut streams) {
                if let Some((key, bits)) = head
                    && *key == least
                {
                    newest = *bits;
                    *head = rows.next().transpose()?;
                }
            }
            each(&least, newest)?;
        }
        Ok(())
    }
}

/// Rows in the order of their keys.
enum Rows<'a> {
    File { file: &'a File, offset: u64, left: u64, buffer: Vec<u8>, at: usize },
    Held(std::vec::IntoIter<(Key, u64)>),
}

impl<'a> Rows<'a> {
    fn of_run(run: &'a Run) -> Self {
        Self::File { file: &run.file, offset: 0, left: run.rows, buffer: Vec::new(), at: 0 }
    }
}

impl Iterator for Rows<'_> {
    type Item = io::Result<(Key, u64)>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Held(rows) => rows.next().map(Ok),
            Self::File { file, offset, left, buffer, at } => {
                if *left == 0 {
                    return None;
                }
                if *at >= buffer.len() {
                    let rows = (*left).min(16 * WINDOW);
                    buffer.resize(usize::try_from(rows).unwrap_or(0) * ROW, 0);
                    if let Err(error) = file.read_exact_at(buffer, *offset) {
                        *left = 0;
                        return Some(Err(error));
                    }
                    *offset += buffer.len() as u64;
                    *at = 0;
                }
                let row = buffer.get(*at..*at + ROW).unwrap_or_default();
                *at += ROW;
                *left -= 1;
                Some(Ok(row_of(row)))
            }
        }
    }
}

impl Run {
    fn find(&self, key: &Key) -> io::Result<Option<u64>> {
        let (mut low, mut high) = (0, self.rows);
        let start = u64::from_be_bytes(key.first_chunk().copied().unwrap_or_default());
        let guess = (u128::from(start) * u128::from(self.rows)) >> 64;
        let mut from = u64::try_from(guess).unwrap_or(0).saturating_sub(WINDOW / 2);
        let mut buffer = Vec::new();
        while low < high {
            let first = from.clamp(low, high - 1);
            let rows = WINDOW.min(high - first);
            buffer.resize(usize::try_from(rows).unwrap_or(0) * ROW, 0);
            self.file.read_exact_at(&mut buffer, first * ROW as u64)?;
            let found: Vec<(Key, u64)> = buffer.chunks_exact(ROW).map(row_of).collect();
            match found.binary_search_by(|(known, _)| known.cmp(key)) {
                Ok(place) => return Ok(found.get(place).map(|(_, bits)| *bits)),
                Err(0) => high = first,
                Err(place) if place == found.len() => low = first + rows,
                Err(_) => return Ok(None),
            }
            // A guess that was wrong is followed by halving what is left.
            from = low + (high - low).saturating_sub(WINDOW) / 2;
        }
        Ok(None)
    }
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

fn row_of(row: &[u8]) -> (Key, u64) {
    let (key, bits) = row.split_at_checked(16).unwrap_or_default();
    (key.try_into().unwrap_or_default(), number(bits))
}

fn block_of(row: &[u8; BLOCK]) -> (u64, Place) {
    let part = |from: usize, to: usize| number(row.get(from..to).unwrap_or_default());
    let segment = u32::try_from(part(8, 12)).unwrap_or(0);
    (part(0, 8), Place { segment, offset: part(12, 20), length: part(20, 28) })
}

/// A set of entries' numbers.
#[derive(Debug, Clone, Default)]
pub struct Bits {
    words: Vec<u64>,
    count: u64,
}

impl Bits {
    fn new(last: u64) -> Self {
        Self { words: vec![0; usize::try_from(last / 64 + 1).unwrap_or(0)], count: 0 }
    }

    fn set(&mut self, number: u64) {
        let place = usize::try_from(number / 64).ok().and_then(|place| self.words.get_mut(place));
        if let Some(word) = place {
            self.count += u64::from(*word >> (number % 64) & 1 == 0);
            *word |= 1 << (number % 64);
        }
    }

    pub fn has(&self, number: u64) -> bool {
        let word = usize::try_from(number / 64).ok().and_then(|place| self.words.get(place));
        word.is_some_and(|word| word >> (number % 64) & 1 == 1)
    }

    /// How many numbers are in it.
    pub fn count(&self) -> u64 {
        self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    fn take(register: &Register, numbers: std::ops::Range<u64>, sequence: u64) -> u64 {
        let ids: Vec<(String, u64)> =
            numbers.zip(sequence..).map(|(number, sequence)| (format!("id-{number}"), sequence)).collect();
        let last = ids.last().map_or(sequence, |(_, sequence)| *sequence);
        let place = Place { segment: 1, offset: sequence, length: 7 };
        let records = ids
            .iter()
            .map(|(id, sequence)| ("s", id.as_str(), Current { sequence: *sequence, withdrawn: false }));
        register.take(&[(sequence, place)], records, last);
        last
    }

    fn current(register: &Register, number: u64) -> Option<u64> {
        register.current("s", &format!("id-{number}")).unwrap().map(|current| current.sequence)
    }

    #[test]
    fn the_newest_entry_of_a_record_is_found_in_memory_and_in_runs() {
        let directory = TempDir::new().unwrap();
        let folder = directory.path().join("register");
        let register = Register::open(&folder);
        let mut last = 0;
        // Steps of different sizes, so that some runs are merged and some are not.
        for step in [5000, 40, 3, 700, 1, 9000, 2] {
            last = take(&register, 0..step, last + 1);
            register.write().unwrap();
        }
        last = take(&register, 10..20, last + 1);
        let expected = |register: &Register| {
            assert_eq!(current(register, 15), Some(last - 4));
            assert_eq!(current(register, 1), Some(last - 10));
            assert_eq!(current(register, 8999), Some(last - 12));
            assert_eq!(current(register, 9000), None);
            let (bits, _) = register.all().unwrap();
            assert_eq!(bits.count(), 9000);
            assert!(bits.has(last) && !bits.has(1));
        };
        expected(&register);
        register.write().unwrap();
        expected(&register);
        expected(&Register::open(&folder));
        assert_eq!(Register::open(&folder).last(), last);
        let runs = std::fs::read_dir(&folder).unwrap().count() - 2;
        assert!(runs < 4, "{runs} runs");
    }

    #[test]
    fn a_snapshot_stays_as_it_was() {
        let directory = TempDir::new().unwrap();
        let register = Register::open(&directory.path().join("register"));
        let last = take(&register, 0..1000, 1);
        let copy = directory.path().join("copy");
        register.snapshot(&copy).unwrap();
        let snapshot = Register::open_snapshot(&copy).unwrap();
        take(&register, 0..3000, last + 1);
        register.write().unwrap();
        assert_eq!(current(&snapshot, 10), Some(11));
        assert_eq!(current(&snapshot, 2000), None);
        assert_eq!(snapshot.block(500).unwrap().0, 1);
        assert_eq!(snapshot.block(1001), None);
        assert_eq!(current(&register, 10), Some(last + 11));
        assert_eq!(register.block(2500).unwrap().0, 1001);
    }

    #[test]
    fn a_withdrawn_record_is_no_part_of_all() {
        let directory = TempDir::new().unwrap();
        let register = Register::open(&directory.path().join("register"));
        let last = take(&register, 0..10, 1);
        register.write().unwrap();
        let gone = Current { sequence: last + 1, withdrawn: true };
        register.take(&[], std::iter::once(("s", "id-3", gone)), last + 1);
        assert_eq!(register.current("s", "id-3").unwrap(), Some(gone));
        assert_eq!(register.all().unwrap().0.count(), 9);
    }

    #[test]
    fn what_is_not_whole_is_as_good_as_missing() {
        let directory = TempDir::new().unwrap();
        let folder = directory.path().join("register");
        let register = Register::open(&folder);
        take(&register, 0..1000, 1);
        register.write().unwrap();
        let run = File::options().write(true).open(path(&folder, 0)).unwrap();
        run.set_len(100).unwrap();
        assert_eq!(Register::open(&folder).last(), 0);
        assert!(Register::open_snapshot(&folder).is_err());
    }
}
