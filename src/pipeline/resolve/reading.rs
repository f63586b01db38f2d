//! From record graphs to what is compared: each record is read once for each of its versions.
//!
//! A record graph is a function of the archive and the rules, and mapping a record costs some 50 µs
//! where reading its graph out of the store costs 2 ms. So records are mapped again, some dozens at
//! a time, and the queries are asked of these graphs alone: the same texts, the same answers, and
//! the cost does not depend on how large the store is.

use super::cache::{Cache, Reading, Row, record_key};
use super::entity::{Description, relative};
use super::texts::Texts;
use super::{PipelineError, ResolveError};
use crate::archive::{Entry, PayloadHash};
use crate::ontology::{bf, pin};
use crate::pipeline::{Session, Watch};
use oxrdf::{Dataset, NamedNode, Term, Triple, Variable};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use spareval::{QueryEvaluator, QueryResults};

/// Records read and kept together.
const BATCH: usize = 4096;
/// A batch is also closed when its payloads reach this size.
const BATCH_BYTES: usize = 32 * 1024 * 1024;
/// Record graphs that a query is asked of at once.
const TOGETHER: usize = 64;

/// What reading took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct Read {
    /// Records there are.
    pub records: u64,
    /// Records that were read anew.
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
    let mut due: Vec<(u64, [u8; 16])> = Vec::new();
    let mut kept: Vec<Box<[u8]>> = Vec::new();
    for record in session.archive.records(None)? {
        let (source, id, state) = record?;
        let Some(version) = state.current().filter(|version| !version.withdrawn) else { continue };
        done.records += 1;
        let key = record_key(&source, &id);
        let hash = PayloadHash::of(format!("{}\0{}", version.hash, texts.reading).as_bytes()).0;
        match known.get(key.as_slice()) {
            Some(before) if *before == hash => met += 1,
            Some(_) => {
                met += 1;
                due.push((version.sequence, hash));
            }
            None => due.push((version.sequence, hash)),
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
    done.read = due.len() as u64;
    // In the order of the archive, so that a block is read once.
    due.sort_unstable();
    watch.begin("reading records", Some(done.read));
    let mut due = due.into_iter();
    let mut read = 0;
    loop {
        let mut batch: Vec<(Entry, [u8; 16])> = Vec::new();
        let mut bytes = 0;
        for (sequence, hash) in due.by_ref() {
            if let Some(entry) = session.archive.entry(sequence)? {
                bytes += entry.payload.len();
                batch.push((entry, hash));
            }
            if batch.len() >= BATCH || bytes >= BATCH_BYTES {
                break;
            }
        }
        if batch.is_empty() {
            break;
        }
        let parts: Vec<Vec<(Vec<u8>, Reading)>> = batch
            .par_chunks(TOGETHER)
            .map(|some| read_some(session, texts, some))
            .collect::<Result<_, _>>()?;
        cache.write(|tables| {
            parts.iter().flatten().try_for_each(|(key, reading)| tables.set_reading(key, reading))
        })?;
        read += batch.len() as u64;
        watch.advance(read, read);
    }
    watch.end();
    Ok(done)
}

/// Reads some records together.
fn read_some(
    session: &Session,
    texts: &Texts,
    some: &[(Entry, [u8; 16])],
) -> Result<Vec<(Vec<u8>, Reading)>, PipelineError> {
    let mapped: Vec<(NamedNode, Vec<Triple>)> = some
        .iter()
        .map(|(entry, _)| {
            let name = session.home.graphs.record(&entry.source, &entry.id);
            (name, session.triples(entry).unwrap_or_default())
        })
        .collect();
    let mut readings: Vec<(Vec<u8>, Reading)> = Vec::with_capacity(some.len());
    let mut dataset = Dataset::new();
    for ((entry, hash), (name, triples)) in some.iter().zip(&mapped) {
        let description = Description::new(name, triples, &texts.entries);
        let links = description.links(&[bf::INSTANCE_OF.as_str(), bf::EXPRESSION_OF.as_str()]);
        let key = record_key(&entry.source, &entry.id);
        readings.push((key, Reading { hash: *hash, links, found: description.found, rows: Vec::new() }));
        for triple in triples {
            // Long, and nobody's feature.
            if triple.predicate != pin::TRACE && triple.predicate != pin::FIELDS {
                dataset.insert(triple.as_ref().in_graph(name.as_ref()));
            }
        }
    }
    let of_graph: FxHashMap<&str, usize> =
        mapped.iter().enumerate().map(|(place, (name, _))| (name.as_str(), place)).collect();
    let evaluator = QueryEvaluator::new();
    for question in &texts.questions {
        let failed = |error: String| {
            ResolveError::Text(format!("the query of `{}` fails: {error}", question.asked.name()))
        };
        let answer = evaluator
            .prepare(&question.query)
            .execute(&dataset)
            .map_err(|error| failed(error.to_string()))?;
        let QueryResults::Solutions(solutions) = answer else { continue };
        let [graph, entity, feature, value, key] =
            ["graph", "entity", "feature", "value", "key"].map(Variable::new_unchecked);
        for solution in solutions {
            let solution = solution.map_err(|error| failed(error.to_string()))?;
            let (Some(Term::NamedNode(graph)), Some(Term::NamedNode(entity))) =
                (solution.get(&graph), solution.get(&entity))
            else {
                continue;
            };
            let Some((_, reading)) = of_graph.get(graph.as_str()).and_then(|place| readings.get_mut(*place))
            else {
                continue;
            };
            let node = relative(graph.as_str(), entity.as_str());
            let Ok(entity) = reading.found.binary_search_by(|found| (*found.node).cmp(node)) else {
                continue;
            };
            let (feature, value) = match question.is_keys {
                true => (Some(String::new()), solution.get(&key)),
                false => (solution.get(&feature).map(text), solution.get(&value)),
            };
            let (Some(feature), Some(value)) = (feature, value) else { continue };
            let mut value = text(value);
            if let Some(own) = value.strip_prefix(graph.as_str()).filter(|own| own.starts_with('#')) {
                value = own.to_owned();
            }
            reading.rows.push(Row {
                entity,
                asked: question.asked,
                feature: feature.into(),
                value: value.into(),
            });
        }
    }
    // Queries promise no order.
    for (_, reading) in &mut readings {
        reading.rows.sort_by(|left, right| {
            (left.entity, left.asked, &left.feature, &left.value).cmp(&(
                right.entity,
                right.asked,
                &right.feature,
                &right.value,
            ))
        });
        reading.rows.dedup();
    }
    Ok(readings)
}

fn text(term: &Term) -> String {
    match term {
        Term::NamedNode(node) => node.as_str().to_owned(),
        Term::BlankNode(node) => node.as_str().to_owned(),
        Term::Literal(literal) => literal.value().to_owned(),
    }
}
