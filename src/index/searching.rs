//! Which entries are meant, in which order, and why?

use super::cancel::Cancellable;
use super::collecting::{Gather, Ranked};
use super::document::{Field, facet_value};
use super::expansion::{Relation, Thesaurus};
use super::facets::{Counts, Facet};
use super::keeping::{Asked, Found};
use super::matching::{Condition, conditions};
use super::query;
pub use super::schema::Shown;
use super::{Index, IndexError};
use crate::effort::Effort;
use std::collections::BTreeMap;
use std::ops::{Bound, RangeInclusive};
use std::sync::Arc;
use tantivy::query::{
    AllQuery, BooleanQuery, ConstScoreQuery, EnableScoring, Occur, Query, RangeQuery, TermQuery,
};
use tantivy::schema::{IndexRecordOption, Value};
use tantivy::{DocAddress, DocSet, Searcher, TERMINATED, TantivyDocument, Term};

/// The last hit that can be paged to.
pub const DEEPEST: usize = 10_000;
/// Most values of a facet that can be asked for.
pub const MOST_VALUES: usize = 1_000;
/// Filters beyond these are left out.
const MOST_FILTERS: usize = 64;

/// What is asked of the index.
#[derive(Default)]
pub struct Request<'a> {
    /// The words of the reader; see [`query`].
    pub text: &'a str,
    /// Where words are searched that name no field.
    pub field: Option<Field>,
    /// Values that a hit must have: one of those of each facet that is named.
    pub filters: Vec<(Facet, String)>,
    /// Years of which a hit must have one.
    pub years: Option<RangeInclusive<i32>>,
    /// The one entry that may be a hit.
    pub only: Option<&'a str>,
    pub sort: Sort,
    /// How many hits to pass over, and how many to give.
    pub offset: usize,
    pub limit: usize,
    /// What to count by, and how many values of each.
    pub facets: Vec<Facet>,
    pub values: usize,
    /// Whom to ask for other words; none for the words themselves.
    pub thesaurus: Option<&'a dyn Thesaurus>,
    /// How long it may take; as long as it takes, if nothing is said.
    pub effort: Effort,
}

/// Which hits come first. Equal ones are in an order that stays.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Sort {
    /// The best.
    #[default]
    Score,
    /// Those with the latest year.
    Newest,
    /// Those with the earliest year.
    Oldest,
    /// Those that came last into the catalogue.
    FirstSeen,
}

/// The answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Hits {
    /// How many entries match, exactly.
    pub total: u64,
    pub hits: Vec<Hit>,
    /// The facets asked for, in the order they were.
    pub facets: Vec<Counts>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    pub entry: Shown,
    /// Greater is better; 0 where hits are not sorted by it.
    pub score: f32,
    /// The words asked for that it has not, and what it has instead.
    pub because: Vec<Because>,
}

/// Why an entry without a word is a hit for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Because {
    pub asked: String,
    pub found: String,
    pub relation: Relation,
}

impl Index {
    /// Answers a request as of the commit last [shown](Self::refresh).
    pub fn search(&self, request: &Request<'_>) -> Result<Hits, IndexError> {
        let searcher = self.searcher();
        let conditions =
            conditions(&self.schema, &query::parse(request.text), request.field, request.thesaurus);
        let found = self.find(&searcher, request, &conditions)?;
        let last = request.offset.saturating_add(request.limit).min(found.first.len());
        let page = found.first.get(request.offset..last).unwrap_or_default();
        let hits = self.hits(&searcher, &conditions, page, request)?;
        Ok(Hits { total: found.total, hits, facets: found.facets.clone() })
    }

    /// What matches, at least as far as the page that is asked for.
    fn find(
        &self,
        searcher: &Searcher,
        request: &Request<'_>,
        conditions: &[Condition],
    ) -> Result<Arc<Found>, IndexError> {
        let first = request.offset.saturating_add(request.limit).min(DEEPEST);
        let values = request.values.min(MOST_VALUES);
        if !conditions.is_empty() || request.only.is_some() {
            return self.gather(searcher, request, conditions, first, values).map(Arc::new);
        }
        let asked = Asked::new(request, searcher.generation().generation_id(), first, values);
        if let Some(found) = self.answers.get(&asked) {
            return Ok(found);
        }
        let found = Arc::new(self.gather(searcher, request, conditions, asked.first, values)?);
        self.answers.keep(asked, &found);
        Ok(found)
    }

    fn gather(
        &self,
        searcher: &Searcher,
        request: &Request<'_>,
        conditions: &[Condition],
        first: usize,
        values: usize,
    ) -> Result<Found, IndexError> {
        let gather = Gather { sort: request.sort, first, all: !request.facets.is_empty() };
        let gathered = searcher.search(&self.compose(request, conditions), &gather);
        // What was found until it was stopped is not what there is.
        request.effort.check()?;
        let gathered = gathered?;
        self.looked_at(gathered.total);
        let facets = self.count(searcher, &gathered.all, request, values)?;
        Ok(Found { total: gathered.total, first: gathered.first, facets })
    }

    /// The names of the best hits with their scores, as a search in SPARQL wants them.
    pub fn names(&self, request: &Request<'_>) -> Result<Vec<(String, f32)>, IndexError> {
        let hits = self.search(request)?.hits;
        Ok(hits.into_iter().map(|hit| (hit.entry.iri, hit.score)).collect())
    }

    fn compose(&self, request: &Request<'_>, conditions: &[Condition]) -> BooleanQuery {
        let mut clauses: Vec<(Occur, Box<dyn Query>)> = Vec::new();
        for condition in conditions {
            let occur = if condition.negated { Occur::MustNot } else { Occur::Must };
            clauses.push((occur, Cancellable::boxed(condition.query(), &request.effort)));
        }
        if conditions.iter().all(|condition| condition.negated) {
            clauses.push((Occur::Must, Cancellable::boxed(Box::new(AllQuery), &request.effort)));
        }
        let filter = |query: Box<dyn Query>| {
            (Occur::Must, Box::new(ConstScoreQuery::new(query, 0.0)) as Box<dyn Query>)
        };
        let mut by_facet: BTreeMap<Facet, Vec<_>> = BTreeMap::new();
        for (facet, value) in request.filters.iter().take(MOST_FILTERS) {
            by_facet
                .entry(*facet)
                .or_default()
                .extend(self.has(*facet, value).map(|query| (Occur::Should, query)));
        }
        clauses.extend(by_facet.into_values().map(|values| filter(Box::new(BooleanQuery::new(values)))));
        if let Some(years) = &request.years {
            clauses.push(filter(self.in_years(i64::from(*years.start()), i64::from(*years.end()))));
        }
        if let Some(iri) = request.only {
            let term = Term::from_field_text(self.schema.iri, iri);
            clauses.push(filter(Box::new(TermQuery::new(term, IndexRecordOption::Basic))));
        }
        BooleanQuery::new(clauses)
    }

    /// The documents with a value of a facet. No document has a year that is no number.
    fn has(&self, facet: Facet, value: &str) -> Option<Box<dyn Query>> {
        match facet {
            Facet::Year => value.parse().ok().map(|year: i32| self.in_years(year.into(), year.into())),
            Facet::Decade => {
                value.parse().ok().map(|year: i32| self.in_years(year.into(), i64::from(year) + 9))
            }
            _ => {
                let term = Term::from_field_text(self.schema.facet(facet)?, facet_value(value));
                Some(Box::new(TermQuery::new(term, IndexRecordOption::Basic)))
            }
        }
    }

    fn in_years(&self, first: i64, last: i64) -> Box<dyn Query> {
        let bound = |year| Bound::Included(Term::from_field_i64(self.schema.years, year));
        Box::new(RangeQuery::new(bound(first), bound(last)))
    }

    fn hits(
        &self,
        searcher: &Searcher,
        conditions: &[Condition],
        page: &[Ranked],
        request: &Request<'_>,
    ) -> Result<Vec<Hit>, IndexError> {
        let mut because = reasons(searcher, conditions, page, &request.effort)?;
        let mut hits = Vec::with_capacity(page.len());
        for ranked in page {
            request.effort.check()?;
            let entry = self.shown(searcher, ranked.address())?;
            let because = because.remove(&ranked.address()).unwrap_or_default();
            hits.push(Hit { entry, score: ranked.score(request.sort), because });
        }
        Ok(hits)
    }

    pub(super) fn shown(&self, searcher: &Searcher, address: DocAddress) -> Result<Shown, IndexError> {
        let document: TantivyDocument = searcher.doc(address)?;
        let stored =
            document.get_first(self.schema.shown).and_then(|value| value.as_str()).unwrap_or_default();
        serde_json::from_str(stored).map_err(|error| IndexError::Engine(std::io::Error::from(error).into()))
    }
}

/// For each hit of the page, the expansions without which it were none.
fn reasons(
    searcher: &Searcher,
    conditions: &[Condition],
    page: &[Ranked],
    effort: &Effort,
) -> Result<BTreeMap<DocAddress, Vec<Because>>, IndexError> {
    let mut reasons: BTreeMap<DocAddress, Vec<Because>> = BTreeMap::new();
    let mut order: Vec<DocAddress> = page.iter().map(Ranked::address).collect();
    order.sort_unstable();
    for condition in conditions.iter().filter(|condition| !condition.expanded.is_empty()) {
        let mut open = order.clone();
        let asked = matching(searcher, condition.asked.as_ref(), &open)?;
        open.retain(|address| asked.binary_search(address).is_err());
        for one in &condition.expanded {
            effort.check()?;
            let found = matching(searcher, one.query.as_ref(), &open)?;
            open.retain(|address| found.binary_search(address).is_err());
            for address in found {
                let because =
                    Because { asked: one.asked.clone(), found: one.found.clone(), relation: one.relation };
                reasons.entry(address).or_default().push(because);
            }
        }
    }
    Ok(reasons)
}

/// Which of these documents, given in order, a query matches.
fn matching(
    searcher: &Searcher,
    query: &dyn Query,
    documents: &[DocAddress],
) -> Result<Vec<DocAddress>, IndexError> {
    let mut found = Vec::new();
    let weight = query.weight(EnableScoring::disabled_from_searcher(searcher))?;
    for of_segment in documents.chunk_by(|left, right| left.segment_ord == right.segment_ord) {
        let Some(DocAddress { segment_ord, .. }) = of_segment.first() else { continue };
        let mut scorer = weight.scorer(searcher.segment_reader(*segment_ord), 1.0)?;
        for address in of_segment {
            if scorer.doc() < address.doc_id {
                scorer.seek(address.doc_id);
            }
            match scorer.doc() {
                TERMINATED => break,
                doc if doc == address.doc_id => found.push(*address),
                _ => {}
            }
        }
    }
    Ok(found)
}
