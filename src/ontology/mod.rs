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

use std::io;
use std::path::PathBuf;

pub use prefixes::{Prefix, Prefixes, Terms};
pub use table::Mistake;
pub use terms::{Kind, Lookup, Ontology, Status, Term};
pub use vocabulary::{bf, dcterms, owl, pin, prov, rdf, rdfs, skos, xsd};

/// Our own vocabulary, in Turtle.
pub const PINAKES: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/ontologies/pinakes.ttl"));

/// How BIBFRAME relates to FRBR Core, LRM, RDA, Dublin Core and schema.org, in Turtle.
pub const ALIGNMENTS: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/ontologies/alignments.ttl"));

/// Prefix and namespace of the shipped table, in its order.
pub fn prefixes() -> impl Iterator<Item = (&'static str, &'static str)> {
    let rows = Prefixes::shipped().iter();
    rows.map(|prefix| (prefix.name.as_str(), prefix.namespace.as_str()))
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
