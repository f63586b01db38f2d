//! From a decoded record to statements.
//!
//! Pure: the same record under the same rules gives the same statements in the same order.
//! Concordances will say what each field means; what no rule covers is kept by [`fallback`]
//! as an ordered node, so nothing a record says is lost. The result is the record's graph; it
//! holds no blank nodes.

mod content_type;
mod fallback;
mod rdf;

pub use content_type::{ContentType, ContentTypes};

use crate::catalogue::Graphs;
use crate::ontology::{pin, rdf as rdf_terms};
use crate::record::{Model, Record};
use oxrdf::{Literal, NamedNode, Triple};

/// What a record's statements depend on besides the record.
pub struct Context<'a> {
    pub graphs: &'a Graphs,
    pub content_types: &'a ContentTypes,
    pub source: &'a str,
    pub id: &'a str,
    /// What the user said all records of the source are, where a record does not tell.
    pub default_type: Option<&'a str>,
}

/// The statements of one record's graph.
pub fn map(record: &Record, context: &Context<'_>) -> Vec<Triple> {
    let name = context.graphs.record(context.source, context.id);
    let mut triples = Vec::with_capacity(record.fields().len() * 5 + record.triples.len() + 6);
    describe(record, context, &name, &mut triples);
    if record.model == Model::Rdf {
        rdf::copy(record, &name, &mut triples);
    } else {
        fallback::keep(record, &name, &mut triples);
    }
    triples
}

/// What every record has, whatever its format.
fn describe(record: &Record, context: &Context<'_>, name: &NamedNode, triples: &mut Vec<Triple>) {
    triples.push(Triple::new(name.clone(), rdf_terms::TYPE, pin::RECORD));
    triples.push(Triple::new(name.clone(), pin::SOURCE, context.graphs.source(context.source)));
    triples.push(Triple::new(name.clone(), pin::IDENTIFIER, Literal::new_simple_literal(context.id)));
    triples.push(Triple::new(name.clone(), pin::FORMAT, Literal::new_simple_literal(record.model.name())));
    let code = context.content_types.of(record).or(context.default_type);
    if let Some(code) = code {
        triples.push(Triple::new(name.clone(), pin::CONTENT_TYPE, context.graphs.content_type(code)));
    }
}
