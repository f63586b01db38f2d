//! How do documents get into the index?
//!
//! A [`Writer`] is the only one for its index, in this process or another. What it puts and removes
//! is seen by nobody before [`commit`](Writer::commit), and what is not committed is gone after a
//! kill. Its memory is bounded by a budget; beyond it, segments go to disk by themselves.

use super::analysis::{ENDINGS, FOLDING, TRANSLITERATION};
use super::document::{Document, Kind, LONGEST_IRI};
use super::facets::Facet;
use super::schema::Schema;
use super::{Index, IndexError};
use std::sync::LazyLock;
use tantivy::indexer::{LogMergePolicy, NoMergePolicy};
use tantivy::{IndexWriter, Term};
use xxhash_rust::xxh3::xxh3_64;

/// Memory of a writer that was given no other, in bytes.
pub const BUDGET: usize = 64 << 20;
/// What tantivy needs at least for a thread, with a margin.
const LEAST_BUDGET: usize = 16 << 20;
/// More threads only make smaller segments.
const MOST_THREADS: usize = 2;

/// Raised when documents are laid out or cut into words in another way.
const LAYOUT: u32 = 2;

pub struct Writer {
    engine: tantivy::Index,
    writer: IndexWriter,
    schema: Schema,
}

impl Index {
    /// The writer, with a budget of memory in bytes. There is one at a time.
    pub fn writer(&self, budget: usize) -> Result<Writer, IndexError> {
        let budget = budget.max(LEAST_BUDGET);
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = cores.min(MOST_THREADS).min(budget / LEAST_BUDGET).max(1);
        let writer = self.engine.writer_with_num_threads(threads, budget)?;
        let mut policy = LogMergePolicy::default();
        // A third of a segment may be documents that were replaced since.
        policy.set_del_docs_ratio_before_merge(0.33);
        writer.set_merge_policy(Box::new(policy));
        Ok(Writer { engine: self.engine.clone(), writer, schema: self.schema.clone() })
    }
}

impl Writer {
    /// Puts a document in the place of the one with its name, if there is one.
    pub fn put(&mut self, document: &Document) -> Result<(), IndexError> {
        if document.iri.len() > LONGEST_IRI {
            return Err(IndexError::LongIri(document.iri.len()));
        }
        self.remove(&document.iri);
        self.writer.add_document(self.schema.lay_out(document))?;
        Ok(())
    }

    /// Removes all documents of one kind.
    pub fn remove_kind(&mut self, kind: Kind) {
        if let Some(column) = self.schema.facet(Facet::Kind) {
            self.writer.delete_term(Term::from_field_text(column, kind.as_str()));
        }
    }

    pub fn remove(&mut self, iri: &str) {
        self.writer.delete_term(Term::from_field_text(self.schema.iri, iri));
    }

    /// Leaves segments as they are until [`optimize`](Self::optimize), which then makes one of them
    /// and does nothing twice.
    pub fn gather(&mut self) {
        self.writer.set_merge_policy(Box::new(NoMergePolicy));
    }

    /// Removes everything; with the next commit the index is empty.
    pub fn clear(&mut self) -> Result<(), IndexError> {
        self.writer.delete_all_documents()?;
        Ok(())
    }

    /// Makes what was put and removed lasting, and notes how far in the catalogue's journal it is.
    pub fn commit(&mut self, position: u64) -> Result<(), IndexError> {
        let mut prepared = self.writer.prepare_commit()?;
        prepared.set_payload(&payload(position));
        prepared.commit()?;
        Ok(())
    }

    /// Gives up what was put and removed since the last commit.
    pub fn rollback(&mut self) -> Result<(), IndexError> {
        self.writer.rollback()?;
        Ok(())
    }

    /// Makes one segment of all, which is the fastest to search. Worth it after an index was made
    /// anew; committed documents only.
    pub fn optimize(&mut self) -> Result<(), IndexError> {
        let segments = self.engine.searchable_segment_ids()?;
        if segments.len() > 1 {
            self.writer.merge(&segments).wait()?;
        }
        Ok(())
    }

    /// Waits for the tidying up that goes on behind commits, and ends the writer.
    pub fn finish(self) -> Result<(), IndexError> {
        self.writer.wait_merging_threads()?;
        Ok(())
    }
}

/// What a commit says of itself: by which rules its words were cut, and the position.
fn payload(position: u64) -> String {
    format!("{:016x} {position}", *RULES)
}

/// The position, unless the words were cut by other rules.
pub(super) fn position(payload: &str) -> Option<u64> {
    let (rules, position) = payload.split_once(' ')?;
    (u64::from_str_radix(rules, 16) == Ok(*RULES)).then(|| position.parse().ok()).flatten()
}

static RULES: LazyLock<u64> =
    LazyLock::new(|| xxh3_64([&LAYOUT.to_string(), FOLDING, TRANSLITERATION, ENDINGS].concat().as_bytes()));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_tells_position_and_rules() {
        assert_eq!(position(&payload(42)), Some(42));
        assert_eq!(position("0000000000000000 42"), None);
        assert_eq!(position("42"), None);
    }
}
