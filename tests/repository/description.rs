//! What a record says: made up from the seed, its number and its revision, and from nothing else.

use super::words::{GIVEN_NAMES, LANGUAGES, LEAVES, PLACES, PUBLISHERS, SURNAMES, TOPICS};

/// Stands in a title where a fault is to be put into the rendered bytes. Private use, so no
/// description holds it otherwise.
pub const MARK: char = '\u{E000}';

/// One book, as all formats tell it.
#[derive(Clone, Debug)]
pub struct Description {
    pub number: usize,
    pub title: String,
    pub creators: Vec<String>,
    pub publisher: &'static str,
    pub place: &'static str,
    pub year: u64,
    pub isbn: String,
    pub pages: u64,
    pub language: &'static str,
    pub xml_lang: &'static str,
    pub subjects: Vec<String>,
    pub summary: String,
    pub url: String,
}

impl Description {
    pub fn new(seed: u64, number: usize, revision: u32) -> Self {
        // What a revision changes is drawn last, so that the rest of the record stays.
        let mut dice = Dice::new(seed, number);
        let tongue = dice.below(LANGUAGES.len());
        let (language, xml_lang) = LANGUAGES[tongue];
        let topic = TOPICS[dice.below(TOPICS.len())];
        let other = TOPICS[dice.below(TOPICS.len())];
        let place = PLACES[dice.below(PLACES.len())];
        let mut title = format!("{}, {place} : {} ({number})", topic[tongue], other[tongue]);
        if revision > 0 {
            title.push_str(&format!(", revision {revision}"));
        }
        let creators = (0..1 + dice.below(3))
            .map(|_| format!("{}, {}", dice.one_of(&SURNAMES), dice.one_of(&GIVEN_NAMES)))
            .collect();
        let year = 1850 + dice.next() % 170;
        Self {
            number,
            creators,
            publisher: dice.one_of(&PUBLISHERS),
            place: dice.one_of(&PLACES),
            year,
            isbn: isbn(dice.next()),
            pages: 40 + dice.next() % 600,
            language,
            xml_lang,
            subjects: vec![topic[0].to_owned(), format!("{} -- {place}", other[0])],
            summary: format!(
                "On {} & {} seen from {place}: \"{year} < today\", or so it says on page {}.",
                topic[0].to_lowercase(),
                other[0].to_lowercase(),
                1 + dice.next() % 40,
            ),
            url: format!("https://repository.example/record/{number}?view=full&lang={xml_lang}"),
            title,
        }
    }
}

/// The sets a record is in, by their specs.
pub fn sets(seed: u64, number: usize) -> Vec<&'static str> {
    // Another seed than the description's, or all maps would be in the same language.
    let mut dice = Dice::new(!seed, number);
    let mut sets = vec![dice.one_of(&LEAVES)];
    if dice.below(3) == 0 {
        sets.push("open");
    }
    sets
}

/// A number with a right check digit from a range that no publisher has.
fn isbn(random: u64) -> String {
    let body = format!("97999{:07}", random % 10_000_000);
    let sum: u32 = body
        .bytes()
        .zip([1, 3].into_iter().cycle())
        .map(|(digit, weight)| u32::from(digit - b'0') * weight)
        .sum();
    format!("{body}{}", (10 - sum % 10) % 10)
}

/// Random numbers, the same for the same record every time (SplitMix64).
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64, number: usize) -> Self {
        let mut dice = Self(seed ^ (number as u64).wrapping_mul(0xD134_2543_DE82_EF95));
        dice.next();
        dice
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    pub fn one_of(&mut self, words: &[&'static str]) -> &'static str {
        words[self.below(words.len())]
    }
}
