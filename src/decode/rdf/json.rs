//! The tokens of JSON as they pass by, in bounded memory.
//!
//! Nothing is judged but nesting and the length of a value: what is no JSON the parser will say.

use super::guard::{DEPTH_LIMIT, TOKEN_LIMIT, too_deep, too_long};
use std::borrow::Cow;
use std::io;

/// What a [`Scanner`] meets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// `{` or `[`.
    Open {
        object: bool,
    },
    /// `}` or `]`.
    Close,
    Comma,
    Colon,
    /// A string without its escapes; `None` if it is longer than [`NAME_LIMIT`].
    Text(Option<&'a str>),
    /// A number, `true`, `false` or `null`.
    Word,
}

/// Strings longer than this are met, and not handed over.
pub(super) const NAME_LIMIT: usize = 2048;
/// An escape takes six bytes for one at most.
const RAW_LIMIT: usize = 6 * NAME_LIMIT;

/// Who is told what a [`Scanner`] meets.
pub(super) trait Listener {
    /// Takes a token, of which `read` bytes of the document have come so far. An error refuses the
    /// document.
    fn token(&mut self, token: Token<'_>, read: u64) -> io::Result<()>;
}

/// Where in a document the scanner is.
#[derive(Debug, Default)]
pub(super) struct Scanner {
    state: State,
    depth: usize,
    /// Bytes of the token at hand.
    length: usize,
    /// The string at hand, with its escapes and without its quotes.
    text: Vec<u8>,
    read: u64,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Between,
    Word,
    Text,
    Escape,
}

impl Scanner {
    /// Takes the next bytes of the document.
    pub fn scan(&mut self, bytes: &[u8], listener: &mut impl Listener) -> io::Result<()> {
        for byte in bytes {
            self.read += 1;
            self.length += 1;
            if self.length > TOKEN_LIMIT {
                return Err(too_long());
            }
            match self.state {
                State::Between | State::Word => self.between(*byte, listener)?,
                State::Escape => {
                    self.keep(*byte);
                    self.state = State::Text;
                }
                State::Text if *byte == b'"' => {
                    self.turn(State::Between);
                    let text = std::mem::take(&mut self.text);
                    listener.token(Token::Text(name(&text).as_deref()), self.read)?;
                    self.text = text;
                }
                State::Text => {
                    self.keep(*byte);
                    if *byte == b'\\' {
                        self.state = State::Escape;
                    }
                }
            }
        }
        Ok(())
    }

    fn between(&mut self, byte: u8, listener: &mut impl Listener) -> io::Result<()> {
        let token = match byte {
            b'"' => {
                self.text.clear();
                self.turn(State::Text);
                return Ok(());
            }
            b'{' | b'[' => {
                self.depth += 1;
                if self.depth > DEPTH_LIMIT {
                    return Err(too_deep());
                }
                Token::Open { object: byte == b'{' }
            }
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                Token::Close
            }
            b',' => Token::Comma,
            b':' => Token::Colon,
            b' ' | b'\t' | b'\r' | b'\n' => {
                self.turn(State::Between);
                return Ok(());
            }
            _ if self.state == State::Word => return Ok(()),
            _ => {
                self.turn(State::Word);
                return listener.token(Token::Word, self.read);
            }
        };
        self.turn(State::Between);
        listener.token(token, self.read)
    }

    fn keep(&mut self, byte: u8) {
        if self.text.len() <= RAW_LIMIT {
            self.text.push(byte);
        }
    }

    fn turn(&mut self, state: State) {
        self.state = state;
        self.length = 0;
    }
}

/// What a string says, if it is short enough to name anything.
fn name(raw: &[u8]) -> Option<Cow<'_, str>> {
    if raw.len() > RAW_LIMIT {
        return None;
    }
    let text = if raw.contains(&b'\\') {
        let quoted = [b"\"", raw, b"\""].concat();
        // What cannot be read is no name; the parser will say so.
        Cow::Owned(serde_json::from_slice::<String>(&quoted).unwrap_or_default())
    } else {
        String::from_utf8_lossy(raw)
    };
    (text.len() <= NAME_LIMIT).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Heard(Vec<String>);

    impl Listener for Heard {
        fn token(&mut self, token: Token<'_>, _: u64) -> io::Result<()> {
            self.0.push(match token {
                Token::Open { object: true } => "{".to_owned(),
                Token::Open { object: false } => "[".to_owned(),
                Token::Close => ")".to_owned(),
                Token::Comma => ",".to_owned(),
                Token::Colon => ":".to_owned(),
                Token::Text(text) => format!("<{}>", text.unwrap_or("…")),
                Token::Word => "w".to_owned(),
            });
            Ok(())
        }
    }

    fn scan(text: &str) -> io::Result<String> {
        let (mut scanner, mut heard) = (Scanner::default(), Heard::default());
        // Byte by byte, so that every token crosses a boundary.
        text.as_bytes().chunks(1).try_for_each(|byte| scanner.scan(byte, &mut heard))?;
        Ok(heard.0.concat())
    }

    #[test]
    fn tokens_are_met_in_their_order() {
        let json = r#"{"a\"[": [-1.5e3, true ,null], "\u0040context":"é{'"}"#;
        assert_eq!(scan(json).unwrap(), "{<a\"[>:[w,w,w),<@context>:<é{'>)");
    }

    #[test]
    fn what_names_nothing_is_not_held() {
        let long = "x".repeat(NAME_LIMIT + 1);
        assert_eq!(scan(&format!("[\"{long}\",\"{}\"]", "\\u0041".repeat(NAME_LIMIT))).unwrap().len(), {
            "[<…>,<>)".len() + NAME_LIMIT
        });
    }

    #[test]
    fn nesting_beyond_the_limit_is_refused() {
        assert!(scan(&"[".repeat(DEPTH_LIMIT)).is_ok());
        assert!(scan(&"[".repeat(DEPTH_LIMIT + 1)).is_err());
        assert!(scan(&format!("'{}", "[".repeat(DEPTH_LIMIT + 1))).is_err());
        assert!(scan(&format!("\"{}\\\"{0}\"", "[".repeat(200))).is_ok());
    }
}
