//! From record graphs to what is compared: each record is read once for each of its versions.
//!
//! Import and harvest read a record when they map it, and keep what they read in the cache. What is
//! missing there (after a kill, or because texts are others now) is mapped and read again here. The
//! queries are compiled once and asked of one graph at a time ([`pinakes_ask`]), so a record costs some
//! dozens of microseconds however large the catalogue is.

use super::cache::{Cache, Digest, READ, Reading, Row, record_key};
use super::entity::{Description, relative};
use super::texts::{Questionnaire, Texts};
use super::{PipelineError, ResolveError};
use crate::archive::{Entry, PayloadHash};
use crate::catalogue::Graphs;
use crate::config::Home;
use crate::ontology::bf;
use crate::pipeline::{Session, Watch};
use oxrdf::{TermRef, Triple};
use pinakes_ask::Graph;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

/// Records read and kept together.
const BATCH: usize = 4096;
/// A batch is also closed when its payloads reach this size.
const BATCH_BYTES: usize = 32 * 1024 * 1024;

/// What reading took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct Read {
    /// Records there are.
    pub records: u64,
    /// Records that were read since the last run, or are read now.
    pub read: u64,
    /// Records that are no more.
    pub gone: u64,
}

/// Brings what is kept up to the records and texts in force.
pub(super) fn refresh(
    session: &Session,
    texts: &Texts,
    cache: &Cache,
    watch: &mut dyn Watch,
) -> Result<Read, PipelineError> {
    let mut done = Read::default();
    let known: FxHashMap<Box<[u8]>, [u8; 16]> = cache.hashes()?.into_iter().collect();
    let mut met = 0_usize;
    let mut due: Vec<u64> = Vec::new();
    let mut kept: Vec<Box<[u8]>> = Vec::new();
    for record in session.archive.records(None)? {
        let (source, id, state) = record?;
        let Some(version) = state.current().filter(|version| !version.withdrawn) else { continue };
        done.records += 1;
        let key = record_key(&source, &id);
        let hash = texts.questionnaire.digest(version.hash);
        match known.get(key.as_slice()) {
            Some(before) if *before == hash => met += 1,
            Some(_) => {
                met += 1;
                due.push(version.sequence);
            }
            None => due.push(version.sequence),
        }
        kept.push(key.into());
    }
    if met < known.len() {
        // Both are in the order of source and id.
        let gone: Vec<&[u8]> = known
            .keys()
            .map(|key| &**key)
            .filter(|key| kept.binary_search_by(|kept| (**kept).cmp(key)).is_err())
            .collect();
        done.gone = gone.len() as u64;
        cache.write(|tables| gone.iter().try_for_each(|key| tables.forget_reading(key)))?;
    }
    drop((kept, known));
    done.read = due.len() as u64 + cache.number(READ)?;
    // In the order of the archive, so that a block is read once.
    due.sort_unstable();
    watch.begin("reading records", Some(due.len() as u64));
    let mut due = due.into_iter();
    let mut read = 0;
    loop {
        let mut batch: Vec<Entry> = Vec::new();
        let mut bytes = 0;
        for sequence in due.by_ref() {
            if let Some(entry) = session.archive.entry(sequence)? {
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
        let read_now: Vec<(Vec<u8>, Reading)> = batch
            .par_iter()
            .map_init(Graph::new, |room, entry| {
                let triples = session.triples(entry).unwrap_or_default();
                texts.questionnaire.read(&session.home.graphs, entry, &triples, room)
            })
            .collect::<Result<_, _>>()?;
        cache.write(|tables| {
            read_now.iter().try_for_each(|(key, reading)| tables.set_reading(key, reading))
        })?;
        read += batch.len() as u64;
        watch.advance(read, read);
    }
    watch.end();
    Ok(done)
}

impl Questionnaire {
    /// What is asked by the texts in force; `None` if one of them cannot be used, as `resolve` will say.
    pub(in crate::pipeline) fn of_home(home: &Home) -> Option<Self> {
        Texts::read(home).ok().map(|texts| texts.questionnaire)
    }

    /// What a version of a record is known by, read by these texts.
    fn digest(&self, version: PayloadHash) -> Digest {
        PayloadHash::of(format!("{version}\0{}", self.hash).as_bytes()).0
    }

    /// What an archived record says, of which these are the statements.
    pub(in crate::pipeline) fn read(
        &self,
        graphs: &Graphs,
        entry: &Entry,
        triples: &[Triple],
        room: &mut Graph,
    ) -> Result<(Vec<u8>, Reading), ResolveError> {
        let name = graphs.record(&entry.source, &entry.id);
        let description = Description::new(&name, triples, &self.entries);
        let links = description.links(&[bf::INSTANCE_OF.as_str(), bf::EXPRESSION_OF.as_str()]);
        let found = description.found;
        let mut rows: Vec<Row> = Vec::new();
        let mut asking = self.queries.read(room, &name, triples);
        for (place, question) in self.questions.iter().enumerate() {
            let answered = asking.answer(place, &mut |row| {
                let (Some(TermRef::NamedNode(graph)), Some(TermRef::NamedNode(entity))) =
                    (row.get("graph"), row.get("entity"))
                else {
                    return;
                };
                if graph != name.as_ref() {
                    return;
                }
                let node = relative(name.as_str(), entity.as_str());
                let Ok(entity) = found.binary_search_by(|found| (*found.node).cmp(node)) else { return };
                let (feature, value) = match question.is_keys {
                    true => (Some(""), row.get("key")),
                    false => (row.get("feature").map(text), row.get("value")),
                };
                let (Some(feature), Some(value)) = (feature, value) else { return };
                let value = relative(name.as_str(), text(value));
                rows.push(Row {
                    entity,
                    asked: question.asked,
                    feature: feature.into(),
                    value: value.into(),
                });
            });
            answered.map_err(|error| {
                ResolveError::Text(format!("the query of `{}` fails: {error}", question.asked.name()))
            })?;
        }
        // Queries promise no order.
        rows.sort_unstable_by(|left, right| {
            (left.entity, left.asked, &left.feature, &left.value).cmp(&(
                right.entity,
                right.asked,
                &right.feature,
                &right.value,
            ))
        });
        rows.dedup();
        let hash = self.digest(entry.identity());
        Ok((record_key(&entry.source, &entry.id), Reading { hash, found, links, rows }))
    }
}

fn text(term: TermRef<'_>) -> &str {
    match term {
        TermRef::NamedNode(node) => node.as_str(),
        TermRef::BlankNode(node) => node.as_str(),
        TermRef::Literal(literal) => literal.value(),
    }
}
