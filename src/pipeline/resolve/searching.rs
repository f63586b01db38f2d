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
use crate::resolve::agents::{Dispatch, Report, owned};
use crate::resolve::block::Blocker;
use crate::resolve::compare::Comparer;
use crate::resolve::feature::{Builder, FeatureTable, Id};
use crate::resolve::increment::Features;
use crate::resolve::profile::Profile;

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
    let (mut merged, mut new): (Vec<Id>, Vec<Id>) = (Vec::new(), Vec::new());
    for (id, number) in (0..).zip(&compared.of) {
        let (source, key, _) = entities.name(*number);
        if written.contains_key(record_key(source, key).as_slice()) {
            merged.push(id);
        } else {
            new.push(id);
        }
    }
    let (table, profile) = (&compared.table, &profile.profile);
    let near = near(table, &new, level, profile);
    let comparer = Comparer::new(&near, profile, Some(&level.model));
    let blocker = Blocker::new(&comparer, usize::MAX);
    let here = |ids: &[Id]| -> Vec<Id> {
        ids.iter().filter_map(|id| near.find(table.source_name(*id), table.key(*id))).collect()
    };
    let mut dispatch = Dispatch::new(&comparer, &blocker, &level.model, &here(&merged));
    for entry in here(&new) {
        dispatch.look_for(entry);
    }
    let mut report = dispatch.report().clone();
    // The agents own all there is, near or not.
    for (set, told) in owned(table, profile, &merged) {
        if let Some(set) = report.sets.get_mut(&set) {
            set.shards = told.shards;
        }
    }
    Ok(Some(report))
}

/// What is new, and all that shares a key with it: nothing else can be found.
fn near(table: &FeatureTable, new: &[Id], level: &Level, profile: &Profile) -> FeatureTable {
    let mut builder = Builder::default();
    let Some(state) = &level.state else { return builder.finish() };
    let handles: Vec<_> =
        new.iter().filter_map(|id| state.handle(table.source_name(*id), table.key(*id))).collect();
    for handle in state.near(profile, &handles) {
        let (source, key) = state.name(handle);
        let record = builder.record(source, key);
        table.rows(source, key, &mut |feature, value| builder.add(record, feature, value));
    }
    builder.finish()
}
