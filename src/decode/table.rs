//! CSV and TSV: one row, one record; one column, one field.
//!
//! A payload is the header, a line break and the row's own bytes, so that it can be read
//! alone. Quotes follow RFC 4180, and they are the one thing that can go wrong badly: a quote
//! that is opened and never closed would swallow every row after it. So a row that runs over
//! several lines is believed only if its quotes close as they should (see [`Quotes`]); if they
//! do not, its first line is read with quotes as plain characters where that gives as many
//! cells as the header has, and is refused otherwise. Reading goes on at the next line.

use super::clean::{Faults, clean, text};
use super::lines::{BOM, Lines, first_line, oversize};
use super::{Options, Payload, Piece, Pieces, RECORD_LIMIT};
use crate::diagnostic::{Code, Diagnostic};
use crate::record::{Model, Record, RecordBuilder};
use memchr::{memchr, memchr_iter};
use std::borrow::Cow;
use std::io::{self, BufRead};

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
    Box::new(Rows {
        lines: Lines::new(reader),
        held: Vec::new(),
        start: 0,
        offset: 0,
        cut: false,
        expected: delimiter,
        header: None,
        number: 0,
        ended: false,
    })
}

/// Reads a header and a row. `delimiter` is the one given to [`split`].
pub fn decode(
    bytes: &[u8],
    delimiter: Option<u8>,
    options: &Options,
    diagnostics: &mut Vec<Diagnostic>,
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
        diagnostics.push(Diagnostic::new(Code::NotARecord, "the table has a header and no row"));
        return None;
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
fn report_shape(header: &[Cow<'_, str>], row: &[Cow<'_, str>], diagnostics: &mut Vec<Diagnostic>) {
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
    while end < bytes.len() && end < HEADER_LIMIT {
        let (line, next) = first_line(bytes.get(end..).unwrap_or_default());
        let header = bytes.get(..end + line.len()).unwrap_or(bytes);
        if quotes_pair(header) {
            return (header, end + next);
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

/// Follows the quotes of one row, line by line.
///
/// A quote opens a quotation only at the beginning of a cell, and what follows the closing
/// quote must be a delimiter or the end of the row. Text after it is common on one line
/// (`"Walden" and more`) and does no harm there; in a quotation begun on an earlier line it
/// shows that the quotation never was one.
struct Quotes {
    delimiter: u8,
    inside: Inside,
    /// The quotation was opened on an earlier line.
    carried: bool,
    /// A closing quote was followed by text.
    stray: bool,
    /// A quotation over several lines was not closed as it should be.
    broken: bool,
    cells: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    CellStart,
    Plain,
    Quotation,
    /// After a quote within a quotation: its end, or the first half of a doubled quote.
    Closing,
}

impl Quotes {
    fn new(delimiter: u8) -> Self {
        Self { delimiter, inside: Inside::CellStart, carried: false, stray: false, broken: false, cells: 1 }
    }

    /// Whether a row's quotes can be read as quotes. In tab-separated text quotes are often
    /// plain characters, so there a stray one is taken for a sign of that.
    fn are_sound(row: &[u8], delimiter: u8) -> bool {
        let mut quotes = Self::new(delimiter);
        let mut rest = row;
        while !rest.is_empty() {
            let (line, next) = first_line(rest);
            if quotes.line(line) {
                break;
            }
            rest = rest.get(next..).unwrap_or_default();
        }
        quotes.inside != Inside::Quotation && !quotes.broken && !(quotes.stray && delimiter == b'\t')
    }

    /// Takes the next line without its ending; true if the row ends with it.
    fn line(&mut self, line: &[u8]) -> bool {
        if self.inside == Inside::CellStart && memchr(b'"', line).is_none() {
            self.cells = count_cells(line, self.delimiter);
            return true;
        }
        for &byte in line {
            self.inside = match (self.inside, byte) {
                (Inside::CellStart, b'"') => Inside::Quotation,
                (Inside::Quotation, b'"') => Inside::Closing,
                (Inside::Closing, b'"') | (Inside::Quotation, _) => Inside::Quotation,
                (_, byte) if byte == self.delimiter => {
                    self.cells += 1;
                    self.carried = false;
                    Inside::CellStart
                }
                (Inside::Closing, _) => {
                    self.stray = true;
                    self.broken |= self.carried;
                    Inside::Plain
                }
                (Inside::CellStart | Inside::Plain, _) => Inside::Plain,
            };
        }
        let goes_on = self.inside == Inside::Quotation && !self.broken;
        self.carried |= goes_on;
        !goes_on
    }
}

fn count_cells(line: &[u8], delimiter: u8) -> usize {
    memchr_iter(delimiter, line).count() + 1
}

struct Header {
    /// Its bytes and a line break, as every payload begins.
    bytes: Vec<u8>,
    delimiter: u8,
    columns: usize,
}

/// The rows of a table. Lines are held from the beginning of the current row, so that all but
/// the first can be read again if its quotes turn out to be none.
struct Rows<'a> {
    lines: Lines<Box<dyn BufRead + Send + 'a>>,
    held: Vec<u8>,
    /// Where in `held` the current row begins, and where that is in the input.
    start: usize,
    offset: u64,
    /// The last line held is longer than a record may be.
    cut: bool,
    expected: Option<u8>,
    header: Option<Header>,
    number: u64,
    ended: bool,
}

/// How a row ended.
enum Row {
    /// Before this position of `held`, counted from its start; the next begins at the second.
    Complete(usize, usize),
    /// Its quotes do not close: not properly, not before the end, not within the limit.
    Unclosed(Code),
    Oversize,
}

impl Rows<'_> {
    fn advance(&mut self) -> io::Result<Option<Piece>> {
        if self.header.is_none() && !self.read_header()? {
            self.ended = true;
            return Ok((!self.held.is_empty()).then(|| self.reject_line()));
        }
        loop {
            self.compact();
            if self.held.len() == self.start && !self.fill()? {
                self.ended = true;
                return Ok(None);
            }
            let (line, next) = first_line(self.current());
            if self.is_blank(line) && !(self.cut && self.start + next == self.held.len()) {
                self.consume(next);
                continue;
            }
            let (end, next) = match self.find_end()? {
                Row::Complete(end, next) => (end, next),
                Row::Oversize => return Ok(Some(self.reject_line())),
                Row::Unclosed(code) => {
                    let (line, next) = first_line(self.current());
                    if !self.fits(line) {
                        return Ok(Some(self.reject_unclosed(code)));
                    }
                    (line.len(), next)
                }
            };
            let mut bytes = Vec::new();
            if let Some(header) = &self.header {
                bytes.reserve_exact(header.bytes.len() + end);
                bytes.extend_from_slice(&header.bytes);
            }
            bytes.extend_from_slice(self.current().get(..end).unwrap_or_default());
            let payload = self.payload(bytes);
            self.consume(next);
            return Ok(Some(Piece::Record(payload, Vec::new())));
        }
    }

    /// Reads the first line that is not blank; false if there is none, or none of sane length.
    fn read_header(&mut self) -> io::Result<bool> {
        loop {
            if !self.fill()? {
                return Ok(false);
            }
            if self.cut {
                return Ok(false);
            }
            let (line, next) = first_line(self.current());
            if line.iter().all(u8::is_ascii_whitespace) {
                self.consume(next);
                self.compact();
                continue;
            }
            break;
        }
        // Lines are added until the quotes pair, as `header_of` does.
        while !quotes_pair(self.current()) && self.held.len() < HEADER_LIMIT && !self.cut {
            if !self.fill()? {
                break;
            }
        }
        let (header, next) = header_of(self.current());
        let mut bytes = header.to_vec();
        if !quotes_pair(header) {
            // Every payload begins with these bytes, and its row must be found again.
            bytes.retain(|byte| *byte != b'"');
        }
        let delimiter = delimiter_of(&bytes, self.expected);
        let columns = cells(&text(&bytes, &mut Faults::default()), delimiter, true).len();
        bytes.push(b'\n');
        self.header = Some(Header { bytes, delimiter, columns });
        self.consume(next);
        Ok(true)
    }

    fn find_end(&mut self) -> io::Result<Row> {
        let mut quotes = Quotes::new(self.delimiter());
        let mut at = 0;
        loop {
            let (line, next) = first_line(self.current().get(at..).unwrap_or_default());
            let cut = self.cut && self.start + at + next == self.held.len();
            if cut && at == 0 {
                return Ok(Row::Oversize);
            }
            if cut || at > RECORD_LIMIT {
                return Ok(Row::Unclosed(Code::OversizeRecord));
            }
            let complete = quotes.line(line);
            let end = at + line.len();
            let first = at == 0;
            at += next;
            if complete && !first && (quotes.broken || !self.is_plausible(&quotes)) {
                return Ok(Row::Unclosed(Code::TruncatedRecord));
            }
            if complete {
                return Ok(Row::Complete(end, at));
            }
            if self.start + at == self.held.len() && !self.fill()? {
                return Ok(Row::Unclosed(Code::TruncatedRecord));
            }
        }
    }

    /// A quotation over several lines that gives too many or too few cells, where its first
    /// line alone would give the right number, is two unpaired quotes that happened to meet.
    fn is_plausible(&self, quotes: &Quotes) -> bool {
        let columns = self.header.as_ref().map_or(1, |header| header.columns);
        quotes.cells == columns || !self.fits(first_line(self.current()).0)
    }

    /// A line with as many cells as the header, quotes taken as plain characters.
    fn fits(&self, line: &[u8]) -> bool {
        let columns = self.header.as_ref().map_or(1, |header| header.columns);
        count_cells(line, self.delimiter()) == columns
    }

    fn is_blank(&self, line: &[u8]) -> bool {
        let delimiter = self.delimiter();
        line.iter().all(|byte| *byte == delimiter || byte.is_ascii_whitespace())
    }

    fn delimiter(&self) -> u8 {
        self.header.as_ref().map_or(b',', |header| header.delimiter)
    }

    fn reject_unclosed(&mut self, code: Code) -> Piece {
        let message = match code {
            Code::OversizeRecord => {
                format!("a quote opened in this row is not closed within {} MiB", RECORD_LIMIT >> 20)
            }
            _ => "a quote opened in this row is not closed".to_owned(),
        };
        let reason = Diagnostic::new(code, message)
            .hint("double a quote that is part of a value, and quote the whole value");
        let (line, next) = first_line(self.current());
        let bytes = line.to_vec();
        let payload = self.payload(bytes);
        self.consume(next);
        Piece::Reject(payload, reason)
    }

    /// Refuses the current line for its length.
    fn reject_line(&mut self) -> Piece {
        let (line, next) = first_line(self.current());
        let bytes = line.get(..RECORD_LIMIT).unwrap_or(line).to_vec();
        let payload = self.payload(bytes);
        self.consume(next);
        Piece::Reject(payload, oversize())
    }

    fn payload(&mut self, bytes: Vec<u8>) -> Payload {
        self.number += 1;
        Payload { bytes, number: self.number, offset: self.offset }
    }

    /// What is held, from the current row on.
    fn current(&self) -> &[u8] {
        self.held.get(self.start..).unwrap_or_default()
    }

    /// Reads one more line; false at the end of the input.
    fn fill(&mut self) -> io::Result<bool> {
        let empty = self.current().is_empty();
        let line = self.lines.read(&mut self.held)?;
        if let Some(line) = line {
            self.cut = line.cut;
            if empty {
                self.offset = line.offset;
            }
        }
        Ok(line.is_some())
    }

    fn consume(&mut self, length: usize) {
        self.start = (self.start + length).min(self.held.len());
        self.offset += length as u64;
        if self.start == self.held.len() {
            // A line that was cut is longer than what is held of it.
            self.offset = self.lines.offset();
            self.cut = false;
        }
    }

    fn compact(&mut self) {
        if self.start == self.held.len() {
            self.held.clear();
            self.held.shrink_to(1 << 20);
            self.start = 0;
        } else if self.start > self.held.len() / 2 {
            self.held.drain(..self.start);
            self.start = 0;
        }
    }
}

impl Iterator for Rows<'_> {
    type Item = io::Result<Piece>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let piece = self.advance();
        self.ended |= piece.is_err();
        piece.transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::Read;

    fn pieces(input: &[u8], delimiter: Option<u8>) -> Vec<Piece> {
        split(Box::new(input), delimiter).map(Result::unwrap).collect()
    }

    /// Each row as `offset tag=text|…`, each refusal as its code, with the codes of warnings.
    fn check(input: impl AsRef<[u8]>, delimiter: Option<u8>, expected: &[&str]) {
        let found: Vec<String> = pieces(input.as_ref(), delimiter)
            .into_iter()
            .map(|piece| match piece {
                Piece::Reject(payload, reason) => {
                    format!("{} {}: {}", payload.offset, reason.code, String::from_utf8_lossy(&payload.bytes))
                }
                Piece::Record(payload, _) => {
                    let mut diagnostics = Vec::new();
                    let options = Options::default();
                    let record = decode(&payload.bytes, delimiter, &options, &mut diagnostics).unwrap();
                    let mut line = format!("{}", payload.offset);
                    for (index, field) in record.fields().enumerate() {
                        line.push(if index == 0 { ' ' } else { '|' });
                        line.push_str(&format!("{}={}", field.tag(), field.text()));
                    }
                    for diagnostic in diagnostics {
                        line.push_str(&format!(" [{}]", diagnostic.code));
                    }
                    line
                }
            })
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_row_is_a_record_and_a_column_a_field() {
        check(
            "\u{FEFF}id, title ,,year\r\n1,\"Walden; or, \"\"Life\"\"\",x,1854\r\n\r\n,,,\r\n2,  Cape Cod ,,\r\n",
            None,
            &["21 id=1|title=Walden; or, \"Life\"|column-3=x|year=1854", "61 id=2|title=Cape Cod"],
        );
    }

    #[test]
    fn the_header_shows_its_delimiter() {
        check("a;b, c\n1;2,3\n", None, &["7 a=1|b, c=2,3"]);
        check("a|b|c\n1|2|3\n", None, &["6 a=1|b=2|c=3"]);
        check("\"a;b;c\",d\n1,2\n", None, &["10 a;b;c=1|d=2"]);
        check("a,b\tc\n1,2\t3\n", Some(b'\t'), &["6 a,b=1,2|c=3"]);
        check("a,b\n1,2\n", Some(b'\t'), &["4 a=1|b=2"]);
        check("title\nWalden\n", None, &["6 title=Walden"]);
    }

    #[test]
    fn quoted_line_breaks_belong_to_the_cell() {
        check(
            "\"a\nb\",c\n\"one\r\n\r\ntwo\",2\n3,\"4\n\"\n",
            None,
            &["8 a\nb=one\n\ntwo|c=2", "23 a\nb=3|c=4"],
        );
    }

    #[test]
    fn an_unclosed_quote_costs_no_neighbour() {
        check(
            "a,b\n1,\"two\n3,four\n5,\"six\"\n7,\"8\n",
            None,
            &["4 a=1|b=\"two [line-syntax]", "11 a=3|b=four", "18 a=5|b=six", "26 a=7|b=\"8 [line-syntax]"],
        );
        check(
            "a,b,c\n1,2,3\n4,\"cut off in the mid",
            None,
            &["6 a=1|b=2|c=3", "12 truncated-record: 4,\"cut off in the mid"],
        );
    }

    #[test]
    fn two_unclosed_quotes_that_meet_do_not_swallow_what_is_between() {
        check(
            "a,b\n1,\"two\n3,four\n5,12\",6\n7,8\n",
            None,
            &[
                "4 a=1|b=\"two [line-syntax]",
                "11 a=3|b=four",
                "18 a=5|b=12\"|column-3=6 [row-shape]",
                "26 a=7|b=8",
            ],
        );
    }

    #[test]
    fn quotes_in_tab_separated_text_may_be_plain() {
        check(
            "a\tb\n\"Yes\" he said\t1\n\"quoted\ttab\"\t2\n\"open\t3\n",
            Some(b'\t'),
            &[
                "4 a=\"Yes\" he said|b=1 [line-syntax]",
                "20 a=quoted\ttab|b=2",
                "35 a=\"open|b=3 [line-syntax]",
            ],
        );
    }

    #[test]
    fn rows_of_another_shape_are_kept_and_reported() {
        check(
            "a,b\n1\n1,2,3,\n1,2,\n",
            None,
            &["4 a=1 [row-shape]", "6 a=1|b=2|column-3=3 [row-shape]", "13 a=1|b=2"],
        );
    }

    #[test]
    fn old_line_ends_and_old_character_sets_are_read() {
        check("a,b\r1,2\r3,4\r", None, &["4 a=1|b=2", "8 a=3|b=4"]);
        check(
            b"id,Titel\n1,M\xFCller\n2,plain\n",
            None,
            &["9 id=1|Titel=Müller [charset-mismatch]", "18 id=2|Titel=plain"],
        );
        check("a\nx\u{7}y\0\n", None, &["2 a=x\u{FFFD}y\u{FFFD} [forbidden-character]"]);
    }

    #[test]
    fn an_unpaired_quote_in_the_header_is_dropped() {
        check("a,\"b\n1,\"x\"\n2,\"y\"\n", None, &["5 a=1|b=x", "11 a=2|b=y"]);
    }

    #[test]
    fn nothing_is_no_row() {
        check("", None, &[]);
        check("a,b\n", None, &[]);
        check("\n\n", None, &[]);
        let mut diagnostics = Vec::new();
        assert!(decode(b"a,b\n", None, &Options::default(), &mut diagnostics).is_none());
        assert_eq!(diagnostics[0].code, Code::NotARecord);
    }

    #[test]
    fn a_row_is_named_by_its_id_column() {
        let id = |bytes: &[u8], field: Option<&str>| {
            let options = Options { id_field: field.map(str::to_owned), ..Options::default() };
            decode(bytes, None, &options, &mut Vec::new()).unwrap().id
        };
        assert_eq!(id(b"a,ID\n1,2", None).as_deref(), Some("2"));
        assert_eq!(id(b"identifier,id\n1,2", None).as_deref(), Some("2"));
        assert_eq!(id(b"rec_id,id\n1,2", Some("rec_id")).as_deref(), Some("1"));
        assert_eq!(id(b"a,b\n1,2", None), None);
        assert_eq!(id(b"a,id\n1,", None), None);
    }

    #[test]
    fn an_unclosed_quote_in_a_large_file_is_noticed_at_the_limit() {
        let mut input = b"a,b,c\n0,\"open\n".to_vec();
        while input.len() <= RECORD_LIMIT + (1 << 20) {
            input.extend_from_slice(b"1,2,3333333333333333333333333333333333333333\n");
        }
        let rows = (input.len() - 14) / 45;
        let mut found = split(Box::new(&input[..]), None).map(Result::unwrap);
        let Some(Piece::Reject(payload, reason)) = found.next() else {
            panic!("the row was not refused");
        };
        assert_eq!((payload.offset, reason.code), (6, Code::OversizeRecord));
        assert_eq!(found.count(), rows);
    }

    #[test]
    fn an_endless_row_is_skipped() {
        let endless = io::repeat(b'x').take(3 * RECORD_LIMIT as u64);
        let input = b"a,b\n1,2\n".chain(endless).chain(&b"\n3,4\n"[..]);
        let found: Vec<_> = split(Box::new(io::BufReader::new(input)), None).map(Result::unwrap).collect();
        let [Piece::Record(..), Piece::Reject(bad, reason), Piece::Record(last, _)] = &found[..] else {
            panic!("{} pieces", found.len());
        };
        assert_eq!((bad.bytes.len(), reason.code), (RECORD_LIMIT, Code::OversizeRecord));
        assert_eq!(last.bytes, b"a,b\n3,4");
        assert_eq!(last.offset, 8 + 3 * RECORD_LIMIT as u64 + 1);
    }

    fn encode(names: &[String], rows: &[Vec<String>], delimiter: u8) -> Vec<u8> {
        let mut writer = csv::WriterBuilder::new().delimiter(delimiter).from_writer(Vec::new());
        writer.write_record(names).unwrap();
        for row in rows {
            writer.write_record(row).unwrap();
        }
        writer.into_inner().unwrap()
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(
            rows in proptest::collection::vec(proptest::collection::vec("[a-zäé\"\n,;\t ]{0,6}", 3), 1..8),
            delimiter in proptest::sample::select(&DELIMITERS[..]),
        ) {
            let names = ["one", "two", "three"].map(str::to_owned);
            let input = encode(&names, &rows, delimiter);
            let found: Vec<Record> = pieces(&input, None)
                .into_iter()
                .map(|piece| match piece {
                    Piece::Record(payload, _) => {
                        decode(&payload.bytes, None, &Options::default(), &mut Vec::new()).unwrap()
                    }
                    Piece::Reject(..) => panic!("refused"),
                })
                .collect();
            let expected: Vec<Record> = rows
                .iter()
                .filter_map(|row| {
                    let mut builder = RecordBuilder::new(Model::Row);
                    for (name, cell) in names.iter().zip(row) {
                        if !cell.trim().is_empty() {
                            builder.field(name, [' ', ' '], cell.trim(), 0);
                        }
                    }
                    // A row of blanks is skipped unless quotes make it look like something.
                    (!builder.is_empty()).then(|| builder.finish())
                })
                .collect();
            let found: Vec<Record> = found.into_iter().filter(|record| record.fields().len() > 0).collect();
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn cells_are_those_of_the_csv_crate(row in "[ab\",;]{1,20}", quoted: bool) {
            let mut reader = csv::ReaderBuilder::new()
                .quoting(quoted)
                .has_headers(false)
                .from_reader(row.as_bytes());
            let expected = reader.records().next().unwrap().unwrap();
            prop_assert_eq!(cells(&row, b',', quoted), expected.iter().collect::<Vec<_>>());
        }

        #[test]
        fn any_bytes_are_cut_and_read(input in proptest::collection::vec(
            proptest::sample::select(&b"ab\",;\t|\r\n\xE9\xC3\x00 "[..]), 0..80)) {
            for (number, piece) in (1..).zip(pieces(&input, None)) {
                match piece {
                    Piece::Reject(payload, _) => prop_assert_eq!(payload.number, number),
                    Piece::Record(payload, _) => {
                        prop_assert_eq!(payload.number, number);
                        decode(&payload.bytes, None, &Options::default(), &mut Vec::new());
                    }
                }
            }
        }
    }
}
