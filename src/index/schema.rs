//! How does a document lie on disk?
//!
//! A field of words for each [`Field`], a column for each [`Facet`], the labels that are suggested
//! ([`super::suggest`]), and what is shown of a hit as one stored text. Nothing is compressed: what
//! is stored is short, and a page of hits is read from everywhere.

use super::analysis::WORDS;
use super::document::{self, Document, Field, Kind, Named};
use super::facets::{Facet, YEARS};
use super::suggest;
use serde::{Deserialize, Serialize};
use tantivy::schema::{
    FAST, Field as Column, INDEXED, IndexRecordOption, STORED, STRING, Schema as Fields, TextFieldIndexing,
    TextOptions,
};
use tantivy::store::Compressor;
use tantivy::{IndexSettings, TantivyDocument};
use xxhash_rust::xxh3::xxh3_64;

/// The column by which equal hits are put in an order that stays.
pub(super) const TIE: &str = "tie";
/// The column of when an entry was first seen.
pub(super) const FIRST_SEEN: &str = "first_seen";

#[derive(Debug, Clone)]
pub(super) struct Schema {
    pub iri: Column,
    pub shown: Column,
    pub labels: Column,
    pub years: Column,
    first_seen: Column,
    tie: Column,
    words: Vec<(Field, Column)>,
    facets: Vec<(Facet, Column)>,
}

/// What a list of hits shows of an entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shown {
    pub iri: String,
    pub kind: Kind,
    pub label: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub titles: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contributors: Vec<Named>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub subjects: Vec<Named>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub years: Vec<i32>,
    pub first_seen: i64,
}

pub(super) fn settings() -> IndexSettings {
    IndexSettings { docstore_compression: Compressor::None, ..IndexSettings::default() }
}

impl Schema {
    pub fn new() -> (Self, Fields) {
        let mut builder = Fields::builder();
        let cut = TextFieldIndexing::default()
            .set_tokenizer(WORDS)
            .set_index_option(IndexRecordOption::WithFreqsAndPositions);
        let iri = builder.add_text_field("iri", STRING);
        let shown = builder.add_text_field("shown", STORED);
        let labels = builder.add_bytes_field("labels", INDEXED);
        let years = builder.add_i64_field(YEARS, INDEXED | FAST);
        let first_seen = builder.add_i64_field(FIRST_SEEN, FAST);
        let tie = builder.add_u64_field(TIE, FAST);
        let mut words = Vec::new();
        for field in Field::ALL {
            let options = TextOptions::default().set_indexing_options(cut.clone());
            words.push((*field, builder.add_text_field(field.as_str(), options)));
        }
        let mut facets = Vec::new();
        for facet in Facet::ALL {
            let column = match facet {
                Facet::Year | Facet::Decade => years,
                _ => builder.add_text_field(facet.column(), STRING | FAST),
            };
            facets.push((*facet, column));
        }
        (Self { iri, shown, labels, years, first_seen, tie, words, facets }, builder.build())
    }

    /// The columns that a word is searched in.
    pub fn words(&self, field: Option<Field>) -> impl Iterator<Item = (Field, Column)> + '_ {
        self.words.iter().copied().filter(move |(one, _)| field.is_none_or(|field| field == *one))
    }

    pub fn facet(&self, facet: Facet) -> Option<Column> {
        self.facets.iter().find(|(one, _)| *one == facet).map(|(_, column)| *column)
    }

    /// The document as tantivy takes it.
    pub fn lay_out(&self, document: &Document) -> TantivyDocument {
        let mut laid = TantivyDocument::default();
        let shown = shown(document);
        laid.add_text(self.iri, &document.iri);
        laid.add_u64(self.tie, xxh3_64(document.iri.as_bytes()));
        laid.add_i64(self.first_seen, document.first_seen);
        shown.years.iter().for_each(|year| laid.add_i64(self.years, i64::from(*year)));
        for (field, column) in &self.words {
            each_text(document, *field, |text| laid.add_text(*column, text));
        }
        for (facet, column) in &self.facets {
            for value in facet_values(document, *facet) {
                laid.add_text(*column, value);
            }
        }
        for label in suggest::keys(&shown) {
            laid.add_bytes(self.labels, &label);
        }
        // Plain strings and numbers always have a JSON form.
        laid.add_text(self.shown, serde_json::to_string(&shown).unwrap_or_default());
        laid
    }
}

fn each_text(document: &Document, field: Field, mut add: impl FnMut(&str)) {
    let labels = |named: &[Named], add: &mut dyn FnMut(&str)| {
        document::texts(named.iter().map(|one| one.label.as_str())).for_each(add);
    };
    match field {
        Field::Title => {
            let label = Some(&document.label).filter(|label| !document.titles.contains(label));
            document::texts(label.into_iter().chain(&document.titles).map(String::as_str)).for_each(add);
        }
        Field::Creator => {
            labels(&document.contributors, &mut add);
            document::texts(document.other_names.iter().map(String::as_str)).for_each(add);
        }
        Field::Subject => labels(&document.subjects, &mut add),
        Field::Identifier => {
            for identifier in document::texts(document.identifiers.iter().map(String::as_str)) {
                add(identifier);
                // Whoever types a number without its spaces and brackets finds it too.
                let bare: String = identifier.chars().filter(|c| c.is_alphanumeric()).collect();
                if bare != identifier {
                    add(&bare);
                }
            }
        }
        Field::Note => document::notes(&document.notes).for_each(add),
    }
}

fn facet_values(document: &Document, facet: Facet) -> Vec<&str> {
    match facet {
        Facet::Kind => vec![document.kind.as_str()],
        Facet::ContentType => document::facet_values(document.content_types.iter().map(String::as_str)),
        Facet::Language => document::facet_values(document.languages.iter().map(String::as_str)),
        Facet::Source => document::facet_values(document.sources.iter().map(String::as_str)),
        Facet::Subject => document::facet_values(document.subjects.iter().map(|one| one.label.as_str())),
        Facet::Creator => document::facet_values(document.contributors.iter().map(|one| one.label.as_str())),
        Facet::Year | Facet::Decade => Vec::new(),
    }
}

impl Document {
    /// What a list of hits will show of it.
    pub fn shown(&self) -> Shown {
        shown(self)
    }
}

fn shown(document: &Document) -> Shown {
    let named = |all: &[Named]| -> Vec<Named> {
        let cut =
            |one: &Named| document::texts([one.label.as_str()]).next().map(str::to_owned).unwrap_or_default();
        all.iter().take(100).map(|one| Named { label: cut(one), iri: one.iri.clone() }).collect()
    };
    let text = |text: &str| document::texts([text]).next().map(str::to_owned).unwrap_or_default();
    let mut years = document.years.clone();
    years.sort_unstable();
    years.dedup();
    Shown {
        iri: document.iri.clone(),
        kind: document.kind,
        label: text(&document.label),
        titles: document
            .titles
            .iter()
            .filter(|title| **title != document.label)
            .take(20)
            .map(|t| text(t))
            .collect(),
        contributors: named(&document.contributors),
        subjects: named(&document.subjects),
        years,
        first_seen: document.first_seen,
    }
}
