//! `:sortkey(text)`: a text as it is sorted and compared.
//!
//! Two spellings of one title give one key: lower case, no accents, no punctuation. Letters
//! stay in their script; only Latin letters that Unicode does not decompose are spelt out. The
//! vowel signs of Indic scripts are letters to their readers and stay.

use super::letter::is_of_word;
use unicode_normalization::UnicodeNormalization;

/// Letters, in lower case, that have no decomposition but a usual spelling in plain letters.
const SPELT: &[(char, &str)] = &[
    ('ß', "ss"),
    ('æ', "ae"),
    ('ð', "d"),
    ('ø', "o"),
    ('þ', "th"),
    ('đ', "d"),
    ('ħ', "h"),
    ('ı', "i"),
    ('ł', "l"),
    ('œ', "oe"),
    ('ŧ', "t"),
    ('ς', "σ"),
];

/// The key: words of letters and digits with one blank between them.
pub fn sortkey(text: &str) -> String {
    sortkey_begin(text, usize::MAX)
}

/// At least so many characters of the key, if it has them.
pub fn sortkey_begin(text: &str, characters: usize) -> String {
    if text.is_ascii() {
        return ascii(text, characters);
    }
    let mut key = String::with_capacity(text.len());
    let letters = text.nfkd().filter(|c| !is_left_out(*c));
    // Syllables of Hangul and voiced kana come together again.
    let letters = letters.flat_map(char::to_lowercase).filter(|c| !is_left_out(*c)).nfc();
    for c in letters {
        match SPELT.iter().find(|(letter, _)| *letter == c).filter(|_| !c.is_ascii()) {
            Some((_, spelt)) => key.push_str(spelt),
            None => push(&mut key, c),
        }
        // No character takes more than four bytes.
        if key.len() / 4 > characters {
            break;
        }
    }
    key.truncate(key.trim_end().len());
    key
}

/// The same without a look at Unicode's tables, for most of the texts there are.
fn ascii(text: &str, characters: usize) -> String {
    let mut key: Vec<u8> = Vec::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() {
            key.push(byte.to_ascii_lowercase());
        } else if key.last().is_some_and(|last| *last != b' ') {
            key.push(b' ');
        }
        if key.len() > characters {
            break;
        }
    }
    if key.last() == Some(&b' ') {
        key.pop();
    }
    String::from_utf8(key).unwrap_or_default()
}

/// Signs of a syllable that are no letters of their own stay: the virama, tones, the voicing of
/// kana.
fn push(key: &mut String, c: char) {
    if is_of_word(c) {
        key.push(c);
    } else if !key.is_empty() && !key.ends_with(' ') {
        key.push(' ');
    }
}

/// Marks that may be missing or different in another spelling of the same word: accents, points
/// of Hebrew, vowels of Arabic, the modifier letters of romanization, soft hyphens and joiners.
fn is_left_out(c: char) -> bool {
    matches!(c,
        '\u{AD}' | '\u{2B0}'..='\u{36F}' | '\u{483}'..='\u{489}' | '\u{591}'..='\u{5BD}' | '\u{5BF}'
        | '\u{5C1}' | '\u{5C2}' | '\u{5C4}' | '\u{5C5}' | '\u{5C7}' | '\u{610}'..='\u{61A}' | '\u{640}'
        | '\u{64B}'..='\u{65F}' | '\u{670}' | '\u{1AB0}'..='\u{1AFF}' | '\u{1DC0}'..='\u{1DFF}'
        | '\u{200B}'..='\u{200F}' | '\u{2060}' | '\u{20D0}'..='\u{20FF}' | '\u{FE00}'..='\u{FE2F}'
        | '\u{FEFF}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(text: &str, key: &str) {
        assert_eq!(sortkey(text), key);
    }

    #[test]
    fn case_accents_and_punctuation_do_not_count() {
        check("Walden; or, Life in the Woods.", "walden or life in the woods");
        check("  L'été -- À Paris ", "l ete a paris");
        check("e\u{301}te\u{301}", "ete");
        check("Straße, Œuvre, Ærø, Łódź, Þór", "strasse oeuvre aero lodz thor");
        check("İstanbul ılık", "istanbul ilik");
        check("ﬁnd ² Ⅳ", "find 2 iv");
        check("Mrecvelobis cʻxovrebis", "mrecvelobis cxovrebis");
        check("", "");
        check("...", "");
    }

    #[test]
    fn letters_of_other_scripts_stay() {
        check("Война и миръ", "воина и миръ");
        check("Ὀδύσσεια", "οδυσσεια");
        check("שָׁלוֹם", "שלום");
        check("مُحَمَّد", "محمد");
        check("पहिलो संस्करण।", "पहिलो संस्करण");
        check("ガラス が", "ガラス が");
        check("한국어", "한국어");
        check("紅樓夢", "紅樓夢");
    }

    proptest! {
        #[test]
        fn a_key_is_its_own_key(text in "\\PC{0,12}") {
            let key = sortkey(&text);
            prop_assert_eq!(sortkey(&key), key);
        }
    }
}
