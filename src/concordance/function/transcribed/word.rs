//! Words that say something about a date.

use super::token::Token;

/// What a word says about the next date.
#[derive(Clone, Copy)]
pub(super) enum Word {
    Approximate,
    Uncertain,
    Copyright,
    Not,
    Is(Token),
}

impl Word {
    /// What a word in lower case and without full stops says, if it says anything.
    pub fn known(word: &[char]) -> Option<Self> {
        let same = |known: &str| known.chars().eq(word.iter().copied());
        WORDS.iter().find(|(known, _)| same(known)).map(|(_, says)| *says)
    }
}

/// Words of transcribed dates, in lower case and without full stops.
const WORDS: &[(&str, Word)] = &[
    ("about", Word::Approximate),
    ("after", Word::Is(Token::After)),
    ("and", Word::Is(Token::And)),
    ("approximately", Word::Approximate),
    ("après", Word::Is(Token::After)),
    ("avant", Word::Is(Token::Before)),
    ("before", Word::Is(Token::Before)),
    ("between", Word::Is(Token::Between)),
    ("bis", Word::Is(Token::Or)),
    ("c", Word::Copyright),
    ("ca", Word::Approximate),
    ("cerca", Word::Approximate),
    ("circa", Word::Approximate),
    ("cop", Word::Copyright),
    ("copyright", Word::Copyright),
    ("entre", Word::Is(Token::Between)),
    ("env", Word::Approximate),
    ("environ", Word::Approximate),
    ("et", Word::Is(Token::And)),
    ("hacia", Word::Approximate),
    ("ie", Word::Is(Token::Correction)),
    ("nach", Word::Is(Token::After)),
    ("not", Word::Not),
    ("oder", Word::Is(Token::Or)),
    ("or", Word::Is(Token::Or)),
    ("ou", Word::Is(Token::Or)),
    ("p", Word::Copyright),
    ("pc", Word::Copyright),
    ("possibly", Word::Uncertain),
    ("probably", Word::Uncertain),
    ("recte", Word::Is(Token::Correction)),
    ("to", Word::Is(Token::Or)),
    ("um", Word::Approximate),
    ("und", Word::Is(Token::And)),
    ("vers", Word::Approximate),
    ("vor", Word::Is(Token::Before)),
    ("y", Word::Is(Token::And)),
    ("zwischen", Word::Is(Token::Between)),
    ("около", Word::Approximate),
];
