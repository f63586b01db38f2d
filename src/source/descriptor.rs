//! What is known of one source.

use super::access::Access;
use super::complexity::Complexity;
use super::technique::{Harvester, NoHarvester, Technique};
use serde::{Serialize, Serializer};
use std::path::{Path, PathBuf};

/// A source as somebody described it. The first seven fields after the key are the table of
/// sources; see [`COLUMNS`](super::COLUMNS).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Source {
    /// The short name: in IRIs, in `--source`, in file names.
    pub key: String,
    pub name: String,
    /// Website or social network.
    pub website: String,
    pub content_type: Vec<String>,
    pub amount: Amount,
    pub technique: Technique,
    pub complexity: Complexity,
    /// The metadata model its records are in.
    pub model: String,
    /// The address that programs ask, for techniques without a table of their own.
    pub endpoint: Option<String>,
    pub subjects: Vec<Subject>,
    /// From 0 to 1: what comes first, and whose word counts more.
    pub importance: f64,
    pub schedule: Schedule,
    /// A disabled source is kept and not harvested.
    pub enabled: bool,
    pub duplicates: Duplicates,
    pub note: String,
    pub access: Access,
    pub oai: Option<Oai>,
    pub file: Option<Files>,
    #[serde(skip)]
    pub place: Place,
}

/// Where a description stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    pub file: PathBuf,
    /// From 1.
    pub line: usize,
    /// Whether it is a table `[source.KEY]` among the settings, or has a file of its own.
    pub among_settings: bool,
}

/// How much there is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Amount {
    #[default]
    Unknown,
    /// So many records.
    Records(u64),
    /// In somebody's words.
    Told(String),
}

/// A subject, and how relevant the source is to it, from 0 to 1.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Subject {
    pub name: String,
    pub relevance: f64,
}

/// How often the source is to be harvested without being named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Schedule {
    /// Whenever everything is.
    #[default]
    Always,
    /// Only when somebody names it.
    Manual,
    Hourly,
    Daily,
    Weekly,
    Monthly,
}

/// Whether a source may describe one thing twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Duplicates {
    #[default]
    Possible,
    /// The source vouches that it has none, so its records are not compared with each other.
    None,
}

/// What the OAI-PMH harvester must know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Oai {
    /// The base URL of the repository.
    pub url: String,
    /// The metadata prefix; without one the best that the repository offers.
    pub prefix: Option<String>,
    /// Only these sets, one after the other.
    pub sets: Vec<String>,
    pub from: Option<String>,
    pub until: Option<String>,
    /// The days of one date window; without it, one window is everything.
    pub window: Option<u32>,
    /// From how many seconds before the beginning of the last complete harvest the next one asks.
    pub overlap: Option<u32>,
    /// Against what `Identify` says.
    pub granularity: Option<Granularity>,
    pub verb: OaiVerb,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Granularity {
    Day,
    Second,
}

/// Which requests give the records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub enum OaiVerb {
    #[default]
    ListRecords,
    /// ListIdentifiers, then GetRecord for each.
    ListIdentifiers,
}

/// Which files are read, and how; what is not given is told from their content.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Files {
    /// Relative ones lie below the catalogue's directory.
    pub paths: Vec<PathBuf>,
    pub format: Option<String>,
    pub charset: Option<String>,
    /// The column or key that identifies a row.
    pub id: Option<String>,
    pub content_type: Option<String>,
    /// What the columns mean.
    pub model: Option<String>,
    /// The files are all there is: what they no longer hold is withdrawn.
    pub replace: bool,
}

impl Source {
    /// What takes its records. The technique alone decides.
    pub fn harvester(&self) -> Result<Harvester, NoHarvester> {
        let refused = || NoHarvester { key: self.key.clone(), technique: self.technique };
        self.technique.harvester().ok_or_else(refused)
    }

    /// How relevant it is to a subject; 0 when it does not name it.
    pub fn relevance(&self, subject: &str) -> f64 {
        let same = |known: &&Subject| known.name.to_lowercase() == subject.to_lowercase();
        self.subjects.iter().find(same).map_or(0.0, |known| known.relevance)
    }

    /// The seconds a full harvest may take, where the amount is known.
    pub fn estimate(&self) -> Option<u64> {
        let Amount::Records(records) = self.amount else { return None };
        let delay = self.access.delay.unwrap_or(0.0);
        Some(self.complexity.estimate(records, delay, self.access.concurrency.unwrap_or(1)))
    }
}

impl Files {
    /// The files there are: a folder stands for what lies in it, by name.
    pub fn list(&self, directory: &Path) -> std::io::Result<Vec<PathBuf>> {
        let mut files = Vec::new();
        for path in &self.paths {
            let path = directory.join(path);
            if !path.is_dir() {
                files.push(path);
                continue;
            }
            let mut inside = Vec::new();
            for entry in std::fs::read_dir(&path)? {
                let entry = entry?;
                let hidden = entry.file_name().to_string_lossy().starts_with('.');
                if entry.path().is_file() && !hidden {
                    inside.push(entry.path());
                }
            }
            inside.sort();
            files.append(&mut inside);
        }
        Ok(files)
    }
}

impl Schedule {
    /// Whether it is due at any time.
    pub fn is_always(self) -> bool {
        self == Self::Always
    }

    /// The seconds from one harvest to the next; `None` when nobody counts them.
    pub fn seconds(self) -> Option<u64> {
        const HOUR: u64 = 3600;
        match self {
            Self::Always | Self::Manual => None,
            Self::Hourly => Some(HOUR),
            Self::Daily => Some(24 * HOUR),
            Self::Weekly => Some(7 * 24 * HOUR),
            Self::Monthly => Some(30 * 24 * HOUR),
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Always => "always",
            Self::Manual => "manual",
            Self::Hourly => "hourly",
            Self::Daily => "daily",
            Self::Weekly => "weekly",
            Self::Monthly => "monthly",
        }
    }
}

impl Serialize for Amount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Unknown => serializer.serialize_none(),
            Self::Records(records) => serializer.serialize_u64(*records),
            Self::Told(words) => serializer.serialize_str(words),
        }
    }
}
