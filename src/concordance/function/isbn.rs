//! `:isbn(text)`: an International Standard Book Number (ISO 2108) as thirteen digits.
//!
//! Subfields hold more than the number: a binding, a price, the word ISBN. The first number
//! whose check digit is right is taken; an ISBN-10 becomes the ISBN-13 it has stood for since
//! 2007. Numbers of printed music (979-0) are ISMNs and not taken.

/// The first ISBN in the text.
pub fn isbn(text: &str) -> Option<String> {
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        rest = rest.get(start..)?;
        let isbn = match read::<13>(rest) {
            Some((digits @ ([9, 7, 8, ..] | [9, 7, 9, 1..=9, ..]), after)) => {
                // The end of a number with a wrong check digit might pass for an ISBN-10.
                rest = after;
                weighted(&digits).is_multiple_of(10).then_some(digits)
            }
            _ => read::<10>(rest).and_then(|(digits, _)| thirteen(digits)),
        };
        if let Some(digits) = isbn {
            return digits.iter().map(|digit| char::from_digit(u32::from(*digit), 10)).collect();
        }
        rest = rest.trim_start_matches(|c: char| c.is_ascii_digit() || is_hyphen(c));
    }
    None
}

/// So many digits, and what follows them. Hyphens and blanks between them do not count; the
/// last of ten may be `X`. The number must end there, so another group of digits may follow
/// after a blank but not after a hyphen.
fn read<const N: usize>(text: &str) -> Option<([u8; N], &str)> {
    let mut digits = [0; N];
    let mut chars = text.chars();
    for (at, place) in digits.iter_mut().enumerate() {
        let c = chars.by_ref().find(|c| *c != ' ' && !is_hyphen(*c))?;
        let value = match c {
            'X' | 'x' if N == 10 && at == 9 => 10,
            _ => c.to_digit(10)?,
        };
        *place = u8::try_from(value).ok()?;
    }
    let after = chars.as_str();
    let ends = !after.trim_start_matches(is_hyphen).starts_with(|c: char| c.is_ascii_digit());
    ends.then_some((digits, after))
}

/// The ISBN-13 of an ISBN-10, if its check digit is right.
fn thirteen(ten: [u8; 10]) -> Option<[u8; 13]> {
    let sum: u32 = ten.iter().zip((1..=10).rev()).map(|(digit, weight)| u32::from(*digit) * weight).sum();
    if !sum.is_multiple_of(11) {
        return None;
    }
    let [a, b, c, d, e, f, g, h, i, _] = ten;
    let isbn = |check| [9, 7, 8, a, b, c, d, e, f, g, h, i, check];
    let check = (10 - weighted(&isbn(0)) % 10) % 10;
    u8::try_from(check).ok().map(isbn)
}

fn is_hyphen(c: char) -> bool {
    matches!(c, '-' | '\u{2010}'..='\u{2015}')
}

/// Digits weighted 1 and 3 by turns.
fn weighted(digits: &[u8; 13]) -> u32 {
    digits.iter().zip([1, 3].iter().cycle()).map(|(digit, weight)| u32::from(*digit) * weight).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(text: &str, isbn13: Option<&str>) {
        assert_eq!(isbn(text).as_deref(), isbn13, "of {text:?}");
    }

    #[test]
    fn the_number_is_found_among_other_words() {
        check("0-14-039044-8 (pbk.) : $12.95", Some("9780140390445"));
        check("ISBN 0140390448", Some("9780140390445"));
        check("ISBN0140390448.", Some("9780140390445"));
        check("urn:isbn:9780140390445", Some("9780140390445"));
        check("978-0-14-039044-5", Some("9780140390445"));
        check("978 0 14 039044 5", Some("9780140390445"));
        check("978‐0‐14‐039044‐5", Some("9780140390445"));
        check("0140390448 1999", Some("9780140390445"));
        check("12 0140390448", Some("9780140390445"));
        check("0140390443 (wrong), 0140390448 (right)", Some("9780140390445"));
        check("0140390443 0140390448", Some("9780140390445"));
    }

    #[test]
    fn ten_is_written_x() {
        check("080442957X", Some("9780804429573"));
        check("0-8044-2957-x (cloth)", Some("9780804429573"));
        check("0 8044 2957 X", Some("9780804429573"));
    }

    #[test]
    fn a_wrong_check_digit_gives_nothing() {
        check("0140390443", None);
        check("9780140390446", None);
        check("978 0 14 039044 6", None);
        check("0804429573", None);
    }

    #[test]
    fn other_numbers_are_no_isbns() {
        check("", None);
        check("1999", None);
        check("97801403904450", None);
        check("014039044", None);
        check("9790001000000", None);
        check("1234567890128", None);
    }

    proptest! {
        #[test]
        fn thirteen_digits_or_nothing(text in "[0-9X -]{0,24}|\\PC{0,16}") {
            if let Some(found) = isbn(&text) {
                prop_assert_eq!(found.len(), 13);
                prop_assert_eq!(isbn(&found), Some(found));
            }
        }
    }
}
