//! Reads eight-bit code pages: one byte, one character, ASCII in the left half.

use super::tables::code_page;
use super::{Charset, Fault, FaultKind, Faults};

pub(super) fn decode(bytes: &[u8], charset: Charset, out: &mut String, faults: &mut Faults) {
    let page = code_page(charset.name());
    out.reserve(bytes.len());
    let mut rest = bytes;
    while !rest.is_empty() {
        let plain = rest.iter().position(|byte| !byte.is_ascii()).unwrap_or(rest.len());
        let (ascii, tail) = rest.split_at(plain);
        out.push_str(str::from_utf8(ascii).unwrap_or_default());
        rest = tail;
        while let Some((&byte, tail)) = rest.split_first()
            && !byte.is_ascii()
        {
            let character = page.and_then(|page| page.get(usize::from(byte & 0x7f)).copied().flatten());
            if character.is_none() {
                faults.push(Fault { offset: bytes.len() - rest.len(), kind: FaultKind::UnknownCharacter });
            }
            out.push(character.unwrap_or(char::REPLACEMENT_CHARACTER));
            rest = tail;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &[u8], charset: Charset, expected: &str) {
        let (mut out, mut faults) = (String::new(), Faults::default());
        decode(bytes, charset, &mut out, &mut faults);
        assert_eq!(out, expected);
        assert!(faults.is_empty());
    }

    #[test]
    fn the_same_word_is_read_from_five_code_pages() {
        check(b"\xca\xed\xe8\xe3\xe0", Charset::Cp1251, "Книга");
        check(b"\x8a\xad\xa8\xa3\xa0", Charset::Cp866, "Книга");
        check(b"\xeb\xce\xc9\xc7\xc1", Charset::Koi8R, "Книга");
        check(b"\xba\xdd\xd8\xd3\xd0", Charset::Iso8859_5, "Книга");
        check(b"Stra\xdfe", Charset::Latin1, "Straße");
    }

    #[test]
    fn non_sorting_marks_are_kept_in_iso_8859() {
        check(b"\x88Le \x89livre", Charset::Latin1, "\u{98}Le \u{9c}livre");
    }

    #[test]
    fn an_unassigned_code_is_a_fault_at_its_place() {
        let (mut out, mut faults) = (String::new(), Faults::default());
        decode(b"a\x98b", Charset::Cp1251, &mut out, &mut faults);
        assert_eq!(out, "a\u{fffd}b");
        assert_eq!(faults.iter().as_slice(), [Fault { offset: 1, kind: FaultKind::UnknownCharacter }]);
    }
}
