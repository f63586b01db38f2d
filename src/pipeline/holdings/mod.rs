//! Since when has the catalogue held each record as it is now?
//!
//! A server lists records by the time of their last change and holds no archive. So whoever writes
//! the store leaves it a log, `holdings.log` in the catalogue's directory: a line of JSON for each
//! record that the store takes, changes or loses. The last line about a record counts; withdrawn
//! records keep theirs for ever. The log is derived: when it is missing it is written again
//! ([`renew`]), and a store that is made anew begins a new one, with the times of the archive.
//!
//! **Steps.** What is written to the store at once is a step. A line has the time of its archive
//! entry, or a later one: not before the line above it, and in the next step at least a second
//! after the last line of this one. The step that the store is at, by the time of its last line, is
//! noted in the store itself ([`listed_up_to`]), so that a snapshot knows which lines it contains,
//! whoever published it and however long after.
//!
//! **Nobody misses a record.** Harvesters come back with the time of an earlier answer. By the times
//! of the log they would miss what was archived before that answer and published after it, so a
//! server gives datestamps by when a step could be seen ([`visibility`]).
//!
//! **Made anew.** A store that takes the place of another notes a step after the other's last one
//! ([`keep_step`]), so that no server takes the two for one.
//!
//! **After a kill.** Lines are on disk before their step is in the store. A kill in between leaves
//! lines of a step that never was; the records are written again in a later one, with lines of
//! their own. A torn last line is no line.

mod log;
mod reading;
mod renewing;
#[cfg(test)]
pub(super) mod tests;
mod visibility;

pub(super) use log::{Log, News};
pub use reading::Counts;
pub(super) use reading::Holdings;
pub(super) use renewing::renew;
pub(super) use visibility::{Visibility, clock};

use super::Session;
use crate::catalogue::{Backend, Catalogue, CatalogueError, Graphs, Selection};
use crate::ontology::{pin, xsd};
use crate::publish::oai::Datestamp;
use oxrdf::{Literal, NamedNode, Term, Triple};
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};

/// The log of a catalogue.
pub(super) fn path(directory: &Path) -> PathBuf {
    directory.join("holdings.log")
}

/// Forgets what belongs to a store that is no more; says how far it was.
pub(super) fn forget(directory: &Path) -> io::Result<Option<Datestamp>> {
    let path = path(directory);
    let is_there = path.try_exists()?;
    let last = if is_there { Log::open_at(&path, None)?.last() } else { None };
    // First: a server that sees the old store must know that the log is another's.
    let last = visibility::replace(directory, last)?;
    if is_there {
        std::fs::remove_file(path)?;
    }
    Ok(last)
}

/// Notes a step after the last one of the store that this one replaces. At the same step a server would
/// take the two for one, and harvesters would never hear of what is different.
pub(super) fn keep_step(catalogue: &Catalogue, replaced: Option<Datestamp>) -> Result<(), CatalogueError> {
    let (backend, graphs) = (catalogue.backend(), catalogue.graphs());
    match replaced {
        Some(last) if listed_up_to(backend, graphs)? <= replaced => {
            backend.rewrite(vec![note(graphs, last.next())])?;
            backend.flush()
        }
        _ => Ok(()),
    }
}

/// What became of a record.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Line {
    time: String,
    source: String,
    id: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    withdrawn: bool,
    /// The codes of its content types.
    #[serde(default, rename = "type", skip_serializing_if = "Vec::is_empty")]
    types: Vec<String>,
    /// What its fields mean.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    model: String,
}

impl Line {
    /// `None` for what a kill has torn.
    fn read(bytes: &[u8]) -> Option<(Datestamp, Self)> {
        let line: Self = serde_json::from_slice(bytes).ok()?;
        Some((Datestamp::parse(&line.time)?, line))
    }
}

/// How many records a catalogue holds of each model and of each content type, by its log and not by
/// looking at the records.
pub fn count_holdings(session: &Session) -> Result<(Counts, Counts), CatalogueError> {
    let step = listed_up_to(session.catalogue.backend(), session.catalogue.graphs())?;
    let mut holdings = Holdings::new(path(&session.home.directory));
    holdings.show(step, |time| time)?;
    Ok(holdings.counts())
}

/// The step that a store is at; `None` for one that never held a record.
pub(super) fn listed_up_to(
    backend: &dyn Backend,
    graphs: &Graphs,
) -> Result<Option<Datestamp>, CatalogueError> {
    let selection = Selection { graph: Some(graphs.holdings().into()), ..Selection::default() };
    let mut last = None;
    for quad in backend.quads(&selection)? {
        if let Term::Literal(time) = quad?.object {
            last = last.max(Datestamp::of_rfc3339(time.value()));
        }
    }
    Ok(last)
}

/// The graph that notes a step.
fn note(graphs: &Graphs, step: Datestamp) -> (NamedNode, Option<Vec<Triple>>) {
    let time = Literal::new_typed_literal(step.to_string(), xsd::DATE_TIME);
    (graphs.holdings(), Some(vec![Triple::new(graphs.store(), pin::LISTED_UP_TO, time)]))
}
