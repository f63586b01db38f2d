//! From bytes to records, in two steps that never meet the store.
//!
//! [`split`] cuts an input into payloads, one a record, without understanding them; a payload
//! stands on its own (a spreadsheet row carries its header, an XML record its namespaces), so
//! the archive can keep it and decode it again years later. [`decode`] turns one payload into
//! a [`Record`]; it is pure: same bytes, same record, same diagnostics.
//!
//! Both stream, neither panics. What cannot be read is a [`Piece::Reject`] with its bytes and
//! a reason, and the next good record is found again. To add a format: a file beside this one
//! with its splitter and its decoder, one line in each of the two tables below, one in
//! [`detect`].
#![warn(clippy::indexing_slicing)]

mod aleph;
pub mod charset;
mod clean;
mod detect;
mod input;
mod iso2709;
mod json;
mod leader;
mod lines;
mod marc;
mod mrk;
mod rdf;
mod table;
mod xml;

pub use crate::record::RECORD_LIMIT;
pub use detect::detect;
pub use input::{Input, InputError};
pub use rdf::{document, syntax as rdf_syntax};
pub use table::columns;

use crate::diagnostic::Diagnostic;
use crate::record::{Format, Record};
use std::io::{self, BufRead};

/// The bytes of one record and where they stood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payload {
    pub bytes: Vec<u8>,
    /// The record's number in its input, from 1. Rejects are counted too.
    pub number: u64,
    /// Where it began in the decompressed input.
    pub offset: u64,
}

/// What a splitter finds next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// One record, and what was noticed about it while cutting it out.
    Record(Payload, Vec<Diagnostic>),
    /// Bytes that are no record, and why. The payload may be cut at [`RECORD_LIMIT`].
    Reject(Payload, Diagnostic),
}

/// What the user may say about an input that its content does not.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The column or key that identifies a row, where it is not called `id`.
    pub id_field: Option<String>,
    /// The character set, against what the records say.
    pub charset: Option<charset::Charset>,
}

/// A splitter: an iterator that ends after the last record or at the first read error.
pub type Pieces<'a> = Box<dyn Iterator<Item = io::Result<Piece>> + Send + 'a>;

/// Cuts an input into payloads.
pub fn split<'a>(reader: Box<dyn BufRead + Send + 'a>, format: Format, name: &str) -> Pieces<'a> {
    match format {
        Format::Iso2709 => iso2709::split(reader),
        Format::MarcXml | Format::OaiDc | Format::Mods => xml::split(reader),
        Format::MarcJson | Format::Json => json::split(reader),
        Format::Mrk => mrk::split(reader),
        Format::Aleph => aleph::split(reader),
        Format::Csv => table::split(reader, None),
        Format::Tsv => table::split(reader, Some(b'\t')),
        Format::Turtle
        | Format::NTriples
        | Format::NQuads
        | Format::TriG
        | Format::RdfXml
        | Format::JsonLd => rdf::split(reader, format, name),
    }
}

/// Reads one payload. `None` refuses it; the reason is the last of the diagnostics.
pub fn decode(
    bytes: &[u8],
    format: Format,
    options: &Options,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Record> {
    match format {
        Format::Iso2709 => iso2709::decode(bytes, options, diagnostics),
        Format::MarcXml | Format::OaiDc | Format::Mods => xml::decode(bytes, diagnostics),
        Format::MarcJson => json::decode_marc(bytes, diagnostics),
        Format::Json => json::decode(bytes, options, diagnostics),
        Format::Mrk => mrk::decode(bytes, options, diagnostics),
        Format::Aleph => aleph::decode(bytes, options, diagnostics),
        Format::Csv => table::decode(bytes, None, options, diagnostics),
        Format::Tsv => table::decode(bytes, Some(b'\t'), options, diagnostics),
        Format::Turtle
        | Format::NTriples
        | Format::NQuads
        | Format::TriG
        | Format::RdfXml
        | Format::JsonLd => rdf::decode(bytes, diagnostics),
    }
}

/// Splits and decodes everything in some bytes: the records, and what was noticed about them
/// and between them, each with its place. For whoever has a whole file in memory and wants no
/// archive; an error means that the disk failed on which large RDF is sorted.
pub fn read_all(bytes: &[u8], format: Format) -> io::Result<(Vec<Record>, Vec<Diagnostic>)> {
    let options = Options::default();
    let (mut records, mut diagnostics) = (Vec::new(), Vec::new());
    for piece in split(Box::new(bytes), format, "") {
        let (payload, mut noticed) = match piece? {
            Piece::Record(payload, mut noticed) => {
                records.extend(decode(&payload.bytes, stored_format(format), &options, &mut noticed));
                (payload, noticed)
            }
            Piece::Reject(payload, mut reason) => {
                reason.place.offset = None;
                (payload, vec![reason])
            }
        };
        for diagnostic in &mut noticed {
            let place = &mut diagnostic.place;
            place.number = Some(payload.number);
            place.offset = Some(payload.offset + place.offset.unwrap_or_default());
        }
        diagnostics.append(&mut noticed);
    }
    Ok((records, diagnostics))
}

/// The format payloads of an input are kept in: RDF of any syntax becomes N-Quads.
pub fn stored_format(format: Format) -> Format {
    match format {
        Format::Turtle | Format::NTriples | Format::TriG | Format::RdfXml | Format::JsonLd => Format::NQuads,
        other => other,
    }
}
