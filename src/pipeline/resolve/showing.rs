//! One entry of the master: its members, where each value comes from, and which value is preferred.

use super::cache::{Cache, EntryKey};
use super::entity::{Description, Kind};
use super::explaining::{not_merged, not_resolved};
use super::finding::{Finder, Thing};
use super::{PipelineError, texts_of};
use crate::catalogue::Catalogue;
use crate::ontology::{pin, prov, rdf, rdfs, shorten};
use crate::pipeline::Session;
use oxrdf::{GraphName, NamedNode, NamedNodeRef, NamedOrBlankNode, Quad, Term, Triple};
use serde::Serialize;
use std::collections::BTreeMap;

/// One entry.
#[derive(Debug, Serialize)]
pub struct ShownEntry {
    pub iri: String,
    pub kind: Kind,
    pub label: String,
    /// The name that was asked for, when it was given up for this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instead_of: Option<String>,
    /// Source and id, and the node where it is not the instance.
    pub members: Vec<String>,
    /// What kind of content its records describe, and what in them says so.
    pub content_types: Vec<ShownType>,
    pub values: Vec<ShownValue>,
    pub preferences: Vec<ShownPreference>,
    /// The pairs that hold the entry together.
    pub pairs: Vec<ShownPair>,
    /// What makes its members one beside that: headings, entries of authority files.
    pub reasons: Vec<String>,
}

/// The content type of one record, with the evidence for it.
#[derive(Debug, Serialize)]
pub struct ShownType {
    pub from: String,
    pub content_type: String,
    /// The field and the value that speak for it; or that somebody said so of the whole source.
    pub evidence: String,
}

/// One value and who says it.
#[derive(Debug, Serialize)]
pub struct ShownValue {
    pub property: String,
    pub value: String,
    /// The records that say it.
    pub from: Vec<String>,
}

#[derive(Debug, Serialize)]
pub struct ShownPreference {
    pub property: String,
    pub value: String,
    pub from: String,
    /// The rule that preferred it.
    pub reason: String,
}

#[derive(Debug, Serialize)]
pub struct ShownPair {
    pub members: Vec<String>,
    /// What comparing the two found; nothing where what was found elsewhere makes them one.
    #[serde(flatten)]
    pub compared: Option<ShownComparison>,
    /// What makes them one without a comparison.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

#[derive(Debug, Serialize)]
pub struct ShownComparison {
    pub probability: String,
    pub weight: String,
    pub levels: String,
}

/// Shows the entry of this name, or that of a record.
pub fn show_entry(session: &Session, name: &str) -> Result<ShownEntry, PipelineError> {
    let texts = texts_of(session)?;
    let cache = Cache::open_read_only(&session.home)?.ok_or_else(not_resolved)?;
    let finder = Finder { session, cache: &cache };
    let key = finder.entry(name)?;
    let graphs = &session.home.graphs;
    let entry = graphs.entry(key.0.name(), key.1);
    let members = finder.members(key)?;
    if members.is_empty() {
        // A name of an entry that has no members was refused above.
        return Err(not_merged(&finder.thing(name)?.named).into());
    }
    let mut values: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    let mut content_types = Vec::new();
    for member in &members {
        let Thing { named, node, .. } = member;
        let state = session.archive.record(&named.source, &named.id)?.unwrap_or_default();
        let Some(version) = state.current() else { continue };
        let Some(record) = session.archive.entry(version.sequence)? else { continue };
        if let Some(decoded) = crate::pipeline::session::decode_entry(&record) {
            let told = session.content_types.with_evidence(&decoded);
            let said = record.content_type.as_deref().map(|code| (code, "said of the whole source"));
            content_types.extend(told.or(said).map(|(code, evidence)| ShownType {
                from: format!("{}/{}", named.source, named.id),
                content_type: code.to_owned(),
                evidence: evidence.to_owned(),
            }));
        }
        let triples = session.triples(&record).unwrap_or_default();
        let iri = graphs.record(&named.source, &named.id);
        let description = Description::new(&iri, &triples, &texts.questionnaire.entries);
        let other = |node: &str| -> Option<NamedNode> {
            let found = description.found.iter().find(|found| *found.node == *node)?;
            let thing = Thing { kind: found.kind, named: named.clone(), node: found.node.clone() };
            let (kind, id) = finder.entry_of(&thing).ok()?;
            Some(graphs.entry(kind.name(), id))
        };
        let said = description.statements(node, &entry, &texts.levels, &other);
        for (property, value) in flat(&entry, &said) {
            let from = values.entry((property, value)).or_default();
            let name = format!("{}/{}", named.source, named.id);
            if !from.contains(&name) {
                from.push(name);
            }
        }
    }
    let asked = name.trim_start_matches('<').trim_end_matches('>');
    let is_other = Kind::ALL.iter().any(|kind| {
        let bare = asked.strip_prefix(graphs.base()).unwrap_or(asked);
        bare.starts_with(&format!("{}/", kind.name())) && !entry.as_str().ends_with(bare)
    });
    let about = resolution(session, key)?;
    Ok(ShownEntry {
        label: label(&session.catalogue, &entry)?,
        iri: entry.into_string(),
        kind: key.0,
        instead_of: is_other.then(|| asked.to_owned()),
        members: members.iter().map(|member| member.named.to_string()).collect(),
        content_types,
        values: values
            .into_iter()
            .map(|((property, value), from)| ShownValue { property, value, from })
            .collect(),
        preferences: preferences(&about),
        pairs: pairs(&about),
        reasons: reasons(&about),
    })
}

/// Values with the way to them: `bf:title bf:mainTitle`.
fn flat(entry: &NamedNode, said: &[Triple]) -> Vec<(String, String)> {
    let mut values = Vec::new();
    below(entry, said, "", 0, &mut values);
    values.sort_unstable();
    values.dedup();
    values
}

fn below(node: &NamedNode, said: &[Triple], way: &str, depth: usize, values: &mut Vec<(String, String)>) {
    for triple in said {
        let NamedOrBlankNode::NamedNode(subject) = &triple.subject else { continue };
        if subject != node || triple.predicate == rdf::TYPE {
            continue;
        }
        let property =
            shorten(triple.predicate.as_str()).unwrap_or_else(|| triple.predicate.as_str().to_owned());
        let way = if way.is_empty() { property } else { format!("{way} {property}") };
        match &triple.object {
            Term::NamedNode(inner) if depth < 8 && inner.as_str().contains('#') && is_inside(inner, said) => {
                below(inner, said, &way, depth + 1, values);
            }
            object => values.push((way, shown(object))),
        }
    }
}

fn is_inside(node: &NamedNode, said: &[Triple]) -> bool {
    said.iter()
        .any(|triple| matches!(&triple.subject, NamedOrBlankNode::NamedNode(subject) if subject == node))
}

fn shown(term: &Term) -> String {
    match term {
        Term::Literal(literal) => match literal.language() {
            Some(language) => format!("{}@{language}", literal.value()),
            None => literal.value().to_owned(),
        },
        Term::NamedNode(node) => shorten(node.as_str()).unwrap_or_else(|| format!("<{}>", node.as_str())),
        Term::BlankNode(node) => node.to_string(),
    }
}

fn label(catalogue: &Catalogue, entry: &NamedNode) -> Result<String, PipelineError> {
    let about = catalogue.described(entry, &GraphName::DefaultGraph)?;
    let own = about.iter().filter(|quad| quad.subject == NamedOrBlankNode::from(entry.clone()));
    let label = own.filter(|quad| quad.predicate == rdfs::LABEL).map(|quad| shown(&quad.object)).next();
    Ok(label.unwrap_or_default())
}

/// What the graph of resolution says of an entry, by subjects.
type About = BTreeMap<String, Vec<Quad>>;

fn resolution(session: &Session, (kind, id): EntryKey) -> Result<About, PipelineError> {
    let graphs = &session.home.graphs;
    let mut by_subject = About::new();
    for quad in session.catalogue.described(&graphs.merge(kind.name(), id), &graphs.resolution().into())? {
        by_subject.entry(quad.subject.to_string()).or_default().push(quad);
    }
    Ok(by_subject)
}

fn of_class(quads: &[Quad], class: NamedNodeRef<'_>) -> bool {
    quads.iter().any(|quad| {
        quad.predicate == rdf::TYPE && matches!(&quad.object, Term::NamedNode(node) if node.as_ref() == class)
    })
}

fn all(quads: &[Quad], predicate: NamedNodeRef<'_>) -> Vec<String> {
    let mut found: Vec<String> =
        quads.iter().filter(|quad| quad.predicate == predicate).map(|quad| shown(&quad.object)).collect();
    found.sort_unstable();
    found
}

fn one(quads: &[Quad], predicate: NamedNodeRef<'_>) -> String {
    all(quads, predicate).into_iter().next().unwrap_or_default()
}

fn preferences(about: &About) -> Vec<ShownPreference> {
    let chosen = about.values().filter(|quads| of_class(quads, pin::PREFERENCE_CLASS));
    let mut found: Vec<ShownPreference> = chosen
        .map(|quads| ShownPreference {
            property: one(quads, pin::PROPERTY),
            value: one(quads, pin::PREFERRED_VALUE),
            from: one(quads, prov::WAS_DERIVED_FROM),
            reason: one(quads, pin::REASON),
        })
        .collect();
    found.sort_by(|left, right| left.property.cmp(&right.property));
    found
}

fn reasons(about: &About) -> Vec<String> {
    let merges = about.values().filter(|quads| of_class(quads, pin::MERGE));
    merges.flat_map(|quads| all(quads, pin::REASON)).collect()
}

fn pairs(about: &About) -> Vec<ShownPair> {
    let mut found: Vec<ShownPair> = about
        .values()
        .filter(|quads| of_class(quads, pin::PAIR_CLASS))
        .map(|quads| ShownPair {
            members: all(quads, pin::MEMBER),
            compared: Some(one(quads, pin::PROBABILITY)).filter(|found| !found.is_empty()).map(
                |probability| ShownComparison {
                    probability,
                    weight: one(quads, pin::WEIGHT),
                    levels: one(quads, pin::LEVELS),
                },
            ),
            reason: Some(one(quads, pin::REASON)).filter(|reason| !reason.is_empty()),
        })
        .collect();
    found.sort_by(|left, right| left.members.cmp(&right.members));
    found
}
