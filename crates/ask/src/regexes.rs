//! Regular expressions of `REGEX` and `REPLACE`, with the flags and limits of spareval.

use regex::{Regex, RegexBuilder};

/// Bound on the size of a compiled expression, in bytes.
const SIZE_LIMIT: usize = 1_000_000;

/// Compiles a pattern. There is none for flags that SPARQL does not know or a pattern that is none.
pub(crate) fn compile(pattern: &str, flags: &str) -> Option<Regex> {
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
