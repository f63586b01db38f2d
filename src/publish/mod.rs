//! From the catalogue's record graphs back to records of others: MARC 21, UNIMARC, Dublin Core,
//! BIBFRAME.
//!
//! A record graph goes in, a decoded [`Record`] of the target format comes out, or statements
//! for BIBFRAME; [`write`](mod@write) turns them into bytes. MARC is written with the rules it is
//! read with, backwards ([`reverse`]); Dublin Core is small enough for a table of paths
//! ([`elements`]). [`loss`] says what did not come back.
//!
//! Pure: the same graph under the same rules gives the same record. Nothing is merged or
//! decided here, and no file is opened.

pub mod citation;
mod dates;
mod draft;
pub mod elements;
mod evaluate;
pub mod feed;
mod graph;
mod hints;
mod invert;
mod joined;
mod kept;
pub mod loss;
mod marc;
pub mod oai;
mod path;
mod pattern;
mod punctuation;
mod reverse;
mod scripts;
mod table;
mod tryout;
pub mod ways;
pub mod write;

pub use graph::RecordGraph;

use crate::concordance::Concordances;
use crate::ontology::pin;
use crate::record::{Model, Record};
use elements::Elements;
use reverse::Reverse;

/// What a catalogue can be written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// MARC 21 in ISO 2709.
    Marc21,
    /// MARC 21 in MARCXML.
    MarcXml,
    /// UNIMARC in ISO 2709.
    Unimarc,
    /// Dublin Core elements in XML.
    OaiDc,
    /// BIBFRAME in RDF/XML or Turtle.
    Bibframe,
}

impl Target {
    pub const ALL: &'static [(&'static str, Self)] = &[
        ("marc21", Self::Marc21),
        ("marcxml", Self::MarcXml),
        ("unimarc", Self::Unimarc),
        ("oai_dc", Self::OaiDc),
        ("bibframe", Self::Bibframe),
    ];

    /// What the fields of its records mean.
    pub fn model(self) -> Model {
        match self {
            Self::Marc21 | Self::MarcXml => Model::Marc21,
            Self::Unimarc => Model::Unimarc,
            Self::OaiDc => Model::DublinCore,
            Self::Bibframe => Model::Rdf,
        }
    }
}

/// Writes record graphs as one target.
pub struct Publisher<'a> {
    target: Target,
    how: How<'a>,
}

enum How<'a> {
    Rules(Box<Reverse<'a>>),
    Paths(Elements),
    Statements(&'a Concordances),
}

impl<'a> Publisher<'a> {
    pub fn new(concordances: &'a Concordances, target: Target) -> Self {
        let how = match target {
            Target::OaiDc => How::Paths(Elements::read(concordances, "oai_dc")),
            Target::Bibframe => How::Statements(concordances),
            _ => How::Rules(Box::new(Reverse::new(concordances, target.model()))),
        };
        Self { target, how }
    }

    pub fn target(&self) -> Target {
        self.target
    }

    /// Whether a field is one that every library expects to come back.
    pub fn is_core(&self, tag: &str) -> bool {
        match &self.how {
            How::Rules(reverse) => reverse.fields.is_core(tag),
            _ => true,
        }
    }

    /// The record a graph gives; for BIBFRAME, one with statements and no fields.
    pub fn record(&self, graph: &RecordGraph, source: &str) -> Record {
        let id = graph.value(graph.record(), pin::IDENTIFIER).map(str::to_owned);
        match &self.how {
            How::Statements(concordances) => elements::bibframe(graph, concordances, id),
            How::Paths(paths) => paths.record(graph, id),
            How::Rules(reverse) => {
                let mut found = reverse.run(graph, source);
                kept::control(graph, reverse, &mut found);
                kept::unmapped(graph, self.target.model(), reverse, &mut found);
                scripts::link(reverse.concordances, self.target.model(), &mut found.fields);
                punctuation::add(&reverse.fields, &mut found.fields);
                let leader = reverse.leader_text(&found);
                marc::assemble(self.target.model(), id, &leader, found.fields)
            }
        }
    }
}
