//! Elements as fields: Dublin Core flat, MODS and everything else as a tree.
//!
//! A field's tag is the element's name with the prefix that its namespace is known by here
//! ([`namespaces`]), so that a concordance says `dc:title` whatever the document says. Attributes
//! are subfields, named the same way. The children of the record element have depth 0.
//!
//! Text belongs to the element it stands in, without the blanks around it. Where text and
//! elements are mixed, each piece of text is a child of its own with the tag `#text`.

use super::events::{BLANKS, Events, Node, is_blank};
use super::{Refusal, namespaces};
use crate::record::{Record, RecordBuilder};
use quick_xml::events::BytesStart;
use quick_xml::name::{QName, ResolveResult};
use std::borrow::Cow;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

const NO_INDICATORS: [char; 2] = [' ', ' '];

/// Reads Dublin Core: one field per child, with all the text in it.
pub(super) fn read_flat(events: &mut Events<'_>, builder: &mut RecordBuilder) -> Result<(), Refusal> {
    let mut text = String::new();
    loop {
        match events.next()? {
            Node::Start(start) => {
                let tag = match tag(events, &start, Some("dc")) {
                    // Children that inherit the namespace of what is around them are meant as
                    // Dublin Core.
                    Cow::Owned(tag) => match tag.split_once(':') {
                        Some(("oai" | "oai_dc", name)) => format!("dc:{name}"),
                        _ => tag,
                    },
                    Cow::Borrowed(tag) => tag.to_owned(),
                };
                builder.field(&tag, NO_INDICATORS, "", 0);
                let field = builder.len() - 1;
                attributes(events, &start, builder);
                text.clear();
                if events.text(&mut text)? {
                    events.notes.bad_field(&tag, "has elements in its text");
                }
                builder.set_text(field, &nfc(text.trim_matches(BLANKS)));
            }
            Node::Text(text) => {
                if !is_blank(&text) {
                    events.notes.bad_field("dc", "has text between its elements");
                }
            }
            Node::End => return Ok(()),
        }
    }
}

/// Reads elements within elements, in document order. Those without a namespace get the given
/// prefix.
pub(super) fn read_tree(
    events: &mut Events<'_>,
    builder: &mut RecordBuilder,
    prefix: Option<&str>,
) -> Result<(), Refusal> {
    struct Open {
        field: usize,
        has_children: bool,
    }
    let mut open: Vec<Open> = Vec::new();
    // The text since the last tag.
    let mut text = String::new();
    loop {
        match events.next()? {
            Node::Text(piece) => text.push_str(&piece),
            Node::Start(start) => {
                if let Some(parent) = open.last_mut() {
                    parent.has_children = true;
                }
                text_child(builder, &mut text, open.len());
                let tag = tag(events, &start, prefix);
                builder.field(&tag, NO_INDICATORS, "", open.len());
                open.push(Open { field: builder.len() - 1, has_children: false });
                attributes(events, &start, builder);
            }
            Node::End => match open.pop() {
                Some(closed) if closed.has_children => {
                    text_child(builder, &mut text, open.len() + 1);
                }
                Some(closed) => {
                    builder.set_text(closed.field, &nfc(text.trim_matches(BLANKS)));
                    text.clear();
                }
                None => {
                    text_child(builder, &mut text, 0);
                    return Ok(());
                }
            },
        }
    }
}

/// Keeps a piece of text that stands beside elements.
fn text_child(builder: &mut RecordBuilder, text: &mut String, depth: usize) {
    let piece = text.trim_matches(BLANKS);
    if !piece.is_empty() {
        builder.field("#text", NO_INDICATORS, &nfc(piece), depth);
    }
    text.clear();
}

/// The identifier a MODS record gives itself: `recordInfo/recordIdentifier`, else its `ID`.
pub(super) fn mods_identifier(record: &Record, start: &BytesStart<'_>) -> Option<String> {
    let mut in_record_info = false;
    for field in record.fields() {
        if field.depth() == 0 {
            in_record_info = field.tag() == "mods:recordInfo";
        } else if in_record_info
            && field.depth() == 1
            && field.tag() == "mods:recordIdentifier"
            && !field.text().is_empty()
        {
            return Some(field.text().to_owned());
        }
    }
    start
        .attributes()
        .with_checks(false)
        .flatten()
        .find(|attribute| attribute.key.as_ref() == "ID")
        .map(|attribute| attribute.value.trim().to_owned())
        .filter(|id| !id.is_empty())
}

/// The text in normal form C, as all values of records are.
pub(super) fn nfc(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || is_nfc_quick(text.chars()) == IsNormalized::Yes {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.nfc().collect())
    }
}

fn tag<'s>(events: &Events<'_>, start: &'s BytesStart<'_>, prefix: Option<&str>) -> Cow<'s, str> {
    let name = start.name();
    match known_prefix(events, name, true) {
        Namespace::Known(prefix) => Cow::Owned(format!("{prefix}:{}", name.local_name().as_ref())),
        Namespace::None if name.prefix().is_none() => match prefix {
            Some(prefix) => Cow::Owned(format!("{prefix}:{}", name.local_name().as_ref())),
            None => Cow::Borrowed(name.into_inner()),
        },
        Namespace::None | Namespace::Unknown => Cow::Borrowed(name.into_inner()),
    }
}

fn attributes(events: &mut Events<'_>, start: &BytesStart<'_>, builder: &mut RecordBuilder) {
    for attribute in start.attributes().with_checks(false).flatten() {
        let name = attribute.key;
        if name.as_namespace_binding().is_some() {
            continue;
        }
        let value = events.value(attribute.value);
        let value = nfc(&value);
        match known_prefix(events, name, false) {
            Namespace::Known(prefix) => {
                builder.subfield(&format!("{prefix}:{}", name.local_name().as_ref()), &value);
            }
            Namespace::None | Namespace::Unknown => builder.subfield(name.as_ref(), &value),
        }
    }
}

enum Namespace {
    Known(&'static str),
    Unknown,
    None,
}

fn known_prefix(events: &Events<'_>, name: QName<'_>, is_element: bool) -> Namespace {
    let Some(resolver) = events.namespaces() else {
        return Namespace::Unknown;
    };
    match resolver.resolve(name, is_element).0 {
        ResolveResult::Bound(namespace) => {
            namespaces::prefix(namespace.as_ref()).map_or(Namespace::Unknown, Namespace::Known)
        }
        ResolveResult::Unbound => Namespace::None,
        ResolveResult::Unknown(_) => Namespace::Unknown,
    }
}
