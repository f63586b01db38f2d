//! A MARC record in the making: its fields, and how they are put in order.

use super::draft::Draft;
use crate::record::{Model, Record, RecordBuilder};

/// A field that is to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    pub tag: String,
    pub indicators: [char; 2],
    /// The value of a control field.
    pub text: String,
    pub subfields: Vec<(String, String)>,
    /// Where it stood, as far as one knows: which of its kind.
    pub occurrence: usize,
    /// The script, when it says in another one what the field before it says.
    pub script: Option<String>,
}

impl Written {
    pub fn control(tag: &str, text: String) -> Self {
        Self {
            tag: tag.to_owned(),
            indicators: [' ', ' '],
            text,
            subfields: Vec::new(),
            occurrence: 0,
            script: None,
        }
    }

    /// A draft as a field; `None` when nothing is in it.
    pub fn of(draft: &Draft, base: &str, subfield: Option<&str>) -> Option<Self> {
        let mut written = Self {
            tag: draft.tag.clone(),
            indicators: draft.indicators.map(|indicator| indicator.unwrap_or(' ')),
            text: draft.text.clone().unwrap_or_default(),
            subfields: draft.subfields.clone(),
            occurrence: 0,
            script: None,
        };
        if !draft.positions.is_empty() {
            let text = draft.fixed_text(base);
            match subfield {
                Some(code) => written.subfields.push((code.to_owned(), text)),
                None => written.text = text,
            }
        }
        (!written.text.is_empty() || !written.subfields.is_empty()).then_some(written)
    }

    /// A fixed field, filled where no position is known.
    pub fn fixed(draft: &Draft, base: &str, subfield: Option<&str>) -> Self {
        Self::of(draft, base, subfield).unwrap_or_else(|| match subfield {
            Some(code) => Self {
                subfields: vec![(code.to_owned(), base.to_owned())],
                ..Self::control(&draft.tag, String::new())
            },
            None => Self::control(&draft.tag, base.to_owned()),
        })
    }

    pub fn push_to(&self, builder: &mut RecordBuilder) {
        builder.field(&self.tag, self.indicators, &self.text, 0);
        for (code, value) in &self.subfields {
            builder.subfield(code, value);
        }
    }
}

/// Fields by tag, those of one tag as they stood; a field in another script goes last.
pub fn assemble(model: Model, id: Option<String>, leader: &str, mut fields: Vec<Written>) -> Record {
    fields.sort_by(|a, b| a.tag.cmp(&b.tag).then(a.occurrence.cmp(&b.occurrence)));
    let mut builder = RecordBuilder::new(model);
    builder.leader(leader);
    for field in &fields {
        field.push_to(&mut builder);
    }
    let mut record = builder.finish();
    record.id = id;
    record
}
