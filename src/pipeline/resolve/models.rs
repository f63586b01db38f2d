//! The weights that were learned, kept in the archive.
//!
//! With the same weights a record is judged the same in every run, whatever came in between, and a
//! store made anew has the same entries. They are learned again when they are asked to be, when the
//! profile is another, and when there are a quarter more records than when they were learned.

use super::grouping::{Groups, Models};
use super::texts::{ProfileText, Texts};
use super::{PipelineError, ResolveError};
use crate::archive::{Entry, Kind as Archived};
use crate::pipeline::Session;
use crate::resolve::score::Model;
use serde::{Deserialize, Serialize};

/// A model as the archive has it.
#[derive(Serialize, Deserialize)]
struct Kept {
    /// Of the profile it was learned for.
    profile: String,
    /// Records there were then.
    records: u64,
    model: Model,
}

/// Weights are learned again when the records have grown by more than one in so many.
///
/// What a source has in common with others is unknown while it is alone, so weights must not live
/// long in a catalogue that grows. Learning costs a run over everything.
const GROWTH: u64 = 4;

fn note(name: &str) -> String {
    format!("weights/{name}")
}

/// The weights in force; what is missing is to be learned.
pub(super) fn read(
    session: &Session,
    texts: &Texts,
    records: u64,
    learn: bool,
) -> Result<Models, PipelineError> {
    let mut models = Models::default();
    if learn {
        return Ok(models);
    }
    let notes = session.archive.resolutions()?;
    let last = |name: &str, profile: &ProfileText| -> Result<Option<Model>, PipelineError> {
        let wanted = note(name);
        let Some((sequence, _)) = notes.iter().rev().find(|(_, what)| *what == wanted) else {
            return Ok(None);
        };
        let Some(entry) = session.archive.entry(*sequence)? else { return Ok(None) };
        let Ok(kept) = serde_json::from_slice::<Kept>(&entry.payload) else { return Ok(None) };
        let enough = kept.records + kept.records / GROWTH;
        let fits = kept.profile == profile.hash.to_string() && records <= enough;
        Ok(fits.then_some(kept.model))
    };
    models.instance = last("instance", &texts.instance)?;
    models.work = last("work", &texts.work)?;
    models.agent = last("agent", &texts.agent)?;
    Ok(models)
}

/// Keeps what was learned.
pub(super) fn archive(
    session: &mut Session,
    texts: &Texts,
    groups: &Groups,
    records: u64,
    time: &str,
) -> Result<(), PipelineError> {
    let mut entries = Vec::new();
    let all = [
        ("instance", &texts.instance, &groups.instance),
        ("work", &texts.work, &groups.work),
        ("agent", &texts.agent, &groups.agent),
    ];
    for (name, profile, level) in all.into_iter().filter(|(.., level)| level.has_learned) {
        let kept = Kept { profile: profile.hash.to_string(), records, model: level.model.clone() };
        let payload = serde_json::to_vec(&kept).map_err(|error| ResolveError::Cache(error.to_string()))?;
        entries.push(Entry::new(Archived::Resolution, "", &note(name), 0, time).with_payload(payload));
    }
    if !entries.is_empty() {
        session.archive.append_note(&entries)?;
    }
    Ok(())
}
