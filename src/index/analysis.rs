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

use rustc_hash::FxHashMap;
use std::mem;
use std::sync::LazyLock;
use tantivy::tokenizer::{Token as Indexed, TokenStream, Tokenizer};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

pub(super) const FOLDING: &str = include_str!("folding.tsv");
pub(super) const TRANSLITERATION: &str = include_str!("transliteration.tsv");
pub(super) const ENDINGS: &str = include_str!("endings.tsv");

/// The columns of `transliteration.tsv`.
const SYSTEMS: usize = 3;
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

/// The spellings of one word: a single one, or one for each system and then each of these with
/// its ending brought to the common one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forms(Vec<String>);

impl Forms {
    /// How many spellings a word may have.
    pub const MOST: usize = 2 * SYSTEMS;

    /// The word as one system spells it.
    pub fn of(&self, system: usize) -> &str {
        self.0.get(system).or(self.0.get(system % SYSTEMS)).or(self.0.first()).map_or("", String::as_str)
    }

    /// Every spelling once.
    pub fn distinct(&self) -> impl Iterator<Item = &str> {
        distinct(&self.0)
    }

    /// Every spelling once, with endings left alone: what begins a word has none.
    pub fn beginnings(&self) -> impl Iterator<Item = &str> {
        distinct(self.0.get(..SYSTEMS).unwrap_or(&self.0))
    }
}

fn distinct(forms: &[String]) -> impl Iterator<Item = &str> {
    let fresh =
        |(at, form): &(usize, &String)| !form.is_empty() && !forms.iter().take(*at).any(|f| f == *form);
    forms.iter().enumerate().filter(fresh).map(|(_, form)| form.as_str())
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

/// A word while it is being read: one spelling, and all of them from where they part.
#[derive(Default)]
struct Spelling {
    systems: Vec<String>,
    letters: usize,
}

impl Spelling {
    fn is_empty(&self) -> bool {
        self.letters == 0
    }

    fn len(&self) -> usize {
        self.systems.first().map_or(0, |word| word.chars().count())
    }

    fn push(&mut self, c: char) {
        self.letters += 1;
        if self.letters > LONGEST {
            return;
        }
        if c.is_ascii() {
            self.push_all(|_, word| word.push(c));
        } else if let Some(row) = LETTERS.get(&c) {
            self.push_row(row);
        } else {
            for part in c.nfd().filter(|part| !is_stripped(*part)) {
                match LETTERS.get(&part) {
                    Some(row) => self.push_row(row),
                    None => self.push_all(|_, word| word.push(part)),
                }
            }
        }
    }

    fn push_row(&mut self, row: &[&'static str; SYSTEMS]) {
        if row.iter().any(|spelling| *spelling != row[0]) {
            self.part();
        }
        self.push_all(|system, word| word.push_str(row[system]));
    }

    fn append(&mut self, other: &Self) {
        self.letters += other.letters;
        if other.systems.len() > 1 {
            self.part();
        }
        self.push_all(|system, word| {
            word.push_str(other.systems.get(system).or(other.systems.first()).map_or("", String::as_str));
        });
    }

    /// From here on each system spells for itself.
    fn part(&mut self) {
        let common = self.systems.first().cloned().unwrap_or_default();
        self.systems.resize(SYSTEMS, common);
    }

    fn push_all(&mut self, push: impl Fn(usize, &mut String)) {
        if self.systems.is_empty() {
            self.systems.push(String::new());
        }
        self.systems.iter_mut().enumerate().for_each(|(system, word)| push(system, word));
    }

    fn into_forms(mut self) -> Forms {
        if self.systems.iter().any(|word| common_ending(word).is_some()) {
            self.part();
            let ended: Vec<String> =
                self.systems.iter().map(|word| common_ending(word).unwrap_or_else(|| word.clone())).collect();
            self.systems.extend(ended);
        }
        Forms(self.systems)
    }
}

/// The word with its ending brought to the common one, if it has one that is.
fn common_ending(word: &str) -> Option<String> {
    const SHORTEST: usize = 2;
    // Endings have at most five letters, all of them ASCII: a slice by bytes either fits or is none.
    (2..=5).rev().find_map(|length| {
        let before = word.get(..word.len().checked_sub(length)?)?;
        let ending = ENDING.get(&word[before.len()..])?;
        (before.len() >= SHORTEST).then(|| format!("{before}{ending}"))
    })
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

/// Marks that a word is found without: those of Latin, Greek and Cyrillic, the points of Hebrew
/// and the vowels of Arabic. The vowels of Indic scripts are marks too, and stay.
fn is_stripped(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{483}'..='\u{489}' | '\u{591}'..='\u{5c7}' | '\u{610}'..='\u{61a}'
        | '\u{64b}'..='\u{65f}' | '\u{670}' | '\u{6d6}'..='\u{6ed}' | '\u{1ab0}'..='\u{1aff}'
        | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}' | '\u{fe20}'..='\u{fe2f}')
}

/// How letters are spelled in each system.
static LETTERS: LazyLock<FxHashMap<char, [&'static str; SYSTEMS]>> = LazyLock::new(|| {
    let mut letters = FxHashMap::default();
    for row in rows(FOLDING).chain(rows(TRANSLITERATION)) {
        if let [letter, plain, others @ ..] = row.as_slice()
            && let Some(letter) = letter.chars().next()
        {
            let of = |at: usize| others.get(at).copied().unwrap_or(plain);
            letters.insert(letter, [plain, of(0), of(1)]);
        }
    }
    letters
});

static ENDING: LazyLock<FxHashMap<&'static str, &'static str>> =
    LazyLock::new(|| rows(ENDINGS).filter_map(|row| Some((*row.first()?, *row.get(1)?))).collect());

fn rows(table: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    table.lines().filter(|line| !line.starts_with('#')).map(|line| line.split('\t').collect())
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
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(text: &str, expected: &[&str]) {
        let tokens = analyse(text, usize::MAX);
        let found: Vec<String> = tokens
            .iter()
            .map(|token| {
                format!(
                    "{}{}",
                    token.position,
                    token.forms.distinct().fold(String::new(), |all, f| all + " " + f)
                )
            })
            .collect();
        assert_eq!(found, expected, "{text}");
    }

    fn meet(left: &str, right: &str) -> bool {
        let (left, right) = (analyse(left, 99), analyse(right, 99));
        let forms: Vec<&str> = left.iter().flat_map(|token| token.forms.distinct()).collect();
        right.iter().all(|token| token.forms.distinct().any(|form| forms.contains(&form)))
    }

    #[test]
    fn d_2_case_and_diacritics_are_folded() {
        check("ÉTUDE Łódź smørrebrød", &["0 etude", "1 lodz", "2 smorrebrod smoerrebroed"]);
        check("Müller Straße", &["0 muller mueller", "1 strasse"]);
        check("e\u{301}te\u{301}", &["0 ete"]);
        check("ﬁn ｗｉｄｅ Ⅳ", &["0 fin", "1 wide", "2 iv"]);
        check("Gogolʹ Qurʼān ʿAlī", &["0 gogol", "1 quran", "2 ali"]);
    }

    #[test]
    fn d_2_romanizations_meet() {
        check("Толстой", &["0 tolstoj tolstoi"]);
        for [left, right] in [
            ["Толстой", "Tolstoj"],
            ["Толстой", "Tolstoi"],
            ["Толстой", "Tolstoĭ"],
            ["Tolstoy", "Толстой"],
            ["Tolstoj", "Tolstoy"],
            ["Достоевский", "Dostoevsky"],
            ["Достоевский", "Dostoevskiĭ"],
            ["Чехов", "Čechov"],
            ["Чехов", "Chekhov"],
            ["Пушкин", "Pushkin"],
            ["Маяковский", "Majakovskij"],
            ["Чайковский", "Čajkovskij"],
            ["Щедрин", "Shchedrin"],
            ["Гоголь", "Gogol'"],
            ["Ὅμηρος", "Omiros"],
            ["Σωκράτης", "Sokratis"],
            ["Σωκράτης", "Sōkratēs"],
            ["Müller", "Mueller"],
        ] {
            assert!(meet(left, right), "{left} and {right}");
        }
        assert!(!meet("Толстой", "Tolstaja"));
    }

    #[test]
    fn scripts_without_spaces_are_cut_in_pairs_and_single_characters() {
        check("東京都", &["0 東", "0 東京", "1 京", "1 京都", "2 都"]);
        check("東 v", &["0 東", "1 v"]);
        check("한국어 ﾊﾞｽ", &["0 한", "0 한국", "1 국", "1 국어", "2 어", "3 バ", "3 バス", "4 ス"]);
        check("東京Tower", &["0 東", "0 東京", "1 京", "2 tower"]);
    }

    #[test]
    fn hyphens_and_apostrophes_both_part_and_join() {
        check("Wi-Fi", &["0 wifi", "0 wi", "1 fi"]);
        check("L’été d'", &["0 lete", "0 l", "1 ete", "2 d"]);
        check("U.S.A. -- 1999", &["0 usa", "0 u", "1 s", "2 a", "3 1999"]);
        check("978-3-16", &["0 978316", "0 978", "1 3", "2 16"]);
        check("co\u{ad}operate", &["0 cooperate"]);
        check("10.1000/xyz", &["0 101000", "0 10", "1 1000", "2 xyz"]);
    }

    #[test]
    fn vowels_of_indic_scripts_stay() {
        check("हिन्दी", &["0 हिन्दी"]);
        assert!(!meet("हिन्दी", "हन्द"));
        assert!(meet("שָׁלוֹם", "שלום"));
    }

    #[test]
    fn labels_fold_to_words_with_one_space() {
        assert_eq!(fold("  Толстой,  Лев. "), "tolstoj lev");
        assert_eq!(fold("東京 物語"), "東京物語");
        assert_eq!(fold("東京 Story"), "東京 story");
        assert_eq!(fold("“?!”"), "");
        assert_eq!(folds("Müller, Ж."), ["muller z", "mueller z", "muller zh"]);
        assert_eq!(folds("Walden"), ["walden"]);
    }

    #[test]
    fn every_row_of_the_tables_says_something() {
        for table in [FOLDING, TRANSLITERATION] {
            for row in rows(table) {
                assert_eq!(row[0].chars().count(), 1, "{row:?}");
                assert!(row.len() > 1 && row.len() <= 1 + SYSTEMS, "{row:?}");
            }
        }
        for row in rows(ENDINGS) {
            assert!(row.len() == 2 && row[0] != row[1] && (2..=5).contains(&row[0].len()), "{row:?}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_analysed(text in "\\PC{0,200}|[\u{0}-\u{ffff}]{0,60}") {
            let tokens = analyse(&text, usize::MAX);
            prop_assert!(tokens.windows(2).all(|pair| pair[0].position <= pair[1].position));
            for token in &tokens {
                for form in token.forms.distinct() {
                    prop_assert!(!form.is_empty() && form.chars().count() <= 8 * LONGEST);
                }
            }
        }

        #[test]
        fn analysis_of_its_own_output_changes_nothing(text in "[a-zA-Zäöüßéø ]{0,40}") {
            let once = fold(&text);
            prop_assert_eq!(fold(&once), once);
        }
    }
}
