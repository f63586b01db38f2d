//! What stands at a `<`, and where a tag ends.

use std::borrow::Cow;

/// What stands at a `<`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Markup {
    Comment,
    CData,
    Instruction,
    /// `<!DOCTYPE` and other declarations.
    Declaration,
    EndTag,
    StartTag,
    /// Just the character.
    Text,
}

impl Markup {
    /// How many bytes after the `<` tell.
    pub const NEEDS: usize = 8;

    /// Judges by what comes after the `<`.
    #[inline]
    pub fn of(after: &[u8]) -> Self {
        match after {
            [b'/', ..] => Self::EndTag,
            [b'?', ..] => Self::Instruction,
            [b'!', b'-', b'-', ..] => Self::Comment,
            [b'!', rest @ ..] if rest.starts_with(b"[CDATA[") => Self::CData,
            [b'!', ..] => Self::Declaration,
            [first, ..]
                if first.is_ascii_alphabetic() || matches!(first, b'_' | b':') || !first.is_ascii() =>
            {
                Self::StartTag
            }
            _ => Self::Text,
        }
    }
}

/// Where a tag ends, counted from where it was looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TagEnd {
    /// After its `>`.
    After(usize),
    /// It never ends: another `<` comes first.
    Broken(usize),
}

/// Finds the end of a tag. Quotes may hold a `>`, but a `<` nowhere. `quote` is the one that is
/// open, for whoever has the tag in several parts; `None` means that its end is not among
/// these bytes.
pub fn end(bytes: &[u8], quote: &mut Option<u8>) -> Option<TagEnd> {
    for (index, byte) in bytes.iter().enumerate() {
        match (*quote, *byte) {
            (None, b'>') => return Some(TagEnd::After(index + 1)),
            (_, b'<') => return Some(TagEnd::Broken(index)),
            (None, b'"' | b'\'') => *quote = Some(*byte),
            (Some(open), byte) if open == byte => *quote = None,
            _ => {}
        }
    }
    None
}

/// The inside of a start tag, and whether it is the end tag as well.
pub fn content(tag: &[u8]) -> (Cow<'_, str>, bool) {
    let content = tag.strip_prefix(b"<").unwrap_or(tag);
    let content = content.strip_suffix(b">").unwrap_or(content);
    let (content, empty) = match content.strip_suffix(b"/") {
        Some(content) => (content, true),
        None => (content, false),
    };
    (String::from_utf8_lossy(content), empty)
}

/// How long the name is with which a tag's inside begins.
pub fn name_length(tag: &[u8]) -> usize {
    tag.iter()
        .position(|byte| byte.is_ascii_whitespace() || matches!(byte, b'>' | b'/' | b'<'))
        .unwrap_or(tag.len())
}

/// Whether a tag's inside begins with this whole name.
#[inline]
pub fn is_name(tag: &[u8], name: &[u8]) -> bool {
    tag.strip_prefix(name).is_some_and(|rest| {
        rest.first().is_some_and(|byte| byte.is_ascii_whitespace() || matches!(byte, b'>' | b'/'))
    })
}

/// A name without its prefix.
pub fn local(name: &str) -> &str {
    name.rsplit(':').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_ends_at_the_first_bracket_outside_quotes() {
        assert_eq!(end(b"a b='>' c=\"'>\">x", &mut None), Some(TagEnd::After(15)));
        assert_eq!(end(b"a b='<'>", &mut None), Some(TagEnd::Broken(5)));
        let mut quote = None;
        assert_eq!(end(b"a b='>", &mut quote), None);
        assert_eq!(end(b"'>", &mut quote), Some(TagEnd::After(2)));
    }

    #[test]
    fn what_is_no_tag_is_text() {
        assert_eq!(Markup::of(b" 2"), Markup::Text);
        assert_eq!(Markup::of(b""), Markup::Text);
        assert_eq!(Markup::of(b"![CDATA[x"), Markup::CData);
        assert_eq!(Markup::of(b"![CDAT"), Markup::Declaration);
        assert_eq!(Markup::of("é".as_bytes()), Markup::StartTag);
    }
}
