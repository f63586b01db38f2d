//! The master as the store has it: what changed is put in its place.
//!
//! An entry is written when its members are others than before, or when one of its records says
//! something else or names something else. The first master goes through the bulk loader at once,
//! all or nothing. Later changes are one transaction as long as they are not too many. What people
//! added to an entry stays, and what they took away stays away ([`crate::catalogue::People`]). The cache
//! marks what is about to be written before, and notes it after the store is flushed; so a run after
//! a kill looks at these entries again and trusts nothing about them.

use super::cache::{Cache, Digest, EntryKey, READ, RecordKey, record_key};
use super::decisions::{Act, Numbered};
use super::entities::Entities;
use super::grouping::Groups;
use super::growth::{Change, Growth};
use super::merging::{Added, Made, Merging, decimal, hash_of};
use super::naming::Naming;
use super::spool::Spool;
use super::texts::Texts;
use super::{PipelineError, ResolveError, Resolved};
use crate::archive::PayloadHash;
use crate::catalogue::spelling::respell;
use crate::catalogue::{CatalogueError, Selection, Words};
use crate::ontology::{dcterms, pin, prov, rdf, rdfs, skos, xsd};
use crate::pipeline::{Session, Watch};
use oxrdf::{GraphName, Literal, NamedNode, Quad, Term};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::mpsc::sync_channel;

/// Changes up to this many statements are one transaction.
const AT_ONCE: usize = 400_000;
/// Statements handed to the loader together.
const PIECE: usize = 10_000;
/// Set while the first master is loaded.
const LOADING: &str = "loading";
/// The number of the last entry of the archive that a run took into account.
pub(super) const UP_TO: &str = "up to";
/// The hash of the profiles and weights by which the master was made.
pub(super) const WAYS: &str = "ways";

/// Set while the full-text index has to be made of all entries.
pub(super) const UNINDEXED: &str = "unindexed";

/// What the master holds of each entry: a hash of the members and one of the statements.
type Known = FxHashMap<EntryKey, (u64, u64)>;

/// What is due to be written.
#[derive(Default)]
struct Due {
    /// Entries that may be different.
    entries: FxHashSet<EntryKey>,
    /// Entries that have no members any more.
    removed: Vec<EntryKey>,
    /// Records with what the master is to have of them.
    records: Vec<(Vec<u8>, Digest)>,
    /// Whether the master has another version of each, or none.
    changes: Vec<Change>,
    /// Profiles or weights are others than those by which the master was made.
    is_other: bool,
    /// Records that are no more.
    gone: Vec<RecordKey>,
}

pub(super) struct Writer<'a> {
    pub session: &'a Session,
    pub cache: &'a Cache,
    pub texts: &'a Texts,
    pub entities: &'a Entities,
    pub groups: &'a Groups,
    pub naming: &'a Naming,
    /// Nobody wrote into the merged catalogue, so nobody has to be asked about.
    pub people_are_silent: bool,
}

impl Writer<'_> {
    /// Writes what is due, or only counts it. The first master comes back for the index.
    pub fn write(
        &self,
        merging: &Merging<'_>,
        decided: &[Numbered],
        resolved: &mut Resolved,
        watch: &mut dyn Watch,
    ) -> Result<Option<Spool>, PipelineError> {
        let known = self.cache.entries()?;
        let due = self.due(merging, &known)?;
        resolved.removed = due.removed.len() as u64;
        resolved.new = due.entries.iter().filter(|key| !known.contains_key(key)).count() as u64;
        if resolved.dry_run {
            resolved.changed = due.entries.len() as u64 - resolved.new;
            return Ok(None);
        }
        let mut spool = None;
        if known.is_empty() {
            spool = self.load(merging, &due, watch)?;
        } else {
            resolved.changed = self.change(merging, &due, &known, watch)?;
        }
        self.say_decisions(decided)?;
        let position = self.session.archive.last_sequence()?;
        self.cache.write(|tables| {
            for (key, digest) in &due.records {
                tables.set_written(key, Some(*digest))?;
            }
            for key in &due.gone {
                tables.set_written(key, None)?;
            }
            tables.set_number(WAYS, merging.ways())?;
            tables.set_review(&super::reviewing::pairs(self.entities, self.groups, self.texts))?;
            tables.set_refused(&super::refusing::refusals(self.entities, self.groups))?;
            tables.set_number(UP_TO, position)?;
            tables.set_number(READ, 0)?;
            tables.set_number(LOADING, 0)
        })?;
        self.session.catalogue.note(position)?;
        Ok(spool)
    }

    /// Entries with other members than before; entries of records that say or name something else
    /// than the master has of them; and what is gone. All entries, when profiles or weights
    /// are others.
    fn due(&self, merging: &Merging<'_>, known: &Known) -> Result<Due, PipelineError> {
        let mut due = Due::default();
        let is_other = self.cache.number(WAYS)? != merging.ways();
        due.is_other = is_other;
        for (key, members) in &self.naming.members {
            if is_other || known.get(key).is_none_or(|(hash, _)| *hash != merging.member_hash(members)) {
                due.entries.insert(*key);
            }
        }
        let mut written = self.cache.written()?;
        for (record, (source, id)) in (0_u32..).zip(&self.entities.records) {
            let keys: Vec<EntryKey> =
                self.entities.of_record(record).filter_map(|number| self.key(number)).collect();
            let mut text = self.entities.hashes.get(record as usize).copied().unwrap_or_default().to_vec();
            keys.iter().for_each(|(_, id)| text.extend_from_slice(&id.to_le_bytes()));
            let digest = PayloadHash::of(&text).0;
            let key = record_key(source, id);
            let before = written.remove(key.as_slice());
            if before != Some(digest) {
                due.entries.extend(keys);
                due.records.push((key, digest));
                due.changes.push(if before.is_none() { Change::New } else { Change::Other });
            }
        }
        due.gone = written.into_keys().collect();
        due.gone.sort_unstable();
        due.removed = known.keys().filter(|key| !self.naming.members.contains_key(key)).copied().collect();
        due.removed.sort_unstable();
        Ok(due)
    }

    fn key(&self, number: u32) -> Option<EntryKey> {
        let root = self.groups.of.get(number as usize)?;
        Some((self.entities.kind(number), self.naming.of.get(root).copied()?))
    }

    /// That a record is part of the master.
    fn status(&self, key: &[u8]) -> Quad {
        let graphs = &self.session.home.graphs;
        let key = String::from_utf8_lossy(key);
        let (source, id) = key.split_once('\0').unwrap_or((&key, ""));
        Quad::new(graphs.record(source, id), pin::MERGE_STATUS, pin::MERGED, graphs.resolution())
    }

    /// The first master, all or nothing.
    fn load(
        &self,
        merging: &Merging<'_>,
        due: &Due,
        watch: &mut dyn Watch,
    ) -> Result<Option<Spool>, PipelineError> {
        let backend = self.session.catalogue.backend();
        // What people wrote is in the store alone.
        let mut spool = if self.people_are_silent { self.spool() } else { None };
        let resolution = GraphName::from(self.session.home.graphs.resolution());
        let people = self.session.catalogue.people().all()?;
        if self.cache.number(LOADING)? > 0 || self.session.catalogue.has_master()? {
            // What a killed run left here, nobody knows any more. The resolution goes first: without
            // it what is left of the master is not taken for one.
            backend.clear(&resolution, &FxHashSet::default())?;
            backend.clear(&GraphName::DefaultGraph, &people.added)?;
        }
        self.cache.write(|tables| {
            tables.set_number(UNINDEXED, 1)?;
            tables.set_number(LOADING, 1)
        })?;
        watch.begin("writing the master", Some(self.entities.records.len() as u64));
        let mut written: Vec<(EntryKey, (u64, u64))> = Vec::new();
        let (sender, receiver) = sync_channel::<Result<Vec<Quad>, CatalogueError>>(4);
        std::thread::scope(|scope| -> Result<(), PipelineError> {
            let loader = scope.spawn(move || {
                let mut quads = receiver.into_iter().flat_map(|piece| match piece {
                    Ok(quads) => quads.into_iter().map(Ok).collect::<Vec<_>>(),
                    Err(error) => vec![Err(error)],
                });
                backend.add_stream(&mut quads)
            });
            let mut piece: Vec<Quad> = due.records.iter().map(|(key, _)| self.status(key)).collect();
            let gone = || PipelineError::WriterGone;
            let made = merging.each(
                &due.entries,
                &Growth::default(),
                |made| {
                    let Made::Whole(merged) = made else { return Ok(()) };
                    written.push((merged.key, merged.hashes));
                    if let Some(open) = &mut spool
                        && let Err(error) = open.put(merged.key, &merged.quads)
                    {
                        tracing::info!("the index will be made from the store: {error}");
                        spool = None;
                    }
                    piece.extend(people.without_removed(merged.quads)?);
                    if piece.len() >= PIECE {
                        sender.send(Ok(std::mem::take(&mut piece))).map_err(|_| gone())?;
                    }
                    Ok(())
                },
                |done| watch.advance(done, done),
            );
            piece.extend(self.forwarding()?);
            let end = match &made {
                Ok(()) => Ok(piece),
                // What is loaded so far must not become the master.
                Err(error) => Err(CatalogueError::Store(error.to_string())),
            };
            let sent = sender.send(end).map_err(|_| gone());
            drop(sender);
            let loaded = loader.join().map_err(|_| gone())?;
            made?;
            loaded?;
            sent
        })?;
        watch.end();
        backend.flush()?;
        self.cache.write(|tables| {
            written.iter().try_for_each(|(key, hashes)| tables.set_entry(*key, Some(*hashes)))
        })?;
        Ok(spool.and_then(|mut spool| spool.flush().is_ok().then_some(spool)))
    }

    /// A place for entries on their way to the index; without it the index is made from the store.
    fn spool(&self) -> Option<Spool> {
        let folder = self.session.home.directory.join(Cache::FOLDER);
        Spool::new(&folder, &self.session.home.graphs).ok()
    }

    /// Puts changed entries in the place of what is there; says how many.
    fn change(
        &self,
        merging: &Merging<'_>,
        due: &Due,
        known: &Known,
        watch: &mut dyn Watch,
    ) -> Result<u64, PipelineError> {
        watch.begin("writing the master", Some(due.entries.len() as u64));
        let mut batch = Batch::default();
        batch.added.extend(due.records.iter().map(|(key, _)| self.status(key)));
        batch.removed.extend(due.gone.iter().map(|key| self.status(key)));
        for key in &due.removed {
            let words = self.words(*key)?;
            batch.removed.extend(self.stored(*key, &words)?);
            batch.entries.push((*key, None));
        }
        let growth = self.growth(merging, due, known);
        let (mut changed, mut done) = (0, 0);
        // Those that turn out to need all their members.
        let mut again: FxHashSet<EntryKey> = FxHashSet::default();
        for (entries, growth) in [(Some(&due.entries), &growth), (None, &Growth::default())] {
            let rest = std::mem::take(&mut again);
            merging.each(
                entries.unwrap_or(&rest),
                growth,
                |made| {
                    match made {
                        Made::Whole(merged) => {
                            done += 1;
                            let before = known.get(&merged.key);
                            if before == Some(&merged.hashes) {
                                return Ok(());
                            }
                            let words = self.words(merged.key)?;
                            if before.is_some() {
                                changed += 1;
                                batch.removed.extend(self.stored(merged.key, &words)?);
                            }
                            batch.entries.push((merged.key, Some(merged.hashes)));
                            batch.added.extend(words.without_removed(merged.quads)?);
                        }
                        Made::Added(added) => {
                            let key = added.key;
                            let before = known.get(&key).map_or(0, |(_, statements)| *statements);
                            if !self.grow(merging, added, before, &mut batch)? {
                                again.insert(key);
                                return Ok(());
                            }
                            done += 1;
                            changed += 1;
                        }
                    }
                    if batch.added.len() + batch.removed.len() >= AT_ONCE {
                        self.flush(std::mem::take(&mut batch))?;
                    }
                    watch.advance(done, done);
                    Ok(())
                },
                |_| {},
            )?;
        }
        batch.removed.extend(self.stored_forwarding()?);
        batch.added.extend(self.forwarding()?);
        self.flush(batch)?;
        watch.end();
        Ok(changed)
    }

    /// Entries of which only what new members add has to be written.
    fn growth(&self, merging: &Merging<'_>, due: &Due, known: &Known) -> Growth {
        let mut growth = Growth::default();
        // What people wrote is looked at with all of an entry.
        if !self.people_are_silent || due.is_other {
            return growth;
        }
        let changed: FxHashMap<&[u8], Change> =
            due.records.iter().zip(&due.changes).map(|((key, _), change)| (&**key, *change)).collect();
        let of_record = |record: u32| {
            let name = self.entities.records.get(record as usize);
            let key = name.map(|(source, id)| record_key(source, id)).unwrap_or_default();
            changed.get(&*key).copied().unwrap_or(Change::None)
        };
        for key in &due.entries {
            if let (Some((before, _)), Some(members)) = (known.get(key), self.naming.members.get(key)) {
                growth.consider((*key, members), *before, merging, self.entities, of_record);
            }
        }
        growth
    }

    /// Adds to an entry what new members say; false if that may change what is preferred.
    fn grow(
        &self,
        merging: &Merging<'_>,
        added: Added,
        before: u64,
        batch: &mut Batch,
    ) -> Result<bool, PipelineError> {
        let Added { key: (kind, id), members, labels, quads, mut resolution } = added;
        // Compared with what the store has, so spelt as it does.
        resolution.iter_mut().for_each(|quad| respell(&mut quad.object));
        let graphs = &self.session.home.graphs;
        let backend = self.session.catalogue.backend();
        let entry = graphs.entry(kind.name(), id);
        let stored = |predicate: oxrdf::NamedNodeRef<'_>| -> Result<Vec<Term>, PipelineError> {
            let selection = Selection {
                subject: Some(entry.clone().into()),
                predicate: Some(predicate.into_owned()),
                graph: Some(GraphName::DefaultGraph),
                ..Selection::default()
            };
            Ok(backend
                .quads(&selection)?
                .map(|quad| Ok(quad?.object))
                .collect::<Result<_, CatalogueError>>()?)
        };
        // By the name it has, and by no other: then none of its names is preferred for another reason.
        let label = stored(rdfs::LABEL)?;
        let is_one_name = label.len() <= 1 && labels.iter().all(|one| label.contains(one));
        let has_single =
            merging.single(kind).any(|single| quads.iter().any(|quad| quad.predicate == *single));
        if !is_one_name || has_single || !stored(skos::ALT_LABEL)?.is_empty() {
            return Ok(false);
        }
        let mut news = Vec::new();
        for quad in quads {
            let selection = Selection {
                subject: Some(quad.subject.clone()),
                predicate: Some(quad.predicate.clone()),
                object: Some(quad.object.clone()),
                graph: Some(GraphName::DefaultGraph),
                ..Selection::default()
            };
            if backend.quads(&selection)?.next().transpose()?.is_none() {
                news.push(quad);
            }
        }
        let old =
            self.session.catalogue.described(&graphs.merge(kind.name(), id), &graphs.resolution().into())?;
        let (times, old): (Vec<Quad>, Vec<Quad>) =
            old.into_iter().partition(|quad| quad.predicate == prov::ENDED_AT_TIME);
        let told: FxHashSet<&Quad> = old.iter().collect();
        let tells: FxHashSet<&Quad> = resolution.iter().collect();
        let gone = || old.iter().filter(|quad| !tells.contains(quad));
        let come = || resolution.iter().filter(|quad| !told.contains(quad));
        let statements = before
            .wrapping_add(hash_of(&news))
            .wrapping_add(hash_of(come()))
            .wrapping_sub(hash_of(gone()))
            .max(1);
        batch.removed.extend(gone().cloned().chain(times));
        batch.added.extend(come().cloned());
        batch.added.push(merging.ended((kind, id)));
        batch.added.extend(news);
        batch.entries.push(((kind, id), Some((members, statements))));
        Ok(true)
    }

    fn flush(&self, batch: Batch) -> Result<(), PipelineError> {
        // Until the store is flushed nothing is known of these.
        self.cache.write(|tables| {
            batch.entries.iter().try_for_each(|(key, _)| {
                tables.mark_unindexed(*key)?;
                tables.set_entry(*key, Some((0, 0)))
            })
        })?;
        let backend = self.session.catalogue.backend();
        // What comes again is not touched.
        let added: FxHashSet<Quad> = batch.added.into_iter().collect();
        let removed = batch.removed.into_iter().filter(|quad| !added.contains(quad)).collect();
        backend.patch(removed, added.into_iter().collect())?;
        backend.flush()?;
        self.cache.write(|tables| {
            batch.entries.iter().try_for_each(|(key, hashes)| tables.set_entry(*key, *hashes))
        })
    }

    /// What people said of an entry.
    fn words(&self, (kind, id): EntryKey) -> Result<Words, PipelineError> {
        let (graphs, people) = (&self.session.home.graphs, self.session.catalogue.people());
        Ok(if self.people_are_silent {
            Words::default()
        } else {
            people.about(&graphs.entry(kind.name(), id))?
        })
    }

    /// What the store has of an entry, without what people added.
    fn stored(&self, (kind, id): EntryKey, words: &Words) -> Result<Vec<Quad>, PipelineError> {
        let graphs = &self.session.home.graphs;
        let catalogue = &self.session.catalogue;
        let mut quads = catalogue.entry(&graphs.entry(kind.name(), id), words)?;
        quads.retain(|quad| !words.added.contains(quad));
        quads.extend(catalogue.described(&graphs.merge(kind.name(), id), &graphs.resolution().into())?);
        Ok(quads)
    }

    /// Names given up, and what answers in their place.
    fn forwarding(&self) -> Result<Vec<Quad>, PipelineError> {
        let graphs = &self.session.home.graphs;
        let graph = GraphName::from(graphs.resolution());
        let mut forwarded: Vec<(EntryKey, u64)> = self.cache.forwarded()?.into_iter().collect();
        forwarded.sort_unstable();
        Ok(forwarded
            .into_iter()
            // A name that is in use again leads to itself.
            .filter(|(key, _)| !self.naming.members.contains_key(key))
            .map(|((kind, id), into)| {
                let (from, into) = (graphs.entry(kind.name(), id), graphs.entry(kind.name(), into));
                Quad::new(from, dcterms::IS_REPLACED_BY, into, graph.clone())
            })
            .collect())
    }

    fn stored_forwarding(&self) -> Result<Vec<Quad>, PipelineError> {
        let selection = Selection {
            predicate: Some(dcterms::IS_REPLACED_BY.into_owned()),
            graph: Some(self.session.home.graphs.resolution().into()),
            ..Selection::default()
        };
        let quads = self.session.catalogue.backend().quads(&selection)?;
        Ok(quads.collect::<Result<_, CatalogueError>>()?)
    }

    /// Puts people's decisions where queries find them.
    fn say_decisions(&self, decided: &[Numbered]) -> Result<(), PipelineError> {
        let graphs = &self.session.home.graphs;
        let graph = GraphName::from(graphs.resolution());
        let (mut removed, mut added) = (Vec::new(), Vec::new());
        for one in decided {
            let name = graphs.decision(one.number);
            let mut quads = Vec::new();
            let mut say = |predicate: oxrdf::NamedNodeRef<'_>, object: Term| {
                quads.push(Quad::new(name.clone(), predicate.into_owned(), object, graph.clone()));
            };
            let text = |text: &str| Term::from(Literal::new_simple_literal(text));
            say(rdf::TYPE, pin::DECISION.into_owned().into());
            say(pin::ACT, text(one.decision.act.name()));
            let time = Literal::new_typed_literal(one.decision.time.as_str(), xsd::DATE_TIME);
            say(prov::ENDED_AT_TIME, time.into());
            let by = if one.decision.by.is_empty() { "person" } else { &one.decision.by };
            say(prov::WAS_ASSOCIATED_WITH, graphs.agent(by).into());
            for named in one.decision.named() {
                let record = graphs.record(&named.source, &named.id);
                let node = named.node.as_deref();
                let node = node.map_or_else(
                    || record.as_str().to_owned(),
                    |node| super::entity::absolute(record.as_str(), node),
                );
                say(pin::MEMBER, NamedNode::new_unchecked(node).into());
            }
            if let Act::Undo { decision } = one.decision.act {
                say(pin::UNDOES, graphs.decision(decision).into());
            }
            if !one.decision.note.is_empty() {
                say(skos::NOTE, text(&one.decision.note));
            }
            if let Some(score) = one.decision.score {
                say(pin::PROBABILITY, decimal(score, 6));
            }
            if !one.decision.evidence.is_empty() {
                say(pin::LEVELS, text(&one.decision.evidence));
            }
            if !one.decision.rules.is_empty() {
                say(pin::RULE_HASH, text(&one.decision.rules));
            }
            let stored = self.session.catalogue.described(&name, &graph)?;
            let wanted: FxHashSet<&Quad> = quads.iter().collect();
            removed.extend(stored.into_iter().filter(|quad| !wanted.contains(quad)));
            added.append(&mut quads);
        }
        self.session.catalogue.backend().patch(removed, added)?;
        Ok(())
    }
}

#[derive(Default)]
struct Batch {
    removed: Vec<Quad>,
    added: Vec<Quad>,
    entries: Vec<(EntryKey, Option<(u64, u64)>)>,
}

impl From<std::io::Error> for ResolveError {
    fn from(error: std::io::Error) -> Self {
        Self::Cache(error.to_string())
    }
}
