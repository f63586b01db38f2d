//! ISO 2709: MARC 21 and UNIMARC as exchange files.
//!
//! A record is a leader of 24 bytes, a directory of 12-byte entries, and the fields. Lengths
//! and offsets in leader and directory are often wrong in the wild; the three delimiters
//! seldom are. So both steps believe the numbers when they agree with the delimiters, and the
//! delimiters when they do not.

mod directory;
mod read;
mod split;

pub(super) use read::decode;
pub(super) use split::split;

const RECORD_TERMINATOR: u8 = 0x1D;
const FIELD_TERMINATOR: u8 = 0x1E;
const SUBFIELD_DELIMITER: u8 = 0x1F;
const LEADER: usize = 24;

/// The record length in the first five bytes, when they are digits and make sense.
fn leader_length(record: &[u8]) -> Option<usize> {
    number(record.get(..5)?).filter(|length| *length > LEADER)
}

fn number(digits: &[u8]) -> Option<usize> {
    digits
        .iter()
        .try_fold(0, |number, digit| digit.is_ascii_digit().then(|| number * 10 + usize::from(digit - b'0')))
}
