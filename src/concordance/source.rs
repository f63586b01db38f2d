//! A file before it is read: what it is called, what kind it is, and whose records it is for.

use super::file;
use crate::record::Model;
use std::borrow::Cow;
use std::path::Path;
use std::{fs, io};

/// The files in the binary, by their path under `mappings/`.
pub(super) const SHIPPED: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/mappings.rs"));

/// The endings of rule files, code lists and queries.
const ENDINGS: [&str; 3] = ["toml", "tsv", "rq"];

/// Where a file comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    Shipped,
    /// Loaded into the catalogue by its user; its version, from 1.
    Loaded(usize),
}

/// A file before it is read.
#[derive(Debug, Clone)]
pub struct Source {
    /// Its path under `mappings/`, with its ending: `marc21/20x-24x-titles.toml`.
    pub path: String,
    pub text: Cow<'static, str>,
    pub origin: Origin,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Rules,
    Codes,
    Query,
}

/// What the head of a rule file says of its records.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Head {
    pub model: Option<Model>,
    /// The rules hold for this source alone.
    pub source: Option<String>,
}

impl Source {
    pub fn new(path: impl Into<String>, text: impl Into<Cow<'static, str>>, origin: Origin) -> Self {
        Self { path: path.into(), text: text.into(), origin }
    }

    /// The path without its ending: what a file is called everywhere.
    pub fn name(&self) -> &str {
        self.path.rsplit_once('.').map_or(self.path.as_str(), |(name, _)| name)
    }

    pub fn kind(&self) -> Kind {
        match self.path.rsplit_once('.') {
            Some((_, "tsv")) => Kind::Codes,
            Some((_, "rq")) => Kind::Query,
            _ => Kind::Rules,
        }
    }

    pub(super) fn head(&self) -> Head {
        Head::of(&self.text)
    }

    /// The files that come with Pinakes.
    pub fn shipped() -> Vec<Self> {
        SHIPPED.iter().map(|(path, text)| Self::new(*path, *text, Origin::Shipped)).collect()
    }

    /// The files of a folder laid out like `mappings/`.
    pub fn in_folder(folder: &Path) -> io::Result<Vec<Self>> {
        let mut found = Vec::new();
        let mut waiting = vec![folder.to_owned()];
        while let Some(next) = waiting.pop() {
            for entry in fs::read_dir(&next).map_err(named(&next))? {
                let path = entry.map_err(named(&next))?.path();
                if path.is_dir() {
                    // What makes two records one is no concordance.
                    if path != folder.join("resolve") {
                        waiting.push(path);
                    }
                } else if has_known_ending(&path) {
                    let name = path.strip_prefix(folder).unwrap_or(&path).display().to_string();
                    let text = fs::read_to_string(&path).map_err(named(&path))?;
                    found.push(Self::new(name.replace('\\', "/"), text, Origin::Shipped));
                }
            }
        }
        Ok(found)
    }
}

/// An error with the file it is about.
fn named(path: &Path) -> impl Fn(io::Error) -> io::Error {
    move |error| io::Error::new(error.kind(), format!("`{}`: {error}", path.display()))
}

impl Head {
    /// The head of a file's text. Reading TOML for it would mean reading all files before the
    /// first record, so a head in its usual form is read line by line.
    fn of(text: &str) -> Self {
        quick_head(text).unwrap_or_else(|| {
            let read = file::read(text, &mut Vec::new());
            Self { model: read.model, source: read.source }
        })
    }
}

/// The head when it is `[concordance]` and then lines of `key = "text"`; `None` for any other
/// form that TOML allows.
fn quick_head(text: &str) -> Option<Head> {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    if lines.next()? != "[concordance]" {
        return None;
    }
    let mut head = Head::default();
    for line in lines {
        if line.starts_with('[') {
            break;
        }
        let (key, value) = line.split_once('=')?;
        let value = value.trim();
        let quote = value.chars().next().filter(|c| *c == '"' || *c == '\'')?;
        let (inside, after) = value.get(1..)?.split_once(quote)?;
        let plain = !inside.contains('\\') && (after.trim().is_empty() || after.trim().starts_with('#'));
        if !plain {
            return None;
        }
        match key.trim() {
            "format" => head.model = inside.parse().ok(),
            "source" => head.source = Some(inside.to_owned()),
            "about" | "see" => {}
            _ => return None,
        }
    }
    Some(head)
}

fn has_known_ending(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ENDINGS.iter().any(|known| ending == *known))
}

/// What a user's file is called: as it lies below a folder `mappings`; like the shipped file of
/// the same folder and name, or of the same format and name; else by its format and name.
/// A file for one source has the source behind its name, `marc21/my-rules@loc.toml`, so that it
/// stands beside those for all.
pub fn path_of(file: &Path, text: &str) -> Result<String, String> {
    if !has_known_ending(file) {
        return Err(format!(
            "`{}` is no rule file by its name: rules end in .toml, code lists in .tsv, queries in .rq",
            file.display()
        ));
    }
    let parts: Vec<String> =
        file.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
    let below = parts
        .iter()
        .rposition(|part| part == "mappings")
        .filter(|at| at + 2 < parts.len())
        .and_then(|at| parts.get(at + 1..))
        .map(|below| below.join("/"));
    Ok(with_source(&below.unwrap_or_else(|| usual_path(&parts, text)), text))
}

/// A path with the source its rules are limited to.
pub fn with_source(path: &str, text: &str) -> String {
    let Some((name, "toml")) = path.rsplit_once('.') else { return path.to_owned() };
    match Head::of(text).source {
        Some(source) if !source.is_empty() && !name.ends_with(&format!("@{source}")) => {
            format!("{name}@{source}.toml")
        }
        _ => path.to_owned(),
    }
}

fn usual_path(parts: &[String], text: &str) -> String {
    let shipped = || SHIPPED.iter().map(|(path, text)| (*path, *text));
    let name = parts.last().map_or("", String::as_str);
    let in_folder = parts.get(parts.len().saturating_sub(2)..).unwrap_or_default().join("/");
    if shipped().any(|(path, _)| path == in_folder) {
        return in_folder;
    }
    let bare = name.rsplit_once('@').map_or(name.to_owned(), |(bare, _)| format!("{bare}.toml"));
    match name.rsplit_once('.') {
        Some((_, "tsv")) => format!("codes/{name}"),
        Some((_, "rq")) => format!("rdf/{name}"),
        _ => {
            let Some(model) = Head::of(text).model else { return name.to_owned() };
            // Formats and folders need not have one name: `oai_dc` is in `dc/`.
            let same = shipped().find(|(path, text)| {
                path.rsplit('/').next() == Some(bare.as_str()) && Head::of(text).model == Some(model)
            });
            let folder = same.and_then(|(path, _)| path.rsplit_once('/')).map(|(folder, _)| folder);
            format!("{}/{name}", folder.unwrap_or(model.name()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quick_look_at_a_head_sees_what_reading_the_file_would() {
        for (path, text) in SHIPPED.iter().filter(|(path, _)| path.ends_with(".toml")) {
            let read = file::read(text, &mut Vec::new());
            let slow = Head { model: read.model, source: read.source };
            assert_eq!(quick_head(text), Some(slow), "{path}");
        }
        for unusual in [
            "concordance.format = \"csv\"\n",
            "concordance = { format = \"csv\" }\n",
            "[concordance]\nabout = '''\nformat = \"json\"\n'''\nformat = \"csv\"\n",
            "[concordance]\n\"format\" = \"csv\"\n",
            "[concordance]\nformat = \"\\u0063sv\"\n",
        ] {
            assert_eq!(quick_head(unusual), None, "{unusual}");
            assert_eq!(Head::of(unusual).model, Some(Model::Row), "{unusual}");
        }
    }

    #[test]
    fn a_file_is_called_like_the_shipped_one_it_is_meant_to_replace() {
        let head = |format: &str, more: &str| format!("[concordance]\nformat = \"{format}\"\n{more}");
        let called = |file: &str, text: &str| path_of(Path::new(file), text).expect(file);
        let marc21 = head("marc21", "");
        assert_eq!(called("x/20x-24x-titles.toml", &marc21), "marc21/20x-24x-titles.toml");
        assert_eq!(called("my-rules.toml", &marc21), "marc21/my-rules.toml");
        assert_eq!(called("/a/mappings/unimarc/mine.toml", &head("unimarc", "")), "unimarc/mine.toml");
        assert_eq!(called("oai_dc.toml", &head("oai_dc", "")), "dc/oai_dc.toml");
        assert_eq!(called("bibframe/keys.rq", ""), "bibframe/keys.rq");
        assert_eq!(called("keys.rq", ""), "rdf/keys.rq");
        assert_eq!(called("relators.tsv", ""), "codes/relators.tsv");
        let limited = head("marc21", "source = \"loc\"\n");
        assert_eq!(called("20x-24x-titles.toml", &limited), "marc21/20x-24x-titles@loc.toml");
        assert_eq!(called("20x-24x-titles@loc.toml", &limited), "marc21/20x-24x-titles@loc.toml");
        assert!(path_of(Path::new("rules.json"), "").unwrap_err().contains("is no rule file"));
    }
}
