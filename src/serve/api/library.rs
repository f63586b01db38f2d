//! What the API asks of the catalogue behind it, in plain values.
//!
//! Whoever implements [`Library`] knows index and store; calls may wait for disks, and each takes
//! little: pages, lists and texts have bounds that [`super::asked`] knows. Between its steps it asks its
//! [`Effort`] whether to go on.

use super::Facets;
use super::asked::Asked;
use crate::effort::Effort;
use crate::serve::Refusal;
use serde::Serialize;

/// The catalogue, as the API sees it.
pub trait Library: Send + Sync + 'static {
    fn search(&self, asked: &Asked, effort: &Effort) -> Result<Found, Refusal>;

    /// Labels that begin so: of titles, names or subjects, or of all.
    fn suggest(
        &self,
        text: &str,
        of: Option<&str>,
        limit: usize,
        effort: &Effort,
    ) -> Result<Vec<Suggested>, Refusal>;

    /// What a record says; none if there is no such record.
    fn record(&self, source: &str, id: &str, effort: &Effort) -> Result<Option<Described>, Refusal>;

    /// A work or hub with all its instances; none if there is none of this number.
    fn work(&self, id: &str, effort: &Effort) -> Result<Option<Work>, Refusal>;

    /// The entries that a search finds, as citations.
    fn export(&self, asked: &Asked, format: CitationFormat, effort: &Effort) -> Result<String, Refusal>;

    /// One entry as a citation; none if there is no such entry.
    fn cite(
        &self,
        kind: &str,
        id: &str,
        format: CitationFormat,
        effort: &Effort,
    ) -> Result<Option<String>, Refusal>;

    /// What a search finds as a feed, given where it is found and where it goes on.
    fn feed(&self, asked: &Asked, own: &str, next: &str, effort: &Effort) -> Result<Written, Refusal>;

    fn standing(&self, effort: &Effort) -> Result<Standing, Refusal>;
}

/// What a search found.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Found {
    /// How many entries match, exactly.
    pub total: u64,
    pub offset: usize,
    pub limit: usize,
    pub hits: Vec<Hit>,
    pub facets: Facets,
}

#[derive(Debug, Clone, Default, Serialize)]
pub struct Hit {
    pub iri: String,
    pub kind: String,
    pub label: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub titles: Vec<String>,
    pub contributors: Vec<Link>,
    pub subjects: Vec<Link>,
    pub years: Vec<i32>,
    /// When the catalogue first had it, RFC 3339.
    pub first_seen: Option<String>,
    /// Greater is better; 0 where hits are not ordered by it.
    pub score: f32,
    /// The words it has not, and what it has instead.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub because: Vec<Because>,
}

/// Why an entry without a word is a hit for it.
#[derive(Debug, Clone, Serialize)]
pub struct Because {
    pub asked: String,
    pub found: String,
    /// `preferred`, `alternative` or `narrower`.
    pub relation: &'static str,
}

/// A name, and the entry it is of.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Link {
    pub label: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iri: Option<String>,
}

/// The values of a facet among all hits.
#[derive(Debug, Clone, Default, Serialize)]
pub struct FacetCounts {
    pub values: Vec<Count>,
    /// Whether there are others.
    pub more: bool,
}

#[derive(Debug, Clone, Serialize)]
pub struct Count {
    pub value: String,
    pub count: u64,
}

#[derive(Debug, Clone, Serialize)]
pub struct Suggested {
    pub label: String,
    /// `title`, `name` or `subject`.
    pub of: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iri: Option<String>,
    /// How many entries have it.
    pub count: u64,
}

/// What is known of an entry or a record.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Described {
    pub iri: String,
    pub kind: String,
    pub label: String,
    pub titles: Vec<String>,
    pub contributors: Vec<Link>,
    pub subjects: Vec<Link>,
    pub identifiers: Vec<String>,
    pub notes: Vec<String>,
    pub types: Vec<String>,
    pub languages: Vec<String>,
    pub years: Vec<i32>,
    /// The records that say so.
    pub records: Vec<RecordLink>,
    /// Of a record: the entries that it is part of.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub entries: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct RecordLink {
    pub source: String,
    pub id: String,
    pub iri: String,
}

/// A work or hub, with what it is realized in.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Work {
    #[serde(flatten)]
    pub work: Described,
    /// Of a hub: its works.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub works: Vec<Described>,
    pub instances: Vec<Described>,
    /// Whether there are others.
    pub more: bool,
    /// The entry it was merged into.
    #[serde(skip)]
    pub moved_to: Option<String>,
}

/// In which form a citation is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CitationFormat {
    BibTex,
    Ris,
    CslJson,
}

impl CitationFormat {
    const ALL: [(&str, Self); 3] =
        [("bibtex", Self::BibTex), ("ris", Self::Ris), ("csl-json", Self::CslJson)];

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, format)| *format)
    }

    pub fn media_type(self) -> &'static str {
        match self {
            Self::BibTex => "application/x-bibtex; charset=utf-8",
            Self::Ris => "application/x-research-info-systems; charset=utf-8",
            Self::CslJson => "application/vnd.citationstyles.csl+json",
        }
    }

    pub fn ending(self) -> &'static str {
        match self {
            Self::BibTex => "bib",
            Self::Ris => "ris",
            Self::CslJson => "json",
        }
    }
}

/// A text in a format of its own.
#[derive(Debug, Clone)]
pub struct Written {
    pub text: String,
    pub media_type: &'static str,
}

/// How the catalogue stands.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Standing {
    pub base: String,
    pub version: &'static str,
    /// Documents of the index, in all and by kind.
    pub documents: u64,
    pub kinds: Vec<Count>,
    /// How far in the archive the index is.
    pub position: Option<u64>,
    pub snapshot: Option<u64>,
}
