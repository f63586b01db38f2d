//! How is a search stopped that takes too long, or that nobody waits for?
//!
//! The engine knows no end but that of the documents. So a condition is asked through
//! [`Cancellable`]: it looks at the effort every few steps, and where that is over there are no more
//! documents. What was found until then is not to be shown; whoever searches asks the effort again.
//!
//! What a phrase passes over between two hits is one step of the engine, and so is finding all words
//! with one beginning in one segment: a search goes on for so long after its end.

use crate::effort::Effort;
use tantivy::query::{EnableScoring, Explanation, Query, Scorer, Weight};
use tantivy::{DocId, DocSet, Score, SeekDangerResult, SegmentReader, TERMINATED, TantivyError, Term};

/// Steps between two looks at the effort.
const LOOK: u32 = 256;

/// A query that matches what another does for as long as the effort lasts.
#[derive(Debug)]
pub(super) struct Cancellable {
    query: Box<dyn Query>,
    effort: Effort,
}

impl Cancellable {
    pub fn boxed(query: Box<dyn Query>, effort: &Effort) -> Box<dyn Query> {
        Box::new(Self { query, effort: effort.clone() })
    }
}

impl Clone for Cancellable {
    fn clone(&self) -> Self {
        Self { query: self.query.box_clone(), effort: self.effort.clone() }
    }
}

impl Query for Cancellable {
    fn weight(&self, scoring: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        let inner = self.query.weight(scoring)?;
        Ok(Box::new(CancellableWeight { inner, effort: self.effort.clone() }))
    }

    fn query_terms<'a>(&'a self, visitor: &mut dyn FnMut(&'a Term, bool)) {
        self.query.query_terms(visitor);
    }
}

struct CancellableWeight {
    inner: Box<dyn Weight>,
    effort: Effort,
}

impl Weight for CancellableWeight {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        self.effort.check().map_err(|spent| TantivyError::InternalError(spent.to_string()))?;
        let inner = self.inner.scorer(reader, boost)?;
        let least = inner.doc();
        Ok(Box::new(CancellableScorer { inner, effort: self.effort.clone(), steps: 0, least, over: false }))
    }

    fn explain(&self, reader: &SegmentReader, doc: DocId) -> tantivy::Result<Explanation> {
        self.inner.explain(reader, doc)
    }
}

struct CancellableScorer {
    inner: Box<dyn Scorer>,
    effort: Effort,
    steps: u32,
    /// The next document is this one or a later one.
    least: DocId,
    over: bool,
}

impl CancellableScorer {
    /// Counts a step; true when it must not be taken.
    fn is_over(&mut self) -> bool {
        self.steps = self.steps.wrapping_add(1);
        self.over |= self.steps.is_multiple_of(LOOK) && self.effort.check().is_err();
        self.over
    }
}

impl DocSet for CancellableScorer {
    fn advance(&mut self) -> DocId {
        if self.is_over() {
            return TERMINATED;
        }
        self.least = self.inner.advance();
        self.least
    }

    fn seek(&mut self, target: DocId) -> DocId {
        if self.is_over() {
            return TERMINATED;
        }
        self.least = self.inner.seek(target);
        self.least
    }

    /// A phrase that is excluded is asked for documents before its first, which its own implementation
    /// takes for a mistake.
    fn seek_danger(&mut self, target: DocId) -> SeekDangerResult {
        if self.is_over() {
            return SeekDangerResult::SeekLowerBound(TERMINATED);
        }
        if target < self.least {
            return SeekDangerResult::SeekLowerBound(self.least);
        }
        let found = self.inner.seek_danger(target);
        self.least = match found {
            SeekDangerResult::Found => target,
            SeekDangerResult::SeekLowerBound(least) => least,
        };
        found
    }

    fn doc(&self) -> DocId {
        if self.over { TERMINATED } else { self.inner.doc() }
    }

    fn size_hint(&self) -> u32 {
        self.inner.size_hint()
    }

    fn cost(&self) -> u64 {
        self.inner.cost()
    }
}

impl Scorer for CancellableScorer {
    fn score(&mut self) -> Score {
        self.inner.score()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::{BUDGET, Document, Index};
    use tantivy::query::AllQuery;

    /// All documents of a segment, one after the other, until `give_up` of them were seen.
    fn seen(documents: u32, give_up: u32) -> u32 {
        let index = Index::in_memory().unwrap();
        let mut writer = index.writer(BUDGET).unwrap();
        for number in 0..documents {
            writer.put(&Document { iri: format!("x:{number}"), ..Document::default() }).unwrap();
        }
        writer.commit(1).unwrap();
        index.refresh().unwrap();
        let searcher = index.searcher();
        let effort = Effort::unbounded();
        let mut waiter = Some(effort.waiter());
        let query = Cancellable::boxed(Box::new(AllQuery), &effort);
        let weight = query.weight(EnableScoring::disabled_from_searcher(&searcher)).unwrap();
        let mut seen = 0;
        for segment in searcher.segment_readers() {
            let Ok(mut scorer) = weight.scorer(segment, 1.0) else { break };
            while scorer.doc() != TERMINATED {
                seen += 1;
                if seen == give_up {
                    waiter = None;
                }
                scorer.advance();
            }
        }
        drop(waiter);
        seen
    }

    #[test]
    fn nobody_looks_through_documents_that_nobody_waits_for() {
        assert_eq!(seen(2000, 3000), 2000);
        assert!((10..10 + LOOK).contains(&seen(2000, 10)));
    }
}
