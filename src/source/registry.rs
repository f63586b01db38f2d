//! All sources of a catalogue: `[source.KEY]` among the settings, and one file a source under
//! `sources/`.

use super::descriptor::{Place, Source};
use super::fault::{Fault, WHOLE_FILE};
use super::key::check_registered_key;
use super::read;
use crate::diagnostic::{Code, Diagnostic, Lines};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml::de::DeValue;

/// Why the sources cannot be read or written. What is wrong in a description is a
/// [`Diagnostic`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    #[error("cannot use `{path}`: {source}")]
    Io { path: String, source: std::io::Error },
}

impl SourceError {
    pub(super) fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.display().to_string();
        move |source| Self::Io { path, source }
    }
}

/// The sources of one catalogue, as far as their descriptions are in order.
#[derive(Debug, Clone, Default)]
pub struct Registry {
    sources: BTreeMap<String, Source>,
    /// Of every description, sound or not.
    places: BTreeMap<String, Place>,
    diagnostics: Vec<Diagnostic>,
}

impl Registry {
    /// The settings; the same file that makes a directory a catalogue.
    const SETTINGS: &'static str = "pinakes.toml";
    /// The folder of descriptions.
    pub const FOLDER: &'static str = "sources";

    /// Reads every description below a catalogue's directory.
    pub fn read(directory: &Path) -> Result<Self, SourceError> {
        let mut registry = Self::default();
        let settings = directory.join(Self::SETTINGS);
        if let Some(text) = text_of(&settings)? {
            registry.settings(&settings, &text);
        }
        for file in files(&directory.join(Self::FOLDER))? {
            let key = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
            let text = text_of(&file)?.unwrap_or_default();
            registry.file(&key, &file, &text);
        }
        Ok(registry)
    }

    /// One source as a file of its own would say it; all that is wrong instead.
    pub fn check(key: &str, file: &Path, text: &str) -> Result<Source, Vec<Diagnostic>> {
        let mut registry = Self::default();
        registry.file(key, file, text);
        registry.sources.remove(key).ok_or(registry.diagnostics)
    }

    /// One source as the settings would say it.
    pub fn check_settings(key: &str, file: &Path, text: &str) -> Result<Source, Vec<Diagnostic>> {
        let mut registry = Self::default();
        registry.settings(file, text);
        registry.sources.remove(key).ok_or(registry.diagnostics)
    }

    pub fn get(&self, key: &str) -> Option<&Source> {
        self.sources.get(key)
    }

    /// Where a source is described, be the description sound or not.
    pub fn place(&self, key: &str) -> Option<&Place> {
        self.places.get(key)
    }

    /// By key.
    pub fn iter(&self) -> impl Iterator<Item = &Source> {
        self.sources.values()
    }

    /// The keys of all descriptions, sound or not.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.places.keys().map(String::as_str)
    }

    /// All that is wrong in all files, file by file, from top to bottom.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    fn settings(&mut self, file: &Path, text: &str) {
        let mut faults = Vec::new();
        let name = file.display().to_string();
        let table = read::parse(text, &mut faults);
        let sources = table.as_ref().and_then(|table| {
            table.iter().find(|(key, _)| key.get_ref() == "source").map(|(_, value)| value)
        });
        match sources.map(|value| (value.get_ref(), value.span())) {
            None => {}
            Some((DeValue::Table(sources), _)) => {
                let lines = Lines::of(text);
                for (key, value) in sources {
                    let place = Place {
                        file: file.to_owned(),
                        line: lines.position(key.span().start).0,
                        among_settings: true,
                    };
                    self.source(key.get_ref(), value.get_ref(), key.span(), place, text);
                }
            }
            Some((_, at)) => {
                let message = "`source` is a table of sources, each below `[source.KEY]`";
                faults.push(Fault::new(Code::SourceSyntax, "source", at, message));
            }
        }
        self.note(None, &name, text, faults);
    }

    fn file(&mut self, key: &str, file: &Path, text: &str) {
        let place = Place { file: file.to_owned(), line: 1, among_settings: false };
        let mut faults = Vec::new();
        match read::parse(text, &mut faults) {
            Some(table) => self.source(key, &DeValue::Table(table), WHOLE_FILE, place, text),
            None => {
                self.places.entry(key.to_owned()).or_insert(place);
                self.note(Some(key), &file.display().to_string(), text, faults);
            }
        }
    }

    fn source(&mut self, key: &str, value: &DeValue<'_>, at: Range<usize>, place: Place, text: &str) {
        let mut faults = Vec::new();
        let name = place.file.display().to_string();
        if let Err(reason) = check_registered_key(key) {
            let message = format!("`{key}` cannot be the key of a source: {reason}");
            faults.push(Fault::new(Code::BadSetting, "", at.clone(), message));
        }
        if let Some(other) = self.places.get(key) {
            let message = format!(
                "`{key}` is described twice: here and in {}:{}",
                other.file.display(),
                other.line.max(1)
            );
            let fault = Fault::new(Code::DuplicateSource, "", at.clone(), message);
            faults.push(fault.hint("take one of them away, or give it another key"));
            // Neither is better than the other.
            self.sources.remove(key);
            self.note(Some(key), &name, text, faults);
            return;
        }
        self.places.insert(key.to_owned(), place.clone());
        match value {
            DeValue::Table(table) => {
                let source = read::read(key, table, at, place, &mut faults);
                if let Some(source) = source.filter(|_| faults.is_empty()) {
                    self.sources.insert(key.to_owned(), source);
                }
            }
            _ => {
                let message = format!("`source.{key}` is not a table");
                faults.push(Fault::new(Code::SourceSyntax, "", at, message));
            }
        }
        self.note(Some(key), &name, text, faults);
    }

    fn note(&mut self, key: Option<&str>, file: &str, text: &str, mut faults: Vec<Fault>) {
        faults.sort_by_key(|fault| fault.problem.at.start);
        let lines = Lines::of(text);
        self.diagnostics.extend(faults.iter().map(|fault| fault.diagnostic(key, file, &lines)));
    }
}

/// The descriptions of a folder, by name. A folder that is not there has none.
fn files(folder: &Path) -> Result<Vec<PathBuf>, SourceError> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(SourceError::io(folder)(error)),
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(SourceError::io(folder))?.path();
        if path.extension().is_some_and(|ending| ending == "toml") && path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Bytes that are not UTF-8 become U+FFFD, which TOML then complains about at its place.
fn text_of(file: &Path) -> Result<Option<String>, SourceError> {
    match std::fs::read(file) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(SourceError::io(file)(error)),
    }
}
