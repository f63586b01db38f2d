//! Says which character set UNIMARC 100 $a means.
//!
//! Positions 26-27 name the left half of the code (G0), 28-29 the right half (G1). The left half is
//! ASCII in practice, so the right half decides. `01` alone is ASCII; it is read as ISO 5426, which
//! adds to ASCII what such records hold when they hold more than they say.

use super::Charset;
use super::tables::rows;

const UNIMARC_TSV: &str = include_str!("tables/unimarc.tsv");

pub(super) fn charset(positions: &[u8]) -> Option<Charset> {
    let (g0, g1) = (positions.get(..2)?, positions.get(2..4).unwrap_or(b"  "));
    // Blanks and fill characters leave the right half unnamed.
    named(if g1.iter().all(u8::is_ascii_digit) { g1 } else { g0 })
}

fn named(code: &[u8]) -> Option<Charset> {
    rows(UNIMARC_TSV)
        .filter_map(|row| row.split_once('\t'))
        .find(|(listed, _)| listed.as_bytes() == code)
        .and_then(|(_, name)| Charset::from_name(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_code_names_a_known_charset() {
        for row in rows(UNIMARC_TSV) {
            let code = row.get(..2).unwrap_or_default();
            assert!(named(code.as_bytes()).is_some(), "{row}");
        }
    }

    #[test]
    fn the_right_half_decides() {
        assert_eq!(charset(b"0103"), Some(Charset::Iso5426));
        assert_eq!(charset(b"0102"), Some(Charset::Iso5427));
        assert_eq!(charset(b"50  "), Some(Charset::Utf8));
        assert_eq!(charset(b"50||"), Some(Charset::Utf8));
        assert_eq!(charset(b"01  "), Some(Charset::Iso5426));
    }

    #[test]
    fn a_set_without_a_table_is_not_guessed() {
        assert_eq!(charset(b"0107"), None);
        assert_eq!(charset(b"    "), None);
        assert_eq!(charset(b""), None);
    }
}
