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
mod foreign;
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

use crate::diagnostic::{Code, Diagnostic, RecordLog};
use crate::record::{Format, Record, known_by};
use std::borrow::Cow;
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
#[expect(clippy::large_enum_variant, reason = "rejects are rare, and pieces are handed on one by one")]
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

/// Reads one payload. `None` refuses it; the reason is the last of the diagnostics. However many
/// faults it has, a few are told one by one (see [`RecordLog`]).
pub fn decode(
    bytes: &[u8],
    format: Format,
    options: &Options,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Record> {
    let mut log = RecordLog::default();
    let mut record = match format {
        Format::Iso2709 => iso2709::decode(bytes, options, &mut log),
        Format::MarcXml | Format::OaiDc | Format::Mods => xml::decode(bytes, &mut log),
        Format::MarcJson => json::decode_marc(bytes, &mut log),
        Format::Json => json::decode(bytes, options, &mut log),
        Format::Mrk => mrk::decode(bytes, options, &mut log),
        Format::Aleph => aleph::decode(bytes, options, &mut log),
        Format::Csv => table::decode(bytes, None, options, &mut log),
        Format::Tsv => table::decode(bytes, Some(b'\t'), options, &mut log),
        Format::Turtle
        | Format::NTriples
        | Format::NQuads
        | Format::TriG
        | Format::RdfXml
        | Format::JsonLd => rdf::decode(bytes, &mut log),
    };
    if let Some(record) = &mut record {
        bound_identifier(record, &mut log);
    }
    diagnostics.extend(log);
    record
}

/// Replaces an identifier that is too long to name anything.
fn bound_identifier(record: &mut Record, log: &mut RecordLog) {
    let Some(id) = &mut record.id else { return };
    let known = match known_by(id) {
        Cow::Owned(known) => known,
        Cow::Borrowed(_) => return,
    };
    let message = format!("the identifier of the record has {} bytes; its hash stands for it", id.len());
    log.push(Diagnostic::new(Code::MissingIdentifier, message));
    *id = known;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_whose_identifier_is_too_long_is_known_by_its_hash_and_says_so() {
        let read = |id: &str| {
            let mut noticed = Vec::new();
            let row = format!("id,title\n{id},Walden\n");
            let record = decode(row.as_bytes(), Format::Csv, &Options::default(), &mut noticed).unwrap();
            (record.id.unwrap(), noticed.into_iter().map(|said| said.code).collect::<Vec<_>>())
        };
        let long = "x".repeat(1 << 20);
        assert_eq!(read(&long), (known_by(&long).into_owned(), vec![Code::MissingIdentifier]));
        assert_eq!(read("A-1"), ("A-1".to_owned(), vec![]));
    }
}
