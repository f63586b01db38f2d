//! What a repository must be able to say.
//!
//! A repository knows records by an id that never changes, such as `loc/123`; what they are called
//! outside is for [`identifier`](super::identifier). It keeps deleted records as headers for ever.
//!
//! **Order.** A list is in the order of datestamp, then id. A record that changes gets the time of
//! the change as its datestamp, so it moves to the end: whoever reads the list page by page meets
//! it there, and none is lost. For the same reason a datestamp must not lie before one that a
//! list has already shown.

use super::datestamp::Datestamp;
use crate::publish::table::rows;
use std::sync::LazyLock;

/// A metadata format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Format {
    pub prefix: String,
    pub schema: String,
    pub namespace: String,
    /// Whether its elements are to say where the schema lies.
    pub located: bool,
}

impl Format {
    /// Dublin Core, MARCXML and BIBFRAME: `formats.tsv`.
    pub fn shipped() -> &'static [Self] {
        static SHIPPED: LazyLock<Vec<Format>> = LazyLock::new(|| {
            let table = rows(include_str!("formats.tsv"));
            table.iter().filter_map(|cells| Format::of_cells(cells)).collect()
        });
        &SHIPPED
    }

    fn of_cells(cells: &[String]) -> Option<Self> {
        let [prefix, schema, namespace, located] = cells else { return None };
        Some(Self {
            prefix: prefix.clone(),
            schema: schema.clone(),
            namespace: namespace.clone(),
            located: located == "yes",
        })
    }
}

/// A set of records; see [`set_spec`](super::set_spec) for its name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Set {
    /// `source:loc`; the set `source` is listed too.
    pub spec: String,
    pub name: String,
    pub description: Option<String>,
}

/// What is known of a record without its metadata.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    pub id: String,
    pub datestamp: Datestamp,
    /// The most special sets it is in.
    pub sets: Vec<String>,
    pub deleted: bool,
}

/// Where in the order a page ends: datestamp and id of its last record.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    pub datestamp: Datestamp,
    pub id: String,
}

/// What a harvester wants listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    /// The first second, itself included.
    pub from: Option<Datestamp>,
    /// The last second, itself included.
    pub until: Option<Datestamp>,
    /// A set with all sets below it; see [`is_in_set`](super::is_in_set).
    pub set: Option<String>,
    /// Only records that there are in this format, and deleted ones.
    pub prefix: String,
    /// Only what comes behind this place.
    pub after: Option<Position>,
    /// At most so many.
    pub limit: usize,
}

/// A piece of a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Page {
    pub headers: Vec<Header>,
    /// Whether something comes behind the last of them.
    pub more: bool,
    /// How long the whole list is, `after` apart, where that is cheap to know.
    pub total: Option<u64>,
}

/// The repository cannot answer now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the repository cannot answer now; ask again in {retry_after} seconds")]
pub struct Busy {
    /// Seconds after which to ask again.
    pub retry_after: u32,
}

/// What is provided. Asked for by [`answer`](super::answer).
pub trait Repository {
    /// A name for people.
    fn name(&self) -> String;

    /// Whom to write to; at least one address.
    fn admin_emails(&self) -> Vec<String>;

    /// The host in the names of records: `catalogue.example`.
    fn namespace(&self) -> String;

    /// No record has an earlier datestamp, nor will one have.
    fn earliest(&self) -> Result<Datestamp, Busy>;

    /// All formats; the first must be `oai_dc`.
    fn formats(&self) -> Vec<Format> {
        Format::shipped().to_vec()
    }

    /// All sets, those above before those below. None at all means that there is no hierarchy.
    fn sets(&self) -> Result<Vec<Set>, Busy>;

    fn header(&self, id: &str) -> Result<Option<Header>, Busy>;

    /// The prefixes of the formats a record is there in, or was before it was deleted.
    fn formats_of(&self, id: &str) -> Result<Vec<String>, Busy>;

    /// A piece of a list, in the order of datestamp and id.
    fn list(&self, selection: &Selection) -> Result<Page, Busy>;

    /// A record in a format: one XML element that declares its namespaces. `None` where the record
    /// is deleted or cannot be written so.
    fn metadata(&self, id: &str, prefix: &str) -> Result<Option<String>, Busy>;

    /// How many records a page holds.
    fn page_size(&self) -> usize {
        100
    }

    /// Base URLs of other repositories worth harvesting.
    fn friends(&self) -> Vec<String> {
        Vec::new()
    }
}
