//! How alike are two records, feature by feature?
//!
//! Every comparison of the profile gives a *level*: 0 when one side says nothing, else the
//! place in the kind's list, best first. The levels of a pair are packed into one number, four
//! bits each, so that equal outcomes are counted rather than kept. All reading of texts happens
//! before the first pair; comparing works on numbers.

pub mod code;
pub mod edit;
pub mod edition;
pub mod extent;
pub mod identifier;
pub mod name;
pub mod part;
pub mod phrase;
pub mod terms;
pub mod text;
pub mod title;
pub mod year;

use std::collections::{BTreeMap, BTreeSet};

use self::terms::Terms;
use super::feature::{Column, FeatureTable, Id};
use super::fold::{hash32, mix};
use super::profile::{Compare, Kind, Profile};
use super::score::Model;

/// Levels of all comparisons of a pair, four bits each.
pub type Vector = u64;

/// How rare words are, by feature.
pub type Weights = BTreeMap<Box<str>, Terms>;

/// Identifiers that too many records carry, by feature.
pub type Crowded = BTreeMap<Box<str>, BTreeSet<Box<str>>>;

/// The level of one comparison in a vector.
pub fn level_at(vector: Vector, comparison: usize) -> u8 {
    ((vector >> (4 * comparison)) & 15) as u8
}

/// A feature's values, read for a kind of comparison.
pub enum Read {
    Title(title::Titles),
    Names(name::Names),
    Years(year::Years),
    Phrases(phrase::Phrases),
    Editions(edition::Editions),
    Extents(extent::Extents),
    Codes(code::Codes),
    Identifiers(identifier::Identifiers),
    Texts(text::Texts),
    /// Numbers of titles that other comparisons have read: the places of these comparisons,
    /// and what else was read for this one.
    Numbers(part::Numbers, Vec<usize>, Vec<(Box<str>, title::Titles)>),
    /// No record of the table has the feature.
    Nothing,
}

/// Compares the records of one table as one profile says.
pub struct Comparer<'a> {
    table: &'a FeatureTable,
    profile: &'a Profile,
    read: Vec<Read>,
    /// Of each comparison: its own column, and the first it has beside.
    columns: Vec<(Option<&'a Column>, Option<&'a Column>)>,
    /// Comparisons whose features the table has: those of early vetoes, and the others.
    early: Vec<usize>,
    late: Vec<usize>,
    /// A number for each record's key in its source.
    names: Vec<u32>,
    weights: Weights,
}

impl<'a> Comparer<'a> {
    /// Reads all texts. With a model words weigh, and identifiers count, as they did when it was
    /// made.
    pub fn new(table: &'a FeatureTable, profile: &'a Profile, model: Option<&Model>) -> Self {
        let mut weighed = Weights::new();
        let mut read: Vec<Read> = Vec::new();
        for compare in &profile.compare {
            let one = read_feature(table, profile, compare, &read, model, &mut weighed);
            read.push(one);
        }
        let column = |feature: &str| table.column(feature);
        let columns = profile
            .compare
            .iter()
            .map(|compare| (column(&compare.feature), compare.beside.first().and_then(|feature| column(feature))))
            .collect();
        let asked = profile.early();
        let there = (0..read.len()).filter(|at| !matches!(read[*at], Read::Nothing));
        let (early, late) = there.partition(|at| asked.contains(at));
        let names = (0..table.len() as u32).map(|record| hash32(table.key(record))).collect();
        Self { table, profile, read, columns, early, late, names, weights: weighed }
    }

    pub fn table(&self) -> &'a FeatureTable {
        self.table
    }

    pub fn profile(&self) -> &'a Profile {
        self.profile
    }

    /// The weights of words, to be kept with the model.
    pub fn weights(&self) -> &Weights {
        &self.weights
    }

    /// What a comparison has read.
    pub fn read(&self, comparison: usize) -> &Read {
        &self.read[comparison]
    }

    /// The column a comparison is about.
    pub fn column(&self, comparison: usize) -> Option<&'a Column> {
        self.columns.get(comparison).and_then(|(column, _)| *column)
    }

    /// Compares two records as far as early vetoes ask. `None`: one of them forbids the pair.
    pub fn early(&self, left: Id, right: Id) -> Option<Vector> {
        let mut vector = 0;
        for at in &self.early {
            vector |= u64::from(self.level(*at, left, right)) << (4 * at);
        }
        let forbidden = self.profile.vetoes.iter().any(|veto| veto.early && veto.forbids(vector));
        (!forbidden).then_some(vector)
    }

    /// Whether a pair is one of the few compared to the end although a veto holds. Decided by the
    /// names of the records, so that arrival does not matter.
    pub fn stands_for_others(&self, left: Id, right: Id) -> bool {
        let name = |record: Id| u64::from(self.names[record as usize]);
        mix(name(left), name(right)).is_multiple_of(super::SAMPLED)
    }

    /// Compares what [`early`](Self::early) left out.
    pub fn late(&self, early: Vector, left: Id, right: Id) -> Vector {
        let mut vector = early;
        for at in &self.late {
            vector |= u64::from(self.level(*at, left, right)) << (4 * at);
        }
        vector
    }

    /// Compares two records.
    pub fn vector(&self, left: Id, right: Id) -> Vector {
        let mut vector = 0;
        for at in self.early.iter().chain(&self.late) {
            vector |= u64::from(self.level(*at, left, right)) << (4 * at);
        }
        vector
    }

    /// Identifiers that too many records carry to prove anything.
    pub fn crowded(&self) -> Crowded {
        let mut crowded = Crowded::new();
        for (compare, read) in self.profile.compare.iter().zip(&self.read) {
            if let (Read::Identifiers(identifiers), Some(column)) = (read, self.table.column(&compare.feature)) {
                let values = identifiers.crowded().iter().map(|value| column.strings().get(*value).into());
                crowded.entry(compare.feature.clone()).or_default().extend(values);
            }
        }
        crowded
    }

    fn level(&self, at: usize, left: Id, right: Id) -> u8 {
        let compare = &self.profile.compare[at];
        let raw = match &self.read[at] {
            Read::Nothing => 0,
            Read::Numbers(numbers, titles, others) => {
                let (mut a, mut b) = (part::Set::default(), part::Set::default());
                let mut gather = |titles: &title::Titles, column: &Column| {
                    a.gather(titles, column, *numbers, left);
                    b.gather(titles, column, *numbers, right);
                };
                for other in titles {
                    if let (Read::Title(titles), Some(column)) = (&self.read[*other], self.column(*other)) {
                        gather(titles, column);
                    }
                }
                for (feature, titles) in others {
                    if let Some(column) = self.table.column(feature) {
                        gather(titles, column);
                    }
                }
                part::level(&a, &b, *numbers)
            }
            read => {
                let (Some(column), beside) = self.columns[at] else { return 0 };
                match read {
                    Read::Title(titles) => titles.level(column, left, right),
                    Read::Names(names) => names.level(column, beside, left, right),
                    Read::Years(years) => years.level(column, left, right),
                    Read::Phrases(phrases) => phrases.level(column, left, right),
                    Read::Editions(editions) => editions.level(column, left, right),
                    Read::Extents(extents) => extents.level(column, left, right),
                    Read::Codes(codes) => codes.level(column, left, right),
                    Read::Identifiers(identifiers) => identifiers.level(column, left, right),
                    Read::Texts(texts) => texts.level(column, left, right),
                    Read::Numbers(..) | Read::Nothing => 0,
                }
            }
        };
        compare.declared(raw)
    }
}

fn read_feature(
    table: &FeatureTable,
    profile: &Profile,
    compare: &Compare,
    before: &[Read],
    model: Option<&Model>,
    weighed: &mut Weights,
) -> Read {
    let words = &profile.words;
    let records = table.len() as u32;
    if let Kind::Part | Kind::Number = compare.kind {
        let numbers = if compare.kind == Kind::Part { part::Numbers::OfParts } else { part::Numbers::InTitles };
        let mut titles = Vec::new();
        let mut others = Vec::new();
        for feature in std::iter::once(&compare.feature).chain(&compare.beside) {
            let known = before.iter().zip(&profile.compare).position(|(read, other)| {
                matches!(read, Read::Title(_)) && other.feature == *feature
            });
            match (known, table.column(feature)) {
                (Some(at), _) => titles.push(at),
                (None, Some(column)) => others.push((feature.clone(), title::Titles::read(column, words, true))),
                (None, None) => {}
            }
        }
        return if titles.is_empty() && others.is_empty() { Read::Nothing } else { Read::Numbers(numbers, titles, others) };
    }
    let beside = compare.beside.first().and_then(|feature| table.column(feature));
    let Some(column) = table.column(&compare.feature) else { return Read::Nothing };
    match compare.kind {
        Kind::Title => {
            let mut titles = title::Titles::read(column, words, false);
            let terms = match model.and_then(|model| model.weights.get(&compare.feature)) {
                Some(terms) => terms.clone(),
                None => {
                    let mut terms = Terms::new(records);
                    titles.count(column, records, &mut terms);
                    terms.settle();
                    terms
                }
            };
            titles.weigh(&terms);
            weighed.insert(compare.feature.clone(), terms);
            Read::Title(titles)
        }
        Kind::Name => Read::Names(name::Names::read(column, beside, words, compare.measure)),
        Kind::Year => Read::Years(year::Years::read(column)),
        Kind::Phrase => Read::Phrases(phrase::Phrases::read(column, words)),
        Kind::Edition => Read::Editions(edition::Editions::read(column, words)),
        Kind::Extent => Read::Extents(extent::Extents::read(column)),
        Kind::Code => Read::Codes(code::Codes::read(column)),
        Kind::Identifier => {
            let trust = &profile.identifiers;
            let crowded = model.map(|model| model.crowded.get(&compare.feature));
            Read::Identifiers(identifier::Identifiers::read(column, records, trust, crowded, compare.slips))
        }
        Kind::Text => Read::Texts(text::Texts::read(column)),
        Kind::Part | Kind::Number => Read::Nothing,
    }
}
