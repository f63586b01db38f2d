//! The index while one transaction writes it: what is new, and what becomes of it.

use super::entry::{Entry, Kind, PayloadHash, Stored};
use super::index::{
    BLOCKS, CONCORDANCES, ConcordanceVersion, DECISIONS, End, HARVESTS, META, OLDER, PAYLOADS, Place,
    RECORDS, REJECT_KEYS, REJECTS, RESOLUTIONS, RUNS, RecordState, Run, SOURCES, SourceCounts, VOCABULARIES,
    Version, failed, from_json, key, older_key,
};
use super::{ArchiveError, Outcome};
use redb::{ReadableTable, Table, WriteTransaction};
use rustc_hash::{FxHashMap, FxHashSet};

/// The tables while one transaction writes them.
pub(super) struct Tables<'t> {
    blocks: Table<'t, u64, (u32, u64, u64)>,
    records: Table<'t, &'static [u8], &'static [u8]>,
    older: Table<'t, &'static [u8], &'static [u8]>,
    payloads: Table<'t, &'static [u8; 16], u64>,
    rejects: Table<'t, u64, &'static [u8]>,
    reject_keys: Table<'t, &'static [u8; 16], u64>,
    runs: Table<'t, u64, &'static [u8]>,
    sources: Table<'t, &'static str, &'static [u8]>,
    concordances: Table<'t, &'static str, &'static [u8]>,
    vocabularies: Table<'t, &'static str, &'static [u8]>,
    harvests: Table<'t, &'static str, &'static [u8]>,
    decisions: Table<'t, u64, &'static [u8]>,
    resolutions: Table<'t, u64, &'static str>,
    meta: Table<'t, &'static str, u64>,
    next: u64,
    counts: FxHashMap<String, SourceCounts>,
    /// Known rejects met again.
    pub seen_again: Vec<u64>,
}

impl<'t> Tables<'t> {
    pub fn open(transaction: &'t WriteTransaction) -> Result<Self, ArchiveError> {
        let meta = transaction.open_table(META).map_err(failed)?;
        let last = meta.get("last").map_err(failed)?.map_or(0, |last| last.value());
        Ok(Self {
            blocks: transaction.open_table(BLOCKS).map_err(failed)?,
            records: transaction.open_table(RECORDS).map_err(failed)?,
            older: transaction.open_table(OLDER).map_err(failed)?,
            payloads: transaction.open_table(PAYLOADS).map_err(failed)?,
            rejects: transaction.open_table(REJECTS).map_err(failed)?,
            reject_keys: transaction.open_table(REJECT_KEYS).map_err(failed)?,
            runs: transaction.open_table(RUNS).map_err(failed)?,
            sources: transaction.open_table(SOURCES).map_err(failed)?,
            concordances: transaction.open_table(CONCORDANCES).map_err(failed)?,
            vocabularies: transaction.open_table(VOCABULARIES).map_err(failed)?,
            harvests: transaction.open_table(HARVESTS).map_err(failed)?,
            decisions: transaction.open_table(DECISIONS).map_err(failed)?,
            resolutions: transaction.open_table(RESOLUTIONS).map_err(failed)?,
            meta,
            next: last + 1,
            counts: FxHashMap::default(),
            seen_again: Vec::new(),
        })
    }

    pub fn close(&mut self, end: End) -> Result<(), ArchiveError> {
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

    /// What a new entry amounts to, and how it is to be stored, if it is.
    pub fn take(&mut self, entry: &Entry, force: bool) -> Result<(Outcome, Option<Stored>), ArchiveError> {
        let mut state = None;
        let outcome = match entry.kind {
            Kind::Record | Kind::Withdrawal => {
                let outcome = judge(state.insert(self.state(entry)?), entry);
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
            Kind::RunStarted
            | Kind::RunFinished
            | Kind::Harvest
            | Kind::Decision
            | Kind::Resolution
            | Kind::Update => Outcome::New,
            Kind::Concordance | Kind::Vocabulary => match self.loaded(entry)?.last() {
                Some(last) if !last.unloaded && last.hash == entry.hash => Outcome::Unchanged,
                Some(_) => Outcome::Changed,
                None => Outcome::New,
            },
            Kind::ConcordanceUnloaded | Kind::VocabularyRemoved => match self.loaded(entry)?.last() {
                Some(last) if !last.unloaded => Outcome::Withdrawn,
                _ => Outcome::Unchanged,
            },
        };
        if matches!(outcome, Outcome::Unchanged | Outcome::Known) {
            return Ok((outcome, None));
        }
        let mut stored = Stored { sequence: self.next, run: entry.run, same: None };
        if entry.kind == Kind::RunStarted {
            stored.run = self.next;
        }
        if entry.kind.is_received() && !entry.payload.is_empty() {
            let holder = self.payloads.get(&entry.hash.0).map_err(failed)?;
            stored.same = holder.map(|holder| holder.value());
        }
        self.note(entry, stored, state)?;
        Ok((outcome, Some(stored)))
    }

    /// Notes an entry that is in the segments.
    pub fn replay(&mut self, entry: &Entry) -> Result<(), ArchiveError> {
        let stored = Stored { sequence: entry.sequence, run: entry.run, same: entry.same };
        self.note(entry, stored, None)
    }

    /// Notes an entry that is in the segments, or is about to be; with the state of its record,
    /// if somebody has looked it up.
    fn note(
        &mut self,
        entry: &Entry,
        stored: Stored,
        state: Option<RecordState>,
    ) -> Result<(), ArchiveError> {
        let Stored { sequence, run, same } = stored;
        self.next = sequence + 1;
        if entry.kind.is_received() && same.is_none() && !entry.payload.is_empty() {
            self.payloads.insert(&entry.hash.0, sequence).map_err(failed)?;
        }
        match entry.kind {
            Kind::Concordance | Kind::ConcordanceUnloaded | Kind::Vocabulary | Kind::VocabularyRemoved => {
                return self.note_loaded(entry, sequence);
            }
            Kind::Harvest => {
                self.harvests.insert(entry.source.as_str(), entry.payload.as_slice()).map_err(failed)?;
                return Ok(());
            }
            Kind::Decision => {
                self.decisions.insert(sequence, entry.payload.as_slice()).map_err(failed)?;
                return Ok(());
            }
            Kind::Resolution => {
                self.resolutions.insert(sequence, entry.id.as_str()).map_err(failed)?;
                return Ok(());
            }
            // Found again by its place alone.
            Kind::Update => return Ok(()),
            _ => {}
        }
        let mut counts = self.counts(&entry.source)?;
        match entry.kind {
            Kind::Concordance
            | Kind::ConcordanceUnloaded
            | Kind::Vocabulary
            | Kind::VocabularyRemoved
            | Kind::Harvest
            | Kind::Decision
            | Kind::Resolution
            | Kind::Update => {}
            Kind::Record | Kind::Withdrawal => {
                let mut state = state.map_or_else(|| self.state(entry), Ok)?;
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
                if same.is_none() {
                    counts.bytes += entry.payload.len() as u64;
                }
                if let Some(old) = state.make_room() {
                    let key = older_key(&entry.source, &entry.id, old.sequence);
                    self.older.insert(key.as_slice(), old.encode().as_slice()).map_err(failed)?;
                }
                state.push(Version { sequence, hash: entry.identity(), run, withdrawn });
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
                self.runs.insert(run, entry.payload.as_slice()).map_err(failed)?;
                let finished: Run = from_json(&entry.payload)?;
                let made_good: FxHashSet<u64> = finished.made_good.into_iter().collect();
                for sequence in &made_good {
                    if self.rejects.remove(*sequence).map_err(failed)?.is_some() {
                        counts.rejects = counts.rejects.saturating_sub(1);
                    }
                }
                if !made_good.is_empty() {
                    self.reject_keys.retain(|_, known| !made_good.contains(&known)).map_err(failed)?;
                }
            }
        }
        match self.counts.get_mut(&entry.source) {
            Some(known) => *known = counts,
            None => {
                self.counts.insert(entry.source.clone(), counts);
            }
        }
        Ok(())
    }

    fn note_loaded(&mut self, entry: &Entry, sequence: u64) -> Result<(), ArchiveError> {
        let mut versions = self.loaded(entry)?;
        versions.push(ConcordanceVersion {
            sequence,
            hash: entry.hash,
            unloaded: matches!(entry.kind, Kind::ConcordanceUnloaded | Kind::VocabularyRemoved),
            time: entry.time.clone(),
        });
        let json = serde_json::to_vec(&versions).map_err(failed)?;
        let table = if is_vocabulary(entry) { &mut self.vocabularies } else { &mut self.concordances };
        table.insert(entry.id.as_str(), json.as_slice()).map_err(failed)?;
        Ok(())
    }

    /// The versions of a rule file or vocabulary.
    fn loaded(&self, entry: &Entry) -> Result<Vec<ConcordanceVersion>, ArchiveError> {
        let table = if is_vocabulary(entry) { &self.vocabularies } else { &self.concordances };
        let versions = table.get(entry.id.as_str()).map_err(failed)?;
        versions.map_or_else(|| Ok(Vec::new()), |versions| from_json(versions.value()))
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

fn is_vocabulary(entry: &Entry) -> bool {
    matches!(entry.kind, Kind::Vocabulary | Kind::VocabularyRemoved)
}

/// What a record or withdrawal is, given the versions before it.
fn judge(state: &RecordState, entry: &Entry) -> Outcome {
    let withdrawal = entry.kind == Kind::Withdrawal;
    let identity = entry.identity();
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
        Some(current) if !current.withdrawn && current.hash == identity => Outcome::Unchanged,
        // Both payloads came in one run before: a file that holds an id twice gives the same
        // pair each time it is read, and neither is news.
        Some(current) if state.versions.iter().any(|v| v.hash == identity && v.run == current.run) => {
            Outcome::Known
        }
        Some(current) if current.withdrawn => Outcome::Changed,
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
