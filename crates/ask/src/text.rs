//! Functions on texts that the standard library does not have.

/// The characters from `start` on, counted from one, as many as `length` says.
pub(crate) fn substring(text: &str, start: i64, length: Option<i64>) -> Option<&str> {
    let first = start.checked_sub(1)?;
    let end = match length {
        Some(length) => Some(first.checked_add(length)?),
        None => None,
    };
    let byte = |position: i64| match usize::try_from(position) {
        Ok(position) => text.char_indices().nth(position).map_or(text.len(), |(byte, _)| byte),
        Err(_) => 0,
    };
    let from = byte(first);
    let to = end.map_or(text.len(), byte).max(from);
    text.get(from..to)
}

/// Whether a language tag is in a language range, as RFC 4647 matches them in its basic way.
pub(crate) fn language_matches(tag: &str, range: &str) -> bool {
    if range == "*" {
        return !tag.is_empty();
    }
    let mut tags = tag.split('-');
    range.split('-').all(|wanted| tags.next().is_some_and(|tag| tag.eq_ignore_ascii_case(wanted)))
}

/// All but the unreserved characters of RFC 3986 as percent signs and hexadecimal digits.
pub(crate) fn encode_for_uri(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                encoded.push(char::from(byte))
            }
            _ => {
                encoded.push('%');
                for digit in [byte >> 4, byte & 15] {
                    encoded.extend(
                        char::from_digit(u32::from(digit), 16).map(|digit| digit.to_ascii_uppercase()),
                    );
                }
            }
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn substrings_count_characters_from_one() {
        for (text, start, length, wanted) in [
            ("motor car", 6, None, " car"),
            ("metadata", 4, Some(3), "ada"),
            ("12345", 0, Some(3), "12"),
            ("12345", 5, Some(-3), ""),
            ("12345", -3, Some(5), "1"),
            ("", 1, Some(3), ""),
            ("Žižek", 2, Some(2), "iž"),
            ("abc", 9, None, ""),
        ] {
            assert_eq!(substring(text, start, length), Some(wanted), "{text} {start} {length:?}");
        }
    }

    #[test]
    fn a_range_matches_longer_tags() {
        assert!(language_matches("de-at", "de"));
        assert!(language_matches("de-at", "DE-AT"));
        assert!(!language_matches("de", "de-at"));
        assert!(language_matches("de", "*") && !language_matches("", "*"));
    }
}
