//! Making text of bytes and values of text.
//!
//! [`text`] decides the character set of a payload by evidence, [`clean`] brings a value to
//! NFC and takes out what may not stand in a text. Both only count what they repaired; a
//! record's [`Faults`] are reported once at its end, however many there were.

use crate::diagnostic::{Code, Diagnostic, RecordLog};
use encoding_rs::WINDOWS_1252;
use std::borrow::Cow;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// What was repaired in one record.
#[derive(Debug, Default)]
pub(super) struct Faults {
    /// Control characters that became U+FFFD.
    pub controls: usize,
    /// Bytes or escapes that stand for no character and became U+FFFD.
    pub undecodable: usize,
    /// The bytes are not UTF-8 and were read as Windows-1252.
    pub foreign: bool,
}

impl Faults {
    pub fn report(self, diagnostics: &mut RecordLog) {
        if self.foreign {
            diagnostics.push(
                Diagnostic::new(
                    Code::CharsetMismatch,
                    "the record is not UTF-8 and was read as Windows-1252",
                )
                .hint("convert the file to UTF-8 if its accents came out wrong"),
            );
        }
        if self.undecodable > 0 {
            diagnostics.push(Diagnostic::new(
                Code::UndecodableBytes,
                format!("{} that no character stands for became U+FFFD", places(self.undecodable)),
            ));
        }
        if self.controls > 0 {
            diagnostics.push(Diagnostic::new(
                Code::ForbiddenCharacter,
                format!("{} with a control character became U+FFFD", places(self.controls)),
            ));
        }
    }
}

fn places(count: usize) -> String {
    format!("{count} place{}", if count == 1 { "" } else { "s" })
}

/// The text of a payload: UTF-8, or Windows-1252 (which holds Latin-1) where it cannot be.
///
/// A single damaged character must not turn all others into `Ã©`: where more sequences are
/// valid UTF-8 than not, the invalid ones become U+FFFD instead.
pub(super) fn text<'a>(bytes: &'a [u8], faults: &mut Faults) -> Cow<'a, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let (mut valid, mut invalid) = (0, 0);
    for chunk in bytes.utf8_chunks() {
        valid += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        invalid += usize::from(!chunk.invalid().is_empty());
    }
    if valid > invalid {
        faults.undecodable += invalid;
        String::from_utf8_lossy(bytes)
    } else {
        faults.foreign = true;
        WINDOWS_1252.decode_without_bom_handling(bytes).0
    }
}

/// A value as it may stand in a record: in NFC, line breaks as `\n`, no control characters.
pub(super) fn clean<'a>(value: &'a str, faults: &mut Faults) -> Cow<'a, str> {
    if value.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t')) {
        return Cow::Borrowed(value);
    }
    let mut value = Cow::Borrowed(value);
    if value.contains('\r') {
        value = Cow::Owned(value.replace("\r\n", "\n").replace('\r', "\n"));
    }
    let controls = value.chars().filter(|c| is_forbidden(*c)).count();
    if controls > 0 {
        faults.controls += controls;
        value = Cow::Owned(value.chars().map(|c| if is_forbidden(c) { '\u{FFFD}' } else { c }).collect());
    }
    if is_nfc_quick(value.chars()) == IsNormalized::Yes { value } else { Cow::Owned(value.nfc().collect()) }
}

/// Control characters, except those that mark words to be ignored in sorting: libraries write
/// them into titles on purpose (U+0098 and U+009C; U+0088 and U+0089 in older data).
pub(super) fn is_forbidden(c: char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\t' | '\u{88}' | '\u{89}' | '\u{98}' | '\u{9C}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(value: &str, cleaned: &str, controls: usize) {
        let mut faults = Faults::default();
        assert_eq!(clean(value, &mut faults), cleaned);
        assert_eq!(faults.controls, controls);
    }

    #[test]
    fn values_are_nfc_without_control_characters() {
        check("plain\ttext\n", "plain\ttext\n", 0);
        check("e\u{301}te\u{301}", "\u{E9}t\u{E9}", 0);
        check("bell\u{7} nul\0 del\u{7F} nel\u{85}", "bell\u{FFFD} nul\u{FFFD} del\u{FFFD} nel\u{FFFD}", 4);
        check("one\r\ntwo\rthree", "one\ntwo\nthree", 0);
        check("\u{98}Der \u{9C}Zauberberg", "\u{98}Der \u{9C}Zauberberg", 0);
    }

    #[test]
    fn the_character_set_is_decided_by_evidence() {
        let mut faults = Faults::default();
        assert_eq!(text("Müller".as_bytes(), &mut faults), "Müller");
        assert!(!faults.foreign);
        assert_eq!(text(b"M\xFCller \x96 caf\xE9", &mut faults), "Müller – café");
        assert!(faults.foreign);

        let mut faults = Faults::default();
        let damaged = [b"caf\xC3\xA9 \xC3\xBCber \xC3".as_slice(), b" rest"].concat();
        assert_eq!(text(&damaged, &mut faults), "café über \u{FFFD} rest");
        assert_eq!((faults.undecodable, faults.foreign), (1, false));
    }
}
