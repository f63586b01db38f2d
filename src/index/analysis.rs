//! Which words does a text consist of, for looking them up?
//!
//! Documents and queries pass through the same [`analyse`], so that they meet:
//!
//! - Compatibility forms and case are folded, marks over and under letters left out, and letters
//!   that are no letter with a mark are replaced by `folding.tsv`.
//! - Cyrillic and Greek are written in Latin letters by `transliteration.tsv`, in three systems;
//!   `endings.tsv` brings spellings of one ending together. A word may so have several *forms*,
//!   all at one position: whichever of them a query has in common with a document is a match.
//! - Chinese, Japanese and Korean have no spaces: every two neighbours are a word, and every
//!   character is one.
//! - Hyphens, apostrophes, dots and `&` inside a word both part and join: `Wi-Fi` is `wi`, `fi` and
//!   `wifi`, `O'Brien` is `o`, `brien` and `obrien`, `978-3-16` is also `978316`.
//! - Everything else that is neither letter nor number stands between words.
//!
//! Languages are not told apart: there are no stems and no stop words.

mod spelling;

pub use spelling::Forms;
pub(super) use spelling::{ENDINGS, FOLDING, TRANSLITERATION};

use spelling::{SYSTEMS, Spelling};
use std::mem;
use tantivy::tokenizer::{Token as Indexed, TokenStream, Tokenizer};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Longer words are cut, in documents and in queries alike.
const LONGEST: usize = 64;
/// More joined parts than these are no word any more.
const MOST_PARTS: usize = 16;
/// Labels are compared by their first tokens.
const MOST_FOLDED: usize = 256;

/// A word at its place in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    pub position: usize,
    pub sort: Sort,
    pub forms: Forms,
}

/// What part of a text a token stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    /// A word, a part of a joined word, or two neighbouring characters of a script without spaces.
    Part,
    /// A joined word without what joins it, at the place of its first part.
    Whole,
    /// One character of a longer run of a script without spaces.
    Single,
}

/// The tokens of a text in the order of their positions, and not many more than `most`.
pub fn analyse(text: &str, most: usize) -> Vec<Token> {
    let normal: String;
    let text = if text.is_ascii() {
        text
    } else {
        normal = text.nfkc().collect();
        &normal
    };
    let mut cutter = Cutter::default();
    for c in text.chars().flat_map(char::to_lowercase) {
        if cutter.tokens.len() > most {
            break;
        }
        cutter.take(c);
    }
    cutter.end_of_compound();
    cutter.end_of_run();
    cutter.tokens.sort_by_key(|token| token.position);
    cutter.tokens
}

/// The words of a text as the first system spells them: what labels are compared by.
pub fn fold(text: &str) -> String {
    spell(&analyse(text, MOST_FOLDED), 0)
}

/// The words of a text in each spelling, endings left alone.
pub fn folds(text: &str) -> Vec<String> {
    let tokens = analyse(text, MOST_FOLDED);
    let mut folds: Vec<String> = (0..SYSTEMS).map(|system| spell(&tokens, system)).collect();
    folds.dedup();
    folds
}

/// Words with one space between them, characters of scripts without spaces with none.
fn spell(tokens: &[Token], system: usize) -> String {
    let mut spelled = String::new();
    for token in tokens {
        let form = token.forms.of(system);
        let is_pair = token.sort == Sort::Part && form.chars().nth(1).is_some() && form.starts_with(unspaced);
        if token.sort == Sort::Whole || is_pair {
            continue;
        }
        let glued = form.starts_with(unspaced) && spelled.ends_with(unspaced);
        if !spelled.is_empty() && !glued {
            spelled.push(' ');
        }
        spelled.push_str(form);
    }
    spelled
}

/// Cuts a text character by character.
#[derive(Default)]
struct Cutter {
    tokens: Vec<Token>,
    position: usize,
    /// The word that is being read.
    word: Spelling,
    /// The parts before it that are joined to it.
    compound: Vec<(usize, Spelling)>,
    /// The characters of a script without spaces that are being read.
    run: Vec<char>,
}

impl Cutter {
    fn take(&mut self, c: char) {
        if unspaced(c) {
            self.end_of_compound();
            self.run.push(c);
        } else if invisible(c) {
        } else if c.is_alphanumeric() || (is_combining_mark(c) && !self.word.is_empty()) {
            self.end_of_run();
            self.word.push(c);
        } else if joins(c) && !self.word.is_empty() {
            self.end_of_part();
        } else if !is_combining_mark(c) {
            self.end_of_compound();
            self.end_of_run();
        }
    }

    fn end_of_part(&mut self) {
        if !self.word.is_empty() {
            self.compound.push((self.position, mem::take(&mut self.word)));
            self.position += 1;
        }
        if self.compound.len() == MOST_PARTS {
            self.emit_compound();
        }
    }

    fn end_of_compound(&mut self) {
        self.end_of_part();
        self.emit_compound();
    }

    fn emit_compound(&mut self) {
        let parts = mem::take(&mut self.compound);
        if let [(first, _), _, ..] = parts.as_slice() {
            let mut whole = Spelling::default();
            parts.iter().for_each(|(_, part)| whole.append(part));
            if whole.len() <= LONGEST {
                self.emit(*first, Sort::Whole, whole);
            }
        }
        for (position, part) in parts {
            self.emit(position, Sort::Part, part);
        }
    }

    fn end_of_run(&mut self) {
        let run = mem::take(&mut self.run);
        let plain = |chars: &[char]| Forms(vec![chars.iter().collect()]);
        for (at, single) in run.iter().enumerate() {
            let position = self.position + at;
            let sort = if run.len() == 1 { Sort::Part } else { Sort::Single };
            self.tokens.push(Token { position, sort, forms: plain(&[*single]) });
            if let Some(pair) = run.get(at..at + 2) {
                self.tokens.push(Token { position, sort: Sort::Part, forms: plain(pair) });
            }
        }
        self.position += run.len();
    }

    fn emit(&mut self, position: usize, sort: Sort, spelling: Spelling) {
        let forms = spelling.into_forms();
        if forms.distinct().next().is_some() {
            self.tokens.push(Token { position, sort, forms });
        }
    }
}

/// What stands inside a word and neither begins nor ends it.
fn joins(c: char) -> bool {
    matches!(
        c,
        '-' | '\u{2010}' | '\u{2011}' | '\'' | '\u{2018}' | '\u{2019}' | '`' | '´' | '.' | '&' | '·' | '_'
    )
}

/// Scripts that put no space between words: Han, Kana, Hangul, Bopomofo.
fn unspaced(c: char) -> bool {
    matches!(c, '\u{3005}'..='\u{3007}' | '\u{3040}'..='\u{312f}' | '\u{31a0}'..='\u{31bf}' | '\u{31f0}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}')
        && c.is_alphanumeric()
}

/// What is inside a word without being seen: soft hyphens, joiners, directions.
fn invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}'
        | '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{fe00}'..='\u{fe0f}')
}

/// [`analyse`], as tantivy asks for it.
#[derive(Clone, Default)]
pub(super) struct Words;

/// The name of [`Words`] in the schema.
pub(super) const WORDS: &str = "words";

impl Tokenizer for Words {
    type TokenStream<'a> = Stream;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Stream {
        let mut tokens = Vec::new();
        for token in analyse(text, usize::MAX) {
            tokens.extend(token.forms.distinct().map(|form| (token.position, form.to_owned())));
        }
        Stream { tokens: tokens.into_iter(), current: Indexed::default() }
    }
}

pub(super) struct Stream {
    tokens: std::vec::IntoIter<(usize, String)>,
    current: Indexed,
}

impl TokenStream for Stream {
    fn advance(&mut self) -> bool {
        let Some((position, text)) = self.tokens.next() else { return false };
        self.current.position = position;
        self.current.text = text;
        true
    }

    fn token(&self) -> &Indexed {
        &self.current
    }

    fn token_mut(&mut self) -> &mut Indexed {
        &mut self.current
    }
}

#[cfg(test)]
mod tests;
