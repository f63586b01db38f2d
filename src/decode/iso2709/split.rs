//! Cutting a file into records, and finding the next one after damage.

use super::{FIELD_TERMINATOR, LEADER, RECORD_TERMINATOR, leader_length, number};
use crate::decode::{Payload, Piece, Pieces, RECORD_LIMIT};
use crate::diagnostic::{Code, Diagnostic};
use std::io::{self, BufRead};
use std::ops::Range;

/// Cuts a file at its record terminators, checked against the lengths the leaders give.
pub(in crate::decode) fn split<'a>(reader: Box<dyn BufRead + Send + 'a>) -> Pieces<'a> {
    Box::new(Splitter {
        reader,
        buffer: Vec::new(),
        start: 0,
        scanned: 0,
        offset: 0,
        number: 0,
        ended: false,
    })
}

/// Bytes taken from the reader at a time.
const PORTION: usize = 256 * 1024;

struct Splitter<'a> {
    reader: Box<dyn BufRead + Send + 'a>,
    buffer: Vec<u8>,
    /// Where in the buffer the next record begins.
    start: usize,
    /// Up to where the buffer holds no terminator.
    scanned: usize,
    /// Where in the input `start` stands.
    offset: u64,
    number: u64,
    ended: bool,
}

impl Iterator for Splitter<'_> {
    type Item = io::Result<Piece>;

    fn next(&mut self) -> Option<Self::Item> {
        self.skip_padding();
        match self.terminator() {
            Ok(Some(end)) => Some(Ok(self.cut(end))),
            Ok(None) if self.ended => self.rest().map(Ok),
            Ok(None) => Some(self.oversize()),
            Err(error) => {
                self.ended = true;
                self.start = self.buffer.len();
                Some(Err(error))
            }
        }
    }
}

impl Splitter<'_> {
    /// Line breaks and padding between records are common and mean nothing.
    fn skip_padding(&mut self) {
        let padding = self.pending().iter().take_while(|byte| is_padding(**byte)).count();
        self.advance(padding);
    }

    fn pending(&self) -> &[u8] {
        self.buffer.get(self.start..).unwrap_or_default()
    }

    fn advance(&mut self, bytes: usize) {
        self.start += bytes;
        self.offset += bytes as u64;
        self.scanned = self.scanned.max(self.start);
    }

    /// The end of the next record, past its terminator; reads on until it is known.
    fn terminator(&mut self) -> io::Result<Option<usize>> {
        loop {
            let unseen = self.buffer.get(self.scanned..).unwrap_or_default();
            if let Some(found) = memchr::memchr(RECORD_TERMINATOR, unseen) {
                let end = self.scanned + found + 1;
                if let Some(end) = self.end_by_length(end)? {
                    return Ok(Some(end));
                }
                continue;
            }
            self.scanned = self.buffer.len();
            if self.ended || self.buffer.len() - self.start > RECORD_LIMIT {
                return Ok(None);
            }
            self.fill()?;
            // Padding at the head of what was read is not part of a record.
            self.skip_padding();
        }
    }

    /// A terminator inside a field is not the end of the record when the leader's length
    /// points at a later one and nothing that looks like a leader follows this one.
    /// `None` asks to look again after more was read.
    fn end_by_length(&mut self, end: usize) -> io::Result<Option<usize>> {
        let Some(length) = leader_length(self.pending()) else {
            return Ok(Some(end));
        };
        let by_length = self.start + length;
        if by_length <= end {
            return Ok(Some(end));
        }
        let looks_ahead = self.buffer.get(end..).unwrap_or_default();
        let next =
            looks_ahead.iter().position(|byte| !is_padding(*byte)).and_then(|skip| looks_ahead.get(skip..));
        if self.buffer.len() < by_length.max(end + LEADER) && !self.ended {
            self.fill()?;
            return Ok(None);
        }
        let terminated = self.buffer.get(by_length - 1) == Some(&RECORD_TERMINATOR);
        let followed_by_leader = next.is_none_or(looks_like_leader);
        Ok(Some(if terminated && !followed_by_leader { by_length } else { end }))
    }

    fn fill(&mut self) -> io::Result<()> {
        if self.start > 0 {
            self.buffer.drain(..self.start);
            self.scanned -= self.start;
            self.start = 0;
        }
        // A reader over memory offers all of it at once.
        let read = self.reader.fill_buf()?;
        let length = read.len().min(PORTION);
        self.ended = length == 0;
        self.buffer.extend_from_slice(read.get(..length).unwrap_or_default());
        self.reader.consume(length);
        Ok(())
    }

    /// Takes the bytes up to `end`. A record that follows one without a terminator, or
    /// rubbish, is found by a leader whose length points exactly at the end.
    fn cut(&mut self, end: usize) -> Piece {
        let chunk = self.buffer.get(self.start..end).unwrap_or_default();
        let length = leader_length(chunk);
        if length == Some(chunk.len()) {
            return self.take(end, Vec::new());
        }
        if let Some(hidden) = hidden_record(chunk) {
            let torn = looks_like_leader(chunk);
            let hidden = self.start + hidden;
            return if torn {
                let diagnostic = Diagnostic::new(
                    Code::BadRecordLength,
                    "the record has no terminator; it ends where the next leader begins",
                );
                self.take(hidden, vec![diagnostic])
            } else {
                self.reject(
                    hidden,
                    Diagnostic::new(Code::NotARecord, "bytes before a record that are not one"),
                )
            };
        }
        if chunk.len() <= LEADER + 1 {
            let diagnostic =
                Diagnostic::new(Code::NotARecord, format!("{} bytes are too few for a leader", chunk.len()));
            return self.reject(end, diagnostic);
        }
        let diagnostic = Diagnostic::new(
            Code::BadRecordLength,
            match length {
                Some(length) => {
                    format!("the leader says {length} bytes, the terminator stands after {}", chunk.len())
                }
                None => {
                    format!("the leader gives no length; the terminator stands after {} bytes", chunk.len())
                }
            },
        );
        self.take(end, vec![diagnostic])
    }

    /// What remains when the input ends without a terminator.
    fn rest(&mut self) -> Option<Piece> {
        let rest = self.pending();
        if rest.is_empty() {
            return None;
        }
        let end = self.buffer.len();
        // Everything but the last byte is there: the file lost its end, the record nothing.
        let complete = rest.last() == Some(&FIELD_TERMINATOR)
            && leader_length(rest).is_some_and(|length| length == rest.len() + 1 || length == rest.len());
        if complete {
            let diagnostic = Diagnostic::new(Code::BadRecordLength, "the last record has no terminator");
            return Some(self.take(end, vec![diagnostic]));
        }
        let diagnostic = if looks_like_leader(rest) {
            Diagnostic::new(
                Code::TruncatedRecord,
                match leader_length(rest) {
                    Some(length) => format!("the input ends after {} of {length} bytes", rest.len()),
                    None => format!("the input ends after {} bytes of the record", rest.len()),
                },
            )
            .hint("fetch the file again; the records before this one were taken")
        } else {
            Diagnostic::new(
                Code::NotARecord,
                format!("{} bytes without a record terminator are not a MARC record", rest.len()),
            )
        };
        Some(self.reject(end, diagnostic))
    }

    /// No terminator within the limit: give the bytes up and look for the next terminator.
    fn oversize(&mut self) -> io::Result<Piece> {
        let diagnostic = Diagnostic::new(
            Code::OversizeRecord,
            format!("no record terminator within {} MB", RECORD_LIMIT / 1024 / 1024),
        );
        let piece = self.reject(self.start + RECORD_LIMIT, diagnostic);
        loop {
            let unseen = self.buffer.get(self.start..).unwrap_or_default();
            if let Some(found) = memchr::memchr(RECORD_TERMINATOR, unseen) {
                self.advance(found + 1);
                return Ok(piece);
            }
            let all = unseen.len();
            self.advance(all);
            if self.ended {
                return Ok(piece);
            }
            self.fill()?;
        }
    }

    fn payload(&mut self, end: usize) -> Payload {
        self.number += 1;
        let payload = Payload {
            bytes: self.buffer.get(self.start..end).unwrap_or_default().to_vec(),
            number: self.number,
            offset: self.offset,
        };
        self.advance(end - self.start);
        payload
    }

    fn take(&mut self, end: usize, diagnostics: Vec<Diagnostic>) -> Piece {
        Piece::Record(self.payload(end), diagnostics)
    }

    fn reject(&mut self, end: usize, diagnostic: Diagnostic) -> Piece {
        Piece::Reject(self.payload(end), diagnostic)
    }
}

fn is_padding(byte: u8) -> bool {
    // 0x1A is the end-of-file mark of CP/M and DOS tools.
    matches!(byte, b'\r' | b'\n' | b' ' | 0 | 0x1A)
}

/// Length and base address are numbers and the counts stand where they always stand; one of
/// the three may be damaged.
fn looks_like_leader(bytes: &[u8]) -> bool {
    let digits = |range: Range<usize>| bytes.get(range).is_some_and(|b| number(b).is_some());
    bytes.len() >= LEADER
        && [digits(0..5), digits(12..17), bytes.get(10..12) == Some(b"22")]
            .iter()
            .filter(|sign| **sign)
            .count()
            >= 2
}

/// The place in a chunk where a record begins that ends exactly with the chunk.
fn hidden_record(chunk: &[u8]) -> Option<usize> {
    /// What five digits can say.
    const LONGEST: usize = 99_999;
    let first = chunk.len().saturating_sub(LONGEST).max(1);
    (first..chunk.len().saturating_sub(LEADER)).find(|place| {
        chunk.get(*place..).is_some_and(|rest| {
            leader_length(rest) == Some(rest.len())
                && rest.get(10..12) == Some(b"22")
                && rest.get(12..17).is_some_and(|base| number(base).is_some())
        })
    })
}
