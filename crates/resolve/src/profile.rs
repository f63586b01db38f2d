//! What makes two records one: a profile, read from a file that users edit.
//!
//! `mappings/resolve/<profile>.toml` says which features are compared how, which keys bring
//! records together, what forbids a union, and where the bands lie. Every problem of a file is
//! reported, with its line.

mod reading;
mod weights;

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;
use serde::Deserialize;

use super::compare::name::Measure;
use super::compare::vector::{Slot, Vector};
use super::compare::{
    code, contents, edition, extent, identifier, name, numbered, part, phrase, set, text, title, year,
};
use super::words::Words;

/// How values of a feature are compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    Title,
    Part,
    Number,
    Name,
    Year,
    Phrase,
    Edition,
    Extent,
    Code,
    Identifier,
    Text,
    Numbered,
    Set,
    Contents,
}

impl Kind {
    /// The levels this kind can tell, best first.
    pub fn levels(self) -> &'static [&'static str] {
        match self {
            Self::Title => title::LEVELS,
            Self::Part | Self::Number => part::LEVELS,
            Self::Name => name::LEVELS,
            Self::Year => year::LEVELS,
            Self::Phrase => phrase::LEVELS,
            Self::Edition => edition::LEVELS,
            Self::Extent => extent::LEVELS,
            Self::Code => code::LEVELS,
            Self::Identifier => identifier::LEVELS,
            Self::Text => text::LEVELS,
            Self::Numbered => numbered::LEVELS,
            Self::Set => set::LEVELS,
            Self::Contents => contents::LEVELS,
        }
    }
}

/// One level of a comparison, with what is expected before anything was counted.
#[derive(Clone, Debug)]
pub struct Level {
    pub name: Box<str>,
    /// How often pairs are on this level: of one thing first, then under each rival.
    pub chances: Vec<f64>,
}

/// One comparison.
#[derive(Clone, Debug)]
pub struct Compare {
    pub name: Box<str>,
    pub kind: Kind,
    pub feature: Box<str>,
    /// Further features the kind makes use of.
    pub beside: Vec<Box<str>>,
    pub measure: Measure,
    pub slips: bool,
    /// Declared levels, best first; level 0 is always "missing".
    pub levels: Vec<Level>,
    pub slot: Slot,
    /// Whether the profile itself names chances, which no file of weights changes.
    has_chances: bool,
    /// From the kind's levels to the declared ones: one that is not declared counts as the next.
    places: Vec<u8>,
}

impl Compare {
    /// The declared level for a level of the kind.
    pub fn declared(&self, raw: u8) -> u8 {
        self.places.get(usize::from(raw)).copied().unwrap_or(0)
    }

    /// What a declared level is called.
    pub fn level_name(&self, level: u8) -> &str {
        match level {
            0 => "missing",
            _ => self.levels.get(usize::from(level) - 1).map_or("?", |level| &level.name),
        }
    }

    fn level_number(&self, name: &str) -> Option<u8> {
        if name == "missing" {
            return Some(0);
        }
        self.levels.iter().position(|level| *level.name == *name).map(|at| at as u8 + 1)
    }
}

/// A function of a record that gives the numbers it is brought together by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyPart {
    /// The comparison that has read the feature.
    pub comparison: usize,
    pub function: Function,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Function {
    /// The value itself, as its kind understands it.
    Value,
    /// Title: what stands before other title information.
    Proper,
    /// Title: its rarest words, each for itself.
    Rare(usize),
    /// Title: every two of its rarest words.
    Pairs(usize),
    /// Title: its first words together.
    First(usize),
    /// Title: pieces of its words, so many times three of them together.
    Grams(usize),
    /// Name: words that may be of the surname.
    Surname,
    /// Name: their sound.
    Sound,
    /// Name: every whole word.
    Words,
    /// Text: its first letters.
    Prefix(usize),
}

/// A rule that brings records together: all parts must agree.
#[derive(Clone, Debug)]
pub struct Block {
    pub name: Box<str>,
    pub parts: Vec<KeyPart>,
    /// A value that more records share than this is split at once.
    pub largest: usize,
}

/// A condition on the level of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct Condition {
    pub comparison: usize,
    slot: Slot,
    /// A bit for each level that fulfils it.
    levels: u16,
}

impl Condition {
    fn holds(&self, vector: Vector) -> bool {
        self.levels >> self.slot.level(vector) & 1 == 1
    }
}

/// What forbids a union, whatever else speaks for it.
#[derive(Clone, Debug)]
pub struct Veto {
    pub name: Box<str>,
    /// All of them.
    pub when: Vec<Condition>,
    /// None of them.
    pub unless: Vec<Condition>,
    /// Looked at before anything else is compared.
    pub early: bool,
    /// It says that there is too little to go by, and not that two things differ: it forbids to unite two
    /// records because of each other, and allows both to be one with a third.
    pub lacking: bool,
    /// It tells two things apart of which one was made from the other: what it forbids to unite is linked.
    pub related: bool,
}

impl Veto {
    /// Whether the levels of a pair are forbidden.
    pub fn forbids(&self, vector: Vector) -> bool {
        let holds = |condition: &Condition| condition.holds(vector);
        self.when.iter().all(holds) && !self.unless.iter().any(holds)
    }
}

/// Probabilities from which on a pair is merged, or looked at by a person.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bands {
    pub merge: f64,
    pub review: f64,
}

/// How one value is preferred in the merged entry. Used by whoever writes the master.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Survivorship {
    /// Rules in order, the first that decides wins: `source-rank`, `complete`, `frequent`, `recent`.
    #[serde(default)]
    pub rules: Vec<String>,
    /// Sources, most trusted first.
    #[serde(default)]
    pub rank: Vec<String>,
    /// Other rules for single features.
    #[serde(default)]
    pub feature: BTreeMap<String, Vec<String>>,
}

/// Agents that look through the merged entries of some content types.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agents {
    pub name: Box<str>,
    /// Values of the feature that tells the type.
    pub types: Vec<Box<str>>,
    /// Features that only these types have: they tell the type where it is not said.
    pub has: Vec<Box<str>>,
    /// How many agents share the work.
    pub count: u32,
}

/// Identifiers not to be trusted.
#[derive(Clone, Debug)]
pub struct Trust {
    pub deny: FxHashSet<Box<str>>,
    /// More holders than this make an identifier crowded.
    pub crowd: u32,
    /// Whether holders with unlike titles do.
    pub titled: bool,
}

/// A profile, checked.
pub struct Profile {
    pub name: Box<str>,
    /// What a pair can be instead of one thing.
    pub rivals: Vec<Box<str>>,
    /// Of "same" and the rivals: their share among pairs that are compared, before any are counted.
    pub shares: Vec<f64>,
    /// What is left of all evidence because features depend on each other.
    pub scale: f64,
    pub words: Words,
    pub compare: Vec<Compare>,
    pub blocks: Vec<Block>,
    /// What splits a block that is too large, in this order.
    pub split: Vec<KeyPart>,
    /// How many neighbours are compared where splitting does not help.
    pub window: usize,
    pub vetoes: Vec<Veto>,
    /// By what a pair that is not one is known as one of the rivals, by their places; the first holds.
    pub signs: Vec<(usize, Vec<Condition>)>,
    /// Comparisons whose levels depend on each other.
    pub interactions: Vec<(usize, usize)>,
    pub bands: Bands,
    pub identifiers: Trust,
    /// Sources in which every thing has one record.
    pub unique_sources: FxHashSet<Box<str>>,
    /// How many pairs the expected frequencies are worth.
    pub confidence: f64,
    pub survivorship: Survivorship,
    /// Sets of agents, and the feature that tells an entry's content type.
    pub agents: Vec<Agents>,
    pub agents_by: Box<str>,
}

/// What is wrong with a profile, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub line: usize,
    pub message: String,
}

impl std::fmt::Display for Problem {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "line {}: {}", self.line, self.message)
    }
}

impl Profile {
    /// The comparison of this name.
    pub fn comparison(&self, name: &str) -> Option<usize> {
        self.compare.iter().position(|compare| *compare.name == *name)
    }

    /// Comparisons that early vetoes ask for.
    pub fn early(&self) -> Vec<usize> {
        let vetoes = self.vetoes.iter().filter(|veto| veto.early);
        let mut early: Vec<usize> = vetoes
            .flat_map(|veto| veto.when.iter().chain(&veto.unless))
            .map(|condition| condition.comparison)
            .collect();
        early.sort_unstable();
        early.dedup();
        early
    }

    /// What a pair that is not one is instead, by its signs; without any, the last rival.
    pub fn rival_of(&self, vector: Vector) -> usize {
        let shows = |sign: &&(usize, Vec<Condition>)| sign.1.iter().all(|condition| condition.holds(vector));
        self.signs.iter().find(shows).map_or(self.rivals.len().saturating_sub(1), |sign| sign.0)
    }

    /// The first veto that keeps two apart whatever else they are one with.
    pub fn conflict(&self, vector: Vector) -> Option<&Veto> {
        self.vetoes.iter().find(|veto| !veto.lacking && veto.forbids(vector))
    }

    /// Whether two are not one, and one of them was made from the other.
    pub fn is_related(&self, vector: Vector) -> bool {
        self.veto(vector).is_some_and(|veto| veto.related)
    }

    /// The first veto that forbids these levels.
    pub fn veto(&self, vector: Vector) -> Option<&Veto> {
        self.vetoes.iter().find(|veto| veto.forbids(vector))
    }
}
