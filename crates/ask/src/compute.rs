//! Computes expressions for a row. An error is no value, as SPARQL wants it.

use crate::evaluate::{Bindings, World};
use crate::expression::{Expr, Kind, Pattern, TextFunction};
use crate::regexes::Matcher;
use crate::term::{Id, same};
use crate::text::{encode_for_uri, language_matches, substring};
use crate::value::{Value, computed};
use oxrdf::{Term, TermRef};
use std::borrow::Cow;

impl World<'_> {
    /// The effective boolean value of an expression.
    pub fn holds(&self, expression: &Expr, row: &Bindings) -> Option<bool> {
        match expression {
            Expr::And(inner) => {
                let mut failed = false;
                for inner in inner {
                    match self.holds(inner, row) {
                        Some(true) => {}
                        Some(false) => return Some(false),
                        None => failed = true,
                    }
                }
                (!failed).then_some(true)
            }
            Expr::Or(inner) => {
                let mut failed = false;
                for inner in inner {
                    match self.holds(inner, row) {
                        Some(true) => return Some(true),
                        Some(false) => {}
                        None => failed = true,
                    }
                }
                (!failed).then_some(false)
            }
            Expr::Not(inner) => Some(!self.holds(inner, row)?),
            Expr::Equal(pair) => {
                let [left, right] = &**pair;
                self.equal(left, right, row)
            }
            Expr::SameTerm(pair) => {
                let [left, right] = &**pair;
                let left = Term::from(self.exact(left, row)?);
                let right = Term::from(self.exact(right, row)?);
                Some(same(left.as_ref(), right.as_ref()))
            }
            Expr::Compare(how, pair) => {
                let [left, right] = &**pair;
                self.value(left, row)?.compares(*how, &self.value(right, row)?)
            }
            Expr::In(wanted, list) => {
                let mut failed = self.value(wanted, row).is_none();
                for other in list {
                    match self.equal(wanted, other, row) {
                        Some(true) => return Some(true),
                        Some(false) => {}
                        None => failed = true,
                    }
                }
                (!failed).then_some(false)
            }
            Expr::Exists(number) => Some(self.exists(*number, row)),
            Expr::Bound(slot) => Some(row.get(*slot).is_bound()),
            Expr::Kind(kind, inner) => Some(match (kind, self.value(inner, row)?) {
                (Kind::Iri, Value::Iri(_)) | (Kind::Blank, Value::Blank(_)) => true,
                (Kind::Literal, value) => !matches!(value, Value::Iri(_) | Value::Blank(_)),
                _ => false,
            }),
            Expr::Regex(text, pattern) => match pattern {
                Pattern::Fixed(regex) => {
                    let (text, _) = self.value(text, row)?.into_text()?;
                    Some(regex.as_ref()?.is_match(&text))
                }
                Pattern::Varying { .. } => self.with_pattern(pattern, row, |regex| {
                    let (text, _) = self.value(text, row)?.into_text()?;
                    Some(regex.is_match(&text))
                }),
            },
            _ => self.value(expression, row)?.truth(),
        }
    }

    /// The operator `=` on two expressions.
    fn equal(&self, left: &Expr, right: &Expr, row: &Bindings) -> Option<bool> {
        if let (Expr::Slot(slot), Expr::Constant(wanted)) = (left, right)
            && let Some(TermRef::NamedNode(_)) = self.term(*wanted, row)
        {
            // A name is nothing but itself, and names in the graph have one number.
            let id = row.get(*slot);
            if id.is_bound() && id.place_made().is_none() {
                return Some(id == *wanted);
            }
        }
        self.value(left, row)?.equals(&self.value(right, row)?)
    }

    /// The term that an expression passes on as it is, as those do that
    /// [keep terms](Expr::keeps_terms).
    pub fn kept(&self, expression: &Expr, row: &Bindings) -> Option<Id> {
        match expression {
            Expr::Slot(slot) => Some(row.get(*slot)).filter(|id| id.is_bound()),
            Expr::Constant(id) | Expr::Integer(_, id) => Some(*id),
            Expr::Coalesce(inner) => inner.iter().find_map(|inner| self.kept(inner, row)),
            Expr::If(three) => {
                let [condition, yes, no] = &**three;
                self.kept(if self.holds(condition, row)? { yes } else { no }, row)
            }
            _ => None,
        }
    }

    /// The value of an expression, with a term as it is written where spareval leaves it so.
    pub fn exact<'r>(&'r self, expression: &'r Expr, row: &'r Bindings) -> Option<Value<'r>> {
        let value = self.value(expression, row)?;
        Some(if expression.keeps_terms() { value } else { value.rewritten() })
    }

    /// The value of an expression.
    pub fn value<'r>(&'r self, expression: &'r Expr, row: &'r Bindings) -> Option<Value<'r>> {
        match expression {
            Expr::Slot(slot) => Some(self.term(row.get(*slot), row)?.into()),
            Expr::Constant(id) => Some(self.term(*id, row)?.into()),
            Expr::Integer(number, _) => Some(Value::Integer(*number)),
            Expr::If(three) => {
                let [condition, yes, no] = &**three;
                self.value(if self.holds(condition, row)? { yes } else { no }, row)
            }
            Expr::Coalesce(inner) => inner.iter().find_map(|inner| self.value(inner, row)),
            Expr::Text(function, arguments) => self.text_function(*function, arguments, row),
            Expr::Replace(text, pattern, replacement) => self.replace(text, pattern, replacement, row),
            Expr::Other(expression, arguments) => {
                let arguments = arguments
                    .iter()
                    .map(|argument| Some(self.value(argument, row)?.into()))
                    .collect::<Option<Vec<Term>>>()?;
                computed(expression, arguments)
            }
            Expr::Or(_)
            | Expr::And(_)
            | Expr::Not(_)
            | Expr::Equal(_)
            | Expr::SameTerm(_)
            | Expr::Compare(..)
            | Expr::In(..)
            | Expr::Exists(_)
            | Expr::Bound(_)
            | Expr::Kind(..)
            | Expr::Regex(..) => self.holds(expression, row).map(Value::Truth),
        }
    }

    fn text_function<'r>(
        &'r self,
        function: TextFunction,
        arguments: &'r [Expr],
        row: &'r Bindings,
    ) -> Option<Value<'r>> {
        let argument = |number: usize| self.value(arguments.get(number)?, row);
        let two = || {
            let (text, language) = argument(0)?.into_text()?;
            let (other, other_language) = argument(1)?.into_text()?;
            (other_language.is_none() || language == other_language).then_some((text, other, language))
        };
        Some(match function {
            TextFunction::Str => Value::Text(argument(0)?.into_str()?),
            TextFunction::Lang => Value::Text(argument(0)?.into_language()?),
            TextFunction::LangMatches => {
                let tag = argument(0)?.into_plain()?;
                Value::Truth(language_matches(&tag, &argument(1)?.into_plain()?))
            }
            TextFunction::Datatype => Value::Iri(argument(0)?.into_datatype()?),
            TextFunction::Concat => {
                let mut whole = String::new();
                // None before the first text, then the language that all so far have in common.
                let mut common: Option<Option<Cow<'r, str>>> = None;
                for argument in arguments {
                    let (text, language) = self.value(argument, row)?.into_text()?;
                    whole.push_str(&text);
                    common = Some(match common {
                        None => language,
                        Some(common) => common.filter(|common| language.as_ref() == Some(common)),
                    });
                }
                Value::of_text(whole.into(), common.flatten())
            }
            TextFunction::SubStr => {
                let (text, language) = argument(0)?.into_text()?;
                let start = integer(argument(1)?)?;
                let length = match arguments.len() {
                    0..=2 => None,
                    _ => Some(integer(argument(2)?)?),
                };
                Value::of_text(substring(&text, start, length)?.to_owned().into(), language)
            }
            TextFunction::StrLen => {
                let (text, _) = argument(0)?.into_text()?;
                Value::Integer(i64::try_from(text.chars().count()).ok()?)
            }
            TextFunction::UCase => {
                let (text, language) = argument(0)?.into_text()?;
                Value::of_text(text.to_uppercase().into(), language)
            }
            TextFunction::LCase => {
                let (text, language) = argument(0)?.into_text()?;
                Value::of_text(lower(text), language)
            }
            TextFunction::EncodeForUri => {
                let (text, _) = argument(0)?.into_text()?;
                Value::Text(encode_for_uri(&text).into())
            }
            TextFunction::Contains => {
                let (text, other, _) = two()?;
                Value::Truth(text.contains(&*other))
            }
            TextFunction::StrStarts => {
                let (text, other, _) = two()?;
                Value::Truth(text.starts_with(&*other))
            }
            TextFunction::StrEnds => {
                let (text, other, _) = two()?;
                Value::Truth(text.ends_with(&*other))
            }
            TextFunction::StrBefore | TextFunction::StrAfter => {
                let (text, other, language) = two()?;
                match text.split_once(&*other) {
                    Some((before, _)) if function == TextFunction::StrBefore => {
                        Value::of_text(before.to_owned().into(), language)
                    }
                    Some((_, after)) => Value::of_text(after.to_owned().into(), language),
                    None => Value::Text("".into()),
                }
            }
        })
    }

    fn replace<'r>(
        &'r self,
        text: &'r Expr,
        pattern: &'r Pattern,
        replacement: &'r Expr,
        row: &'r Bindings,
    ) -> Option<Value<'r>> {
        let replaced = |regex: &Matcher| {
            let (text, language) = self.value(text, row)?.into_text()?;
            let replacement = self.value(replacement, row)?.into_plain()?;
            let replaced = match regex.replace_all(&text, &replacement) {
                Cow::Owned(replaced) => Some(replaced),
                Cow::Borrowed(_) => None,
            };
            Some(Value::of_text(replaced.map_or(text, Cow::Owned), language))
        };
        match pattern {
            Pattern::Fixed(regex) => replaced(regex.as_ref()?),
            Pattern::Varying { .. } => self.with_pattern(pattern, row, replaced),
        }
    }

    /// Calls with the pattern that is valid for the row.
    fn with_pattern<T>(
        &self,
        pattern: &Pattern,
        row: &Bindings,
        then: impl FnOnce(&Matcher) -> Option<T>,
    ) -> Option<T> {
        match pattern {
            Pattern::Fixed(regex) => then(regex.as_ref()?),
            Pattern::Varying { pattern, flags, known } => {
                if let Expr::Slot(slot) = &**pattern
                    && let Some(regex) = known.get(&row.get(*slot))
                {
                    return then(regex.as_ref()?);
                }
                let pattern = self.value(pattern, row)?.into_plain()?;
                let flags = match flags {
                    Some(flags) => self.value(flags, row)?.into_plain()?,
                    None => "".into(),
                };
                then(&Matcher::new(&pattern, &flags)?)
            }
        }
    }
}

/// The number of an integer, for `SUBSTR`.
fn integer(value: Value<'_>) -> Option<i64> {
    match value {
        Value::Integer(number) => Some(number),
        Value::Typed(..) => match value.rewritten() {
            Value::Typed(text, datatype) if datatype == oxrdf::vocab::xsd::INTEGER.as_str() => {
                text.parse().ok()
            }
            _ => None,
        },
        _ => None,
    }
}

/// A text in lower case, in place where it is ours and ASCII.
fn lower(text: Cow<'_, str>) -> Cow<'_, str> {
    if !text.is_ascii() {
        return text.to_lowercase().into();
    }
    match text {
        Cow::Borrowed(text) if !text.bytes().any(|byte| byte.is_ascii_uppercase()) => Cow::Borrowed(text),
        Cow::Borrowed(text) => text.to_ascii_lowercase().into(),
        Cow::Owned(mut text) => {
            text.make_ascii_lowercase();
            text.into()
        }
    }
}
