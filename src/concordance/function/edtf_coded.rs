//! `:edtf(type, date1, date2)`: the coded dates of MARC and UNIMARC in EDTF.
//!
//! MARC 21 says in 008/06 what the two dates of 008/07-14 mean, UNIMARC in 100 $a/8 for
//! 100 $a/9-16, with other letters. `9999` is an end that is open. An unknown digit is `u` in
//! MARC and a blank in UNIMARC, and `X` in EDTF. A date that is one of a range is a set,
//! `[1990..1995]`, which belongs to level 2: a span would say that it was all of them.

use super::calendar::is_day;

/// What two coded dates mean together.
#[derive(Clone, Copy)]
enum Meaning {
    /// The first counts; the second is that of the original, the copyright, the production.
    Single,
    /// The second is month and day.
    Detailed,
    Span,
    /// A span without an end so far.
    Current,
    /// A span whose end is not known.
    Unended,
    OneOf,
}

/// The dates of MARC 21 008/07-14 by the type of date, 008/06.
pub fn edtf_coded(kind: char, date1: &str, date2: &str) -> Option<String> {
    let meaning = match kind {
        's' | 'r' | 't' | 'p' => Meaning::Single,
        'e' => Meaning::Detailed,
        'm' | 'i' | 'k' | 'd' => Meaning::Span,
        'c' => Meaning::Current,
        'u' => Meaning::Unended,
        'q' => Meaning::OneOf,
        // No dates, dates before Christ, no attempt to code.
        _ => return None,
    };
    written(meaning, Year::read(date1, "u"), Year::read(date2, "u"), date2)
}

/// The dates of UNIMARC 100 $a/9-16 by the type of date, 100 $a/8.
pub fn edtf_unimarc(kind: char, date1: &str, date2: &str) -> Option<String> {
    let meaning = match kind {
        'd' | 'e' | 'h' | 'i' | 'k' => Meaning::Single,
        'j' => Meaning::Detailed,
        'b' | 'g' => Meaning::Span,
        'a' => Meaning::Current,
        'c' => Meaning::Unended,
        'f' => Meaning::OneOf,
        _ => return None,
    };
    written(meaning, Year::read(date1, " #u-"), Year::read(date2, " #u-"), date2)
}

fn written(meaning: Meaning, first: Option<Year>, second: Option<Year>, date2: &str) -> Option<String> {
    let open = Some(Year { digits: 9999, unknown: 0 });
    let first = first.filter(|_| first != open);
    match (meaning, first, second) {
        (Meaning::Span | Meaning::Unended, None, Some(end)) if second != open => {
            Some(format!("/{}", end.edtf()))
        }
        (_, None, _) => None,
        (Meaning::Single, Some(year), _) => Some(year.edtf()),
        (Meaning::Detailed, Some(year), _) => Some(format!("{}{}", year.edtf(), month_and_day(year, date2))),
        // In old records MARC's `c` was a date with the copyright date, which is not the later one.
        (Meaning::Current, Some(year), Some(copyright)) if copyright.latest() <= year.digits => {
            Some(year.edtf())
        }
        (Meaning::Current, Some(start), _) => Some(format!("{}/..", start.edtf())),
        (Meaning::Span, Some(start), Some(_)) if second == open => Some(format!("{}/..", start.edtf())),
        (Meaning::Span | Meaning::OneOf, Some(year), Some(same)) if year == same => Some(year.edtf()),
        // An end before the start is a slip; the start is more often right.
        (_, Some(start), Some(end)) if end.latest() < start.digits => Some(start.edtf()),
        (Meaning::Span, Some(start), Some(end)) => Some(format!("{}/{}", start.edtf(), end.edtf())),
        (Meaning::Span | Meaning::Unended, Some(start), _) => Some(format!("{}/", start.edtf())),
        (Meaning::OneOf, Some(start), Some(end)) => {
            Some(format!("[{:04}..{:04}]", start.digits, end.latest()))
        }
        (Meaning::OneOf, Some(year), None) if year.unknown > 0 => Some(year.edtf()),
        (Meaning::OneOf, Some(year), None) => Some(format!("{}?", year.edtf())),
    }
}

/// Four digits of which the last ones may be unknown, but not all.
#[derive(Clone, Copy, PartialEq)]
struct Year {
    digits: u32,
    unknown: u32,
}

impl Year {
    fn read(date: &str, unknown: &str) -> Option<Self> {
        let known = date.trim_end_matches(|c| unknown.contains(c));
        let is_year = date.len() == 4 && !known.is_empty() && known.bytes().all(|byte| byte.is_ascii_digit());
        if !is_year {
            return None;
        }
        let unknown = u32::try_from(4 - known.len()).ok()?;
        Some(Self { digits: known.parse::<u32>().ok()? * 10_u32.pow(unknown), unknown })
    }

    fn latest(self) -> u32 {
        self.digits + 10_u32.pow(self.unknown) - 1
    }

    fn edtf(self) -> String {
        let mut edtf = format!("{:04}", self.digits);
        edtf.truncate(usize::try_from(4 - self.unknown).unwrap_or(4));
        edtf.extend((0..self.unknown).map(|_| 'X'));
        edtf
    }
}

/// `-05-12` of `0512`, as far as there is such a day.
fn month_and_day(year: Year, date: &str) -> String {
    let number = |range| {
        let digits: &str = date.get(range)?;
        digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
    };
    match (number(0..2), number(2..4)) {
        _ if year.unknown > 0 => String::new(),
        (Some(month), Some(day)) if is_day(year.digits, month, day) => format!("-{month:02}-{day:02}"),
        (Some(month @ 1..=12), _) => format!("-{month:02}"),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(given: (char, &str, &str), expected: Option<&str>) {
        assert_eq!(edtf_coded(given.0, given.1, given.2).as_deref(), expected, "of {given:?}");
    }

    #[track_caller]
    fn check_unimarc(given: (char, &str, &str), expected: Option<&str>) {
        assert_eq!(edtf_unimarc(given.0, given.1, given.2).as_deref(), expected, "of {given:?}");
    }

    #[test]
    fn single_dates() {
        check(('s', "1854", "    "), Some("1854"));
        check(('r', "1999", "1854"), Some("1999"));
        check(('t', "1999", "1998"), Some("1999"));
        check(('s', "199u", "    "), Some("199X"));
        check(('s', "19uu", "    "), Some("19XX"));
        check(('e', "1999", "0512"), Some("1999-05-12"));
        check(('e', "1999", "05  "), Some("1999-05"));
        check(('e', "1999", "0231"), Some("1999-02"));
        check(('e', "1999", "1399"), Some("1999"));
        check(('e', "199u", "0512"), Some("199X"));
    }

    #[test]
    fn spans() {
        check(('m', "1999", "2003"), Some("1999/2003"));
        check(('m', "1999", "9999"), Some("1999/.."));
        check(('m', "1999", "uuuu"), Some("1999/"));
        check(('m', "uuuu", "1999"), Some("/1999"));
        check(('m', "1999", "1999"), Some("1999"));
        check(('m', "1999", "1998"), Some("1999"));
        check(('i', "1765", "1770"), Some("1765/1770"));
        check(('c', "1999", "9999"), Some("1999/.."));
        check(('c', "1968", "1964"), Some("1968"));
        check(('d', "1999", "200u"), Some("1999/200X"));
        check(('d', "1999", "uuuu"), Some("1999/"));
        check(('u', "1999", "uuuu"), Some("1999/"));
    }

    #[test]
    fn one_of_several_years_is_a_set() {
        check(('q', "1990", "1995"), Some("[1990..1995]"));
        check(('q', "18uu", "19uu"), Some("[1800..1999]"));
        check(('q', "199u", "199u"), Some("199X"));
        check(('q', "1990", "    "), Some("1990?"));
    }

    #[test]
    fn no_date_gives_nothing() {
        check(('n', "uuuu", "uuuu"), None);
        check(('b', "    ", "    "), None);
        check(('|', "||||", "||||"), None);
        check(('s', "||||", "    "), None);
        check(('s', "uuuu", "    "), None);
        check(('s', "19 9", "    "), None);
        check(('s', "9999", "    "), None);
        check(('s', "", ""), None);
        check(('s', "é99", ""), None);
    }

    #[test]
    fn unimarc_has_other_letters_and_blanks() {
        check_unimarc(('a', "1999", "9999"), Some("1999/.."));
        check_unimarc(('b', "1999", "2003"), Some("1999/2003"));
        check_unimarc(('c', "1999", "    "), Some("1999/"));
        check_unimarc(('d', "1999", "    "), Some("1999"));
        check_unimarc(('e', "1999", "1854"), Some("1999"));
        check_unimarc(('f', "1990", "1995"), Some("[1990..1995]"));
        check_unimarc(('g', "1999", "9999"), Some("1999/.."));
        check_unimarc(('h', "1999", "1998"), Some("1999"));
        check_unimarc(('j', "1999", "0512"), Some("1999-05-12"));
        check_unimarc(('d', "199 ", "    "), Some("199X"));
        check_unimarc(('d', "19--", "    "), Some("19XX"));
        check_unimarc(('d', "    ", "    "), None);
        check_unimarc(('u', "    ", "    "), None);
    }
}
