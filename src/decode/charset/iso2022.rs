//! Reads MARC-8 and the ISO sets that work the same way.
//!
//! They follow ISO 2022: codes 21-7E belong to the graphic set G0, codes A1-FE to G1, and an escape
//! sequence designates another set for either (see [`escape`](super::escape)).
//!
//! Every subfield begins with the default sets. Records in circulation rely on it: they leave a
//! subfield in Cyrillic or Chinese and write the next subfield code in ASCII. A designation that
//! a writer meant to last is written again in each subfield, so nothing is lost.
//!
//! Marks precede their letter here and follow it in Unicode; they wait in `pending` meanwhile.
//! Several marks on one letter keep their order: the standards do not give one, and this is what
//! other readers of MARC-8 do.

use smallvec::SmallVec;

use super::escape::{ESCAPE, Escape, Half, Set};
use super::tables::{Glyph, GraphicSet, eacc, graphic_set};
use super::{Charset, Fault, FaultKind, Faults};

/// The punctuation of ISBD that stands alone, with spaces about it, in East Asian text.
const PUNCTUATION: &[u8] = b".,:;/=";

/// What a character set of this family starts every subfield with.
#[derive(Clone, Copy)]
pub(super) struct Code {
    /// Final byte of the set in G1; G0 is always ASCII.
    g1: u8,
    /// MARC 21 writes characters outside its repertoire as `&#xXXXX;`.
    references: bool,
}

impl Code {
    pub(super) fn of(charset: Charset) -> Option<Self> {
        let g1 = match charset {
            Charset::Marc8 => b'E',
            Charset::Iso5426 => b'P',
            Charset::Iso5427 => b'N',
            Charset::Iso5427Extended => b'Q',
            Charset::Iso5428 => b'S',
            Charset::Iso6937 => b'R',
            _ => return None,
        };
        Some(Self { g1, references: charset == Charset::Marc8 })
    }

    /// The set in G1.
    pub(super) fn right_half(self) -> Option<&'static GraphicSet> {
        graphic_set(self.g1)
    }
}

pub(super) fn decode(bytes: &[u8], code: Code, out: &mut String, faults: &mut Faults) {
    if bytes.is_ascii()
        && memchr::memchr2(ESCAPE, b'&', bytes).is_none()
        && let Ok(text) = str::from_utf8(bytes)
    {
        out.push_str(text);
        return;
    }
    out.reserve(bytes.len() + bytes.len() / 8);
    let right = code.right_half().map_or(Set::Ascii, Set::OneByte);
    let pending = Pending { marks: SmallVec::new(), offset: 0 };
    Reader { bytes, at: 0, code, right, g0: Set::Ascii, g1: right, changed: false, pending, out, faults }
        .read();
}

/// Marks read but not yet written, and where they began.
struct Pending {
    marks: SmallVec<[char; 4]>,
    offset: usize,
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    code: Code,
    /// What G1 returns to at the end of a subfield.
    right: Set,
    g0: Set,
    g1: Set,
    /// Whether an escape sequence was obeyed since the last delimiter.
    changed: bool,
    pending: Pending,
    out: &'a mut String,
    faults: &'a mut Faults,
}

impl Reader<'_> {
    fn read(&mut self) {
        loop {
            if !self.changed && self.pending.marks.is_empty() {
                self.copy_plain();
            }
            let Some(&byte) = self.bytes.get(self.at) else {
                break;
            };
            match byte {
                ESCAPE => self.escape(),
                0x1d..=0x1f => self.delimiter(byte),
                b'&' if self.code.references && matches!(self.g0, Set::Ascii) => self.ampersand(),
                0x21..=0x7f => self.graphic(self.g0, byte, Half::Left),
                // Controls and the space belong to no set.
                0x00..=0x20 => self.put(char::from(byte), 1),
                0x80..=0x9f => self.control(byte),
                0xa0..=0xff => self.graphic(self.g1, byte, Half::Right),
            }
        }
        self.drop_pending();
    }

    /// Copies the ASCII that lies ahead; called only while G0 is ASCII and no mark waits.
    fn copy_plain(&mut self) {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let plain = rest
            .iter()
            .position(|&byte| byte >= 0x80 || byte == ESCAPE || byte == b'&')
            .unwrap_or(rest.len());
        self.out.push_str(rest.get(..plain).and_then(|run| str::from_utf8(run).ok()).unwrap_or_default());
        self.at += plain;
    }

    /// Writes a character that marks can stand on.
    fn put(&mut self, character: char, length: usize) {
        self.out.push(character);
        if !self.pending.marks.is_empty() {
            self.out.extend(self.pending.marks.drain(..));
        }
        self.at += length;
    }

    /// Writes U+FFFD for `length` bytes that mean nothing.
    fn fail(&mut self, kind: FaultKind, length: usize) {
        self.faults.push(Fault { offset: self.at, kind });
        self.out.push(char::REPLACEMENT_CHARACTER);
        self.at += length;
    }

    /// Writes a sign of ASCII that stands where another set is designated and has no such code: the
    /// writer forgot to return to ASCII before the punctuation or the date.
    fn forgive(&mut self, byte: u8) {
        self.faults.push(Fault { offset: self.at, kind: FaultKind::MissingEscape });
        self.put(char::from(byte), 1);
    }

    fn delimiter(&mut self, byte: u8) {
        self.drop_pending();
        self.g0 = Set::Ascii;
        self.g1 = self.right;
        self.changed = false;
        self.out.push(char::from(byte));
        self.at += 1;
    }

    /// Gives up marks that no letter followed. Written as they are, they would change the character
    /// before them, which may be a subfield code.
    fn drop_pending(&mut self) {
        if !self.pending.marks.is_empty() {
            self.pending.marks.clear();
            self.faults.push(Fault { offset: self.pending.offset, kind: FaultKind::CombiningAtEnd });
            self.out.push(char::REPLACEMENT_CHARACTER);
        }
    }

    fn control(&mut self, byte: u8) {
        match byte {
            // ISO 6630: begin and end of words to be ignored in filing; MARC 21 part 3 maps them so.
            0x88 => self.put('\u{98}', 1),
            0x89 => self.put('\u{9c}', 1),
            // Joiner and non-joiner of MARC 21.
            0x8d => self.put('\u{200d}', 1),
            0x8e => self.put('\u{200c}', 1),
            _ => self.fail(FaultKind::UnknownCharacter, 1),
        }
    }

    fn graphic(&mut self, set: Set, byte: u8, half: Half) {
        match set {
            Set::Ascii if half == Half::Left => self.put(char::from(byte), 1),
            Set::Ascii => self.put(char::from(byte & 0x7f), 1),
            Set::EastAsian => self.east_asian(half),
            Set::OneByte(set) => {
                match set.get(usize::from(byte & 0x7f)).copied().unwrap_or(Glyph::Unassigned) {
                    Glyph::Letter(letter) => self.put(letter, 1),
                    Glyph::Mark(mark) => self.mark(mark),
                    Glyph::Silent => self.at += 1,
                    Glyph::Unassigned
                        if half == Half::Left && (byte.is_ascii_digit() || byte.is_ascii_punctuation()) =>
                    {
                        self.forgive(byte);
                    }
                    Glyph::Unassigned => self.fail(FaultKind::UnknownCharacter, 1),
                }
            }
        }
    }

    fn mark(&mut self, mark: char) {
        // Nearly every mark stands alone before a letter of ASCII; the others wait for their letter.
        match (self.g0, self.bytes.get(self.at + 1)) {
            (Set::Ascii, Some(letter)) if letter.is_ascii_alphabetic() && self.pending.marks.is_empty() => {
                self.put(char::from(*letter), 2);
                self.out.push(mark);
            }
            _ => {
                if self.pending.marks.is_empty() {
                    self.pending.offset = self.at;
                }
                self.pending.marks.push(mark);
                self.at += 1;
            }
        }
    }

    fn east_asian(&mut self, half: Half) {
        if let Some(character) = self.east_asian_at(self.at, half) {
            return self.put(character, 3);
        }
        // Count the bytes ahead that could belong to the code: a space, a control or the other half
        // of the code table cuts it short.
        let codes = if half == Half::Left { 0x21..=0x7e } else { 0xa1..=0xfe };
        let ahead = self.bytes.iter().skip(self.at).take(3).take_while(|byte| codes.contains(*byte)).count();
        match self.bytes.get(self.at) {
            Some(&sign) if ahead == 1 && PUNCTUATION.contains(&sign) => return self.forgive(sign),
            _ if ahead < 3 => return self.fail(FaultKind::InvalidSequence, ahead.max(1)),
            _ => {}
        }
        // One code may be unknown, or bytes may have been lost, which shifts all that follow. The next
        // code tells: barely one triple in fifty is assigned.
        let skip = [3, 1, 2].into_iter().find(|skip| self.east_asian_at(self.at + skip, half).is_some());
        self.fail(FaultKind::UnknownCharacter, skip.unwrap_or(3));
    }

    fn east_asian_at(&self, at: usize, half: Half) -> Option<char> {
        let high = if half == Half::Left { 0 } else { 0x80 };
        match self.bytes.get(at..at.checked_add(3)?)? {
            &[plane, row, cell] if plane & 0x80 == high && row & 0x80 == high && cell & 0x80 == high => {
                eacc(u32::from_be_bytes([0, plane ^ high, row ^ high, cell ^ high]))
            }
            _ => None,
        }
    }

    fn ampersand(&mut self) {
        match reference(self.bytes.get(self.at..).unwrap_or_default()) {
            Some((character, length)) => self.put(character, length),
            None => self.put('&', 1),
        }
    }

    fn escape(&mut self) {
        match Escape::parse(self.bytes.get(self.at..).unwrap_or_default()) {
            Escape::Designation { half, set, length } => {
                match half {
                    Half::Left => self.g0 = set,
                    Half::Right => self.g1 = set,
                }
                self.changed = true;
                self.at += length;
            }
            Escape::Unknown { length } => self.fail(FaultKind::UnknownEscape, length),
            Escape::Truncated { length } => self.fail(FaultKind::TruncatedEscape, length),
        }
    }
}

/// The character that a numeric reference `&#xXXXX;` at the start of `bytes` stands for, and its length.
fn reference(bytes: &[u8]) -> Option<(char, usize)> {
    let digits = bytes.strip_prefix(b"&#x")?;
    let count =
        digits.iter().take(7).position(|byte| *byte == b';').filter(|count| (1..=6).contains(count))?;
    // The parser of numbers would take a sign as well.
    let digits = digits.get(..count).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))?;
    let digits = str::from_utf8(digits).ok()?;
    let character = char::from_u32(u32::from_str_radix(digits, 16).ok()?)?;
    // A reference to a control could forge a delimiter.
    (!character.is_control()).then_some((character, count + 4))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(charset: Charset, bytes: &[u8]) -> (String, Vec<(usize, FaultKind)>) {
        let (mut out, mut faults) = (String::new(), Faults::default());
        super::super::decode(bytes, charset, &mut out, &mut faults);
        (out, faults.iter().map(|fault| (fault.offset, fault.kind)).collect())
    }

    fn check(bytes: &[u8], expected: &str) {
        assert_eq!(read(Charset::Marc8, bytes), (expected.into(), vec![]));
    }

    fn check_fault(bytes: &[u8], expected: &str, offset: usize, kind: FaultKind) {
        assert_eq!(read(Charset::Marc8, bytes), (expected.into(), vec![(offset, kind)]));
    }

    #[test]
    fn marks_move_behind_their_letter() {
        check(b"Soci\xe2et\xe2e", "Socie\u{301}te\u{301}");
    }

    #[test]
    fn several_marks_keep_their_order() {
        check(b"Ph\xe3\xf2at", "Pha\u{302}\u{323}t");
    }

    #[test]
    fn a_mark_over_two_letters_is_written_once_between_them() {
        check(b"\xebi\xeca", "i\u{361}a");
        check(b"\xfan\xfbg", "n\u{360}g");
    }

    #[test]
    fn ansel_letters_need_no_base() {
        check(b"\xa1\xf1od\xbaz", "\u{141}o\u{328}d\u{f0}z");
    }

    #[test]
    fn controls_for_filing_and_joining_are_kept() {
        check(b"\x88The \x89a\x8db\x8e", "\u{98}The \u{9c}a\u{200d}b\u{200c}");
    }

    #[test]
    fn all_forms_of_escape_designate() {
        check(b"\x1b(Nkniga", "КНИГА");
        check(b"\x1b,Nkniga", "КНИГА");
        check(b"\x1b)N\xeb\xee\xe9\xe7\xe1", "КНИГА");
        check(b"\x1b-N\xeb\xee\xe9\xe7\xe1", "КНИГА");
        check(b"\x1b$1!0!", "一");
        check(b"\x1b$,1!0!", "一");
        check(b"\x1b$)1\xa1\xb0\xa1", "一");
        check(b"\x1b$-1\xa1\xb0\xa1", "一");
        check(b"\x1b)!E\xe2e", "e\u{301}");
        check(b"\x1b(!Eb\x1b(Be", "e\u{301}");
        check(b"H\x1bb2\x1bsO, 10\x1bp-3\x1bs, \x1bga\x1bs", "H₂O, 10⁻³, α");
    }

    #[test]
    fn every_script_of_marc_8_is_read() {
        check(b"\x1b(2`ayx\x1b(B", "אבשר");
        check(b"\x1b(Qfg\x1b(NrA", "ІЇРа");
        check(b"\x1b(Sn\"rdrw\x1b(B", "λο\u{301}γος");
        check(b"\x1b(4)\x1b(B", "پ");
        check(b"\x1b(3GdcJGH\x1b(B", "الكتاب");
    }

    #[test]
    fn a_subfield_begins_with_the_default_sets() {
        check(b"\x1fa\x1b(Nkniga\x1fbbook\x1e10\x1fa\xe2e", "\x1faКНИГА\x1fbbook\x1e10\x1fae\u{301}");
        check(b"\x1b)N\xeb\x1f\xe2e", "К\u{1f}e\u{301}");
    }

    #[test]
    fn a_mark_may_stand_on_a_letter_of_another_set() {
        check(b"\xe2\x1b(NA\x1b(B.", "а\u{301}.");
    }

    #[test]
    fn a_space_is_a_space_in_every_set() {
        check(b"\x1b$1!0! !0B\x1b(B", "一 乒");
        check(b"\x1b(Nwojna i mir", "ВОЙНА И МИР");
    }

    #[test]
    fn references_stand_for_characters_outside_the_repertoire() {
        check(b"\xe2e &#x1F600; &#x0E01;", "e\u{301} \u{1f600} \u{e01}");
        check(b"\xe2&#x0435;", "\u{435}\u{301}");
    }

    #[test]
    fn what_only_looks_like_a_reference_is_text() {
        check(
            b"AT&T &#x; &#x1F; &#xD800; &#x1234567; &#120; &#x+41; &#x41",
            "AT&T &#x; &#x1F; &#xD800; &#x1234567; &#120; &#x+41; &#x41",
        );
        assert_eq!(read(Charset::Iso5426, b"&#x0E01;").0, "&#x0E01;");
    }

    #[test]
    fn an_unknown_escape_costs_only_itself() {
        check_fault(b"a\x1b(Zbc", "a\u{fffd}bc", 1, FaultKind::UnknownEscape);
        check_fault(b"a\x1bThe", "a\u{fffd}The", 1, FaultKind::UnknownEscape);
    }

    #[test]
    fn an_escape_cut_short_costs_only_itself() {
        check_fault(b"a\x1b", "a\u{fffd}", 1, FaultKind::TruncatedEscape);
        check_fault(b"a\x1b,\x1e10", "a\u{fffd}\x1e10", 1, FaultKind::TruncatedEscape);
        check_fault(b"a\x1b$\x1fb", "a\u{fffd}\x1fb", 1, FaultKind::TruncatedEscape);
    }

    #[test]
    fn a_mark_never_reaches_over_a_delimiter() {
        check_fault(b"\x1fa\xe2\x1fbx", "\x1fa\u{fffd}\x1fbx", 2, FaultKind::CombiningAtEnd);
        check_fault(b"x\xe2\xe3", "x\u{fffd}", 1, FaultKind::CombiningAtEnd);
    }

    #[test]
    fn unassigned_codes_are_faults() {
        check_fault(b"a\xffb", "a\u{fffd}b", 1, FaultKind::UnknownCharacter);
        check_fault(b"a\x85b", "a\u{fffd}b", 1, FaultKind::UnknownCharacter);
    }

    #[test]
    fn ascii_signs_inside_another_set_are_kept_and_reported() {
        check_fault(b"\x1b(Sn\"rdrw :\x1f", "λο\u{301}γος :\x1f", 10, FaultKind::MissingEscape);
        check_fault(b"\x1b$1!0! :", "一 :", 7, FaultKind::MissingEscape);
    }

    #[test]
    fn an_east_asian_code_cut_short_does_not_swallow_the_delimiter() {
        check_fault(b"\x1b$1!0!!0\x1fb", "一\u{fffd}\x1fb", 6, FaultKind::InvalidSequence);
    }

    #[test]
    fn a_lost_byte_does_not_shift_the_rest_of_east_asian_text() {
        check_fault(b"\x1b$1!0!0!!0!!0!", "一\u{fffd}一一", 6, FaultKind::UnknownCharacter);
    }

    #[test]
    fn the_iso_sets_differ_in_their_right_half_only() {
        assert_eq!(read(Charset::Iso5426, b"\xc2e\xd0c \xf9").0, "e\u{301}c\u{327} ø");
        assert_eq!(read(Charset::Iso6937, b"\xc2e\xcbc \xf9").0, "e\u{301}c\u{327} ø");
        assert_eq!(read(Charset::Iso5427, b"\xeb\xce\xc9\xc7\xc1").0, "Книга");
        assert_eq!(read(Charset::Iso5428, b"\xe1\xe2\xe4").0, "αβγ");
    }
}
