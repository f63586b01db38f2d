//! MARC in XML: MARCXML, marcxchange (ISO 25577) and UNIMARC slim.
//!
//! The three differ in namespace, and the last in its short names; prefixes do not matter, so
//! local names are all that is looked at. What cannot be a field is left out and reported.

use super::events::{BLANKS, Events, Node, is_blank};
use super::{Refusal, elements::nfc};
use crate::record::{Model, Record, RecordBuilder};
use quick_xml::events::BytesStart;

/// Reads the children of a `record` up to its end; the first may have been read already.
pub(super) fn read<'a>(events: &mut Events<'a>, first: Option<BytesStart<'a>>) -> Result<Record, Refusal> {
    events.forget_namespaces();
    let mut fields = Fields {
        builder: RecordBuilder::new(Model::Marc21),
        text: String::new(),
        code: String::new(),
        has_leader: false,
    };
    let mut node = match first {
        Some(first) => Node::Start(first),
        None => events.next()?,
    };
    loop {
        match node {
            Node::Start(start) => fields.child(events, &start)?,
            Node::Text(text) => {
                if !is_blank(&text) {
                    events.notes.bad_field("record", "has text between its fields");
                }
            }
            Node::End => break,
        }
        node = events.next()?;
    }
    if !fields.has_leader {
        events.notes.bad_leader("the record has no leader".to_owned());
    }
    let mut record = fields.builder.finish();
    crate::decode::marc::finish(&mut record);
    Ok(record)
}

struct Fields {
    builder: RecordBuilder,
    /// The text of an element, in a buffer used again and again.
    text: String,
    code: String,
    has_leader: bool,
}

#[derive(Default)]
struct Attributes {
    tag: Option<String>,
    indicators: [Option<char>; 2],
    further_indicators: bool,
}

/// The tag of a field that has none: what it holds is kept, though no rule will ask for it.
const NO_TAG: &str = "???";

impl Attributes {
    /// The tag as MARC writes it. Spreadsheets lose the zeros at its front.
    fn tag(&self, events: &mut Events<'_>, element: &str) -> String {
        let tag = self.tag.as_deref().unwrap_or_default().trim();
        if tag.is_empty() {
            events.notes.bad_field(element, "has no tag");
            return NO_TAG.to_owned();
        }
        if tag.chars().count() == 3 {
            return tag.to_owned();
        }
        events.notes.bad_field(tag, "is no tag of three characters");
        if tag.len() < 3 && tag.bytes().all(|byte| byte.is_ascii_digit()) {
            return format!("{tag:0>3}");
        }
        tag.to_owned()
    }
}

impl Fields {
    fn child(&mut self, events: &mut Events<'_>, start: &BytesStart<'_>) -> Result<(), Refusal> {
        let name = start.local_name();
        match name.as_ref() {
            "leader" | "lab" => self.leader(events),
            "controlfield" | "cf" => self.control_field(events, start),
            "datafield" | "df" => self.data_field(events, start),
            other => {
                events.notes.bad_field(other, "is not an element of a MARC record");
                events.skip()
            }
        }
    }

    fn leader(&mut self, events: &mut Events<'_>) -> Result<(), Refusal> {
        self.text.clear();
        events.text(&mut self.text)?;
        self.has_leader = true;
        let mut leader = self.text.as_str();
        // Blanks are positions of the leader, line ends are the work of a pretty-printer.
        if leader.contains('\n') {
            leader = leader.trim_matches(BLANKS);
        }
        let length = leader.chars().count();
        if length != 24 {
            events.notes.bad_leader(format!("the leader has {length} characters instead of 24"));
        }
        self.builder.leader(leader);
        Ok(())
    }

    fn control_field(&mut self, events: &mut Events<'_>, start: &BytesStart<'_>) -> Result<(), Refusal> {
        let attributes = attributes(events, start);
        self.text.clear();
        let mixed = events.text(&mut self.text)?;
        let tag = attributes.tag(events, "controlfield");
        if mixed {
            events.notes.bad_field(&tag, "is a control field with elements in it");
        }
        self.builder.field(&tag, [' ', ' '], &nfc(&self.text), 0);
        Ok(())
    }

    fn data_field(&mut self, events: &mut Events<'_>, start: &BytesStart<'_>) -> Result<(), Refusal> {
        let attributes = attributes(events, start);
        let tag = attributes.tag(events, "datafield");
        if attributes.further_indicators {
            events.notes.bad_field(&tag, "has more than two indicators; two were read");
        }
        let indicators = attributes.indicators.map(|given| given.unwrap_or(' '));
        let field = self.builder.len();
        self.builder.field(&tag, indicators, "", 0);
        self.code.clear();
        let mut stray = String::new();
        let mut subfields = 0;
        loop {
            match events.next()? {
                Node::Start(start) => {
                    if matches!(start.local_name().as_ref(), "subfield" | "sf") {
                        self.subfield(events, &start, &tag)?;
                        subfields += 1;
                    } else {
                        let name = start.name();
                        let what = format!("holds `{}`, which is no subfield", name.as_ref());
                        events.notes.bad_field(&tag, &what);
                        events.skip()?;
                    }
                }
                Node::Text(text) => {
                    if !is_blank(&text) {
                        stray.push_str(&text);
                    }
                }
                Node::End => break,
            }
        }
        if !stray.is_empty() {
            events.notes.bad_field(&tag, "has text outside of its subfields");
            self.builder.set_text(field, &nfc(stray.trim_matches(BLANKS)));
        } else if subfields == 0 {
            events.notes.bad_field(&tag, "has no subfield");
        }
        Ok(())
    }

    fn subfield(
        &mut self,
        events: &mut Events<'_>,
        start: &BytesStart<'_>,
        tag: &str,
    ) -> Result<(), Refusal> {
        self.code.clear();
        for attribute in start.attributes().with_checks(false).flatten() {
            if matches!(attribute.key.as_ref(), "code" | "c") {
                self.code.push_str(&events.value(attribute.value));
            }
        }
        if self.code.is_empty() {
            events.notes.bad_field(tag, "has a subfield without a code");
            self.code.push('\u{FFFD}');
        }
        self.text.clear();
        if events.text(&mut self.text)? {
            events.notes.bad_field(tag, "has a subfield with elements in it");
        }
        self.builder.subfield(&self.code, &nfc(&self.text));
        Ok(())
    }
}

fn attributes(events: &mut Events<'_>, start: &BytesStart<'_>) -> Attributes {
    let mut found = Attributes::default();
    for attribute in start.attributes().with_checks(false).flatten() {
        let value = events.value(attribute.value);
        match attribute.key.as_ref() {
            "tag" | "t" => found.tag = Some(value.into_owned()),
            "ind1" | "i1" => found.indicators[0] = value.chars().next(),
            "ind2" | "i2" => found.indicators[1] = value.chars().next(),
            "ind3" | "ind4" | "ind5" | "ind6" | "ind7" | "ind8" | "ind9" => {
                found.further_indicators |= !value.trim().is_empty();
            }
            _ => {}
        }
    }
    found
}
