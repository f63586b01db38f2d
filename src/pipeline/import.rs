//! Taking files in: split, decode, archive, map, write.
//!
//! A record counts when the archive has synced it; the store follows on its own thread.
//! Decoding runs on all cores within a batch, and what comes out keeps the order of the input.

use super::described::Describing;
use super::intake::{Account, Intake, Summary};
use super::resolve::Questionnaire;
use super::store_writer::{self, Pending};
use super::taking::{Decoded, Taking, placed};
use super::{PipelineError, Session, Watch};
use crate::archive::Run;
use crate::decode::{self, Input, InputError, Payload, Piece};
use crate::record::{Format, Model};
use rayon::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;

/// Records decoded, archived and synced together.
const BATCH: usize = 2048;
/// A batch is also closed when its payloads reach this size.
const BATCH_BYTES: usize = 8 * 1024 * 1024;
/// The bytes of a refused file that are kept.
const HEAD: usize = 64 * 1024;

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
    store_writer::run(catalogue, &home.directory, |store| {
        let intake = Intake {
            archive,
            graphs: &home.graphs,
            content_types,
            concordances: &concordances,
            pending: Pending::storing(home.settings.records.stored),
            describing,
            store,
            questionnaire: Questionnaire::of_home(home),
            map: true,
            watch,
        };
        let taking = Taking { request, run: number };
        let mut importing = Importing { intake, account: Account::new(request.replace), taking };
        importing.intake.pending.layout(&home.graphs);
        importing.intake.pending.vocabulary(&home.graphs, content_types);
        // Before the first record names it.
        importing.intake.pending.run(&home.graphs, number, &run);
        for file in &request.files {
            importing.file(file)?;
        }
        let Importing { mut intake, mut account, .. } = importing;
        intake.finish(taking, &mut account, run)?;
        intake.flush()?;
        Ok(account.summary)
    })
}

struct Importing<'a> {
    taking: Taking<'a>,
    intake: Intake<'a>,
    account: Account,
}

impl Importing<'_> {
    fn file(&mut self, file: &std::path::Path) -> Result<(), PipelineError> {
        let taking = self.taking;
        self.account.summary.files += 1;
        let input = match Input::open(file, taking.request.format) {
            Ok(input) => input,
            Err(InputError::Refused(diagnostic)) => {
                let head = std::fs::File::open(file).ok().map(|file| {
                    let mut bytes = Vec::new();
                    let _ =
                        std::io::Read::read_to_end(&mut std::io::Read::take(file, HEAD as u64), &mut bytes);
                    bytes
                });
                let payload = Payload { bytes: head.unwrap_or_default(), number: 0, offset: 0 };
                let rejected = taking.rejected(&origin_name(file), None, payload, *diagnostic);
                self.account.unread.push(origin_name(file));
                return self.intake.batch(taking, &mut self.account, vec![rejected], None);
            }
            Err(error) => return Err(error.into()),
        };
        let origin = origin_name(file);
        for diagnostic in input.diagnostics {
            self.intake.say(&mut self.account, placed(diagnostic, taking.request, &origin, None));
        }
        self.intake.watch.begin(&format!("importing {}", input.name), input.size);
        let position = input.position;
        let mut pieces = decode::split(input.reader, input.format, &input.name);
        let mut failure = None;
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
            self.intake.batch(taking, &mut self.account, decoded, None)?;
            let done = position.load(std::sync::atomic::Ordering::Relaxed);
            self.intake.watch.advance(done, self.account.summary.records);
            if failure.is_some() {
                break;
            }
        }
        self.intake.watch.end();
        match failure {
            Some(source) => Err(InputError::Unreadable { name: input.name, source }.into()),
            None => Ok(()),
        }
    }
}

/// The path as it was given: files of one name in two folders are two origins.
fn origin_name(file: &std::path::Path) -> String {
    file.display().to_string()
}
