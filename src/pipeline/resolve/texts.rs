//! The texts that say how records are resolved: profiles and queries, shipped or the user's own.
//!
//! A file of the same name in the catalogue's own folder (`mappings/resolve/instance.toml`,
//! `queries/resolve/instance/features.rq`, more keys in `queries/resolve/instance/keys/`) takes the
//! place of the shipped one; the folder of `--mappings` comes in between. So an edited text counts
//! from the next run on, and nothing has to be built again.

use super::ResolveError;
use crate::archive::PayloadHash;
use crate::catalogue::{QUERIES, guard};
use crate::config::Home;
use crate::ontology::{Prefixes, sparql_parser};
use crate::resolve::profile::Profile;
use oxrdf::NamedNode;
use spargebra::Query;
use std::path::Path;

/// What is asked of records, one query or more each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Asked {
    Instance,
    Work,
    Expression,
    Agent,
    Subject,
}

impl Asked {
    pub const ALL: [Self; 5] = [Self::Instance, Self::Work, Self::Expression, Self::Agent, Self::Subject];

    /// The shipped query of its features.
    pub fn query(self) -> &'static str {
        match self {
            Self::Instance => "resolve/instance/features",
            Self::Work => "resolve/work/features",
            Self::Expression => "resolve/expression/features",
            Self::Agent => "resolve/agent/features",
            Self::Subject => "resolve/subject/features",
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Instance => "instance",
            Self::Work => "work",
            Self::Expression => "expression",
            Self::Agent => "agent",
            Self::Subject => "subject",
        }
    }
}

/// A text and where it stands.
struct Text {
    place: String,
    text: String,
}

/// A query ready to be asked of record graphs.
pub(super) struct Question {
    pub asked: Asked,
    /// It gives blocking keys and no features.
    pub is_keys: bool,
    pub query: Query,
}

/// A line of `entries.tsv`.
pub(super) struct EntryRule {
    pub property: NamedNode,
    pub class: Option<NamedNode>,
    pub kind: super::entity::Kind,
}

/// A profile and the hash of all it was made from.
pub(super) struct ProfileText {
    pub profile: Profile,
    pub hash: PayloadHash,
}

/// All texts in force.
pub(super) struct Texts {
    pub instance: ProfileText,
    pub work: ProfileText,
    pub agent: ProfileText,
    pub questions: Vec<Question>,
    pub entries: Vec<EntryRule>,
    /// Of everything that decides what is read from a record.
    pub reading: PayloadHash,
}

const WORDS: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/mappings/resolve/words.toml"));
const ENTRIES: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/mappings/resolve/entries.tsv"));
const ENTRIES_HEADER: &str = "property\tclass\tentry";
const INSTANCE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/mappings/resolve/instance.toml"));
const WORK: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/mappings/resolve/work.toml"));
const AGENT: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/mappings/resolve/agent.toml"));

impl Texts {
    /// Reads all texts; says everything that is wrong with the first that cannot be used.
    pub fn read(home: &Home) -> Result<Self, ResolveError> {
        let words = mapping(home, "words.toml", WORDS)?;
        let profile = |name: &str, shipped: &str| -> Result<ProfileText, ResolveError> {
            let text = mapping(home, name, shipped)?;
            let profile = Profile::parse(&text.text, &words.text).map_err(|problems| {
                let lines: Vec<String> =
                    problems.iter().map(|problem| format!("{}: {problem}", text.place)).collect();
                ResolveError::Text(lines.join("\n"))
            })?;
            if name.strip_suffix(".toml") != Some(&*profile.name) {
                let message = format!("{}: it is called after the profile `{}`", text.place, profile.name);
                return Err(ResolveError::Text(message));
            }
            Ok(ProfileText { profile, hash: hash([&*text.text, &*words.text]) })
        };
        let entries = mapping(home, "entries.tsv", ENTRIES)?;
        let mut questions = Vec::new();
        let mut read = vec![entries.text.clone()];
        for asked in Asked::ALL {
            let text = features(home, asked)?;
            questions.push(Question { asked, is_keys: false, query: parse(&text)? });
            read.push(text.text);
            for text in keys(home, asked)? {
                questions.push(Question { asked, is_keys: true, query: parse(&text)? });
                read.push(text.text);
            }
        }
        Ok(Self {
            instance: profile("instance.toml", INSTANCE)?,
            work: profile("work.toml", WORK)?,
            agent: profile("agent.toml", AGENT)?,
            questions,
            entries: entry_rules(&entries)?,
            reading: hash(read.iter().map(String::as_str)),
        })
    }
}

fn hash<'a>(texts: impl IntoIterator<Item = &'a str>) -> PayloadHash {
    let mut all = Vec::new();
    for text in texts {
        all.extend_from_slice(&(text.len() as u64).to_le_bytes());
        all.extend_from_slice(text.as_bytes());
    }
    PayloadHash::of(&all)
}

/// A file of the user if there is one.
fn own(path: &Path) -> Result<Option<Text>, ResolveError> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(Text { place: path.display().to_string(), text })),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(ResolveError::Text(format!("{}: {error}", path.display()))),
    }
}

fn mapping(home: &Home, name: &str, shipped: &str) -> Result<Text, ResolveError> {
    let folders = [Some(home.directory.join("mappings")), home.mappings.clone()];
    for folder in folders.into_iter().flatten() {
        if let Some(text) = own(&folder.join("resolve").join(name))? {
            return Ok(text);
        }
    }
    Ok(Text { place: format!("mappings/resolve/{name}"), text: shipped.to_owned() })
}

fn features(home: &Home, asked: Asked) -> Result<Text, ResolveError> {
    let name = asked.query();
    if let Some(text) = own(&home.directory.join("queries").join(format!("{name}.rq")))? {
        return Ok(text);
    }
    let shipped = QUERIES.iter().find(|(known, _)| *known == name).map(|(_, text)| *text);
    let text = shipped.unwrap_or_default().to_owned();
    Ok(Text { place: format!("queries/{name}.rq"), text })
}

/// Queries for more blocking keys than the profile computes: shipped ones, and those of the user,
/// which take the place of shipped ones of their names.
fn keys(home: &Home, asked: Asked) -> Result<Vec<Text>, ResolveError> {
    let within = format!("resolve/{}/keys", asked.name());
    let folder = home.directory.join("queries").join(&within);
    let mut names: Vec<String> = QUERIES
        .iter()
        .filter_map(|(name, _)| name.strip_prefix(&within)?.strip_prefix('/'))
        .map(|name| format!("{name}.rq"))
        .collect();
    if let Ok(entries) = std::fs::read_dir(&folder) {
        let own = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
        names.extend(own.filter(|name| name.ends_with(".rq")));
    }
    names.sort();
    names.dedup();
    let mut texts = Vec::new();
    for name in names {
        let shipped = format!("{within}/{}", name.trim_end_matches(".rq"));
        match own(&folder.join(&name))? {
            Some(text) => texts.push(text),
            None => texts.extend(QUERIES.iter().find(|(known, _)| *known == shipped).map(|(_, text)| Text {
                place: format!("queries/{within}/{name}"),
                text: (*text).to_owned(),
            })),
        }
    }
    Ok(texts)
}

/// The variables by which rows are read.
const ROW: [&str; 2] = ["graph", "entity"];

fn parse(text: &Text) -> Result<Query, ResolveError> {
    let fault = |reason: String| ResolveError::Text(format!("{}: {reason}", text.place));
    guard::check(&text.text).map_err(|refusal| fault(refusal.to_string()))?;
    let query = sparql_parser().parse_query(&text.text).map_err(|error| fault(error.to_string()))?;
    let Query::Select { pattern, .. } = &query else {
        return Err(fault("it must be a SELECT".to_owned()));
    };
    let mut variables = Vec::new();
    pattern.on_in_scope_variable(|variable| variables.push(variable.as_str().to_owned()));
    if let Some(missing) = ROW.iter().find(|name| !variables.iter().any(|variable| variable == *name)) {
        return Err(fault(format!("its SELECT has no `?{missing}`")));
    }
    Ok(query)
}

fn entry_rules(text: &Text) -> Result<Vec<EntryRule>, ResolveError> {
    let mut rules = Vec::new();
    let mut lines =
        text.text.lines().enumerate().filter(|(_, line)| !line.starts_with('#') && !line.is_empty());
    if lines.next().is_none_or(|(_, header)| header.trim_end() != ENTRIES_HEADER) {
        let expected = ENTRIES_HEADER.replace('\t', "`, `");
        return Err(ResolveError::Text(format!("{}: no header; expected `{expected}`", text.place)));
    }
    for (number, line) in lines {
        let fault = |what: &str| ResolveError::Text(format!("{}: line {}: {what}", text.place, number + 1));
        let mut cells = line.split('\t');
        let mut cell = || cells.next().unwrap_or_default().trim();
        let (property, class, kind) = (cell(), cell(), cell());
        let term = |name: &str| Prefixes::shipped().expand(name);
        rules.push(EntryRule {
            property: term(property).ok_or_else(|| fault(&format!("`{property}` is no prefixed name")))?,
            class: match class {
                "*" => None,
                class => Some(term(class).ok_or_else(|| fault(&format!("`{class}` is no prefixed name")))?),
            },
            kind: super::entity::Kind::from_name(kind)
                .ok_or_else(|| fault(&format!("`{kind}` is no kind of entry")))?,
        });
    }
    // Without rules every entry would be removed.
    if rules.is_empty() {
        return Err(ResolveError::Text(format!("{}: it names no entries", text.place)));
    }
    Ok(rules)
}
