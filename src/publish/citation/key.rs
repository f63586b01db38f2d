//! Keys by which a text refers to a citation: `thoreau2004walden-3f9c21`.
//!
//! First name, year and the first long word of the title make it readable; the digits are a hash
//! of the id, so a key says the same in every list and does not change with its neighbours.

use super::{Citation, Name};
use rustc_hash::FxHashSet;
use unicode_normalization::UnicodeNormalization;
use xxhash_rust::xxh3::xxh3_64;

/// One key for each citation of a list, no two alike.
pub fn keys(citations: &[Citation]) -> Vec<String> {
    let mut taken = FxHashSet::default();
    let unique = |citation: &Citation| {
        let base = key(citation);
        let mut key = base.clone();
        let mut number = 2;
        while !taken.insert(key.clone()) {
            key = format!("{base}-{number}");
            number += 1;
        }
        key
    };
    citations.iter().map(unique).collect()
}

fn key(citation: &Citation) -> String {
    let name = citation.contributors.first().map_or("", |first| match &first.name {
        Name::Person { family, given } => {
            if family.trim().is_empty() {
                given
            } else {
                family
            }
        }
        Name::Literal(name) => name,
    });
    let year = citation.date_parts().first().map(u32::to_string).unwrap_or_default();
    let words: Vec<String> =
        citation.title.split(|c: char| !c.is_alphanumeric()).take(50).map(plain).collect();
    let word =
        words.iter().find(|word| word.len() > 3).or_else(|| words.iter().find(|word| !word.is_empty()));
    let name: String = plain(name).chars().take(20).collect();
    let word: String = word.map_or("", String::as_str).chars().take(20).collect();
    let readable = format!("{name}{year}{word}");
    let readable = if readable.starts_with(|c: char| c.is_ascii_alphabetic()) {
        readable
    } else {
        format!("ref{readable}")
    };
    format!("{readable}-{:06x}", xxh3_64(citation.id.as_bytes()) & 0xff_ffff)
}

/// The letters and digits of a text, without accents.
fn plain(text: &str) -> String {
    text.nfkd().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}
