//! What kind of character is this? Looked up in tables that are made once: the standard library
//! searches for the answer, and texts in other scripts ask for every letter.

use std::sync::LazyLock;
use unicode_normalization::char::is_combining_mark as is_mark;

/// The characters of the Basic Multilingual Plane, a bit each.
type Plane = Box<[u64]>;

fn plane(is: impl Fn(char) -> bool) -> Plane {
    let bits = |block: u32| {
        let characters = (block * 64..block * 64 + 64).enumerate();
        characters.filter(|(_, code)| char::from_u32(*code).is_some_and(&is)).fold(0, |bits, (at, _)| bits | 1 << at)
    };
    (0..0x1_0000 / 64).map(bits).collect()
}

fn holds(plane: &Plane, c: char) -> Option<bool> {
    plane.get(c as usize / 64).map(|bits| bits >> (c as usize % 64) & 1 == 1)
}

/// A letter by Unicode.
pub fn is_alphabetic(c: char) -> bool {
    static LETTERS: LazyLock<Plane> = LazyLock::new(|| plane(char::is_alphabetic));
    if c.is_ascii() { c.is_ascii_alphabetic() } else { holds(&LETTERS, c).unwrap_or_else(|| c.is_alphabetic()) }
}

/// A letter, a digit, or a sign that is part of one.
pub fn is_of_word(c: char) -> bool {
    static WORDS: LazyLock<Plane> = LazyLock::new(|| plane(|c| c.is_alphanumeric() || is_mark(c)));
    if c.is_ascii() {
        return c.is_ascii_alphanumeric();
    }
    holds(&WORDS, c).unwrap_or_else(|| c.is_alphanumeric() || is_mark(c))
}

/// A mark that goes with the letter before it.
pub fn is_combining_mark(c: char) -> bool {
    static MARKS: LazyLock<Plane> = LazyLock::new(|| plane(is_mark));
    !c.is_ascii() && holds(&MARKS, c).unwrap_or_else(|| is_mark(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_say_what_unicode_says() {
        for c in (0..0x3_0000).filter_map(char::from_u32) {
            assert_eq!(is_alphabetic(c), c.is_alphabetic(), "{c:?}");
            assert_eq!(is_of_word(c), c.is_alphanumeric() || is_mark(c), "{c:?}");
            assert_eq!(is_combining_mark(c), is_mark(c), "{c:?}");
        }
    }
}
