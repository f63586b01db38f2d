//! `:issn(text)`: an International Standard Serial Number (ISO 3297) as `NNNN-NNNX`.

/// The first ISSN in the text whose check digit is right; the hyphen may be missing.
pub fn issn(text: &str) -> Option<String> {
    let mut before = None;
    for (at, c) in text.char_indices() {
        let starts = c.is_ascii_digit() && !before.is_some_and(|b: char| b.is_ascii_digit() || b == '-');
        before = Some(c);
        if starts && let Some(issn) = text.get(at..).and_then(read) {
            return Some(issn);
        }
    }
    None
}

fn read(text: &str) -> Option<String> {
    let mut issn = String::with_capacity(9);
    let mut sum = 0;
    let mut chars = text.chars().peekable();
    for weight in (1..=8).rev() {
        if weight == 4 {
            chars.next_if(|c| matches!(c, '-' | '‐' | '‑' | '–' | ' '));
            issn.push('-');
        }
        let c = chars.next()?.to_ascii_uppercase();
        let value = if weight == 1 && c == 'X' { 10 } else { c.to_digit(10)? };
        sum += value * weight;
        issn.push(c);
    }
    let ends = chars.next().is_none_or(|c| !c.is_alphanumeric() && c != '-');
    (ends && sum.is_multiple_of(11)).then_some(issn)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, normal: Option<&str>) {
        assert_eq!(issn(text).as_deref(), normal, "of {text:?}");
    }

    #[test]
    fn the_hyphen_is_put_where_it_belongs() {
        check("0028-0836", Some("0028-0836"));
        check("00280836", Some("0028-0836"));
        check("0028 0836", Some("0028-0836"));
        check("ISSN 0028‐0836 (print)", Some("0028-0836"));
        check("urn:issn:0028-0836", Some("0028-0836"));
        check("2434-561x", Some("2434-561X"));
    }

    #[test]
    fn a_wrong_check_digit_gives_nothing() {
        check("0028-0837", None);
        check("2434-5610", None);
    }

    #[test]
    fn other_numbers_are_no_issns() {
        check("", None);
        check("0028-083", None);
        check("0028-08361", None);
        check("10028-0836", None);
        check("978-0028-0836", None);
    }
}
