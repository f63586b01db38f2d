//! `:orcid(text)`: an ORCID iD as `0000-0002-1825-0097`.
//!
//! ORCID iDs are a block of the ISNIs, with the same check character, and written with hyphens.

use super::isni::isni;

/// The first ORCID iD in a text or an IRI.
pub fn orcid(text: &str) -> Option<String> {
    let digits = isni(text)?;
    let mut orcid = String::with_capacity(19);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && at.is_multiple_of(4) {
            orcid.push('-');
        }
        orcid.push(digit);
    }
    Some(orcid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, normal: Option<&str>) {
        assert_eq!(orcid(text).as_deref(), normal, "of {text:?}");
    }

    #[test]
    fn ids_are_written_with_hyphens() {
        check("https://orcid.org/0000-0002-1825-0097", Some("0000-0002-1825-0097"));
        check("(orcid)0000000218250097", Some("0000-0002-1825-0097"));
        check("0000-0002-1694-233x", Some("0000-0002-1694-233X"));
    }

    #[test]
    fn a_wrong_check_character_gives_nothing() {
        check("0000-0002-1825-0098", None);
        check("", None);
    }
}
