//! Positions of a fixed field.

/// A part of a text; `None` when it is too short or says nothing.
pub fn slice<'t>(text: &'t str, range: &std::ops::Range<usize>) -> Option<&'t str> {
    let found = if text.is_ascii() {
        let end = range.end.min(text.len());
        text.get(range.start..end)?
    } else {
        let mut indices = text.char_indices().map(|(at, _)| at).chain([text.len()]);
        let start = indices.clone().nth(range.start)?;
        let end = indices.nth(range.end).unwrap_or(text.len());
        text.get(start..end)?
    };
    says_something(found).then_some(found)
}

/// Whether there is more than blanks and fill characters.
pub fn says_something(text: &str) -> bool {
    text.bytes().any(|b| !matches!(b, b' ' | b'|'))
}

/// `str::trim`, which most values do not need.
pub fn trim(text: &str) -> &str {
    match text.as_bytes() {
        [first, .., last] if first.is_ascii_graphic() && last.is_ascii_graphic() => text,
        _ => text.trim(),
    }
}
