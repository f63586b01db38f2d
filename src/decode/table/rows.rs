//! Cutting a table into rows, with quotes that may be none.

use super::quotes::{Quotes, count_cells};
use super::{HEADER_LIMIT, cells, delimiter_of, header_of, quotes_pair};
use crate::decode::clean::{Faults, text};
use crate::decode::lines::{BOM, Lines, first_line, oversize};
use crate::decode::{Payload, Piece, RECORD_LIMIT};
use crate::diagnostic::{Code, Diagnostic};
use std::io::{self, BufRead};

struct Header {
    /// Its bytes and a line break, as every payload begins.
    bytes: Vec<u8>,
    delimiter: u8,
    columns: usize,
}

/// How many bytes may be read again for each byte of the input, so that a table in which no
/// quotation ends is still read in linear time.
const AGAIN: u64 = 4;
const AGAIN_FREE: u64 = RECORD_LIMIT as u64;

/// Bytes of headers that the rows of any table may be given, and more for each of its own: a long
/// header over rows of a letter would make it a thousand times as long.
const HEADERS_FREE: u64 = 256 * 1024 * 1024;
const HEADERS_RATIO: u64 = 200;

/// The rows of a table. Lines are held from the beginning of the current row, so that all but
/// the first can be read again if its quotes turn out to be none.
pub(super) struct Rows<'a> {
    lines: Lines<Box<dyn BufRead + Send + 'a>>,
    held: Vec<u8>,
    /// Where in `held` the current row begins, and where that is in the input.
    start: usize,
    offset: u64,
    /// The last line held is longer than a record may be.
    cut: bool,
    expected: Option<u8>,
    header: Option<Header>,
    /// Bytes of headers that were written before rows.
    headers: u64,
    /// Bytes of lines that were taken for the rest of a quotation and were none.
    read_again: u64,
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

impl<'a> Rows<'a> {
    pub fn new(reader: Box<dyn BufRead + Send + 'a>, delimiter: Option<u8>) -> Self {
        Self {
            lines: Lines::new(reader),
            held: Vec::new(),
            start: 0,
            offset: 0,
            cut: false,
            expected: delimiter,
            header: None,
            headers: 0,
            read_again: 0,
            number: 0,
            ended: false,
        }
    }
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
                self.headers += header.bytes.len() as u64;
                if self.headers > HEADERS_FREE + HEADERS_RATIO * self.offset {
                    self.ended = true;
                    let message = "the header is too long for so many rows that are so short";
                    let reason = Diagnostic::new(Code::OversizeRecord, message)
                        .hint("the rest of the table was not read; shorten the names of its columns");
                    let payload = self.payload(Vec::new());
                    return Ok(Some(Piece::Reject(payload, reason)));
                }
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
            if line.iter().all(u8::is_ascii_whitespace) || names_delimiter(line) {
                self.consume(next);
                self.compact();
                continue;
            }
            break;
        }
        // Lines are added until the quotes pair, as `header_of` does.
        let mut paired = quotes_pair(self.current());
        while !paired && self.held.len() < HEADER_LIMIT && !self.cut {
            let before = self.held.len();
            if !self.fill()? {
                break;
            }
            paired ^= !quotes_pair(self.held.get(before..).unwrap_or_default());
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
        let row = self.follow(&mut quotes, &mut at)?;
        if let Row::Unclosed(_) = row {
            let first = first_line(self.current()).1;
            self.read_again += at.saturating_sub(first) as u64;
        }
        Ok(row)
    }

    /// Follows the quotes from line to line; `at` is how far.
    fn follow(&mut self, quotes: &mut Quotes, at: &mut usize) -> io::Result<Row> {
        let allowed = AGAIN_FREE + AGAIN * self.offset;
        let most = usize::try_from(allowed.saturating_sub(self.read_again)).unwrap_or(usize::MAX);
        loop {
            let (line, next) = first_line(self.current().get(*at..).unwrap_or_default());
            let cut = self.cut && self.start + *at + next == self.held.len();
            if cut && *at == 0 {
                return Ok(Row::Oversize);
            }
            if cut || *at > RECORD_LIMIT {
                return Ok(Row::Unclosed(Code::OversizeRecord));
            }
            let complete = quotes.line(line);
            let end = *at + line.len();
            let first = *at == 0;
            *at += next;
            if complete && !first && (quotes.broken || !self.is_plausible(quotes)) {
                return Ok(Row::Unclosed(Code::TruncatedRecord));
            }
            if complete {
                return Ok(Row::Complete(end, *at));
            }
            if *at > most || (self.start + *at == self.held.len() && !self.fill()?) {
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

/// Excel's `sep=;` before the header, which shows its delimiter anyway.
fn names_delimiter(line: &[u8]) -> bool {
    let line = line.strip_prefix(BOM).unwrap_or(line).trim_ascii_end();
    line.len() == 5 && line.get(..4).is_some_and(|start| start.eq_ignore_ascii_case(b"sep="))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each line opens a quotation that every line after it seems to continue.
    #[test]
    fn a_table_in_which_no_quotation_ends_is_read_a_few_times_at_most() {
        let count = 400_000;
        let table = format!("a,b,c\n{}", "\",x\",\"\n".repeat(count));
        let mut rows = Rows::new(Box::new(table.as_bytes()), None);
        assert_eq!(rows.by_ref().filter(Result::is_ok).count(), count);
        assert!(rows.read_again <= AGAIN_FREE + AGAIN * table.len() as u64 + RECORD_LIMIT as u64);
    }

    #[test]
    fn a_long_header_is_not_copied_without_end() {
        let table = format!("{}\n{}", "name,".repeat(12_000), "1\n".repeat(20_000));
        let mut copied = 0;
        let mut refused = 0;
        for piece in Rows::new(Box::new(table.as_bytes()), None).map(Result::unwrap) {
            match piece {
                Piece::Record(payload, _) => copied += payload.bytes.len(),
                Piece::Reject(_, reason) => refused += usize::from(reason.code == Code::OversizeRecord),
            }
        }
        assert_eq!(refused, 1);
        assert!(copied as u64 <= HEADERS_FREE + HEADERS_RATIO * table.len() as u64);
    }
}
