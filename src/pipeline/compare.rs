//! Does the store say what the archive gives?

use super::{PipelineError, Session, Watch};
use crate::catalogue::Catalogue;
use rustc_hash::FxHashSet;

/// How many names of a kind are kept for the report.
const NAMES: usize = 1000;

/// What a comparison found.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    pub records: u64,
    /// Records whose graph is not what their payload gives.
    pub differing: Vec<String>,
    /// Record graphs that no record of the archive stands behind.
    pub unexpected: Vec<String>,
}

/// Compares every record's graph with what its payload gives, and looks for graphs too many.
pub fn compare(session: &Session, watch: &mut dyn Watch) -> Result<Comparison, PipelineError> {
    let mut found = Comparison::default();
    for record in session.archive.records(None)? {
        let (source, id, state) = record?;
        let Some(version) = state.current().filter(|version| !version.withdrawn) else { continue };
        found.records += 1;
        let expected: FxHashSet<_> = match session.archive.entry(version.sequence)? {
            Some(entry) => session.triples(&entry).unwrap_or_default().into_iter().collect(),
            None => FxHashSet::default(),
        };
        let name = session.home.graphs.record(&source, &id);
        let stored: FxHashSet<_> = session.catalogue.graph(&name)?.into_iter().collect();
        let differs = stored != expected && {
            let expected = Catalogue::as_stored(expected.into_iter().collect())?;
            stored != expected.into_iter().collect()
        };
        if differs && found.differing.len() < NAMES {
            found.differing.push(name.as_str().to_owned());
        }
        watch.advance(found.records, found.records);
    }
    let records = session.home.graphs.records();
    for name in session.catalogue.backend().graph_names()? {
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
