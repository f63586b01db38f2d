//! Where records come in, whoever brings them: archive, map, store.
//!
//! A record counts when the archive has synced it; the store follows on its own thread. What is
//! counted and remembered about one source is its [`Account`].

use super::PipelineError;
use super::Watch;
use super::described::Describing;
use super::resolve::{Questionnaire, ReadingNews};
use super::store_writer::{Pending, Store};
use super::taking::{Decoded, Taking, placed};
use crate::archive::{Archive, ArchiveError, Entry, Kind, Outcome, Run, RunReport};
use crate::catalogue::Graphs;
use crate::concordance::Concordances;
use crate::decode;
use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::map::{self, ContentTypes};
use crate::record::Record;
use crate::sort::Sorter;
use oxrdf::Triple;
use pinakes_ask::Graph;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Records withdrawn together.
const BATCH: usize = 2048;
/// What the ids of a full list may take in memory before they are sorted on disk.
const IDS_BUDGET: usize = 64 * 1024 * 1024;

/// What became of the records of one source.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct Summary {
    pub files: u64,
    /// Records read, rejects not counted.
    pub records: u64,
    pub new: u64,
    pub changed: u64,
    pub unchanged: u64,
    pub withdrawn: u64,
    /// Records that a full dump no longer holds, as far as it could be read. They are not
    /// withdrawn: they may be in what was refused.
    pub held_back: u64,
    pub duplicates: u64,
    pub rejected: u64,
    /// How often each diagnostic was given.
    pub diagnostics: BTreeMap<String, u64>,
}

/// What is counted and remembered about one source while its records come in.
#[derive(Default)]
pub(super) struct Account {
    pub summary: Summary,
    /// Duplicates of earlier runs whose other half has not been met yet.
    known: FxHashMap<String, Entry>,
    /// The ids of a full list.
    seen: Option<Sorter>,
    /// Files that were refused whole.
    pub unread: Vec<String>,
}

impl Account {
    /// With `full`, what comes in is all there is: what is not among it is withdrawn in the end.
    pub fn new(full: bool) -> Self {
        Self { seen: full.then(|| Sorter::new(IDS_BUDGET)), ..Self::default() }
    }

    /// What comes in is not all there is after all.
    pub fn forget_missing(&mut self) {
        self.seen = None;
    }
}

/// Makes the note of a batch from what the run amounts to with it.
pub(super) type Noting<'a> = &'a mut dyn FnMut(&Summary) -> Result<Entry, ArchiveError>;

/// The way from decoded records into the catalogue.
pub(super) struct Intake<'a> {
    pub archive: &'a mut Archive,
    pub graphs: &'a Graphs,
    pub content_types: &'a ContentTypes,
    pub concordances: &'a Concordances,
    pub pending: Pending,
    pub describing: Describing,
    pub store: &'a Store,
    /// What is asked of each record for resolving.
    pub questionnaire: Option<Questionnaire>,
    /// Whether the store follows at once.
    pub map: bool,
    pub watch: &'a mut dyn Watch,
}

impl Intake<'_> {
    /// Archives a batch, and a note of what it amounts to that counts only together with it;
    /// then hands what is new to the store.
    pub fn batch(
        &mut self,
        taking: Taking<'_>,
        account: &mut Account,
        decoded: Vec<Decoded>,
        note: Option<Noting<'_>>,
    ) -> Result<(), PipelineError> {
        let (entries, rest): (Vec<Entry>, Vec<_>) =
            decoded.into_iter().map(|d| (d.entry, (d.record, d.diagnostics))).unzip();
        let outcomes = match note {
            None => self.archive.append(&entries)?,
            Some(note) => {
                let mut summary = account.summary.clone();
                rest.iter().flat_map(|(_, said)| said).for_each(|said| summary.note(said));
                self.archive.append_with(&entries, &mut |outcomes| {
                    entries
                        .iter()
                        .zip(outcomes)
                        .for_each(|(entry, outcome)| summary.count(entry.kind, *outcome));
                    note(&summary)
                })?
            }
        };
        let mut fresh = Vec::with_capacity(entries.len());
        for ((entry, (record, diagnostics)), outcome) in entries.into_iter().zip(rest).zip(outcomes) {
            for diagnostic in diagnostics {
                self.say(account, diagnostic);
            }
            account.summary.count(entry.kind, outcome);
            if entry.kind == Kind::Reject {
                continue;
            }
            if let (Some(seen), Kind::Record) = (&mut account.seen, entry.kind) {
                seen.push(entry.id.as_bytes()).map_err(ArchiveError::from)?;
            }
            if outcome != Outcome::Known {
                account.known.remove(&entry.id);
            }
            if matches!(outcome, Outcome::Duplicate | Outcome::Known) {
                self.say_duplicate(taking, account, &entry);
            }
            match outcome {
                Outcome::Unchanged => {}
                Outcome::Known => {
                    account.known.insert(entry.id.clone(), entry);
                }
                _ => fresh.push((entry, record, outcome)),
            }
        }
        self.store(taking, account, fresh)
    }

    fn store(
        &mut self,
        taking: Taking<'_>,
        account: &mut Account,
        fresh: Vec<(Entry, Option<Record>, Outcome)>,
    ) -> Result<(), PipelineError> {
        if !self.map {
            return Ok(());
        }
        let (graphs, content_types, concordances) = (self.graphs, self.content_types, self.concordances);
        let decoded: Vec<_> = fresh
            .into_par_iter()
            .map(|(entry, record, outcome)| {
                let mut diagnostics = Vec::new();
                let record = record.or_else(|| decode_late(&entry, &mut diagnostics));
                (entry, record, diagnostics, outcome)
            })
            .collect();
        let models = decoded.iter().filter_map(|(_, record, ..)| record.as_ref().map(|record| record.model));
        self.describing.add(models, concordances, graphs, &mut self.pending);
        let questionnaire = self.questionnaire.as_ref();
        let mapped: Vec<_> = decoded
            .into_par_iter()
            .map_init(Graph::new, |room, (entry, record, mut diagnostics, outcome)| {
                let triples = record.filter(|_| entry.kind == Kind::Record).map(|record| {
                    let context = map::Context {
                        graphs,
                        concordances,
                        content_types,
                        source: &entry.source,
                        id: &entry.id,
                        default_type: entry.content_type.as_deref(),
                    };
                    let mut mapped = map::map(&record, &context);
                    diagnostics.append(&mut mapped.diagnostics);
                    mapped.triples
                });
                let reading = read(questionnaire, graphs, &entry, triples.as_deref(), room);
                (entry, triples, reading, diagnostics, outcome)
            })
            .collect();
        let mut rejects = Vec::new();
        for (entry, triples, reading, diagnostics, outcome) in mapped {
            reading.into_iter().for_each(|reading| self.pending.reading(reading));
            let unreadable = triples.is_none() && entry.kind == Kind::Record;
            let mut reason = None;
            for diagnostic in diagnostics {
                let diagnostic = placed(diagnostic, taking.request, &entry.origin.name, Some(&entry));
                reason = Some(diagnostic.clone());
                self.say(account, diagnostic);
            }
            self.pending.record(graphs, &entry, triples, outcome != Outcome::New);
            if unreadable {
                // It is in the archive as it came; the list of rejects says so.
                let mut reject = entry;
                reject.kind = Kind::Reject;
                reject.diagnostic = reason;
                rejects.push(reject);
            }
        }
        if !rejects.is_empty() {
            account.summary.rejected += rejects.len() as u64;
            self.archive.append(&rejects)?;
        }
        self.pending.position = self.archive.last_sequence()?;
        if self.pending.is_full() {
            self.flush()?;
        }
        Ok(())
    }

    /// Hands what is waiting to the store.
    pub fn flush(&mut self) -> Result<(), PipelineError> {
        if !self.map {
            return Ok(());
        }
        self.store.send(self.pending.take())
    }

    /// Ends a run: what can only be known now is done, and the run says what it amounted to.
    pub fn finish(
        &mut self,
        taking: Taking<'_>,
        account: &mut Account,
        run: Run,
    ) -> Result<(), PipelineError> {
        self.settle_duplicates(taking, account)?;
        self.withdraw_missing(taking, account)?;
        let run = Run { report: Some(account.summary.report()), ..run };
        let time = &taking.request.time;
        self.archive.finish_run(taking.run, run.clone(), &account.unread, time)?;
        self.pending.run(self.graphs, taking.run, &Run { finished: Some(time.clone()), ..run });
        self.pending.position = self.archive.last_sequence()?;
        Ok(())
    }

    /// A list that once held an id twice and now holds only the older of the two payloads.
    fn settle_duplicates(&mut self, taking: Taking<'_>, account: &mut Account) -> Result<(), PipelineError> {
        let mut entries: Vec<Entry> = std::mem::take(&mut account.known).into_values().collect();
        entries.sort_by(|left, right| left.id.cmp(&right.id));
        self.archive.append_known(&entries)?;
        let fresh = entries
            .into_iter()
            .map(|entry| {
                let record = super::session::decode_entry(&entry);
                (entry, record, Outcome::Changed)
            })
            .collect();
        self.store(taking, account, fresh)
    }

    /// Withdraws what a full list no longer holds, if all of it could be read: both lists are
    /// in order, so one pass does.
    fn withdraw_missing(&mut self, taking: Taking<'_>, account: &mut Account) -> Result<(), PipelineError> {
        let Some(seen) = account.seen.take() else { return Ok(()) };
        let mut seen = seen.sorted().map_err(ArchiveError::from)?.peekable();
        // A list that was read in part, or in the wrong format, says nothing about the rest.
        let partly = account.summary.diagnostics.contains_key(Code::TrailingBytes.slug());
        let hold_back = account.summary.rejected > 0 || account.summary.records == 0 || partly;
        let mut missing = Vec::new();
        for record in self.archive.records(Some(&taking.request.source))? {
            let (_, id, state) = record?;
            // An error of the disk must not pass for a record that is gone.
            while let Some(next) = seen.next_if(|next| match next {
                Ok(next) => &**next < id.as_bytes(),
                Err(_) => true,
            }) {
                next.map_err(ArchiveError::from)?;
            }
            let there = matches!(seen.peek(), Some(Ok(next)) if &**next == id.as_bytes());
            if there || state.current().is_none_or(|version| version.withdrawn) {
                continue;
            }
            if hold_back {
                account.summary.held_back += 1;
                continue;
            }
            missing.push(id);
            if missing.len() >= BATCH {
                self.withdraw(taking, account, std::mem::take(&mut missing))?;
            }
        }
        self.withdraw(taking, account, missing)
    }

    fn withdraw(
        &mut self,
        taking: Taking<'_>,
        account: &mut Account,
        ids: Vec<String>,
    ) -> Result<(), PipelineError> {
        let Taking { request, run } = taking;
        let withdrawals: Vec<Entry> = ids
            .iter()
            .map(|id| Entry::new(Kind::Withdrawal, &request.source, id, run, &request.time))
            .collect();
        self.archive.append(&withdrawals)?;
        account.summary.withdrawn += withdrawals.len() as u64;
        let gone = withdrawals.into_iter().map(|entry| (entry, None, Outcome::Withdrawn)).collect();
        self.store(taking, account, gone)
    }

    fn say_duplicate(&mut self, taking: Taking<'_>, account: &mut Account, entry: &Entry) {
        let diagnostic = Diagnostic::new(
            Code::DuplicateIdentifier,
            format!("`{}` stands for another payload too; the last one that differs counts", entry.id),
        );
        self.say(account, placed(diagnostic, taking.request, &entry.origin.name, Some(entry)));
    }

    pub fn say(&mut self, account: &mut Account, diagnostic: Diagnostic) {
        account.summary.note(&diagnostic);
        self.watch.diagnostic(&diagnostic);
    }
}

/// What is read from a mapped record for resolving, if all goes well; else `resolve` reads it, and says
/// what is wrong.
pub(super) fn read(
    questionnaire: Option<&Questionnaire>,
    graphs: &Graphs,
    entry: &Entry,
    triples: Option<&[Triple]>,
    room: &mut Graph,
) -> Option<ReadingNews> {
    let (key, reading) = questionnaire?.read(graphs, entry, triples?, room).ok()?;
    Some(ReadingNews { key, reading: Some(reading), is_remapped: false })
}

/// Decodes a record that was archived before anybody looked into it.
fn decode_late(entry: &Entry, diagnostics: &mut Vec<Diagnostic>) -> Option<Record> {
    let format = entry.format.filter(|_| entry.kind == Kind::Record)?;
    let record = decode::decode(&entry.payload, format, &decode::Options::default(), diagnostics);
    if record.is_none() && diagnostics.is_empty() {
        diagnostics.push(Diagnostic::new(Code::NotARecord, "the record cannot be read"));
    }
    record
}

impl Summary {
    /// Counts an entry by what became of it.
    fn count(&mut self, kind: Kind, outcome: Outcome) {
        if kind == Kind::Reject {
            self.rejected += 1;
            return;
        }
        self.records += 1;
        match outcome {
            Outcome::New => self.new += 1,
            Outcome::Changed => self.changed += 1,
            Outcome::Unchanged => self.unchanged += 1,
            Outcome::Withdrawn => self.withdrawn += 1,
            Outcome::Duplicate | Outcome::Known => self.duplicates += 1,
        }
    }

    /// Counts something that was said.
    fn note(&mut self, diagnostic: &Diagnostic) {
        *self.diagnostics.entry(diagnostic.code.slug().to_owned()).or_default() += diagnostic.count;
    }

    fn report(&self) -> RunReport {
        RunReport {
            records: self.records,
            new: self.new,
            changed: self.changed,
            unchanged: self.unchanged,
            withdrawn: self.withdrawn,
            rejected: self.rejected,
            problems: self.diagnostics.clone(),
        }
    }

    /// Whether some data was refused.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.keys().any(|slug| {
            Code::ALL.iter().any(|code| code.slug() == slug && code.severity() == Severity::Error)
        })
    }
}
