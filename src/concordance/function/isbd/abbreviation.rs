//! Telling the full stop of an abbreviation or an initial from the one that closes a field.
//!
//! A full stop stays after single letters, after words of [`ABBREVIATIONS`], after short words
//! without a vowel (`Bd.`, `Jr.`, `Hrsg.`), and wherever other punctuation follows it: no area
//! ends before a comma, so `Boston, Mass.,` is abbreviated. Everywhere else it goes, and
//! `Boston, Mass.` at the end of a field loses it: `Rome.` and `Lang.` are more.

use super::super::letter::{is_alphabetic, is_combining_mark};
use super::super::roman::roman;
use unicode_normalization::UnicodeNormalization;

/// Abbreviations that have a vowel, in lower case; those without are known by that.
const ABBREVIATIONS: &[&str] = &[
    "al", "aufl", "augm", "ausg", "bde", "bros", "co", "col", "corp", "corr", "dept", "div", "ed", "eds",
    "éd", "enl", "esq", "etc", "ill", "illus", "inc", "min", "pseud", "rev", "suppl", "vol", "vols", "изд",
    "ил",
];
/// Abbreviations of one small letter: pages, volumes, leaves, tomes, Seiten, страницы, тома.
const LETTERS: &str = "pvlftsстг";
/// Symbols of units have no stop, whatever older rules wrote.
const UNITS: &[&str] = &["cm", "mm", "rpm"];
/// How long an abbreviation may be when the punctuation after it is all we know.
const LONGEST: usize = 6;

/// Whether the full stop after `text` belongs to its last word.
pub(super) fn is_abbreviated(text: &str, followed: bool) -> bool {
    let before = text.trim_end_matches(is_of_word);
    let word = text.get(before.len()..).unwrap_or_default();
    let length = letters(word);
    let Some(first) = word.chars().next() else { return false };
    let after_stop = before.ends_with('.');
    match length {
        0 => false,
        // The genitive of `Children's.` is no abbreviation.
        1 if before.ends_with(['\'', '’']) => followed,
        1 if first.is_lowercase() => followed || before.trim_end().ends_with('.') || LETTERS.contains(first),
        1 => followed || !is_ordinal(first, before),
        _ if is_among(word, UNITS) => false,
        _ => {
            (followed && length <= LONGEST)
                || is_among(word, ABBREVIATIONS)
                || (after_stop && length <= 3 && letters(last_word(before)) <= 3)
                || (length <= 4 && has_no_vowel(word))
        }
    }
}

/// Whether a letter is the number of a king, as in `Elizabeth I.`: an initial would stand after
/// a comma or another initial.
fn is_ordinal(letter: char, before: &str) -> bool {
    matches!(letter, 'I' | 'V' | 'X')
        && !before.contains(',')
        && before.trim_end().ends_with(char::is_lowercase)
}

/// The word before a full stop that was just met.
fn last_word(text: &str) -> &str {
    let text = text.trim_end_matches('.');
    text.get(text.trim_end_matches(is_alphabetic).len()..).unwrap_or_default()
}

fn is_of_word(c: char) -> bool {
    is_alphabetic(c) || is_combining_mark(c)
}

fn letters(word: &str) -> usize {
    if word.is_ascii() {
        return word.bytes().filter(u8::is_ascii_alphabetic).count();
    }
    word.chars().filter(|c| is_alphabetic(*c) && !is_combining_mark(*c)).count()
}

fn is_among(word: &str, list: &[&str]) -> bool {
    if word.is_ascii() {
        return list.iter().any(|member| member.eq_ignore_ascii_case(word));
    }
    list.iter().any(|member| member.chars().eq(word.chars().flat_map(char::to_lowercase)))
}

/// Whether a word cannot be said as it is written: only scripts with two cases write their
/// vowels, a word with capitals inside is an acronym, and `xv` is a number.
fn has_no_vowel(word: &str) -> bool {
    let is_vowel = |c: char| "aeiouyæœøıаеиоуыэюяієαεηιουω".contains(c);
    let mut rest = word.chars().filter(|c| !is_combining_mark(*c));
    rest.next().is_some_and(|first| first.is_lowercase() || first.is_uppercase())
        && rest.all(char::is_lowercase)
        && !word.nfd().flat_map(char::to_lowercase).any(is_vowel)
        && (word.starts_with(char::is_uppercase) || roman(word).is_none())
}
