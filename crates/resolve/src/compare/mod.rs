//! How alike are two records, feature by feature?
//!
//! Every comparison of the profile gives a *level*: 0 when one side says nothing, else the
//! place in the kind's list, best first. The levels of a pair are packed into one number, a
//! [`Vector`]. All reading of texts happens before the first pair; comparing works on numbers.

pub mod card;
pub mod code;
pub mod contents;
pub mod edit;
pub mod edition;
pub mod extent;
pub mod identifier;
pub mod name;
pub mod numbered;
pub mod part;
pub mod phrase;
pub mod set;
pub mod terms;
pub mod text;
pub mod title;
pub mod vector;
pub mod year;

use std::collections::{BTreeMap, BTreeSet};
use std::hint::black_box;

use self::card::Cards;
use self::terms::Terms;
pub use self::vector::Vector;
use super::feature::{Column, FeatureTable, Id};
use super::fold::{hash32, mix};
use super::profile::{Compare, Condition, Kind, Profile};
use super::score::Model;

/// How rare words are, by feature.
pub type Weights = BTreeMap<Box<str>, Terms>;

/// Identifiers that too many records carry, by feature.
pub type Crowded = BTreeMap<Box<str>, BTreeSet<Box<str>>>;

/// Identifiers that prove nothing: too many records of a table carry them, or records with unlike titles.
pub fn crowded_in(table: &FeatureTable, profile: &Profile) -> Crowded {
    let mut crowded = Crowded::new();
    let title = profile.compare.iter().find(|compare| compare.kind == Kind::Title);
    // What agents are called is no title, and works have any number of identifiers in common.
    let titles =
        title.filter(|_| profile.identifiers.titled).and_then(|compare| table.column(&compare.feature));
    for compare in profile.compare.iter().filter(|compare| compare.kind == Kind::Identifier) {
        let Some(column) = table.column(&compare.feature) else { continue };
        let values = identifier::crowded(column, titles, table.len() as u32, profile.identifiers.crowd);
        if !values.is_empty() {
            crowded.entry(compare.feature.clone()).or_default().extend(values);
        }
    }
    crowded
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
    Numbered(numbered::Numbers),
    Sets(set::Sets),
    Contents(contents::Contents),
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
    /// What each record says, in the order of `cheap`, `early` and `late`.
    cards: Cards,
    /// Comparisons whose features the table has: those that two numbers decide, those of early
    /// vetoes, and the others.
    cheap: Vec<usize>,
    early: Vec<usize>,
    late: Vec<usize>,
    /// A number for each record's key in its source.
    names: Vec<u32>,
    weights: Weights,
    crowded: Crowded,
}

impl<'a> Comparer<'a> {
    /// Reads all texts. With a model words weigh, and identifiers count, as they did when it was
    /// made.
    pub fn new(table: &'a FeatureTable, profile: &'a Profile, model: Option<&Model>) -> Self {
        let mut weighed = Weights::new();
        let mut read: Vec<Read> = Vec::new();
        let crowded = model.map_or_else(|| crowded_in(table, profile), |model| model.crowded.clone());
        for compare in &profile.compare {
            let known = Known { model, crowded: &crowded };
            let one = read_feature(table, profile, compare, &read, &known, &mut weighed);
            read.push(one);
        }
        let column = |feature: &str| table.column(feature);
        let columns = profile
            .compare
            .iter()
            .map(|compare| {
                (column(&compare.feature), compare.beside.first().and_then(|feature| column(feature)))
            })
            .collect();
        let asked = profile.early();
        let there = (0..read.len()).filter(|at| !matches!(read[*at], Read::Nothing));
        let (cheap, dear): (Vec<usize>, Vec<usize>) = there.partition(|at| read[*at].is_cheap());
        let (mut early, late): (Vec<usize>, Vec<usize>) = dear.into_iter().partition(|at| asked.contains(at));
        // Names are fewer than titles, so they are likelier near at hand.
        early.sort_by_key(|at| matches!(read[*at], Read::Title(_)));
        let names = (0..table.len() as u32).map(|record| hash32(table.key(record))).collect();
        let cards = Cards::default();
        let mut comparer = Self {
            table,
            profile,
            read,
            columns,
            cards,
            cheap,
            early,
            late,
            names,
            weights: weighed,
            crowded,
        };
        let places: Vec<usize> = comparer.in_order().collect();
        comparer.cards =
            Cards::new(table.len(), places.len(), |record, place| comparer.card(places[place], record));
        comparer
    }

    /// The comparisons in the order of cards.
    fn in_order(&self) -> impl Iterator<Item = usize> {
        self.cheap.iter().chain(&self.early).chain(&self.late).copied()
    }

    pub fn table(&self) -> &'a FeatureTable {
        self.table
    }

    pub fn profile(&self) -> &'a Profile {
        self.profile
    }

    /// The weights of words that were counted here, to be kept with the model.
    pub fn weights(&self) -> &Weights {
        &self.weights
    }

    /// The identifiers that prove nothing.
    pub fn crowded(&self) -> &Crowded {
        &self.crowded
    }

    /// What a comparison has read.
    pub fn read(&self, comparison: usize) -> &Read {
        &self.read[comparison]
    }

    /// The column a comparison is about.
    pub fn column(&self, comparison: usize) -> Option<&'a Column> {
        self.columns.get(comparison).and_then(|(column, _)| *column)
    }

    /// Asks memory for the cards of records that are about to be compared.
    ///
    /// Records that are compared lie far apart, and waiting for one after the other is most of the
    /// work. Asked for together they arrive together. The sums mean nothing.
    pub fn fetch_cards(&self, records: &[Id]) {
        let ends = |record: &Id| {
            let card = self.cards.of(*record);
            card.first().copied().unwrap_or(0) ^ card.last().copied().unwrap_or(0)
        };
        black_box(records.iter().map(ends).fold(0, u32::wrapping_add));
    }

    /// As [`fetch_cards`](Self::fetch_cards), what names and titles these records have.
    pub fn fetch_values(&self, records: &[Id]) {
        for (place, at) in self.in_order().enumerate().skip(self.cheap.len()) {
            let cards = || records.iter().map(|record| self.cards.of(*record)[place]);
            match (&self.read[at], self.column(at)) {
                (Read::Title(titles), _) => {
                    black_box(cards().map(|card| titles.fetch(card)).fold(0, u32::wrapping_add));
                    black_box(cards().map(|card| titles.fetch_words(card)).fold(0, u32::wrapping_add));
                }
                (Read::Names(names), Some(column)) => {
                    let many = records.iter().filter(|record| self.cards.of(**record)[place] == card::MANY);
                    let first = |record: &Id| column.of(*record).first().copied().unwrap_or(0);
                    black_box(many.clone().map(first).fold(0, u32::wrapping_add));
                    black_box(cards().map(|card| names.fetch(card)).fold(0, u64::wrapping_add));
                    let each =
                        many.flat_map(|record| column.of(*record)).map(|value| names.fetch(*value + 1));
                    black_box(each.fold(0, u64::wrapping_add));
                }
                _ => {}
            }
        }
    }

    /// Compares two records as far as two numbers decide it.
    pub fn cheap(&self, left: Id, right: Id) -> Vector {
        self.levels(0, 0, &self.cheap, left, right)
    }

    /// A bit for each comparison that [`cheap`](Self::cheap) has made or need not make.
    pub fn known(&self) -> u64 {
        let dear = self.early.iter().chain(&self.late);
        !dear.fold(0, |bits, at| bits | 1 << at)
    }

    /// Whether an early veto forbids a pair, as far as [`cheap`](Self::cheap) comparisons tell.
    pub fn is_forbidden(&self, cheap: Vector) -> bool {
        let known = self.known();
        let told = |condition: &Condition| known >> condition.comparison & 1 == 1;
        let mut early = self.profile.vetoes.iter().filter(|veto| veto.early);
        early.any(|veto| veto.when.iter().chain(&veto.unless).all(told) && veto.forbids(cheap))
    }

    /// Goes on as far as early vetoes ask. `None`: one of them forbids the pair.
    pub fn early(&self, cheap: Vector, left: Id, right: Id) -> Option<Vector> {
        let vector = self.levels(cheap, self.cheap.len(), &self.early, left, right);
        let forbidden = self.profile.vetoes.iter().any(|veto| veto.early && veto.forbids(vector));
        (!forbidden).then_some(vector)
    }

    /// Of hopeless pairs one in so many is compared to the end. In a small table all are: there is
    /// little to save and little to learn from.
    pub fn sampled(&self) -> u64 {
        if self.table.len() < 1 << 17 { 1 } else { 8 }
    }

    /// Whether a pair is one of the few compared to the end although a veto holds. Decided by the
    /// names of the records, so that arrival does not matter.
    pub fn stands_for_others(&self, left: Id, right: Id) -> bool {
        let name = |record: Id| u64::from(self.names[record as usize]);
        mix(name(left), name(right)).is_multiple_of(self.sampled())
    }

    /// Compares what [`early`](Self::early) left out.
    pub fn late(&self, early: Vector, left: Id, right: Id) -> Vector {
        self.levels(early, self.cheap.len() + self.early.len(), &self.late, left, right)
    }

    /// Compares two records.
    pub fn vector(&self, left: Id, right: Id) -> Vector {
        let cheap = self.cheap(left, right);
        let early = self.levels(cheap, self.cheap.len(), &self.early, left, right);
        self.late(early, left, right)
    }

    /// Adds the levels of some comparisons, of which the first has this place on cards.
    fn levels(&self, vector: Vector, first: usize, comparisons: &[usize], left: Id, right: Id) -> Vector {
        let (a, b) = (&self.cards.of(left)[first..], &self.cards.of(right)[first..]);
        let levels = comparisons.iter().zip(a.iter().zip(b));
        levels.fold(vector, |vector, (at, (a, b))| {
            self.profile.compare[*at].slot.set(vector, self.level(*at, (left, *a), (right, *b)))
        })
    }

    /// The level of two records with their cards.
    fn level(&self, at: usize, left: (Id, u32), right: (Id, u32)) -> u8 {
        let (a, b) = (left.1, right.1);
        let decided = match &self.read[at] {
            Read::Codes(_) => code::Codes::by_cards(a, b),
            Read::Years(_) => year::Years::by_cards(a, b),
            Read::Editions(_) => Some(edition::Editions::by_cards(a, b)),
            Read::Extents(_) => extent::Extents::by_cards(a, b),
            Read::Identifiers(identifiers) => identifiers.by_cards(a, b),
            Read::Numbers(..) => part::by_cards(a, b),
            Read::Title(titles) => titles.by_cards(a, b),
            Read::Names(names) => names.by_cards(self.columns[at].1.is_some(), a, b),
            Read::Phrases(phrases) => phrases.by_cards(a, b),
            Read::Texts(texts) => texts.by_cards(a, b),
            Read::Numbered(_) | Read::Sets(_) | Read::Contents(_) => card::unless_missing(a, b),
            Read::Nothing => Some(0),
        };
        self.profile.compare[at].declared(decided.unwrap_or_else(|| self.look_up(at, left.0, right.0)))
    }

    /// A comparison that cards do not decide.
    fn look_up(&self, at: usize, left: Id, right: Id) -> u8 {
        if let Read::Numbers(..) = &self.read[at] {
            return part::level(&self.set(at, left), &self.set(at, right));
        }
        let (Some(column), beside) = self.columns[at] else { return 0 };
        match &self.read[at] {
            Read::Title(titles) => titles.level(column, left, right),
            Read::Names(names) => names.level(column, beside, left, right),
            Read::Years(years) => years.level(column, left, right),
            Read::Phrases(phrases) => phrases.level(column, left, right),
            Read::Extents(extents) => extents.level(column, left, right),
            Read::Codes(codes) => codes.level(column, left, right),
            Read::Identifiers(identifiers) => identifiers.level(column, left, right),
            Read::Texts(texts) => texts.level(column, left, right),
            Read::Numbered(numbers) => numbers.level(column, left, right),
            Read::Sets(sets) => sets.level(column, left, right),
            Read::Contents(contents) => contents.level(column, left, right),
            Read::Editions(_) | Read::Numbers(..) | Read::Nothing => 0,
        }
    }

    fn card(&self, at: usize, record: Id) -> u32 {
        if let Read::Numbers(..) = &self.read[at] {
            return self.set(at, record).card();
        }
        let Some(column) = self.columns[at].0 else { return card::NOTHING };
        match &self.read[at] {
            Read::Title(titles) => titles.card(column, record),
            Read::Names(names) => names.card(column, record),
            Read::Years(years) => years.card(column, record),
            Read::Phrases(phrases) => phrases.card(column, record),
            Read::Editions(editions) => editions.card(column, record),
            Read::Extents(extents) => extents.card(column, record),
            Read::Codes(codes) => codes.card(column, record),
            Read::Identifiers(identifiers) => identifiers.card(column, record),
            Read::Texts(texts) => texts.card(column, record),
            Read::Numbered(numbers) => numbers.card(column, record),
            Read::Sets(sets) => sets.card(column, record),
            Read::Contents(contents) => contents.card(column, record),
            Read::Numbers(..) | Read::Nothing => card::NOTHING,
        }
    }

    /// The numbers that a record's titles say.
    fn set(&self, at: usize, record: Id) -> part::Set {
        let mut set = part::Set::default();
        if let Read::Numbers(numbers, titles, others) = &self.read[at] {
            for other in titles {
                if let (Read::Title(titles), Some(column)) = (&self.read[*other], self.column(*other)) {
                    set.gather(titles, column, *numbers, record);
                }
            }
            for (feature, titles) in others {
                if let Some(column) = self.table.column(feature) {
                    set.gather(titles, column, *numbers, record);
                }
            }
        }
        set
    }
}

impl Read {
    /// Whether two numbers decide most comparisons.
    fn is_cheap(&self) -> bool {
        matches!(
            self,
            Self::Codes(_)
                | Self::Years(_)
                | Self::Editions(_)
                | Self::Extents(_)
                | Self::Identifiers(_)
                | Self::Numbers(..)
        )
    }
}

/// What was known before the texts were read.
struct Known<'a> {
    model: Option<&'a Model>,
    crowded: &'a Crowded,
}

fn read_feature(
    table: &FeatureTable,
    profile: &Profile,
    compare: &Compare,
    before: &[Read],
    known: &Known<'_>,
    weighed: &mut Weights,
) -> Read {
    let words = &profile.words;
    let records = table.len() as u32;
    if let Kind::Part | Kind::Number = compare.kind {
        let numbers =
            if compare.kind == Kind::Part { part::Numbers::OfParts } else { part::Numbers::InTitles };
        let mut titles = Vec::new();
        let mut others = Vec::new();
        for feature in std::iter::once(&compare.feature).chain(&compare.beside) {
            let known = before
                .iter()
                .zip(&profile.compare)
                .position(|(read, other)| matches!(read, Read::Title(_)) && other.feature == *feature);
            match (known, table.column(feature)) {
                (Some(at), _) => titles.push(at),
                (None, Some(column)) => {
                    others.push((feature.clone(), title::Titles::read(column, words, true)))
                }
                (None, None) => {}
            }
        }
        return if titles.is_empty() && others.is_empty() {
            Read::Nothing
        } else {
            Read::Numbers(numbers, titles, others)
        };
    }
    let beside = compare.beside.first().and_then(|feature| table.column(feature));
    let Some(column) = table.column(&compare.feature) else { return Read::Nothing };
    match compare.kind {
        Kind::Title => {
            let mut titles = title::Titles::read(column, words, false);
            match known.model.and_then(|model| model.weights.get(&compare.feature)) {
                Some(terms) => titles.weigh(terms),
                None => {
                    let mut terms = Terms::new(records);
                    titles.count(column, records, &mut terms);
                    terms.settle();
                    titles.weigh(&terms);
                    weighed.insert(compare.feature.clone(), terms);
                }
            }
            Read::Title(titles)
        }
        Kind::Name => {
            let mut names = name::Names::read(column, beside, words, compare.measure);
            match known.model.and_then(|model| model.weights.get(&compare.feature)) {
                Some(terms) => names.weigh(terms),
                None => {
                    let mut terms = Terms::new(records);
                    names.count(column, records, &mut terms);
                    terms.settle();
                    names.weigh(&terms);
                    weighed.insert(compare.feature.clone(), terms);
                }
            }
            Read::Names(names)
        }
        Kind::Year => Read::Years(year::Years::read(column)),
        Kind::Phrase => Read::Phrases(phrase::Phrases::read(column, words)),
        Kind::Edition => Read::Editions(edition::Editions::read(column, words)),
        Kind::Extent => Read::Extents(extent::Extents::read(column, words)),
        Kind::Code => Read::Codes(code::Codes::read(column)),
        Kind::Identifier => {
            let crowded = known.crowded.get(&compare.feature);
            let trust = &profile.identifiers;
            Read::Identifiers(identifier::Identifiers::read(column, trust, crowded, compare.slips))
        }
        Kind::Text => Read::Texts(text::Texts::read(column)),
        Kind::Numbered => Read::Numbered(numbered::Numbers::read(column, words)),
        Kind::Set => Read::Sets(set::Sets::read(column, words)),
        Kind::Contents => Read::Contents(contents::Contents::read(column, words)),
        Kind::Part | Kind::Number => Read::Nothing,
    }
}
