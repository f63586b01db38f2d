//! `:edtf(text)`: a transcribed date in the Extended Date/Time Format (ISO 8601-2, level 1).
//!
//! What a title page or cataloguer says in words, EDTF says with signs: `?` uncertain, `~`
//! approximate, `%` both, `X` for an unknown digit, `..` for an end that is open and nothing
//! for one that is unknown. Level 1 does not qualify dates with unknown digits, so `[199-?]`
//! is `199X`.

use super::transcribed::{Date, Dates, End};
use std::fmt::Write;

/// The date in EDTF, nothing if the text has none.
pub fn edtf(text: &str) -> Option<String> {
    let mut edtf = String::with_capacity(10);
    match Dates::read(text)? {
        Dates::One(date) => push(&mut edtf, date),
        Dates::Span(start, end) => {
            push_end(&mut edtf, start);
            edtf.push('/');
            push_end(&mut edtf, end);
        }
    }
    Some(edtf)
}

fn push_end(edtf: &mut String, end: End) {
    match end {
        End::Known(date) => push(edtf, date),
        End::Open => edtf.push_str(".."),
        End::Unknown => {}
    }
}

/// Writing to a string cannot fail.
fn push(edtf: &mut String, date: Date) {
    let _ = match date.unknown {
        0 => write!(edtf, "{:04}", date.year),
        1 => write!(edtf, "{:03}X", date.year / 10),
        _ => write!(edtf, "{:02}XX", date.year / 100),
    };
    for part in [date.month, date.day].into_iter().flatten() {
        let _ = write!(edtf, "-{part:02}");
    }
    match (date.uncertain, date.approximate) {
        _ if date.unknown > 0 => {}
        (true, true) => edtf.push('%'),
        (true, false) => edtf.push('?'),
        (false, true) => edtf.push('~'),
        (false, false) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(cases: &[(&str, &str)]) {
        for (text, expected) in cases {
            assert_eq!(edtf(text).as_deref(), Some(*expected), "of {text:?}");
        }
    }

    #[test]
    fn one_year() {
        check(&[
            ("1999", "1999"),
            ("1999.", "1999"),
            ("c1999", "1999"),
            ("[1999]", "1999"),
            ("1999, c1998", "1999"),
            ("[1999], c1998", "1999"),
            ("1999 [i.e. 1998]", "1998"),
            ("2024 [1967]", "1967"),
            ("May 1999", "1999"),
            ("12 mai 1999", "1999"),
            ("Sept. 12, 1999.", "1999"),
            ("D.L. 1999", "1999"),
            ("MDCCLIV", "1754"),
        ]);
    }

    #[test]
    fn doubt_is_kept() {
        check(&[
            ("[1999?]", "1999?"),
            ("1999?].", "1999?"),
            ("probably 1999", "1999?"),
            ("ca. 1850", "1850~"),
            ("c. 1850", "1850~"),
            ("[approximately 1850]", "1850~"),
            ("um 1850", "1850~"),
            ("vers 1850", "1850~"),
            ("[ca. 1850?]", "1850%"),
        ]);
    }

    #[test]
    fn unknown_digits_are_x() {
        check(&[
            ("199-?", "199X"),
            ("[199-]", "199X"),
            ("[199-?]", "199X"),
            ("19--", "19XX"),
            ("[19--?]", "19XX"),
            ("[1990s?]", "199X"),
        ]);
    }

    #[test]
    fn spans_are_written_with_a_slash() {
        check(&[
            ("1999-2003", "1999/2003"),
            ("1795 - 1881", "1795/1881"),
            ("c1999-c2003.", "1999/2003"),
            ("[1999]-2003.", "1999/2003"),
            ("1960-80", "1960/1980"),
            ("1999-", "1999/.."),
            ("[1999]-", "1999/.."),
            ("1999-.", "1999/.."),
            ("1365-   [1986-  ]", "1986/.."),
            ("1955-<1957>", "1955/1957"),
            ("between 1990 and 1995", "1990/1995"),
            ("[between 1990 and 1995?]", "1990/1995?"),
            ("between May 1990 and June 1995", "1990/1995"),
            ("[between 18--? and 19--?]", "18XX/19XX"),
            ("[1967 or 1968]", "1967/1968"),
            ("[19--]-1995.", "19XX/1995"),
            ("1505-16--?", "1505/16XX"),
            ("1998-99?", "1998/1999?"),
            ("ca. 1850-1860", "1850~/1860"),
            ("-1999", "/1999"),
            ("before August 1999", "/1999"),
            ("[not before 1999]", "1999/"),
        ]);
    }

    #[test]
    fn edtf_stays_what_it_is() {
        let written = [
            "1999",
            "1999-05",
            "1999-05-12",
            "1999?",
            "1999~",
            "1999%",
            "199X",
            "19XX",
            "1999/2003",
            "1999/..",
            "1999/",
            "/1999",
            "../1999",
            "1999-05-12/1999-06-01",
            "1999-05?",
            "1999-05~/2003?",
        ];
        for date in written {
            assert_eq!(edtf(date).as_deref(), Some(date));
        }
        check(&[
            ("1999-05-12T23:59:59Z", "1999-05-12"),
            ("19990512", "1999-05-12"),
            ("1999-02-31", "1999-02"),
        ]);
    }

    #[test]
    fn what_has_no_date_gives_nothing() {
        for text in ["", "[n.d.]", "s.a.", "99999.", "5748", "Vol. 9-99", "LP 99"] {
            assert_eq!(edtf(text), None, "of {text:?}");
        }
    }

    proptest! {
        #[test]
        fn what_was_made_edtf_once_stays_so(
            text in "(ca?\\.? |between |not before |\\[|-|/)?[12][0-9]{1,3}[-?~%/ \\[\\]X.,us]{0,4}([c12][0-9]{0,3})?[-?\\].]{0,3}"
        ) {
            if let Some(date) = edtf(&text) {
                prop_assert_eq!(edtf(&date), Some(date));
            }
        }

        #[test]
        fn any_text_is_read(text in "\\PC{0,24}") {
            let _ = edtf(&text);
        }
    }
}
