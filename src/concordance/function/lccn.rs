//! `:lccn(text)`: a Library of Congress Control Number in its normal form.
//!
//! The rules are those of the `info:lccn` namespace: blanks go, and a slash with all that
//! follows it; what stands after a hyphen is filled with zeros to six digits. The result is a
//! prefix of up to three letters, then eight digits (two of the year) or ten (four of it).

/// What a number may be written behind, in 035 and in linked data.
const WRITTEN_BEHIND: &[&str] = &["(DLC)", "info:lccn/", "lccn.loc.gov/"];

/// The number without blanks and hyphen, nothing if that is not an LCCN.
pub fn lccn(text: &str) -> Option<String> {
    let text =
        WRITTEN_BEHIND.iter().find_map(|before| text.split_once(before)).map_or(text, |(_, after)| after);
    let text = text.split('/').next().unwrap_or_default();
    let mut lccn = String::with_capacity(12);
    let mut parts = text.splitn(2, '-');
    push(&mut lccn, parts.next().unwrap_or_default());
    if let Some(serial) = parts.next() {
        let digits = serial.chars().filter(|c| !c.is_whitespace()).count();
        if digits == 0 {
            return None;
        }
        lccn.extend(std::iter::repeat_n('0', 6_usize.checked_sub(digits)?));
        push(&mut lccn, serial);
    }
    is_normal(&lccn).then_some(lccn)
}

fn push(lccn: &mut String, text: &str) {
    lccn.extend(text.chars().filter(|c| !c.is_whitespace()).map(|c| c.to_ascii_lowercase()));
}

fn is_normal(lccn: &str) -> bool {
    let digits = lccn.trim_start_matches(|c: char| c.is_ascii_lowercase());
    let prefix = lccn.len() - digits.len();
    let fits = match digits.len() {
        8 => prefix <= 3,
        10 => prefix <= 2,
        _ => false,
    };
    fits && digits.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, normal: Option<&str>) {
        assert_eq!(lccn(text).as_deref(), normal, "of {text:?}");
    }

    #[test]
    fn numbers_are_brought_to_one_form() {
        check("   85-2 ", Some("85000002"));
        check("   85000002 ", Some("85000002"));
        check("2001-000002", Some("2001000002"));
        check("  2001000002", Some("2001000002"));
        check("n  79-18774", Some("n79018774"));
        check("n  79018774 ", Some("n79018774"));
        check("N79-18774", Some("n79018774"));
        check("sn 85022001", Some("sn85022001"));
        check("75-425165//r75", Some("75425165"));
        check(" 79139101 /AC/r932", Some("79139101"));
        check("(DLC)   85000002", Some("85000002"));
        check("https://lccn.loc.gov/85000002", Some("85000002"));
    }

    #[test]
    fn other_numbers_are_no_lccns() {
        check("", None);
        check("1234567", None);
        check("85-1234567", None);
        check("85-", None);
        check("(OCoLC)85000002", None);
        check("abcd85000002", None);
        check("85000002x", None);
    }
}
