//! A reader that refuses deep nesting before a recursive parser can meet it.
//!
//! It follows just enough of the lexical grammar of Turtle, TriG and JSON to know a bracket
//! from a bracket in a string, an IRI or a comment, and fails the read once more than
//! [`DEPTH_LIMIT`] are open. It changes no byte.

use std::io::{self, BufRead, Read};

/// Nesting deeper than this is refused. JSON-LD parsers abort the process near 800.
pub(super) const DEPTH_LIMIT: usize = 128;
/// A single token longer than this is refused, or the parser's buffer would grow with it.
const TOKEN_LIMIT: usize = super::super::RECORD_LIMIT;

pub(super) struct DepthGuard<R> {
    inner: R,
    lexer: Lexer,
}

/// What the last byte was part of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
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

struct Lexer {
    json: bool,
    state: State,
    depth: usize,
    /// Quotes seen in a row: an opening `"""` or a closing one.
    quotes: usize,
    token: usize,
}

impl<R: BufRead> DepthGuard<R> {
    pub fn new(inner: R, json: bool) -> Self {
        Self { inner, lexer: Lexer { json, state: State::Between, depth: 0, quotes: 0, token: 0 } }
    }
}

impl<R: BufRead> Read for DepthGuard<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        for byte in buffer.iter().take(read) {
            self.lexer.step(*byte)?;
        }
        Ok(read)
    }
}

impl Lexer {
    fn step(&mut self, byte: u8) -> io::Result<()> {
        self.token += 1;
        if self.token > TOKEN_LIMIT {
            return Err(io::Error::other(format!("a value is longer than {TOKEN_LIMIT} bytes")));
        }
        match self.state {
            State::Between => self.between(byte)?,
            State::Iri => match byte {
                b'>' => self.turn(State::Between),
                // `<` may be no IRI at all in broken data; a line break ends the doubt.
                b'\n' => self.turn(State::Between),
                _ => {}
            },
            State::Comment if byte == b'\n' => self.turn(State::Between),
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
            b'"' if self.json => self.turn(State::Text { quote: byte, long: false }),
            b'"' | b'\'' if quotes == 2 => self.turn(State::Text { quote: byte, long: true }),
            b'"' | b'\'' => self.turn(State::Text { quote: byte, long: false }),
            b'<' if !self.json => self.turn(State::Iri),
            b'#' if !self.json => self.turn(State::Comment),
            b'[' | b'{' | b'(' => {
                self.depth += 1;
                self.token = 0;
                if self.depth > DEPTH_LIMIT {
                    return Err(io::Error::other(format!("it is nested deeper than {DEPTH_LIMIT}")));
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
            self.quotes = if empty && !self.json { 2 } else { 0 };
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

    fn passes(text: &str, json: bool) -> bool {
        io::copy(&mut DepthGuard::new(Cursor::new(text), json), &mut io::sink()).is_ok()
    }

    #[test]
    fn nesting_beyond_the_limit_is_refused() {
        assert!(passes(&"[".repeat(DEPTH_LIMIT), true));
        assert!(!passes(&"[".repeat(DEPTH_LIMIT + 1), true));
        assert!(!passes(&format!("<s> <p> {}", "[ <p> ".repeat(200)), false));
    }

    #[test]
    fn brackets_in_strings_iris_and_comments_do_not_count() {
        let many = "[".repeat(200);
        assert!(passes(&format!("{{\"a\":\"{many}\\\"{many}\"}}"), true));
        assert!(passes(&format!("<s> <p> \"{many}\" . # {many}\n<s> <p{many}> 'x{many}' ."), false));
        assert!(passes(&format!("<s> <p> \"\"\"{many} \" \"\" {many}\"\"\" ."), false));
        assert!(!passes(&format!("<s> <p> \"\" , {many}"), false));
    }
}
