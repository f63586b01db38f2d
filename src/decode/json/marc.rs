//! MARC in JSON, in the shapes that are about.
//!
//! MARC-in-JSON (Ross Singer's, of pymarc, ruby-marc and marc4j):
//! `{"leader": …, "fields": [{"001": …}, {"245": {"ind1": …, "ind2": …, "subfields": [{"a": …}]}}]}`.
//! The other shape of marc4j, MARCXML's element names as keys:
//! `{"leader": …, "controlfield": [{"tag": …, "data": …}], "datafield": [{"tag": …, "ind": …,
//! "subfield": [{"code": …, "data": …}]}]}`. A field that names its tag is understood in the
//! first shape too.

use super::super::clean::{Faults, clean};
use super::super::leader;
use super::super::marc::finish;
use super::Object;
use super::tree::{Node, member};
use crate::diagnostic::{Code, Diagnostic};
use crate::record::{Model, Record, RecordBuilder};

/// An object that can only be MARC.
pub(super) fn is_marc(object: &Object<'_>) -> bool {
    let is_array = |key| matches!(member(object, key), Some(Node::Array(_)));
    matches!(member(object, "leader"), Some(Node::Text(_)))
        && (is_array("fields") || is_array("controlfield") || is_array("datafield"))
}

pub(super) fn decode(
    object: &Object<'_>,
    faults: &mut Faults,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Record> {
    let mut reader = Reader { builder: RecordBuilder::new(Model::Marc21), faults, diagnostics };
    let leader = member(object, "leader").and_then(Node::scalar).unwrap_or_default();
    leader::set(&mut reader.builder, &clean(leader, reader.faults), reader.diagnostics);
    for list in ["controlfield", "fields", "datafield"] {
        let Some(Node::Array(fields)) = member(object, list) else {
            continue;
        };
        for field in fields {
            reader.field(field);
        }
    }
    let mut record = reader.builder.finish();
    finish(&mut record);
    Some(record)
}

struct Reader<'a> {
    builder: RecordBuilder,
    faults: &'a mut Faults,
    diagnostics: &'a mut Vec<Diagnostic>,
}

impl Reader<'_> {
    fn field(&mut self, field: &Node<'_>) {
        let Node::Object(members) = field else {
            self.bad("", format!("expected a field as an object, found {}", field.kind()));
            return;
        };
        if let Some(tag) = field.get("tag").and_then(Node::scalar) {
            self.tagged(tag, field);
            return;
        }
        for (tag, content) in members {
            match content {
                Node::Object(_) => self.tagged(tag, content),
                Node::Text(_) | Node::Word(_) => self.control(tag, content),
                _ => self.bad(tag, format!("expected a value or an object, found {}", content.kind())),
            }
        }
    }

    fn control(&mut self, tag: &str, value: &Node<'_>) {
        let value = clean(value.scalar().unwrap_or_default(), self.faults);
        self.builder.field(&clean(tag, self.faults), [' ', ' '], &value, 0);
    }

    /// A field whose content is an object: subfields, or the data of a control field.
    fn tagged(&mut self, tag: &str, content: &Node<'_>) {
        let Some(subfields) = content.get("subfields").or_else(|| content.get("subfield")) else {
            match content.get("data").or_else(|| content.get("value")) {
                Some(value) if value.scalar().is_some() => self.control(tag, value),
                _ => self.bad(tag, "the field has neither subfields nor a value".to_owned()),
            }
            return;
        };
        let indicators = self.indicators(tag, content);
        self.builder.field(&clean(tag, self.faults), indicators, "", 0);
        match subfields {
            Node::Array(items) => items.iter().for_each(|item| self.subfields(tag, item)),
            item => self.subfields(tag, item),
        }
    }

    /// `{"a": …}`, or `{"code": "a", "data": …}`.
    fn subfields(&mut self, tag: &str, item: &Node<'_>) {
        let Node::Object(members) = item else {
            self.bad(tag, format!("expected a subfield as an object, found {}", item.kind()));
            return;
        };
        let value = item.get("data").or_else(|| item.get("value"));
        if let (Some(code), Some(value)) = (item.get("code").and_then(Node::scalar), value) {
            self.subfield(tag, code, value);
            return;
        }
        for (code, value) in members {
            self.subfield(tag, code, value);
        }
    }

    fn subfield(&mut self, tag: &str, code: &str, value: &Node<'_>) {
        match value {
            Node::Text(_) | Node::Word(_) => {
                let value = clean(value.scalar().unwrap_or_default(), self.faults);
                self.builder.subfield(&clean(code, self.faults), &value);
            }
            Node::Array(values) => {
                values.iter().for_each(|value| self.subfield(tag, code, value));
            }
            Node::Null => {}
            Node::Object(_) => self.bad(tag, format!("expected a value in ${code}, found an object")),
        }
    }

    fn indicators(&mut self, tag: &str, content: &Node<'_>) -> [char; 2] {
        let scalar = |key| content.get(key).and_then(Node::scalar).unwrap_or_default();
        let both: Vec<char> = scalar("ind").chars().collect();
        if let [first, second] = both.as_slice() {
            return [blank(*first), blank(*second)];
        }
        [scalar("ind1"), scalar("ind2")].map(|indicator| {
            let mut characters = indicator.chars();
            let first = characters.next().unwrap_or(' ');
            if characters.next().is_some() {
                self.bad(tag, format!("an indicator is one character, found `{indicator}`"));
            }
            blank(first)
        })
    }

    fn bad(&mut self, tag: &str, message: String) {
        let diagnostic = Diagnostic::new(Code::BadField, message);
        self.diagnostics.push(if tag.is_empty() { diagnostic } else { diagnostic.in_field(tag) });
    }
}

/// Control characters have no place in an indicator.
fn blank(indicator: char) -> char {
    if indicator.is_control() { ' ' } else { indicator }
}
