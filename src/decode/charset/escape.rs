//! Reads the escape sequences of ISO 2022 that designate a graphic set.
//!
//! ```text
//! ESC ( F   ESC , F     G0, one byte          ESC $ F   ESC $ , F      G0, three bytes
//! ESC ) F   ESC - F     G1, one byte          ESC $ ) F   ESC $ - F    G1, three bytes
//! ESC g   ESC b   ESC p     G0 Greek symbols, subscripts, superscripts (MARC 21 only)
//! ESC s                     G0 ASCII (MARC 21 only)
//! ```
//!
//! An intermediate `!` may stand before F, as in `ESC ) ! E` for ANSEL.
//!
//! The final byte F alone names the set, whatever stands before it.

use super::tables::{GraphicSet, graphic_set};

pub(super) const ESCAPE: u8 = 0x1b;

const EAST_ASIAN: u8 = b'1';

/// What an escape sequence asks for, and its length in bytes.
pub(super) enum Escape {
    Designation {
        half: Half,
        set: Set,
        length: usize,
    },
    /// No set has that name. Only ESC counts if what follows does not look like a designation.
    Unknown {
        length: usize,
    },
    /// The final byte is missing.
    Truncated {
        length: usize,
    },
}

impl Escape {
    /// Reads the escape sequence that `bytes` begin with.
    pub(super) fn parse(bytes: &[u8]) -> Self {
        let mut length = 1;
        let mut half = Half::Left;
        match bytes.get(1) {
            Some(b's') => {
                return Self::Designation { half, set: Set::Ascii, length: 2 };
            }
            Some(&custom @ (b'g' | b'b' | b'p')) => {
                let set = Set::named(custom);
                return set.map_or(Self::Unknown { length: 2 }, |set| Self::Designation {
                    half,
                    set,
                    length: 2,
                });
            }
            Some(b'(' | b',' | b')' | b'-' | b'$') => {}
            Some(byte) if *byte >= 0x20 => return Self::Unknown { length },
            _ => return Self::Truncated { length },
        }
        // $ announces three bytes per character; the final byte says so as well.
        length += usize::from(bytes.get(length) == Some(&b'$'));
        if let Some(&designator @ (b'(' | b',' | b')' | b'-')) = bytes.get(length) {
            if matches!(designator, b')' | b'-') {
                half = Half::Right;
            }
            length += 1;
        }
        length += usize::from(bytes.get(length) == Some(&b'!'));
        match bytes.get(length) {
            Some(&final_byte @ 0x30..=0x7e) => {
                length += 1;
                Set::named(final_byte).map_or(Self::Unknown { length }, |set| Self::Designation {
                    half,
                    set,
                    length,
                })
            }
            _ => Self::Truncated { length },
        }
    }
}

/// A set that can be designated.
#[derive(Clone, Copy)]
pub(super) enum Set {
    Ascii,
    OneByte(&'static GraphicSet),
    EastAsian,
}

impl Set {
    fn named(final_byte: u8) -> Option<Self> {
        match final_byte {
            // B is ASCII; @ is the International Reference Version of ISO 646, which differs in signs
            // that no record uses.
            b'B' | b'@' => Some(Self::Ascii),
            EAST_ASIAN => Some(Self::EastAsian),
            _ => graphic_set(final_byte).map(Self::OneByte),
        }
    }
}

/// The half of the code table that a set is designated for: G0 on the left, G1 on the right.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Half {
    Left,
    Right,
}

/// True if `bytes`, which begin with ESC, begin with an escape sequence for a known set.
pub(super) fn designates(bytes: &[u8]) -> bool {
    matches!(Escape::parse(bytes), Escape::Designation { .. })
}
