//! `:oclc(text)`: the number of a record in WorldCat, digits alone.
//!
//! OCLC writes `ocm` before numbers of eight digits, `ocn` before nine and `on` before more,
//! and fills the short ones with zeros; none of that is part of the number.

use super::mark::{mark, stripmark};

const PREFIXES: &[&str] = &["ocm", "ocn", "on"];
/// What a number may be written behind in linked data.
const WRITTEN_BEHIND: &[&str] = &["/oclc/", "info:oclcnum/"];

/// The number, nothing if the text has the mark of another agency.
pub fn oclc(text: &str) -> Option<String> {
    if mark(text).is_some_and(|agency| !agency.eq_ignore_ascii_case("OCoLC")) {
        return None;
    }
    let text = stripmark(text).trim();
    let text =
        WRITTEN_BEHIND.iter().find_map(|before| text.split_once(before)).map_or(text, |(_, after)| after);
    let digits = PREFIXES.iter().find_map(|prefix| text.strip_prefix(prefix)).unwrap_or(text);
    let number = digits.trim_start_matches('0');
    (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())).then(|| number.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, number: Option<&str>) {
        assert_eq!(oclc(text).as_deref(), number, "of {text:?}");
    }

    #[test]
    fn prefixes_and_zeros_are_not_part_of_the_number() {
        check("(OCoLC)ocm00012345", Some("12345"));
        check("(OCoLC)12345", Some("12345"));
        check("(ocolc) 12345 ", Some("12345"));
        check("ocm00012345 ", Some("12345"));
        check("ocn123456789", Some("123456789"));
        check("on1234567890", Some("1234567890"));
        check("12345", Some("12345"));
        check("http://www.worldcat.org/oclc/12345", Some("12345"));
    }

    #[test]
    fn numbers_of_others_are_none() {
        check("(DLC)12345", None);
        check("(OCoLC)fst00012345", None);
        check("(OCoLC)", None);
        check("000", None);
        check("", None);
    }
}
