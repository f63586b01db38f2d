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
use super::tree::{Node, member};
use super::{Key, Object};
use crate::diagnostic::{Code, Diagnostic, RecordLog, beginning};
use crate::record::{Model, Record, RecordBuilder};

/// Bytes of a tag or a code. MARC has three characters and one; local data may have more, but what
/// is longer than this is a value in the wrong place, and would be written with each of its own.
const NAME_LIMIT: usize = 64;

/// An object that can only be MARC.
pub(super) fn is_marc(object: &Object<'_>) -> bool {
    let is_array = |key| matches!(member(object, key), Some(Node::Array(_)));
    matches!(member(object, "leader"), Some(Node::Text(_)))
        && (is_array("fields") || is_array("controlfield") || is_array("datafield"))
}

pub(super) fn decode(
    object: &Object<'_>,
    faults: &mut Faults,
    diagnostics: &mut RecordLog,
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
    diagnostics: &'a mut RecordLog,
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
        if self.is_too_long("tag", tag, tag) {
            return;
        }
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
        if self.is_too_long("tag", tag, tag) {
            return;
        }
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
            self.coded(tag, code, value);
            return;
        }
        for (code, value) in members {
            self.coded(tag, code, value);
        }
    }

    fn coded(&mut self, tag: &str, code: &str, value: &Node<'_>) {
        if !self.is_too_long("code", code, tag) {
            self.subfield(tag, &mut Key::new(code), value);
        }
    }

    fn subfield(&mut self, tag: &str, code: &mut Key<'_>, value: &Node<'_>) {
        match value {
            Node::Text(_) | Node::Word(_) => {
                let value = clean(value.scalar().unwrap_or_default(), self.faults);
                let code = code.name(&mut self.builder, self.faults);
                self.builder.subfield_named(code, &value);
            }
            Node::Array(values) => {
                values.iter().for_each(|value| self.subfield(tag, code, value));
            }
            Node::Null => {}
            Node::Object(_) => {
                self.bad(tag, format!("expected a value in ${}, found an object", code.written));
            }
        }
    }

    /// Whether a tag or a code is none. What it stands for is left out.
    fn is_too_long(&mut self, what: &str, name: &str, tag: &str) -> bool {
        let is_long = name.len() > NAME_LIMIT;
        if is_long {
            self.bad(tag, format!("a {what} has {} bytes, the limit is {NAME_LIMIT}", name.len()));
        }
        is_long
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
                self.bad(tag, format!("an indicator is one character, found `{}`", beginning(indicator)));
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
