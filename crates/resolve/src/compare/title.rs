//! Titles: words by their weight, with numbers and part designations apart.
//!
//! A title is read once: what stands before other title information (*proper*), the words that
//! are not small, the numbers, and the parts (`v. 2`, `second part`). Words weigh as many bits
//! as their rarity is worth. Two titles are then compared by merging two sorted lists; only
//! words that one title lacks are looked at letter by letter.
//!
//! What is left over decides. Words that only one title has are a subtitle that the other leaves out.
//! Where each has words that the other lacks, one word stands in the place of another: that is how the
//! volumes of a series, the tables of a data set and the sheets of a map differ, however much they share.

use rayon::prelude::*;

use super::card;
use super::edit::{alike, letters, may_be_alike};
use super::terms::{Terms, UNIT};
use crate::feature::{Column, Id};
use crate::fold::{fold, hash32, hash64, mix, roman};
use crate::words::Words;

/// Levels, best first.
pub const LEVELS: &[&str] = &[
    "exact-rare",
    "exact",
    "near",
    "exact-common",
    "contained",
    "proper",
    "similar",
    "generic",
    "variant",
    "weak",
    "different",
];
const EXACT_RARE: u8 = 1;
const EXACT: u8 = 2;
const NEAR: u8 = 3;
const EXACT_COMMON: u8 = 4;
const CONTAINED: u8 = 5;
/// One title is what the other has before its subtitle, and short.
const PROPER: u8 = 6;
const SIMILAR: u8 = 7;
const GENERIC: u8 = 8;
const VARIANT: u8 = 9;
const WEAK: u8 = 10;
const DIFFERENT: u8 = 11;

/// Distinct words that are compared one by one. What a longer title has beyond them counts as one word.
const MOST_WORDS: usize = 120;

/// A title that more records have than these says less, whatever its words: a column in a journal, a classic.
const FEW: u32 = 8;
const MANY: u32 = 20;

/// Pieces of a title that have to be the same for one key of [`Titles::grams`], and most parts of hashes.
const ROWS: usize = 3;
const MOST_PARTS: usize = 48;

/// Letters that are read of a title.
const LONGEST: usize = 16_000;

/// A word of so many sixteenths of a bit says something where the other title has another.
const TELLING_WORD: u16 = 40;

#[derive(Clone, Copy)]
struct Word {
    hash: u32,
    /// Where it stands in the folded title.
    at: u16,
    length: u8,
    /// Among the words before other title information.
    is_proper: bool,
    /// In sixteenths of a bit.
    weight: u16,
    /// Which letters it has.
    letters: u16,
}

impl Word {
    fn shape(self) -> (usize, u16) {
        (usize::from(self.length), self.letters)
    }
}

/// Places of the words that one title has and the other lacks.
struct Spare {
    places: [u8; MOST_WORDS],
    count: usize,
}

impl Default for Spare {
    fn default() -> Self {
        Self { places: [0; MOST_WORDS], count: 0 }
    }
}

impl Spare {
    fn push(&mut self, at: usize) {
        self.places[self.count] = at as u8;
        self.count += 1;
    }

    fn places(&self) -> &[u8] {
        &self.places[..self.count]
    }

    fn remove(&mut self, at: usize) {
        self.count -= 1;
        self.places[at] = self.places[self.count];
    }
}

/// What one title says.
#[derive(Clone, Default)]
struct Entry {
    text: u64,
    length: u16,
    words: u32,
    numbers: u32,
    parts: u32,
    word_count: u8,
    number_count: u8,
    part_count: u8,
    is_generic: bool,
    /// Of the words without blanks, so that `data base` is `database`.
    joined: u64,
    /// Of all letters and digits, those of small words too: a blank in the wrong place changes words only.
    characters: u64,
    /// Of the words before other title information; 0 when there are no others.
    proper: u64,
    /// Of the words beyond [`MOST_WORDS`]; 0 when there are none.
    rest: u32,
    weight: u32,
    proper_weight: u32,
    /// Records that have just this title.
    holders: u32,
}

impl Entry {
    /// The whole title among words that are counted.
    fn number(&self) -> u32 {
        (mix(self.joined, 1) >> 32) as u32
    }
}

/// The titles of a column, read.
#[derive(Default)]
pub struct Titles {
    entries: Vec<Entry>,
    text: String,
    words: Vec<Word>,
    numbers: Vec<u32>,
    parts: Vec<u32>,
    /// Bits that tell one record from all others.
    telling: u32,
}

struct Read {
    text: String,
    words: Vec<Word>,
    numbers: Vec<u32>,
    parts: Vec<u32>,
    is_generic: bool,
    joined: u64,
    characters: u64,
    proper: u64,
    rest: u32,
}

impl Titles {
    /// Reads every value of a column. `bare` takes a number without designation for a part's,
    /// as in a feature that holds nothing else.
    pub fn read(column: &Column, words: &Words, bare: bool) -> Self {
        let count = column.strings().len() as u32;
        let mut titles = Self::default();
        const STEP: u32 = 1 << 16;
        for start in (0..count).step_by(STEP as usize) {
            let end = count.min(start + STEP);
            let read: Vec<Read> = (start..end)
                .into_par_iter()
                .map(|value| read(column.strings().get(value), words, bare))
                .collect();
            for one in read {
                titles.push(&one);
            }
        }
        titles.words.shrink_to_fit();
        titles.text.shrink_to_fit();
        titles.entries.shrink_to_fit();
        titles
    }

    fn push(&mut self, read: &Read) {
        self.entries.push(Entry {
            text: self.text.len() as u64,
            length: read.text.len().min(usize::from(u16::MAX)) as u16,
            words: self.words.len() as u32,
            numbers: self.numbers.len() as u32,
            parts: self.parts.len() as u32,
            word_count: read.words.len() as u8,
            number_count: read.numbers.len() as u8,
            part_count: read.parts.len() as u8,
            is_generic: read.is_generic,
            joined: read.joined,
            characters: read.characters,
            proper: read.proper,
            rest: read.rest,
            weight: 0,
            proper_weight: 0,
            holders: 0,
        });
        self.text.push_str(&read.text);
        self.words.extend_from_slice(&read.words);
        self.numbers.extend_from_slice(&read.numbers);
        self.parts.extend_from_slice(&read.parts);
    }

    /// Counts in how many records each word occurs.
    pub fn count(&self, column: &Column, records: u32, terms: &mut Terms) {
        for record in 0..records {
            for value in column.of(record) {
                let whole = self.entries[*value as usize].number();
                terms.extend(self.words(*value).iter().map(|word| word.hash).chain([whole]));
            }
        }
    }

    /// Gives the words their weights.
    pub fn weigh(&mut self, terms: &Terms) {
        self.telling = terms.telling();
        let words = &mut self.words;
        words.par_iter_mut().for_each(|word| word.weight = terms.weight(word.hash));
        for entry in &mut self.entries {
            let start = entry.words as usize;
            let own = &words[start..start + usize::from(entry.word_count)];
            entry.weight = own.iter().map(|word| u32::from(word.weight)).sum();
            entry.holders = terms.count(entry.number());
            entry.proper_weight =
                own.iter().filter(|word| word.is_proper).map(|word| u32::from(word.weight)).sum();
        }
    }

    /// How alike the titles of two records are: the best of all their pairs.
    pub fn level(&self, column: &Column, left: Id, right: Id) -> u8 {
        let mut best = 0;
        for a in column.of(left) {
            for b in column.of(right) {
                let level = self.compare(*a, *b);
                if best == 0 || level < best {
                    best = level;
                }
            }
        }
        best
    }

    pub fn card(&self, column: &Column, record: Id) -> u32 {
        card::of_values(column.of(record).iter().copied())
    }

    pub fn by_cards(&self, left: u32, right: u32) -> Option<u8> {
        card::values(left, right).map_or_else(|known| known, |(a, b)| Some(self.compare(a, b)))
    }

    /// Something of the title on a card; see [`Comparer::fetch_cards`](super::Comparer::fetch_cards).
    pub fn fetch(&self, card: u32) -> u32 {
        self.entries.get(card.wrapping_sub(1) as usize).map_or(0, |entry| entry.words ^ entry.weight)
    }

    /// Something of its words.
    pub fn fetch_words(&self, card: u32) -> u32 {
        let words = self.entries.get(card.wrapping_sub(1) as usize).map_or(0, |entry| entry.words);
        self.words.get(words as usize).map_or(0, |word| word.hash)
    }

    fn compare(&self, left: u32, right: u32) -> u8 {
        let (a, b) = (&self.entries[left as usize], &self.entries[right as usize]);
        if a.word_count == 0 || b.word_count == 0 {
            return 0;
        }
        if a.joined == b.joined || a.characters == b.characters {
            return match a.weight {
                _ if a.is_generic => GENERIC,
                _ if a.holders > MANY => EXACT_COMMON,
                weight if weight >= 2 * self.telling && a.holders <= FEW => EXACT_RARE,
                weight if weight >= self.telling => EXACT,
                _ => EXACT_COMMON,
            };
        }
        let mut spare_a = Spare::default();
        let mut spare_b = Spare::default();
        let (words_a, words_b) = (self.words(left), self.words(right));
        let (mut shared, mut excess) = (0_u32, 0_u32);
        let (mut i, mut j) = (0, 0);
        while i < words_a.len() && j < words_b.len() {
            let (x, y) = (words_a[i].hash, words_b[j].hash);
            if x == y {
                shared += u32::from(words_a[i].weight);
                i += 1;
                j += 1;
            } else if x < y {
                spare_a.push(i);
                i += 1;
            } else {
                spare_b.push(j);
                j += 1;
            }
        }
        (i..words_a.len()).for_each(|at| spare_a.push(at));
        (j..words_b.len()).for_each(|at| spare_b.push(at));
        let lighter = a.weight.min(b.weight);
        // A slip changes few words: where little is shared or much is missing there is no point.
        let (fewer, more) = (spare_a.count.min(spare_b.count), spare_a.count.max(spare_b.count));
        if fewer <= 6 && shared * 4 >= lighter || fewer <= 2 && more <= 12 {
            let mut at = 0;
            while let Some(x) = spare_a.places().get(at) {
                let x = words_a[usize::from(*x)];
                let found =
                    spare_b.places().iter().position(|y| self.is_slip((a, x), (b, words_b[usize::from(*y)])));
                match found {
                    Some(other) => {
                        let y = words_b[usize::from(spare_b.places()[other])];
                        // A slip makes a common word rare, which says nothing of the title.
                        shared += u32::from(x.weight.min(y.weight)) * 9 / 10;
                        excess += u32::from(x.weight.abs_diff(y.weight));
                        spare_a.remove(at);
                        spare_b.remove(other);
                    }
                    None => at += 1,
                }
            }
        }
        shared += self.run_together((b, words_b, &mut spare_b), (a, words_a, &mut spare_a));
        shared += self.run_together((a, words_a, &mut spare_a), (b, words_b, &mut spare_b));
        let all = (a.weight + b.weight).saturating_sub(shared + excess).max(1);
        if a.is_generic || b.is_generic {
            return match shared * 100 >= all * 85 {
                true => SIMILAR,
                false if self.begins(a, b) => GENERIC,
                false => DIFFERENT,
            };
        }
        let tells = |words: &[Word], spare: &Spare| {
            spare.places().iter().any(|at| words[usize::from(*at)].weight >= TELLING_WORD)
        };
        // Subtitles of which no word is shared say two things, however common their words are.
        let has_own_subtitle = |words: &[Word], spare: &Spare| {
            let subtitle = words.iter().filter(|word| !word.is_proper).count();
            subtitle > 0
                && spare.places().iter().filter(|at| !words[usize::from(**at)].is_proper).count() == subtitle
        };
        let other_subtitle = a.proper != 0
            && a.proper == b.proper
            && has_own_subtitle(words_a, &spare_a)
            && has_own_subtitle(words_b, &spare_b);
        let is_variant =
            (tells(words_a, &spare_a) && tells(words_b, &spare_b)) || other_subtitle || a.rest != b.rest;
        // All that one says the other says before its subtitle, be it with a slip.
        let is_subtitle = |words: &[Word], spare: &Spare| {
            spare.places().iter().all(|at| !words[usize::from(*at)].is_proper)
        };
        let same_proper = (spare_a.count == 0 && is_subtitle(words_b, &spare_b))
            || (spare_b.count == 0 && is_subtitle(words_a, &spare_a))
            || self.begins(a, b);
        let share = shared * 100 / all;
        if is_variant {
            return match share {
                55.. => VARIANT,
                _ if a.proper != 0 && a.proper == b.proper => VARIANT,
                _ if shared * 100 >= lighter * 75 && shared >= self.telling => WEAK,
                30.. => WEAK,
                _ => DIFFERENT,
            };
        }
        match share {
            85.. if shared >= self.telling => NEAR,
            _ if same_proper && lighter >= self.telling => CONTAINED,
            75.. => CONTAINED,
            _ if same_proper => PROPER,
            _ if shared * 100 >= lighter * 95 && shared >= self.telling => SIMILAR,
            55.. => SIMILAR,
            _ if shared * 100 >= lighter * 75 && shared >= self.telling => WEAK,
            _ if spare_a.count == 0 || spare_b.count == 0 => WEAK,
            30.. => WEAK,
            _ => DIFFERENT,
        }
    }

    /// Whether two words may be one: with a slip, in the plural, or cut short.
    fn is_slip(&self, (a, x): (&Entry, Word), (b, y): (&Entry, Word)) -> bool {
        // A word that begins with another has all of its letters.
        let may_begin = x.length.min(y.length) >= 3
            && (x.letters & y.letters == x.letters || x.letters & y.letters == y.letters);
        if !may_begin && !may_be_alike(x.shape(), y.shape()) {
            return false;
        }
        let (x, y) = (self.word(a, x), self.word(b, y));
        (may_begin && (x.starts_with(y) || y.starts_with(x))) || alike(x, y)
    }

    /// Takes out words of one title that are two neighbours of the other, written together: `timesten`,
    /// `times ten`. Gives what they weigh.
    fn run_together(
        &self,
        (a, words_a, spare_a): (&Entry, &[Word], &mut Spare),
        (b, words_b, spare_b): (&Entry, &[Word], &mut Spare),
    ) -> u32 {
        let mut weight = 0;
        if spare_a.count == 0 || spare_b.count < 2 || spare_a.count > 6 || spare_b.count > 12 {
            return weight;
        }
        let mut at = 0;
        while let Some(x) = spare_a.places().get(at) {
            let x = words_a[usize::from(*x)];
            let whole = self.word(a, x);
            let pieces = |i: usize, j: usize| {
                let (y, z) =
                    (words_b[usize::from(spare_b.places[i])], words_b[usize::from(spare_b.places[j])]);
                z.at == y.at + u16::from(y.length) + 1
                    && whole.strip_prefix(self.word(b, y)).is_some_and(|rest| rest == self.word(b, z))
            };
            let every = 0..spare_b.count;
            let found =
                every.clone().flat_map(|i| every.clone().map(move |j| (i, j))).find(|(i, j)| pieces(*i, *j));
            match found {
                Some((i, j)) => {
                    weight += u32::from(x.weight);
                    spare_a.remove(at);
                    // The later place first, so that the other stays where it is.
                    spare_b.remove(i.max(j));
                    spare_b.remove(i.min(j));
                }
                None => at += 1,
            }
        }
        weight
    }

    /// Whether one title is the beginning of the other.
    fn begins(&self, a: &Entry, b: &Entry) -> bool {
        let (x, y) = (self.folded(a), self.folded(b));
        let (short, long) = if x.len() <= y.len() { (x, y) } else { (y, x) };
        long.strip_prefix(short).is_some_and(|rest| rest.starts_with(' '))
    }

    fn folded(&self, entry: &Entry) -> &str {
        self.text
            .get(entry.text as usize..entry.text as usize + usize::from(entry.length))
            .unwrap_or_default()
    }

    fn words(&self, value: u32) -> &[Word] {
        let entry = &self.entries[value as usize];
        &self.words[entry.words as usize..entry.words as usize + usize::from(entry.word_count)]
    }

    fn word(&self, entry: &Entry, word: Word) -> &str {
        let start = entry.text as usize + usize::from(word.at);
        self.text.get(start..start + usize::from(word.length)).unwrap_or_default()
    }

    /// Numbers in the title that designate no part.
    pub fn numbers(&self, value: u32) -> &[u32] {
        let entry = &self.entries[value as usize];
        &self.numbers[entry.numbers as usize..entry.numbers as usize + usize::from(entry.number_count)]
    }

    /// The numbers of parts.
    pub fn parts(&self, value: u32) -> &[u32] {
        let entry = &self.entries[value as usize];
        &self.parts[entry.parts as usize..entry.parts as usize + usize::from(entry.part_count)]
    }

    /// The whole title as one number, for blocking. Titles without telling words have none.
    pub fn whole(&self, value: u32) -> Option<u64> {
        let entry = &self.entries[value as usize];
        (entry.word_count > 0 && !entry.is_generic).then_some(entry.joined)
    }

    /// What stands before other title information as one number.
    pub fn proper(&self, value: u32) -> Option<u64> {
        let entry = &self.entries[value as usize];
        self.whole(value).map(|whole| if entry.proper == 0 { whole } else { entry.proper })
    }

    pub fn is_generic(&self, value: u32) -> bool {
        self.entries[value as usize].is_generic
    }

    /// The rarest words, rarest first; ties by content.
    pub fn rarest(&self, value: u32, most: usize, into: &mut Vec<u32>) {
        self.best(value, most, |word| (u16::MAX - word.weight, word.hash), into);
    }

    /// The first words in the order of the title.
    pub fn first(&self, value: u32, most: usize, into: &mut Vec<u32>) {
        self.best(value, most, |word| (word.at, word.hash), into);
    }

    /// Numbers that titles with most of their letters in common mostly share, however their words are spelled
    /// or run together: the smallest hashes of all three-letter pieces, drawn from `bands` times [`ROWS`] parts
    /// of the hashes (one-permutation minwise hashing), taken together by bands.
    pub fn grams(&self, value: u32, bands: usize, into: &mut Vec<u64>) {
        let entry = &self.entries[value as usize];
        if entry.word_count == 0 || entry.is_generic {
            return;
        }
        let parts = (bands * ROWS).min(MOST_PARTS);
        let mut least = [u64::MAX; MOST_PARTS];
        let letters = self.folded(entry).bytes().filter(|byte| *byte != b' ' && !byte.is_ascii_digit());
        let (mut piece, mut length) = (0_u64, 0);
        for letter in letters {
            piece = (piece << 8 | u64::from(letter)) & 0xFF_FFFF;
            length += 1;
            if length >= 3 {
                let hash = mix(piece, 0x6772_616D);
                let part = (hash >> 32) as usize % parts;
                least[part] = least[part].min(hash & 0xFFFF_FFFF);
            }
        }
        // Few pieces say too little.
        if length < 12 {
            return;
        }
        for band in 0..parts / ROWS {
            let rows = (0..ROWS).map(|row| {
                // A part without a piece takes that of the next one.
                let start = band * ROWS + row;
                (0..parts).map(|step| least[(start + step) % parts]).find(|hash| *hash != u64::MAX)
            });
            into.push(rows.fold(band as u64, |key, hash| mix(key, hash.unwrap_or(0))));
        }
    }

    /// A few words, those of the least rank first.
    fn best(&self, value: u32, most: usize, rank: impl Fn(&Word) -> (u16, u32), into: &mut Vec<u32>) {
        let mut last = None;
        for _ in 0..most {
            let next = self.words(value).iter().map(&rank).filter(|rank| last < Some(*rank)).min();
            let Some(next) = next else { return };
            into.push(next.1);
            last = Some(next);
        }
    }

    pub fn weight_bits(&self, value: u32) -> u32 {
        self.entries[value as usize].weight / UNIT
    }
}

/// Where other title information, responsibility or a parallel title begins.
fn proper_end(title: &str) -> usize {
    const CUTS: [&str; 11] = [" : ", ": ", " / ", " ; ", "; ", " = ", " -- ", " (", " [", "? ", ", or, "];
    let bytes = title.as_bytes();
    let begins = |at: &usize| {
        matches!(bytes[*at], b' ' | b':' | b';' | b'?' | b',')
            && CUTS.iter().any(|cut| bytes[*at..].starts_with(cut.as_bytes()))
    };
    (1..bytes.len()).find(begins).unwrap_or(bytes.len())
}

/// The title without words in square brackets that name a material.
fn without_material(title: &str, words: &Words) -> Option<String> {
    let start = title.find('[')?;
    let end = start + title.get(start..)?.find(']')?;
    let inside = fold(title.get(start + 1..end)?);
    if !inside.split(' ').any(|word| words.materials.contains(word)) {
        return None;
    }
    Some(format!("{} {}", title.get(..start)?, title.get(end + 1..)?))
}

fn read(title: &str, words: &Words, bare: bool) -> Read {
    let stripped = if title.contains('[') { without_material(title, words) } else { None };
    let title = stripped.as_deref().unwrap_or(title);
    let cut = proper_end(title);
    let mut text = fold(title.get(..cut).unwrap_or(title));
    let proper_length = text.len();
    if let Some(rest) = title.get(cut..) {
        let rest = fold(rest);
        if !rest.is_empty() {
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(&rest);
        }
    }
    text.truncate(text.char_indices().nth(LONGEST).map_or(text.len(), |(at, _)| at));
    let spans: Vec<(usize, &str)> = {
        let mut at = 0;
        text.split(' ')
            .map(|word| {
                let here = at;
                at += word.len() + 1;
                (here, word)
            })
            .collect()
    };
    let is_generic = {
        let mut bare = text.as_str();
        for article in ["the ", "a ", "an ", "der ", "die ", "das ", "le ", "la ", "les "] {
            bare = bare.strip_prefix(article).unwrap_or(bare);
        }
        words.generic.contains(bare)
    };
    let mut numbers = Vec::new();
    let mut parts = Vec::new();
    let mut kept: Vec<(usize, &str)> = Vec::new();
    let mut at = 0;
    while let Some(&(start, word)) = spans.get(at) {
        at += 1;
        if word.is_empty() {
            continue;
        }
        let next = spans.get(at).map(|(_, word)| *word);
        if words.designations.contains(word)
            && let Some(number) = next.and_then(|next| words.number(next).or_else(|| letter(next)))
        {
            parts.push(number);
            at += 1;
            continue;
        }
        // `second part`, `2. Band`
        if let Some(number) = Words::digits(word).or_else(|| words.spelled(word))
            && number < 1000
            && next.is_some_and(|next| next.len() > 1 && words.designations.contains(next))
            && spans.get(at + 1).is_none_or(|(_, after)| words.number(after).is_none())
        {
            // `in 6 parts` says how many there are.
            if next.is_some_and(|next| !next.ends_with('s') && next != "bde") {
                parts.push(number);
            }
            at += 1;
            continue;
        }
        if bare && let Some(number) = words.number(word) {
            parts.push(number);
            continue;
        }
        // A letter alone or a word like `mix` is no numeral; `ii` and `xiv` are.
        let is_numeral = || word.len() > 1 && word.bytes().all(|byte| matches!(byte, b'i' | b'v' | b'x'));
        if let Some(number) = Words::digits(word)
            .or_else(|| words.spelled(word))
            .or_else(|| if at > 1 && is_numeral() { roman(word) } else { None })
        {
            numbers.push(number);
            continue;
        }
        kept.push((start, word));
    }
    let telling: Vec<(usize, &str)> =
        kept.iter().copied().filter(|(_, word)| !words.small.contains(*word)).collect();
    let mut kept = if telling.is_empty() { kept } else { telling };
    if kept.is_empty() && !bare {
        // A title of numbers: they are its words.
        kept = spans.iter().copied().filter(|(_, word)| !word.is_empty()).collect();
        if parts.is_empty() {
            numbers.clear();
        }
    }
    let joined_of = |words: &mut dyn Iterator<Item = &str>| {
        let joined: String = words.collect();
        hash64(&joined)
    };
    let joined = joined_of(&mut kept.iter().map(|(_, word)| *word));
    let proper_count = kept.iter().filter(|(start, _)| *start < proper_length).count();
    let proper = if proper_count == kept.len() || proper_count == 0 {
        0
    } else {
        joined_of(&mut kept.iter().take(proper_count).map(|(_, word)| *word))
    };
    let mut read: Vec<Word> = kept
        .iter()
        .map(|(start, word)| Word {
            hash: hash32(word),
            at: (*start).min(usize::from(u16::MAX)) as u16,
            length: word.len().min(255) as u8,
            is_proper: *start < proper_length,
            weight: 0,
            letters: letters(word),
        })
        .collect();
    read.sort_unstable_by_key(|word| (word.hash, word.at));
    // A word that comes again is another one: `Finland : maps, Finland` is not `Finland : maps, Sweden`.
    let again: Vec<usize> = (1..read.len()).filter(|at| read[*at].hash == read[at - 1].hash).collect();
    for at in again.into_iter().rev() {
        let before = read[..at].iter().rev().take_while(|word| word.hash == read[at].hash).count();
        read[at].hash = mix(u64::from(read[at].hash), before as u64) as u32;
    }
    read.sort_unstable_by_key(|word| (word.hash, word.at));
    read.dedup_by_key(|word| word.hash);
    let rest = if read.len() > MOST_WORDS {
        // The first ones in the order of the title are kept.
        read.sort_unstable_by_key(|word| word.at);
        let rest = read.drain(MOST_WORDS..).fold(0, |sum, word| mix(sum, u64::from(word.hash)));
        read.sort_unstable_by_key(|word| word.hash);
        (rest as u32).max(1)
    } else {
        0
    };
    for list in [&mut numbers, &mut parts] {
        list.sort_unstable();
        list.dedup();
        list.truncate(20);
    }
    let characters = hash64(&text.replace(' ', ""));
    Read { text, words: read, numbers, parts, is_generic, joined, characters, proper, rest }
}

/// A part may be called by a letter. Far from all numbers, so that `part B` is not part 2.
fn letter(word: &str) -> Option<u32> {
    let mut letters = word.chars();
    let letter = letters.next()?;
    (letters.next().is_none() && letter.is_ascii_lowercase()).then(|| 1_000_000 + letter as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feature::Builder;

    /// The level of two titles among others that make their words neither rare nor common.
    fn level(left: &str, right: &str) -> &'static str {
        let words = Words::parse(include_str!("../../../../mappings/resolve/words.toml")).unwrap();
        let mut builder = Builder::default();
        for (number, title) in [left, right].into_iter().enumerate() {
            let record = builder.record("s", &number.to_string());
            builder.add(record, "title", title);
        }
        for number in 0..200 {
            let record = builder.record("s", &format!("other {number}"));
            builder.add(record, "title", &format!("word{number} maps report{}", number % 3));
        }
        let table = builder.finish();
        let column = table.column("title").unwrap();
        let mut titles = Titles::read(column, &words, false);
        let mut terms = Terms::new(table.len() as u32);
        titles.count(column, table.len() as u32, &mut terms);
        titles.weigh(&terms);
        let (a, b) = (table.find("s", "0").unwrap(), table.find("s", "1").unwrap());
        LEVELS[usize::from(titles.level(column, a, b)) - 1]
    }

    #[test]
    fn a_word_that_comes_again_counts_again() {
        assert_eq!(
            level("Finland statistics : maps of Finland", "Finland statistics : maps of Sweden"),
            "variant"
        );
        assert_eq!(
            level("Geology of Ohio rivers : Ohio", "Geology of Ohio rivers : Ohio").split('-').next(),
            Some("exact")
        );
    }

    #[test]
    fn subtitles_without_a_word_in_common_are_two_titles_however_common_their_words() {
        assert_eq!(level("Annual tables of trade : maps", "Annual tables of trade : report1"), "variant");
    }

    #[test]
    fn a_blank_in_the_wrong_place_changes_nothing() {
        assert!(level("Handbook of garden in winter", "Handbook of gardeni n winter").starts_with("exact"));
    }
}
