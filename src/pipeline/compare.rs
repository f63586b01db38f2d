//! Does the store say what the archive gives?

use super::record_views::provenance;
use super::{PipelineError, Session, Watch};
use crate::archive::{Entry, Kind};
use crate::catalogue::Catalogue;
use oxrdf::Triple;
use rayon::prelude::*;
use rustc_hash::FxHashSet;

/// How many names of a kind are kept for the report.
const NAMES: usize = 1000;

/// What a comparison found.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    pub records: u64,
    /// How many records have a graph that is not what their payload gives,
    pub differ: u64,
    /// and the names of the first of them.
    pub differing: Vec<String>,
    /// Record graphs that no record of the archive stands behind.
    pub unexpected: Vec<String>,
}

/// Records compared side by side.
const BATCH: usize = 1024;

/// Compares every record's graph with what its payload gives, and looks for graphs too many.
pub fn compare(session: &Session, watch: &mut dyn Watch) -> Result<Comparison, PipelineError> {
    let mut found = Comparison::default();
    let mut entries = session.archive.entries(1)?;
    loop {
        let batch: Vec<Entry> = entries.by_ref().take(BATCH).collect::<Result<_, _>>()?;
        let Some(done) = batch.last().map(|entry| entry.sequence) else { break };
        let judged: Vec<Option<(String, bool)>> =
            batch.par_iter().map(|entry| judge(session, entry)).collect::<Result<_, _>>()?;
        for (name, agrees) in judged.into_iter().flatten() {
            found.records += 1;
            if agrees {
                continue;
            }
            found.differ += 1;
            if found.differing.len() < NAMES {
                found.differing.push(name);
            }
        }
        watch.advance(done, found.records);
    }
    found.differing.sort_unstable();
    let records = session.home.graphs.records();
    for name in session.catalogue.backend().graph_names()? {
        let name = name?;
        let Some(rest) = name.as_str().strip_prefix(&records) else { continue };
        let known = rest.split_once('/').is_some_and(|(source, id)| {
            let decode = crate::record::percent_decode;
            let state = session.archive.record(&decode(source), &decode(id));
            matches!(state, Ok(Some(state)) if state.current().is_some_and(|version| !version.withdrawn))
        });
        if !known && found.unexpected.len() < NAMES {
            found.unexpected.push(name.into_string());
        }
    }
    Ok(found)
}

/// The name of a current record's graph and whether it says what the payload gives; `None` for
/// every other entry.
fn judge(session: &Session, entry: &Entry) -> Result<Option<(String, bool)>, PipelineError> {
    if entry.kind != Kind::Record {
        return Ok(None);
    }
    let state = session.archive.record(&entry.source, &entry.id)?.unwrap_or_default();
    if state.current().is_none_or(|version| version.sequence != entry.sequence) {
        return Ok(None);
    }
    let name = session.home.graphs.record(&entry.source, &entry.id);
    let stored: FxHashSet<Triple> = session.catalogue.graph(&name)?.into_iter().collect();
    let mut expected: FxHashSet<Triple> = session.triples(entry).unwrap_or_default().into_iter().collect();
    if !expected.is_empty() {
        expected.insert(provenance(&session.home.graphs, entry));
    }
    let agrees = stored == expected || {
        let expected = Catalogue::as_stored(expected.into_iter().collect())?;
        stored == expected.into_iter().collect()
    };
    Ok(Some((name.into_string(), agrees)))
}
