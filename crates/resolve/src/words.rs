//! Words with a meaning for comparing: articles, part designations, ordinals, roles.
//!
//! The lists are data (`mappings/resolve/words.toml`); here they become sets.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::Deserialize;

use super::fold::roman;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Lists {
    small: Vec<String>,
    generic: Vec<String>,
    designations: Vec<String>,
    materials: Vec<String>,
    roles: Vec<String>,
    bodies: Vec<String>,
    publishing: Vec<String>,
    nobody: Vec<String>,
    pieces: Vec<String>,
    measures: Vec<String>,
    editions: BTreeMap<String, Vec<String>>,
    numbers: BTreeMap<String, Vec<String>>,
}

/// The lists of `words.toml`, for looking up.
#[derive(Default)]
pub struct Words {
    pub small: FxHashSet<Box<str>>,
    pub generic: FxHashSet<Box<str>>,
    pub designations: FxHashSet<Box<str>>,
    pub materials: FxHashSet<Box<str>>,
    pub roles: FxHashSet<Box<str>>,
    pub publishing: FxHashSet<Box<str>>,
    pub nobody: FxHashSet<Box<str>>,
    pub measures: FxHashSet<Box<str>>,
    pieces: FxHashSet<Box<str>>,
    /// Which kind of edition a word says, by the kind's place in the list.
    pub editions: FxHashMap<Box<str>, u8>,
    bodies: Vec<Box<str>>,
    numbers: FxHashMap<Box<str>, u32>,
}

impl Words {
    pub fn parse(text: &str) -> Result<Self, toml::de::Error> {
        let lists: Lists = toml::from_str(text)?;
        let set = |words: Vec<String>| words.into_iter().map(String::into_boxed_str).collect();
        let mut editions = FxHashMap::default();
        for (kind, words) in lists.editions.into_values().enumerate() {
            editions.extend(words.into_iter().map(|word| (word.into_boxed_str(), kind as u8)));
        }
        let mut numbers = FxHashMap::default();
        for (number, words) in lists.numbers {
            let number = number.parse().unwrap_or(0);
            numbers.extend(words.into_iter().map(|word| (word.into_boxed_str(), number)));
        }
        Ok(Self {
            small: set(lists.small),
            generic: set(lists.generic),
            designations: set(lists.designations),
            materials: set(lists.materials),
            roles: set(lists.roles),
            publishing: set(lists.publishing),
            nobody: set(lists.nobody),
            measures: set(lists.measures),
            pieces: set(lists.pieces),
            editions,
            bodies: lists.bodies.into_iter().map(String::into_boxed_str).collect(),
            numbers,
        })
    }

    /// Whether a word is of a body's name: `universitat`, `society`.
    pub fn is_body(&self, word: &str) -> bool {
        self.bodies.iter().any(|start| word.starts_with(&**start))
    }

    /// Whether an extent counts pieces by this word, and not pages. Longer words of the list may have endings.
    pub fn is_piece(&self, unit: &str) -> bool {
        const LONG: usize = 4;
        let mut beginnings =
            unit.char_indices().map(|(at, _)| at).skip(LONG).filter_map(|end| unit.get(..end));
        self.pieces.contains(unit) || beginnings.any(|start| self.pieces.contains(start))
    }

    /// The number a word writes in digits: `12`, `2nd`, `3e`.
    pub fn digits(word: &str) -> Option<u32> {
        let end = word.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(word.len());
        let (digits, ending) = word.split_at(end);
        let is_ending = matches!(
            ending,
            "" | "st"
                | "nd"
                | "rd"
                | "th"
                | "d"
                | "e"
                | "er"
                | "eme"
                | "ste"
                | "te"
                | "a"
                | "o"
                | "aya"
                | "oe"
        );
        if is_ending && digits.len() <= 9 { digits.parse().ok() } else { None }
    }

    /// The number a word writes in any way: `12`, `2nd`, `third`, `xiv`.
    pub fn number(&self, word: &str) -> Option<u32> {
        Self::digits(word).or_else(|| self.numbers.get(word).copied()).or_else(|| roman(word))
    }

    /// The number an ordinal or cardinal word means.
    pub fn spelled(&self, word: &str) -> Option<u32> {
        self.numbers.get(word).copied()
    }
}
