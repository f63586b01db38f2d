//! Judges how well bytes fit a character set for the Latin script.
//!
//! Any byte is some character in most sets; what tells them apart is whether the result looks like
//! words. A mark of ANSEL or ISO 5426 stands before a letter that takes it; a letter of Latin-1
//! stands anywhere in a word, often at its end.

use unicode_normalization::char::compose;

use super::Charset;
use super::iso2022::Code;
use super::tables::{CodePage, Glyph, GraphicSet, code_page};

/// How the codes above ASCII were found to fit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Fit {
    /// As in real words.
    pub good: i64,
    /// Possible but odd: a letter that does not take this mark, a capital inside a word.
    pub odd: i64,
    /// Impossible: an unassigned code, a mark before a space.
    pub wrong: i64,
}

impl Fit {
    /// Whether the bytes may well be in this set.
    pub(super) fn is_plausible(self) -> bool {
        self.good > 0 && self.quality() >= 0
    }

    /// Whether the bytes can hardly be in this set. One slip proves nothing against good words.
    pub(super) fn is_refuted(self) -> bool {
        let one_slip = self.good > 0 && self.odd + self.wrong < 2;
        self.quality() < 0 && !one_slip
    }

    /// One impossible code outweighs two good ones, because every set finds some of the codes of
    /// every other good.
    pub(super) fn quality(self) -> i64 {
        self.good - self.odd - 2 * self.wrong
    }
}

/// Judges the codes above ASCII in `bytes`, read as `charset`.
pub(super) fn fit(bytes: &[u8], charset: Charset) -> Fit {
    let set = Code::of(charset).and_then(Code::right_half);
    let page = code_page(charset.name());
    let mut fit = Fit::default();
    for (at, byte) in bytes.iter().copied().enumerate().filter(|(_, byte)| !byte.is_ascii()) {
        let place = Place { bytes, at };
        let verdict = match (set, page) {
            (Some(set), _) => in_graphic_set(byte, set, place),
            (None, Some(page)) => in_code_page(byte, page, place),
            (None, None) => Verdict::Silent,
        };
        match verdict {
            Verdict::Good => fit.good += 1,
            Verdict::Odd => fit.odd += 1,
            Verdict::Wrong => fit.wrong += 1,
            Verdict::Silent => {}
        }
    }
    fit
}

/// Signs that stand inside words: the apostrophe, the Catalan dot and the soft hyphen.
const JOINS_WORDS: [char; 3] = ['\u{2019}', '\u{b7}', '\u{ad}'];

/// Marks over two letters, and the underlines that transliteration puts under pairs of letters.
const SPANS_LETTERS: [char; 4] = ['\u{360}', '\u{361}', '\u{332}', '\u{333}'];

enum Verdict {
    Good,
    Odd,
    Wrong,
    /// Says nothing for or against.
    Silent,
}

/// One code among its neighbours.
#[derive(Clone, Copy)]
struct Place<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Place<'_> {
    fn ahead(self, distance: usize) -> Option<u8> {
        self.bytes.get(self.at + distance).copied()
    }

    fn behind(self, distance: usize) -> Option<u8> {
        self.bytes.get(self.at.checked_sub(distance)?).copied()
    }

    /// The byte before, if it belongs to the same word; a subfield code does not.
    fn word_before(self) -> Option<u8> {
        self.behind(1).filter(|byte| in_word(*byte) && self.behind(2) != Some(0x1f))
    }

    fn word_after(self) -> Option<u8> {
        self.ahead(1).filter(|byte| in_word(*byte))
    }
}

/// A neighbour above ASCII may be a letter, too.
fn in_word(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte >= 0xa0
}

fn in_graphic_set(byte: u8, set: &GraphicSet, place: Place<'_>) -> Verdict {
    let glyph = |byte: u8| set.get(usize::from(byte & 0x7f)).copied().unwrap_or(Glyph::Unassigned);
    let is = |byte: Option<u8>, wanted: fn(Glyph) -> bool| {
        byte.is_some_and(|byte| byte >= 0xa0 && wanted(glyph(byte)))
    };
    match byte {
        // The controls of ISO 6630 and of MARC 21.
        0x88 | 0x89 | 0x8d | 0x8e => return Verdict::Silent,
        0x80..=0x9f => return Verdict::Wrong,
        _ => {}
    }
    match glyph(byte) {
        Glyph::Letter(letter) => character(letter, place),
        // Of several marks on a letter the nearest speaks for all.
        Glyph::Mark(_) if is(place.ahead(1), |glyph| matches!(glyph, Glyph::Mark(_))) => Verdict::Silent,
        Glyph::Mark(mark) if SPANS_LETTERS.contains(&mark) => {
            let partner = |glyph| matches!(glyph, Glyph::Silent | Glyph::Mark('\u{332}' | '\u{333}'));
            let paired = is(place.ahead(2), partner) || is(place.behind(2), partner);
            if paired { Verdict::Good } else { Verdict::Odd }
        }
        Glyph::Mark(mark) => self::mark(mark, place),
        // A second half without its first.
        Glyph::Silent if !is(place.behind(2), |glyph| matches!(glyph, Glyph::Mark(_))) => Verdict::Wrong,
        Glyph::Silent => Verdict::Silent,
        Glyph::Unassigned => Verdict::Wrong,
    }
}

fn in_code_page(byte: u8, page: &CodePage, place: Place<'_>) -> Verdict {
    match page.get(usize::from(byte & 0x7f)).copied().flatten() {
        // Every code page has signs everywhere, so a sign in its place proves nothing.
        Some(sign) if !sign.is_alphabetic() => match character(sign, place) {
            Verdict::Good => Verdict::Silent,
            verdict => verdict,
        },
        Some(letter) => character(letter, place),
        None => Verdict::Wrong,
    }
}

fn character(character: char, place: Place<'_>) -> Verdict {
    let neighbours = (place.word_before(), place.word_after());
    match neighbours {
        (Some(b'a'..=b'z'), _) if character.is_uppercase() => Verdict::Odd,
        (Some(b'A'..=b'Z'), Some(b'A'..=b'Z')) if character.is_lowercase() => Verdict::Odd,
        (None, None) if character.is_uppercase() => Verdict::Silent,
        (Some(_), Some(_)) if !character.is_alphabetic() && !JOINS_WORDS.contains(&character) => Verdict::Odd,
        _ => Verdict::Good,
    }
}

fn mark(mark: char, place: Place<'_>) -> Verdict {
    match place.ahead(1) {
        // The caron of MARC-8 is the e with acute of Latin-1, the commonest of all, and nearly every
        // letter takes a caron. Only where it is at home does it speak for MARC-8.
        Some(letter) if mark == '\u{30c}' && letter.is_ascii_alphabetic() => {
            if b"csz".contains(&letter.to_ascii_lowercase()) { Verdict::Good } else { Verdict::Silent }
        }
        Some(letter) if letter.is_ascii_alphabetic() => match compose(char::from(letter), mark) {
            // Letters of living languages and of transliteration. Those between, such as a with dot
            // above, are what Latin-1 text becomes by chance.
            Some('\u{c0}'..='\u{17f}' | '\u{1e00}'..='\u{1eff}') => Verdict::Good,
            _ => Verdict::Odd,
        },
        // A letter of the set itself, a reference, or an escape sequence to the set of the letter.
        Some(0xa0.. | b'&' | 0x1b) => Verdict::Silent,
        _ => Verdict::Wrong,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ansel_marks_fit_marc_8() {
        assert!(fit(b"Soci\xe2et\xe2e fran\xf0caise", Charset::Marc8).is_plausible());
        assert!(fit(b"Dostoevski\xe6i, Fedor", Charset::Marc8).is_plausible());
        assert!(fit(b"Sobran\xebi\xeca, t\xf6k\xf6h", Charset::Marc8).is_plausible());
        assert!(fit(b"\xb90.75", Charset::Marc8).is_plausible());
    }

    #[test]
    fn latin_1_words_refute_marc_8() {
        for words in [
            b"Soci\xe9t\xe9 fran\xe7aise".as_slice(),
            b"B\xfccher f\xfcr alle",
            b"No\xebl, cos\xec",
            b"Bj\xf6rn",
        ] {
            assert!(fit(words, Charset::Marc8).is_refuted());
            assert!(fit(words, Charset::Latin1).is_plausible());
        }
    }

    #[test]
    fn iso_5426_and_marc_8_refute_each_other() {
        assert!(fit(b"Soci\xc2et\xc2e fran\xd0caise", Charset::Iso5426).is_plausible());
        assert!(fit(b"Soci\xc2et\xc2e fran\xd0caise", Charset::Marc8).is_refuted());
        assert!(fit(b"Soci\xe2et\xe2e fran\xf0caise", Charset::Iso5426).is_refuted());
    }

    #[test]
    fn a_subfield_code_is_not_the_letter_before() {
        assert!(fit(b"\x1fa\xd6stersund", Charset::Latin1).is_plausible());
    }
}
