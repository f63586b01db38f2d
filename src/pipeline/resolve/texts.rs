//! The texts that say how records are resolved: profiles and queries, shipped or the user's own.
//!
//! A file of the same name in the catalogue's own folder (`mappings/resolve/instance.toml`,
//! `queries/resolve/instance/features.rq`, more keys in `queries/resolve/instance/keys/`) takes the
//! place of the shipped one; the folder of `--mappings` comes in between. So an edited text counts
//! from the next run on, and nothing has to be built again.

use super::ResolveError;
use super::entity::Kind;
use super::understanding::understand;
use crate::archive::PayloadHash;
use crate::catalogue::QUERIES;
use crate::config::Home;
use crate::diagnostic::Lines;
use crate::resolve::profile::Profile;
use oxrdf::NamedNode;
use pinakes_ask::Questions;
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

/// What a text is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Words,
    /// What agreement and disagreement are worth, by the profile's name.
    Weights(&'static str),
    Profile,
    Entries,
    Levels,
    Features(Asked),
    Keys(Asked),
}

/// A text and where it stands.
pub(super) struct Text {
    pub role: Role,
    /// What it is called below the catalogue's folder: `mappings/resolve/words.toml`.
    pub path: String,
    /// Where it was read from, as a user knows it.
    pub place: String,
    pub text: String,
    pub is_shipped: bool,
}

impl Text {
    fn shipped(role: Role, path: String, text: &str) -> Self {
        Self { role, place: path.clone(), path, text: text.to_owned(), is_shipped: true }
    }

    /// What everybody calls it: `resolve/words`, `resolve/instance/features`.
    pub fn name(&self) -> &str {
        let below = self.path.split_once('/').map_or(self.path.as_str(), |(_, below)| below);
        below.rsplit_once('.').map_or(below, |(name, _)| name)
    }
}

/// Where texts of the user's own may lie.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Folders<'a> {
    pub catalogue: Option<&'a Path>,
    /// The folder of `--mappings`.
    pub mappings: Option<&'a Path>,
}

/// A query that is asked of every record graph.
pub(super) struct Question {
    pub asked: Asked,
    /// It gives blocking keys and no features.
    pub is_keys: bool,
}

/// Everything that decides what is read from a record.
pub(in crate::pipeline) struct Questionnaire {
    pub(super) questions: Vec<Question>,
    /// Their queries, in the same order.
    pub(super) queries: Questions,
    pub(super) entries: Vec<EntryRule>,
    /// Of all the texts behind it.
    pub(super) hash: PayloadHash,
}

/// A line of `entries.tsv`.
pub(super) struct EntryRule {
    pub property: NamedNode,
    pub class: Option<NamedNode>,
    pub kind: Kind,
}

/// A line of `levels.tsv`: what of a work belongs to the publication, and what to no entry at all.
pub(super) struct LevelRule {
    pub property: NamedNode,
    pub node: NodeCondition,
    pub stays: Stays,
}

/// Where a statement stays that `levels.tsv` names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stays {
    /// With the publication.
    Instance,
    /// With the publication and the work.
    Both,
    /// With its record: the merged catalogue does without.
    Record,
}

/// What holds of the node that a property leads to.
pub(super) enum NodeCondition {
    Anything,
    Class(NamedNode),
    Says(NamedNode, NamedNode),
    /// The node has this name.
    Is(NamedNode),
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
    pub questionnaire: Questionnaire,
    pub levels: Vec<LevelRule>,
    /// Of what decides on which level a statement stands.
    pub placing: PayloadHash,
}

pub(super) const WORDS: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/mappings/resolve/words.toml"));
const ENTRIES: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/mappings/resolve/entries.tsv"));
const LEVELS: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/mappings/resolve/levels.tsv"));
const INSTANCE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/mappings/resolve/instance.toml"));
const WORK: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/mappings/resolve/work.toml"));
const AGENT: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/mappings/resolve/agent.toml"));
const INSTANCE_WEIGHTS: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/mappings/resolve/weights/instance.toml"));
const WORK_WEIGHTS: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/mappings/resolve/weights/work.toml"));
const AGENT_WEIGHTS: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/mappings/resolve/weights/agent.toml"));

/// The shipped texts of `mappings/resolve`, in the order in which they are read.
const MAPPINGS: [(&str, Role, &str); 9] = [
    ("words.toml", Role::Words, WORDS),
    ("weights/instance.toml", Role::Weights("instance"), INSTANCE_WEIGHTS),
    ("weights/work.toml", Role::Weights("work"), WORK_WEIGHTS),
    ("weights/agent.toml", Role::Weights("agent"), AGENT_WEIGHTS),
    ("instance.toml", Role::Profile, INSTANCE),
    ("work.toml", Role::Profile, WORK),
    ("agent.toml", Role::Profile, AGENT),
    ("entries.tsv", Role::Entries, ENTRIES),
    ("levels.tsv", Role::Levels, LEVELS),
];

impl Texts {
    /// Reads all texts; says everything that is wrong with them.
    pub fn read(home: &Home) -> Result<Self, ResolveError> {
        let folders = Folders { catalogue: Some(&home.directory), mappings: home.mappings.as_deref() };
        let texts = in_force(folders)?;
        let (read, problems) = understand(&texts);
        read.ok_or_else(|| {
            let mut lines = Vec::new();
            for (text, problems) in texts.iter().zip(problems) {
                let known = Lines::of(&text.text);
                lines.extend(problems.iter().map(|problem| {
                    format!("{}:{}: {}", text.place, known.line(problem.at.start), problem.message)
                }));
            }
            ResolveError::Text(lines.join("\n"))
        })
    }
}

/// All texts in force.
pub(super) fn in_force(folders: Folders<'_>) -> Result<Vec<Text>, ResolveError> {
    let mut texts = Vec::new();
    for (name, role, shipped) in MAPPINGS {
        texts.push(mapping(folders, name, role, shipped)?);
    }
    for asked in Asked::ALL {
        texts.push(features(folders, asked)?);
        texts.extend(keys(folders, asked)?);
    }
    Ok(texts)
}

/// A file of the user if there is one.
fn own(file: &Path, role: Role, path: &str) -> Result<Option<Text>, ResolveError> {
    let place = file.display().to_string();
    match std::fs::read_to_string(file) {
        Ok(text) => Ok(Some(Text { role, path: path.to_owned(), place, text, is_shipped: false })),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(ResolveError::Text(format!("{place}: {error}"))),
    }
}

fn mapping(folders: Folders<'_>, name: &str, role: Role, shipped: &str) -> Result<Text, ResolveError> {
    let path = format!("mappings/resolve/{name}");
    let places = [
        folders.catalogue.map(|folder| folder.join(&path)),
        folders.mappings.map(|folder| folder.join("resolve").join(name)),
    ];
    for file in places.into_iter().flatten() {
        if let Some(text) = own(&file, role, &path)? {
            return Ok(text);
        }
    }
    Ok(Text::shipped(role, path, shipped))
}

fn features(folders: Folders<'_>, asked: Asked) -> Result<Text, ResolveError> {
    let (role, path) = (Role::Features(asked), format!("queries/{}.rq", asked.query()));
    if let Some(folder) = folders.catalogue
        && let Some(text) = own(&folder.join(&path), role, &path)?
    {
        return Ok(text);
    }
    let shipped = QUERIES.iter().find(|(known, _)| *known == asked.query()).map(|(_, text)| *text);
    Ok(Text::shipped(role, path, shipped.unwrap_or_default()))
}

/// Queries for more blocking keys than the profile computes: shipped ones, and those of the user,
/// which take the place of shipped ones of their names.
fn keys(folders: Folders<'_>, asked: Asked) -> Result<Vec<Text>, ResolveError> {
    let within = format!("resolve/{}/keys", asked.name());
    let folder = folders.catalogue.map(|folder| folder.join("queries").join(&within));
    let shipped: Vec<(&str, &str)> = QUERIES
        .iter()
        .filter_map(|(name, text)| Some((name.strip_prefix(&within)?.strip_prefix('/')?, *text)))
        .collect();
    let mut names: Vec<String> = shipped.iter().map(|(name, _)| format!("{name}.rq")).collect();
    if let Some(Ok(entries)) = folder.as_ref().map(std::fs::read_dir) {
        let own = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
        names.extend(own.filter(|name| name.ends_with(".rq")));
    }
    names.sort();
    names.dedup();
    let mut texts = Vec::new();
    for name in names {
        let (role, path) = (Role::Keys(asked), format!("queries/{within}/{name}"));
        if let Some(folder) = &folder
            && let Some(text) = own(&folder.join(&name), role, &path)?
        {
            texts.push(text);
        } else if let Some((_, text)) =
            shipped.iter().find(|(known, _)| name.strip_suffix(".rq") == Some(known))
        {
            texts.push(Text::shipped(role, path, text));
        }
    }
    Ok(texts)
}
