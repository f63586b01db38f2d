//! Why are two records one entry, or not?

use super::cache::Cache;
use super::decisions::{self, Numbered};
use super::entities::entity_key;
use super::entity::Kind;
use super::finding::{Finder, Thing};
use super::texts::{Asked, ProfileText, Texts};
use super::{PipelineError, ResolveError, models};
use crate::pipeline::Session;
use crate::resolve::block::Blocker;
use crate::resolve::compare::Comparer;
use crate::resolve::explain::{Explanation, explain};
use crate::resolve::feature::Builder;
use crate::resolve::score::Model;
use serde::Serialize;

/// All that can be said about a pair.
#[derive(Debug, Serialize)]
pub struct Explained {
    pub left: String,
    pub right: String,
    pub kind: Kind,
    /// The entries both are in, and whether it is one.
    pub entries: [String; 2],
    pub together: bool,
    /// Decisions in force that name both.
    pub decisions: Vec<u64>,
    /// The profile that compared them, by its hash.
    pub rules: String,
    #[serde(flatten)]
    pub explanation: Explanation,
}

/// Explains what becomes of two records, or of two things of one kind in them.
pub fn explain_pair(session: &Session, left: &str, right: &str) -> Result<Explained, PipelineError> {
    let texts = super::texts_of(session)?;
    let cache = Cache::open_read_only(&session.home)?.ok_or_else(not_resolved)?;
    let finder = Finder { session, cache: &cache };
    let (left, right) = (finder.thing(left)?, finder.thing(right)?);
    let entries = [finder.entry_of(&left)?, finder.entry_of(&right)?];
    let explanation = explain_things(session, &texts, &cache, &left, &right)?;
    let decided: Vec<u64> = decisions::decisions(session)?
        .iter()
        .filter(|one| !one.undone && names_both(one, &left, &right))
        .map(|one| one.number)
        .collect();
    let name = |(kind, id): (Kind, u64)| session.home.graphs.entry(kind.name(), id).into_string();
    Ok(Explained {
        left: left.named.to_string(),
        right: right.named.to_string(),
        kind: left.kind,
        together: entries[0] == entries[1],
        entries: entries.map(name),
        decisions: decided,
        rules: profile_of(&texts, left.kind)?.1.hash.to_string(),
        explanation,
    })
}

pub(super) fn not_resolved() -> ResolveError {
    ResolveError::Unknown("nothing was resolved yet; run `pinakes resolve`".to_owned())
}

fn names_both(one: &Numbered, left: &Thing, right: &Thing) -> bool {
    let named = one.decision.named();
    [left, right].iter().all(|thing| {
        named.iter().any(|named| named.source == thing.named.source && named.id == thing.named.id)
    })
}

/// The profile that things of a kind are compared by.
pub(super) fn profile_of(texts: &Texts, kind: Kind) -> Result<(Asked, &ProfileText), PipelineError> {
    match kind {
        Kind::Instance => Ok((Asked::Instance, &texts.instance)),
        Kind::Work | Kind::Hub => Ok((Asked::Work, &texts.work)),
        Kind::Agent => Ok((Asked::Agent, &texts.agent)),
        Kind::Item | Kind::Subject | Kind::Place => {
            let message = format!("entries of the kind `{}` are not compared by a profile", kind.name());
            Err(ResolveError::Unknown(message).into())
        }
    }
}

/// Things of two kinds cannot be one.
pub(super) fn not_alike(left: Kind, right: Kind) -> ResolveError {
    ResolveError::Unknown(format!("one is {}, the other {}", left.with_article(), right.with_article()))
}

pub(super) fn explain_things(
    session: &Session,
    texts: &Texts,
    cache: &Cache,
    left: &Thing,
    right: &Thing,
) -> Result<Explanation, PipelineError> {
    if left.kind != right.kind {
        return Err(not_alike(left.kind, right.kind).into());
    }
    let (asked, profile) = profile_of(texts, left.kind)?;
    let known = models::read(session, texts, 0, false)?;
    let model = match asked {
        Asked::Work => known.work,
        Asked::Agent => known.agent,
        _ => known.instance,
    };
    let model = model.unwrap_or_else(|| Model::expected(&profile.profile));
    let mut builder = Builder::default();
    for thing in [left, right] {
        let key = entity_key(&thing.named.id, &thing.node);
        let record = builder.record(&thing.named.source, &key);
        let Some(reading) = cache.reading(&thing.named.source, &thing.named.id)? else { continue };
        for row in reading.rows.iter().filter(|row| row.asked == asked && !row.feature.is_empty()) {
            if reading.found.get(row.entity).is_some_and(|found| found.node == thing.node) {
                builder.add(record, &row.feature, &row.value);
            }
        }
    }
    let table = builder.finish();
    let find = |thing: &Thing| table.find(&thing.named.source, &entity_key(&thing.named.id, &thing.node));
    let (Some(a), Some(b)) = (find(left), find(right)) else { return Err(not_resolved().into()) };
    if a == b {
        return Err(ResolveError::Unknown("both names stand for one record".to_owned()).into());
    }
    let comparer = Comparer::new(&table, &profile.profile, Some(&model));
    let blocker = Blocker::new(&comparer, usize::MAX);
    Ok(explain(&comparer, &blocker, &model, a, b))
}
