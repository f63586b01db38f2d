//! Reading current records beside a writer.
//!
//! A [`Reader`] holds a [`Register`] and opens segments. It needs no index, so it can stand on a
//! snapshot while another process appends: segments only grow, and the register says how far they
//! counted when it was written.

use super::entry::{Entry, Kind};
use super::index::Place;
use super::register::{Bits, Register};
use super::segment::SegmentReader;
use super::{ArchiveError, RECENT};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Reads the current version of each record.
pub struct Reader {
    register: Arc<Register>,
    segments: SegmentReader,
    /// The blocks read last, by their first entry's number.
    recent: Mutex<Vec<(u64, Arc<Vec<Entry>>)>>,
    /// What a scan found to be current, with the last entry it took into account.
    all: Mutex<Option<(u64, Arc<Census>)>>,
}

/// Which entries are current, and the blocks they lie in.
#[derive(Debug, Default)]
pub struct Census {
    current: Bits,
    blocks: Vec<(u64, Place)>,
}

impl Census {
    /// How many records there are.
    pub fn records(&self) -> u64 {
        self.current.count()
    }

    /// How many blocks there are to read.
    pub fn blocks(&self) -> usize {
        self.blocks.len()
    }
}

impl Reader {
    pub(super) fn new(register: Arc<Register>, segments: SegmentReader) -> Self {
        Self { register, segments, recent: Mutex::default(), all: Mutex::default() }
    }

    /// The records of a snapshot of a register, in the archive of this directory.
    pub fn open(register: &Path, archive: &Path) -> Result<Self, ArchiveError> {
        let register = Arc::new(Register::open_snapshot(register)?);
        Ok(Self::new(register, SegmentReader::open(&archive.join("segments"))))
    }

    /// The current version of a record; `None` if there is none, or it is withdrawn.
    pub fn current(&self, source: &str, id: &str) -> Result<Option<Entry>, ArchiveError> {
        let Some(current) = self.register.current(source, id)?.filter(|current| !current.withdrawn) else {
            return Ok(None);
        };
        let entry = self.entry(current.sequence)?;
        Ok(entry.filter(|entry| entry.source == source && entry.id == id))
    }

    /// Whether a record is there.
    pub fn has(&self, source: &str, id: &str) -> Result<bool, ArchiveError> {
        Ok(self.register.current(source, id)?.is_some_and(|current| !current.withdrawn))
    }

    /// One entry with its payload.
    pub fn entry(&self, sequence: u64) -> Result<Option<Entry>, ArchiveError> {
        let Some(mut entry) = self.read(sequence)? else { return Ok(None) };
        self.fill(&mut entry)?;
        Ok(Some(entry))
    }

    /// Which entries are current now.
    pub fn census(&self) -> Result<Arc<Census>, ArchiveError> {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        let last = self.register.last();
        if let Some((known, census)) = all.as_ref()
            && *known == last
        {
            return Ok(Arc::clone(census));
        }
        let (current, blocks) = self.register.all()?;
        let census = Arc::new(Census { current, blocks });
        *all = Some((last, Arc::clone(&census)));
        Ok(census)
    }

    /// The current records in one block of a census, in the order in which they came.
    pub fn records_in(&self, census: &Census, block: usize) -> Result<Vec<Entry>, ArchiveError> {
        let Some((first, place)) = census.blocks.get(block) else { return Ok(Vec::new()) };
        let end = census.blocks.get(block + 1).map(|(first, _)| *first);
        if end.is_some_and(|end| !(*first..end).any(|sequence| census.current.has(sequence))) {
            return Ok(Vec::new());
        }
        let mut entries = self.segments.read(*place, *first)?;
        entries.retain(|entry| entry.kind == Kind::Record && census.current.has(entry.sequence));
        entries.iter_mut().try_for_each(|entry| self.fill(entry))?;
        Ok(entries)
    }

    /// Makes a copy of the register for readers in other processes.
    pub fn snapshot(&self, to: &Path) -> Result<(), ArchiveError> {
        Ok(self.register.snapshot(to)?)
    }

    fn read(&self, sequence: u64) -> Result<Option<Entry>, ArchiveError> {
        let Some((first, place)) = self.register.block(sequence) else { return Ok(None) };
        let held = {
            let recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
            recent.iter().find(|(held, _)| *held == first).map(|(_, entries)| Arc::clone(entries))
        };
        let entries = match held {
            Some(entries) => entries,
            None => {
                let entries = Arc::new(self.segments.read(place, first)?);
                let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
                if recent.len() >= RECENT {
                    recent.remove(0);
                }
                recent.push((first, Arc::clone(&entries)));
                entries
            }
        };
        Ok(entries.iter().find(|entry| entry.sequence == sequence).cloned())
    }

    /// Fetches the payload of an entry that only points at an equal one.
    fn fill(&self, entry: &mut Entry) -> Result<(), ArchiveError> {
        if let Some(same) = entry.same
            && let Some(holder) = self.read(same)?
        {
            entry.payload = holder.payload;
        }
        Ok(())
    }
}
