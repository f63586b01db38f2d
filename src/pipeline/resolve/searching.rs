//! Agents look for what came new among what was merged before.
//!
//! Each content type has its own agents, and each agent its own part of the merged catalogue; the
//! first that finds an entry stops the others. What they find is told; which entry a record joins
//! is for [`grouping`](super::grouping), which does not depend on who was first.

use super::PipelineError;
use super::cache::{Cache, record_key};
use super::entities::{Compared, Entities};
use super::grouping::Level;
use super::texts::ProfileText;
use crate::resolve::agents::{Dispatch, Report};
use crate::resolve::block::Blocker;
use crate::resolve::compare::Comparer;

/// Looks for the instances of all records that the master does not have yet. Nothing is looked for
/// while there is no master.
pub(super) fn search(
    cache: &Cache,
    entities: &Entities,
    compared: &Compared,
    profile: &ProfileText,
    level: &Level,
) -> Result<Option<Report>, PipelineError> {
    let written = cache.written()?;
    if written.is_empty() {
        return Ok(None);
    }
    let (mut merged, mut new) = (Vec::new(), Vec::new());
    for (id, number) in (0..).zip(&compared.of) {
        let (source, key, _) = entities.name(*number);
        if written.contains_key(record_key(source, key).as_slice()) {
            merged.push(id);
        } else {
            new.push(id);
        }
    }
    let comparer = Comparer::new(&compared.table, &profile.profile, Some(&level.model));
    let blocker = Blocker::new(&comparer, usize::MAX);
    let mut dispatch = Dispatch::new(&comparer, &blocker, &level.model, &merged);
    for entry in new {
        dispatch.look_for(entry);
    }
    Ok(Some(dispatch.report().clone()))
}
