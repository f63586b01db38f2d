//! Values while an expression is computed, and how they compare.
//!
//! Texts, names and truth are handled here, borrowed where that is possible. Numbers, dates and the
//! like are left to spareval: they are rare in what is asked of records, and it knows them all.

use crate::expression::Comparison;
use oxrdf::vocab::{rdf, xsd};
use oxrdf::{BlankNode, Literal, NamedNode, Term, TermRef, Variable};
use spareval::{ExpressionTerm, QueryEvaluator};
use sparopt::algebra::Expression;
use std::borrow::Cow;
use std::cmp::Ordering;

#[derive(Debug, Clone)]
pub(crate) enum Value<'a> {
    Iri(Cow<'a, str>),
    Blank(Cow<'a, str>),
    Text(Cow<'a, str>),
    /// A text and its language.
    Tagged(Cow<'a, str>, Cow<'a, str>),
    Truth(bool),
    Integer(i64),
    /// Any other literal: its text and the name of its type.
    Typed(Cow<'a, str>, Cow<'a, str>),
}

impl<'a> From<TermRef<'a>> for Value<'a> {
    fn from(term: TermRef<'a>) -> Self {
        match term {
            TermRef::NamedNode(node) => Self::Iri(node.as_str().into()),
            TermRef::BlankNode(node) => Self::Blank(node.as_str().into()),
            TermRef::Literal(literal) => match literal.language() {
                Some(language) => Self::Tagged(literal.value().into(), language.into()),
                None if literal.datatype() == xsd::STRING => Self::Text(literal.value().into()),
                None => Self::Typed(literal.value().into(), literal.datatype().as_str().into()),
            },
        }
    }
}

impl From<Term> for Value<'_> {
    fn from(term: Term) -> Self {
        match term {
            Term::NamedNode(node) => Self::Iri(node.into_string().into()),
            Term::BlankNode(node) => Self::Blank(node.into_string().into()),
            Term::Literal(literal) => match literal.destruct() {
                (value, _, Some(language)) => Self::Tagged(value.into(), language.into()),
                (value, Some(datatype), None) => Self::Typed(value.into(), datatype.into_string().into()),
                (value, None, None) => Self::Text(value.into()),
            },
        }
    }
}

impl From<Value<'_>> for Term {
    fn from(value: Value<'_>) -> Self {
        match value {
            Value::Iri(iri) => NamedNode::new_unchecked(iri).into(),
            Value::Blank(label) => BlankNode::new_unchecked(label).into(),
            Value::Text(text) => Literal::new_simple_literal(text).into(),
            Value::Tagged(text, language) => {
                Literal::new_language_tagged_literal_unchecked(text, language).into()
            }
            Value::Truth(truth) => Literal::from(truth).into(),
            Value::Integer(number) => Literal::from(number).into(),
            Value::Typed(text, datatype) => {
                Literal::new_typed_literal(text, NamedNode::new_unchecked(datatype)).into()
            }
        }
    }
}

impl<'a> Value<'a> {
    /// Its effective boolean value.
    pub fn truth(&self) -> Option<bool> {
        match self {
            Self::Truth(truth) => Some(*truth),
            Self::Text(text) => Some(!text.is_empty()),
            Self::Integer(number) => Some(*number != 0),
            Self::Typed(..) => QueryEvaluator::new().evaluate_effective_boolean_value_expression(
                &argument(0).into(),
                [(&argument(0), self.clone().into())],
            ),
            Self::Iri(_) | Self::Blank(_) | Self::Tagged(..) => None,
        }
    }

    /// The text of a string with its language. Other literals have none.
    pub fn into_text(self) -> Option<(Cow<'a, str>, Option<Cow<'a, str>>)> {
        match self {
            Self::Text(text) => Some((text, None)),
            Self::Tagged(text, language) => Some((text, Some(language))),
            _ => None,
        }
    }

    /// The text of a string without language.
    pub fn into_plain(self) -> Option<Cow<'a, str>> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// A string, with a language or without.
    pub fn of_text(text: Cow<'a, str>, language: Option<Cow<'a, str>>) -> Self {
        match language {
            Some(language) => Self::Tagged(text, language),
            None => Self::Text(text),
        }
    }

    /// What `STR` makes of it.
    pub fn into_str(self) -> Option<Cow<'a, str>> {
        match self.rewritten() {
            Self::Iri(text) | Self::Text(text) | Self::Tagged(text, _) | Self::Typed(text, _) => Some(text),
            Self::Truth(truth) => Some(if truth { "true" } else { "false" }.into()),
            Self::Integer(number) => Some(number.to_string().into()),
            Self::Blank(_) => None,
        }
    }

    /// What `LANG` makes of it.
    pub fn into_language(self) -> Option<Cow<'a, str>> {
        match self {
            Self::Tagged(_, language) => Some(language),
            Self::Iri(_) | Self::Blank(_) => None,
            _ => Some("".into()),
        }
    }

    /// What `DATATYPE` makes of it.
    pub fn into_datatype(self) -> Option<Cow<'a, str>> {
        match self.rewritten() {
            Self::Iri(_) | Self::Blank(_) => None,
            Self::Text(_) => Some(xsd::STRING.as_str().into()),
            Self::Tagged(..) => Some(rdf::LANG_STRING.as_str().into()),
            Self::Truth(_) => Some(xsd::BOOLEAN.as_str().into()),
            Self::Integer(_) => Some(xsd::INTEGER.as_str().into()),
            Self::Typed(_, datatype) => Some(datatype),
        }
    }

    /// As spareval writes it once it has computed with it: numbers and dates in canonical form.
    pub fn rewritten(self) -> Self {
        match self {
            Self::Typed(text, datatype) if datatype.starts_with("http://www.w3.org/2001/XMLSchema#") => {
                let literal = Literal::new_typed_literal(text, NamedNode::new_unchecked(datatype));
                Term::from(ExpressionTerm::from(Term::from(literal))).into()
            }
            other => other,
        }
    }

    /// The operator `=`.
    pub fn equals(&self, other: &Self) -> Option<bool> {
        match (self, other) {
            (Self::Iri(left), Self::Iri(right))
            | (Self::Blank(left), Self::Blank(right))
            | (Self::Text(left), Self::Text(right)) => Some(left == right),
            (Self::Tagged(left, tag), Self::Tagged(right, other)) => Some(left == right && tag == other),
            (Self::Truth(left), Self::Truth(right)) => Some(left == right),
            (Self::Integer(left), Self::Integer(right)) => Some(left == right),
            (Self::Typed(..), _) | (_, Self::Typed(..)) => {
                let [left, right] = [argument(0), argument(1)];
                computed(
                    &Expression::Equal(Box::new(left.into()), Box::new(right.into())),
                    vec![self.clone().into(), other.clone().into()],
                )?
                .truth()
            }
            _ => Some(false),
        }
    }

    /// The operators `<`, `<=`, `>` and `>=`.
    pub fn compares(&self, how: Comparison, other: &Self) -> Option<bool> {
        let order = match (self, other) {
            (Self::Text(left), Self::Text(right)) => left.cmp(right),
            (Self::Tagged(left, tag), Self::Tagged(right, other)) if tag == other => left.cmp(right),
            (Self::Integer(left), Self::Integer(right)) => left.cmp(right),
            _ => {
                let [left, right] = [argument(0), argument(1)].map(|variable| Box::new(variable.into()));
                let expression = match how {
                    Comparison::Less => Expression::Less(left, right),
                    Comparison::LessOrEqual => Expression::LessOrEqual(left, right),
                    Comparison::Greater => Expression::Greater(left, right),
                    Comparison::GreaterOrEqual => Expression::GreaterOrEqual(left, right),
                };
                return computed(&expression, vec![self.clone().into(), other.clone().into()])?.truth();
            }
        };
        Some(match how {
            Comparison::Less => order == Ordering::Less,
            Comparison::LessOrEqual => order != Ordering::Greater,
            Comparison::Greater => order == Ordering::Greater,
            Comparison::GreaterOrEqual => order != Ordering::Less,
        })
    }
}

/// The variable that stands for an argument in what spareval computes.
pub(crate) fn argument(number: usize) -> Variable {
    Variable::new_unchecked(format!("a{number}"))
}

/// Lets spareval compute an expression of arguments.
pub(crate) fn computed(expression: &Expression, arguments: Vec<Term>) -> Option<Value<'static>> {
    let variables: Vec<Variable> = (0..arguments.len()).map(argument).collect();
    let term = QueryEvaluator::new().evaluate_expression(expression, variables.iter().zip(arguments))?;
    Some(match &term {
        Term::Literal(literal) if literal.datatype() == xsd::BOOLEAN => match literal.value() {
            "true" => Value::Truth(true),
            "false" => Value::Truth(false),
            _ => term.into(),
        },
        _ => term.into(),
    })
}
