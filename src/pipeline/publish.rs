//! Writing the catalogue's records in a format of others, and what that loses.

use super::session::decode_entry;
use super::{PipelineError, Session, Watch};
use crate::archive::{Entry, Kind};
use crate::publish::loss::Report;
use crate::publish::write::RecordWriter;
use crate::publish::{Publisher, RecordGraph};
use crate::record::Record;
use rayon::prelude::*;
use std::io::Write;

/// Records written side by side.
const BATCH: usize = 256;

/// What was written.
#[derive(Debug, Default)]
pub struct Publication {
    pub records: u64,
    /// Records that did not fit in whole.
    pub too_long: u64,
    /// The loss, where it was asked for.
    pub loss: Report,
}

/// Writes every current record, or those of one source, in the order in which they came.
pub fn publish<W: Write>(
    session: &Session,
    publisher: &Publisher<'_>,
    source: Option<&str>,
    compare: bool,
    out: &mut RecordWriter<W>,
    watch: &mut dyn Watch,
) -> Result<Publication, PipelineError> {
    let failed = |error: std::io::Error| PipelineError::Catalogue(error.into());
    let mut done = Publication::default();
    let mut entries = session.archive.entries(1)?;
    loop {
        let batch: Vec<Entry> = entries.by_ref().take(BATCH).collect::<Result<_, _>>()?;
        let Some(last) = batch.last().map(|entry| entry.sequence) else { break };
        let written: Vec<Option<(Record, Option<Record>)>> = batch
            .par_iter()
            .filter(|entry| source.is_none_or(|source| entry.source == source))
            .map(|entry| one(session, publisher, entry, compare))
            .collect::<Result<_, _>>()?;
        for (record, original) in written.into_iter().flatten() {
            done.records += 1;
            match original.filter(|original| original.model == record.model) {
                Some(original) => done.loss.compare(&original, &record),
                None => done.loss.other_format += u64::from(compare),
            }
            if let Some(mut problem) = out.write(&record).map_err(failed)? {
                done.too_long += 1;
                problem.place.record.clone_from(&record.id);
                watch.diagnostic(&problem);
            }
        }
        watch.advance(last, done.records);
    }
    Ok(done)
}

/// The record written from its graph, and the record as it came; `None` for an entry that is no
/// current record.
fn one(
    session: &Session,
    publisher: &Publisher<'_>,
    entry: &Entry,
    compare: bool,
) -> Result<Option<(Record, Option<Record>)>, PipelineError> {
    if entry.kind != Kind::Record {
        return Ok(None);
    }
    let state = session.archive.record(&entry.source, &entry.id)?.unwrap_or_default();
    if state.current().is_none_or(|version| version.sequence != entry.sequence) {
        return Ok(None);
    }
    let name = session.home.graphs.record(&entry.source, &entry.id);
    let triples = session.catalogue.graph(&name)?;
    if triples.is_empty() {
        return Ok(None);
    }
    let graph = RecordGraph::new(name.as_str(), triples);
    let record = publisher.record(&graph, &entry.source);
    let original = if compare { decode_entry(entry) } else { None };
    Ok(Some((record, original)))
}
