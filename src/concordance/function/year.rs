//! `:year(text)`: the year of a transcribed date as four digits.

use super::transcribed::{Date, Dates, End};

/// The first year of the date that is meant. A decade has none.
pub fn year(text: &str) -> Option<String> {
    let is_plain = text.len() == 4 && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_plain && text.starts_with(['1', '2']) && text < "2100" {
        return Some(text.to_owned());
    }
    let (Dates::One(date) | Dates::Span(End::Known(date), _) | Dates::Span(_, End::Known(date))) =
        Dates::read(text)?
    else {
        return None;
    };
    matches!(date, Date { unknown: 0, .. }).then(|| format!("{:04}", date.year))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        assert_eq!(year(text).as_deref(), expected, "of {text:?}");
    }

    #[test]
    fn the_first_year_counts() {
        check("1854", Some("1854"));
        check("c1999.", Some("1999"));
        check("[1999?]", Some("1999"));
        check("[19]99", Some("1999"));
        check("1999/2000", Some("1999"));
        check("1999-", Some("1999"));
        check("-1999", Some("1999"));
        check("1985, c1983.", Some("1985"));
        check("12 mai 1999", Some("1999"));
        check("20050101", Some("2005"));
    }

    #[test]
    fn roman_numerals_and_other_digits_are_read() {
        check("MCMXCIX", Some("1999"));
        check("anno MDCCLIV.", Some("1754"));
        check("١٩٩٩", Some("1999"));
        check("१९६७", Some("1967"));
    }

    #[test]
    fn a_year_in_our_calendar_stands_in_brackets() {
        check("2024 [1967]", Some("1967"));
        check("5748 [1988]", Some("1988"));
        check("Taishō 15 [1926]", Some("1926"));
        check("5748", None);
    }

    #[test]
    fn decades_and_other_numbers_are_no_years() {
        check("199-?", None);
        check("19--", None);
        check("[n.d.]", None);
        check("99999.", None);
        check("", None);
    }
}
