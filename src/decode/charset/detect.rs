//! Finds the character set that bytes are really written in.
//!
//! Leader/09 and UNIMARC 100 $a are set by hand or by default and often lie. The bytes themselves
//! tell more:
//!
//! 1. UTF-8 is self-checking. Sequences that are valid throughout do not come about by chance, and
//!    a few broken places among many valid ones are damage, not another character set.
//! 2. Long runs of codes above ASCII are words of another script: a Cyrillic code page, if the
//!    letters are as common as they should be.
//! 3. Scattered codes are accents in Latin text: the declared set is kept unless they do not fit it
//!    and do fit another.
//!
//! Without evidence against it, the declared set stands.

use super::escape::designates;
use super::plausibility::fit;
use super::{Charset, cyrillic};

/// Other sets for Latin text, the likelier first when two fit alike.
const LATIN: [Charset; 3] = [Charset::Latin1, Charset::Cp1252, Charset::Iso5426];

/// The character set to read `bytes` in. `declared` is what the record says.
pub fn detect(bytes: &[u8], declared: Charset) -> Charset {
    let escapes = memchr::memchr_iter(0x1b, bytes).any(|at| bytes.get(at..).is_some_and(designates));
    if bytes.is_ascii() {
        // Text in UTF-8 has no use for escape sequences.
        return if escapes && declared == Charset::Utf8 { Charset::Marc8 } else { declared };
    }
    if str::from_utf8(bytes).is_ok() || Utf8::count(bytes).prevails() {
        return Charset::Utf8;
    }
    if escapes && declared == Charset::Utf8 {
        return Charset::Marc8;
    }
    if escapes || !is_suspect(declared) {
        return declared;
    }
    if mostly_runs(bytes) {
        return cyrillic::recognize(bytes, declared).unwrap_or(declared);
    }
    if declared != Charset::Utf8 && !fit(bytes, declared).is_refuted() {
        return declared;
    }
    // Nearly every code of MARC-8 is a letter of Latin-1 as well, but not the reverse: what fits
    // MARC-8 is MARC-8.
    if fit(bytes, Charset::Marc8).is_plausible() {
        return Charset::Marc8;
    }
    let fits = LATIN.into_iter().map(|charset| (charset, fit(bytes, charset)));
    fits.filter(|(_, fit)| fit.is_plausible())
        .reduce(|best, next| if next.1.quality() > best.1.quality() { next } else { best })
        .map_or(declared, |(charset, _)| charset)
}

/// Sets that real files name when they use another. The rest are named only by someone who knows.
fn is_suspect(declared: Charset) -> bool {
    use Charset::{
        Cp866, Cp1251, Iso5426, Iso5427, Iso5427Extended, Iso6937, Iso8859_5, Koi8R, Latin1, Marc8, Utf8,
    };
    matches!(
        declared,
        Utf8 | Marc8
            | Latin1
            | Iso5426
            | Iso6937
            | Iso5427
            | Iso5427Extended
            | Iso8859_5
            | Koi8R
            | Cp866
            | Cp1251
    )
}

/// How far bytes are UTF-8.
struct Utf8 {
    /// Characters above ASCII.
    characters: usize,
    /// Places where broken bytes stand, however many.
    broken: usize,
}

impl Utf8 {
    fn count(bytes: &[u8]) -> Self {
        let mut found = Self { characters: 0, broken: 0 };
        let mut apart = true;
        for chunk in bytes.utf8_chunks() {
            let valid = chunk.valid();
            if !valid.is_empty() {
                apart = true;
                // Each character has one byte that is not a continuation.
                found.characters += valid.bytes().filter(|byte| *byte >= 0xc0).count();
            }
            if !chunk.invalid().is_empty() {
                found.broken += usize::from(apart);
                apart = false;
            }
        }
        found
    }

    /// Cyrillic code pages make up to one valid sequence by chance for each two broken places;
    /// Latin sets hardly any.
    fn prevails(&self) -> bool {
        self.characters > 0 && self.characters >= 2 * self.broken
    }
}

/// Whether more than half of the codes above ASCII stand in runs of three or more.
fn mostly_runs(bytes: &[u8]) -> bool {
    let runs = || bytes.split(u8::is_ascii).map(<[u8]>::len);
    let long: usize = runs().filter(|length| *length >= 3).sum();
    2 * long > runs().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &[u8], declared: Charset, expected: Charset) {
        assert_eq!(detect(bytes, declared), expected, "declared {declared}");
    }

    #[test]
    fn ascii_is_whatever_the_record_says() {
        check(b"Walden", Charset::Marc8, Charset::Marc8);
        check(b"Walden", Charset::Utf8, Charset::Utf8);
        check(b"", Charset::Iso5426, Charset::Iso5426);
    }

    #[test]
    fn utf_8_under_another_flag_is_found() {
        for declared in [Charset::Marc8, Charset::Iso5426, Charset::Latin1, Charset::Koi8R, Charset::Cp1253] {
            check("Société".as_bytes(), declared, Charset::Utf8);
        }
    }

    #[test]
    fn damaged_utf_8_stays_utf_8() {
        check(b"Fran\xc3\xa7ois Villon, po\xe8te fran\xc3\xa7ais", Charset::Utf8, Charset::Utf8);
        check(b"bad '\xc0' and '\x80'", Charset::Utf8, Charset::Utf8);
    }

    #[test]
    fn marc_8_under_the_utf_8_flag_is_found() {
        check(b"Genevi\xe1eve, th\xe2e\xe3atre", Charset::Utf8, Charset::Marc8);
        check(b"price \xb90.75", Charset::Utf8, Charset::Marc8);
        check(b"\x1b(Nkniga\x1b(B", Charset::Utf8, Charset::Marc8);
    }

    #[test]
    fn latin_1_under_any_flag_is_found() {
        for declared in [Charset::Utf8, Charset::Marc8, Charset::Iso5426] {
            check(b"Soci\xe9t\xe9 g\xe9n\xe9rale \xe0 Paris", declared, Charset::Latin1);
            check(b"B\xfccher f\xfcr M\xe4dchen, Stra\xdfe", declared, Charset::Latin1);
        }
        check(b"l\x92\xe9t\xe9 \x96 \xe0 la fa\xe7on", Charset::Marc8, Charset::Cp1252);
    }

    #[test]
    fn cyrillic_code_pages_are_found() {
        let cp1251 = b"\xc2\xee\xe9\xed\xe0 \xe8 \xec\xe8\xf0 : \xf0\xee\xec\xe0\xed";
        let cp866 = b"\x82\xae\xa9\xad\xa0 \xa8 \xac\xa8\xe0 : \xe0\xae\xac\xa0\xad";
        for declared in [Charset::Utf8, Charset::Marc8, Charset::Iso5427, Charset::Cp866, Charset::Cp1251] {
            check(cp1251, declared, Charset::Cp1251);
            check(cp866, declared, Charset::Cp866);
        }
    }

    #[test]
    fn a_true_flag_is_kept() {
        check(b"Soci\xe2et\xe2e", Charset::Marc8, Charset::Marc8);
        check(b"Soci\xc2et\xc2e", Charset::Iso5426, Charset::Iso5426);
        check(b"Soci\xe9t\xe9", Charset::Latin1, Charset::Latin1);
        check(b"\xeb\xce\xc9\xc7\xc1", Charset::Iso5427, Charset::Iso5427);
        check(b"\x1b)N\xeb\xee\xe9\xe7\xe1", Charset::Marc8, Charset::Marc8);
    }

    #[test]
    fn references_and_ligatures_do_not_refute_marc_8() {
        check(b"\xe2&#x03BF; \xe2&#x03B1; \xe2&#x03B9;", Charset::Marc8, Charset::Marc8);
        check(b"Sobrani\xebi\xeca, \xebI\xecUri\xe6i", Charset::Marc8, Charset::Marc8);
    }

    #[test]
    fn one_slip_does_not_refute_a_flag() {
        check(b"Soci\xe2et\xe2e g\xe2en\xe2erale\xe2", Charset::Marc8, Charset::Marc8);
    }
}
