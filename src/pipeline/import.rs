//! Taking files in: split, decode, archive, map, write.
//!
//! A record counts when the archive has synced it; the store follows on its own thread.
//! Decoding runs on all cores within a batch, and what comes out keeps the order of the input.

use super::described::Describing;
use super::store_writer::{self, Pending, Store};
use super::taking::{Decoded, Taking, placed};
use super::{PipelineError, Session, Watch};
use crate::archive::{Entry, Kind, Outcome, Run};
use crate::concordance::Concordances;
use crate::decode::{self, Input, InputError, Payload, Piece};
use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::map;
use crate::record::{Format, Model, Record};
use crate::sort::Sorter;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// Records decoded, archived and synced together.
const BATCH: usize = 2048;
/// A batch is also closed when its payloads reach this size.
const BATCH_BYTES: usize = 8 * 1024 * 1024;
/// The bytes of a refused file that are kept.
const HEAD: usize = 64 * 1024;
/// What the ids of a full dump may take in memory before they are sorted on disk.
const IDS_BUDGET: usize = 64 * 1024 * 1024;

/// What to import and how.
#[derive(Debug, Clone, Default)]
pub struct Request {
    pub source: String,
    /// `-` is standard input.
    pub files: Vec<PathBuf>,
    /// Against what the content shows.
    pub format: Option<Format>,
    pub options: decode::Options,
    /// For records that do not tell.
    pub content_type: Option<String>,
    /// What the columns of a table or the keys of objects mean: `corpus`, say.
    pub model: Option<Model>,
    /// The files are all there is: what they no longer hold is withdrawn.
    pub replace: bool,
    /// The current time, RFC 3339; a parameter so that nothing here asks the clock.
    pub time: String,
}

/// What an import did.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
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

/// Imports the files of a request, in order.
pub fn import(
    session: &mut Session,
    request: &Request,
    watch: &mut dyn Watch,
) -> Result<Summary, PipelineError> {
    let origins = request.files.iter().map(|file| origin_name(file)).collect();
    let run = Run {
        source: request.source.clone(),
        origins,
        agent: format!("pinakes/{}", env!("CARGO_PKG_VERSION")),
        started: request.time.clone(),
        ..Run::default()
    };
    let (number, run) = session.archive.begin_run(&run, &request.time)?;
    let concordances = Arc::clone(session.concordances());
    let describing = Describing::new(&session.catalogue)?;
    let Session { archive, catalogue, home, content_types, .. } = session;
    let (summary, mut pending, unread) = store_writer::run(catalogue, |store| {
        let mut importing = Importing {
            taking: Taking { request, run: number },
            archive,
            graphs: &home.graphs,
            content_types,
            concordances: &concordances,
            summary: Summary::default(),
            pending: Pending::default(),
            known: FxHashMap::default(),
            seen: request.replace.then(|| Sorter::new(IDS_BUDGET)),
            unread: Vec::new(),
            describing,
            store,
            watch,
        };
        importing.pending.vocabulary(&home.graphs, content_types);
        // Before the first record names it.
        importing.pending.run(&home.graphs, number, &run);
        for file in &request.files {
            importing.file(file)?;
        }
        importing.settle_duplicates()?;
        importing.withdraw_missing()?;
        Ok((importing.summary, importing.pending, importing.unread))
    })?;
    session.archive.finish_run(number, run.clone(), &unread, &request.time)?;
    let run = Run { finished: Some(request.time.clone()), ..run };
    pending.run(&session.home.graphs, number, &run);
    pending.position = session.archive.last_sequence()?;
    store_writer::run(&session.catalogue, |store| store.send(pending))?;
    Ok(summary)
}

struct Importing<'a> {
    taking: Taking<'a>,
    archive: &'a mut crate::archive::Archive,
    graphs: &'a crate::catalogue::Graphs,
    content_types: &'a map::ContentTypes,
    concordances: &'a Concordances,
    summary: Summary,
    pending: Pending,
    /// Duplicates of earlier runs whose other half has not been met yet.
    known: FxHashMap<String, Entry>,
    /// The ids of a full dump.
    seen: Option<Sorter>,
    /// Files that were refused whole.
    unread: Vec<String>,
    describing: Describing,
    store: &'a Store,
    watch: &'a mut dyn Watch,
}

impl Importing<'_> {
    fn file(&mut self, file: &std::path::Path) -> Result<(), PipelineError> {
        self.summary.files += 1;
        let input = match Input::open(file, self.taking.request.format) {
            Ok(input) => input,
            Err(InputError::Refused(diagnostic)) => {
                let head = std::fs::File::open(file).ok().map(|file| {
                    let mut bytes = Vec::new();
                    let _ =
                        std::io::Read::read_to_end(&mut std::io::Read::take(file, HEAD as u64), &mut bytes);
                    bytes
                });
                let payload = Payload { bytes: head.unwrap_or_default(), number: 0, offset: 0 };
                let rejected = self.taking.rejected(&origin_name(file), None, payload, *diagnostic);
                self.unread.push(origin_name(file));
                return self.batch(vec![rejected]);
            }
            Err(error) => return Err(error.into()),
        };
        let origin = origin_name(file);
        for diagnostic in input.diagnostics {
            self.say(placed(diagnostic, self.taking.request, &origin, None));
        }
        self.watch.begin(&format!("importing {}", input.name), input.size);
        let position = input.position;
        let mut pieces = decode::split(input.reader, input.format, &input.name);
        let mut failure = None;
        let taking = self.taking;
        loop {
            let mut batch = Vec::with_capacity(BATCH);
            let mut bytes = 0;
            while batch.len() < BATCH && bytes < BATCH_BYTES {
                match pieces.next() {
                    Some(Ok(piece)) => {
                        bytes += match &piece {
                            Piece::Record(payload, _) | Piece::Reject(payload, _) => payload.bytes.len(),
                        };
                        batch.push(piece);
                    }
                    Some(Err(error)) => {
                        failure = Some(error);
                        break;
                    }
                    None => break,
                }
            }
            if batch.is_empty() {
                break;
            }
            let decoded: Vec<Decoded> =
                batch.into_par_iter().map(|piece| taking.decode(piece, &origin, input.format)).collect();
            self.batch(decoded)?;
            let done = position.load(std::sync::atomic::Ordering::Relaxed);
            self.watch.advance(done, self.summary.records);
            if failure.is_some() {
                break;
            }
        }
        self.watch.end();
        match failure {
            Some(source) => Err(InputError::Unreadable { name: input.name, source }.into()),
            None => Ok(()),
        }
    }

    /// Archives a batch, then hands what is new to the store.
    fn batch(&mut self, decoded: Vec<Decoded>) -> Result<(), PipelineError> {
        let (entries, rest): (Vec<Entry>, Vec<_>) =
            decoded.into_iter().map(|d| (d.entry, (d.record, d.diagnostics))).unzip();
        let outcomes = self.archive.append(&entries)?;
        let mut fresh = Vec::with_capacity(entries.len());
        for ((entry, (record, diagnostics)), outcome) in entries.into_iter().zip(rest).zip(outcomes) {
            for diagnostic in diagnostics {
                self.say(diagnostic);
            }
            if entry.kind == Kind::Reject {
                self.summary.rejected += 1;
                continue;
            }
            self.summary.records += 1;
            if let (Some(seen), Kind::Record) = (&mut self.seen, entry.kind) {
                seen.push(entry.id.as_bytes()).map_err(crate::archive::ArchiveError::from)?;
            }
            if outcome != Outcome::Known {
                self.known.remove(&entry.id);
            }
            match outcome {
                Outcome::New => self.summary.new += 1,
                Outcome::Changed => self.summary.changed += 1,
                Outcome::Unchanged => self.summary.unchanged += 1,
                Outcome::Withdrawn => self.summary.withdrawn += 1,
                Outcome::Duplicate => {
                    self.summary.duplicates += 1;
                    self.say_duplicate(&entry);
                }
                Outcome::Known => {
                    self.summary.duplicates += 1;
                    self.say_duplicate(&entry);
                    self.known.insert(entry.id.clone(), entry);
                    continue;
                }
            }
            if outcome != Outcome::Unchanged {
                fresh.push((entry, record, outcome));
            }
        }
        self.store(fresh)
    }

    fn store(&mut self, fresh: Vec<(Entry, Option<Record>, Outcome)>) -> Result<(), PipelineError> {
        let (graphs, content_types, concordances) = (self.graphs, self.content_types, self.concordances);
        let models = fresh.iter().filter_map(|(_, record, _)| record.as_ref().map(|record| record.model));
        self.describing.add(models, concordances, graphs, &mut self.pending);
        let mapped: Vec<_> = fresh
            .into_par_iter()
            .map(|(entry, record, outcome)| {
                let triples = record.filter(|_| entry.kind == Kind::Record).map(|record| {
                    let context = map::Context {
                        graphs,
                        concordances,
                        content_types,
                        source: &entry.source,
                        id: &entry.id,
                        default_type: entry.content_type.as_deref(),
                    };
                    map::map(&record, &context)
                });
                (entry, triples, outcome)
            })
            .collect();
        for (entry, mapped, outcome) in mapped {
            let triples = mapped.map(|mapped| {
                for diagnostic in mapped.diagnostics {
                    self.say(placed(diagnostic, self.taking.request, &entry.origin.name, Some(&entry)));
                }
                mapped.triples
            });
            self.pending.record(graphs, &entry, triples, outcome != Outcome::New);
        }
        self.pending.position = self.archive.last_sequence()?;
        if self.pending.is_full() {
            self.store.send(std::mem::take(&mut self.pending))?;
        }
        Ok(())
    }

    /// A file that once held an id twice and now holds only the older of the two payloads.
    fn settle_duplicates(&mut self) -> Result<(), PipelineError> {
        let mut entries: Vec<Entry> = std::mem::take(&mut self.known).into_values().collect();
        entries.sort_by(|left, right| left.id.cmp(&right.id));
        self.archive.append_known(&entries)?;
        let fresh = entries
            .into_iter()
            .map(|entry| {
                let record = super::session::decode_entry(&entry);
                (entry, record, Outcome::Changed)
            })
            .collect();
        self.store(fresh)
    }

    /// Withdraws what a full dump no longer holds, if all of it could be read: both lists are
    /// in order, so one pass does.
    fn withdraw_missing(&mut self) -> Result<(), PipelineError> {
        let Some(seen) = self.seen.take() else { return Ok(()) };
        let mut seen = seen.sorted().map_err(crate::archive::ArchiveError::from)?.peekable();
        // A dump that was read in part, or in the wrong format, says nothing about the rest.
        let partly = self.summary.diagnostics.contains_key(Code::TrailingBytes.slug());
        let hold_back = self.summary.rejected > 0 || self.summary.records == 0 || partly;
        let mut missing = Vec::new();
        for record in self.archive.records(Some(&self.taking.request.source))? {
            let (_, id, state) = record?;
            // An error of the disk must not pass for a record that is gone.
            while let Some(next) = seen.next_if(|next| match next {
                Ok(next) => &**next < id.as_bytes(),
                Err(_) => true,
            }) {
                next.map_err(crate::archive::ArchiveError::from)?;
            }
            let there = matches!(seen.peek(), Some(Ok(next)) if &**next == id.as_bytes());
            if there || state.current().is_none_or(|version| version.withdrawn) {
                continue;
            }
            if hold_back {
                self.summary.held_back += 1;
                continue;
            }
            missing.push(id);
            if missing.len() >= BATCH {
                self.withdraw(std::mem::take(&mut missing))?;
            }
        }
        self.withdraw(missing)
    }

    fn withdraw(&mut self, ids: Vec<String>) -> Result<(), PipelineError> {
        let Taking { request, run } = self.taking;
        let withdrawals: Vec<Entry> = ids
            .iter()
            .map(|id| Entry::new(Kind::Withdrawal, &request.source, id, run, &request.time))
            .collect();
        self.archive.append(&withdrawals)?;
        self.summary.withdrawn += withdrawals.len() as u64;
        self.store(withdrawals.into_iter().map(|entry| (entry, None, Outcome::Withdrawn)).collect())
    }

    fn say_duplicate(&mut self, entry: &Entry) {
        let diagnostic = Diagnostic::new(
            Code::DuplicateIdentifier,
            format!("`{}` stands for another payload too; the last one that differs counts", entry.id),
        );
        self.say(placed(diagnostic, self.taking.request, &entry.origin.name, Some(entry)));
    }

    fn say(&mut self, diagnostic: Diagnostic) {
        *self.summary.diagnostics.entry(diagnostic.code.slug().to_owned()).or_default() += 1;
        self.watch.diagnostic(&diagnostic);
    }
}

/// The path as it was given: files of one name in two folders are two origins.
fn origin_name(file: &std::path::Path) -> String {
    file.display().to_string()
}

impl Summary {
    /// Whether some data was refused.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.keys().any(|slug| {
            Code::ALL.iter().any(|code| code.slug() == slug && code.severity() == Severity::Error)
        })
    }
}
