//! The text that the bytes of a payload stand for.
//!
//! A payload should be UTF-8 without the control characters that XML forbids. Where it is not,
//! the record is kept: wrong bytes become U+FFFD, are counted and reported once. Line ends are
//! made `\n`, as XML 1.0 § 2.11 asks of every reader before it parses.

use super::character::{REPLACEMENT, is_forbidden};
use crate::diagnostic::{Code, Diagnostic, RecordLog};
use std::borrow::Cow;

/// The text of a payload.
pub fn repair<'a>(bytes: &'a [u8], diagnostics: &mut RecordLog) -> Cow<'a, str> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) if is_latin1(bytes) => {
            diagnostics.push(Diagnostic::new(
                Code::CharsetMismatch,
                "the record is not in UTF-8; it was read as Windows-1252",
            ));
            let (text, _) = encoding_rs::WINDOWS_1252.decode_without_bom_handling(bytes);
            text
        }
        Err(error) => {
            let lost = bytes.utf8_chunks().filter(|c| !c.invalid().is_empty());
            let message = format!("{} sequences of bytes are not UTF-8", lost.count());
            diagnostics.push(Diagnostic::new(Code::UndecodableBytes, message).at(error.valid_up_to()));
            String::from_utf8_lossy(bytes)
        }
    };
    if is_clean(text.as_bytes()) {
        return text;
    }
    clean(&text, diagnostics)
}

/// Whether nothing here is a control character, a carriage return that must be looked at, or
/// could begin a noncharacter. Whole chunks, so that the compiler compares many bytes at once.
fn is_clean(bytes: &[u8]) -> bool {
    let is_odd = |byte: u8| byte < b' ' && byte != b'\n' && byte != b'\t';
    bytes
        .chunks(128)
        .all(|chunk| !chunk.iter().fold(false, |odd, byte| odd | is_odd(*byte) | (*byte == 0xEF)))
}

fn clean(text: &str, diagnostics: &mut RecordLog) -> Cow<'static, str> {
    let mut out = String::with_capacity(text.len());
    let mut forbidden = 0;
    let mut first = 0;
    let mut characters = text.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        if character == '\r' {
            if characters.peek().is_none_or(|(_, next)| *next != '\n') {
                out.push('\n');
            }
        } else if is_forbidden(character) {
            if forbidden == 0 {
                first = at;
            }
            forbidden += 1;
            out.push(REPLACEMENT);
        } else {
            out.push(character);
        }
    }
    if forbidden > 0 {
        let message = format!("{forbidden} control characters that XML forbids");
        diagnostics.push(Diagnostic::new(Code::ForbiddenCharacter, message).at(first));
    }
    Cow::Owned(out)
}

/// Whether bytes that are not UTF-8 look like text in Latin-1: no character of several bytes is
/// among them, and none of the bytes that show damage rather than another character set: C1
/// controls, FE and FF (of byte order marks), C2 and C3 (that begin most of UTF-8).
fn is_latin1(bytes: &[u8]) -> bool {
    let mut seen = false;
    for chunk in bytes.utf8_chunks() {
        if !chunk.valid().is_ascii() {
            return false;
        }
        for byte in chunk.invalid() {
            seen = true;
            if matches!(byte, 0x80..=0x9F | 0xC2 | 0xC3 | 0xFE | 0xFF) {
                return false;
            }
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &[u8], expected: &str, code: Option<Code>) {
        let mut diagnostics = RecordLog::default();
        assert_eq!(repair(bytes, &mut diagnostics), expected);
        let codes: Vec<_> = diagnostics.into_iter().map(|d| d.code).collect();
        assert_eq!(codes, Vec::from_iter(code));
    }

    #[test]
    fn sound_text_is_borrowed() {
        let mut diagnostics = RecordLog::default();
        assert!(matches!(repair("<a>é\n</a>".as_bytes(), &mut diagnostics), Cow::Borrowed(_)));
    }

    #[test]
    fn latin1_is_read_as_such() {
        check(b"caf\xE9 \xC5ngstr\xF6m", "café Ångström", Some(Code::CharsetMismatch));
    }

    #[test]
    fn damaged_utf8_is_not_taken_for_latin1() {
        check(b"a\xFF\xC3(", "a\u{FFFD}\u{FFFD}(", Some(Code::UndecodableBytes));
        check(b"\xC3\xA9\xE9", "é\u{FFFD}", Some(Code::UndecodableBytes));
    }

    #[test]
    fn forbidden_characters_are_counted() {
        check(b"a\x01b\x00", "a\u{FFFD}b\u{FFFD}", Some(Code::ForbiddenCharacter));
    }

    #[test]
    fn line_ends_become_one() {
        check(b"a\r\nb\rc\n", "a\nb\nc\n", None);
    }
}
