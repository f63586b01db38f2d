//! Turns the bytes of library records into Unicode.
//!
//! In go the bytes of a record, a field or a subfield and the [`Charset`] they are written in; out
//! come text and one [`Fault`] for everything that could not be read. Nothing stops the reading: what
//! has no meaning becomes U+FFFD. The delimiters of ISO 2709 (1D, 1E, 1F) pass through unchanged, so
//! a whole record can be decoded at once and split afterwards.
//!
//! The text is in logical order with marks behind their letters, but it is not normalized: that is
//! left to the caller, as is the choice between what a record says of itself and what [`detect()`]
//! finds.

mod code_page;
mod cyrillic;
mod detect;
mod escape;
mod iso2022;
mod plausibility;
mod tables;
mod unimarc;
mod utf8;

use std::fmt;

pub use detect::detect;

/// A character set a record may be written in.
///
/// These are the sets that MARC 21 and UNIMARC can name, as far as their tables are public, and the
/// code pages that real files use while naming another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Charset {
    /// ISO 10646 in UTF-8: leader/09 `a` in MARC 21, `50` in UNIMARC.
    Utf8,
    /// ASCII and ANSEL, and every other set of MARC 21 by escape sequence.
    Marc8,
    /// ASCII and the extended Latin of ISO 5426: `03` in UNIMARC.
    Iso5426,
    /// ASCII and the basic Cyrillic of ISO 5427: `02` in UNIMARC. Its letters lie where KOI8-R has them.
    Iso5427,
    /// ASCII and the extended Cyrillic of ISO 5427: `04` in UNIMARC.
    Iso5427Extended,
    /// ASCII and the Greek of ISO 5428: `05` in UNIMARC.
    Iso5428,
    /// ASCII and the extended Latin of ISO 6937.
    Iso6937,
    /// ISO 8859-1.
    Latin1,
    /// ISO 8859-2, Central European.
    Iso8859_2,
    /// ISO 8859-5, Cyrillic.
    Iso8859_5,
    /// ISO 8859-7, Greek.
    Iso8859_7,
    /// ISO 8859-8, Hebrew.
    Iso8859_8,
    /// ISO 8859-9, Turkish.
    Iso8859_9,
    /// ISO 8859-15, Latin-1 with the euro sign.
    Iso8859_15,
    /// KOI8-R: `99` in RUSMARC.
    Koi8R,
    /// DOS, Western European.
    Cp850,
    /// DOS, Central European.
    Cp852,
    /// DOS, Cyrillic: `79` in RUSMARC.
    Cp866,
    /// Windows, Central European.
    Cp1250,
    /// Windows, Cyrillic: `89` in RUSMARC.
    Cp1251,
    /// Windows, Western European.
    Cp1252,
    /// Windows, Greek.
    Cp1253,
}

impl Charset {
    /// Every character set, in the order of the enumeration.
    pub const ALL: [Self; 22] = [
        Self::Utf8,
        Self::Marc8,
        Self::Iso5426,
        Self::Iso5427,
        Self::Iso5427Extended,
        Self::Iso5428,
        Self::Iso6937,
        Self::Latin1,
        Self::Iso8859_2,
        Self::Iso8859_5,
        Self::Iso8859_7,
        Self::Iso8859_8,
        Self::Iso8859_9,
        Self::Iso8859_15,
        Self::Koi8R,
        Self::Cp850,
        Self::Cp852,
        Self::Cp866,
        Self::Cp1250,
        Self::Cp1251,
        Self::Cp1252,
        Self::Cp1253,
    ];

    /// The name to show and to write in settings; the tables use it too.
    pub fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "utf-8",
            Self::Marc8 => "marc-8",
            Self::Iso5426 => "iso-5426",
            Self::Iso5427 => "iso-5427",
            Self::Iso5427Extended => "iso-5427-extended",
            Self::Iso5428 => "iso-5428",
            Self::Iso6937 => "iso-6937",
            Self::Latin1 => "iso-8859-1",
            Self::Iso8859_2 => "iso-8859-2",
            Self::Iso8859_5 => "iso-8859-5",
            Self::Iso8859_7 => "iso-8859-7",
            Self::Iso8859_8 => "iso-8859-8",
            Self::Iso8859_9 => "iso-8859-9",
            Self::Iso8859_15 => "iso-8859-15",
            Self::Koi8R => "koi8-r",
            Self::Cp850 => "cp850",
            Self::Cp852 => "cp852",
            Self::Cp866 => "cp866",
            Self::Cp1250 => "cp1250",
            Self::Cp1251 => "cp1251",
            Self::Cp1252 => "cp1252",
            Self::Cp1253 => "cp1253",
        }
    }

    /// The character set of that [`name`](Self::name).
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|charset| charset.name() == name)
    }

    /// The character set that UNIMARC 100 $a names at positions 26-29, if its table is known.
    pub fn from_unimarc(positions: &[u8]) -> Option<Self> {
        unimarc::charset(positions)
    }
}

impl fmt::Display for Charset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One thing that could not be read. U+FFFD stands for it in the text, unless its kind says otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// Where it begins in the bytes given to [`decode`].
    pub offset: usize,
    pub kind: FaultKind,
}

/// All that could not be read: how much it is, and where it begins. A record may be wrong in every
/// byte, so the places of a few are enough.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Faults {
    first: Vec<Fault>,
    count: usize,
}

impl Faults {
    /// Faults whose places are kept.
    const KEPT: usize = 16;

    fn push(&mut self, fault: Fault) {
        if self.first.len() < Self::KEPT {
            self.first.push(fault);
        }
        self.count += 1;
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The first of them.
    pub fn iter(&self) -> std::slice::Iter<'_, Fault> {
        self.first.iter()
    }

    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}

/// What could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FaultKind {
    /// Bytes that form no character: broken UTF-8, or an East Asian code cut short.
    InvalidSequence,
    /// An escape sequence that designates no known set.
    UnknownEscape,
    /// An escape sequence that ends before it says what it designates.
    TruncatedEscape,
    /// A code that the character set leaves unassigned.
    UnknownCharacter,
    /// A combining mark with no letter left to stand on.
    CombiningAtEnd,
    /// A digit or punctuation mark of ASCII inside another set, kept as it is.
    MissingEscape,
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::InvalidSequence => "bytes that form no character",
            Self::UnknownEscape => "escape sequence for an unknown character set",
            Self::TruncatedEscape => "escape sequence that is cut short",
            Self::UnknownCharacter => "code that the character set does not assign",
            Self::CombiningAtEnd => "combining mark without a letter to stand on",
            Self::MissingEscape => "sign of ASCII inside another character set",
        })
    }
}

/// Appends `bytes`, read as `charset`, to `out`, and what could not be read to `faults`.
pub fn decode(bytes: &[u8], charset: Charset, out: &mut String, faults: &mut Faults) {
    match charset {
        Charset::Utf8 => utf8::decode(bytes, out, faults),
        _ => match iso2022::Code::of(charset) {
            Some(code) => iso2022::decode(bytes, code, out, faults),
            None => code_page::decode(bytes, charset, out, faults),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_leads_back_to_its_charset() {
        for charset in Charset::ALL {
            assert_eq!(Charset::from_name(charset.name()), Some(charset));
        }
    }

    #[test]
    fn faults_are_all_counted_and_few_are_kept() {
        let (mut text, mut faults) = (String::new(), Faults::default());
        decode(&[0xff; 1000], Charset::Utf8, &mut text, &mut faults);
        assert_eq!((faults.count(), faults.iter().len()), (1000, Faults::KEPT));
    }

    #[test]
    fn ascii_and_delimiters_are_the_same_in_every_charset() {
        let record = "10\u{1f}aWalden :\u{1f}bor, Life in the woods /\u{1e}\u{1d}";
        for charset in Charset::ALL {
            let (mut text, mut faults) = (String::new(), Faults::default());
            decode(record.as_bytes(), charset, &mut text, &mut faults);
            assert_eq!(text, record, "{charset}");
            assert!(faults.is_empty(), "{charset}");
        }
    }

    #[test]
    fn delimiters_survive_any_bytes() {
        let delimiters = |bytes: &[u8]| -> Vec<u8> {
            bytes.iter().copied().filter(|byte| (0x1d..=0x1f).contains(byte)).collect()
        };
        // A linear congruential generator: the same bytes every time.
        let mut state = 1_u64;
        let mut next = |choices: &[u8]| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let high = usize::try_from(state >> 33).unwrap_or_default();
            choices.get(high % choices.len()).copied().unwrap_or_default()
        };
        let any: Vec<u8> = (0..=0xff).collect();
        let telling = b"\x1b\x1b\x1d\x1e\x1f()$,-!1NESB2gs&#x;0a\x20\xe2\xeb\xc3\xa9\xff";
        for round in 0..2000 {
            let bytes: Vec<u8> = (0..64).map(|_| next(if round % 2 == 0 { &any } else { telling })).collect();
            for charset in Charset::ALL {
                let (mut text, mut faults) = (String::new(), Faults::default());
                decode(&bytes, charset, &mut text, &mut faults);
                assert_eq!(delimiters(text.as_bytes()), delimiters(&bytes), "{charset} {bytes:02X?}");
                assert!(faults.iter().all(|fault| fault.offset < bytes.len()));
                detect(&bytes, charset);
            }
        }
    }

    #[test]
    fn every_byte_in_every_charset_yields_text_or_a_fault() {
        for charset in Charset::ALL {
            for byte in 0x80..=0xff_u8 {
                let (mut text, mut faults) = (String::new(), Faults::default());
                decode(&[byte, b'a'], charset, &mut text, &mut faults);
                assert!(text.contains('a'), "{charset} {byte:02X}");
                assert_eq!(text.contains('\u{fffd}'), !faults.is_empty(), "{charset} {byte:02X}");
            }
        }
    }
}
