//! `:doi(text)`: a Digital Object Identifier (ISO 26324) as `10.prefix/suffix`.
//!
//! DOIs are compared without regard to case, so the normal form is lower case. They may hold
//! nearly every character, brackets included, and end at a blank; punctuation of the sentence
//! around them is told apart by its place at the end.

use std::borrow::Cow;

/// More than any registrant has assigned, in bytes.
const LONGEST: usize = 2048;

/// The first DOI in the text: bare, after `doi:` or in an address.
pub fn doi(text: &str) -> Option<String> {
    let text = match text.split_once("doi.org/") {
        Some((_, address)) => decoded(address.split(['?', '#']).next().unwrap_or_default()),
        None => Cow::Borrowed(text),
    };
    text.match_indices("10.").find_map(|(at, _)| {
        let (before, rest) = text.split_at_checked(at)?;
        let suffix = rest.strip_prefix("10.").and_then(after_registrant)?;
        if before.ends_with(|c: char| c.is_ascii_digit() || c == '.') {
            return None;
        }
        let prefix = rest.len() - suffix.len();
        let found = rest.split(char::is_whitespace).next().filter(|found| found.len() <= LONGEST)?;
        let found = without_closing(found);
        (found.len() > prefix).then(|| found.to_lowercase())
    })
}

/// What follows the number of a registrant, which may have further parts, and its slash.
fn after_registrant(text: &str) -> Option<&str> {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    if !(4..=9).contains(&(text.len() - rest.len())) {
        return None;
    }
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    rest.strip_prefix('/')
}

/// The DOI without what closes the sentence: full stops, quotes, brackets opened before it.
fn without_closing(mut doi: &str) -> &str {
    loop {
        let shorter = doi.trim_end_matches(['.', ',', ';', ':', '"', '\'', '”', '’', '»']);
        let closed = [('(', ')'), ('[', ']'), ('<', '>'), ('{', '}')].iter().find_map(|(open, close)| {
            let rest = shorter.strip_suffix(*close)?;
            (rest.matches(*open).count() <= rest.matches(*close).count()).then_some(rest)
        });
        match closed {
            Some(rest) => doi = rest,
            None => return shorter,
        }
    }
}

/// An address with its percent-encoded characters resolved, as far as they are printable ASCII:
/// `10.1000%2F182` is a usual way to write the slash.
fn decoded(address: &str) -> Cow<'_, str> {
    if !address.contains('%') {
        return Cow::Borrowed(address);
    }
    let mut pieces = address.split('%');
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let code = piece.get(..2).and_then(|code| u8::from_str_radix(code, 16).ok());
        match (code, piece.get(2..)) {
            (Some(code @ b'!'..=b'~'), Some(rest)) => {
                text.push(char::from(code));
                text.push_str(rest);
            }
            _ => {
                text.push('%');
                text.push_str(piece);
            }
        }
    }
    Cow::Owned(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, normal: Option<&str>) {
        assert_eq!(doi(text).as_deref(), normal, "of {text:?}");
    }

    #[test]
    fn dois_are_found_bare_and_in_addresses() {
        check("10.1000/182", Some("10.1000/182"));
        check("doi:10.1000/182", Some("10.1000/182"));
        check("DOI 10.1000/ABC.", Some("10.1000/abc"));
        check("https://doi.org/10.1000/182", Some("10.1000/182"));
        check("http://dx.doi.org/10.1000%2F182?nosfx=y", Some("10.1000/182"));
        check("see (doi: 10.1000/182), page 10", Some("10.1000/182"));
        check("<https://doi.org/10.1000/182>", Some("10.1000/182"));
        check("10.1000.10/123", Some("10.1000.10/123"));
    }

    #[test]
    fn brackets_may_be_part_of_it() {
        check(
            "10.1002/(SICI)1096-8644(199601)99:1<1::AID-AJPA1>3.0.CO;2-1",
            Some("10.1002/(sici)1096-8644(199601)99:1<1::aid-ajpa1>3.0.co;2-1"),
        );
        check("10.1016/S0140-6736(97)11096-0", Some("10.1016/s0140-6736(97)11096-0"));
        check("10.1016/0140-6736(97)", Some("10.1016/0140-6736(97)"));
    }

    #[test]
    fn other_numbers_are_no_dois() {
        check("", None);
        check("10.1000/", None);
        check("10.1000", None);
        check("10.12/34", None);
        check("110.1000/182", None);
        check("version 10.5/6", None);
    }
}
