//! The table that a profile compares, row by row: what was read of each record.

use super::cache::Cache;
use super::entity::Kind;
use super::explaining::profile_of;
use super::{PipelineError, reading, texts_of};
use crate::pipeline::{Session, Watch};

/// One value of one feature; a key that a query gave has the feature `key`.
pub struct FeatureRow<'a> {
    pub source: &'a str,
    pub id: &'a str,
    /// The thing in the record that is meant: `#instance`, `#creator-3f0c…`.
    pub node: &'a str,
    pub feature: &'a str,
    pub value: &'a str,
}

/// Hands over what was read of things of this kind, in the order of records.
pub fn each_feature(
    session: &Session,
    kind: Kind,
    watch: &mut dyn Watch,
    mut each: impl FnMut(&FeatureRow<'_>) -> Result<(), PipelineError>,
) -> Result<(), PipelineError> {
    let texts = texts_of(session)?;
    let (asked, _) = profile_of(&texts, kind)?;
    let cache = Cache::open(&session.home)?;
    reading::refresh(session, &texts, &cache, watch)?;
    cache.each_reading(|key, reading| {
        let key = String::from_utf8_lossy(key);
        let (source, id) = key.split_once('\0').unwrap_or((&key, ""));
        for row in reading.rows.iter().filter(|row| row.asked == asked) {
            let Some(found) = reading.found.get(row.entity).filter(|found| found.kind == kind) else {
                continue;
            };
            let feature = if row.feature.is_empty() { "key" } else { &*row.feature };
            each(&FeatureRow { source, id, node: &found.node, feature, value: &row.value })?;
        }
        Ok(())
    })
}
