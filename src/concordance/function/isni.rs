//! `:isni(text)`: an International Standard Name Identifier (ISO 27729) as sixteen digits.

/// The first ISNI in the text whose check character is right, without blanks.
pub fn isni(text: &str) -> Option<String> {
    let mut before = None;
    for (at, c) in text.char_indices() {
        let starts = c.is_ascii_digit() && !before.is_some_and(|b: char| b.is_ascii_digit());
        before = Some(c);
        if starts && let Some(isni) = text.get(at..).and_then(read) {
            return Some(isni);
        }
    }
    None
}

/// Sixteen digits, hyphens and blanks between them left out, checked as ISO 7064 MOD 11-2 says.
fn read(text: &str) -> Option<String> {
    let mut isni = String::with_capacity(16);
    let mut sum = 0;
    let mut rest = text.chars();
    while isni.len() < 16 {
        let c = rest.next()?.to_ascii_uppercase();
        match c.to_digit(10) {
            Some(digit) => sum = (sum * 2 + digit) % 11,
            None if c == 'X' && isni.len() == 15 => sum = (sum * 2 + 10) % 11,
            None if matches!(c, ' ' | '-' | '‐' | '‑' | '–') => continue,
            None => return None,
        }
        isni.push(c);
    }
    let ends = rest.next().is_none_or(|c| !c.is_ascii_alphanumeric());
    (ends && sum == 1).then_some(isni)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, digits: Option<&str>) {
        assert_eq!(isni(text).as_deref(), digits, "of {text:?}");
    }

    #[test]
    fn blanks_are_for_reading_only() {
        check("0000 0001 2103 2683", Some("0000000121032683"));
        check("0000000121032683", Some("0000000121032683"));
        check("ISNI:0000-0001-2103-2683.", Some("0000000121032683"));
        check("https://isni.org/isni/0000000121032683", Some("0000000121032683"));
        check("0000 0001 2281 955x", Some("000000012281955X"));
    }

    #[test]
    fn a_wrong_check_character_gives_nothing() {
        check("0000 0001 2103 2684", None);
        check("0000 0001 2281 9550", None);
        check("00000001210326830", None);
        check("0000 0001 2103", None);
        check("", None);
    }
}
