//! Views of one field and one subfield of a [`Record`].

use super::Record;
use std::ops::Range;

/// A range of the record's text. Records are bounded well below 4 GiB, so 32 bits do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Span {
    pub start: u32,
    pub end: u32,
}

impl Span {
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct FieldSpan {
    pub tag: Span,
    pub indicators: [char; 2],
    pub text: Span,
    pub first_subfield: u32,
    pub subfields: u32,
    pub depth: u16,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct SubfieldSpan {
    pub code: Span,
    pub value: Span,
}

/// A field: a MARC field, an XML element, a column or a key.
#[derive(Clone, Copy)]
pub struct Field<'a> {
    record: &'a Record,
    span: &'a FieldSpan,
}

impl<'a> Field<'a> {
    pub(super) fn new(record: &'a Record, span: &'a FieldSpan) -> Self {
        Self { record, span }
    }

    /// `245`, `dc:title`, a column name.
    pub fn tag(&self) -> &'a str {
        self.record.slice(self.span.tag)
    }

    /// The first indicator; a blank is `' '`, and so is what has no indicators.
    pub fn ind1(&self) -> char {
        self.span.indicators[0]
    }

    /// The second indicator.
    pub fn ind2(&self) -> char {
        self.span.indicators[1]
    }

    /// The value of a control field, the text of an element, a cell. Empty in a MARC data field.
    pub fn text(&self) -> &'a str {
        self.record.slice(self.span.text)
    }

    /// How deep the field is nested; 0 for the fields of the record itself.
    pub fn depth(&self) -> usize {
        usize::from(self.span.depth)
    }

    /// Subfields in record order, or the attributes of an element.
    pub fn subfields(&self) -> impl ExactSizeIterator<Item = Subfield<'a>> + Clone + use<'a> {
        let record = self.record;
        let first = self.span.first_subfield as usize;
        let range = first..first + self.span.subfields as usize;
        record
            .subfields
            .get(range)
            .unwrap_or_default()
            .iter()
            .map(move |span| Subfield { code: record.slice(span.code), value: record.slice(span.value) })
    }

    /// The first value of a subfield or attribute.
    pub fn subfield(&self, code: &str) -> Option<&'a str> {
        self.subfields().find(|subfield| subfield.code == code).map(|subfield| subfield.value)
    }

    /// A control field or a leaf: it has no subfields, only a text.
    pub fn is_control(&self) -> bool {
        self.span.subfields == 0
    }
}

impl PartialEq for Field<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.tag() == other.tag()
            && self.span.indicators == other.span.indicators
            && self.depth() == other.depth()
            && self.text() == other.text()
            && self.subfields().eq(other.subfields())
    }
}

impl std::fmt::Debug for Field<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut text = String::new();
        super::write_field(*self, &mut text);
        write!(f, "{} {text}", self.tag())
    }
}

/// A subfield, or an attribute of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Subfield<'a> {
    pub code: &'a str,
    pub value: &'a str,
}
