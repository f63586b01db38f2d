//! How is a word spelled without marks, and in Latin letters?
//!
//! Most words are spelled in one way. From the first letter on that the systems of `transliteration.tsv`
//! spell differently, or that `folding.tsv` knows two spellings of, there is one for each system.

use super::LONGEST;
use rustc_hash::FxHashMap;
use std::sync::LazyLock;
use unicode_normalization::UnicodeNormalization;

pub(in crate::index) const FOLDING: &str = include_str!("../folding.tsv");
pub(in crate::index) const TRANSLITERATION: &str = include_str!("../transliteration.tsv");
pub(in crate::index) const ENDINGS: &str = include_str!("../endings.tsv");

/// The columns of `transliteration.tsv`.
pub(super) const SYSTEMS: usize = 3;
/// The spellings of one word: a single one, or one for each system and then each of these with
/// its ending brought to the common one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forms(pub(super) Vec<String>);

impl Forms {
    /// How many spellings a word may have.
    pub const MOST: usize = 2 * SYSTEMS;

    /// The word as one system spells it.
    pub fn of(&self, system: usize) -> &str {
        self.0.get(system).or(self.0.get(system % SYSTEMS)).or(self.0.first()).map_or("", String::as_str)
    }

    /// Every spelling once.
    pub fn distinct(&self) -> impl Iterator<Item = &str> {
        distinct(&self.0)
    }

    /// Every spelling once, with endings left alone: what begins a word has none.
    pub fn beginnings(&self) -> impl Iterator<Item = &str> {
        distinct(self.0.get(..SYSTEMS).unwrap_or(&self.0))
    }
}

fn distinct(forms: &[String]) -> impl Iterator<Item = &str> {
    let fresh =
        |(at, form): &(usize, &String)| !form.is_empty() && !forms.iter().take(*at).any(|f| f == *form);
    forms.iter().enumerate().filter(fresh).map(|(_, form)| form.as_str())
}

/// A word while it is being read: one spelling, and all of them from where they part.
#[derive(Default)]
pub(super) struct Spelling {
    systems: Vec<String>,
    letters: usize,
}

impl Spelling {
    pub(super) fn is_empty(&self) -> bool {
        self.letters == 0
    }

    pub(super) fn len(&self) -> usize {
        self.systems.first().map_or(0, |word| word.chars().count())
    }

    pub(super) fn push(&mut self, c: char) {
        self.letters += 1;
        if self.letters > LONGEST {
            return;
        }
        if c.is_ascii() {
            self.push_all(|_, word| word.push(c));
        } else if let Some(row) = LETTERS.get(&c) {
            self.push_row(row);
        } else {
            for part in c.nfd().filter(|part| !is_stripped(*part)) {
                match LETTERS.get(&part) {
                    Some(row) => self.push_row(row),
                    None => self.push_all(|_, word| word.push(part)),
                }
            }
        }
    }

    fn push_row(&mut self, row: &[&'static str; SYSTEMS]) {
        if row.iter().any(|spelling| *spelling != row[0]) {
            self.part();
        }
        self.push_all(|system, word| word.push_str(row[system]));
    }

    pub(super) fn append(&mut self, other: &Self) {
        self.letters += other.letters;
        if other.systems.len() > 1 {
            self.part();
        }
        self.push_all(|system, word| {
            word.push_str(other.systems.get(system).or(other.systems.first()).map_or("", String::as_str));
        });
    }

    /// From here on each system spells for itself.
    fn part(&mut self) {
        let common = self.systems.first().cloned().unwrap_or_default();
        self.systems.resize(SYSTEMS, common);
    }

    fn push_all(&mut self, push: impl Fn(usize, &mut String)) {
        if self.systems.is_empty() {
            self.systems.push(String::new());
        }
        self.systems.iter_mut().enumerate().for_each(|(system, word)| push(system, word));
    }

    pub(super) fn into_forms(mut self) -> Forms {
        if self.systems.iter().any(|word| common_ending(word).is_some()) {
            self.part();
            let ended: Vec<String> =
                self.systems.iter().map(|word| common_ending(word).unwrap_or_else(|| word.clone())).collect();
            self.systems.extend(ended);
        }
        Forms(self.systems)
    }
}

/// The word with its ending brought to the common one, if it has one that is.
fn common_ending(word: &str) -> Option<String> {
    const SHORTEST: usize = 2;
    // Endings have at most five letters, all of them ASCII: a slice by bytes either fits or is none.
    (2..=5).rev().find_map(|length| {
        let before = word.get(..word.len().checked_sub(length)?)?;
        let ending = ENDING.get(&word[before.len()..])?;
        (before.len() >= SHORTEST).then(|| format!("{before}{ending}"))
    })
}

/// Marks that a word is found without: those of Latin, Greek and Cyrillic, the points of Hebrew
/// and the vowels of Arabic. The vowels of Indic scripts are marks too, and stay.
fn is_stripped(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{483}'..='\u{489}' | '\u{591}'..='\u{5c7}' | '\u{610}'..='\u{61a}'
        | '\u{64b}'..='\u{65f}' | '\u{670}' | '\u{6d6}'..='\u{6ed}' | '\u{1ab0}'..='\u{1aff}'
        | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}' | '\u{fe20}'..='\u{fe2f}')
}

/// How letters are spelled in each system.
static LETTERS: LazyLock<FxHashMap<char, [&'static str; SYSTEMS]>> = LazyLock::new(|| {
    let mut letters = FxHashMap::default();
    for row in rows(FOLDING).chain(rows(TRANSLITERATION)) {
        if let [letter, plain, others @ ..] = row.as_slice()
            && let Some(letter) = letter.chars().next()
        {
            let of = |at: usize| others.get(at).copied().unwrap_or(plain);
            letters.insert(letter, [plain, of(0), of(1)]);
        }
    }
    letters
});

static ENDING: LazyLock<FxHashMap<&'static str, &'static str>> =
    LazyLock::new(|| rows(ENDINGS).filter_map(|row| Some((*row.first()?, *row.get(1)?))).collect());

pub(super) fn rows(table: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    table.lines().filter(|line| !line.starts_with('#')).map(|line| line.split('\t').collect())
}
