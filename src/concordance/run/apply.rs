//! Functions of values alone; RDF concordances call them, too.

use super::value::Value;
use crate::concordance::function as f;
use crate::concordance::program::Function;
use crate::ontology::xsd;
use std::borrow::Cow;

/// A text made from a text, borrowed where the function borrows.
fn within<'a>(text: Cow<'a, str>, part: impl for<'t> Fn(&'t str) -> Cow<'t, str>) -> Value<'a> {
    match text {
        Cow::Borrowed(text) => Value::Text(part(text)),
        Cow::Owned(text) => Value::Text(part(&text).into_owned().into()),
    }
}

/// Functions of values alone; also called by RDF concordances.
pub fn apply<'a>(
    function: Function,
    first: Value<'a>,
    second: Option<Value<'a>>,
    third: Option<Value<'a>>,
) -> Option<Value<'a>> {
    let made = |text: Option<String>| text.map(|text| Value::Text(text.into()));
    let boolean = |value: bool| Some(Value::Boolean(value));
    // A function of a tagged text gives a text in the same language.
    let tag = match &first {
        Value::Tagged(_, tag) => Some(tag.clone()),
        _ => None,
    };
    let retag = |value: Value<'a>| match (value, &tag) {
        (Value::Text(text), Some(tag)) => Value::Tagged(text, tag.clone()),
        (value, _) => value,
    };
    match function {
        Function::Str | Function::XsdString => Some(Value::Text(first.into_text())),
        Function::Lang => Some(Value::Text(tag.unwrap_or_default())),
        Function::Datatype => Some(Value::Iri(match first {
            Value::Typed(_, datatype) => datatype,
            Value::Text(_) => xsd::STRING.as_str().into(),
            Value::Integer(_) => xsd::INTEGER.as_str().into(),
            Value::Number(_) => xsd::DECIMAL.as_str().into(),
            Value::Boolean(_) => xsd::BOOLEAN.as_str().into(),
            Value::Iri(_) | Value::Tagged(..) => return None,
        })),
        Function::Iri => {
            let text = first.into_text();
            oxrdf::NamedNode::new(text.as_ref()).is_ok().then_some(Value::Iri(text))
        }
        Function::Abs => number(first, i64::checked_abs, f64::abs),
        Function::Ceil => number(first, Some, f64::ceil),
        Function::Floor => number(first, Some, f64::floor),
        Function::Round => number(first, Some, f64::round),
        Function::SubStr => substr(first.into_text(), &second?, third.as_ref()).map(retag),
        Function::StrLen => Some(Value::Integer(first.text().chars().count() as i64)),
        Function::UCase => Some(retag(Value::Text(first.text().to_uppercase().into()))),
        Function::LCase => Some(retag(Value::Text(first.text().to_lowercase().into()))),
        Function::EncodeForUri => Some(Value::Text(encode_for_uri(&first.text()).into())),
        Function::Contains => boolean(first.text().contains(second?.text().as_ref())),
        Function::StrStarts => boolean(first.text().starts_with(second?.text().as_ref())),
        Function::StrEnds => boolean(first.text().ends_with(second?.text().as_ref())),
        Function::StrBefore => {
            let (text, cut) = (first.into_text(), second?);
            let at = text.find(cut.text().as_ref());
            Some(retag(within(text, |text| at.and_then(|at| text.get(..at)).unwrap_or_default().into())))
        }
        Function::StrAfter => {
            let (text, cut) = (first.into_text(), second?);
            let at = text.find(cut.text().as_ref()).map(|at| at + cut.text().len());
            Some(retag(within(text, |text| at.and_then(|at| text.get(at..)).unwrap_or_default().into())))
        }
        Function::StrLang | Function::Tagged => {
            Some(Value::Tagged(first.into_text(), second?.into_text().to_lowercase().into()))
        }
        Function::StrDt => match second? {
            Value::Iri(datatype) if datatype == xsd::STRING.as_str() => Some(Value::Text(first.into_text())),
            Value::Iri(datatype) => Some(Value::Typed(first.into_text(), datatype)),
            _ => None,
        },
        Function::IsIri => boolean(matches!(first, Value::Iri(_))),
        Function::IsLiteral => boolean(!matches!(first, Value::Iri(_))),
        Function::IsNumeric => boolean(first.is_numeric()),
        Function::Integer => match first {
            Value::Number(number) => Some(Value::Integer(number as i64)),
            Value::Integer(number) => Some(Value::Integer(number)),
            other => other.text().trim().parse().ok().map(Value::Integer),
        },
        Function::Isbd => {
            let value = within(first.into_text(), f::isbd);
            (!matches!(&value, Value::Text(text) if text.is_empty())).then(|| retag(value))
        }
        Function::Isbn => made(f::isbn(&first.text())),
        Function::Issn => made(f::issn(&first.text())),
        Function::Lccn => made(f::lccn(&first.text())),
        Function::Oclc => made(f::oclc(&first.text())),
        Function::Doi => made(f::doi(&first.text())),
        Function::Orcid => made(f::orcid(&first.text())),
        Function::Isni => made(f::isni(&first.text())),
        Function::Year => made(f::year(&first.text())),
        Function::EdtfUnimarc => {
            made(f::edtf_unimarc(first.text().chars().next()?, &second?.text(), &third?.text()))
        }
        Function::Nonfiling => {
            let count = second?.into_text();
            Some(retag(within(first.into_text(), |text| f::nonfiling(text, &count).into())))
        }
        Function::SortKey => Some(Value::Text(f::sortkey(&first.text()).into())),
        Function::Nonsorting => Some(retag(within(first.into_text(), f::nonsorting))),
        Function::Sorting => Some(retag(within(first.into_text(), f::sorting))),
        Function::Direct => Some(retag(within(first.into_text(), f::direct))),
        Function::Inverted => Some(retag(within(first.into_text(), f::inverted))),
        Function::StripMark => Some(within(first.into_text(), |text| f::stripmark(text).into())),
        Function::Mark => made(f::mark(&first.text()).map(str::to_owned)),
        Function::CheckedIri => {
            let text = first.into_text();
            Some(match f::iri(&text) {
                Some(iri) => Value::Iri(iri.into()),
                None => Value::Text(text),
            })
        }
        Function::WorkKey => {
            made(f::work_key(&first.text(), &second.map(Value::into_text).unwrap_or_default()))
        }
        Function::Edtf => made(match (second, third) {
            (Some(one), Some(two)) => f::edtf_coded(first.text().chars().next()?, &one.text(), &two.text()),
            _ => f::edtf(&first.text()),
        }),
        // These take the record, a list, or any number of arguments.
        Function::Concat | Function::Join | Function::Language | Function::InstanceKey => None,
    }
}

/// The same with any number of arguments.
pub fn apply_all<'a>(function: Function, values: &mut dyn Iterator<Item = Value<'a>>) -> Option<Value<'a>> {
    match function {
        Function::Join => {
            let separator = values.next()?.into_text();
            let parts: Vec<Cow<'a, str>> =
                values.map(Value::into_text).filter(|part| !part.is_empty()).collect();
            (!parts.is_empty()).then(|| Value::Text(parts.join(&separator).into()))
        }
        Function::InstanceKey => {
            let parts: Vec<Cow<'a, str>> = values.map(Value::into_text).collect();
            let part = |index: usize| parts.get(index).map_or("", |part| part.as_ref());
            f::instance_key(part(0), part(1), part(2), part(3)).map(|key| Value::Text(key.into()))
        }
        _ => apply(function, values.next()?, values.next(), values.next()),
    }
}

fn number<'a>(
    value: Value<'a>,
    integer: impl Fn(i64) -> Option<i64>,
    decimal: impl Fn(f64) -> f64,
) -> Option<Value<'a>> {
    match value {
        Value::Integer(number) => integer(number).map(Value::Integer),
        Value::Number(number) => Some(Value::Number(decimal(number))),
        _ => None,
    }
}

/// SPARQL counts from 1.
fn substr<'a>(text: Cow<'a, str>, start: &Value<'_>, length: Option<&Value<'_>>) -> Option<Value<'a>> {
    let start = start.number()?.round() as i64;
    let end = match length {
        Some(length) => start.saturating_add(length.number()?.round() as i64),
        None => i64::MAX,
    };
    Some(within(text, |text| {
        let from = usize::try_from(start.max(1) - 1).unwrap_or(0);
        let to = usize::try_from((end - 1).max(0)).unwrap_or(0);
        let mut indices = text.char_indices().map(|(at, _)| at).chain([text.len()]);
        let first = indices.clone().nth(from).unwrap_or(text.len());
        let last = indices.nth(to).unwrap_or(text.len());
        text.get(first..last.max(first)).unwrap_or_default().into()
    }))
}

fn encode_for_uri(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(char::from(byte)),
            _ => {
                out.push('%');
                for digit in [byte >> 4, byte & 15] {
                    out.push(char::from_digit(u32::from(digit), 16).unwrap_or('0').to_ascii_uppercase());
                }
            }
        }
    }
    out
}
