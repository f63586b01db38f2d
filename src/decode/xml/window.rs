//! The part of a document that is in memory.
//!
//! Positions count from the start of the document. Bytes before the *hold* are given up when
//! more are read; without a hold everything before the place of a search is.

use crate::decode::RECORD_LIMIT;
use memchr::memmem;
use std::io::{self, BufRead, ErrorKind};

pub(super) struct Window<R> {
    reader: R,
    bytes: Vec<u8>,
    /// The position of the first byte of `bytes`.
    base: usize,
    /// The first position that must stay in memory.
    hold: Option<usize>,
    blank: bool,
}

/// The outcome of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    At(usize),
    /// The document ends before.
    Ended,
    /// What is held reached the limit of a record; the search may go on from here once the
    /// hold is gone.
    Full(usize),
}

enum More {
    Read,
    Ended,
    Full,
}

impl<R: BufRead> Window<R> {
    pub fn new(reader: R) -> Self {
        Self { reader, bytes: Vec::new(), base: 0, hold: None, blank: true }
    }

    pub fn reader(&mut self) -> &mut R {
        &mut self.reader
    }

    /// Whether nothing but blanks was read so far.
    pub fn is_blank(&self) -> bool {
        self.blank
    }

    /// Keeps everything from here on, up to the limit of a record.
    pub fn hold(&mut self, position: usize) {
        self.hold = Some(position);
    }

    pub fn release(&mut self) {
        self.hold = None;
    }

    /// The position after the last byte read.
    pub fn end(&self) -> usize {
        self.base + self.bytes.len()
    }

    /// Everything in memory from a position on.
    pub fn from(&self, position: usize) -> &[u8] {
        self.bytes.get(position.saturating_sub(self.base)..).unwrap_or_default()
    }

    /// What is in memory between two positions.
    pub fn slice(&self, start: usize, end: usize) -> &[u8] {
        let rest = self.from(start);
        rest.get(..end.saturating_sub(start)).unwrap_or(rest)
    }

    pub fn at(&self, position: usize) -> Option<u8> {
        self.from(position).first().copied()
    }

    /// Reads until this many bytes from the position on are there, or the end is.
    pub fn reach(&mut self, position: usize, length: usize) -> io::Result<()> {
        while self.end() < position + length {
            match self.more(position)? {
                More::Read => {}
                More::Ended | More::Full => break,
            }
        }
        Ok(())
    }

    pub fn find_byte(&mut self, byte: u8, mut from: usize) -> io::Result<Found> {
        loop {
            if let Some(found) = memchr::memchr(byte, self.from(from)) {
                return Ok(Found::At(from + found));
            }
            from = self.end().max(from);
            match self.more(from)? {
                More::Read => {}
                More::Ended => return Ok(Found::Ended),
                More::Full => return Ok(Found::Full(from)),
            }
        }
    }

    /// Finds the needle; the position is that after it.
    pub fn find_past(&mut self, needle: &[u8], mut from: usize) -> io::Result<Found> {
        let finder = memmem::Finder::new(needle);
        loop {
            if let Some(found) = finder.find(self.from(from)) {
                return Ok(Found::At(from + found + needle.len()));
            }
            // The needle may lie across the end.
            from = from.max(self.end().saturating_sub(needle.len() - 1));
            match self.more(from)? {
                More::Read => {}
                More::Ended => return Ok(Found::Ended),
                More::Full => return Ok(Found::Full(from)),
            }
        }
    }

    fn more(&mut self, place: usize) -> io::Result<More> {
        let first = self.hold.unwrap_or(place).min(place);
        let spent = first.saturating_sub(self.base).min(self.bytes.len());
        self.bytes.drain(..spent);
        self.base += spent;
        if self.bytes.len() > RECORD_LIMIT {
            return Ok(More::Full);
        }
        let chunk = loop {
            match self.reader.fill_buf() {
                Ok(chunk) => break chunk,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        };
        if chunk.is_empty() {
            return Ok(More::Ended);
        }
        let length = chunk.len();
        self.blank = self.blank && chunk.iter().all(u8::is_ascii_whitespace);
        self.bytes.extend_from_slice(chunk);
        self.reader.consume(length);
        Ok(More::Read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    #[test]
    fn a_needle_across_two_reads_is_found() {
        let input: &[u8] = b"abcdef-->x";
        let mut window = Window::new(BufReader::with_capacity(3, input));
        assert_eq!(window.find_past(b"-->", 0).unwrap(), Found::At(9));
        window.reach(9, 1).unwrap();
        assert_eq!(window.at(9), Some(b'x'));
    }

    #[test]
    fn what_is_not_held_is_given_up() {
        let input = vec![b'x'; 100_000];
        let mut window = Window::new(BufReader::with_capacity(1000, input.as_slice()));
        assert_eq!(window.find_byte(b'<', 0).unwrap(), Found::Ended);
        assert!(window.bytes.len() <= 1000);
    }

    #[test]
    fn what_is_held_is_bounded() {
        let input = vec![b'x'; RECORD_LIMIT + 10];
        let mut window = Window::new(input.as_slice());
        window.hold(0);
        assert!(matches!(window.find_byte(b'<', 0).unwrap(), Found::Full(_)));
    }
}
