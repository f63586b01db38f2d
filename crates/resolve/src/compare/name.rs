//! Names of persons and bodies.
//!
//! `Gloria Perez`, `G. Perez` and `Perez, G.` may be one person, so a name is a small set of
//! words and initials, one of which is known to be of the surname when the form is inverted.
//! Persons' words that differ are aligned locally (Smith-Waterman), bodies' are compared by
//! Damerau-Levenshtein. The creators of two records are compared as sets.

use rayon::prelude::*;

use super::card;
use super::edit::{alike, damerau, letters, levenshtein, may_be_alike, neighbours, smith_waterman};
use super::terms::Terms;
use crate::feature::{Column, Id};
use crate::fold::{fold, hash32, mix};
use crate::words::Words;

/// Levels, best first.
pub const LEVELS: &[&str] = &["same-rare", "same", "compatible", "some", "similar", "mentioned", "different"];
const SAME_RARE: u8 = 1;
const SAME: u8 = 2;
const COMPATIBLE: u8 = 3;
const SOME: u8 = 4;
const SIMILAR: u8 = 5;
const MENTIONED: u8 = 6;
const DIFFERENT: u8 = 7;

/// Bits by which names may fall short of telling one record from all others and still be rare: a few
/// records may share them.
const SHORT: u32 = 40;

const MOST_WORDS: usize = 6;
/// Records with more names are compared by the first so many.
const MOST_NAMES: usize = 16;

/// How letters are compared where words differ.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// Smith-Waterman for persons, Damerau-Levenshtein for bodies.
    #[default]
    ByKind,
    SmithWaterman,
    DamerauLevenshtein,
    Levenshtein,
}

/// How two names go together, worst first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Agreement {
    Conflict,
    Similar,
    Compatible,
    Full,
}

/// What tells most names apart, small enough to be near at hand.
#[derive(Clone, Copy, Default)]
struct Sketch {
    /// A bit for each whole word, folded into 64.
    words: u64,
    /// A bit for each pair of neighbouring letters, folded into 64.
    neighbours: u64,
    /// A bit for each first letter, of all words and of those that are initials.
    firsts: u32,
    initials: u32,
    born: u16,
    count: u8,
    is_body: bool,
}

impl Sketch {
    /// Whether not one word or initial of two persons' names goes together.
    fn is_disjoint(self, other: Self) -> bool {
        self.words & other.words == 0
            && self.initials & other.firsts == 0
            && other.initials & self.firsts == 0
    }

    /// Names with few neighbouring letters in common need no alignment.
    fn may_align(self, other: Self) -> bool {
        let common = (self.neighbours & other.neighbours).count_ones();
        common * 10 >= self.neighbours.count_ones().min(other.neighbours.count_ones()) * 7
    }
}

#[derive(Clone, Default)]
struct Name {
    words: [u32; MOST_WORDS],
    /// First letters; of a word that is an initial it is all there is.
    letters: [u8; MOST_WORDS],
    /// A bit for each word that is an initial.
    initials: u8,
    /// A bit for each word that may be of the surname.
    surname: u8,
    count: u8,
    is_body: bool,
    text: u32,
    length: u16,
    /// Length and letters of each word.
    shapes: [(u8, u16); MOST_WORDS],
}

/// The names of a column, read, and the texts in which names may be mentioned.
pub struct Names {
    sketches: Vec<Sketch>,
    names: Vec<Name>,
    text: String,
    measure: Measure,
    /// By value: the words of each statement of responsibility, sorted.
    mentions: Vec<Vec<u32>>,
    /// By value: what its rarity is worth, and what it takes to be rare.
    rarity: Vec<u16>,
    rare: u32,
}

impl Names {
    pub fn read(column: &Column, mentions: Option<&Column>, words: &Words, measure: Measure) -> Self {
        let count = column.strings().len() as u32;
        let read: Vec<(Name, Sketch, String)> =
            (0..count).into_par_iter().map(|value| read(column.strings().get(value), words)).collect();
        let mut text = String::new();
        let mut sketches = Vec::with_capacity(read.len());
        let names = read
            .into_iter()
            .map(|(mut name, sketch, folded)| {
                sketches.push(sketch);
                name.text = text.len() as u32;
                name.length = folded.len() as u16;
                text.push_str(&folded);
                name
            })
            .collect();
        let mentions = mentions.map(|mentions| {
            let count = mentions.strings().len() as u32;
            (0..count)
                .into_par_iter()
                .map(|value| {
                    let folded = fold(mentions.strings().get(value));
                    let mut words: Vec<u32> =
                        folded.split(' ').filter(|word| word.len() > 1).map(hash32).collect();
                    words.sort_unstable();
                    words.dedup();
                    words
                })
                .collect()
        });
        let mentions = mentions.unwrap_or_default();
        Self { sketches, names, text, measure, mentions, rarity: Vec::new(), rare: u32::MAX }
    }

    /// Counts in how many records each name occurs. One form of a name stands for all with its surname and
    /// first letters.
    pub fn count(&self, column: &Column, records: u32, terms: &mut Terms) {
        for record in 0..records {
            terms.extend(column.of(record).iter().map(|value| self.person(*value)));
        }
    }

    /// Gives names what their rarity is worth.
    pub fn weigh(&mut self, terms: &Terms) {
        self.rare = terms.telling().saturating_sub(SHORT);
        self.rarity = (0..self.names.len() as u32).map(|value| terms.weight(self.person(value))).collect();
    }

    /// A number for surname and first letters, or for the name of a body.
    fn person(&self, value: u32) -> u32 {
        let name = &self.names[value as usize];
        if name.is_body {
            return hash32(self.text(name));
        }
        let mut parts: Vec<u32> = (0..usize::from(name.count))
            .map(
                |at| if (name.surname >> at) & 1 == 1 { name.words[at] } else { u32::from(name.letters[at]) },
            )
            .collect();
        parts.sort_unstable();
        parts.iter().fold(0_u64, |sum, part| mix(sum, u64::from(*part))) as u32
    }

    /// How the creators of two records go together.
    pub fn level(&self, column: &Column, mentions: Option<&Column>, left: Id, right: Id) -> u8 {
        let (a, b) = (column.of(left), column.of(right));
        if a.is_empty() || b.is_empty() {
            let mentioned = (!a.is_empty() && self.mentions(mentions, right, a) == Some(true))
                || (!b.is_empty() && self.mentions(mentions, left, b) == Some(true));
            return if mentioned {
                MENTIONED
            } else if self.shared_mention(mentions, left, right) {
                COMPATIBLE
            } else {
                0
            };
        }
        let level = self.sets(a, b);
        if level == DIFFERENT
            && (self.mentions(mentions, right, a) == Some(true)
                || self.mentions(mentions, left, b) == Some(true))
        {
            return MENTIONED;
        }
        level
    }

    pub fn card(&self, column: &Column, record: Id) -> u32 {
        card::of_values(column.of(record).iter().copied())
    }

    /// As [`level`](Self::level), where statements of responsibility do not matter.
    pub fn by_cards(&self, has_mentions: bool, left: u32, right: u32) -> Option<u8> {
        match card::values(left, right) {
            Ok((a, b)) => Some(self.sets(&[a], &[b])).filter(|level| *level != DIFFERENT || !has_mentions),
            Err(known) => known.filter(|_| !has_mentions),
        }
    }

    /// Something of the name on a card; see [`Comparer::fetch_cards`](super::Comparer::fetch_cards).
    pub fn fetch(&self, card: u32) -> u64 {
        let at = card.wrapping_sub(1) as usize;
        let sketch = self.sketches.get(at).map_or(0, |sketch| sketch.words);
        sketch ^ self.names.get(at).map_or(0, |name| u64::from(name.words[0]))
    }

    fn sets(&self, left: &[u32], right: &[u32]) -> u8 {
        let (few, many) = if left.len() <= right.len() { (left, right) } else { (right, left) };
        let few = few.get(..MOST_NAMES.min(few.len())).unwrap_or(few);
        let many = many.get(..MOST_NAMES.min(many.len())).unwrap_or(many);
        let (mut full, mut compatible, mut similar, mut rarity) = (0, 0, 0, 0);
        for x in few {
            let mut best = Agreement::Conflict;
            for y in many {
                best = best.max(self.agreement(*x, *y));
                if best == Agreement::Full {
                    break;
                }
            }
            match best {
                Agreement::Full => {
                    full += 1;
                    rarity += self.rarity.get(*x as usize).copied().map_or(0, u32::from);
                }
                Agreement::Compatible => compatible += 1,
                Agreement::Similar => similar += 1,
                Agreement::Conflict => {}
            }
        }
        let found = full + compatible;
        if full == few.len() {
            if rarity >= self.rare { SAME_RARE } else { SAME }
        } else if found == few.len() || (found > 0 && found + similar == few.len()) {
            COMPATIBLE
        } else if found > 0 {
            SOME
        } else if similar > 0 {
            SIMILAR
        } else {
            DIFFERENT
        }
    }

    /// How two names of this column go together.
    pub fn agreement(&self, left: u32, right: u32) -> Agreement {
        if left == right {
            return Agreement::Full;
        }
        let (a, b) = (self.sketches[left as usize], self.sketches[right as usize]);
        if a.count == 0 || b.count == 0 {
            return Agreement::Conflict;
        }
        // A slip may hide that a name is a body's.
        if a.is_body || b.is_body {
            return self.bodies(&self.names[left as usize], &self.names[right as usize]);
        }
        if a.born != 0 && b.born != 0 && a.born.abs_diff(b.born) > 1 {
            return Agreement::Conflict;
        }
        if a.is_disjoint(b) && !a.may_align(b) {
            return Agreement::Conflict;
        }
        if self.text(&self.names[left as usize]) == self.text(&self.names[right as usize]) {
            return Agreement::Full;
        }
        self.persons(&self.names[left as usize], &self.names[right as usize], a.may_align(b))
    }

    fn persons(&self, a: &Name, b: &Name, may_align: bool) -> Agreement {
        let (few, many) = if a.count <= b.count { (a, b) } else { (b, a) };
        // Who is known by one name is called a little otherwise in every language: Homer, Homère, Homerus.
        if many.count == 1 && few.initials == 0 {
            let (x, y) = (self.text(few), self.text(many));
            let begins = x.len().min(y.len()) >= 4 && (x.starts_with(y) || y.starts_with(x));
            return if begins || alike(x, y) { Agreement::Compatible } else { Agreement::Conflict };
        }
        let mut taken = 0_u8;
        let (mut full, mut initials, mut spare) = (0, 0, 0);
        let mut surname = false;
        // Whole words first, so that an initial does not take the word of another.
        let mut open = 0_u8;
        for i in 0..usize::from(few.count) {
            let found = (0..usize::from(many.count)).find(|j| {
                taken & (1 << j) == 0
                    && few.words[i] == many.words[*j]
                    && (few.initials >> i) & 1 == (many.initials >> j) & 1
            });
            match found {
                Some(j) => {
                    taken |= 1 << j;
                    if (few.initials >> i) & 1 == 1 {
                        initials += 1;
                    } else {
                        full += 1;
                        surname |= (few.surname >> i) & 1 == 1 && (many.surname >> j) & 1 == 1;
                    }
                }
                None => open |= 1 << i,
            }
        }
        for i in 0..usize::from(few.count) {
            if open & (1 << i) == 0 {
                continue;
            }
            let found = (0..usize::from(many.count)).find(|j| {
                let is_initial = (few.initials >> i) & 1 == 1 || (many.initials >> j) & 1 == 1;
                taken & (1 << j) == 0 && is_initial && few.letters[i] == many.letters[*j]
            });
            match found {
                Some(j) => {
                    taken |= 1 << j;
                    initials += 1;
                }
                None => spare += 1,
            }
        }
        if surname && spare == 0 {
            // A surname alone fits everyone of the name, and says little.
            return match (full, initials) {
                (2.., _) => Agreement::Full,
                (_, 1..) => Agreement::Compatible,
                _ if few.count == many.count => Agreement::Compatible,
                _ => Agreement::Similar,
            };
        }
        // One word spelled otherwise: `Jon Smith`, `Smyth, John`.
        let missing = usize::from(few.count) - full - initials;
        if missing == 1 && (full > 0 || initials > 0) && self.one_alike(few, many, open, taken) {
            return if surname && full >= 2 { Agreement::Compatible } else { Agreement::Similar };
        }
        if full >= 2 && surname && spare <= 1 && usize::from(few.count) >= 3 {
            return Agreement::Similar;
        }
        if !may_align {
            return Agreement::Conflict;
        }
        let alike = match self.measure {
            Measure::ByKind | Measure::SmithWaterman => {
                few.count > 1 && smith_waterman(self.text(few).as_bytes(), self.text(many).as_bytes()) >= 0.9
            }
            Measure::DamerauLevenshtein => self.near(few, many, damerau),
            Measure::Levenshtein => self.near(few, many, levenshtein),
        };
        if alike { Agreement::Similar } else { Agreement::Conflict }
    }

    /// Whether the one word left over has a counterpart with a slip in it, or cut short.
    fn one_alike(&self, few: &Name, many: &Name, open: u8, taken: u8) -> bool {
        let mut left = (0..usize::from(few.count)).filter(|i| open & (1 << i) != 0);
        left.any(|i| {
            let mut right = (0..usize::from(many.count)).filter(|j| taken & (1 << j) == 0);
            right.any(|j| {
                let ((m, x), (n, y)) = (few.shapes[i], many.shapes[j]);
                let may_begin = m.min(n) >= 3 && (x & y == x || x & y == y);
                if !may_begin && !may_be_alike((usize::from(m), x), (usize::from(n), y)) {
                    return false;
                }
                let (x, y) = (self.word(few, i), self.word(many, j));
                alike(x, y) || (x.len().min(y.len()) >= 3 && (x.starts_with(y) || y.starts_with(x)))
            })
        })
    }

    fn word(&self, name: &Name, at: usize) -> &str {
        self.text(name).split(' ').nth(at).unwrap_or_default()
    }

    fn bodies(&self, a: &Name, b: &Name) -> Agreement {
        let (x, y) = (self.text(a), self.text(b));
        if x == y {
            return Agreement::Full;
        }
        let near = match self.measure {
            Measure::ByKind | Measure::DamerauLevenshtein => self.near(a, b, damerau),
            Measure::Levenshtein => self.near(a, b, levenshtein),
            Measure::SmithWaterman => smith_waterman(x.as_bytes(), y.as_bytes()) >= 0.85,
        };
        if near || x.starts_with(y) || y.starts_with(x) {
            return Agreement::Compatible;
        }
        let words = |name: &Name| name.words[..usize::from(name.count)].to_vec();
        let (left, right) = (words(a), words(b));
        let shared = left.iter().filter(|word| right.contains(word)).count();
        if shared * 3 >= left.len().min(right.len()) * 2 && shared >= 2 {
            Agreement::Similar
        } else {
            Agreement::Conflict
        }
    }

    fn near(&self, a: &Name, b: &Name, distance: fn(&[u8], &[u8], usize) -> Option<usize>) -> bool {
        let (x, y) = (self.text(a).as_bytes(), self.text(b).as_bytes());
        let most = x.len().min(y.len()) / 8;
        distance(x, y, most.min(6)).is_some()
    }

    /// Whether a record's statements of responsibility name one of these. `None`: it has none.
    fn mentions(&self, column: Option<&Column>, record: Id, names: &[u32]) -> Option<bool> {
        let statements = column?.of(record);
        if statements.is_empty() {
            return None;
        }
        let found = statements.iter().any(|statement| {
            let words = &self.mentions[*statement as usize];
            names.iter().any(|name| {
                let name = &self.names[*name as usize];
                let whole = |i: &usize| (name.initials >> i) & 1 == 0;
                let surname = |i: &usize| (name.surname >> i) & 1 == 1 || name.is_body;
                let mut own = (0..usize::from(name.count)).filter(whole).filter(surname);
                own.any(|i| words.binary_search(&name.words[i]).is_ok())
            })
        });
        Some(found)
    }

    /// Whether two records without creators have statements that share most of their words.
    fn shared_mention(&self, column: Option<&Column>, left: Id, right: Id) -> bool {
        let Some(column) = column else { return false };
        column.of(left).iter().any(|x| {
            column.of(right).iter().any(|y| {
                let (a, b) = (&self.mentions[*x as usize], &self.mentions[*y as usize]);
                let shared = a.iter().filter(|word| b.binary_search(word).is_ok()).count();
                shared >= 2 && shared * 10 >= a.len().min(b.len()) * 8
            })
        })
    }

    fn text(&self, name: &Name) -> &str {
        self.text.get(name.text as usize..name.text as usize + usize::from(name.length)).unwrap_or_default()
    }

    /// The surnames a name may be blocked by: all words that may be one.
    pub fn surnames(&self, value: u32, into: &mut Vec<u32>) {
        let name = &self.names[value as usize];
        if name.is_body {
            into.push(hash32(self.text(name)));
            return;
        }
        for i in (0..usize::from(name.count)).filter(|i| (name.surname >> i) & 1 == 1) {
            into.push(name.words[i]);
        }
    }

    /// The sound of the surnames: Soundex of each.
    pub fn sounds(&self, value: u32, into: &mut Vec<u32>) {
        let name = &self.names[value as usize];
        for (i, word) in self.text(name).split(' ').enumerate() {
            if name.is_body || i < 8 && (name.surname >> i) & 1 == 1 {
                into.push(sound(word));
            }
        }
    }

    /// Every whole word of the name.
    pub fn words(&self, value: u32, into: &mut Vec<u32>) {
        let name = &self.names[value as usize];
        into.extend(
            (0..usize::from(name.count)).filter(|i| (name.initials >> i) & 1 == 0).map(|i| name.words[i]),
        );
    }
}

fn read(raw: &str, words: &Words) -> (Name, Sketch, String) {
    let mut name = Name::default();
    let mut years = raw
        .split(|letter: char| !letter.is_ascii_digit())
        .filter(|digits| digits.len() == 4)
        .filter_map(|digits| digits.parse::<u16>().ok());
    let mut sketch = Sketch { born: years.next().unwrap_or(0), ..Sketch::default() };
    let (before, after) = raw.split_once(',').unwrap_or((raw, ""));
    let family = fold(before);
    // After a second comma come titles and dates; in brackets stands what initials stand for.
    let after = after.split(',').find(|part| part.chars().any(char::is_alphabetic)).unwrap_or_default();
    let spelled = after.split_once('(').and_then(|(_, rest)| rest.split(')').next());
    let given = fold(spelled.filter(|name| name.trim().len() > 2).unwrap_or(after));
    let family: Vec<&str> = family.split(' ').filter(|word| is_name(word)).collect();
    let given: Vec<&str> =
        given.split(' ').filter(|word| is_name(word) && !words.roles.contains(*word)).collect();
    name.is_body = family.iter().chain(&given).any(|word| words.is_body(word));
    let mut kept: Vec<(&str, bool)> = Vec::new();
    let is_particle = |word: &&str| words.roles.contains(*word);
    if name.is_body {
        kept.extend(
            family
                .iter()
                .chain(&given)
                .filter(|word| !words.small.contains(**word))
                .map(|word| (*word, true)),
        );
    } else if !given.is_empty() {
        kept.extend(family.iter().filter(|word| !is_particle(word)).map(|word| (*word, true)));
        if kept.is_empty() {
            kept.extend(family.iter().map(|word| (*word, true)));
        }
        kept.extend(given.iter().map(|word| (*word, false)));
    } else {
        let is_small = |word: &&str| word.len() > 1 && words.small.contains(*word);
        let direct: Vec<&str> =
            family.iter().copied().filter(|word| !is_particle(word) && !is_small(word)).collect();
        let direct = if direct.is_empty() { family } else { direct };
        let last = direct.len().saturating_sub(1);
        // Before the last word only a whole word can belong to the surname: `Garcia Molina`.
        let may_be =
            |at: usize, word: &str| at == last || (at > 0 && at + 1 == last && word.chars().count() > 1);
        kept.extend(direct.iter().enumerate().map(|(at, word)| (*word, may_be(at, word))));
    }
    let mut folded = String::new();
    for (word, of_surname) in kept {
        if !folded.is_empty() {
            folded.push(' ');
        }
        folded.push_str(word);
        let at = usize::from(name.count);
        if at < MOST_WORDS {
            name.words[at] = hash32(word);
            name.letters[at] = word.as_bytes().first().copied().unwrap_or(0);
            name.shapes[at] = (word.len().min(255) as u8, letters(word));
            let is_initial = word.chars().count() == 1 && !name.is_body;
            let first = 1 << (name.letters[at] % 32);
            sketch.firsts |= first;
            if is_initial {
                sketch.initials |= first;
            } else {
                sketch.words |= 1 << (name.words[at] % 64);
            }
            name.initials |= u8::from(is_initial) << at;
            name.surname |= u8::from(of_surname && !is_initial) << at;
            name.count += 1;
        }
    }
    sketch.neighbours = neighbours(&folded);
    sketch.count = name.count;
    sketch.is_body = name.is_body;
    folded.truncate(folded.char_indices().nth(400).map_or(folded.len(), |(at, _)| at));
    (name, sketch, folded)
}

fn is_name(word: &str) -> bool {
    !word.is_empty() && !word.bytes().any(|byte| byte.is_ascii_digit())
}

/// Soundex, as a number: the letter and three digits.
fn sound(word: &str) -> u32 {
    let code = |byte: u8| match byte {
        b'b' | b'f' | b'p' | b'v' => 1,
        b'c' | b'g' | b'j' | b'k' | b'q' | b's' | b'x' | b'z' => 2,
        b'd' | b't' => 3,
        b'l' => 4,
        b'm' | b'n' => 5,
        b'r' => 6,
        _ => 0_u32,
    };
    let bytes = word.as_bytes();
    let first = bytes.first().copied().unwrap_or(0);
    let (mut sound, mut digits, mut last) = (u32::from(first), 0, code(first));
    for byte in bytes.iter().skip(1) {
        let here = code(*byte);
        if here != 0 && here != last && digits < 3 {
            sound = sound * 10 + here;
            digits += 1;
        }
        if !matches!(byte, b'h' | b'w') {
            last = here;
        }
    }
    while digits < 3 {
        sound *= 10;
        digits += 1;
    }
    sound
}
