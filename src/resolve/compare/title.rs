//! Titles: words by their weight, with numbers and part designations apart.
//!
//! A title is read once: what stands before other title information (*proper*), the words that
//! are not small, the numbers, and the parts (`v. 2`, `second part`). Words weigh as many bits
//! as their rarity is worth. Two titles are then compared by merging two sorted lists; only
//! words that one title lacks are looked at letter by letter.

use rayon::prelude::*;

use super::card;
use super::edit::{alike, letters, may_be_alike};
use super::terms::{Terms, UNIT};
use crate::resolve::feature::{Column, Id};
use crate::resolve::fold::{fold, hash32, hash64, roman};
use crate::resolve::words::Words;

/// Levels, best first.
pub const LEVELS: &[&str] =
    &["exact-rare", "exact", "near", "exact-common", "contained", "similar", "generic", "weak", "different"];
const EXACT_RARE: u8 = 1;
const EXACT: u8 = 2;
const NEAR: u8 = 3;
const EXACT_COMMON: u8 = 4;
const CONTAINED: u8 = 5;
const SIMILAR: u8 = 6;
const GENERIC: u8 = 7;
const WEAK: u8 = 8;
const DIFFERENT: u8 = 9;

/// More words than this are cut off; a title that long is told apart by fewer.
const MOST_WORDS: usize = 40;

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
    /// Of the words before other title information; 0 when there are no others.
    proper: u64,
    weight: u32,
    proper_weight: u32,
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
    proper: u64,
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
            proper: read.proper,
            weight: 0,
            proper_weight: 0,
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
                terms.extend(self.words(*value).iter().map(|word| word.hash));
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
        if a.joined == b.joined {
            return match a.weight {
                _ if a.is_generic => GENERIC,
                weight if weight >= 2 * self.telling => EXACT_RARE,
                weight if weight >= self.telling => EXACT,
                _ => EXACT_COMMON,
            };
        }
        let mut spare_a = [0_u8; MOST_WORDS];
        let mut spare_b = [0_u8; MOST_WORDS];
        let (mut spares_a, mut spares_b) = (0, 0);
        let (words_a, words_b) = (self.words(left), self.words(right));
        let mut shared = 0_u32;
        let (mut i, mut j) = (0, 0);
        while i < words_a.len() && j < words_b.len() {
            let (x, y) = (words_a[i].hash, words_b[j].hash);
            if x == y {
                shared += u32::from(words_a[i].weight);
                i += 1;
                j += 1;
            } else if x < y {
                spare_a[spares_a] = i as u8;
                spares_a += 1;
                i += 1;
            } else {
                spare_b[spares_b] = j as u8;
                spares_b += 1;
                j += 1;
            }
        }
        for at in i..words_a.len() {
            spare_a[spares_a] = at as u8;
            spares_a += 1;
        }
        for at in j..words_b.len() {
            spare_b[spares_b] = at as u8;
            spares_b += 1;
        }
        // A slip changes few words: where little is shared or much is missing there is no point.
        let lighter = a.weight.min(b.weight);
        if spares_a.min(spares_b) <= 6 && shared * 4 >= lighter || spares_a.max(spares_b) <= 2 {
            for x in &spare_a[..spares_a] {
                let x = words_a[usize::from(*x)];
                for spare in &mut spare_b[..spares_b] {
                    if usize::from(*spare) >= MOST_WORDS {
                        continue;
                    }
                    let y = words_b[usize::from(*spare)];
                    if may_be_alike(x.shape(), y.shape()) && alike(self.word(a, x), self.word(b, y)) {
                        shared += u32::from(x.weight.min(y.weight)) * 9 / 10;
                        *spare = u8::MAX;
                        break;
                    }
                }
            }
        }
        let all = (a.weight + b.weight).saturating_sub(shared).max(1);
        let same_proper = (a.proper != 0 && a.proper == b.joined) || (b.proper != 0 && b.proper == a.joined);
        let same_proper = same_proper || self.begins(a, b);
        if a.is_generic || b.is_generic {
            return if shared * 100 >= all * 85 { SIMILAR } else { DIFFERENT };
        }
        match shared * 100 / all {
            85.. if shared >= self.telling => NEAR,
            _ if same_proper && lighter >= self.telling => CONTAINED,
            75.. => CONTAINED,
            _ if same_proper => SIMILAR,
            _ if shared * 100 >= lighter * 95 && shared >= self.telling => SIMILAR,
            55.. => SIMILAR,
            _ if shared * 100 >= lighter * 75 && shared >= self.telling => WEAK,
            30.. => WEAK,
            _ => DIFFERENT,
        }
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
    text.truncate(text.char_indices().nth(4000).map_or(text.len(), |(at, _)| at));
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
            parts.push(number);
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
    kept.truncate(MOST_WORDS);
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
    read.dedup_by_key(|word| word.hash);
    for list in [&mut numbers, &mut parts] {
        list.sort_unstable();
        list.dedup();
        list.truncate(20);
    }
    Read { text, words: read, numbers, parts, is_generic, joined, proper }
}

/// A part may be called by a letter. Far from all numbers, so that `part B` is not part 2.
fn letter(word: &str) -> Option<u32> {
    let mut letters = word.chars();
    let letter = letters.next()?;
    (letters.next().is_none() && letter.is_ascii_lowercase()).then(|| 1_000_000 + letter as u32)
}
