//! Tells which Cyrillic code page a text is written in.
//!
//! All of them give letters for nearly all of their codes, so a wrong one gives words too, but of the
//! wrong letters: rare ones, and capitals inside words. The text is read in each code page and judged
//! by how common its letters are.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use super::Charset;
use super::iso2022::Code;
use super::tables::{Glyph, code_page, rows};

const LETTERS_TSV: &str = include_str!("tables/cyrillic-letters.tsv");

/// In order of preference when two fit alike.
const CANDIDATES: [Charset; 4] = [Charset::Cp1251, Charset::Koi8R, Charset::Cp866, Charset::Iso8859_5];

/// The mean frequency of a letter must reach this. Records in Russian have 55 on average; read in the
/// wrong code page they stay below 39, and Greek and Hebrew stay below 42.
const THRESHOLD: i64 = 45;

/// What a code costs that is no letter, or a capital behind a small letter.
const MISFIT: i64 = -60;

static LETTERS: LazyLock<FxHashMap<char, i64>> = LazyLock::new(|| {
    let row = |row: &'static str| {
        let (letter, thousandths) = row.split_once('\t')?;
        Some((letter.chars().next()?, thousandths.parse().ok()?))
    };
    rows(LETTERS_TSV).filter_map(row).collect()
});

/// The Cyrillic code page that `bytes` fit, if any; `declared` if it fits as well as the best.
pub(super) fn recognize(bytes: &[u8], declared: Charset) -> Option<Charset> {
    let scored = [declared].into_iter().chain(CANDIDATES).map(|charset| (charset, score(bytes, charset)));
    // The first of equals wins, so the declared set is asked first.
    let best = scored.reduce(|best, next| if next.1 > best.1 { next } else { best })?;
    (best.1 >= THRESHOLD).then_some(best.0)
}

/// The mean frequency of the letters that the codes above ASCII stand for.
fn score(bytes: &[u8], charset: Charset) -> i64 {
    let weights = weights(charset);
    let (mut sum, mut count) = (0, 0);
    let mut after_small = false;
    for &byte in bytes {
        if byte.is_ascii() {
            after_small = false;
            continue;
        }
        let weight = weights.get(usize::from(byte & 0x7f)).copied().flatten();
        count += 1;
        sum += match weight {
            Some(Weight { frequency, capital }) if !(capital && after_small) => frequency,
            _ => MISFIT,
        };
        after_small = weight.is_some_and(|weight| !weight.capital);
    }
    if count == 0 { 0 } else { sum / count }
}

#[derive(Clone, Copy)]
struct Weight {
    frequency: i64,
    capital: bool,
}

/// What each code of the right half counts for.
fn weights(charset: Charset) -> [Option<Weight>; 128] {
    let mut weights = [None; 128];
    for (code, weight) in (0x80..=0xff).zip(&mut weights) {
        *weight = letter(code, charset).and_then(|letter| {
            let small = letter.to_lowercase().next()?;
            Some(Weight { frequency: *LETTERS.get(&small)?, capital: small != letter })
        });
    }
    weights
}

fn letter(byte: u8, charset: Charset) -> Option<char> {
    let index = usize::from(byte & 0x7f);
    match Code::of(charset).and_then(Code::right_half) {
        Some(set) => match set.get(index) {
            Some(Glyph::Letter(letter)) => Some(*letter),
            _ => None,
        },
        None => code_page(charset.name())?.get(index).copied().flatten(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes text in a code page, by searching the table backwards.
    fn encode(text: &str, charset: Charset) -> Vec<u8> {
        let code = |c: char| (0x80..=0xff).find(|byte| letter(*byte, charset) == Some(c));
        text.chars()
            .map(|c| u8::try_from(c).ok().filter(u8::is_ascii).or_else(|| code(c)).unwrap_or(b'?'))
            .collect()
    }

    #[test]
    fn each_code_page_is_told_from_the_others() {
        for text in ["Война и мир : роман", "ПРЕСТУПЛЕНИЕ И НАКАЗАНИЕ", "Записки охотника / И. С. Тургенев"]
        {
            for charset in CANDIDATES {
                let bytes = encode(text, charset);
                assert_eq!(recognize(&bytes, Charset::Marc8), Some(charset), "{text} in {charset}");
            }
        }
    }

    #[test]
    fn a_declared_set_with_the_same_letters_is_kept() {
        let bytes = encode("Уездное : романы", Charset::Koi8R);
        assert_eq!(recognize(&bytes, Charset::Iso5427), Some(Charset::Iso5427));
    }

    #[test]
    fn greek_is_not_taken_for_cyrillic() {
        let bytes = encode("Το Άξιον εστί και άλλα ποιήματα του Οδυσσέα Ελύτη", Charset::Iso8859_7);
        assert_eq!(recognize(&bytes, Charset::Marc8), None);
    }
}
