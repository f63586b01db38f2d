//! Tags one after the other, over bytes that may be anything.
//!
//! Nothing here is a parser: tags need not match, text may hold what it likes. That is enough
//! for the few elements around records, and it goes on where a parser would stop.

use crate::markup::Reference;
use crate::markup::tag::{self, Markup, TagEnd};
use memchr::{memchr, memmem};
use quick_xml::events::BytesStart;
use std::borrow::Cow;

/// A walk over the tags of a text.
#[derive(Debug, Clone)]
pub(super) struct Walk<'a> {
    bytes: &'a [u8],
    pub position: usize,
}

/// What comes next. Text, comments and processing instructions are passed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step<'a> {
    Start(Start<'a>),
    End(End<'a>),
    /// `<!DOCTYPE` and other declarations, at this position.
    Declaration(usize),
    /// The bytes end inside a tag or a comment, which began here.
    Cut(usize),
    Ended,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Start<'a> {
    pub at: usize,
    /// After the `>`.
    pub end: usize,
    pub tag: &'a [u8],
    pub name: &'a [u8],
    /// `<a/>`.
    pub empty: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct End<'a> {
    pub at: usize,
    pub name: &'a [u8],
}

impl<'a> Walk<'a> {
    pub fn new(bytes: &'a [u8], position: usize) -> Self {
        Self { bytes, position }
    }

    pub fn next(&mut self) -> Step<'a> {
        loop {
            let Some(found) = memchr(b'<', self.from(self.position)) else { return Step::Ended };
            let at = self.position + found;
            let past = match Markup::of(self.from(at + 1)) {
                Markup::Comment => self.past(b"-->", at + 4),
                Markup::CData => self.past(b"]]>", at + 9),
                Markup::Instruction => self.past(b"?>", at + 2),
                Markup::Text => Some(at + 1),
                Markup::Declaration => {
                    self.position = at + 1;
                    return Step::Declaration(at);
                }
                Markup::EndTag | Markup::StartTag => match tag::end(self.from(at + 1), &mut None) {
                    Some(TagEnd::After(end)) => return self.tag(at, at + 1 + end),
                    Some(TagEnd::Broken(next)) => Some(at + 1 + next),
                    None => None,
                },
            };
            let Some(past) = past else { return Step::Cut(at) };
            self.position = past;
        }
    }

    /// The inside of an element whose start tag was just met; the walk goes on after its end
    /// tag. `None` if that is missing.
    pub fn inside(&mut self, start: &Start<'a>) -> Option<&'a [u8]> {
        if start.empty {
            return Some(&[]);
        }
        let mut nested = 0_usize;
        loop {
            match self.next() {
                Step::Start(inner) if inner.name == start.name && !inner.empty => nested += 1,
                Step::End(end) if end.name == start.name => {
                    if nested == 0 {
                        return self.bytes.get(start.end..end.at);
                    }
                    nested -= 1;
                }
                Step::Start(_) | Step::End(_) | Step::Declaration(_) => {}
                Step::Cut(_) | Step::Ended => return None,
            }
        }
    }

    fn tag(&mut self, at: usize, end: usize) -> Step<'a> {
        self.position = end;
        let tag = self.bytes.get(at..end).unwrap_or_default();
        let after = |skipped: usize| {
            let rest = tag.get(skipped..).unwrap_or_default();
            rest.get(..tag::name_length(rest)).unwrap_or_default()
        };
        match tag {
            [b'<', b'/', ..] => Step::End(End { at, name: after(2) }),
            _ => Step::Start(Start { at, end, tag, name: after(1), empty: tag.ends_with(b"/>") }),
        }
    }

    fn past(&self, needle: &[u8], from: usize) -> Option<usize> {
        memmem::find(self.from(from), needle).map(|found| from + found + needle.len())
    }

    fn from(&self, position: usize) -> &'a [u8] {
        self.bytes.get(position..).unwrap_or_default()
    }
}

impl Start<'_> {
    pub fn local(&self) -> &str {
        local(self.name)
    }

    /// The value of an attribute.
    pub fn attribute(&self, name: &str) -> Option<String> {
        // Most tags have none.
        if self.tag.len() <= self.name.len() + 2 + usize::from(self.empty) {
            return None;
        }
        self.attributes().into_iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// All attributes.
    pub fn attributes(&self) -> Vec<(String, String)> {
        let (content, _) = tag::content(self.tag);
        let start = BytesStart::from_content(&*content, tag::name_length(content.as_bytes()));
        start
            .attributes()
            .with_checks(false)
            .flatten()
            .map(|attribute| {
                let key: &str = attribute.key.as_ref();
                (key.to_owned(), resolve(attribute.value.as_bytes()).trim().to_owned())
            })
            .collect()
    }
}

/// A name without its prefix. What is not UTF-8 is no name that anybody looks for.
pub(super) fn local(name: &[u8]) -> &str {
    tag::local(std::str::from_utf8(name).unwrap_or_default())
}

/// The text in an element, without the blanks around it. Elements inside are looked through.
pub(super) fn text(inside: &[u8]) -> String {
    if memchr::memchr2(b'<', b'&', inside).is_none() {
        return String::from_utf8_lossy(inside.trim_ascii()).into_owned();
    }
    let mut out = String::new();
    let mut rest = inside;
    while let Some(at) = memchr(b'<', rest) {
        let (before, markup) = rest.split_at(at);
        out.push_str(&resolve(before));
        let after = markup.get(1..).unwrap_or_default();
        let past = |from: usize, needle: &[u8]| {
            let found = memmem::find(markup.get(from..).unwrap_or_default(), needle);
            found.map_or(markup.len(), |found| from + found + needle.len())
        };
        let past = match Markup::of(after) {
            Markup::Comment => past(4, b"-->"),
            Markup::Instruction => past(2, b"?>"),
            Markup::CData => {
                let past = past(9, b"]]>");
                let data = markup.get(9..past).unwrap_or_default();
                out.push_str(&String::from_utf8_lossy(data.strip_suffix(b"]]>").unwrap_or(data)));
                past
            }
            Markup::StartTag | Markup::EndTag | Markup::Declaration => match tag::end(after, &mut None) {
                Some(TagEnd::After(end)) => 1 + end,
                Some(TagEnd::Broken(next)) => 1 + next,
                None => markup.len(),
            },
            Markup::Text => {
                out.push('<');
                1
            }
        };
        rest = markup.get(past..).unwrap_or_default();
    }
    out.push_str(&resolve(rest));
    out.trim_ascii().to_owned()
}

/// Resolves references as the reader of records does.
fn resolve(raw: &[u8]) -> Cow<'_, str> {
    let text = String::from_utf8_lossy(raw);
    if memchr(b'&', text.as_bytes()).is_none() {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    let mut rest: &str = &text;
    while let Some(at) = rest.find('&') {
        let (before, reference) = rest.split_at(at);
        out.push_str(before);
        rest = reference.get(1..).unwrap_or_default();
        // Another `&` comes first: then this one is just the character.
        let end = rest.find([';', '&']).filter(|end| rest.as_bytes().get(*end) == Some(&b';'));
        let name = end.and_then(|end| rest.get(..end)).unwrap_or_default();
        match Reference::named(name) {
            Reference::Character(character) => out.push(character),
            Reference::Forbidden => out.push('\u{FFFD}'),
            Reference::Unknown => {
                out.push('&');
                continue;
            }
        }
        rest = rest.get(name.len() + 1..).unwrap_or_default();
    }
    out.push_str(rest);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_resolved_and_looked_through() {
        for (inside, expected) in [
            (" plain\n", "plain"),
            ("a &amp;&lt;&#233;&#xE9; &nbsp; &", "a &<éé &nbsp; &"),
            ("a<!-- <b> -->b<i>c</i><![CDATA[ & ]]>d", "abc & d"),
            ("a <", "a <"),
            ("a<b", "a"),
            ("&#0;&#x1; &#X41;", "\u{FFFD}\u{FFFD} &#X41;"),
            ("&#0000000000000000000065;&a &amp;", "A&a &"),
        ] {
            assert_eq!(text(inside.as_bytes()), expected, "{inside}");
        }
    }

    #[test]
    fn an_element_ends_at_its_own_end_tag() {
        let bytes = b"<a x='>'>1<a>2</a><b></a>tail</a>";
        let mut walk = Walk::new(bytes, 0);
        let Step::Start(start) = walk.next() else { panic!() };
        assert_eq!(walk.inside(&start), Some(b"1<a>2</a><b>".as_slice()));
        assert_eq!(bytes.get(walk.position..), Some(b"tail</a>".as_slice()));
    }

    #[test]
    fn what_is_cut_off_is_said() {
        for bytes in ["<a", "<!-- ", "<a b='", "<![CDATA[ ]]", "<?x "] {
            assert_eq!(Walk::new(bytes.as_bytes(), 0).next(), Step::Cut(0), "{bytes}");
        }
        assert_eq!(Walk::new(b"text < 3", 0).next(), Step::Ended);
        assert_eq!(Walk::new(b" <!DOCTYPE a>", 0).next(), Step::Declaration(1));
    }

    #[test]
    fn attributes_are_resolved_and_trimmed() {
        let bytes = b"<h status = ' deleted' n=\"&lt;1&gt;\"/>";
        let Step::Start(start) = Walk::new(bytes, 0).next() else { panic!() };
        assert_eq!(start.attribute("status").as_deref(), Some("deleted"));
        assert_eq!(start.attribute("n").as_deref(), Some("<1>"));
        assert_eq!(start.attribute("m"), None);
        assert!(start.empty);
    }
}
