//! Which answers are given again?
//!
//! A request without a word has the most hits and is asked the most: it is where readers begin to
//! look around, and what they see of a language or a source. What it finds is kept until the index
//! shows another commit; words are too many to be kept.

use super::collecting::Ranked;
use super::facets::{Counts, Facet};
use super::searching::{Request, Sort};
use std::collections::VecDeque;
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, PoisonError};

/// Answers that are kept at once, the latest.
const MOST: usize = 32;
/// Fewer hits than these are found again as fast.
const WORTH_KEEPING: u64 = if cfg!(test) { 2 } else { 20_000 };
/// Whoever turns a page finds the next ones with it.
const PAGES: usize = 1_000;

/// What a request without a word depends on.
#[derive(PartialEq)]
pub(super) struct Asked {
    generation: u64,
    filters: Vec<(Facet, String)>,
    years: Option<RangeInclusive<i32>>,
    sort: Sort,
    facets: Vec<Facet>,
    values: usize,
    /// How many hits in order: that of the request, and some more.
    pub first: usize,
}

impl Asked {
    pub fn new(request: &Request<'_>, generation: u64, first: usize, values: usize) -> Self {
        Self {
            generation,
            filters: request.filters.clone(),
            years: request.years.clone(),
            sort: request.sort,
            facets: request.facets.clone(),
            values,
            first: first.next_multiple_of(PAGES),
        }
    }
}

/// What was found: enough for a page of hits, which is read anew.
pub(super) struct Found {
    pub total: u64,
    pub first: Vec<Ranked>,
    pub facets: Vec<Counts>,
}

#[derive(Default)]
pub(super) struct Answers(Mutex<VecDeque<(Asked, Arc<Found>)>>);

impl Answers {
    pub fn get(&self, asked: &Asked) -> Option<Arc<Found>> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().find(|(known, _)| known == asked).map(|(_, found)| Arc::clone(found))
    }

    pub fn keep(&self, asked: Asked, found: &Arc<Found>) {
        if found.total < WORTH_KEEPING {
            return;
        }
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push_front((asked, Arc::clone(found)));
        kept.truncate(MOST);
    }

    pub fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}
