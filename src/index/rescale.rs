//! How is a hit by the words asked for kept above one by another term?
//!
//! A rare synonym has a higher BM25 score than a common word, so multiplying scores is not enough.
//! [`Scale::Asked`] lifts every score above 1, [`Scale::Expanded`] presses every score below its
//! weight, which is less than 1; each keeps the order among its own hits.

use tantivy::query::{EnableScoring, Explanation, Query, Scorer, Weight};
use tantivy::{DocId, DocSet, Score, SegmentReader, Term};

#[derive(Debug, Clone, Copy)]
pub(super) enum Scale {
    Asked,
    Expanded { weight: Score },
}

impl Scale {
    fn apply(self, score: Score) -> Score {
        match self {
            Self::Asked => 1.0 + score,
            Self::Expanded { weight } => weight * score / (1.0 + score),
        }
    }
}

/// A query that matches what another does, with other scores.
#[derive(Debug)]
pub(super) struct Rescaled {
    pub query: Box<dyn Query>,
    pub scale: Scale,
}

impl Clone for Rescaled {
    fn clone(&self) -> Self {
        Self { query: self.query.box_clone(), scale: self.scale }
    }
}

impl Query for Rescaled {
    fn weight(&self, scoring: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        let inner = self.query.weight(scoring)?;
        Ok(if scoring.is_scoring_enabled() {
            Box::new(RescaledWeight { inner, scale: self.scale })
        } else {
            inner
        })
    }

    fn query_terms<'a>(&'a self, visitor: &mut dyn FnMut(&'a Term, bool)) {
        self.query.query_terms(visitor);
    }
}

struct RescaledWeight {
    inner: Box<dyn Weight>,
    scale: Scale,
}

impl Weight for RescaledWeight {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        let inner = self.inner.scorer(reader, 1.0)?;
        Ok(Box::new(RescaledScorer { inner, scale: self.scale, boost }))
    }

    fn explain(&self, reader: &SegmentReader, doc: DocId) -> tantivy::Result<Explanation> {
        self.inner.explain(reader, doc)
    }
}

struct RescaledScorer {
    inner: Box<dyn Scorer>,
    scale: Scale,
    boost: Score,
}

impl DocSet for RescaledScorer {
    fn advance(&mut self) -> DocId {
        self.inner.advance()
    }

    fn seek(&mut self, target: DocId) -> DocId {
        self.inner.seek(target)
    }

    fn doc(&self) -> DocId {
        self.inner.doc()
    }

    fn size_hint(&self) -> u32 {
        self.inner.size_hint()
    }
}

impl Scorer for RescaledScorer {
    fn score(&mut self) -> Score {
        self.boost * self.scale.apply(self.inner.score())
    }
}
