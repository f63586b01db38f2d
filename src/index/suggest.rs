//! What could the reader be about to type?
//!
//! The labels of documents (titles, names, subjects) lie in the term dictionary of a field of their
//! own, folded, so that those with one beginning follow each other; how many documents have a label
//! is known there too. A suggestion is a walk over that part of the dictionary that keeps the most
//! used labels, and only for those a document is looked at, for the label as it is written.
//!
//! Key: the folded label, a zero byte, what it is a label of, and for names and subjects with an
//! entry of their own a hash of its IRI: two people of one name are two suggestions.

use super::analysis::folds;
use super::document::{Kind, cut, words};
use super::schema::Shown;
use super::{Index, IndexError};
use crate::effort::Effort;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{Arc, Mutex, PoisonError};
use tantivy::schema::IndexRecordOption;
use tantivy::termdict::TermMerger;
use tantivy::{DocAddress, DocSet, Searcher, TERMINATED, Term};
use xxhash_rust::xxh3::xxh3_64;

/// Most suggestions that can be asked for.
pub const MOST: usize = 50;
/// Labels that are walked over. The shortest beginnings of a large catalogue have more; then the
/// most used of the first ones are given.
const MOST_LABELS: usize = 400_000;
/// Labels between two looks at the effort.
const LOOK: usize = 1024;
/// Longer labels are told apart by their first bytes only.
const LONGEST: usize = 96;

/// Keys of which the first can be suggested.
const MOST_KEYS: usize = 2 * MOST + 8;
/// A walk over so many labels is not made twice.
const WORTH_KEEPING: usize = 20_000;

type Keys = Arc<Vec<Vec<u8>>>;
/// The keys of beginnings that many labels have, by what the index shows.
pub(super) type Kept = Mutex<FxHashMap<(u64, Vec<u8>, Option<Suggests>), Keys>>;

words! {
    /// What a suggestion is a label of.
    Suggests {
        Title "title"
        Name "name"
        Subject "subject"
    }
}

/// A label that begins as the reader does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suggestion {
    pub label: String,
    pub suggests: Suggests,
    /// Its entry, if it has just one.
    pub iri: Option<String>,
    /// How many entries have it.
    pub count: u64,
}

impl Index {
    /// Labels that begin with a text, most used first; of one sort, or of all.
    pub fn suggest(
        &self,
        text: &str,
        suggests: Option<Suggests>,
        limit: usize,
        effort: &Effort,
    ) -> Result<Vec<Suggestion>, IndexError> {
        let limit = limit.min(MOST);
        let searcher = self.searcher();
        let mut suggestions: Vec<Suggestion> = Vec::new();
        for beginning in folds(text) {
            if beginning.is_empty() {
                continue;
            }
            let space = if text.ends_with(char::is_whitespace) { " " } else { "" };
            let begins = cut(&format!("{beginning}{space}"), LONGEST).to_owned();
            let keys = self.most_used(&searcher, begins.as_bytes(), suggests, effort)?;
            // Labels of removed documents are still among them.
            for key in keys.iter().take(2 * limit + 8) {
                effort.check()?;
                let suggestion = self.suggestion(&searcher, key)?;
                suggestions.extend(suggestion.filter(|one| !suggestions.contains(one)));
            }
        }
        suggestions.sort_by(|left, right| (right.count, &left.label).cmp(&(left.count, &right.label)));
        suggestions.truncate(limit);
        Ok(suggestions)
    }

    /// The keys that begin so and are in the most documents. What takes long is kept until the index
    /// shows another commit: there are few beginnings that so many labels have.
    fn most_used(
        &self,
        searcher: &Searcher,
        begins: &[u8],
        suggests: Option<Suggests>,
        effort: &Effort,
    ) -> Result<Keys, IndexError> {
        let name = (searcher.generation().generation_id(), begins.to_vec(), suggests);
        if let Some(keys) = self.kept.lock().unwrap_or_else(PoisonError::into_inner).get(&name) {
            return Ok(keys.clone());
        }
        let (keys, walked) = self.walk(searcher, begins, suggests, effort)?;
        if walked >= WORTH_KEEPING {
            self.kept.lock().unwrap_or_else(PoisonError::into_inner).insert(name, keys.clone());
        }
        Ok(keys)
    }

    fn walk(
        &self,
        searcher: &Searcher,
        begins: &[u8],
        suggests: Option<Suggests>,
        effort: &Effort,
    ) -> Result<(Keys, usize), IndexError> {
        let segments = searcher.segment_readers();
        let readers: Vec<_> = segments
            .iter()
            .map(|segment| segment.inverted_index(self.schema.labels))
            .collect::<Result<_, _>>()?;
        // No byte of a folded label is greater.
        let end = [begins, &[0xff]].concat();
        let streams = readers.iter().map(|reader| reader.terms().range().ge(begins).lt(&end).into_stream());
        let mut labels = TermMerger::new(streams.collect::<Result<_, _>>()?);
        let mut first: BinaryHeap<Reverse<(u32, Reverse<Vec<u8>>)>> = BinaryHeap::new();
        let mut walked = 0;
        while walked < MOST_LABELS && labels.advance() {
            walked += 1;
            if walked.is_multiple_of(LOOK) {
                effort.check()?;
            }
            let key = labels.key();
            if suggests.is_some_and(|wanted| label_of(key) != Some(wanted)) {
                continue;
            }
            let used: u32 = labels.current_segment_ords_and_term_infos().map(|(_, info)| info.doc_freq).sum();
            let least = first.peek().map_or(0, |Reverse((least, _))| *least);
            if first.len() < MOST_KEYS || used > least {
                first.push(Reverse((used, Reverse(key.to_vec()))));
                if first.len() > MOST_KEYS {
                    first.pop();
                }
            }
        }
        let keys = first.into_sorted_vec().into_iter().map(|Reverse((_, Reverse(key)))| key).collect();
        Ok((Keys::new(keys), walked))
    }

    /// The label of a key as a document writes it, if a document still has it.
    fn suggestion(&self, searcher: &Searcher, key: &[u8]) -> Result<Option<Suggestion>, IndexError> {
        let term = Term::from_field_bytes(self.schema.labels, key);
        let mut count = 0;
        let mut example = None;
        for (number, segment) in (0..).zip(searcher.segment_readers()) {
            let reader = segment.inverted_index(self.schema.labels)?;
            let Some(mut postings) = reader.read_postings(&term, IndexRecordOption::Basic)? else { continue };
            if segment.alive_bitset().is_none() && example.is_some() {
                count += u64::from(reader.doc_freq(&term)?);
                continue;
            }
            while postings.doc() != TERMINATED {
                if !segment.is_deleted(postings.doc()) {
                    count += 1;
                    example.get_or_insert(DocAddress::new(number, postings.doc()));
                }
                postings.advance();
            }
        }
        let Some(example) = example else { return Ok(None) };
        let shown = self.shown(searcher, example)?;
        let found = labels(&shown).find(|label| label.keys().any(|one| one == key));
        Ok(found.map(|Labelled { label, suggests, iri }| {
            let iri = if suggests == Suggests::Title {
                Some(shown.iri.as_str()).filter(|_| count == 1)
            } else {
                iri
            };
            Suggestion { label: label.to_owned(), suggests, iri: iri.map(str::to_owned), count }
        }))
    }
}

/// The keys under which the labels of a document are found.
pub(super) fn keys(shown: &Shown) -> Vec<Vec<u8>> {
    let mut keys: Vec<Vec<u8>> = labels(shown).flat_map(|label| label.keys().collect::<Vec<_>>()).collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

struct Labelled<'a> {
    label: &'a str,
    suggests: Suggests,
    /// The entry that all labels with this key are of; a title is of whichever document has it.
    iri: Option<&'a str>,
}

impl Labelled<'_> {
    fn keys(&self) -> impl Iterator<Item = Vec<u8>> {
        let mark = match self.suggests {
            Suggests::Title => 0,
            Suggests::Name => 1,
            Suggests::Subject => 2,
        };
        let mut ending = vec![0, mark];
        ending.extend(self.iri.iter().flat_map(|iri| xxh3_64(iri.as_bytes()).to_be_bytes()));
        let folded = folds(self.label).into_iter().filter(|folded| !folded.is_empty());
        folded.map(move |folded| [cut(&folded, LONGEST).as_bytes(), &ending].concat())
    }
}

fn label_of(key: &[u8]) -> Option<Suggests> {
    // Folded labels hold no zero byte.
    let zero = key.iter().position(|byte| *byte == 0)?;
    Suggests::ALL.get(usize::from(*key.get(zero + 1)?)).copied()
}

fn labels(shown: &Shown) -> impl Iterator<Item = Labelled<'_>> {
    let (suggests, iri) = match shown.kind {
        Kind::Agent => (Suggests::Name, Some(shown.iri.as_str())),
        Kind::Subject | Kind::Place => (Suggests::Subject, Some(shown.iri.as_str())),
        Kind::Hub | Kind::Work | Kind::Instance | Kind::Item | Kind::Record => (Suggests::Title, None),
    };
    let own = std::iter::once(&shown.label).chain(&shown.titles);
    let own = own.map(move |label| Labelled { label, suggests, iri });
    let names = shown.contributors.iter().map(|one| (one, Suggests::Name));
    let subjects = shown.subjects.iter().map(|one| (one, Suggests::Subject));
    let mentioned = names.chain(subjects);
    own.chain(mentioned.map(|(one, suggests)| Labelled {
        label: &one.label,
        suggests,
        iri: one.iri.as_deref(),
    }))
}
