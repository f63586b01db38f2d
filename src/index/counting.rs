//! How are the hits distributed, by looking at as few documents as possible?
//!
//! At most at half of them: the values of all documents are counted once for each commit that is
//! shown, and where most documents are hits, what the others have is taken off. So everything, or
//! all but a word, costs no more than the few documents that are left out.

use super::facets::{Counts, Facet, Tally, add_up};
use super::searching::Request;
use super::{Index, IndexError};
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tantivy::{BitSet, DocId, Searcher, SegmentOrdinal, SegmentReader};

/// The counts of all documents of a segment, by what the index shows.
pub(super) type Everything = Mutex<FxHashMap<(u64, SegmentOrdinal, Facet), Arc<Tally>>>;

impl Index {
    /// The first values of each facet among the hits of each segment.
    pub(super) fn count(
        &self,
        searcher: &Searcher,
        hits: &[(SegmentOrdinal, BitSet)],
        request: &Request<'_>,
        values: usize,
    ) -> Result<Vec<Counts>, IndexError> {
        let facets = &request.facets;
        let mut by_facet: Vec<Vec<Tally>> = facets.iter().map(|_| Vec::new()).collect();
        for (number, hits) in hits.iter().filter(|(_, hits)| hits.len() > 0) {
            let segment = searcher.segment_reader(*number);
            let most = hits.len() > segment.num_docs() as usize / 2;
            let documents = if most { others(segment, hits) } else { members(hits) };
            for (facet, tallies) in facets.iter().zip(&mut by_facet) {
                request.effort.check()?;
                let counted = self.tally(*facet, segment, &documents)?;
                tallies.push(if most {
                    let mut tally = Tally::clone(&*self.everything(searcher, *number, *facet)?);
                    tally.take_off(&counted);
                    tally
                } else {
                    counted
                });
            }
        }
        let counts = facets.iter().zip(by_facet).map(|(facet, tallies)| add_up(*facet, tallies, values));
        Ok(counts.collect::<Result<_, _>>()?)
    }

    fn everything(
        &self,
        searcher: &Searcher,
        number: SegmentOrdinal,
        facet: Facet,
    ) -> Result<Arc<Tally>, IndexError> {
        let name = (searcher.generation().generation_id(), number, facet);
        if let Some(tally) = self.everything.lock().unwrap_or_else(PoisonError::into_inner).get(&name) {
            return Ok(Arc::clone(tally));
        }
        let segment = searcher.segment_reader(number);
        let documents: Vec<DocId> = segment.doc_ids_alive().collect();
        let tally = Arc::new(self.tally(facet, segment, &documents)?);
        self.everything.lock().unwrap_or_else(PoisonError::into_inner).insert(name, Arc::clone(&tally));
        Ok(tally)
    }

    fn tally(&self, facet: Facet, segment: &SegmentReader, documents: &[DocId]) -> Result<Tally, IndexError> {
        self.looked_at(documents.len() as u64);
        let mut tally = Tally::new(facet, segment)?;
        tally.count(documents);
        Ok(tally)
    }
}

fn members(hits: &BitSet) -> Vec<DocId> {
    let buckets = 0..hits.max_value().div_ceil(64);
    buckets.flat_map(|bucket| hits.tinyset(bucket).into_iter().map(move |bit| 64 * bucket + bit)).collect()
}

/// The documents that are not among the hits. Removed ones are in neither.
fn others(segment: &SegmentReader, hits: &BitSet) -> Vec<DocId> {
    segment.doc_ids_alive().filter(|doc| !hits.contains(*doc)).collect()
}
