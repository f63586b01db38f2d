//! How many records the merged catalogue does not show as they are.
//!
//! A record waits when it is new, changed or withdrawn since the last run, or was mapped by other rules
//! since. What came since is counted from the archive, and what was mapped again by what the cache no
//! longer holds; so the cost is that of what waits, however large the catalogue is.

use super::cache::{Cache, record_key};
use super::writing::UP_TO;
use super::{PipelineError, Session};
use crate::archive::Kind;
use std::collections::BTreeSet;

/// Source and id of a record.
type Name = (String, String);

/// Records that came, changed or went since the last run.
pub(in crate::pipeline) fn came_since(session: &Session) -> Result<BTreeSet<Name>, PipelineError> {
    Ok(match Cache::open_read_only(&session.home)? {
        Some(cache) => since(session, &cache)?.unwrap_or_default(),
        None => BTreeSet::new(),
    })
}

/// The same; `None` by a cache from before this was noted. The next run notes it.
fn since(session: &Session, cache: &Cache) -> Result<Option<BTreeSet<Name>>, PipelineError> {
    let up_to = cache.number(UP_TO)?;
    if up_to == 0 {
        return Ok(None);
    }
    let mut since = BTreeSet::new();
    if session.archive.last_sequence()? > up_to {
        for entry in session.archive.entries(up_to + 1)? {
            let entry = entry?;
            if matches!(entry.kind, Kind::Record | Kind::Withdrawal) {
                since.insert((entry.source, entry.id));
            }
        }
    }
    Ok(Some(since))
}

/// Records that wait for the next run. `None` while nothing is merged: then all records are shown.
pub fn count_waiting(session: &Session) -> Result<Option<u64>, PipelineError> {
    if !session.catalogue.has_master()? {
        return Ok(None);
    }
    let Some(cache) = Cache::open_read_only(&session.home)? else { return Ok(Some(0)) };
    let Some(since) = since(session, &cache)? else { return Ok(Some(0)) };
    let (mut present, mut written, mut waiting) = (0, 0, 0);
    for (source, id) in &since {
        let state = session.archive.record(source, id)?.unwrap_or_default();
        let is_present = state.current().is_some_and(|version| !version.withdrawn);
        let is_written = cache.is_written(&record_key(source, id))?;
        present += u64::from(is_present);
        written += u64::from(is_written);
        waiting += u64::from(is_present || is_written);
    }
    let records: u64 = session.archive.sources()?.iter().map(|(_, counts)| counts.records).sum();
    let mapped_again = (records - present).saturating_sub(cache.count_written()? - written);
    Ok(Some(waiting + mapped_again))
}
