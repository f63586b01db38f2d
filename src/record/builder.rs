//! Building a [`Record`] in one pass.
//!
//! Two ways in. A reader that already holds the whole record as text
//! ([`RecordBuilder::over`]) names ranges of it: nothing is copied. A reader that meets its
//! values one by one ([`RecordBuilder::new`]) pushes them, and they are appended to the text.
//! A tag or a code that stands once in the payload and holds for many values, as the key of a
//! JSON array does, is a [`Name`]: appended once, however many fields have it.

use super::field::{FieldSpan, Span, SubfieldSpan};
use super::{Model, Record};
use std::ops::Range;

/// Makes a record; fields in record order, the subfields of a field right after it.
#[derive(Debug)]
pub struct RecordBuilder {
    record: Record,
}

impl RecordBuilder {
    /// A builder whose text grows with each pushed value.
    pub fn new(model: Model) -> Self {
        let record = Record {
            id: None,
            model,
            withdrawn: false,
            triples: Vec::new(),
            leader: String::new(),
            text: String::new(),
            fields: Vec::new(),
            subfields: Vec::new(),
        };
        Self { record }
    }

    /// A builder over text that holds every value already.
    pub fn over(model: Model, text: String) -> Self {
        let mut builder = Self::new(model);
        builder.record.text = text;
        builder
    }

    /// The text values are taken from.
    pub fn text(&self) -> &str {
        &self.record.text
    }

    /// Makes room for about this many fields.
    pub fn reserve(&mut self, fields: usize) {
        self.record.fields.reserve(fields);
        self.record.subfields.reserve(fields * 3);
    }

    pub fn leader(&mut self, leader: &str) {
        self.record.leader.clear();
        self.record.leader.push_str(leader);
    }

    /// Starts a field with ranges of [`text`](Self::text).
    pub fn field_at(&mut self, tag: Range<usize>, indicators: [char; 2], text: Range<usize>) {
        self.push_field(span(tag), indicators, span(text), 0);
    }

    /// Adds a subfield to the field begun last, with ranges of [`text`](Self::text).
    pub fn subfield_at(&mut self, code: Range<usize>, value: Range<usize>) {
        self.push_subfield(span(code), span(value));
    }

    /// Starts a field; `depth` is 0 for the record's own fields.
    pub fn field(&mut self, tag: &str, indicators: [char; 2], text: &str, depth: usize) {
        let tag = self.append(tag);
        let text = self.append(text);
        self.push_field(tag, indicators, text, nested(depth));
    }

    /// Adds a subfield or an attribute to the field begun last.
    pub fn subfield(&mut self, code: &str, value: &str) {
        let code = self.append(code);
        let value = self.append(value);
        self.push_subfield(code, value);
    }

    /// Puts down a tag or a code that several fields or subfields will have.
    pub fn name(&mut self, name: &str) -> Name {
        Name(self.append(name))
    }

    /// Starts a field as [`field`](Self::field) does, with a tag that was put down before.
    pub fn field_named(&mut self, tag: Name, indicators: [char; 2], text: &str, depth: usize) {
        let text = self.append(text);
        self.push_field(tag.0, indicators, text, nested(depth));
    }

    /// Adds a subfield as [`subfield`](Self::subfield) does, with a code that was put down before.
    pub fn subfield_named(&mut self, code: Name, value: &str) {
        let value = self.append(value);
        self.push_subfield(code.0, value);
    }

    /// Replaces the text of the field with this index, for readers that learn it only at the
    /// end of an element.
    pub fn set_text(&mut self, field: usize, text: &str) {
        let text = self.append(text);
        if let Some(field) = self.record.fields.get_mut(field) {
            field.text = text;
        }
    }

    /// How many fields were begun.
    pub fn len(&self) -> usize {
        self.record.fields.len()
    }

    pub fn is_empty(&self) -> bool {
        self.record.fields.is_empty()
    }

    /// The record so far, to look into before it is finished.
    pub fn record(&mut self) -> &mut Record {
        &mut self.record
    }

    pub fn finish(self) -> Record {
        self.record
    }

    fn push_field(&mut self, tag: Span, indicators: [char; 2], text: Span, depth: u16) {
        self.record.fields.push(FieldSpan {
            tag,
            indicators,
            text,
            first_subfield: u32::try_from(self.record.subfields.len()).unwrap_or(u32::MAX),
            subfields: 0,
            depth,
        });
    }

    fn push_subfield(&mut self, code: Span, value: Span) {
        if let Some(field) = self.record.fields.last_mut() {
            field.subfields += 1;
            self.record.subfields.push(SubfieldSpan { code, value });
        }
    }

    fn append(&mut self, value: &str) -> Span {
        let start = self.record.text.len();
        self.record.text.push_str(value);
        span(start..self.record.text.len())
    }
}

/// A tag or a code in the text of the builder that gave it; in another it means nothing.
#[derive(Debug, Clone, Copy)]
pub struct Name(Span);

fn nested(depth: usize) -> u16 {
    u16::try_from(depth).unwrap_or(u16::MAX)
}

/// What a payload says is appended once, so the text stays within a few times
/// [`RECORD_LIMIT`](super::RECORD_LIMIT) and no range is ever cut.
fn span(range: Range<usize>) -> Span {
    Span {
        start: u32::try_from(range.start).unwrap_or(u32::MAX),
        end: u32::try_from(range.end).unwrap_or(u32::MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_in_the_text_once_however_many_fields_have_it() {
        let mut builder = RecordBuilder::new(Model::Json);
        let (tag, code) = (builder.name("subject"), builder.name("lang"));
        for value in ["ponds", "solitude"] {
            builder.field_named(tag, [' ', ' '], value, 1);
            builder.subfield_named(code, "en");
        }
        assert_eq!(builder.text(), "subjectlangpondsensolitudeen");
        let record = builder.finish();
        let found: Vec<_> = record.fields().map(|field| (field.tag(), field.text(), field.depth())).collect();
        assert_eq!(found, [("subject", "ponds", 1), ("subject", "solitude", 1)]);
        assert!(record.fields().all(|field| field.subfield("lang") == Some("en")));
    }
}
