//! One record, shown as received, as decoded, as statements.

use super::record_views::provenance;
use super::session::decode_entry;
use super::{PipelineError, Session};
use crate::archive::Entry;
use crate::catalogue::Selection;
use crate::ontology::pin;
use crate::record::Record;
use oxrdf::Triple;

/// Everything there is to show of one version of a record.
pub struct ShownRecord {
    pub entry: Entry,
    /// This version's number, from 1, and how many there are.
    pub version: usize,
    pub versions: usize,
    pub withdrawn: bool,
    /// What the record says is part of the merged catalogue.
    pub merged: bool,
    /// `None` for a withdrawal without content.
    pub record: Option<Record>,
    pub triples: Vec<Triple>,
}

/// A version of a record, the current one unless a number is given.
pub fn show(
    session: &Session,
    source: &str,
    id: &str,
    version: Option<usize>,
) -> Result<Option<ShownRecord>, PipelineError> {
    let Some(state) = session.archive.record(source, id)? else { return Ok(None) };
    let versions = state.len();
    let number = version.unwrap_or(versions);
    let Some(chosen) = session.archive.version(source, id, number)? else { return Ok(None) };
    let Some(entry) = session.archive.entry(chosen.sequence)? else { return Ok(None) };
    let record = decode_entry(&entry);
    let graphs = &session.home.graphs;
    let mut triples = session.triples(&entry).filter(|_| !chosen.withdrawn).unwrap_or_default();
    if !triples.is_empty() {
        triples.push(provenance(graphs, &entry));
    }
    let selection = Selection {
        subject: Some(graphs.record(source, id).into()),
        predicate: Some(pin::MERGE_STATUS.into_owned()),
        graph: Some(graphs.resolution().into()),
        ..Selection::default()
    };
    let merged = session.catalogue.backend().quads(&selection)?.next().is_some();
    let withdrawn = chosen.withdrawn;
    Ok(Some(ShownRecord { version: number, versions, withdrawn, merged, record, triples, entry }))
}
