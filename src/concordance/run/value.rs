//! A value while a rule runs: borrowed from the record or the rule where possible.

use crate::ontology::xsd;
use oxrdf::{Literal, NamedNode, Term};
use std::borrow::Cow;

#[derive(Debug, Clone, PartialEq)]
pub enum Value<'a> {
    Text(Cow<'a, str>),
    /// Checked to be an IRI, or made from one.
    Iri(Cow<'a, str>),
    Tagged(Cow<'a, str>, Cow<'a, str>),
    Typed(Cow<'a, str>, Cow<'a, str>),
    Integer(i64),
    Number(f64),
    Boolean(bool),
}

impl<'a> Value<'a> {
    /// What SPARQL's STR gives.
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Text(text) | Self::Iri(text) | Self::Tagged(text, _) | Self::Typed(text, _) => {
                Cow::Borrowed(text.as_ref())
            }
            Self::Integer(number) => number.to_string().into(),
            Self::Number(number) => number.to_string().into(),
            Self::Boolean(value) => if *value { "true" } else { "false" }.into(),
        }
    }

    /// The same without a copy where it is a text.
    pub fn into_text(self) -> Cow<'a, str> {
        match self {
            Self::Text(text) | Self::Iri(text) | Self::Tagged(text, _) | Self::Typed(text, _) => text,
            other => other.text().into_owned().into(),
        }
    }

    pub fn is_numeric(&self) -> bool {
        matches!(self, Self::Integer(_) | Self::Number(_))
    }

    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Integer(number) => Some(*number as f64),
            Self::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// SPARQL's effective boolean value.
    pub fn truth(&self) -> Option<bool> {
        match self {
            Self::Boolean(value) => Some(*value),
            Self::Text(text) | Self::Tagged(text, _) => Some(!text.is_empty()),
            Self::Integer(number) => Some(*number != 0),
            Self::Number(number) => Some(*number != 0.0 && !number.is_nan()),
            Self::Iri(_) | Self::Typed(..) => None,
        }
    }

    pub fn into_term(self) -> Term {
        match self {
            Self::Text(text) => Literal::new_simple_literal(text.into_owned()).into(),
            Self::Iri(iri) => NamedNode::new_unchecked(iri.into_owned()).into(),
            Self::Tagged(text, language) => {
                Literal::new_language_tagged_literal(text.as_ref(), language.as_ref())
                    .unwrap_or_else(|_| Literal::new_simple_literal(text.into_owned()))
                    .into()
            }
            Self::Typed(text, datatype) => {
                Literal::new_typed_literal(text.into_owned(), NamedNode::new_unchecked(datatype.into_owned()))
                    .into()
            }
            Self::Integer(number) => Literal::new_typed_literal(number.to_string(), xsd::INTEGER).into(),
            Self::Number(number) => Literal::new_typed_literal(number.to_string(), xsd::DECIMAL).into(),
            Self::Boolean(value) => Literal::from(value).into(),
        }
    }

    /// The bytes a node's name is made from.
    pub fn write_content(&self, out: &mut String) {
        match self {
            Self::Text(text) => {
                out.push('"');
                out.push_str(text);
            }
            Self::Iri(iri) => {
                out.push('<');
                out.push_str(iri);
            }
            Self::Tagged(text, tag) | Self::Typed(text, tag) => {
                out.push('"');
                out.push_str(text);
                out.push('\u{1}');
                out.push_str(tag);
            }
            other => out.push_str(&other.text()),
        }
    }
}

/// Which part of the record a value came from: a subfield or a field's text, and the positions
/// of it that were read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Touch {
    pub item: u32,
    pub positions: u64,
}

/// Everything beyond position 63 shares the last bit.
pub const WHOLE: u64 = u64::MAX;

/// The bits of some positions.
pub fn positions(range: &std::ops::Range<usize>) -> u64 {
    range.clone().fold(0, |bits, position| bits | 1 << position.min(63))
}
