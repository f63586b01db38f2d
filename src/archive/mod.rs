//! The source of truth: every payload as received, with where, when and how it came.
//!
//! Append-only. An entry counts as taken when [`Archive::append`] returns: it is then synced
//! to disk. Payloads lie in segment files ([`segment`]), zstd frames one after the other, so
//! that `zstdcat` reads an archive without us; an index ([`index`]) finds records, versions
//! and equal payloads in them. The index is derived: what it missed when a process was killed
//! is read again from the segments.
//!
//! Identity is source and id. The same id with the same payload is nothing new, with another
//! payload a new version; older versions stay. Rejected bytes are kept too, and so are the acts
//! of people.

mod entry;
#[cfg(test)]
mod faults;
mod index;
mod medium;
mod reader;
mod register;
mod segment;
mod writing;

pub use entry::{Entry, Kind, Origin, PayloadHash};
pub use index::{ConcordanceVersion, RecordState, Run, RunReport, SourceCounts, Version};
pub use reader::{Census, Reader};

use crate::disk;
use entry::write_entry;
use index::{End, Index, Place};
use register::{Current, Register};
use rustc_hash::FxHashSet;
use segment::Segments;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Why the archive could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArchiveError {
    #[error("the archive cannot be used: {0}")]
    Io(#[from] io::Error),
    #[error("the archive's index failed: {0}")]
    Index(String),
    #[error("the archive is damaged in {file} at byte {offset}: {reason}")]
    Damaged { file: String, offset: u64, reason: String },
    /// What was to be appended is synced, and will be indexed when the archive is opened again.
    #[error("the archive has taken it, but its index failed: {0}")]
    Unindexed(String),
    /// What was to be appended may be there in part or in whole.
    #[error("a failed write to the archive could not be taken back: {0}")]
    Torn(String),
}

impl ArchiveError {
    /// Whether what was to be appended is certain not to be there.
    pub fn kept_nothing(&self) -> bool {
        !matches!(self, Self::Unindexed(_) | Self::Torn(_))
    }
}

/// Entries are gathered to blocks of this size before compression. At 64 kB a random read
/// costs 90 µs and the archive is 3 % larger than at four times the block.
const BLOCK: usize = 64 * 1024;
/// The index is made durable after this many appends; a kill costs reading that much again.
const DURABLE_EVERY: usize = 16;

/// Where the register lies in an archive.
const REGISTER: &str = "register";

/// Blocks held in memory for the next read.
const RECENT: usize = 4;

/// What became of a record that was handed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Not known before.
    New,
    /// A new version of a known record.
    Changed,
    /// A second, different payload for the same id in one run: the later one counts.
    Duplicate,
    /// The current version already; nothing was written.
    Unchanged,
    /// Part of a pair of duplicates that is in the archive already; nothing was written.
    Known,
    /// A record that was not withdrawn before.
    Withdrawn,
}

pub struct Archive {
    segments: Segments,
    index: Index,
    /// Derived from both, for readers beside a writer.
    register: Arc<Register>,
    is_read_only: bool,
    /// Where the segments ended before a write that failed and could not be taken back.
    torn: Option<End>,
    /// Something is synced that the index does not know: the next number is not known either.
    is_unindexed: bool,
    appends: usize,
    /// Known rejects that this process met again.
    rejects_seen: FxHashSet<u64>,
    /// The blocks read last, by their first entry's number: neighbours are often read one after
    /// the other, and a block holds some hundred; an entry may point at an equal one elsewhere.
    recent: Mutex<Vec<(u64, Vec<Entry>)>>,
}

/// Makes an entry once it is known what became of those before it.
type Closing<'a> = &'a mut dyn FnMut(&[Outcome]) -> Result<Entry, ArchiveError>;

impl Archive {
    /// The archive in this directory, made if it is not there. What a killed process left
    /// half written is cut off; what it had synced is indexed.
    pub fn open(directory: &Path) -> Result<Self, ArchiveError> {
        disk::create_directory(directory)?;
        let segments = Segments::open(&directory.join("segments"))?;
        let register = Register::open(&directory.join(REGISTER));
        let mut archive = Self::over(segments, Index::open(&directory.join("index.redb"))?, register);
        archive.recover()?;
        archive.bring_register_up()?;
        Ok(archive)
    }

    fn over(segments: Segments, index: Index, register: Register) -> Self {
        Self {
            segments,
            index,
            register: Arc::new(register),
            is_read_only: false,
            torn: None,
            is_unindexed: false,
            appends: 0,
            rejects_seen: FxHashSet::default(),
            recent: Mutex::default(),
        }
    }

    /// For reading beside other readers. Fails when the last writer was killed; then
    /// [`open`](Self::open) must have its turn first.
    pub fn open_read_only(directory: &Path) -> Result<Self, ArchiveError> {
        let segments = Segments::open(&directory.join("segments"))?;
        let register = Register::open(&directory.join(REGISTER));
        let mut archive =
            Self::over(segments, Index::open_read_only(&directory.join("index.redb"))?, register);
        archive.is_read_only = true;
        archive.segments.must_reach(archive.index.end()?)?;
        if archive.segments.end()? != archive.index.end()? {
            return Err(ArchiveError::Index(
                "the last run was interrupted and is not indexed yet".to_owned(),
            ));
        }
        archive.bring_register_up()?;
        Ok(archive)
    }

    /// Appends entries, in order, and syncs them. Records that are current already and
    /// rejects that are known are left out; the outcomes say which.
    pub fn append(&mut self, entries: &[Entry]) -> Result<Vec<Outcome>, ArchiveError> {
        self.write(entries, false, None)
    }

    /// Appends entries and, in the same step, one that says what became of them.
    pub fn append_with(
        &mut self,
        entries: &[Entry],
        closing: Closing<'_>,
    ) -> Result<Vec<Outcome>, ArchiveError> {
        self.write(entries, false, Some(closing))
    }

    /// Appends records that [`append`](Self::append) took for [`Outcome::Known`], once it is
    /// clear that their other half is no longer there.
    pub fn append_known(&mut self, entries: &[Entry]) -> Result<Vec<Outcome>, ArchiveError> {
        self.write(entries, true, None)
    }

    /// Begins a run, or goes on with one of the same files that was interrupted. Gives its
    /// number, and the run as it began.
    pub fn begin_run(&mut self, run: &Run, time: &str) -> Result<(u64, Run), ArchiveError> {
        let open = self.index.runs()?.into_iter().find(|(_, known)| {
            known.finished.is_none()
                && known.source == run.source
                && known.origins == run.origins
                // Standard input may be anything each time.
                && !run.origins.iter().any(|origin| origin == "-")
        });
        if let Some(open) = open {
            return Ok(open);
        }
        let number = self.last_sequence()? + 1;
        let payload = serde_json::to_vec(run).map_err(io::Error::from)?;
        let entry = Entry::new(Kind::RunStarted, &run.source, "", number, time).with_payload(payload);
        self.append(&[entry])?;
        Ok((number, run.clone()))
    }

    /// Ends a run: rejects of the same files that did not occur again are made good, unless a
    /// file could not be read at all this time, or is standard input.
    pub fn finish_run(
        &mut self,
        number: u64,
        mut run: Run,
        unread: &[String],
        time: &str,
    ) -> Result<(), ArchiveError> {
        run.finished = Some(time.to_owned());
        let mut read = run.origins.clone();
        read.retain(|origin| origin != "-" && !unread.contains(origin));
        run.made_good = self.index.rejects_of(&run.source, &read)?;
        run.made_good.retain(|sequence| *sequence < number && !self.rejects_seen.contains(sequence));
        let payload = serde_json::to_vec(&run).map_err(io::Error::from)?;
        let entry = Entry::new(Kind::RunFinished, &run.source, "", number, time).with_payload(payload);
        // The last word of a run is durable in the index too, so that readers find it clean.
        self.appends = DURABLE_EVERY - 1;
        self.append(&[entry])?;
        Ok(())
    }

    fn write(
        &mut self,
        entries: &[Entry],
        force: bool,
        closing: Option<Closing<'_>>,
    ) -> Result<Vec<Outcome>, ArchiveError> {
        let durable = self.appends % DURABLE_EVERY == DURABLE_EVERY - 1;
        self.appends += 1;
        if self.is_unindexed {
            let message = "it failed before, and the archive must be opened again";
            return Err(ArchiveError::Index(message.to_owned()));
        }
        if let Some(end) = self.torn {
            self.segments.roll_back(end)?;
            self.torn = None;
        }
        let before = self.segments.end()?;
        let mut synced = false;
        let mut blocks = Vec::new();
        let mut last = 0;
        let Self { segments, index, rejects_seen, .. } = self;
        let written = index.write(durable, |tables| {
            let mut outcomes = Vec::with_capacity(entries.len());
            let mut block = Vec::with_capacity(BLOCK * 2);
            let mut first = tables.next_sequence();
            for entry in entries {
                let (outcome, stored) = tables.take(entry, force)?;
                outcomes.push((outcome, stored.map(|stored| stored.sequence)));
                if let Some(stored) = stored {
                    write_entry(entry, stored, &mut block)?;
                }
                if block.len() >= BLOCK {
                    let place = segments.append(&block)?;
                    tables.note_block(first, place)?;
                    blocks.push((first, place));
                    first = tables.next_sequence();
                    block.clear();
                }
            }
            if let Some(closing) = closing {
                let amounts: Vec<Outcome> = outcomes.iter().map(|(outcome, _)| *outcome).collect();
                let entry = closing(&amounts)?;
                if let (_, Some(stored)) = tables.take(&entry, force)? {
                    write_entry(&entry, stored, &mut block)?;
                }
            }
            if !block.is_empty() {
                let place = segments.append(&block)?;
                tables.note_block(first, place)?;
                blocks.push((first, place));
            }
            last = tables.next_sequence() - 1;
            rejects_seen.extend(tables.seen_again.drain(..));
            // The entries count from here on; the index may be lost and read again.
            segments.sync()?;
            synced = true;
            Ok((outcomes, Some(segments.end()?)))
        });
        match written {
            Err(error) if synced => {
                self.is_unindexed = true;
                Err(ArchiveError::Unindexed(error.to_string()))
            }
            Err(error) => match self.segments.roll_back(before) {
                Ok(()) => Err(error),
                Err(also) => {
                    self.torn = Some(before);
                    Err(ArchiveError::Torn(format!("{error}; {also}")))
                }
            },
            Ok(outcomes) => {
                let news = entries.iter().zip(&outcomes).filter_map(|(entry, (_, sequence))| {
                    let withdrawn = match entry.kind {
                        Kind::Record => false,
                        Kind::Withdrawal => true,
                        _ => return None,
                    };
                    Some((&*entry.source, &*entry.id, Current { sequence: (*sequence)?, withdrawn }))
                });
                self.register.take(&blocks, news, last);
                if self.register.is_full() {
                    // Derived: what cannot be written now is written later, or made again.
                    if let Err(error) = self.register.write() {
                        tracing::warn!("the register of records cannot be written: {error}");
                    }
                }
                Ok(outcomes.into_iter().map(|(outcome, _)| outcome).collect())
            }
        }
    }

    /// Reads current records, also while this archive is appended to.
    pub fn reader(&self) -> Reader {
        Reader::new(Arc::clone(&self.register), self.segments.reader())
    }

    /// Takes into the register what it misses: after a kill what was appended last, of an older
    /// archive everything.
    fn bring_register_up(&self) -> Result<(), ArchiveError> {
        let last = self.index.last_sequence()?;
        let known = self.register.last();
        if known == last {
            return Ok(());
        }
        if known > last {
            // It was written by a process whose entries were lost with a power cut, or is another's.
            self.register.clear();
        }
        let known = self.register.last();
        let mut blocks = self.index.blocks(known + 1)?;
        blocks.retain(|(first, _)| *first > known);
        if known == 0 {
            for record in self.index.records(None)? {
                let (source, id, state) = record?;
                if let Some(version) = state.current() {
                    let current = Current { sequence: version.sequence, withdrawn: version.withdrawn };
                    self.register.take(&[], std::iter::once((&*source, &*id, current)), 0);
                }
                if self.register.is_full() && !self.is_read_only {
                    self.register.write()?;
                }
            }
            self.register.take(&blocks, std::iter::empty(), last);
            return Ok(());
        }
        for (first, place) in blocks {
            let entries = self.segments.read(place, first)?;
            let records =
                entries.iter().filter(|entry| matches!(entry.kind, Kind::Record | Kind::Withdrawal));
            let records = records.map(|entry| {
                let withdrawn = entry.kind == Kind::Withdrawal;
                (&*entry.source, &*entry.id, Current { sequence: entry.sequence, withdrawn })
            });
            let end = entries.last().map_or(first, |entry| entry.sequence);
            self.register.take(&[(first, place)], records, end);
        }
        Ok(())
    }

    /// The number of the last entry; 0 when there is none.
    pub fn last_sequence(&self) -> Result<u64, ArchiveError> {
        self.index.last_sequence()
    }

    /// What is known of a record: its versions, oldest first.
    pub fn record(&self, source: &str, id: &str) -> Result<Option<RecordState>, ArchiveError> {
        self.index.record(source, id)
    }

    /// Version `number` of a record, from 1.
    pub fn version(&self, source: &str, id: &str, number: usize) -> Result<Option<Version>, ArchiveError> {
        self.index.version(source, id, number)
    }

    /// All records in the order of source and id, with their state as it is now: what is
    /// appended while they are read does not show.
    pub fn records(
        &self,
        source: Option<&str>,
    ) -> Result<impl Iterator<Item = Result<(String, String, RecordState), ArchiveError>> + use<>, ArchiveError>
    {
        self.index.records(source)
    }

    pub fn sources(&self) -> Result<Vec<(String, SourceCounts)>, ArchiveError> {
        self.index.sources()
    }

    pub fn runs(&self) -> Result<Vec<(u64, Run)>, ArchiveError> {
        self.index.runs()
    }

    /// Every rule file that was ever loaded, by path, with its versions.
    pub fn concordances(&self) -> Result<Vec<(String, Vec<ConcordanceVersion>)>, ArchiveError> {
        self.index.concordances()
    }

    /// Every vocabulary that was ever loaded, by name, with its versions.
    pub fn vocabularies(&self) -> Result<Vec<(String, Vec<ConcordanceVersion>)>, ArchiveError> {
        self.index.vocabularies()
    }

    /// Appends the loading or unloading of rule files or vocabularies, durably.
    pub fn append_concordances(&mut self, entries: &[Entry]) -> Result<Vec<Outcome>, ArchiveError> {
        self.appends = DURABLE_EVERY - 1;
        self.append(entries)
    }

    /// The sources that were ever harvested.
    pub fn harvests(&self) -> Result<Vec<String>, ArchiveError> {
        self.index.harvests()
    }

    /// How far the harvest of a source is: the payload of its last [`Kind::Harvest`] entry.
    pub fn harvest(&self, source: &str) -> Result<Option<Vec<u8>>, ArchiveError> {
        self.index.harvest(source)
    }

    /// People's decisions about duplicates, oldest first: the entry's number and its payload.
    pub fn decisions(&self) -> Result<Vec<(u64, Vec<u8>)>, ArchiveError> {
        self.index.decisions()
    }

    /// What resolving left behind, oldest first: the entry's number and what it is.
    pub fn resolutions(&self) -> Result<Vec<(u64, String)>, ArchiveError> {
        self.index.resolutions()
    }

    /// Appends a decision or what resolving leaves behind, durably in the index too. Gives the
    /// number of the last entry.
    pub fn append_note(&mut self, entries: &[Entry]) -> Result<u64, ArchiveError> {
        self.appends = DURABLE_EVERY - 1;
        self.append(entries)?;
        // Whoever cannot read its number must not take it for refused.
        self.last_sequence().map_err(|error| ArchiveError::Unindexed(error.to_string()))
    }

    /// The numbers of rejects not yet made good, oldest first.
    pub fn rejects(&self) -> Result<Vec<u64>, ArchiveError> {
        self.index.rejects()
    }

    /// One entry with its payload.
    pub fn entry(&self, sequence: u64) -> Result<Option<Entry>, ArchiveError> {
        let Some(mut entry) = self.read(sequence)? else { return Ok(None) };
        self.fill(&mut entry)?;
        Ok(Some(entry))
    }

    /// All entries from this number on, payloads included.
    pub fn entries(&self, from: u64) -> Result<Entries<'_>, ArchiveError> {
        Ok(Entries {
            archive: self,
            blocks: self.index.blocks(from)?.into_iter(),
            held: Vec::new().into_iter(),
            from,
        })
    }

    /// Reads everything and checks every payload against its hash. Says how many entries and
    /// bytes of payload there are.
    pub fn verify(&self, mut progress: impl FnMut(u64)) -> Result<(u64, u64), ArchiveError> {
        let (mut entries, mut bytes) = (0, 0);
        for entry in self.entries(1)? {
            let entry = entry?;
            if entry.hash != PayloadHash::of(&entry.payload) {
                return Err(ArchiveError::Damaged {
                    file: "segments".to_owned(),
                    offset: 0,
                    reason: format!("the payload of entry {} does not have its hash", entry.sequence),
                });
            }
            entries += 1;
            bytes += entry.payload.len() as u64;
            progress(entries);
        }
        let expected = self.last_sequence()?;
        if entries != expected {
            return Err(ArchiveError::Index(format!("{expected} entries are known, {entries} are there")));
        }
        Ok((entries, bytes))
    }

    fn read(&self, sequence: u64) -> Result<Option<Entry>, ArchiveError> {
        let Some((first, place)) = self.index.block(sequence)? else { return Ok(None) };
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        if !recent.iter().any(|(held, _)| *held == first) {
            if recent.len() >= RECENT {
                recent.remove(0);
            }
            recent.push((first, self.segments.read(place, first)?));
        }
        let held = recent.iter().find(|(held, _)| *held == first);
        Ok(held.and_then(|(_, entries)| entries.iter().find(|entry| entry.sequence == sequence)).cloned())
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

    /// Indexes what the segments hold beyond the index.
    fn recover(&mut self) -> Result<(), ArchiveError> {
        let end = self.index.end()?;
        self.segments.must_reach(end)?;
        let blocks = self.segments.recover(end)?;
        if blocks.is_empty() {
            return Ok(());
        }
        tracing::info!(blocks = blocks.len(), "indexing what an interrupted run left");
        let Self { segments, index, .. } = self;
        index.write(true, |tables| {
            for place in blocks {
                let first = tables.next_sequence();
                for entry in segments.read(place, first)? {
                    tables.replay(&entry)?;
                }
                tables.note_block(first, place)?;
            }
            Ok(((), Some(segments.end()?)))
        })
    }
}

/// Entries in the order they were taken.
pub struct Entries<'a> {
    archive: &'a Archive,
    blocks: std::vec::IntoIter<(u64, Place)>,
    held: std::vec::IntoIter<Entry>,
    from: u64,
}

impl Iterator for Entries<'_> {
    type Item = Result<Entry, ArchiveError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            for mut entry in self.held.by_ref() {
                if entry.sequence >= self.from {
                    return Some(self.archive.fill(&mut entry).map(|()| entry));
                }
            }
            let (first, place) = self.blocks.next()?;
            match self.archive.segments.read(place, first) {
                Ok(entries) => self.held = entries.into_iter(),
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

impl Drop for Archive {
    fn drop(&mut self) {
        if !self.is_read_only
            && !self.is_unindexed
            && self.torn.is_none()
            && let Err(error) = self.register.write()
        {
            tracing::info!("the register of records is not written, and is made again: {error}");
        }
    }
}
