//! Metadata inside an answer: one element, well-formed in its own right.
//!
//! An answer holds a hundred records; one that is not well-formed would spoil them all. So each is
//! read once before it is taken over, and left out and told where it does not hold.

use super::repository::Format;
use crate::markup::{is_forbidden, replaced};
use quick_xml::events::{BytesStart, Event};
use quick_xml::name::ResolveResult;
use quick_xml::{NsReader, XmlVersion};

/// The element of a record, ready to stand inside `metadata`; `None` if it is none.
///
/// A declaration before it goes, and characters that XML forbids are replaced; where the format wants
/// it, the element is told where its schema lies.
pub fn element(xml: &str, format: &Format) -> Option<String> {
    let clean = replaced(xml);
    let mut reader = NsReader::from_str(&clean);
    reader.config_mut().check_comments = true;
    let (mut depth, mut roots) = (0_usize, 0_usize);
    // Where the element begins and ends, and where an attribute could be put into its tag.
    let (mut begin, mut end, mut place) = (0, 0, 0);
    let mut attributes = String::new();
    loop {
        let before = usize::try_from(reader.buffer_position()).ok()?;
        let (resolved, event) = reader.read_resolved_event().ok()?;
        let is_unknown = matches!(resolved, ResolveResult::Unknown(_));
        match event {
            Event::Start(ref tag) | Event::Empty(ref tag) => {
                if is_unknown || !has_good_attributes(tag, &mut reader) {
                    return None;
                }
                if depth == 0 {
                    (roots, begin) = (roots + 1, before);
                    place = before + 1 + tag.name().as_ref().len();
                    attributes = tag.attributes_raw().to_owned();
                }
                if matches!(event, Event::Start(_)) {
                    depth += 1;
                }
            }
            Event::End(_) => depth = depth.checked_sub(1)?,
            Event::GeneralRef(reference) => {
                let name = reference.xml10_content();
                let is_good = match reference.resolve_char_ref().ok()? {
                    Some(c) => !is_forbidden(c),
                    None => PREDEFINED.contains(&&*name),
                };
                if !is_good || depth == 0 {
                    return None;
                }
            }
            Event::Text(text) if text.contains("]]>") || depth == 0 && !text.trim().is_empty() => {
                return None;
            }
            Event::CData(_) if depth == 0 => return None,
            Event::DocType(_) => return None,
            Event::Decl(_) if roots > 0 => return None,
            Event::Eof => break,
            _ => {}
        }
        if depth == 0 && roots == 1 && end == 0 {
            end = usize::try_from(reader.buffer_position()).ok()?;
        }
    }
    if depth != 0 || roots != 1 {
        return None;
    }
    let mut out = clean.get(begin..place)?.to_owned();
    if format.located && !attributes.contains("schemaLocation") {
        if !attributes.contains("xmlns:xsi") {
            out.push_str(" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"");
        }
        out.push_str(&format!(" xsi:schemaLocation=\"{} {}\"", format.namespace, format.schema));
    }
    out.push_str(clean.get(place..end)?);
    Some(out)
}

const PREDEFINED: &[&str] = &["amp", "lt", "gt", "quot", "apos"];

/// Whether all attributes can be read, differ, and have known prefixes.
fn has_good_attributes(tag: &BytesStart<'_>, reader: &mut NsReader<&[u8]>) -> bool {
    tag.attributes().all(|attribute| {
        attribute.is_ok_and(|attribute| {
            let (resolved, _) = reader.resolver_mut().resolve_attribute(attribute.key);
            let is_known = !matches!(resolved, ResolveResult::Unknown(_));
            let value = attribute.normalized_value(XmlVersion::Implicit1_0);
            is_known
                && !attribute.value.contains('<')
                && value.is_ok_and(|value| !value.contains(is_forbidden))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(xml: &str) -> Option<String> {
        element(xml, &Format::shipped()[2])
    }

    #[test]
    fn one_whole_element_is_taken() {
        for good in ["<a/>", "<a x='1'>t&amp;&#233;<b/></a>", "<p:a xmlns:p='u' p:x=''><![CDATA[<]]></p:a>"] {
            assert_eq!(taken(good).as_deref(), Some(good));
        }
        assert_eq!(taken("<?xml version=\"1.0\"?>\n <!-- c --> <a/>\n").as_deref(), Some("<a/>"));
        assert_eq!(taken("<a>\u{1}x\u{ffff}</a>").as_deref(), Some("<a>\u{fffd}x\u{fffd}</a>"));
    }

    #[test]
    fn what_would_spoil_the_answer_is_not() {
        let bad = [
            "",
            "text",
            "<a>",
            "<a></b>",
            "</a>",
            "<a/><b/>",
            "<a/>t",
            "<a>]]></a>",
            "<a><!-- -- --></a>",
            "<a>&nbsp;</a>",
            "<a>&</a>",
            "<a>&#1;</a>",
            "<a x='&#0;'/>",
            "<a x='&e;'/>",
            "<a x='1' x='2'/>",
            "<a x='<'/>",
            "<p:a/>",
            "<a p:x='1'/>",
            "<!DOCTYPE a><a/>",
            "<a/><?xml version='1.0'?>",
        ];
        for xml in bad {
            assert_eq!(taken(xml), None, "{xml}");
        }
    }

    #[test]
    fn elements_are_told_where_their_schema_lies() {
        let format = &Format::shipped()[1];
        let given = element("<record xmlns=\"http://www.loc.gov/MARC21/slim\"/>", format).unwrap();
        let expected = format!("xsi:schemaLocation=\"{} {}\" xmlns=", format.namespace, format.schema);
        assert!(given.contains(&expected), "{given}");
        assert!(taken(&given).is_some());
        assert_eq!(element(&given, format), Some(given.clone()));
        let declared = "<a xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"/>";
        assert!(taken(&element(declared, format).unwrap()).is_some(), "declared once");
    }
}
