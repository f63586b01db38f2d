//! CSV and TSV: one row, one record; one column, one field.
//!
//! A payload is the header, a line break and the row's own bytes, so that it can be read
//! alone. Quotes follow RFC 4180, and they are the one thing that can go wrong badly: a quote
//! that is opened and never closed would swallow every row after it. So a row that runs over
//! several lines is believed only if its quotes close as they should (see [`Quotes`]); if they
//! do not, its first line is read with quotes as plain characters where that gives as many
//! cells as the header has, and is refused otherwise. Reading goes on at the next line.

mod quotes;
mod rows;
#[cfg(test)]
mod tests;

use super::clean::{Faults, clean, text};
use super::lines::{BOM, first_line};
use super::{Options, Pieces};
use crate::diagnostic::{Code, Diagnostic, RecordLog};
use crate::record::{Model, Record, RecordBuilder};
use memchr::memchr_iter;
use quotes::Quotes;
use rows::Rows;
use std::borrow::Cow;
use std::io::BufRead;

/// What may stand between cells. Where a header holds several of them equally often, the
/// first: a comma is more often part of a name than the others.
const DELIMITERS: [u8; 4] = [b'\t', b';', b'|', b','];

/// A header longer than this is not searched for the end of a quotation.
const HEADER_LIMIT: usize = 64 * 1024;

/// Columns that identify a row, if the user named none.
const ID_COLUMNS: [&str; 4] = ["id", "identifier", "record_id", "001"];

/// Cuts a table into rows. `delimiter` is what the format's name promises; the header decides
/// if it does not hold it.
pub fn split<'a>(reader: Box<dyn BufRead + Send + 'a>, delimiter: Option<u8>) -> Pieces<'a> {
    Box::new(Rows::new(reader, delimiter))
}

/// The names of a table's columns.
pub fn columns(bytes: &[u8]) -> Vec<String> {
    let (header, _) = header_of(bytes.strip_prefix(BOM).unwrap_or(bytes));
    let header = text(header, &mut Faults::default());
    let names = cells(&header, delimiter_of(header.as_bytes(), None), true);
    names.iter().map(|name| name.trim().to_owned()).collect()
}

/// Reads a header and a row. `delimiter` is the one given to [`split`].
pub fn decode(
    bytes: &[u8],
    delimiter: Option<u8>,
    options: &Options,
    diagnostics: &mut RecordLog,
) -> Option<Record> {
    let bytes = bytes.strip_prefix(BOM).unwrap_or(bytes);
    let (header, row_start) = header_of(bytes);
    let row = bytes.get(row_start..).unwrap_or_default();
    let delimiter = delimiter_of(header, delimiter);

    let mut faults = Faults::default();
    let quoted = Quotes::are_sound(row, delimiter);
    let header = text(header, &mut faults);
    let row = text(row, &mut faults);
    if row.is_empty() {
        return diagnostics.refuse(Diagnostic::new(Code::NotARecord, "the table has a header and no row"));
    }
    let header = cells(&header, delimiter, true);
    let row = cells(row.trim_end_matches(['\r', '\n']), delimiter, quoted);
    if !quoted {
        diagnostics.push(
            Diagnostic::new(Code::LineSyntax, "a quote is opened and not closed; read as plain text")
                .hint("double a quote that is part of a value, and quote the whole value"),
        );
    }

    let mut builder = RecordBuilder::new(Model::Row);
    builder.reserve(row.len());
    for (index, cell) in row.iter().enumerate() {
        let cell = cell.trim();
        if cell.is_empty() {
            continue;
        }
        let cell = clean(cell, &mut faults);
        match header.get(index).map(|name| name.trim()) {
            Some(name) if !name.is_empty() => {
                builder.field(&clean(name, &mut faults), [' ', ' '], &cell, 0);
            }
            _ => builder.field(&format!("column-{}", index + 1), [' ', ' '], &cell, 0),
        }
    }
    report_shape(&header, &row, diagnostics);
    faults.report(diagnostics);

    let mut record = builder.finish();
    record.id = identifier(&record, options);
    Some(record)
}

/// A line that ends in a delimiter has an empty cell too many, which says nothing.
fn report_shape(header: &[Cow<'_, str>], row: &[Cow<'_, str>], diagnostics: &mut RecordLog) {
    let surplus = row.iter().skip(header.len()).any(|cell| !cell.trim().is_empty());
    if surplus || row.len() < header.len() {
        diagnostics.push(Diagnostic::new(
            Code::RowShape,
            format!("the row has {} cells, the header {}", row.len(), header.len()),
        ));
    }
}

fn identifier(record: &Record, options: &Options) -> Option<String> {
    let value_of = |name: &str| {
        let named = |exact: bool| {
            record
                .fields()
                .find(|field| field.tag() == name || (!exact && field.tag().eq_ignore_ascii_case(name)))
        };
        named(true).or_else(|| named(false)).map(|field| field.text().to_owned())
    };
    match &options.id_field {
        Some(name) => value_of(name.trim()),
        None => ID_COLUMNS.into_iter().find_map(value_of),
    }
}

/// The cells of one row, as [`Quotes`] understands it. The `csv` crate gives the same, which
/// the tests check, but builds its tables anew for each row: 45 µs for what takes one.
fn cells(row: &str, delimiter: u8, quoted: bool) -> Vec<Cow<'_, str>> {
    let delimiter = char::from(delimiter);
    let mut cells = Vec::new();
    let mut rest = row;
    loop {
        let quotation = rest.strip_prefix('"').filter(|_| quoted);
        let (mut cell, mut after) = match quotation {
            Some(quotation) => unquote(quotation),
            None => (Cow::Borrowed(""), rest),
        };
        let plain = after.find(delimiter).unwrap_or(after.len());
        let (text, next) = after.split_at(plain);
        if cell.is_empty() {
            cell = Cow::Borrowed(text);
        } else if !text.is_empty() {
            cell.to_mut().push_str(text);
        }
        cells.push(cell);
        after = next;
        match after.strip_prefix(delimiter) {
            Some(next) => rest = next,
            None => return cells,
        }
    }
}

/// The text of a quotation whose opening quote is passed, and what follows the closing one.
fn unquote(quotation: &str) -> (Cow<'_, str>, &str) {
    let mut text = Cow::Borrowed("");
    let mut rest = quotation;
    loop {
        let (part, after) = rest.split_once('"').unwrap_or((rest, ""));
        if text.is_empty() {
            text = Cow::Borrowed(part);
        } else {
            text.to_mut().push_str(part);
        }
        match after.strip_prefix('"') {
            Some(after) => {
                text.to_mut().push('"');
                rest = after;
            }
            None => return (text, after),
        }
    }
}

/// The header, up to the first line break outside quotes, and where the next row begins. A
/// header whose quotes do not pair ends at its first line break.
fn header_of(bytes: &[u8]) -> (&[u8], usize) {
    let mut end = 0;
    let mut paired = true;
    while end < bytes.len() && end < HEADER_LIMIT {
        let (line, next) = first_line(bytes.get(end..).unwrap_or_default());
        paired ^= !quotes_pair(line);
        if paired {
            return (bytes.get(..end + line.len()).unwrap_or(bytes), end + next);
        }
        end += next;
    }
    first_line(bytes)
}

fn quotes_pair(bytes: &[u8]) -> bool {
    memchr_iter(b'"', bytes).count().is_multiple_of(2)
}

/// The delimiter a header shows: the expected one if it is there at all, else the one that
/// stands most often outside quotes.
fn delimiter_of(header: &[u8], expected: Option<u8>) -> u8 {
    let count = |delimiter: u8| {
        let mut quoted = false;
        let mut count = 0;
        for &byte in header {
            quoted ^= byte == b'"';
            count += usize::from(!quoted && byte == delimiter);
        }
        count
    };
    let expected = expected.filter(|delimiter| delimiter.is_ascii() && !b"\"\r\n".contains(delimiter));
    if let Some(delimiter) = expected.filter(|delimiter| count(*delimiter) > 0) {
        return delimiter;
    }
    let mut best = (0, expected.unwrap_or(b','));
    for delimiter in DELIMITERS {
        let count = count(delimiter);
        if count > best.0 {
            best = (count, delimiter);
        }
    }
    best.1
}
