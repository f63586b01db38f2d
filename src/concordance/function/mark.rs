//! `:mark(text)` and `:stripmark(text)`: the agency that stands in brackets before a number.
//!
//! MARC writes the source of a number in parentheses before it: `(DLC)n 79018774`,
//! `(DE-588)118622110`, `(uri) http://…`. A mark is a code without blanks, at most sixteen
//! characters long as an ISIL is, and something follows it; `(pbk.)` is none.

/// The mark without its brackets.
pub fn mark(text: &str) -> Option<&str> {
    split(text).map(|(mark, _)| mark)
}

/// The text without its mark, and without blanks around it if there was one.
pub fn stripmark(text: &str) -> &str {
    split(text).map_or(text, |(_, rest)| rest)
}

fn split(text: &str) -> Option<(&str, &str)> {
    let (mark, rest) = text.trim_start().strip_prefix('(')?.split_once(')')?;
    let rest = rest.trim();
    let is_code = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'/' | b':' | b'_');
    let fits = (1..=16).contains(&mark.len()) && mark.bytes().all(is_code) && !rest.is_empty();
    fits.then_some((mark, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_is_told_from_the_number() {
        let cases = [
            ("(DLC)n 79018774", "DLC", "n 79018774"),
            ("(DE-588)118622110", "DE-588", "118622110"),
            ("(uri) http://example.org/1", "uri", "http://example.org/1"),
            (" (OCoLC) 12345 ", "OCoLC", "12345"),
        ];
        for (text, code, rest) in cases {
            assert_eq!((mark(text), stripmark(text)), (Some(code), rest));
        }
    }

    #[test]
    fn other_brackets_are_no_marks() {
        for text in ["n 79018774", "(pbk.)", "(DLC)", "()1", "(Weston, Vt.) Priory", "(open", "1 (DLC)", ""] {
            assert_eq!((mark(text), stripmark(text)), (None, text));
        }
    }
}
