//! One JSON value as a tree that keeps what the text says: the order of keys, keys that occur
//! twice, and numbers as written.
//!
//! `serde_json` judges whether the text is JSON and undoes escapes; what it would refuse
//! though it can be repaired ([`repair`]), and nesting that would exhaust the stack, is taken
//! care of before.

use super::super::clean::Faults;
use serde::de::IgnoredAny;
use std::borrow::Cow;

/// How deep values may be nested.
pub(super) const DEPTH_LIMIT: usize = 128;

/// Bytes of a key, as of the name of an XML element: whatever looks at a field looks at its name.
pub(super) const KEY_LIMIT: usize = crate::markup::limits::NAME;

#[derive(Debug)]
pub(super) enum Node<'a> {
    Null,
    /// `true`, `false` or a number, as written.
    Word(&'a str),
    Text(Cow<'a, str>),
    Array(Vec<Node<'a>>),
    Object(Vec<(Cow<'a, str>, Node<'a>)>),
}

impl<'a> Node<'a> {
    /// The text of a scalar that is not null.
    pub fn scalar(&self) -> Option<&str> {
        match self {
            Self::Word(word) => Some(word),
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The value of a key, if this is an object.
    pub fn get(&self, key: &str) -> Option<&Node<'a>> {
        match self {
            Self::Object(members) => member(members, key),
            _ => None,
        }
    }

    /// What it is called in a message.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Word("true" | "false") => "a boolean",
            Self::Word(_) => "a number",
            Self::Text(_) => "a string",
            Self::Array(_) => "an array",
            Self::Object(_) => "an object",
        }
    }
}

/// The value of the first member with this key.
pub(super) fn member<'m, 'a>(members: &'m [(Cow<'a, str>, Node<'a>)], key: &str) -> Option<&'m Node<'a>> {
    members.iter().find(|(name, _)| name == key).map(|(_, value)| value)
}

/// Parses text that is nested no deeper than [`DEPTH_LIMIT`].
pub(super) fn parse(text: &str) -> Result<Parsed<'_>, serde_json::Error> {
    serde_json::from_str::<IgnoredAny>(text)?;
    let mut reader = Reader { text, at: 0, longest_key: 0 };
    let node = reader.value()?;
    Ok(Parsed { node, longest_key: reader.longest_key })
}

/// A value, and what is to be judged of it before it is used.
pub(super) struct Parsed<'a> {
    pub node: Node<'a>,
    /// Bytes of its longest key.
    pub longest_key: usize,
}

/// Text that can be parsed.
pub(super) struct Repaired<'a> {
    pub text: Cow<'a, str>,
    /// How deep it is nested.
    pub depth: usize,
    /// Control characters that stood in strings without an escape.
    pub raw: usize,
}

/// Replaces half surrogate pairs by U+FFFD, which serde_json refuses, and escapes control
/// characters that stand in strings as they are, which JSON forbids.
pub(super) fn repair<'a>(text: &'a str, faults: &mut Faults) -> Repaired<'a> {
    let bytes = text.as_bytes();
    let (mut depth, mut deepest) = (0_usize, 0);
    let mut raw = 0;
    let mut repaired = String::new();
    let mut copied = 0;
    let mut in_string = false;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let mut length = 1;
        let mut replacement = None;
        match byte {
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' if !in_string => depth = depth.saturating_sub(1),
            b'\\' if in_string => match surrogate(bytes, at) {
                None => length = 2,
                Some(0xD800..0xDC00) if matches!(surrogate(bytes, at + 6), Some(0xDC00..)) => {
                    length = 12;
                }
                Some(_) => {
                    faults.undecodable += 1;
                    length = 6;
                    replacement = Some("\\ufffd".to_owned());
                }
            },
            0..0x20 if in_string => {
                raw += 1;
                replacement = Some(format!("\\u{byte:04x}"));
            }
            _ => {}
        }
        if let Some(replacement) = replacement {
            repaired.push_str(text.get(copied..at).unwrap_or_default());
            repaired.push_str(&replacement);
            copied = at + length;
        }
        at += length;
    }
    let text = if copied == 0 {
        Cow::Borrowed(text)
    } else {
        repaired.push_str(text.get(copied..).unwrap_or_default());
        Cow::Owned(repaired)
    };
    Repaired { text, depth: deepest, raw }
}

/// The surrogate that `\uD800` or the like at this place stands for.
fn surrogate(bytes: &[u8], at: usize) -> Option<u16> {
    let [b'\\', b'u', digits @ ..] = bytes.get(at..at + 6)? else {
        return None;
    };
    if !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    let unit = u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    (0xD800..0xE000).contains(&unit).then_some(unit)
}

/// Reads text that is known to be JSON, so it only has to find where things end.
struct Reader<'a> {
    text: &'a str,
    at: usize,
    longest_key: usize,
}

impl<'a> Reader<'a> {
    fn value(&mut self) -> Result<Node<'a>, serde_json::Error> {
        match self.peek() {
            Some(b'{') => {
                self.at += 1;
                let mut members = Vec::new();
                while self.goes_on(b'}') {
                    let key = self.string()?;
                    self.longest_key = self.longest_key.max(key.len());
                    // The colon.
                    self.peek();
                    self.at += 1;
                    members.push((key, self.value()?));
                }
                Ok(Node::Object(members))
            }
            Some(b'[') => {
                self.at += 1;
                let mut items = Vec::new();
                while self.goes_on(b']') {
                    items.push(self.value()?);
                }
                Ok(Node::Array(items))
            }
            Some(b'"') => self.string().map(Node::Text),
            _ => Ok(match self.word() {
                "null" => Node::Null,
                word => Node::Word(word),
            }),
        }
    }

    /// Passes a comma; false at the end of the container, which is passed too.
    fn goes_on(&mut self, end: u8) -> bool {
        if self.peek() == Some(b',') {
            self.at += 1;
        }
        match self.peek() {
            None => false,
            Some(byte) if byte == end => {
                self.at += 1;
                false
            }
            Some(_) => true,
        }
    }

    fn string(&mut self) -> Result<Cow<'a, str>, serde_json::Error> {
        self.peek();
        let start = self.at;
        let bytes = self.text.as_bytes();
        self.at += 1;
        while let Some(&byte) = bytes.get(self.at) {
            self.at += match byte {
                b'\\' => 2,
                _ => 1,
            };
            if byte == b'"' {
                break;
            }
        }
        let quoted = self.text.get(start..self.at).unwrap_or_default();
        match quoted.get(1..quoted.len().saturating_sub(1)) {
            Some(plain) if !plain.contains('\\') => Ok(Cow::Borrowed(plain)),
            _ => serde_json::from_str(quoted).map(Cow::Owned),
        }
    }

    fn word(&mut self) -> &'a str {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let end = rest
            .find(|c: char| matches!(c, ',' | '}' | ']') || c.is_ascii_whitespace())
            // Something must be read, or the reader would stand still.
            .unwrap_or(rest.len())
            .max(1);
        self.at += end;
        rest.get(..end).unwrap_or_default()
    }

    /// The next byte that is not blank.
    fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        bytes.get(self.at).copied()
    }
}
