//! Which characters XML can hold, and what stands in the place of the others.
//!
//! A literal may hold any character; a document with one that XML forbids (XML 1.0 § 2.2) is unreadable
//! as a whole, for everybody. No escape helps: a reference to such a character is forbidden, too. So
//! U+FFFD stands for each of them in all XML that is written.

use std::borrow::Cow;
use std::io::{self, Write};

/// What is written for a character that XML forbids.
pub const REPLACEMENT: char = '\u{FFFD}';

/// U+FFFE and U+FFFF are no characters in XML.
const NONCHARACTERS: [char; 2] = ['\u{FFFE}', '\u{FFFF}'];

/// Whether XML forbids a character.
pub fn is_forbidden(character: char) -> bool {
    (character < ' ' && !matches!(character, '\t' | '\n' | '\r')) || NONCHARACTERS.contains(&character)
}

/// A text without the characters that XML forbids.
pub fn replaced(text: &str) -> Cow<'_, str> {
    if text.contains(is_forbidden) {
        Cow::Owned(text.replace(is_forbidden, "\u{FFFD}"))
    } else {
        Cow::Borrowed(text)
    }
}

/// Passes XML on that somebody else writes, in UTF-8 and in whatever pieces, with the characters
/// replaced that XML forbids.
pub struct Replacing<W> {
    out: W,
    /// How many bytes of U+FFFE or U+FFFF have just passed.
    passed: u8,
}

/// What both begin with, as U+FFFD does, too.
const BEGINNING: [u8; 2] = [0xEF, 0xBF];
/// What U+FFFD ends with, and they.
const END: u8 = 0xBD;
const ENDS: [u8; 2] = [0xBE, 0xBF];

impl<W: Write> Replacing<W> {
    pub fn new(out: W) -> Self {
        Self { out, passed: 0 }
    }

    fn clean(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut clean = Vec::with_capacity(bytes.len());
        for byte in bytes.iter().copied() {
            let passed = std::mem::take(&mut self.passed);
            match byte {
                byte if passed == 2 && ENDS.contains(&byte) => clean.push(END),
                byte if is_forbidden(char::from(byte)) => {
                    clean.extend_from_slice(&[BEGINNING[0], BEGINNING[1], END]);
                }
                byte => {
                    self.passed = match (passed, byte) {
                        (1, byte) if byte == BEGINNING[1] => 2,
                        (_, byte) if byte == BEGINNING[0] => 1,
                        _ => 0,
                    };
                    clean.push(byte);
                }
            }
        }
        clean
    }
}

impl<W: Write> Write for Replacing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let clean = self.clean(bytes);
        self.out.write_all(&clean)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn text_is_replaced_the_same_in_one_piece_and_in_many(
            text in "[ a\u{0}-\u{20}\u{e9}\u{fffb}-\u{ffff}]{0,12}",
            sizes in proptest::collection::vec(1_usize..4, 1..8),
        ) {
            let whole = replaced(&text);
            prop_assert!(!whole.contains(is_forbidden));
            prop_assert_eq!(whole.chars().count(), text.chars().count());
            let mut writer = Replacing::new(Vec::new());
            let (mut rest, mut sizes) = (text.as_bytes(), sizes.iter().cycle());
            while !rest.is_empty() {
                let (piece, after) = rest.split_at(rest.len().min(*sizes.next().unwrap()));
                writer.write_all(piece).unwrap();
                rest = after;
            }
            prop_assert_eq!(writer.out, whole.as_bytes());
        }
    }
}
