//! A description while it is changed. Comments and order stay as they are, and the file on
//! disk changes as a whole or not at all.

use super::descriptor::{Place, Source};
use super::fields::FIELDS;
use super::registry::{Registry, SourceError};
use crate::diagnostic::Diagnostic;
use crate::disk::{self, Readers};
use std::fs;
use std::path::Path;
use toml_edit::{DocumentMut, InlineTable, Item, Table, Value};

/// Why a description cannot be changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    #[error(transparent)]
    Source(#[from] SourceError),
    #[error("`{0}` is not valid TOML; put it right with an editor first")]
    Broken(String),
    #[error("`{0}` has no fields of its own")]
    NotATable(String),
    #[error("`{0}` is a table; name a field in it: `{0}.NAME=VALUE`")]
    IsATable(String),
}

/// A description on its way to the disk.
#[derive(Debug, Clone)]
pub struct Draft {
    key: String,
    place: Place,
    /// What stands above the document: the editor would put a comment without a field below it.
    head: &'static str,
    document: DocumentMut,
}

impl Draft {
    /// An empty one, with a file of its own below the catalogue's directory.
    pub fn empty(directory: &Path, key: &str) -> Result<Self, Refusal> {
        let head = "# docs/sources.md explains every field.\n";
        Ok(Self { head, ..Self::new(directory, key, "")? })
    }

    /// A new one that begins with a text.
    pub fn new(directory: &Path, key: &str, text: &str) -> Result<Self, Refusal> {
        let file = directory.join(Registry::FOLDER).join(format!("{key}.toml"));
        let place = Place { file, line: 1, among_settings: false };
        Self::over(key, place, text)
    }

    /// One that is there.
    pub fn open(key: &str, place: &Place) -> Result<Self, Refusal> {
        let text = fs::read_to_string(&place.file).map_err(SourceError::io(&place.file))?;
        Self::over(key, place.clone(), &text)
    }

    fn over(key: &str, place: Place, text: &str) -> Result<Self, Refusal> {
        let broken = |_| Refusal::Broken(place.file.display().to_string());
        let document = text.parse().map_err(broken)?;
        Ok(Self { key: key.to_owned(), place, head: "", document })
    }

    /// Gives a field a value as it is typed; an empty one takes the field away.
    pub fn set(&mut self, field: &str, typed: &str) -> Result<(), Refusal> {
        let parts = parts(field);
        let Some((last, above)) = parts.split_last() else { return Ok(()) };
        let mut item = self.document.as_item_mut();
        let within: &[&str] = if self.place.among_settings { &["source", &self.key] } else { &[] };
        for part in within.iter().chain(above) {
            item = descend(item, part).ok_or_else(|| Refusal::NotATable((*part).to_owned()))?;
        }
        let one_line = item.as_inline_table().is_some_and(|table| !table.to_string().contains('\n'));
        let Some(table) = item.as_table_like_mut() else {
            return Err(Refusal::NotATable(above.join(".")));
        };
        if typed.is_empty() {
            table.remove(last);
            return Ok(());
        }
        let mut value = value_of(field, typed);
        match table.get_mut(last) {
            Some(Item::Value(old)) => {
                // The comment behind the old value belongs to the field.
                *value.decor_mut() = old.decor().clone();
                *old = value;
            }
            Some(Item::Table(_) | Item::ArrayOfTables(_)) => return Err(Refusal::IsATable(field.to_owned())),
            _ => {
                table.insert(last, Item::Value(value));
                if one_line {
                    table.fmt();
                }
            }
        }
        Ok(())
    }

    /// The source as it would be, or all that is wrong with it.
    pub fn check(&self) -> Result<Source, Vec<Diagnostic>> {
        if self.place.among_settings {
            Registry::check_settings(&self.key, &self.place.file, &self.text())
        } else {
            Registry::check(&self.key, &self.place.file, &self.text())
        }
    }

    fn text(&self) -> String {
        format!("{}{}", self.head, self.document)
    }

    pub fn file(&self) -> &Path {
        &self.place.file
    }

    /// Puts it on the disk, in one step.
    pub fn save(&self) -> Result<(), SourceError> {
        write_whole(&self.place.file, &self.text())
    }

    /// Takes the description off the disk.
    pub fn remove(mut self) -> Result<(), SourceError> {
        if !self.place.among_settings {
            return disk::remove_file(&self.place.file).map_err(SourceError::io(&self.place.file));
        }
        if let Some(sources) = self.document.get_mut("source").and_then(Item::as_table_like_mut) {
            sources.remove(&self.key);
        }
        self.save()
    }
}

/// `access.delay` is a field of a table; a subject may have dots in its name.
fn parts(field: &str) -> Vec<&str> {
    match field.split_once('.') {
        Some(("subjects", name)) => vec!["subjects", name],
        _ => field.split('.').collect(),
    }
}

/// The table below another, made if it is not there; `None` where a value stands.
fn descend<'a>(item: &'a mut Item, part: &str) -> Option<&'a mut Item> {
    // In `{ … }` only the like fits.
    let inline = item.is_inline_table();
    let table = item.as_table_like_mut()?;
    if !table.contains_key(part) {
        let new = if inline {
            Item::Value(InlineTable::new().into())
        } else {
            let mut new = Table::new();
            // `[access]` needs no line of its own above `[access.basic]`.
            new.set_implicit(true);
            Item::Table(new)
        };
        table.insert(part, new);
        if inline {
            table.fmt();
        }
    }
    table.get_mut(part)
}

/// What was typed, as a TOML value: `0.8`, `true`, `["a", "b"]`; anything else is a text.
fn value_of(field: &str, typed: &str) -> Value {
    let is_text = FIELDS.iter().any(|known| known.name == field && known.is_text);
    match typed.parse::<Value>() {
        Ok(value) if !is_text || value.is_str() => value.decorated(" ", ""),
        _ => Value::from(typed),
    }
}

/// Writes beside the file and renames: whoever reads finds the old text or the new one.
fn write_whole(file: &Path, text: &str) -> Result<(), SourceError> {
    let written = file
        .parent()
        .map_or(Ok(()), disk::create_directory)
        .and_then(|()| disk::replace(file, Readers::Usual, |out| out.write_all(text.as_bytes())));
    written.map_err(SourceError::io(file))
}
