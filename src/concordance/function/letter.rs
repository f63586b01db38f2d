//! What kind of character is this? Looked up in tables that are made once: the standard library
//! searches for the answer, and texts in other scripts ask for every letter.

use std::sync::OnceLock;
use unicode_normalization::char::is_combining_mark as is_mark;

/// The characters of the Basic Multilingual Plane, a bit each, in blocks that are made when
/// they are first asked for: a text needs few of them.
struct Plane {
    blocks: [OnceLock<[u64; 4]>; 256],
    is: fn(char) -> bool,
}

impl Plane {
    const fn new(is: fn(char) -> bool) -> Self {
        Self { blocks: [const { OnceLock::new() }; 256], is }
    }

    fn holds(&self, c: char) -> bool {
        let code = c as usize;
        let Some(block) = self.blocks.get(code >> 8) else { return (self.is)(c) };
        let bits = block.get_or_init(|| {
            let mut bits = [0; 4];
            let first = (code & !0xFF) as u32;
            for (words, from) in bits.iter_mut().zip((first..).step_by(64)) {
                let known = (0..64).filter(|at| char::from_u32(from + at).is_some_and(self.is));
                *words = known.fold(0u64, |bits, at| bits | 1 << at);
            }
            bits
        });
        bits.get(code >> 6 & 3).is_some_and(|bits| bits >> (code & 63) & 1 == 1)
    }
}

/// A letter by Unicode.
pub fn is_alphabetic(c: char) -> bool {
    static LETTERS: Plane = Plane::new(char::is_alphabetic);
    if c.is_ascii() { c.is_ascii_alphabetic() } else { LETTERS.holds(c) }
}

/// A letter, a digit, or a sign that is part of one.
pub fn is_of_word(c: char) -> bool {
    static WORDS: Plane = Plane::new(|c| c.is_alphanumeric() || is_mark(c));
    if c.is_ascii() { c.is_ascii_alphanumeric() } else { WORDS.holds(c) }
}

/// A mark that goes with the letter before it.
pub fn is_combining_mark(c: char) -> bool {
    static MARKS: Plane = Plane::new(is_mark);
    !c.is_ascii() && MARKS.holds(c)
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
