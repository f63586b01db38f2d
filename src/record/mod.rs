//! One decoded record, whatever its format.
//!
//! Decoders make it, concordances read it. MARC fields, XML elements, spreadsheet columns and
//! JSON keys all become a [`Field`]: a tag, two indicators, subfields, a text, and a depth that
//! tells children from siblings. RDF stays what it is: a list of triples.
//!
//! A catalogue holds millions of records, so a record is three allocations and not three
//! hundred: all text lies in one string, and fields and subfields are ranges of it. The text a
//! decoder hands in may be the record's own bytes, delimiters included; nothing outside the
//! ranges is ever shown.
//!
//! This module does not read bytes ([`decode`](crate::decode)) and gives no meaning to fields
//! ([`map`](crate::map)).

mod builder;
mod field;
mod format;
mod identity;
mod notation;

pub use builder::{Name, RecordBuilder};
pub use field::{Field, Subfield};
pub use format::{Format, Model};
pub use identity::{known_by, percent_decode, percent_encode};
pub use notation::write_field;

use field::{FieldSpan, Span, SubfieldSpan};
use oxrdf::Triple;

/// The largest payload that is taken; more is refused as `oversize-record`.
pub const RECORD_LIMIT: usize = 16 * 1024 * 1024;

/// One record as its payload says it, decoded.
#[derive(Debug, Clone)]
pub struct Record {
    /// The identifier the record gives itself, if any: 001, an OAI identifier, an IRI.
    pub id: Option<String>,
    /// What the fields mean. The reader that cut the payload knows its syntax; the model may
    /// show only in the content (MARC 21 or UNIMARC).
    pub model: Model,
    /// The record says of itself that it no longer exists.
    pub withdrawn: bool,
    /// The statements of an RDF record; empty for every other format.
    pub triples: Vec<Triple>,
    leader: String,
    text: String,
    fields: Vec<FieldSpan>,
    subfields: Vec<SubfieldSpan>,
}

impl Record {
    /// The 24 characters before the directory; empty where the format has none.
    pub fn leader(&self) -> &str {
        &self.leader
    }

    /// The character at a position of the leader, as `LDR/06` counts.
    pub fn leader_at(&self, position: usize) -> Option<char> {
        self.leader.chars().nth(position)
    }

    /// All fields in record order. Children follow their parent with a greater depth.
    pub fn fields(&self) -> impl ExactSizeIterator<Item = Field<'_>> + Clone {
        self.fields.iter().map(|span| Field::new(self, span))
    }

    /// The fields with this tag, in record order.
    pub fn fields_with<'a>(&'a self, tag: &'a str) -> impl Iterator<Item = Field<'a>> {
        self.fields().filter(move |field| field.tag() == tag)
    }

    /// The first field with this tag.
    pub fn field<'a>(&'a self, tag: &str) -> Option<Field<'a>> {
        self.fields().find(|field| field.tag() == tag)
    }

    fn slice(&self, span: Span) -> &str {
        // Spans are made by the builder on character boundaries of this very text.
        self.text.get(span.range()).unwrap_or_default()
    }
}

/// Two records are equal when they say the same, however their text is laid out in memory.
impl PartialEq for Record {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
            && self.model == other.model
            && self.withdrawn == other.withdrawn
            && self.leader == other.leader
            && self.triples == other.triples
            && self.fields().eq(other.fields())
    }
}
