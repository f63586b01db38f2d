//! Reading lines without ever holding more than one record may be.
//!
//! [`Lines`] yields one line at a time, whatever ends it (`\n`, `\r\n` or `\r`), and skips
//! what exceeds [`RECORD_LIMIT`] without keeping it. [`records`] gathers lines to payloads for
//! the formats whose records are runs of lines; how a line relates to the record before it is
//! all such a format has to say.

use super::{Payload, Piece, Pieces, RECORD_LIMIT};
use crate::diagnostic::{Code, Diagnostic};
use memchr::memchr2;
use std::io::{self, BufRead};

/// What a line is to the record that is being gathered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Part of the record.
    Joins,
    /// The first line of the next record.
    Begins,
    /// Between two records, part of neither.
    Separates,
    /// Of no importance.
    Ignored,
}

/// Cuts an input whose records are runs of lines. `role` sees a line without its ending and
/// the record gathered so far, which is empty before its first line.
pub(super) fn records<'a>(
    reader: Box<dyn BufRead + Send + 'a>,
    role: fn(line: &[u8], record: &[u8]) -> Role,
) -> Pieces<'a> {
    Box::new(Records {
        lines: Lines::new(reader),
        role,
        record: Vec::new(),
        offset: 0,
        oversize: false,
        number: 0,
        ended: false,
    })
}

/// One line, as [`Lines::read`] found it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Line {
    /// Where it began in the input.
    pub offset: u64,
    /// How many bytes at the end of the buffer are its ending.
    pub ending: usize,
    /// It is longer than [`RECORD_LIMIT`]; the rest was skipped.
    pub cut: bool,
}

/// A reader of lines that knows where it is.
pub(super) struct Lines<R> {
    reader: R,
    offset: u64,
}

impl<R: BufRead> Lines<R> {
    pub fn new(reader: R) -> Self {
        Self { reader, offset: 0 }
    }

    /// The offset of the line read next.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Appends the next line with its ending; `None` at the end of the input. A byte order mark
    /// before the first line is dropped.
    pub fn read(&mut self, into: &mut Vec<u8>) -> io::Result<Option<Line>> {
        let start = into.len();
        let mut line = Line { offset: self.offset, ending: 0, cut: false };
        loop {
            let chunk = self.reader.fill_buf()?;
            if chunk.is_empty() {
                break;
            }
            let found = memchr2(b'\n', b'\r', chunk);
            let content = chunk.get(..found.unwrap_or(chunk.len())).unwrap_or(chunk);
            let room = RECORD_LIMIT.saturating_sub(into.len() - start);
            line.cut |= content.len() > room;
            into.extend_from_slice(content.get(..room).unwrap_or(content));
            let ending = found.and_then(|at| chunk.get(at)).copied();
            let used = content.len() + usize::from(ending.is_some());
            self.reader.consume(used);
            self.offset += used as u64;
            let Some(ending) = ending else { continue };
            into.push(ending);
            line.ending = 1;
            if ending == b'\r' && self.reader.fill_buf()?.first() == Some(&b'\n') {
                self.reader.consume(1);
                self.offset += 1;
                into.push(b'\n');
                line.ending = 2;
            }
            break;
        }
        if line.offset == 0 && into.get(start..).is_some_and(|line| line.starts_with(BOM)) {
            into.drain(start..start + BOM.len());
            line.offset = BOM.len() as u64;
        }
        Ok((self.offset > line.offset).then_some(line))
    }
}

/// The byte order mark of UTF-8.
pub(super) const BOM: &[u8] = b"\xEF\xBB\xBF";

/// The first line of some bytes: its content and where the next one begins.
pub(super) fn first_line(bytes: &[u8]) -> (&[u8], usize) {
    match memchr2(b'\n', b'\r', bytes) {
        None => (bytes, bytes.len()),
        Some(at) => {
            let ending = if bytes.get(at..).is_some_and(|rest| rest.starts_with(b"\r\n")) { 2 } else { 1 };
            (bytes.get(..at).unwrap_or(bytes), at + ending)
        }
    }
}

/// The lines of some text, whatever ends them.
pub(super) fn lines_of(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (line, next) = first_line(rest.as_bytes());
        let line = rest.get(..line.len())?;
        rest = rest.get(next..)?;
        Some(line)
    })
}

struct Records<'a> {
    lines: Lines<Box<dyn BufRead + Send + 'a>>,
    role: fn(&[u8], &[u8]) -> Role,
    record: Vec<u8>,
    offset: u64,
    oversize: bool,
    number: u64,
    ended: bool,
}

impl Records<'_> {
    fn advance(&mut self) -> io::Result<Option<Piece>> {
        loop {
            let before = self.record.len();
            let Some(line) = self.lines.read(&mut self.record)? else {
                self.ended = true;
                return Ok(self.take(before));
            };
            let content_end = self.record.len() - line.ending;
            let content = self.record.get(before..content_end).unwrap_or_default();
            let gathered = self.record.get(..before).unwrap_or_default();
            match (self.role)(content, gathered) {
                Role::Ignored => self.record.truncate(before),
                Role::Separates => {
                    self.record.truncate(before);
                    if let Some(piece) = self.take(before) {
                        return Ok(Some(piece));
                    }
                }
                Role::Begins if before > 0 => {
                    let piece = self.take(before);
                    self.begin(line);
                    return Ok(piece);
                }
                Role::Begins | Role::Joins if before == 0 => self.begin(line),
                Role::Begins | Role::Joins => {
                    if self.record.len() > RECORD_LIMIT || line.cut {
                        self.oversize = true;
                        self.record.truncate(before.min(RECORD_LIMIT));
                    }
                }
            }
        }
    }

    fn begin(&mut self, line: Line) {
        self.offset = line.offset;
        self.oversize = line.cut;
    }

    /// Hands over the first `end` gathered bytes and keeps the rest.
    fn take(&mut self, end: usize) -> Option<Piece> {
        let rest = self.record.split_off(end.min(self.record.len()));
        let mut bytes = std::mem::replace(&mut self.record, rest);
        if bytes.is_empty() {
            return None;
        }
        while matches!(bytes.last(), Some(b'\n' | b'\r')) {
            bytes.pop();
        }
        self.number += 1;
        let payload = Payload { bytes, number: self.number, offset: self.offset };
        Some(if std::mem::take(&mut self.oversize) {
            Piece::Reject(payload, oversize())
        } else {
            Piece::Record(payload, Vec::new())
        })
    }
}

impl Iterator for Records<'_> {
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

/// Why a record is refused for its size.
pub(super) fn oversize() -> Diagnostic {
    Diagnostic::new(Code::OversizeRecord, format!("the record is larger than {} MiB", RECORD_LIMIT >> 20))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufReader, Read};

    fn read_all(input: &[u8], capacity: usize) -> Vec<(u64, Vec<u8>)> {
        let mut lines = Lines::new(BufReader::with_capacity(capacity, input));
        let mut found = Vec::new();
        let mut buffer = Vec::new();
        while let Some(line) = lines.read(&mut buffer).unwrap() {
            buffer.truncate(buffer.len() - line.ending);
            found.push((line.offset, std::mem::take(&mut buffer)));
        }
        assert_eq!(lines.offset(), input.len() as u64);
        found
    }

    #[test]
    fn every_kind_of_line_ending_is_one_ending() {
        for capacity in 1..8 {
            assert_eq!(
                read_all(b"\xEF\xBB\xBFa\r\nb\rc\n\nd", capacity),
                [
                    (3, b"a".to_vec()),
                    (6, b"b".to_vec()),
                    (8, b"c".to_vec()),
                    (10, vec![]),
                    (11, b"d".to_vec())
                ]
            );
        }
    }

    #[test]
    fn an_endless_line_is_skipped_without_being_held() {
        let endless = std::io::repeat(b'x').take(3 * RECORD_LIMIT as u64);
        let mut lines = Lines::new(BufReader::new(endless.chain(&b"\nnext"[..])));
        let mut buffer = Vec::new();
        let line = lines.read(&mut buffer).unwrap().unwrap();
        assert!(line.cut);
        assert_eq!(buffer.len(), RECORD_LIMIT + 1);
        buffer.clear();
        assert!(!lines.read(&mut buffer).unwrap().unwrap().cut);
        assert_eq!(buffer, b"next");
    }

    #[test]
    fn a_record_of_too_many_lines_is_refused_and_the_next_is_found() {
        fn role(line: &[u8], _: &[u8]) -> Role {
            if line.is_empty() { Role::Separates } else { Role::Joins }
        }
        let long = vec![b'x'; 1 << 20];
        let mut input = Vec::new();
        for _ in 0..40 {
            input.extend_from_slice(&long);
            input.push(b'\n');
        }
        input.extend_from_slice(b"\n\ngood\n");
        let pieces: Vec<_> = records(Box::new(&input[..]), role).map(Result::unwrap).collect();
        let [Piece::Reject(bad, reason), Piece::Record(good, _)] = &pieces[..] else {
            panic!("{} pieces", pieces.len());
        };
        assert_eq!(reason.code, Code::OversizeRecord);
        assert!(bad.bytes.len() <= RECORD_LIMIT);
        assert_eq!((good.number, good.bytes.as_slice()), (2, &b"good"[..]));
        assert_eq!(good.offset, input.len() as u64 - 5);
    }
}
