//! Why are two records one entry, or not?

use super::cache::{Cache, EntryKey};
use super::decisions::{self, Named, Numbered};
use super::entities::entity_key;
use super::entity::Kind;
use super::finding::{Finder, Thing};
use super::refusing::{self, KeptApart, LeastAlike};
use super::texts::{Asked, ProfileText, Texts};
use super::{PipelineError, ResolveError, models};
use crate::pipeline::Session;
use crate::resolve::block::Blocker;
use crate::resolve::compare::Comparer;
use crate::resolve::explain::{Band, Explanation, explain};
use crate::resolve::feature::{Builder, FeatureTable, Id};
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
    /// What keeps the two entries apart, where it is not what these two say of themselves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept_apart: Option<KeptApart>,
    /// Decisions in force about these two.
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
    let all = decisions::decisions(session)?;
    let apart = Apart { finder: &finder, texts: &texts, things: [&left, &right], entries };
    let kept_apart = apart.reason(&explanation, &all)?;
    let decided = decisions::about(&all, &left.named, &right.named);
    let name = |(kind, id): (Kind, u64)| session.home.graphs.entry(kind.name(), id).into_string();
    Ok(Explained {
        left: left.named.to_string(),
        right: right.named.to_string(),
        kind: left.kind,
        together: entries[0] == entries[1],
        entries: entries.map(name),
        kept_apart,
        decisions: decided,
        rules: profile_of(&texts, left.kind)?.1.hash.to_string(),
        explanation,
    })
}

pub(super) fn not_resolved() -> ResolveError {
    ResolveError::Unknown("nothing was resolved yet; run `pinakes resolve`".to_owned())
}

/// No run has taken the record up yet.
pub(super) fn not_merged(named: &Named) -> ResolveError {
    ResolveError::Unknown(format!("`{named}` is not in the merged catalogue yet; run `pinakes resolve`"))
}

/// The profile that things of a kind are compared by.
pub(super) fn profile_of(texts: &Texts, kind: Kind) -> Result<(Asked, &ProfileText), PipelineError> {
    match kind {
        Kind::Instance => Ok((Asked::Instance, &texts.instance)),
        Kind::Work => Ok((Asked::Work, &texts.work)),
        Kind::Agent => Ok((Asked::Agent, &texts.agent)),
        Kind::Hub | Kind::Item | Kind::Subject | Kind::Place => {
            let hint = match kind {
                Kind::Hub => "; hubs follow their works: name two of these (`SOURCE/ID#work`)",
                _ => "",
            };
            let message =
                format!("entries of the kind `{}` are not compared by a profile{hint}", kind.name());
            Err(ResolveError::Unknown(message).into())
        }
    }
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
    // Learning reads records, too, without making entries of them.
    let finder = Finder { session, cache };
    for thing in [left, right] {
        if finder.members(finder.entry_of(thing)?)?.is_empty() {
            return Err(not_merged(&thing.named).into());
        }
    }
    let beside = Beside::new(session, texts, cache, left.kind, &[left, right])?;
    let (Some(a), Some(b)) = (beside.id(left), beside.id(right)) else { return Err(not_resolved().into()) };
    if a == b {
        return Err(ResolveError::Unknown("both names stand for one record".to_owned()).into());
    }
    let comparer = Comparer::new(&beside.table, &beside.profile.profile, Some(&beside.model));
    let blocker = Blocker::new(&comparer, usize::MAX);
    Ok(explain(&comparer, &blocker, &beside.model, a, b))
}

/// Things of two kinds cannot be one.
pub(super) fn not_alike(left: Kind, right: Kind) -> ResolveError {
    ResolveError::Unknown(format!("one is {}, the other {}", left.with_article(), right.with_article()))
}

/// Some things beside each other, with what is read of them, to be compared.
struct Beside<'a> {
    profile: &'a ProfileText,
    model: Model,
    table: FeatureTable,
}

impl<'a> Beside<'a> {
    fn new(
        session: &Session,
        texts: &'a Texts,
        cache: &Cache,
        kind: Kind,
        things: &[&Thing],
    ) -> Result<Self, PipelineError> {
        let (asked, profile) = profile_of(texts, kind)?;
        let known = models::read(session, texts, 0, false)?;
        let model = match asked {
            Asked::Work => known.work,
            Asked::Agent => known.agent,
            _ => known.instance,
        };
        let model = model.unwrap_or_else(|| Model::expected(&profile.profile));
        let mut builder = Builder::default();
        for thing in things {
            let key = entity_key(&thing.named.id, &thing.node);
            let record = builder.record(&thing.named.source, &key);
            let Some(reading) = cache.reading(&thing.named.source, &thing.named.id)? else {
                return Err(not_merged(&thing.named).into());
            };
            for row in reading.rows.iter().filter(|row| row.asked == asked && !row.feature.is_empty()) {
                if reading.found.get(row.entity).is_some_and(|found| found.node == thing.node) {
                    builder.add(record, &row.feature, &row.value);
                }
            }
        }
        Ok(Self { profile, model, table: builder.finish() })
    }

    fn id(&self, thing: &Thing) -> Option<Id> {
        self.table.find(&thing.named.source, &entity_key(&thing.named.id, &thing.node))
    }
}

/// Two things and the entries they are in.
struct Apart<'a> {
    finder: &'a Finder<'a>,
    texts: &'a Texts,
    things: [&'a Thing; 2],
    entries: [EntryKey; 2],
}

impl Apart<'_> {
    /// What keeps the entries apart, when it is not what the two say of themselves.
    fn reason(
        &self,
        explanation: &Explanation,
        decided: &[Numbered],
    ) -> Result<Option<KeptApart>, PipelineError> {
        let Self { finder, things: [left, right], entries, .. } = self;
        if entries[0] == entries[1] {
            return Ok(None);
        }
        if left.kind == Kind::Work
            && let (Some(one), Some(other)) = (finder.hub_of(left)?, finder.hub_of(right)?)
            && one == other
        {
            let hub = finder.session.home.graphs.entry(one.0.name(), one.1).into_string();
            return Ok(Some(KeptApart::Expression { hub }));
        }
        let Some(refused) = refusing::listed(finder.cache, left.kind)? else { return Ok(None) };
        let members = [finder.members(entries[0])?, finder.members(entries[1])?];
        let is_alike = explanation.veto.is_none() && explanation.band == Band::Merge;
        // What was refused to these two; else, of two that nothing of their own keeps apart, to others.
        let own = refusing::of(&refused, &left.named, &right.named);
        let others = || is_alike.then(|| refusing::between(&refused, &members)).flatten();
        let Some(refusal) = own.or_else(others) else {
            return Ok(is_alike.then_some(KeptApart::NoKey));
        };
        let mut apart = refusal.kept_apart(decided);
        if let KeptApart::AllPairs { least } = &mut apart {
            *least = self.least_alike(&members)?;
        }
        Ok(Some(apart))
    }

    /// The pair across two entries that speaks most against their being one.
    fn least_alike(&self, members: &[Vec<Thing>; 2]) -> Result<Option<LeastAlike>, PipelineError> {
        /// Members looked at on each side; an agent may have thousands.
        const MOST: usize = 64;
        let Self { finder, texts, things: [left, _], .. } = self;
        let [some, others] = members.each_ref().map(|members| members.iter().take(MOST));
        let all: Vec<&Thing> = some.clone().chain(others.clone()).collect();
        let beside = Beside::new(finder.session, texts, finder.cache, left.kind, &all)?;
        let comparer = Comparer::new(&beside.table, &beside.profile.profile, Some(&beside.model));
        let mut least: Option<LeastAlike> = None;
        for one in some {
            for other in others.clone() {
                let (Some(a), Some(b)) = (beside.id(one), beside.id(other)) else { continue };
                let weight = beside.model.weight(comparer.vector(a.min(b), a.max(b)));
                if least.as_ref().is_none_or(|least| weight < least.weight) {
                    let members = [one.named.to_string(), other.named.to_string()];
                    least = Some(LeastAlike { members, weight });
                }
            }
        }
        Ok(least)
    }
}
