//! One table of a description while it is read.
//!
//! A field is asked for by its name and kind. What is there and of another kind becomes a
//! fault, and so does every key that nobody asked for when the section is closed: what is
//! asked for is the list of what there is.

use super::fault::{Fault, is_secretive};
use crate::diagnostic::{Code, near};
use oxrdf::NamedNode;
use std::ops::{Range, RangeInclusive};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

pub(super) type Value<'t> = Spanned<DeValue<'t>>;

pub(super) struct Section<'f, 'v, 't> {
    pub(super) table: &'v DeTable<'t>,
    /// `access.` before the names of its fields; nothing at the top.
    path: String,
    /// Where the section begins.
    at: Range<usize>,
    asked: Vec<&'static str>,
    pub(super) faults: &'f mut Vec<Fault>,
}

impl<'f, 'v, 't> Section<'f, 'v, 't> {
    pub fn new(table: &'v DeTable<'t>, at: Range<usize>, faults: &'f mut Vec<Fault>) -> Self {
        Self { table, path: String::new(), at, asked: Vec::new(), faults }
    }

    /// What a field has, whatever it is.
    pub(super) fn value(&mut self, key: &'static str) -> Option<&'v Value<'t>> {
        self.asked.push(key);
        self.table.iter().find(|(name, _)| name.get_ref() == key).map(|(_, value)| value)
    }

    pub fn has(&self, key: &str) -> bool {
        self.table.iter().any(|(name, _)| name.get_ref() == key)
    }

    /// Where a field stands; the section itself when it is not there.
    pub fn place(&self, key: &str) -> Range<usize> {
        let found = self.table.iter().find(|(name, _)| name.get_ref() == key);
        found.map_or_else(|| self.at.clone(), |(_, value)| value.span())
    }

    /// A key that was dealt with.
    pub fn ask(&mut self, key: &'static str) {
        self.asked.push(key);
    }

    /// The full name of a field.
    pub fn field(&self, key: &str) -> String {
        format!("{}{key}", self.path)
    }

    pub fn refuse(&mut self, key: &str, at: Range<usize>, message: impl AsRef<str>) {
        let fault = self.bad(key, at, message);
        self.faults.push(fault);
    }

    fn bad(&self, key: &str, at: Range<usize>, message: impl AsRef<str>) -> Fault {
        let field = self.field(key);
        let message = format!("`{field}` {}", message.as_ref());
        Fault::new(Code::BadSetting, &field, at, message)
    }

    /// A field that must be there and is not.
    pub fn missing(&mut self, key: &str, hint: &str) {
        let field = self.field(key);
        let fault = Fault::new(Code::BadSetting, &field, self.at.clone(), format!("`{field}` is missing"));
        self.faults.push(fault.hint(hint));
    }

    pub(super) fn wrong_kind(&mut self, key: &str, value: &Value<'_>, expected: &str) {
        let found = found(value.get_ref());
        self.refuse(key, value.span(), format!("is {found}, and {expected} is expected"));
    }

    pub fn text(&mut self, key: &'static str) -> Option<String> {
        self.text_at(key).map(|(text, _)| text)
    }

    /// A text and where it stands.
    pub fn text_at(&mut self, key: &'static str) -> Option<(String, Range<usize>)> {
        let value = self.value(key)?;
        let DeValue::String(text) = value.get_ref() else {
            self.wrong_kind(key, value, "a text in quotes");
            return None;
        };
        self.sound_text(key, text, value.span()).map(|text| (text, value.span()))
    }

    pub(super) fn sound_text(&mut self, key: &str, text: &str, at: Range<usize>) -> Option<String> {
        if text.trim().is_empty() {
            let fault = self.bad(key, at, "is empty").hint("write something, or leave it out");
            self.faults.push(fault);
            return None;
        }
        // A description is printed on terminals.
        if text.chars().any(|c| c.is_control() && c != '\n') {
            self.refuse(key, at, "holds a control character");
            return None;
        }
        Some(text.trim().to_owned())
    }

    /// One text, or a list of texts.
    pub fn texts(&mut self, key: &'static str) -> Vec<String> {
        let Some(value) = self.value(key) else { return Vec::new() };
        match value.get_ref() {
            DeValue::String(text) => self.sound_text(key, text, value.span()).into_iter().collect(),
            DeValue::Array(array) => {
                let mut texts = Vec::new();
                for value in array.iter() {
                    match value.get_ref() {
                        DeValue::String(text) => texts.extend(self.sound_text(key, text, value.span())),
                        other => {
                            let message = format!("holds {}, and texts in quotes are expected", found(other));
                            self.refuse(key, value.span(), message);
                        }
                    }
                }
                texts
            }
            _ => {
                self.wrong_kind(key, value, "a text in quotes or a list of them");
                Vec::new()
            }
        }
    }

    /// One of some words.
    pub fn choice<T: Copy>(&mut self, key: &'static str, words: &[(&str, T)]) -> Option<T> {
        let (text, at) = self.text_at(key)?;
        let found = words.iter().find(|(word, _)| word.eq_ignore_ascii_case(&text));
        if found.is_none() {
            let near = near(&text, words.iter().map(|(word, _)| *word));
            let listed: Vec<String> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
            let message = format!("is `{text}`, which is none of {}", listed.join(", "));
            let fault = self.bad(key, at, message).near(&near);
            self.faults.push(fault);
        }
        found.map(|(_, meaning)| *meaning)
    }

    /// A number with or without a fraction.
    pub fn number(&mut self, key: &'static str, range: RangeInclusive<f64>) -> Option<f64> {
        let value = self.value(key)?;
        let number = number(value.get_ref());
        let Some(number) = number else {
            self.wrong_kind(key, value, "a number");
            return None;
        };
        self.within(key, number, value.span(), range)
    }

    fn within(
        &mut self,
        key: &str,
        number: f64,
        at: Range<usize>,
        range: RangeInclusive<f64>,
    ) -> Option<f64> {
        if range.contains(&number) {
            return Some(number);
        }
        let (low, high) = range.into_inner();
        self.refuse(key, at, format!("is {number}, and must be between {low} and {high}"));
        None
    }

    /// A whole number.
    pub fn integer(&mut self, key: &'static str, range: RangeInclusive<u64>) -> Option<u64> {
        let value = self.value(key)?;
        let DeValue::Integer(integer) = value.get_ref() else {
            self.wrong_kind(key, value, "a whole number");
            return None;
        };
        let number = u64::from_str_radix(integer.as_str(), integer.radix()).ok();
        let number = number.filter(|number| range.contains(number));
        if number.is_none() {
            let (low, high) = range.into_inner();
            self.refuse(key, value.span(), format!("is {integer}, and must be between {low} and {high}"));
        }
        number
    }

    /// A whole number or a text.
    pub fn integer_or_text(&mut self, key: &'static str) -> Option<Result<u64, String>> {
        match self.value(key)?.get_ref() {
            DeValue::String(_) => self.text(key).map(Err),
            DeValue::Integer(_) => self.integer(key, 0..=i64::MAX as u64).map(Ok),
            other => {
                let message = format!("is {}, and a whole number or a text is expected", found(other));
                self.refuse(key, self.place(key), message);
                None
            }
        }
    }

    pub fn boolean(&mut self, key: &'static str) -> Option<bool> {
        let value = self.value(key)?;
        let DeValue::Boolean(boolean) = value.get_ref() else {
            self.wrong_kind(key, value, "`true` or `false`");
            return None;
        };
        Some(*boolean)
    }

    /// An address on the web. One with a password in it is refused.
    pub fn url(&mut self, key: &'static str) -> Option<String> {
        let (text, at) = self.text_at(key)?;
        let rest = ["http://", "https://"].iter().find_map(|scheme| {
            text.get(..scheme.len())
                .filter(|start| start.eq_ignore_ascii_case(scheme))
                .and_then(|_| text.get(scheme.len()..))
        });
        let host = rest.map(|rest| rest.split(['/', '?', '#']).next().unwrap_or_default());
        match host {
            None => {
                self.refuse(key, at, "is no address that begins with `http://` or `https://`");
                None
            }
            Some(host) if host.contains('@') => {
                self.secret(key, at);
                None
            }
            Some("") => {
                self.refuse(key, at, "names no host");
                None
            }
            Some(_) => match NamedNode::new(&text) {
                Ok(iri) => Some(iri.into_string()),
                Err(error) => {
                    self.refuse(key, at, format!("is not an address: {error}"));
                    None
                }
            },
        }
    }

    /// A day or a moment as OAI-PMH writes them: `2024-01-31`, `2024-01-31T12:00:00Z`.
    pub fn date(&mut self, key: &'static str) -> Option<String> {
        let value = self.value(key)?;
        let text = match value.get_ref() {
            DeValue::String(text) => text.trim().to_owned(),
            DeValue::Datetime(date) => date.to_string(),
            _ => {
                self.wrong_kind(key, value, "a date");
                return None;
            }
        };
        let day = text.len() == 10 && text.parse::<jiff::civil::Date>().is_ok();
        let moment = text.len() == 20 && text.ends_with('Z') && text.parse::<jiff::Timestamp>().is_ok();
        if day || moment {
            return Some(text);
        }
        let message = format!("is `{text}`, and a date is written `2024-01-31` or `2024-01-31T12:00:00Z`");
        self.refuse(key, value.span(), message);
        None
    }

    /// A table below this one.
    pub fn section(&mut self, key: &'static str) -> Option<Section<'_, 'v, 't>> {
        let value = self.value(key)?;
        let DeValue::Table(table) = value.get_ref() else {
            if is_secretive(key) {
                self.secret(key, value.span());
            } else {
                self.wrong_kind(key, value, "a table");
            }
            return None;
        };
        let path = format!("{}.", self.field(key));
        Some(Section { table, path, at: value.span(), asked: Vec::new(), faults: &mut *self.faults })
    }

    /// Names of one's own, each with a number.
    pub fn numbers(&mut self, key: &'static str, range: RangeInclusive<f64>) -> Vec<(String, f64)> {
        let Some(mut section) = self.section(key) else { return Vec::new() };
        let mut numbers = Vec::new();
        for (name, value) in section.table {
            let name: &str = name.get_ref();
            match number(value.get_ref()) {
                Some(number) => {
                    if let Some(number) = section.within(name, number, value.span(), range.clone()) {
                        numbers.push((value.span().start, name.to_owned(), number));
                    }
                }
                None => section.wrong_kind(name, value, "a number"),
            }
        }
        // As written.
        numbers.sort_by_key(|(at, ..)| *at);
        numbers.into_iter().map(|(_, name, number)| (name, number)).collect()
    }

    /// Reports every key that was not asked for.
    pub fn close(mut self) {
        for (key, value) in self.table {
            let name: &str = key.get_ref();
            if self.asked.contains(&name) {
                continue;
            }
            if is_secretive(name) && !value.get_ref().is_table() {
                self.secret(name, value.span());
                continue;
            }
            let field = self.field(name);
            let near = near(name, self.asked.iter().copied());
            let fault =
                Fault::new(Code::UnknownKey, &field, key.span(), format!("there is no field `{field}`"));
            self.faults.push(if near.is_empty() {
                fault.hint(format!("there are: {}", self.asked.join(", ")))
            } else {
                fault.near(&near)
            });
        }
    }
}

fn number(value: &DeValue<'_>) -> Option<f64> {
    match value {
        DeValue::Float(float) => float.as_str().parse().ok(),
        DeValue::Integer(integer) => {
            i64::from_str_radix(integer.as_str(), integer.radix()).ok().map(|number| number as f64)
        }
        _ => None,
    }
}

/// What a value is, in words.
fn found(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "`true` or `false`",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
