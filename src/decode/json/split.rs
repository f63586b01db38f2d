//! Cutting JSON text into values without parsing them.
//!
//! Lines, one array, or objects one after another: all are a sequence of values with blanks,
//! commas and perhaps brackets between them, so one scanner serves. It follows brackets,
//! quotes and commas ([`Shape`]) and holds no more than the value at hand.
//!
//! Where the shape breaks, the value is refused and the next one is looked for from its own
//! beginning, because an open quote or bracket is noticed only after it has run into its
//! neighbours. A value is recognised by where it stands: at the beginning of a line, indented
//! like its siblings; or, in an array, after a comma and with the first key of its siblings.

use super::super::lines::{BOM, oversize};
use super::super::{Payload, Piece, Pieces, RECORD_LIMIT};
use crate::diagnostic::{Code, Diagnostic};
use memchr::{memchr, memchr2, memchr3, memrchr};
use std::io::{self, BufRead};

/// A first key that ends further from its bracket than this tells nothing.
const KEY_LIMIT: usize = 256;

/// How many bytes may be read again for each byte of the input, so that input made of broken
/// beginnings is still read in linear time.
const AGAIN: u64 = 4;
const AGAIN_FREE: u64 = 1024 * 1024;

/// Brackets open at once that are still followed. The parser's own limit is far lower; this one
/// only bounds memory.
const OPEN_LIMIT: usize = 1024 * 1024;

/// How much is read at a time.
const CHUNK: usize = 64 * 1024;

/// Cuts out the objects of JSON text. Values that are no objects are refused.
pub fn split<'a>(reader: Box<dyn BufRead + Send + 'a>) -> Pieces<'a> {
    Box::new(Values::new(reader))
}

struct Values<'a> {
    reader: Box<dyn BufRead + Send + 'a>,
    held: Vec<u8>,
    /// Where in the input `held` begins.
    base: u64,
    /// The first byte held that is not yet part of a piece.
    at: usize,
    /// Inside a top-level array.
    array: bool,
    /// The blanks before `at`, if nothing else stands before it on its line.
    indentation: Option<Vec<u8>>,
    siblings: Siblings,
    read_again: u64,
    number: u64,
    ended: bool,
}

/// What the values of one sequence have in common.
#[derive(Default)]
struct Siblings {
    indentation: Option<Vec<u8>>,
    first_key: Option<Vec<u8>>,
}

/// How a value ended, at a position of `held`.
enum End {
    Whole(usize),
    Broken(usize),
    /// The input ended inside it.
    Truncated,
    TooLong(Shape),
}

impl<'a> Values<'a> {
    fn new(reader: Box<dyn BufRead + Send + 'a>) -> Self {
        Self {
            reader,
            held: Vec::new(),
            base: 0,
            at: 0,
            array: false,
            indentation: Some(Vec::new()),
            siblings: Siblings::default(),
            read_again: 0,
            number: 0,
            ended: false,
        }
    }
}

impl Values<'_> {
    fn advance(&mut self) -> io::Result<Option<Piece>> {
        loop {
            self.compact();
            let Some(&byte) = self.held.get(self.at) else {
                if self.fill()? {
                    continue;
                }
                self.ended = true;
                if self.array {
                    return Ok(Some(self.reject_unclosed_array()));
                }
                return Ok(None);
            };
            match byte {
                b'\n' => self.indentation = Some(Vec::new()),
                b' ' | b'\t' | b'\r' => {
                    if let Some(blanks) = &mut self.indentation
                        && blanks.len() < KEY_LIMIT
                    {
                        blanks.push(byte);
                    }
                }
                // RFC 7464 puts a record separator before each value.
                b',' | 0x1E => self.indentation = None,
                0xEF if self.offset() == 0 && self.held.starts_with(BOM) => {
                    self.at += BOM.len() - 1;
                }
                0xEF if self.offset() == 0 && BOM.starts_with(&self.held) && self.fill()? => {
                    continue;
                }
                b']' if self.array => {
                    self.array = false;
                    self.indentation = None;
                }
                b'[' if !self.array => {
                    self.array = true;
                    self.indentation = None;
                    self.siblings = Siblings::default();
                }
                _ => return self.value().map(Some),
            }
            self.at += 1;
        }
    }

    fn value(&mut self) -> io::Result<Piece> {
        let object = self.held.get(self.at) == Some(&b'{');
        match self.find_end()? {
            End::Whole(end) => {
                self.remember();
                let bytes = self.held.get(self.at..end).unwrap_or_default().to_vec();
                let payload = self.payload(bytes);
                self.pass(end);
                if object {
                    return Ok(Piece::Record(payload, Vec::new()));
                }
                Ok(Piece::Reject(
                    payload,
                    Diagnostic::new(Code::NotARecord, "expected an object, found another JSON value")
                        .hint("a record is an object, `{\"title\": \"Walden\"}`"),
                ))
            }
            End::Broken(at) => {
                let (code, message) = match object {
                    true => (Code::JsonSyntax, "brackets, quotes or commas do not fit"),
                    false => (Code::NotARecord, "expected an object, found text that is not JSON"),
                };
                let reason = Diagnostic::new(code, message).at(at - self.at);
                self.recover(self.at + 1, at, reason, None)
            }
            End::Truncated => {
                let reason = Diagnostic::new(Code::TruncatedRecord, "the input ends inside a value");
                self.recover(self.at + 1, self.held.len(), reason, None)
            }
            End::TooLong(shape) => self.skip(shape),
        }
    }

    /// Notes what the values to come will look like.
    fn remember(&mut self) {
        let value = self.held.get(self.at..).unwrap_or_default();
        if !value.starts_with(b"{") {
            return;
        }
        if self.siblings.first_key.is_none() {
            self.siblings.first_key = first_key(value).flatten().map(<[u8]>::to_vec);
        }
        if self.indentation.is_some() {
            self.siblings.indentation.clone_from(&self.indentation);
        }
    }

    fn find_end(&mut self) -> io::Result<End> {
        let mut shape = Shape::default();
        let mut at = self.at;
        loop {
            match shape.follow(self.held.get(at..).unwrap_or_default()) {
                Step::End(length) => return Ok(self.judge(at + length)),
                Step::Broken(length) => return Ok(End::Broken(at + length)),
                Step::More => at = self.held.len(),
            }
            if at - self.at > RECORD_LIMIT {
                return Ok(End::TooLong(shape));
            }
            if !self.fill()? {
                return Ok(match shape.at_end() {
                    true => self.judge(at),
                    false => End::Truncated,
                });
            }
        }
    }

    /// A bare word must be one of JSON's, or text would pass for a row of values. In an array
    /// it has its place, right or wrong.
    fn judge(&self, end: usize) -> End {
        let value = self.held.get(self.at..end).unwrap_or_default();
        let sound = match value.first() {
            Some(b'{' | b'[' | b'"') => true,
            Some(b'-' | b'0'..=b'9') => value.iter().all(|byte| b"+-.0123456789eE".contains(byte)),
            _ => matches!(value, b"true" | b"false" | b"null"),
        };
        if sound || self.array { End::Whole(end) } else { End::Broken(end) }
    }

    /// Refuses what begins here and goes on at the next value that can be recognised, not
    /// before `from`. `broken` is where the trouble was noticed, `kept` what is refused if that
    /// is no longer held.
    fn recover(
        &mut self,
        mut from: usize,
        mut broken: usize,
        reason: Diagnostic,
        mut kept: Option<Payload>,
    ) -> io::Result<Piece> {
        if kept.is_none() {
            // The first value of a sequence may itself be the broken one.
            self.remember();
        }
        let next = loop {
            match self.find_next(from) {
                Next::At(next) => {
                    let again = broken.saturating_sub(next) as u64;
                    let allowed = AGAIN_FREE + AGAIN * (self.base + broken as u64);
                    if self.read_again + again <= allowed {
                        self.read_again += again;
                        break Some(next);
                    }
                    from = broken.max(next + 1);
                }
                Next::Unclear(at) => {
                    from = at;
                    if self.held.len() - self.at > RECORD_LIMIT {
                        kept.get_or_insert_with(|| self.payload_to(self.at + RECORD_LIMIT));
                        let done = from.saturating_sub(KEY_LIMIT).max(self.at);
                        from -= done;
                        broken = broken.saturating_sub(done);
                        self.drop_before(done);
                    }
                    if !self.fill()? {
                        break None;
                    }
                }
            }
        };
        let end = next.unwrap_or(self.held.len());
        let payload = kept.unwrap_or_else(|| self.payload_to(end));
        self.pass(end);
        // Where the array ends in broken text, nobody knows.
        self.array &= next.is_some();
        Ok(Piece::Reject(payload, reason))
    }

    /// Looks for the beginning of the next value.
    fn find_next(&self, from: usize) -> Next {
        let mut from = from;
        loop {
            let rest = self.held.get(from..).unwrap_or_default();
            let Some(found) = memchr(b'{', rest) else {
                return Next::Unclear(self.held.len().max(from));
            };
            let at = from + found;
            match self.begins_value(at) {
                Some(true) => return Next::At(at),
                Some(false) => from = at + 1,
                None => return Next::Unclear(at),
            }
        }
    }

    /// Whether a bracket is the first of a value of this sequence; `None` if more of the input
    /// is needed to tell.
    fn begins_value(&self, at: usize) -> Option<bool> {
        let before = self.held.get(self.at..at).unwrap_or_default();
        let blanks = before.iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r')).count();
        let (before, indentation) = before.split_at(before.len() - blanks);
        let own_line = before.last() == Some(&b'\n');
        if own_line && self.siblings.indentation.as_deref().unwrap_or_default() == indentation {
            return Some(true);
        }
        if !self.array || !(own_line || before.trim_ascii_end().last() == Some(&b',')) {
            return Some(false);
        }
        let Some(expected) = self.siblings.first_key.as_deref() else {
            return Some(false);
        };
        let key = first_key(self.held.get(at..).unwrap_or_default())?;
        Some(key == Some(expected))
    }

    /// Passes over a value that is too long to be held.
    fn skip(&mut self, mut shape: Shape) -> io::Result<Piece> {
        let payload = self.payload_to(self.at + RECORD_LIMIT);
        let reason = oversize();
        shape.strict = true;
        let reason = reason.hint("if it holds many records, import the array within it");
        loop {
            self.drop_before(self.held.len());
            if !self.fill()? {
                self.array = false;
                return Ok(Piece::Reject(payload, reason));
            }
            match shape.follow(&self.held) {
                Step::More => {}
                Step::End(length) => {
                    self.pass(length);
                    return Ok(Piece::Reject(payload, reason));
                }
                Step::Broken(at) => return self.recover(at, at, reason, Some(payload)),
            }
        }
    }

    fn reject_unclosed_array(&mut self) -> Piece {
        let payload = self.payload(Vec::new());
        Piece::Reject(payload, Diagnostic::new(Code::TruncatedRecord, "the input ends before its array does"))
    }

    fn payload(&mut self, bytes: Vec<u8>) -> Payload {
        self.number += 1;
        Payload { bytes, number: self.number, offset: self.offset() }
    }

    /// Where in the input `at` is.
    fn offset(&self) -> u64 {
        self.base + self.at as u64
    }

    /// What is refused: from here to a position, without the comma between elements.
    fn payload_to(&mut self, end: usize) -> Payload {
        let bytes = self.held.get(self.at..end).unwrap_or_default();
        let bytes = bytes.get(..RECORD_LIMIT).unwrap_or(bytes);
        let mut bytes = bytes.trim_ascii_end();
        if self.array {
            bytes = bytes.strip_suffix(b",").unwrap_or(bytes).trim_ascii_end();
        }
        let bytes = bytes.to_vec();
        self.payload(bytes)
    }

    /// Goes on at a position of `held`.
    fn pass(&mut self, to: usize) {
        let passed = self.held.get(self.at..to).unwrap_or_default();
        let line = memrchr(b'\n', passed).and_then(|at| passed.get(at + 1..));
        self.indentation = line
            .filter(|line| line.len() < KEY_LIMIT && line.iter().all(u8::is_ascii_whitespace))
            .map(<[u8]>::to_vec);
        self.at = to;
    }

    fn compact(&mut self) {
        if self.at == self.held.len() || self.at > (1 << 20) {
            let at = self.at;
            self.drop_before(at);
            self.held.shrink_to(1 << 20);
        }
    }

    fn drop_before(&mut self, position: usize) {
        let position = position.min(self.held.len());
        self.held.drain(..position);
        self.base += position as u64;
        self.at = self.at.saturating_sub(position);
    }

    fn fill(&mut self) -> io::Result<bool> {
        let chunk = self.reader.fill_buf()?;
        let chunk = chunk.get(..CHUNK).unwrap_or(chunk);
        let length = chunk.len();
        self.held.extend_from_slice(chunk);
        self.reader.consume(length);
        Ok(length > 0)
    }
}

impl Iterator for Values<'_> {
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

enum Next {
    At(usize),
    /// Not before this position; it takes more of the input to say more.
    Unclear(usize),
}

/// The first key of an object, with its quotes: `Some(None)` if it has none that is of use,
/// `None` if the bytes end before it does.
fn first_key(object: &[u8]) -> Option<Option<&[u8]>> {
    // Blanks before the key count, too: waiting for the end of them would hold all that comes.
    let rest = object.get(1..).unwrap_or_default();
    let near = rest.get(..KEY_LIMIT).unwrap_or(rest);
    let unclear = if near.len() == KEY_LIMIT { Some(None) } else { None };
    let key = near.trim_ascii_start();
    match key.first() {
        None => unclear,
        Some(b'"') => match key.get(1..).and_then(|key| memchr(b'"', key)) {
            Some(length) => Some(key.get(..length + 2)),
            None => unclear,
        },
        Some(_) => Some(None),
    }
}

/// Follows the shape of one value: brackets that match, commas and colons where they belong.
/// How words and numbers are spelt is left to the parser. JSON forbids line breaks in strings,
/// but they occur and can be read; a string that was not closed is noticed all the same, since
/// it ends where the next one should begin.
#[derive(Default)]
struct Shape {
    /// The open brackets; true for an object.
    open: Vec<bool>,
    due: Due,
    token: Token,
    /// A line break ends a string wrongly: in a value too long to go back over.
    strict: bool,
}

/// What must come next.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum Due {
    #[default]
    Value,
    /// After `[`.
    ValueOrEnd,
    /// After `{`, and after a comma in an object, where a parser may frown on it.
    KeyOrEnd,
    Colon,
    CommaOrEnd,
}

#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum Token {
    #[default]
    None,
    Word,
    String,
    /// In a string, after a backslash.
    Escape,
}

enum Step {
    More,
    /// The value ends before this position.
    End(usize),
    Broken(usize),
}

impl Shape {
    /// Takes the next bytes of the value.
    fn follow(&mut self, bytes: &[u8]) -> Step {
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            match self.token {
                Token::String => {
                    let rest = bytes.get(at..).unwrap_or_default();
                    let found = match self.strict {
                        true => memchr3(b'"', b'\\', b'\n', rest),
                        false => memchr2(b'"', b'\\', rest),
                    };
                    let Some(found) = found else {
                        return Step::More;
                    };
                    at += found;
                    match rest.get(found) {
                        Some(b'"') => self.token = Token::None,
                        Some(b'\\') => self.token = Token::Escape,
                        _ => return Step::Broken(at),
                    }
                    at += 1;
                    if self.token == Token::None && self.due == Due::KeyOrEnd {
                        self.due = Due::Colon;
                    } else if self.token == Token::None && self.value_ends() {
                        return Step::End(at);
                    }
                    continue;
                }
                Token::Escape => self.token = Token::String,
                Token::Word if is_word(byte) => {}
                Token::Word => {
                    self.token = Token::None;
                    if self.value_ends() {
                        return Step::End(at);
                    }
                    continue;
                }
                Token::None => match self.structural(byte) {
                    Some(false) => {}
                    Some(true) => return Step::End(at + 1),
                    None => return Step::Broken(at),
                },
            }
            at += 1;
        }
        Step::More
    }

    /// A byte outside strings and words: whether the value ends with it, `None` if it does not
    /// belong here.
    fn structural(&mut self, byte: u8) -> Option<bool> {
        let value_is_due = matches!(self.due, Due::Value | Due::ValueOrEnd);
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' => {}
            b'"' if value_is_due || self.due == Due::KeyOrEnd => self.token = Token::String,
            b'{' | b'[' if value_is_due && self.open.len() < OPEN_LIMIT => {
                self.open.push(byte == b'{');
                self.due = if byte == b'{' { Due::KeyOrEnd } else { Due::ValueOrEnd };
            }
            b'}' if matches!(self.due, Due::KeyOrEnd | Due::CommaOrEnd) && self.open.pop() == Some(true) => {
                return Some(self.value_ends());
            }
            b']' if matches!(self.due, Due::ValueOrEnd | Due::CommaOrEnd)
                && self.open.pop() == Some(false) =>
            {
                return Some(self.value_ends());
            }
            b',' if self.due == Due::CommaOrEnd => {
                self.due = match self.open.last() {
                    Some(true) => Due::KeyOrEnd,
                    _ => Due::ValueOrEnd,
                };
            }
            b':' if self.due == Due::Colon => self.due = Due::Value,
            _ if value_is_due && is_word(byte) => self.token = Token::Word,
            _ => return None,
        }
        Some(false)
    }

    /// A value within the value ended; true if it was the value itself.
    fn value_ends(&mut self) -> bool {
        self.due = Due::CommaOrEnd;
        self.open.is_empty()
    }

    /// Whether the value is whole if nothing follows.
    fn at_end(&self) -> bool {
        self.open.is_empty() && self.token == Token::Word
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+-._".contains(&byte)
}

#[cfg(test)]
mod tests;
