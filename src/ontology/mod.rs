//! The language of the catalogue: which prefixes and terms exist, and what is near a term that
//! does not.
//!
//! Everything here comes from files under `ontologies/`, embedded at compile time:
//!
//! | file | read by | gives |
//! |---|---|---|
//! | `prefixes.tsv` | [`Prefixes`] | the one prefix table of rules, queries and exports |
//! | `terms/<prefix>.tsv` | [`Ontology`] | the terms of the vocabularies of others |
//! | `pinakes.ttl` | [`Ontology`], [`PINAKES`] | our own vocabulary |
//! | `concepts.tsv` | [`table`](crate::concordance::table()) | what people call the paths of a description |
//! | `alignments.ttl` | [`ALIGNMENTS`] | how the vocabularies relate, as triples to load |
//!
//! Users add their own with [`Ontology::extended`], from a directory of the same shape. Terms that
//! Rust code writes are constants by prefix, such as [`pin::UNMAPPED_TAG`] or [`bf::MAIN_TITLE`];
//! no IRI of a vocabulary is spelled out anywhere else.
//!
//! This module answers questions about terms. It reports nothing: whether an unknown term is an
//! error, and where it stands in a file, is for the reader of that file to say.

mod load;
mod near;
mod prefixes;
mod table;
mod terms;
mod vocabulary;

use spargebra::SparqlParser;
use std::io;
use std::path::PathBuf;
use std::sync::LazyLock;

pub use prefixes::{Prefix, Prefixes, Terms};
pub use table::Mistake;
pub use terms::{Kind, Lookup, Ontology, Status, Term};
pub use vocabulary::{bf, dcat, dcterms, owl, pin, prov, rdf, rdfs, sd, skos, void, xsd};

/// Our own vocabulary, in Turtle.
pub const PINAKES: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/ontologies/pinakes.ttl"));

/// How BIBFRAME relates to FRBR Core, LRM, RDA, Dublin Core and schema.org, in Turtle.
pub const ALIGNMENTS: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/ontologies/alignments.ttl"));

/// The namespace of the functions that rules may call: the empty prefix.
pub const FUNCTIONS: &str = "https://w3id.org/pinakes/function#";

/// Prefix and namespace of the shipped table, in its order.
pub fn prefixes() -> impl Iterator<Item = (&'static str, &'static str)> {
    let rows = Prefixes::shipped().iter();
    rows.map(|prefix| (prefix.name.as_str(), prefix.namespace.as_str()))
}

/// A parser of SPARQL that knows the shipped table.
pub fn sparql_parser() -> SparqlParser {
    // Adding a prefix needs a copy of all before it, so this is done once.
    static PARSER: LazyLock<SparqlParser> = LazyLock::new(|| {
        prefixes().fold(SparqlParser::new(), |parser, (prefix, namespace)| {
            parser.clone().with_prefix(prefix, namespace).unwrap_or(parser)
        })
    });
    PARSER.clone()
}

/// The prefixed name for an IRI by the shipped table; see [`Prefixes::shorten`].
pub fn shorten(iri: &str) -> Option<String> {
    Prefixes::shipped().shorten(iri)
}

/// Why a directory of vocabularies could not be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OntologyError {
    #[error("cannot read `{}`", path.display())]
    Unreadable {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    /// Every mistake in every file, in the order of the files.
    #[error("{}", listed(mistakes))]
    Malformed { mistakes: Vec<Mistake> },
}

fn listed(mistakes: &[Mistake]) -> String {
    let lines: Vec<String> = mistakes.iter().map(Mistake::to_string).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    /// All files below a folder of the project.
    pub(super) fn files_below(folder: &str) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut waiting = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)];
        while let Some(next) = waiting.pop() {
            for entry in std::fs::read_dir(next).expect("a folder") {
                let path = entry.expect("an entry").path();
                if path.is_dir() { waiting.push(path) } else { found.push(path) }
            }
        }
        found
    }
}
