//! What is to be harvested, and how patiently.

use super::request::Verb;
use super::stamp::{Granularity, Stamp};

/// What somebody wants of a repository.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Plan {
    pub base_url: String,
    /// Without one, the best that the repository offers.
    pub prefix: Option<String>,
    /// Only these sets, one after the other.
    pub sets: Vec<String>,
    /// Nothing that changed before, ever.
    pub from: Option<Stamp>,
    /// Nothing that changed after, ever.
    pub until: Option<Stamp>,
    /// This once, from here and not from where the last run was complete.
    pub since: Option<Stamp>,
    /// Everything again.
    pub full: bool,
    /// Against what the repository says.
    pub granularity: Option<Granularity>,
    /// Asks for this many days at a time, for repositories that fail on long lists.
    pub window_days: Option<u32>,
    /// `ListIdentifiers` and `GetRecord` in place of `ListRecords`.
    pub one_by_one: bool,
    /// How many seconds before the last complete run an incremental one begins. None are
    /// needed where datestamps are given when a record becomes visible.
    pub overlap: u32,
    pub limits: Limits,
}

/// When to lose patience.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How often a request is made whose answer is broken or no answer.
    pub attempts: u32,
    /// How often a list is begun again from the same place after its token was refused.
    pub restarts: u32,
    /// How many pages in a row may bring no new identifier.
    pub stale_pages: u32,
    /// How many requests in a row may fail before the repository is left alone; those that
    /// take long count several times.
    pub patience: u32,
    /// How many records and windows may be owed to the next run.
    pub owed: usize,
    /// In how many runs what is owed is asked for.
    pub owed_runs: u32,
    /// How many records are fetched one by one before they are handed over.
    pub batch: usize,
}

impl Default for Limits {
    fn default() -> Self {
        // Halving twenty years down to a second takes thirty requests, each of which may fail.
        Self { attempts: 3, restarts: 3, stale_pages: 5, patience: 40, owed: 1000, owed_runs: 5, batch: 20 }
    }
}

impl Plan {
    pub(super) fn verb(&self) -> Verb {
        if self.one_by_one { Verb::ListIdentifiers } else { Verb::ListRecords }
    }
}
