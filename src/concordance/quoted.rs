//! Names in double quotes: headings and keys such as `"Title / subtitle"`, whose signs would mean
//! something to a selector. A quote inside is doubled, as in CSV.
//!
//! A selector is cut at its signs. So that this need not know of quotes, signs inside them are
//! moved out of the way first and put back in the names that were cut out.

use std::borrow::Cow;
use std::ops::Range;

/// Stands before what was quoted.
pub(super) const MARK: char = '\u{10FFFD}';
/// Signs are moved to a plane that is for private use.
const PLANE: u32 = 0xF_0000;
const SIGNS: [char; 9] = ['|', '/', '[', ']', '>', '$', '=', '!', '"'];

/// The text with the signs inside quotes moved away, and without the quotes.
pub(super) fn protect(text: &str) -> Cow<'_, str> {
    if !text.contains('"') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut inside = false;
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '"' if inside && characters.peek() == Some(&'"') => {
                characters.next();
                out.extend(char::from_u32(PLANE + u32::from('"')));
            }
            '"' => {
                inside = !inside;
                if inside {
                    out.push(MARK);
                }
            }
            c if inside && SIGNS.contains(&c) => out.extend(char::from_u32(PLANE + u32::from(c))),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// The signs put back.
pub(super) fn restore(text: &str) -> String {
    let back = |c: char| {
        let sign = u32::from(c).checked_sub(PLANE).and_then(char::from_u32);
        sign.filter(|sign| SIGNS.contains(sign)).unwrap_or(c)
    };
    text.chars().filter(|c| *c != MARK).map(back).collect()
}

/// A name as one writes it in a selector.
pub(super) fn write(name: &str) -> Cow<'_, str> {
    let is_tag = name.len() == 3 && name.bytes().all(|b| b.is_ascii_digit() || b == b'X');
    // Else it would be read as what it looks like.
    if name.contains(SIGNS) || is_tag || matches!(name, "record" | "LDR" | "") || name.trim() != name {
        return Cow::Owned(format!("\"{}\"", name.replace('"', "\"\"")));
    }
    Cow::Borrowed(name)
}

/// The parts of a text between separators that stand in neither quotes nor brackets.
pub(super) fn split(text: &str, separator: char) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let (mut start, mut depth, mut inside) = (0, 0_usize, false);
    for (at, c) in text.char_indices() {
        match c {
            '"' => inside = !inside,
            '[' if !inside => depth += 1,
            ']' if !inside => depth = depth.saturating_sub(1),
            c if c == separator && depth == 0 && !inside => {
                parts.push(start..at);
                start = at + c.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(start..text.len());
    parts
}
