//! Text as it is compared: small letters without marks, one blank between words.
//!
//! Catalogues write one title with and without accents, with an apostrophe or its cousin, with
//! `&` or `and`, and tables bring character references along. Folding takes those differences
//! out once, so that comparing words is comparing bytes.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;
use xxhash_rust::xxh3::xxh3_64;

/// `Lud&#228;scher's "Ünïted" & co.` becomes `ludaschers united and co`.
pub fn fold(text: &str) -> String {
    let decoded;
    let text = if text.contains('&') && text.contains(';') {
        decoded = references(text);
        decoded.as_str()
    } else {
        text
    };
    let mut out = String::with_capacity(text.len());
    if text.is_ascii() {
        for byte in text.bytes() {
            put(&mut out, byte.to_ascii_lowercase() as char);
        }
    } else {
        for letter in text.nfkd().filter(|letter| !is_combining_mark(*letter)) {
            for small in letter.to_lowercase() {
                match small {
                    'ß' => out.push_str("ss"),
                    'æ' => out.push_str("ae"),
                    'œ' => out.push_str("oe"),
                    'ø' => out.push('o'),
                    'ł' => out.push('l'),
                    'đ' | 'ð' => out.push('d'),
                    'þ' => out.push_str("th"),
                    'ı' => out.push('i'),
                    _ => put(&mut out, small),
                }
            }
        }
    }
    if out.ends_with(' ') {
        out.pop();
    }
    out
}

fn put(out: &mut String, letter: char) {
    match letter {
        // Within a word they are written or left out; a word does not end there.
        '\'' | '’' | '‘' | 'ʼ' | 'ʹ' | 'ʻ' | '`' => {}
        '&' => {
            if !out.is_empty() && !out.ends_with(' ') {
                out.push(' ');
            }
            out.push_str("and ");
        }
        _ if letter.is_alphanumeric() => out.push(letter),
        _ if out.is_empty() || out.ends_with(' ') => {}
        _ => out.push(' '),
    }
}

/// Resolves `&#228;`, `&#xE4;`, `&amp;` and the accents HTML names after their letter.
fn references(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let end = from.find(';').filter(|end| *end <= 10 && *end > 1);
        match end.and_then(|end| Some((end, reference(from.get(1..end)?)?))) {
            Some((end, letter)) => {
                out.push(letter);
                rest = from.get(end + 1..).unwrap_or_default();
            }
            None => {
                out.push('&');
                rest = from.get(1..).unwrap_or_default();
            }
        }
    }
    out.push_str(rest);
    out
}

fn reference(name: &str) -> Option<char> {
    if let Some(number) = name.strip_prefix('#') {
        let code = match number.strip_prefix(['x', 'X']) {
            Some(hexadecimal) => u32::from_str_radix(hexadecimal, 16),
            None => number.parse(),
        };
        return char::from_u32(code.ok()?);
    }
    match name {
        "amp" => Some('&'),
        "quot" | "lt" | "gt" | "nbsp" => Some(' '),
        "apos" => Some('\''),
        "szlig" => Some('ß'),
        // The mark would be folded away, so the letter is enough.
        _ => {
            let letter = name.chars().next()?;
            let marks = ["acute", "grave", "circ", "uml", "tilde", "cedil", "ring", "slash", "caron"];
            marks.contains(&name.get(1..)?).then_some(letter)
        }
    }
}

/// A word's number: of its content alone, so the same in every run and thread.
pub fn hash32(word: &str) -> u32 {
    (xxh3_64(word.as_bytes()) >> 32) as u32
}

pub fn hash64(text: &str) -> u64 {
    xxh3_64(text.as_bytes())
}

/// One number out of two; the order counts.
pub fn mix(left: u64, right: u64) -> u64 {
    let mixed = (left ^ right.rotate_left(32)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed ^ (mixed >> 29)).wrapping_add(right).wrapping_mul(0xBF58_476D_1CE4_E5B9)
}

/// The value of a Roman numeral as it is well formed: `iv`, not `iiii`.
pub fn roman(word: &str) -> Option<u32> {
    if word.is_empty() || word.len() > 12 {
        return None;
    }
    let value = |byte| match byte {
        b'i' => Some(1),
        b'v' => Some(5),
        b'x' => Some(10),
        b'l' => Some(50),
        b'c' => Some(100),
        b'd' => Some(500),
        b'm' => Some(1000),
        _ => None,
    };
    let mut total = 0_u32;
    let mut last = u32::MAX;
    let bytes = word.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let here = value(byte)?;
        let next = bytes.get(at + 1).and_then(|byte| value(*byte)).unwrap_or(0);
        let (step, taken) = if next > here { (next - here, 2) } else { (here, 1) };
        if step > last {
            return None;
        }
        (total, last, at) = (total + step, step, at + taken);
    }
    let repeated = ["iiii", "xxxx", "cccc", "vv", "ll", "dd"].iter().any(|wrong| word.contains(wrong));
    (!repeated).then_some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_apostrophes_ampersands_and_references_fold_away() {
        assert_eq!(fold("Lud&#228;scher’s  «Ünïted» & Co."), "ludaschers united and co");
        assert_eq!(fold("Garc&iacute;a-Molina"), "garc iacute a molina".replace(" iacute ", "i"));
        assert_eq!(fold("Straße, Łódź"), "strasse lodz");
        assert_eq!(fold("  ...  "), "");
        assert_eq!(fold("Война и мир"), "воина и мир");
    }

    #[test]
    fn roman_numerals_are_read_only_when_well_formed() {
        assert_eq!(roman("xiv"), Some(14));
        assert_eq!(roman("mdcccxlii"), Some(1842));
        assert_eq!(roman("iiii"), None);
        assert_eq!(roman("mix"), Some(1009));
        assert_eq!(roman("vol"), None);
    }
}
