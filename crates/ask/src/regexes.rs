//! Regular expressions of `REGEX` and `REPLACE`, with the flags and limits of spareval.

use regex::{Regex, RegexBuilder};
use std::borrow::Cow;

/// Bound on the size of a compiled expression, in bytes.
const SIZE_LIMIT: usize = 1_000_000;

/// A compiled expression.
///
/// With a word boundary in it the fast engines give up on any text that is not ASCII, and what is
/// left takes microseconds for a title. Most titles do not match, and most of these not even
/// without the boundaries, which is soon known.
#[derive(Debug)]
pub(crate) struct Matcher {
    regex: Regex,
    /// The same without word boundaries, where it has some: it matches wherever the other does.
    loose: Option<Regex>,
}

impl Matcher {
    /// Compiles a pattern. There is none for flags that SPARQL does not know or a pattern that is none.
    pub fn new(pattern: &str, flags: &str) -> Option<Self> {
        let regex = compile(pattern, flags)?;
        let loose = match flags.contains('q') {
            true => None,
            false => without_boundaries(pattern).and_then(|pattern| compile(&pattern, flags)),
        };
        Some(Self { regex, loose })
    }

    /// Whether it matches anywhere.
    pub fn is_match(&self, text: &str) -> bool {
        self.may_match(text) && self.regex.is_match(text)
    }

    /// The text with each match replaced, borrowed if there is none.
    pub fn replace_all<'t>(&self, text: &'t str, replacement: &str) -> Cow<'t, str> {
        match self.may_match(text) {
            true => self.regex.replace_all(text, replacement),
            false => Cow::Borrowed(text),
        }
    }

    fn may_match(&self, text: &str) -> bool {
        self.loose.as_ref().is_none_or(|loose| text.is_ascii() || loose.is_match(text))
    }
}

fn compile(pattern: &str, flags: &str) -> Option<Regex> {
    let literal = flags.contains('q').then(|| regex::escape(pattern));
    let mut builder = RegexBuilder::new(literal.as_deref().unwrap_or(pattern));
    builder.size_limit(SIZE_LIMIT);
    for flag in flags.chars() {
        match flag {
            's' => builder.dot_matches_new_line(true),
            'm' => builder.multi_line(true),
            'i' => builder.case_insensitive(true),
            'x' => builder.ignore_whitespace(true),
            'q' => &mut builder,
            _ => return None,
        };
    }
    builder.build().ok()
}

/// The pattern without `\b`, if it has any and no other form of it.
fn without_boundaries(pattern: &str) -> Option<String> {
    let mut loose = String::with_capacity(pattern.len());
    let mut rest = pattern.chars().peekable();
    while let Some(next) = rest.next() {
        match (next, rest.peek()) {
            ('\\', Some('b')) => {
                rest.next();
                // `\b{start}` and the like, or a boundary that is repeated: rare, and left as it is.
                if matches!(rest.peek(), Some('{' | '*' | '+' | '?')) {
                    return None;
                }
            }
            // What is escaped is no boundary, be it a backslash before a `b`.
            ('\\', Some(_)) => {
                loose.push(next);
                loose.extend(rest.next());
            }
            _ => loose.push(next),
        }
    }
    (loose.len() < pattern.len()).then_some(loose)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn boundaries_are_left_out() {
        for (pattern, loose) in [
            (r"\ba play\b", Some("a play")),
            (r"^[^0-9]*(\bd\.|\bfl)", Some(r"^[^0-9]*(d\.|fl)")),
            (r"\\b", None),
            (r"\\\b", Some(r"\\")),
            (r"a\b{start}", None),
            (r"a\b+", None),
            ("[ab]", None),
        ] {
            assert_eq!(without_boundaries(pattern).as_deref(), loose, "{pattern}");
        }
    }

    proptest! {
        #[test]
        fn leaving_them_out_changes_no_answer(
            pattern in r"(\\b|a|é|\(é\|\\ba\)|\.|\[\^a\]|\\w|\\B|a\*|\^|\$| ){1,8}",
            text in "[aAé b.]{0,12}",
            flags in "[i]?",
        ) {
            if let Some(matcher) = Matcher::new(&pattern, &flags) {
                prop_assert_eq!(matcher.is_match(&text), matcher.regex.is_match(&text));
                prop_assert_eq!(matcher.replace_all(&text, "<$0>"), matcher.regex.replace_all(&text, "<$0>"));
            }
        }
    }
}
