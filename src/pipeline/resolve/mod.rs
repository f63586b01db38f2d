//! From record graphs to the merged catalogue: read, compare, name, merge, write.
//!
//! [`resolve`] runs the stage. Records are read once for each of their versions ([`reading`]) into
//! a cache beside the store ([`cache`]); the engine of [`crate::resolve`] compares what was read
//! and [`grouping`] lets each level follow from the one before; [`keeping`] has what the last run
//! found, so that only what changed is compared; [`naming`] keeps the names of
//! entries stable; [`merging`] unites what members say; [`writing`] changes the store. What people
//! decide is archived first ([`decisions`]) and then counts in every run.

mod cache;
mod checking;
mod deciding;
mod decisions;
mod entities;
mod entity;
mod evaluating;
mod explaining;
mod features;
mod finding;
mod grouping;
mod growth;
mod keeping;
mod labels;
mod merging;
mod models;
mod naming;
mod preferring;
mod reading;
mod reasons;
mod refusing;
mod reviewing;
mod scope;
mod searching;
mod showing;
mod spool;
mod survey;
mod texts;
mod truth;
mod understanding;
mod waiting;
mod writing;

pub(super) use cache::{Cache, ReadingNews, record_key};
pub use checking::{ResolveText, TypedText, resolve_texts};
pub use deciding::{Decided, LeftBehind, Undone, Wish, Wishing, decide, take_down};
pub use decisions::{Act, Decision, Named, Numbered, decisions};
pub use entity::Kind;
pub use evaluating::{Calibrated, EvaluateRequest, Evaluated, Judged, Measured, evaluate_truth};
pub use explaining::{Explained, explain_pair};
pub use features::{FeatureRow, each_feature};
pub use labels::{Labelling, keep_labels};
pub use reading::Read;
pub use refusing::{KeptApart, LeastAlike};
pub use reviewing::{Queue, Reviewed, Sketch, Waiting, review};
pub use showing::{
    ShownComparison, ShownEntry, ShownPair, ShownPreference, ShownType, ShownValue, show_entry,
};
pub(super) use spool::Spool;
pub use survey::{
    Contradiction, Sample, SampleRequest, SampledPair, Survey, SurveyRequest, SurveyedEntry, SurveyedMerge,
    sample, survey,
};
pub(super) use texts::Questionnaire;
pub(super) use waiting::came_since;
pub use waiting::count_waiting;

use super::indexing::{self, Marks};
use super::{PipelineError, Session, Watch};
use crate::config::Home;
use crate::resolve::agents::Report;
use crate::resolve::block::Blocking;
use crate::resolve::compare::Crowded;
use crate::source::Registry;
use entities::Entities;
use grouping::{Basis, Keepings};
use labels::Labels;
use merging::Merging;
use naming::Naming;
use reasons::Causes;
use serde::Serialize;
use std::collections::BTreeMap;
use texts::Texts;

/// The program, as one that decides.
const AGENT: &str = concat!("pinakes/", env!("CARGO_PKG_VERSION"));

/// Why records could not be resolved.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResolveError {
    /// A profile or query that cannot be used; the message says which, and where.
    #[error("{0}")]
    Text(String),
    #[error(
        "what resolving keeps in `resolution/` cannot be used: {0}; it can be removed, and is made again"
    )]
    Cache(String),
    #[error("{0}")]
    Unknown(String),
}

/// How to resolve.
#[derive(Debug, Clone, Default)]
pub struct ResolveRequest {
    /// Learn again and compare everything again.
    pub full: bool,
    /// Compare everything again, with the weights in force.
    pub afresh: bool,
    /// Say what would change, and change nothing.
    pub dry_run: bool,
    /// The current time, RFC 3339.
    pub time: String,
}

/// What a run found and did.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Resolved {
    #[serde(flatten)]
    pub read: Read,
    /// Entries of the master, by kind.
    pub entries: BTreeMap<&'static str, u64>,
    /// Entries with more than one member, by kind.
    pub merged: BTreeMap<&'static str, u64>,
    /// Pairs compared, by profile.
    pub compared: BTreeMap<&'static str, u64>,
    /// What the agents of each content type had to do with records that came new.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agents: Option<Report>,
    /// How pairs were found, by profile.
    pub blocking: BTreeMap<&'static str, Blocks>,
    /// Identifiers that too many carry to prove anything, by profile and feature.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub crowded: BTreeMap<&'static str, Crowded>,
    /// Alike, and kept apart all the same: by a veto, by a person, or by all other pairs.
    pub refused: u64,
    /// Pairs for a person to look at.
    pub review: u64,
    /// Entries that were new, different, or are gone.
    pub new: u64,
    pub changed: u64,
    pub removed: u64,
    /// Why entries are others than after the last run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub because: Vec<String>,
    pub dry_run: bool,
    /// What each source has, and what it has in common with others.
    pub sources: BTreeMap<String, Shares>,
    /// Decisions that others contradict, by their numbers.
    pub contradicted: Vec<u64>,
    /// Decisions that do not count any more, each with the later one that says the opposite of the
    /// same two.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub replaced: Vec<(u64, u64)>,
}

/// Merges again what was merged before, with the same weights, names and decisions; nothing, if
/// nothing ever was.
pub(super) fn resolve_again(session: &mut Session, watch: &mut dyn Watch) -> Result<(), PipelineError> {
    let notes = session.archive.resolutions()?;
    let Some((last, _)) = notes.last() else { return Ok(()) };
    let time = session.archive.entry(*last)?.map(|entry| entry.time).unwrap_or_default();
    resolve(session, &ResolveRequest { time, ..ResolveRequest::default() }, watch)?;
    Ok(())
}

/// How pairs were found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Blocks {
    pub keys: u64,
    pub blocks: u64,
    /// Blocks that were too large, and had to be split.
    pub split: u64,
    pub largest: u64,
}

/// What one source has of the merged catalogue.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Shares {
    pub records: u64,
    /// Instances it describes,
    pub entries: u64,
    /// and those that no other source describes.
    pub only_here: u64,
    /// Instances in common with other sources.
    pub shared: BTreeMap<String, u64>,
}

/// Resolves the records of a catalogue.
pub fn resolve(
    session: &mut Session,
    request: &ResolveRequest,
    watch: &mut dyn Watch,
) -> Result<Resolved, PipelineError> {
    let texts = texts_of(session)?;
    let cache = Cache::open(&session.home)?;
    let read = reading::refresh(session, &texts, &cache, watch)?;
    naming::take_up(session, &cache)?;
    let (entities, tables) = Entities::read(&cache)?;
    let decided = decisions(session)?;
    let (rulings, replaced) = decisions::rulings(&decided, &entities);
    let known = models::read(session, &texts, read.records, request.full)?;
    let last = Keepings::new(&session.home, &texts);
    watch.begin("comparing", None);
    let mut groups = Basis {
        entities: &entities,
        tables: &tables,
        texts: &texts,
        rulings: &rulings,
        labels: &Labels::read(session, &entities)?,
        last: (!request.afresh).then_some(&last),
    }
    .group(known)?;
    watch.end();
    let agents = searching::search(&cache, &entities, &tables.instance, &texts.instance, &groups.instance)?;
    drop(tables);
    let naming = Naming::of_groups(&entities, &groups.of, &cache)?;
    let mut resolved = Resolved { read, agents, replaced, dry_run: request.dry_run, ..Resolved::default() };
    resolved.count(&groups, &naming);
    resolved.sources = shares(&entities, &naming);
    resolved.contradicted = contradicted(&entities, &groups, &rulings);
    let causes = Causes::new(&texts, &decided);
    resolved.because = causes.differences(&cache, &read, &groups)?;
    if !request.dry_run {
        models::archive(session, &texts, &groups, read.records, &request.time)?;
        last.write(&mut groups)?;
        naming.archive(&mut session.archive, &request.time)?;
        naming::take_up(session, &cache)?;
    }
    let ranked = ranked(session)?;
    let merging = Merging::new(session, &texts, &entities, &groups, &naming, &ranked, &request.time);
    let writer = writing::Writer {
        session,
        cache: &cache,
        texts: &texts,
        entities: &entities,
        groups: &groups,
        naming: &naming,
        people_are_silent: session.catalogue.people().is_silent()?,
    };
    let spool = writer.write(&merging, &decided, &mut resolved, watch)?;
    if !request.dry_run {
        cache.write(|tables| causes.note(tables))?;
        follow_with_index(session, &cache, spool.as_ref(), watch)?;
    }
    Ok(resolved)
}

/// Lets the full-text index follow what was written; what a killed run left to do is done, too.
fn follow_with_index(
    session: &Session,
    cache: &Cache,
    spool: Option<&Spool>,
    watch: &mut dyn Watch,
) -> Result<(), PipelineError> {
    indexing::follow(session, marks_in(cache, &session.home)?, spool, watch)?;
    clear_marks(cache)
}

fn marks_in(cache: &Cache, home: &Home) -> Result<Marks, PipelineError> {
    if cache.number(writing::UNINDEXED)? > 0 {
        return Ok(Marks::All);
    }
    let entries = cache.unindexed()?.into_iter();
    Ok(Marks::Entries(entries.map(|(kind, id)| home.graphs.entry(kind.name(), id)).collect()))
}

fn clear_marks(cache: &Cache) -> Result<(), PipelineError> {
    cache.write(|tables| {
        tables.clear_unindexed()?;
        tables.set_number(writing::UNINDEXED, 0)
    })
}

/// What the full-text index has not followed yet.
pub(super) fn marks(home: &Home) -> Result<Marks, PipelineError> {
    match Cache::open_read_only(home)? {
        Some(cache) => marks_in(&cache, home),
        None => Ok(Marks::Entries(Vec::new())),
    }
}

/// Marks an entry as a run does that is killed before the index has it.
#[cfg(test)]
pub(super) fn mark(home: &Home, iri: &str) -> Result<(), PipelineError> {
    let (kind, id) =
        iri.strip_prefix(home.graphs.base()).and_then(|name| name.split_once('/')).unwrap_or_default();
    let kind = Kind::from_name(kind).unwrap_or(Kind::Item);
    let id = u64::from_str_radix(id, 16).unwrap_or_default();
    Cache::open(home)?.write(|tables| tables.mark_unindexed((kind, id)))
}

/// The full-text index has been made anew.
pub(super) fn forget_marks(home: &Home) -> Result<(), PipelineError> {
    if Cache::exists(home) { clear_marks(&Cache::open(home)?) } else { Ok(()) }
}

/// Forgets all that belongs to a store that is no more.
pub(super) fn forget_all(home: &Home) -> std::io::Result<()> {
    Cache::remove(home)
}

/// The texts in force, with what the descriptions of sources say.
fn texts_of(session: &Session) -> Result<Texts, PipelineError> {
    let mut texts = Texts::read(&session.home)?;
    let registry = Registry::read(&session.home.directory)?;
    let unique = registry.iter().filter(|source| source.duplicates == crate::source::Duplicates::None);
    texts.instance.profile.unique_sources.extend(unique.map(|source| source.key.as_str().into()));
    Ok(texts)
}

/// The sources, most important first.
fn ranked(session: &Session) -> Result<Vec<String>, PipelineError> {
    let registry = Registry::read(&session.home.directory)?;
    let mut sources: Vec<_> = registry.iter().collect();
    sources.sort_by(|left, right| {
        right.importance.total_cmp(&left.importance).then_with(|| left.key.cmp(&right.key))
    });
    Ok(sources.into_iter().map(|source| source.key.clone()).collect())
}

fn shares(entities: &Entities, naming: &Naming) -> BTreeMap<String, Shares> {
    let mut shares: BTreeMap<String, Shares> = BTreeMap::new();
    for (source, _) in &entities.records {
        match shares.get_mut(&**source) {
            Some(share) => share.records += 1,
            None => {
                shares.insert(source.to_string(), Shares { records: 1, ..Shares::default() });
            }
        }
    }
    let instances = naming.members.range((Kind::Instance, 0)..=(Kind::Instance, u64::MAX));
    for (_, members) in instances {
        let mut sources: Vec<&str> = members.iter().map(|member| entities.name(*member).0).collect();
        sources.sort_unstable();
        sources.dedup();
        for source in &sources {
            let Some(share) = shares.get_mut(*source) else { continue };
            share.entries += 1;
            share.only_here += u64::from(sources.len() == 1);
            for other in sources.iter().filter(|other| *other != source) {
                *share.shared.entry((*other).to_owned()).or_default() += 1;
            }
        }
    }
    shares
}

/// Decisions that are not followed, because others forbid it.
fn contradicted(entities: &Entities, groups: &grouping::Groups, rulings: &[decisions::Ruling]) -> Vec<u64> {
    let of = |number: u32| groups.of.get(grouping::decided_about(entities, number) as usize);
    let is_broken = |ruling: &&decisions::Ruling| ruling.together != (of(ruling.left) == of(ruling.right));
    let mut numbers: Vec<u64> = rulings.iter().filter(is_broken).map(|ruling| ruling.decision).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

impl Resolved {
    fn count(&mut self, groups: &grouping::Groups, naming: &Naming) {
        for ((kind, _), members) in &naming.members {
            *self.entries.entry(kind.name()).or_default() += 1;
            *self.merged.entry(kind.name()).or_default() += u64::from(members.len() > 1);
        }
        let levels = [("instance", &groups.instance), ("work", &groups.work), ("agent", &groups.agent)];
        for (name, level) in levels {
            self.compared.insert(name, level.compared);
            self.refused += level.refused.len() as u64;
            if !level.model.crowded.is_empty() {
                self.crowded.insert(name, level.model.crowded.clone());
            }
            let Blocking { keys, blocks, split, largest, .. } = level.blocking;
            self.blocking.insert(name, Blocks { keys, blocks, split, largest: largest as u64 });
            self.review += if name == "instance" { level.review.len() as u64 } else { 0 };
        }
    }
}
