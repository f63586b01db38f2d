//! How records follow when rules change.
//!
//! A rule that is new, gone or different concerns the records of its format and its sources in
//! which the old or the new selector occurs, and no others: each record's graph lists its tags.
//! Those are mapped again from the archive. The rules are described last, so a kill in between
//! costs doing it again.

use super::described::{Described, Holds, Remembered, Remembers, remembered};
use super::intake;
use super::resolve::{Questionnaire, ReadingNews, record_key};
use super::session::decode_entry;
use super::store_writer::{self, Pending};
use super::{PipelineError, Session, Watch};
use crate::archive::Entry;
use crate::catalogue::Selection;
use crate::concordance::Concordances;
use crate::concordance::selector::{Selector, Tag};
use crate::map;
use crate::ontology::pin;
use crate::record::{Model, percent_encode};
use oxrdf::{NamedNodeRef, Term};
use pinakes_ask::Graph;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// Records mapped side by side, and the size of their payloads at most.
const BATCH: usize = 1024;
const BATCH_BYTES: usize = 8 * 1024 * 1024;

/// What following changed rules took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Followed {
    /// Rules that are new, gone or different.
    pub rules: usize,
    /// Records there are.
    pub records: u64,
    /// Records mapped again.
    pub remapped: u64,
}

/// Brings the records up to the rules in force.
pub fn follow_rules(session: &Session, watch: &mut dyn Watch) -> Result<Followed, PipelineError> {
    let Remembers { models, nothing_known } = remembered(&session.catalogue)?;
    let set = session.concordances();
    let mut followed = Followed::default();
    let mut now: BTreeMap<Model, Described> = BTreeMap::new();
    let mut changed: BTreeMap<Model, Option<Vec<Concern>>> = BTreeMap::new();
    for (model, before) in &models {
        if before.is_current(set, *model) {
            continue;
        }
        let described = Described::now(set, *model);
        // Mapped by another evaluator: all that the model made may be different.
        let concerns = (before.version == described.version).then(|| {
            let (before, now) = (before.rules(), described.rules());
            followed.rules += difference(&before, &now).count();
            difference(&before, &now).flat_map(|(was, is)| concerns(was, is)).collect()
        });
        changed.insert(*model, concerns);
        now.insert(*model, described);
    }
    if now.is_empty() && !nothing_known {
        return Ok(followed);
    }
    let mut met: BTreeSet<Model> = BTreeSet::new();
    let is_due = |concerns: &Option<Vec<Concern>>| concerns.as_ref().is_none_or(|all| !all.is_empty());
    if nothing_known || changed.values().any(is_due) {
        remap(session, (!nothing_known).then_some(&changed), &mut followed, &mut met, watch)?;
    }
    let known = models.into_iter().filter(|(model, _)| !now.contains_key(model)).collect::<Vec<_>>();
    now.extend(known);
    for model in met {
        now.entry(model).or_insert_with(|| Described::now(set, model));
    }
    if now.is_empty() {
        return Ok(followed);
    }
    let graphs = &session.home.graphs;
    let triples = now.iter().flat_map(|(model, described)| described.triples(graphs, *model)).collect();
    let position = session.catalogue.position()?;
    store_writer::run(&session.catalogue, &session.home.directory, |store| {
        let mut pending = Pending::at(position, session.home.settings.records.stored);
        pending.rewrite(graphs.rules(), triples);
        store.send(pending)
    })?;
    Ok(followed)
}

/// How many rules differ between two sets: new, gone or changed, each counted once.
pub(super) fn count_changed(before: &Concordances, now: &Concordances) -> usize {
    let count = |model: &Model| {
        if before.fingerprint(*model) == now.fingerprint(*model) {
            return 0;
        }
        let (was, is) = (Described::now(before, *model), Described::now(now, *model));
        difference(&was.rules(), &is.rules()).count()
    };
    Model::ALL.iter().map(count).sum()
}

/// Rules that are new, gone or different, each as it was and as it is.
fn difference<'a>(
    before: &'a BTreeMap<&str, Remembered>,
    now: &'a BTreeMap<&str, Remembered>,
) -> impl Iterator<Item = (Option<&'a Remembered>, Option<&'a Remembered>)> {
    let ids: BTreeSet<&str> = before.keys().chain(now.keys()).copied().collect();
    ids.into_iter().map(|id| (before.get(id), now.get(id))).filter(|(was, is)| was != is)
}

/// The records that a rule concerns.
struct Concern {
    holds: Holds,
    /// `None` for what is not understood any more: it concerns everything.
    selector: Option<Selector>,
}

impl Concern {
    fn new(rule: &Remembered, holds: Holds) -> Self {
        Self { holds, selector: Selector::parse(&rule.selects).ok() }
    }

    fn meets(&self, fields: &[String]) -> bool {
        let Some(selector) = &self.selector else { return true };
        selector.alternatives.iter().any(|alternative| match &alternative.tag {
            Tag::Record | Tag::Leader => true,
            Tag::Path(path) => {
                let path = normal(&path.join("/"));
                fields.iter().any(|tag| normal(tag) == path)
            }
            tag => fields.iter().any(|field| tag.matches(field)),
        })
    }
}

fn concerns(was: Option<&Remembered>, is: Option<&Remembered>) -> Vec<Concern> {
    if let (Some(was), Some(is)) = (was, is)
        && was.hash == is.hash
        && was.selects == is.selects
        && let Some(holds) = was.holds.difference(&is.holds)
    {
        return vec![Concern::new(is, holds)];
    }
    was.into_iter().chain(is).map(|rule| Concern::new(rule, rule.holds.clone())).collect()
}

/// Columns are compared as the evaluator compares them.
fn normal(tag: &str) -> String {
    tag.to_lowercase().replace([' ', '-', '\t', '\n', '\r'], "_")
}

/// Maps the records again that some rules concern; all without them. Records are looked at one
/// after the other, so memory does not grow with them.
fn remap(
    session: &Session,
    changed: Option<&BTreeMap<Model, Option<Vec<Concern>>>>,
    followed: &mut Followed,
    met: &mut BTreeSet<Model>,
    watch: &mut dyn Watch,
) -> Result<(), PipelineError> {
    let total = session.archive.sources()?.iter().map(|(_, counts)| counts.records).sum();
    watch.begin("following changed rules", Some(total));
    let position = session.catalogue.position()?;
    let mut records = session.archive.records(None)?;
    let questionnaire = Questionnaire::of_home(&session.home);
    store_writer::run(&session.catalogue, &session.home.directory, |store| {
        let mut pending = Pending::at(position, session.home.settings.records.stored);
        loop {
            let mut batch: Vec<Entry> = Vec::with_capacity(BATCH);
            let mut bytes = 0;
            for record in records.by_ref() {
                let (source, id, state) = record?;
                let Some(version) = state.current().filter(|version| !version.withdrawn) else { continue };
                followed.records += 1;
                if let Some(changed) = changed
                    && !is_concerned(session, &source, &id, changed)?
                {
                    continue;
                }
                if let Some(entry) = session.archive.entry(version.sequence)? {
                    bytes += entry.payload.len();
                    batch.push(entry);
                }
                if batch.len() >= BATCH || bytes >= BATCH_BYTES {
                    break;
                }
            }
            if batch.is_empty() {
                break;
            }
            let mapped: Vec<_> = batch
                .into_par_iter()
                .map_init(Graph::new, |room, entry| {
                    let record = decode_entry(&entry)?;
                    let triples = map::map(&record, &session.context(&entry)).triples;
                    let graphs = &session.home.graphs;
                    let read = intake::read(questionnaire.as_ref(), graphs, &entry, Some(&triples), room);
                    Some((entry, record.model, triples, read))
                })
                .flatten()
                .collect();
            for (entry, model, triples, read) in mapped {
                pending.reading(ReadingNews {
                    key: record_key(&entry.source, &entry.id),
                    reading: read.and_then(|read| read.reading),
                    is_remapped: true,
                });
                followed.remapped += 1;
                met.insert(model);
                pending.remapped(&session.home.graphs, &entry, triples);
            }
            if pending.is_full() {
                store.send(pending.take())?;
            }
            watch.advance(followed.records, followed.remapped);
        }
        store.send(pending)
    })?;
    watch.end();
    Ok(())
}

/// Whether any of the rules concerns a record, by its source and the format and tags its graph
/// names.
fn is_concerned(
    session: &Session,
    source: &str,
    id: &str,
    changed: &BTreeMap<Model, Option<Vec<Concern>>>,
) -> Result<bool, PipelineError> {
    let encoded = percent_encode(source);
    let of_source = |concerns: &Option<Vec<Concern>>| match concerns {
        Some(concerns) => concerns.iter().any(|concern| concern.holds.for_source(&encoded)),
        None => true,
    };
    // Rules for one source need no look at the records of the others.
    if !changed.values().any(of_source) {
        return Ok(false);
    }
    let name = session.home.graphs.record(source, id);
    let value = |predicate: NamedNodeRef<'_>| -> Result<Option<String>, PipelineError> {
        let selection = Selection {
            subject: Some(name.clone().into()),
            predicate: Some(predicate.into_owned()),
            graph: Some(name.clone().into()),
            ..Selection::default()
        };
        let quad = session.catalogue.backend().quads(&selection)?.next().transpose()?;
        Ok(quad.and_then(|quad| match quad.object {
            Term::Literal(literal) => Some(literal.value().to_owned()),
            _ => None,
        }))
    };
    let model = value(pin::FORMAT)?.and_then(|model| model.parse::<Model>().ok());
    let Some(model) = model else { return Ok(true) };
    let Some(concerns) = changed.get(&model) else { return Ok(false) };
    let Some(concerns) = concerns else { return Ok(true) };
    let fields = value(pin::FIELDS)?;
    let fields: Option<Vec<String>> = fields.map(|fields| fields.lines().map(str::to_owned).collect());
    Ok(concerns.iter().any(|concern| {
        concern.holds.for_source(&encoded) && fields.as_ref().is_none_or(|fields| concern.meets(fields))
    }))
}
