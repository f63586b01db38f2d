//! The statements of one record, found by their subjects.

use crate::concordance::program::Given;
use crate::ontology::{bf, pin, rdf};
use oxrdf::{NamedNodeRef, NamedOrBlankNode, Term, Triple};
use rustc_hash::FxHashMap;

/// A record's graph, ready to be asked.
#[derive(Debug)]
pub struct RecordGraph {
    triples: Vec<Triple>,
    by_subject: FxHashMap<String, Vec<u32>>,
    record: String,
    hub: String,
    work: String,
    instance: String,
}

impl RecordGraph {
    /// `record` is the name of the graph and of the record in it.
    pub fn new(record: &str, mut triples: Vec<Triple>) -> Self {
        // A store gives statements in an order of its own; the same graph has to give the same
        // record wherever it lies.
        triples.sort_by_cached_key(ToString::to_string);
        let mut by_subject: FxHashMap<String, Vec<u32>> = FxHashMap::default();
        for (index, triple) in triples.iter().enumerate() {
            let index = u32::try_from(index).unwrap_or(u32::MAX);
            by_subject.entry(subject(triple).to_owned()).or_default().push(index);
        }
        let mut graph = Self {
            triples,
            by_subject,
            record: record.to_owned(),
            hub: format!("{record}#hub"),
            work: format!("{record}#work"),
            instance: format!("{record}#instance"),
        };
        // Records that came as RDF call their things what they like.
        let step = |graph: &Self, from: &str, by: NamedNodeRef<'_>, usual: &str| {
            let found: Vec<String> = graph.objects(from, by).map(|(_, term)| text(term).to_owned()).collect();
            if found.is_empty() || found.iter().any(|name| name == usual) {
                usual.to_owned()
            } else {
                found.into_iter().next().unwrap_or_default()
            }
        };
        graph.instance = step(&graph, &graph.record, pin::DESCRIBES, &graph.instance);
        graph.work = step(&graph, &graph.instance, bf::INSTANCE_OF, &graph.work);
        graph.hub = step(&graph, &graph.work, bf::EXPRESSION_OF, &graph.hub);
        graph
    }

    /// The statements around an entry of the merged catalogue, or around a record: an instance or a
    /// work that no record describes here stands for itself.
    pub fn around(entry: &str, triples: Vec<Triple>) -> Self {
        let mut graph = Self::new(entry, triples);
        let first = |graph: &Self, from: &str, by: NamedNodeRef<'_>| graph.value(from, by).map(str::to_owned);
        if first(&graph, entry, pin::DESCRIBES).is_some() {
            return graph;
        }
        let is_work = graph.objects(entry, rdf::TYPE).any(|(_, class)| text(class) == bf::WORK.as_str());
        if is_work {
            let leads_here =
                |triple: &&Triple| triple.predicate == bf::INSTANCE_OF && text(&triple.object) == entry;
            let instance = graph.triples.iter().find(leads_here).map(|triple| subject(triple).to_owned());
            graph.instance = instance.unwrap_or_default();
            graph.work = entry.to_owned();
        } else {
            graph.instance = entry.to_owned();
            graph.work = first(&graph, entry, bf::INSTANCE_OF).unwrap_or_default();
        }
        graph.hub = first(&graph, &graph.work, bf::EXPRESSION_OF).unwrap_or_default();
        graph
    }

    /// The record's IRI.
    pub fn record(&self) -> &str {
        &self.record
    }

    /// What a template calls `$work` and so on; `None` for what has no name of its own.
    pub fn thing(&self, given: Given) -> Option<&str> {
        match given {
            Given::Record => Some(&self.record),
            Given::Hub => Some(&self.hub),
            Given::Work => Some(&self.work),
            Given::Instance => Some(&self.instance),
            _ => None,
        }
    }

    /// The name in this graph of what a fresh run of the rules calls so.
    pub fn renamed<'a>(&'a self, made: &'a str) -> &'a str {
        match made.strip_prefix(self.record.as_str()) {
            Some("#hub") => &self.hub,
            Some("#work") => &self.work,
            Some("#instance") => &self.instance,
            _ => made,
        }
    }

    pub fn triple(&self, index: u32) -> Option<&Triple> {
        self.triples.get(index as usize)
    }

    pub fn triples(&self) -> &[Triple] {
        &self.triples
    }

    /// The statements about a subject.
    pub fn about(&self, subject: &str) -> impl Iterator<Item = (u32, &Triple)> {
        let indices = self.by_subject.get(subject).map_or(&[][..], Vec::as_slice);
        indices.iter().filter_map(|index| Some((*index, self.triple(*index)?)))
    }

    /// The values of a property.
    pub fn objects<'a>(
        &'a self,
        subject: &str,
        predicate: NamedNodeRef<'a>,
    ) -> impl Iterator<Item = (u32, &'a Term)> {
        self.about(subject)
            .filter(move |(_, triple)| triple.predicate.as_ref() == predicate)
            .map(|(index, triple)| (index, &triple.object))
    }

    /// The first value of a property, as a text.
    pub fn value(&self, subject: &str, predicate: NamedNodeRef<'_>) -> Option<&str> {
        let found = self.about(subject).find(|(_, triple)| triple.predicate.as_ref() == predicate);
        found.map(|(_, triple)| text(&triple.object))
    }

    /// Whether anything is said about a thing.
    pub fn knows(&self, subject: &str) -> bool {
        self.by_subject.contains_key(subject)
    }
}

/// The name of a statement's subject.
pub fn subject(triple: &Triple) -> &str {
    match &triple.subject {
        NamedOrBlankNode::NamedNode(node) => node.as_str(),
        NamedOrBlankNode::BlankNode(node) => node.as_str(),
    }
}

/// A term as a text: an IRI, or what a literal says.
pub fn text(term: &Term) -> &str {
    match term {
        Term::NamedNode(node) => node.as_str(),
        Term::BlankNode(node) => node.as_str(),
        Term::Literal(literal) => literal.value(),
    }
}

/// The script of a text that stands beside the one that leads: `Cyrl` of `ru-Cyrl`.
pub fn script(term: &Term) -> Option<&str> {
    let Term::Literal(literal) = term else { return None };
    let script = literal.language()?.split('-').nth(1)?;
    (script.len() == 4 && script.starts_with(|c: char| c.is_ascii_alphabetic())).then_some(script)
}
