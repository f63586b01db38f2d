//! The field, or the part of it, that a solution looks at.

use super::value::WHOLE;
use super::view::{FieldView, Sub, View};
use crate::concordance::presence::CodeSet;
use std::ops::Range;

/// The field, or the part of it, that an expression looks at.
#[derive(Debug, Clone)]
pub struct Frame<'a> {
    pub field: Option<usize>,
    pub tag: &'a str,
    pub ind1: char,
    pub ind2: char,
    /// The value of `$text`.
    pub text: Option<&'a str>,
    pub text_item: u32,
    pub text_positions: u64,
    /// The position `$text` begins at.
    pub text_start: usize,
    /// The whole text, for `:at`.
    pub full_text: &'a str,
    pub subs: Range<usize>,
    /// The codes of the field's subfields; those of a part of it may be fewer.
    pub codes: CodeSet,
    pub outer: Option<&'a str>,
    /// The field whose content names nodes of this occurrence; none in rules over the record.
    pub named_after: Option<usize>,
    /// The subfield `each` or a list stands at.
    pub iterated: Option<Sub<'a>>,
    pub number: i64,
    /// Which member of a list is meant.
    pub element: usize,
    /// The language and script texts are tagged with.
    pub language: Option<&'a str>,
    pub twin: bool,
}

pub fn empty_frame<'a>(tag: &'a str, item: u32) -> Frame<'a> {
    Frame {
        field: None,
        tag,
        ind1: ' ',
        ind2: ' ',
        text: None,
        text_item: item,
        text_positions: WHOLE,
        text_start: 0,
        full_text: "",
        subs: 0..0,
        codes: CodeSet::NONE,
        outer: None,
        named_after: None,
        iterated: None,
        number: 0,
        element: 0,
        language: None,
        twin: false,
    }
}

pub fn field_frame<'a>(view: &View<'a>, index: usize, field: &'a FieldView<'a>) -> Frame<'a> {
    let mut frame = empty_frame(field.tag, field.item);
    frame.field = Some(index);
    frame.ind1 = field.ind1;
    frame.ind2 = field.ind2;
    frame.full_text = field.text;
    let text = if view.model.is_marc() { field.text } else { field.text.trim() };
    frame.text = (!text.trim().is_empty()).then_some(text);
    frame.subs = field.subs.clone();
    frame.codes = view.codes(field);
    frame.named_after = Some(index);
    frame
}

/// A name for an occurrence of a field: its content, so that a field inserted before it changes
/// nothing.
pub fn occurrence(view: &View<'_>, field: &FieldView<'_>) -> u64 {
    let mut content = String::with_capacity(128);
    content.push_str(field.tag);
    content.push(field.ind1);
    content.push(field.ind2);
    content.push_str(field.text);
    for sub in view.subs(&field.subs) {
        content.push('\u{1f}');
        content.push_str(sub.code);
        content.push_str(sub.value);
    }
    xxhash_rust::xxh3::xxh3_64(content.as_bytes())
}
