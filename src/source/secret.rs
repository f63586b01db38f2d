//! What a description may say of secrets: where they are, never what they are.

use super::access::FieldValue;
use super::fault::{Fault, is_secretive};
use super::section::Section;
use crate::diagnostic::Code;
use std::collections::BTreeMap;
use std::ops::Range;
use toml::de::{DeTable, DeValue};

impl Section<'_, '_, '_> {
    /// The name of an environment variable. Anything else may be the secret itself.
    pub fn variable(&mut self, key: &'static str) -> Option<String> {
        let value = self.value(key)?;
        match value.get_ref() {
            DeValue::String(text) => self.variable_name(key, text, value.span()),
            _ => {
                self.secret(key, value.span());
                None
            }
        }
    }

    fn variable_name(&mut self, key: &str, text: &str, at: Range<usize>) -> Option<String> {
        let legal = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let starts = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        if starts && text.chars().all(legal) {
            return Some(text.to_owned());
        }
        self.secret(key, at);
        None
    }

    /// Something that must not stand in a file.
    pub fn secret(&mut self, key: &str, at: Range<usize>) {
        let bare = key.trim_end_matches("_env").replace('-', "_");
        let hint = format!(
            "put it into an environment variable and write the variable's name: `{bare}_env = \"MY_{}\"`",
            bare.to_uppercase()
        );
        self.secret_with(key, at, hint);
    }

    fn secret_with(&mut self, key: &str, at: Range<usize>, hint: String) {
        let field = self.field(key);
        let message = format!("`{field}` looks like a secret, and a description is no place for one");
        self.faults.push(Fault::new(Code::PlainSecret, &field, at, message).hint(hint));
    }

    /// The fields of a form: a text that may be read by anybody, or `{ env = "NAME" }`.
    pub fn form(&mut self, key: &'static str) -> BTreeMap<String, FieldValue> {
        let Some(mut section) = self.section(key) else {
            if !self.has(key) {
                self.missing(key, "write `fields.user = { env = \"MY_USER\" }` and so on");
            }
            return BTreeMap::new();
        };
        let mut fields = BTreeMap::new();
        for (name, value) in section.table {
            let name: &str = name.get_ref();
            let at = value.span();
            let filled = match value.get_ref() {
                DeValue::Table(table) => match only_env(table) {
                    Some((text, at)) => {
                        section.variable_name(name, text, at).map(|env| FieldValue::Env { env })
                    }
                    None => {
                        section.refuse(name, at, "is a table, and only `{ env = \"NAME\" }` is known");
                        None
                    }
                },
                _ if is_secretive(name) => {
                    let hint = format!("write `{name} = {{ env = \"MY_VARIABLE\" }}`");
                    section.secret_with(name, at, hint);
                    None
                }
                DeValue::String(text) => section.sound_text(name, text, at).map(FieldValue::Text),
                _ => {
                    section.wrong_kind(name, value, "a text or `{ env = \"NAME\" }`");
                    None
                }
            };
            fields.extend(filled.map(|filled| (name.to_owned(), filled)));
        }
        fields
    }
}

/// `{ env = "NAME" }`
fn only_env<'v>(table: &'v DeTable<'_>) -> Option<(&'v str, Range<usize>)> {
    let (key, value) = table.iter().next().filter(|_| table.len() == 1)?;
    match value.get_ref() {
        DeValue::String(text) if key.get_ref() == "env" => Some((text, value.span())),
        _ => None,
    }
}
