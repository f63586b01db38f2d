//! The rules a catalogue is mapped with, and how its records follow when they change.
//!
//! The store remembers each rule it was mapped with: what it selects, and a hash of everything its
//! result depends on. A rule that is new, gone or different concerns the records of its format
//! in which the old or the new selector occurs, and no others: each record's graph lists its
//! tags. Those are mapped again from the archive. The list of rules is written last, so a kill
//! in between costs doing it again.

use super::session::decode_entry;
use super::store_writer::{self, Pending};
use super::{PipelineError, Session, Watch};
use crate::archive::{Archive, Entry, Kind, Outcome};
use crate::catalogue::Selection;
use crate::concordance::selector::{Selector, Tag};
use crate::concordance::{Concordances, Origin, Source};
use crate::config::Home;
use crate::diagnostic::Diagnostic;
use crate::map;
use crate::ontology::{pin, rdf, xsd};
use crate::record::Model;
use oxrdf::{Literal, NamedOrBlankNode, Term, Triple};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Raised when the same rules give other statements than before: then all records follow.
const EVALUATOR_VERSION: u64 = 1;
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

/// What came of loading or unloading a file.
#[derive(Debug)]
pub enum Change {
    /// Loaded as this version, or taken back.
    Done { path: String, version: usize, replaces_shipped: bool, followed: Followed },
    /// It is loaded already, word for word; or it was not loaded.
    Nothing { path: String },
    /// It has errors; nothing was changed.
    Refused(Vec<Diagnostic>),
}

/// The files in force, when they are others than those of the binary.
pub(super) fn sources(home: &Home, archive: &Archive) -> Result<Option<Vec<Source>>, PipelineError> {
    let mut loaded = Vec::new();
    for (path, versions) in archive.concordances()? {
        let Some(last) = versions.last().filter(|last| !last.unloaded) else { continue };
        let Some(entry) = archive.entry(last.sequence)? else { continue };
        let number = versions.iter().filter(|version| !version.unloaded).count();
        loaded.push(Source::new(path, String::from_utf8_lossy(&entry.payload), Origin::Loaded(number)));
    }
    let mut sources = match &home.mappings {
        Some(folder) => Concordances::sources_in(folder)
            .map_err(|error| PipelineError::Mappings(folder.display().to_string(), error))?,
        None if loaded.is_empty() => return Ok(None),
        None => Concordances::shipped_sources(),
    };
    sources.append(&mut loaded);
    Ok(Some(sources))
}

/// Checks a file among the rules in force, keeps it in the archive, and maps again what it
/// concerns.
pub fn load(
    session: &mut Session,
    path: &str,
    text: &str,
    time: &str,
    watch: &mut dyn Watch,
) -> Result<Change, PipelineError> {
    let mut all = match sources(&session.home, &session.archive)? {
        Some(sources) => sources,
        None => Concordances::shipped_sources(),
    };
    let replaces_shipped = all.iter().any(|known| known.path == path && known.origin == Origin::Shipped);
    all.retain(|known| known.path != path);
    all.push(Source::new(path, text, Origin::Loaded(1)));
    // A file can break another: a code list that loses a column, a name used twice.
    let broken = broken(&Concordances::new(all));
    if !broken.is_empty() {
        return Ok(Change::Refused(broken));
    }
    let number = session.archive.last_sequence()? + 1;
    let mut entry =
        Entry::new(Kind::Concordance, "", path, number, time).with_payload(text.as_bytes().to_vec());
    entry.origin.name = path.to_owned();
    change(session, &entry, replaces_shipped, watch)
}

/// Takes a loaded file back; a shipped one of that name is in force again.
pub fn unload(
    session: &mut Session,
    path: &str,
    time: &str,
    watch: &mut dyn Watch,
) -> Result<Change, PipelineError> {
    // Another loaded file may need this one: a code list, say.
    let mut rest: Vec<Source> = sources(&session.home, &session.archive)?.unwrap_or_default();
    let broken_before: Vec<String> = broken(&Concordances::new(rest.clone())).iter().map(message).collect();
    rest.retain(|known| !(known.path == path && known.origin != Origin::Shipped));
    let mut broken = broken(&Concordances::new(rest));
    broken.retain(|problem| !broken_before.contains(&message(problem)));
    if !broken.is_empty() {
        return Ok(Change::Refused(broken));
    }
    let number = session.archive.last_sequence()? + 1;
    let entry = Entry::new(Kind::ConcordanceUnloaded, "", path, number, time);
    change(session, &entry, false, watch)
}

/// What is wrong with files that have errors.
fn broken(set: &Concordances) -> Vec<Diagnostic> {
    set.files.iter().filter(|file| file.has_errors()).flat_map(|file| file.diagnostics()).collect()
}

fn message(diagnostic: &Diagnostic) -> String {
    format!("{:?} {}", diagnostic.place.origin, diagnostic.message)
}

fn change(
    session: &mut Session,
    entry: &Entry,
    replaces_shipped: bool,
    watch: &mut dyn Watch,
) -> Result<Change, PipelineError> {
    let path = entry.id.clone();
    if session.archive.append_concordance(entry)? == Outcome::Unchanged {
        return Ok(Change::Nothing { path });
    }
    session.refresh_rules()?;
    super::catch_up(session, watch)?;
    let followed = follow_rules(session, watch)?;
    let versions = session.archive.concordances()?;
    let version = versions
        .iter()
        .find(|(known, _)| *known == path)
        .map_or(0, |(_, versions)| versions.iter().filter(|version| !version.unloaded).count());
    Ok(Change::Done { path, version, replaces_shipped, followed })
}

/// What the store must remember of a rule.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Remembered {
    model: String,
    hash: String,
    selects: Vec<String>,
}

/// Brings the records up to the rules in force.
pub fn follow_rules(session: &Session, watch: &mut dyn Watch) -> Result<Followed, PipelineError> {
    let before = remembered(session)?;
    // What the binary alone decides is known without reading any rule.
    let (triples, now) = described(session);
    if before.as_ref() == Some(&now) {
        return Ok(Followed::default());
    }
    let mut followed = Followed::default();
    let concerned = match &before {
        Some(before) if before.get("") == now.get("") => {
            let changed = difference(before, &now);
            followed.rules = changed.len();
            Some(changed)
        }
        // Mapped by another evaluator, or from before rules were remembered.
        _ => {
            followed.rules = now.len().saturating_sub(1);
            None
        }
    };
    let fresh = before.is_none() && session.archive.last_sequence()? == 0;
    if !fresh && concerned.as_ref().is_none_or(|changed| !changed.is_empty()) {
        remap(session, concerned.as_deref(), &mut followed, watch)?;
    }
    let position = session.catalogue.position()?;
    store_writer::run(&session.catalogue, |store| {
        let mut pending = Pending::at(position);
        pending.rewrite(session.home.graphs.rules(), triples);
        store.send(pending)
    })?;
    Ok(followed)
}

/// The rules in force as statements, and as what is compared.
fn described(session: &Session) -> (Vec<Triple>, BTreeMap<String, Remembered>) {
    let graphs = &session.home.graphs;
    let set = session.concordances();
    let mut triples = Vec::new();
    let mut rules = BTreeMap::new();
    let text = |text: &str| Literal::new_simple_literal(text);
    let number = |number: u64| Literal::new_typed_literal(number.to_string(), xsd::INTEGER);
    triples.push(Triple::new(graphs.rules(), rdf::TYPE, pin::CONCORDANCE_CLASS));
    triples.push(Triple::new(graphs.rules(), pin::VERSION, number(EVALUATOR_VERSION)));
    rules.insert(String::new(), Remembered { hash: EVALUATOR_VERSION.to_string(), ..Remembered::default() });
    let mut add = |id: &str, file: &str, line: u64, model: Model, hash: &str, selects: Vec<String>| {
        let name = graphs.rule(id);
        triples.push(Triple::new(name.clone(), rdf::TYPE, pin::RULE_CLASS));
        triples.push(Triple::new(name.clone(), pin::IDENTIFIER, text(id)));
        triples.push(Triple::new(name.clone(), pin::FILE, text(file)));
        triples.push(Triple::new(name.clone(), pin::LINE, number(line)));
        triples.push(Triple::new(name.clone(), pin::FORMAT, text(model.name())));
        triples.push(Triple::new(name.clone(), pin::RULE_HASH, text(hash)));
        for selector in &selects {
            triples.push(Triple::new(name.clone(), pin::SELECTS, text(selector)));
        }
        let remembered = Remembered { model: model.name().to_owned(), hash: hash.to_owned(), selects };
        rules.insert(id.to_owned(), remembered);
    };
    for (model, of_model) in set.models() {
        for rule in of_model {
            let mut selects: Vec<String> =
                rule.selector.alternatives.iter().map(|alternative| alternative.tag.notation()).collect();
            selects.sort();
            selects.dedup();
            let file = format!("{}.toml", rule.file);
            let hash = match &rule.source {
                // The same rule for another source is another rule.
                Some(source) => format!("{} {source}", rule.hash),
                None => rule.hash.clone(),
            };
            add(&rule.id, &file, rule.line as u64, model, &hash, selects);
        }
    }
    for query in &set.queries {
        let file = format!("{}.rq", query.name);
        add(&query.name, &file, 1, Model::Rdf, &query.hash, vec!["record".to_owned()]);
    }
    (triples, rules)
}

/// The rules the store was mapped with; `None` when it remembers none.
fn remembered(session: &Session) -> Result<Option<BTreeMap<String, Remembered>>, PipelineError> {
    let graphs = &session.home.graphs;
    let prefix = graphs.rule("").into_string();
    let mut names: BTreeMap<String, (String, Remembered)> = BTreeMap::new();
    let mut version = None;
    let selection = Selection { graph: Some(graphs.rules().into()), ..Selection::default() };
    for quad in session.catalogue.backend().quads(&selection)? {
        let quad = quad?;
        let (NamedOrBlankNode::NamedNode(subject), Term::Literal(value)) = (&quad.subject, &quad.object)
        else {
            continue;
        };
        if quad.predicate.as_ref() == pin::VERSION {
            version = Some(value.value().to_owned());
        }
        if !subject.as_str().starts_with(&prefix) {
            continue;
        }
        let (id, rule) = names.entry(subject.as_str().to_owned()).or_default();
        let value = value.value().to_owned();
        match quad.predicate.as_ref() {
            p if p == pin::IDENTIFIER => *id = value,
            p if p == pin::FORMAT => rule.model = value,
            p if p == pin::RULE_HASH => rule.hash = value,
            p if p == pin::SELECTS => rule.selects.push(value),
            _ => {}
        }
    }
    let Some(version) = version else { return Ok(None) };
    let mut rules: BTreeMap<String, Remembered> = names
        .into_values()
        .map(|(id, mut rule)| {
            rule.selects.sort();
            (id, rule)
        })
        .collect();
    rules.insert(String::new(), Remembered { hash: version, ..Remembered::default() });
    Ok(Some(rules))
}

/// Rules that are new, gone or different, each as it was and as it is.
fn difference<'a>(
    before: &'a BTreeMap<String, Remembered>,
    now: &'a BTreeMap<String, Remembered>,
) -> Vec<&'a Remembered> {
    let gone = before.iter().filter(|(id, rule)| now.get(*id) != Some(rule));
    let new = now.iter().filter(|(id, rule)| before.get(*id) != Some(rule));
    gone.chain(new).map(|(_, rule)| rule).collect()
}

/// Whether a record with these tags may be concerned by a rule.
fn concerns(rule: &Remembered, model: &str, fields: &str) -> bool {
    rule.model == model
        && rule.selects.iter().any(|selector| match Selector::parse(selector) {
            Ok(selector) => selector.alternatives.iter().any(|alternative| match &alternative.tag {
                Tag::Record | Tag::Leader => true,
                Tag::Path(path) => {
                    let path = normal(&path.join("/"));
                    fields.lines().any(|tag| normal(tag) == path)
                }
                tag => fields.lines().any(|field| tag.matches(field)),
            }),
            // What is not understood any more concerns everything.
            Err(_) => true,
        })
}

/// Columns are compared as the evaluator compares them.
fn normal(tag: &str) -> String {
    tag.to_lowercase().replace([' ', '-'], "_")
}

/// Maps the records again that some rules concern; all without them. Records are looked at one
/// after the other, so memory does not grow with them.
fn remap(
    session: &Session,
    changed: Option<&[&Remembered]>,
    followed: &mut Followed,
    watch: &mut dyn Watch,
) -> Result<(), PipelineError> {
    let total = session.archive.sources()?.iter().map(|(_, counts)| counts.records).sum();
    watch.begin("following changed rules", Some(total));
    let position = session.catalogue.position()?;
    let mut records = session.archive.records(None)?;
    store_writer::run(&session.catalogue, |store| {
        let mut pending = Pending::at(position);
        loop {
            let mut batch: Vec<Entry> = Vec::with_capacity(BATCH);
            let mut bytes = 0;
            for record in records.by_ref() {
                let (source, id, state) = record?;
                let Some(version) = state.current().filter(|version| !version.withdrawn) else { continue };
                followed.records += 1;
                if changed
                    .is_some_and(|changed| !is_concerned(session, &source, &id, changed).unwrap_or(true))
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
                .filter_map(|entry| {
                    let record = decode_entry(&entry)?;
                    let triples = map::map(&record, &session.context(&entry)).triples;
                    Some((entry, triples))
                })
                .collect();
            for (entry, triples) in mapped {
                followed.remapped += 1;
                pending.rewrite(session.home.graphs.record(&entry.source, &entry.id), triples);
            }
            if pending.is_full() {
                let next = Pending::at(position);
                store.send(std::mem::replace(&mut pending, next))?;
            }
            watch.advance(followed.records, followed.remapped);
        }
        store.send(pending)
    })?;
    watch.end();
    Ok(())
}

/// Whether any of the rules concerns a record, by the format and tags its graph names.
fn is_concerned(
    session: &Session,
    source: &str,
    id: &str,
    changed: &[&Remembered],
) -> Result<bool, PipelineError> {
    let name = session.home.graphs.record(source, id);
    let value = |predicate: oxrdf::NamedNodeRef<'_>| -> Result<Option<String>, PipelineError> {
        let selection = Selection {
            subject: Some(name.clone().into()),
            predicate: Some(predicate.into_owned()),
            graph: Some(name.clone().into()),
        };
        let quad = session.catalogue.backend().quads(&selection)?.next().transpose()?;
        Ok(quad.and_then(|quad| match quad.object {
            Term::Literal(literal) => Some(literal.value().to_owned()),
            _ => None,
        }))
    };
    let Some(model) = value(pin::FORMAT)? else { return Ok(true) };
    let fields = value(pin::FIELDS)?;
    Ok(changed.iter().any(|rule| match &fields {
        Some(fields) => concerns(rule, &model, fields),
        None => rule.model == model,
    }))
}
