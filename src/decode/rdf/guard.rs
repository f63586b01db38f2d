//! Readers that stand before the parsers of others and refuse what these cannot bear.
//!
//! The parser of JSON-LD recurses, and processes contexts in time that is not linear; what would
//! make it do so is found by [`json`](super::json) and [`contexts`](super::contexts) in the bytes
//! that it is about to see. The parsers of Turtle and its relatives do not recurse, but hold what is
//! open. A guard changes no byte; it fails the read, with an error of the kind `Other`.

use super::contexts::Contexts;
use super::json::Scanner;
use crate::decode::RECORD_LIMIT;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Nesting deeper than this is refused. The parser of JSON-LD overflows a stack of 2 MiB near 800.
pub(super) const DEPTH_LIMIT: usize = 128;
/// A single token longer than this is refused, or the parser's buffer would grow with it.
pub(super) const TOKEN_LIMIT: usize = RECORD_LIMIT;

/// What a document is found to be while it is read: more than its parser can bear.
pub(super) fn too_much(message: String) -> io::Error {
    io::Error::other(message)
}

pub(super) fn too_deep() -> io::Error {
    too_much(format!("it is nested deeper than {DEPTH_LIMIT}"))
}

pub(super) fn too_long() -> io::Error {
    too_much(format!("a value is longer than {TOKEN_LIMIT} bytes"))
}

/// A guarded document, and how many bytes of it were read.
pub(super) struct Guard<R> {
    inner: R,
    syntax: Syntax,
    read: Arc<AtomicU64>,
}

enum Syntax {
    Turtle(Lexer),
    JsonLd(Box<(Scanner, Contexts)>),
    /// It was checked before.
    Checked,
}

impl<R: Read> Guard<R> {
    /// Stands before the parsers of Turtle, TriG, N3, N-Triples and N-Quads.
    pub fn turtle(inner: R) -> Self {
        Self::new(inner, Syntax::Turtle(Lexer::default()))
    }

    pub fn json_ld(inner: R) -> Self {
        Self::new(inner, Syntax::JsonLd(Box::default()))
    }

    /// Counts bytes, and nothing more.
    pub fn counting(inner: R) -> Self {
        Self::new(inner, Syntax::Checked)
    }

    fn new(inner: R, syntax: Syntax) -> Self {
        Self { inner, syntax, read: Arc::default() }
    }

    /// The counter of the bytes that were read.
    pub fn counter(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.read)
    }
}

impl<R: Read> Read for Guard<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.read.fetch_add(read as u64, Ordering::Relaxed);
        let bytes = buffer.get(..read).unwrap_or_default();
        match &mut self.syntax {
            Syntax::Turtle(lexer) => bytes.iter().try_for_each(|byte| lexer.step(*byte))?,
            Syntax::JsonLd(guard) => {
                let (scanner, contexts) = guard.as_mut();
                scanner.scan(bytes, contexts)?;
            }
            Syntax::Checked => {}
        }
        Ok(read)
    }
}

/// What the last byte was part of.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum State {
    #[default]
    Between,
    Iri,
    Comment,
    /// Inside a string; the quote that ends it, and whether three of them do.
    Text {
        quote: u8,
        long: bool,
    },
    Escape {
        quote: u8,
        long: bool,
    },
}

/// Follows just enough of the lexical grammar of Turtle to know a bracket from a bracket in a
/// string, an IRI or a comment.
#[derive(Default)]
struct Lexer {
    state: State,
    depth: usize,
    /// Quotes seen in a row: an opening `"""` or a closing one.
    quotes: usize,
    token: usize,
}

impl Lexer {
    fn step(&mut self, byte: u8) -> io::Result<()> {
        self.token += 1;
        if self.token > TOKEN_LIMIT {
            return Err(too_long());
        }
        match self.state {
            State::Between => self.between(byte)?,
            State::Iri => match byte {
                b'>' => self.turn(State::Between),
                // `<` may be no IRI at all in broken data; a line break ends the doubt.
                b'\n' => self.turn(State::Between),
                _ => {}
            },
            State::Comment if matches!(byte, b'\n' | b'\r') => self.turn(State::Between),
            State::Comment => {}
            State::Escape { quote, long } => self.state = State::Text { quote, long },
            State::Text { quote, long } => self.text(byte, quote, long),
        }
        Ok(())
    }

    fn between(&mut self, byte: u8) -> io::Result<()> {
        // Two quotes in a row were an empty string; a third opens a long one.
        let quotes = std::mem::take(&mut self.quotes);
        match byte {
            b'"' | b'\'' => self.turn(State::Text { quote: byte, long: quotes == 2 }),
            b'<' => self.turn(State::Iri),
            b'#' => self.turn(State::Comment),
            b'[' | b'{' | b'(' => {
                self.depth += 1;
                self.token = 0;
                if self.depth > DEPTH_LIMIT {
                    return Err(too_deep());
                }
            }
            b']' | b'}' | b')' => {
                self.depth = self.depth.saturating_sub(1);
                self.token = 0;
            }
            b' ' | b'\n' | b'\t' | b'\r' | b',' | b';' => self.token = 0,
            _ => {}
        }
        Ok(())
    }

    fn text(&mut self, byte: u8, quote: u8, long: bool) {
        if byte == b'\\' {
            self.quotes = 0;
            self.state = State::Escape { quote, long };
        } else if byte != quote {
            self.quotes = 0;
        } else if !long {
            // An empty string so far: perhaps the beginning of a long one.
            let empty = self.token == 1;
            self.turn(State::Between);
            self.quotes = if empty { 2 } else { 0 };
        } else {
            self.quotes += 1;
            if self.quotes == 3 {
                self.turn(State::Between);
            }
        }
    }

    fn turn(&mut self, state: State) {
        self.state = state;
        self.quotes = 0;
        self.token = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn passes(text: &str) -> bool {
        io::copy(&mut Guard::turtle(Cursor::new(text)), &mut io::sink()).is_ok()
    }

    #[test]
    fn nesting_beyond_the_limit_is_refused() {
        assert!(passes(&"[".repeat(DEPTH_LIMIT)));
        assert!(!passes(&"[".repeat(DEPTH_LIMIT + 1)));
        assert!(!passes(&format!("<s> <p> {}", "[ <p> ".repeat(200))));
    }

    #[test]
    fn brackets_in_strings_iris_and_comments_do_not_count() {
        let many = "[".repeat(200);
        assert!(passes(&format!("<s> <p> \"{many}\" . # {many}\n<s> <p{many}> 'x{many}' .")));
        assert!(passes(&format!("<s> <p> \"\"\"{many} \" \"\" {many}\"\"\" .")));
        assert!(!passes(&format!("<s> <p> \"\" , {many}")));
        assert!(!passes(&format!("# comment\r{many}")));
    }
}
