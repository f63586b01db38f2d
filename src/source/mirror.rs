//! What is known of a source, as statements: the graph `<base>sources`.
//!
//! Names of environment variables stay out of it, and so does everything about access but the
//! address: the graph is for readers of the catalogue.

use super::descriptor::{Amount, Duplicates, Source};
use crate::catalogue::Graphs;
use crate::ontology::{dcat, dcterms, pin, rdf, rdfs, xsd};
use crate::record::percent_encode;
use oxrdf::{Literal, NamedNode, NamedNodeRef, Term, Triple};

/// The seven columns of one source, and that it is one. A column without a value is left out.
pub fn columns(source: &Source, graphs: &Graphs) -> Vec<Triple> {
    let mut said = Said { name: graphs.source(&source.key), triples: Vec::new() };
    said.say(rdf::TYPE, pin::SOURCE_CLASS.into_owned());
    said.say(dcterms::TITLE, text(&source.name));
    said.say(dcat::LANDING_PAGE, NamedNode::new_unchecked(&source.website));
    for content in &source.content_type {
        said.say(pin::TYPE_OF_CONTENT, text(content));
    }
    match &source.amount {
        Amount::Unknown => {}
        Amount::Records(records) => said.say(pin::AMOUNT_OF_CONTENT, integer(*records)),
        Amount::Told(words) => said.say(pin::AMOUNT_OF_CONTENT, text(words)),
    }
    said.say(pin::HARVESTING_TECHNIQUE, text(source.technique.name()));
    said.say(pin::COMPLEXITY_LEVEL, integer(u64::from(source.complexity.level())));
    if !source.model.is_empty() {
        said.say(pin::METADATA_MODEL, text(&source.model));
    }
    said.triples
}

/// Everything about a source that is for everybody to know.
pub fn statements(source: &Source, graphs: &Graphs) -> Vec<Triple> {
    let mut said = Said { name: graphs.source(&source.key), triples: columns(source, graphs) };
    said.say(pin::IDENTIFIER, text(&source.key));
    said.say(rdfs::LABEL, text(&source.name));
    said.say(pin::IMPORTANCE, decimal(source.importance));
    said.say(pin::SCHEDULE, text(source.schedule.name()));
    said.say(pin::ENABLED, boolean(source.enabled));
    if source.duplicates == Duplicates::None {
        said.say(pin::FREE_OF_DUPLICATES, boolean(true));
    }
    if !source.note.is_empty() {
        said.say(rdfs::COMMENT, text(&source.note));
    }
    let endpoints = source.oai.iter().map(|oai| &oai.url).chain(&source.endpoint);
    for endpoint in endpoints {
        said.say(dcat::ENDPOINT_URL, NamedNode::new_unchecked(endpoint));
    }
    for subject in &source.subjects {
        said.say(dcterms::SUBJECT, text(&subject.name));
        // The number belongs to both, source and subject, so it has a node of its own.
        let name = format!("{}#subject-{}", said.name.as_str(), percent_encode(&subject.name));
        let name = NamedNode::new_unchecked(name);
        said.say(pin::SUBJECT_RELEVANCE, name.clone());
        let mut of_subject = Said { name, triples: Vec::new() };
        of_subject.say(rdf::TYPE, pin::SUBJECT_RELEVANCE_CLASS.into_owned());
        of_subject.say(rdfs::LABEL, text(&subject.name));
        of_subject.say(pin::RELEVANCE, decimal(subject.relevance));
        said.triples.append(&mut of_subject.triples);
    }
    said.triples
}

struct Said {
    name: NamedNode,
    triples: Vec<Triple>,
}

impl Said {
    fn say(&mut self, predicate: NamedNodeRef<'_>, object: impl Into<Term>) {
        self.triples.push(Triple::new(self.name.clone(), predicate, object));
    }
}

fn text(text: &str) -> Literal {
    Literal::new_simple_literal(text)
}

fn integer(number: u64) -> Literal {
    Literal::new_typed_literal(number.to_string(), xsd::INTEGER)
}

fn decimal(number: f64) -> Literal {
    Literal::new_typed_literal(number.to_string(), xsd::DECIMAL)
}

fn boolean(value: bool) -> Literal {
    Literal::new_typed_literal(value.to_string(), xsd::BOOLEAN)
}
