//! Dublin Core by paths, and BIBFRAME by vocabulary.
//!
//! Fifteen elements without structure need no rules read backwards: `mappings/reverse/oai_dc.tsv`
//! says for each which way through the graph leads to its values. BIBFRAME is what the graph is
//! written in; `mappings/reverse/bibframe.tsv` lists the vocabularies that go out with it, and
//! our own is not among them.

use super::graph::{self, RecordGraph};
use super::path::Path;
use super::table::rows;
use crate::concordance::Concordances;
use crate::concordance::program::Given;
use crate::ontology::{Prefixes, rdf};
use crate::record::{Model, Record, RecordBuilder};
use oxrdf::Term;

/// The table of a flat format.
#[derive(Debug, Default)]
pub struct Elements {
    rows: Vec<Row>,
}

#[derive(Debug)]
struct Row {
    element: String,
    thing: Option<Given>,
    path: Path,
    /// What is put before the value.
    before: String,
    /// Only where the element has no value yet.
    otherwise: bool,
    /// Of an IRI, only its last part.
    name_only: bool,
}

impl Elements {
    /// Reads `reverse/NAME.tsv`: element, thing, path, what goes before, and when.
    pub fn read(concordances: &Concordances, name: &str) -> Self {
        let table = rows(&concordances.text_of(&format!("reverse/{name}.tsv")));
        Self { rows: table.iter().filter_map(|cells| row(cells)).collect() }
    }

    pub fn record(&self, graph: &RecordGraph, id: Option<String>) -> Record {
        let mut found: Vec<(&str, String, Option<String>)> = Vec::new();
        for row in &self.rows {
            if row.otherwise && found.iter().any(|(element, ..)| *element == row.element) {
                continue;
            }
            let Some(start) = row.thing.and_then(|thing| graph.thing(thing)) else { continue };
            for term in row.path.values(graph, start) {
                let text = graph::text(term);
                let is_node = matches!(term, Term::NamedNode(node) if graph.knows(node.as_str()));
                if is_node || text.trim().is_empty() {
                    continue;
                }
                let text = if row.name_only { text.rsplit(['/', '#']).next().unwrap_or(text) } else { text };
                let value = format!("{}{text}", row.before);
                let language = match term {
                    Term::Literal(literal) => literal.language().map(str::to_owned),
                    _ => None,
                };
                if !found.iter().any(|(element, known, _)| *element == row.element && *known == value) {
                    found.push((&row.element, value, language));
                }
            }
        }
        let mut builder = RecordBuilder::new(Model::DublinCore);
        for (element, value, language) in &found {
            builder.field(element, [' ', ' '], value, 0);
            if let Some(language) = language {
                builder.subfield("xml:lang", language);
            }
        }
        let mut record = builder.finish();
        record.id = id;
        record
    }
}

fn row(cells: &[String]) -> Option<Row> {
    let cell = |index: usize| cells.get(index).map_or("", String::as_str);
    let thing = Given::from_name(cell(1)).filter(|given| given.is_thing());
    Some(Row {
        element: cell(0).to_owned(),
        thing,
        path: Path::parse(cell(2))?,
        before: cell(3).to_owned(),
        otherwise: cell(4).contains("else"),
        name_only: cell(4).contains("name"),
    })
}

/// The statements of a graph that BIBFRAME and its neighbours can say.
pub fn bibframe(graph: &RecordGraph, concordances: &Concordances, id: Option<String>) -> Record {
    let namespaces: Vec<String> = rows(&concordances.text_of("reverse/bibframe.tsv"))
        .iter()
        .filter_map(|cells| Prefixes::shipped().namespace(cells.first()?).map(str::to_owned))
        .collect();
    let goes_out = |iri: &str| namespaces.iter().any(|namespace| iri.starts_with(namespace.as_str()));
    let mut record = RecordBuilder::new(Model::Rdf).finish();
    record.id = id;
    for triple in graph.triples() {
        let is_type = triple.predicate.as_ref() == rdf::TYPE;
        if goes_out(triple.predicate.as_str()) && (!is_type || goes_out(graph::text(&triple.object))) {
            record.triples.push(triple.clone());
        }
    }
    record
}
