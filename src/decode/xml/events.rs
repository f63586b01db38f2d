//! The parser of one record, within the [`limits`].
//!
//! `quick-xml` finds the tokens and matches the tags; everything it leaves to its user is here:
//! nesting, the number of attributes and their uniqueness, references, and that a tag has a
//! name. A reference to anything but a character or one of XML's five entities is kept as it
//! is written.

use crate::diagnostic::{Code, Diagnostic, RecordLog};
use crate::markup::{Reference, Refusal, limits, refuse, too_many_attributes};
use quick_xml::events::{BytesStart, Event};
use quick_xml::name::{NamespaceError, NamespaceResolver};
use quick_xml::reader::Reader;
use smallvec::SmallVec;
use std::borrow::Cow;

pub(super) struct Events<'a> {
    reader: Reader<&'a [u8]>,
    depth: usize,
    /// What prefixes mean here; none is kept where nobody asks.
    namespaces: Option<NamespaceResolver>,
    pub notes: Notes,
}

/// What comes next. An empty element is a start and an end; comments and processing
/// instructions are nothing.
#[derive(Debug)]
pub(super) enum Node<'a> {
    Start(BytesStart<'a>),
    Text(Cow<'a, str>),
    End,
}

impl<'a> Events<'a> {
    pub fn new(text: &'a str) -> Self {
        let mut reader = Reader::from_str(text);
        let config = reader.config_mut();
        config.allow_dangling_amp = true;
        config.expand_empty_elements = true;
        let mut namespaces = NamespaceResolver::default();
        namespaces.set_max_namespace_bindings(limits::DEPTH);
        Self { reader, depth: 0, namespaces: Some(namespaces), notes: Notes::default() }
    }

    /// The prefixes in force, unless [`forget_namespaces`](Self::forget_namespaces) was called.
    pub fn namespaces(&self) -> Option<&NamespaceResolver> {
        self.namespaces.as_ref()
    }

    /// Saves the work of following declarations from here on.
    pub fn forget_namespaces(&mut self) {
        self.namespaces = None;
    }

    /// The start tag of the outermost element.
    pub fn root(&mut self) -> Result<BytesStart<'a>, Refusal> {
        loop {
            match self.token()? {
                Some(Node::Start(start)) => return Ok(start),
                Some(Node::Text(text)) if is_blank(&text) => {}
                Some(Node::Text(_) | Node::End) => {
                    return refuse(Code::NotARecord, "text stands where a record should begin");
                }
                None => return refuse(Code::NotARecord, "there is no element"),
            }
        }
    }

    /// The next node inside the outermost element.
    pub fn next(&mut self) -> Result<Node<'a>, Refusal> {
        match self.token()? {
            Some(node) => Ok(node),
            None => refuse(Code::TruncatedRecord, "the record ends inside an element"),
        }
    }

    /// Makes sure that nothing is left open or comes after.
    pub fn finish(&mut self) -> Result<(), Refusal> {
        while self.depth > 0 {
            self.next()?;
        }
        loop {
            match self.token()? {
                None => return Ok(()),
                Some(Node::Text(text)) if is_blank(&text) => {}
                Some(_) => return refuse(Code::XmlSyntax, "something follows the record"),
            }
        }
    }

    /// Passes over the rest of the element whose start tag was read last.
    pub fn skip(&mut self) -> Result<(), Refusal> {
        let outside = self.depth - 1;
        while self.depth > outside {
            self.next()?;
        }
        Ok(())
    }

    /// Appends all text of the element whose start tag was read last, up to its end. The answer
    /// is whether elements stood in it.
    pub fn text(&mut self, out: &mut String) -> Result<bool, Refusal> {
        let outside = self.depth - 1;
        let mut mixed = false;
        loop {
            match self.next()? {
                Node::Text(text) => out.push_str(&text),
                Node::Start(_) => mixed = true,
                Node::End if self.depth == outside => return Ok(mixed),
                Node::End => {}
            }
        }
    }

    /// The value of an attribute, its references resolved.
    pub fn value<'v>(&mut self, raw: Cow<'v, str>) -> Cow<'v, str> {
        if memchr::memchr3(b'&', b'\n', b'\t', raw.as_bytes()).is_none() {
            return raw;
        }
        let mut out = String::with_capacity(raw.len());
        let mut rest: &str = &raw;
        while let Some(at) = rest.find('&') {
            let (before, reference) = rest.split_at(at);
            out.push_str(before);
            rest = reference.get(1..).unwrap_or_default();
            // A name ends before the next `&` or blank, and is looked for no further: a value may be
            // all ampersands.
            let end = rest.find([';', '&', ' ']).filter(|end| rest.as_bytes().get(*end) == Some(&b';'));
            match end {
                Some(end) => {
                    let name = rest.get(..end).unwrap_or_default();
                    out.push_str(&self.notes.resolve(name));
                    rest = rest.get(end + 1..).unwrap_or_default();
                }
                None => {
                    self.notes.stray_ampersands += 1;
                    out.push('&');
                }
            }
        }
        out.push_str(rest);
        // XML 1.0 § 3.3.3: literal white space in an attribute is a blank.
        Cow::Owned(out.replace(['\n', '\t'], " "))
    }

    fn token(&mut self) -> Result<Option<Node<'a>>, Refusal> {
        loop {
            let event = match self.reader.read_event() {
                Ok(event) => event,
                Err(error) => return self.syntax(error.to_string()),
            };
            return Ok(Some(match event {
                Event::Start(start) => {
                    self.start(&start)?;
                    Node::Start(start)
                }
                Event::End(_) => {
                    self.depth = self.depth.saturating_sub(1);
                    if let Some(namespaces) = &mut self.namespaces {
                        namespaces.pop();
                    }
                    Node::End
                }
                Event::Text(text) => {
                    let text = text.into_inner();
                    // References are tokens of their own, so this one is none.
                    if text.starts_with('&') {
                        self.notes.stray_ampersands += 1;
                    }
                    Node::Text(text)
                }
                Event::CData(text) => Node::Text(text.into_inner()),
                Event::GeneralRef(reference) => Node::Text(self.notes.resolve(&reference)),
                Event::DocType(_) => {
                    return refuse(Code::XmlDoctype, "the record has a document type declaration");
                }
                Event::Eof => return Ok(None),
                // Empty elements are expanded to a start and an end.
                Event::Empty(_) | Event::Comment(_) | Event::PI(_) | Event::Decl(_) => continue,
            }));
        }
    }

    fn start(&mut self, start: &BytesStart<'_>) -> Result<(), Refusal> {
        self.depth += 1;
        if self.depth > limits::DEPTH {
            return refuse(Code::XmlLimit, format!("more than {} elements inside each other", limits::DEPTH));
        }
        if let Err(refusal) = check_tag(start) {
            return Err(Box::new(refusal.at(self.position())));
        }
        if let Some(namespaces) = &mut self.namespaces {
            match namespaces.push(start) {
                Ok(()) => {}
                Err(error @ (NamespaceError::TooManyBindings(_) | NamespaceError::TooDeeplyNested(_))) => {
                    return refuse(Code::XmlLimit, error.to_string());
                }
                Err(error) => return self.syntax(error.to_string()),
            }
        }
        Ok(())
    }

    fn syntax<T>(&self, message: String) -> Result<T, Refusal> {
        Err(Box::new(Diagnostic::new(Code::XmlSyntax, message).at(self.position())))
    }

    fn position(&self) -> usize {
        usize::try_from(self.reader.buffer_position()).unwrap_or(usize::MAX)
    }
}

/// What XML calls white space.
pub(super) const BLANKS: [char; 4] = [' ', '\t', '\n', '\r'];

pub(super) fn is_blank(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'))
}

/// What `quick-xml` does not check about a start tag.
pub(super) fn check_tag(start: &BytesStart<'_>) -> Result<(), Refusal> {
    let name = start.name();
    let name: &str = name.as_ref();
    let syntax = |message: String| refuse(Code::XmlSyntax, message);
    let limit = |message: String| refuse(Code::XmlLimit, message);
    if start.len() > limits::TAG {
        return limit(format!("a tag is longer than {} bytes", limits::TAG));
    }
    if name.len() > limits::NAME {
        return limit(format!("the name of an element is longer than {} bytes", limits::NAME));
    }
    if !name.starts_with(|first: char| {
        first.is_ascii_alphabetic() || matches!(first, '_' | ':') || !first.is_ascii()
    }) || name.contains(['<', '"', '\'', '&', '='])
    {
        return syntax("a `<` does not begin a tag; in text it is written `&lt;`".to_owned());
    }
    let raw = start.attributes_raw();
    if raw.is_empty() {
        return Ok(());
    }
    if memchr::memchr(b'<', raw.as_bytes()).is_some() {
        return syntax(format!("there is a `<` inside the tag `{name}`"));
    }
    let mut keys: SmallVec<[&str; 8]> = SmallVec::new();
    let mut declarations = 0;
    for attribute in start.attributes().with_checks(false) {
        let key = match attribute {
            Ok(attribute) => attribute.key.into_inner(),
            Err(error) => return syntax(format!("in the tag `{name}`: {error}")),
        };
        if keys.len() == limits::ATTRIBUTES {
            return limit(too_many_attributes());
        }
        if key.starts_with("xmlns") {
            declarations += 1;
            if declarations > limits::DECLARATIONS {
                return limit(format!(
                    "an element has more than {} namespace declarations",
                    limits::DECLARATIONS
                ));
            }
        }
        if keys.contains(&key) {
            return syntax(format!("the tag `{name}` has two attributes `{key}`"));
        }
        keys.push(key);
    }
    Ok(())
}

/// What is wrong with a record that is kept.
#[derive(Debug, Default)]
pub(super) struct Notes {
    log: RecordLog,
    stray_ampersands: usize,
    unknown_entities: usize,
    /// The first of them, for the message.
    unknown_entity: String,
    forbidden_references: usize,
}

impl Notes {
    pub fn bad_field(&mut self, field: &str, what: &str) {
        let field = short(field);
        self.log.push(Diagnostic::new(Code::BadField, format!("`{field}` {what}")).in_field(field));
    }

    pub fn bad_leader(&mut self, message: String) {
        self.log.push(Diagnostic::new(Code::BadLeader, message));
    }

    pub fn drain_into(&mut self, diagnostics: &mut RecordLog) {
        diagnostics.extend(std::mem::take(&mut self.log));
        let mut note = |code, count: usize, message: String| {
            if count > 0 {
                diagnostics.push(Diagnostic::new(code, message));
            }
        };
        let count = self.stray_ampersands;
        note(Code::BadField, count, format!("{count} times `&` stands where `&amp;` should"));
        let count = self.unknown_entities;
        note(
            Code::BadField,
            count,
            format!(
                "{count} references to entities that XML does not define, the first `&{};`, were kept as text",
                self.unknown_entity
            ),
        );
        let count = self.forbidden_references;
        note(Code::ForbiddenCharacter, count, format!("{count} references to characters that XML forbids"));
    }

    /// What the reference `&name;` stands for.
    fn resolve(&mut self, name: &str) -> Cow<'static, str> {
        match Reference::named(name) {
            // Those that most references are need no memory.
            Reference::Character('&') => Cow::Borrowed("&"),
            Reference::Character('<') => Cow::Borrowed("<"),
            Reference::Character('>') => Cow::Borrowed(">"),
            Reference::Character(character) => Cow::Owned(character.to_string()),
            Reference::Forbidden => {
                self.forbidden_references += 1;
                Cow::Borrowed("\u{FFFD}")
            }
            Reference::Unknown => {
                if self.unknown_entities == 0 {
                    short(name).clone_into(&mut self.unknown_entity);
                }
                self.unknown_entities += 1;
                Cow::Owned(format!("&{name};"))
            }
        }
    }
}

/// As much of a name as a message needs.
fn short(name: &str) -> &str {
    let end = name.char_indices().nth(40).map_or(name.len(), |(at, _)| at);
    name.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(xml: &str) -> (String, Vec<String>) {
        let mut events = Events::new(xml);
        events.root().unwrap();
        let mut out = String::new();
        events.text(&mut out).unwrap();
        events.finish().unwrap();
        let mut diagnostics = RecordLog::default();
        events.notes.drain_into(&mut diagnostics);
        (out, diagnostics.into_iter().map(|d| d.message).collect())
    }

    fn refusal(xml: &str) -> Code {
        let mut events = Events::new(xml);
        let mut read = || {
            events.root()?;
            events.text(&mut String::new())?;
            events.finish()
        };
        read().unwrap_err().code
    }

    #[test]
    fn characters_and_the_five_entities_are_resolved() {
        let (out, notes) = text("<a>&lt;&#65;&#x1D11E;&amp;<!-- no --><![CDATA[&b;<]]></a>");
        assert_eq!(out, "<A𝄞&&b;<");
        assert!(notes.is_empty());
    }

    #[test]
    fn other_references_stay_text() {
        let (out, notes) = text("<a>Tom & Jerry &nbsp; AT&T &x;</a>");
        assert_eq!(out, "Tom & Jerry &nbsp; AT&T &x;");
        assert_eq!(notes.len(), 2);
    }

    #[test]
    fn references_to_no_character_become_a_replacement() {
        let (out, notes) = text("<a>&#0;&#xD800;&#99999999999;</a>");
        assert_eq!(out, "\u{FFFD}\u{FFFD}\u{FFFD}");
        assert_eq!(notes, ["3 references to characters that XML forbids"]);
    }

    #[test]
    fn ill_formed_xml_is_refused() {
        for xml in ["<a><b></a>", "<a b='1' b='2'/>", "<a b='<'/>", "<a b=1/>", "<a>1 < 2</a>", "<a/><a/>"] {
            assert_eq!(refusal(xml), Code::XmlSyntax, "{xml}");
        }
        assert_eq!(refusal("<!DOCTYPE a><a/>"), Code::XmlDoctype);
        assert_eq!(refusal("<a><b>"), Code::TruncatedRecord);
    }

    #[test]
    fn limits_hold() {
        let deep = "<a>".repeat(limits::DEPTH + 1);
        assert_eq!(refusal(&deep), Code::XmlLimit);
        let flood: String = (0..=limits::ATTRIBUTES).map(|n| format!(" a{n}=''")).collect();
        assert_eq!(refusal(&format!("<a{flood}/>")), Code::XmlLimit);
        let flood: String = (0..=limits::DECLARATIONS).map(|n| format!(" xmlns:a{n}='u'")).collect();
        assert_eq!(refusal(&format!("<a{flood}/>")), Code::XmlLimit);
        let long = "a".repeat(limits::NAME + 1);
        assert_eq!(refusal(&format!("<{long}/>")), Code::XmlLimit);
    }

    #[test]
    fn attribute_values_are_resolved_like_text() {
        let mut events = Events::new("<a/>");
        let value =
            |events: &mut Events<'_>, raw: &'static str| events.value(Cow::Borrowed(raw)).into_owned();
        assert_eq!(value(&mut events, "a&amp;b &#x41;\n&c;&"), "a&b A &c;&");
        assert_eq!(value(&mut events, "plain"), "plain");
    }
}
