//! The parts of a transcribed date: years, decades, and what is said about them.

use super::super::calendar::is_day;
use super::super::digit::ascii_digit;
use super::super::roman::roman;
use super::Date;
use super::word::Word;
use smallvec::SmallVec;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Token {
    Date(Date),
    Dash,
    Slash,
    /// `..`, EDTF's open end.
    Dots,
    /// An opening bracket. Closing ones say nothing more.
    Open,
    /// The blank between a dash and a bracket, where `1365- [1986- ]` begins anew.
    Blank,
    Comma,
    Before,
    After,
    Between,
    And,
    /// `or`, and `to`: either gives two dates that belong together.
    Or,
    /// `i.e.`
    Correction,
    /// A word or number that means nothing to us.
    Other,
}

/// Years that a book, a manuscript or a film of a library may have.
const YEARS: std::ops::RangeInclusive<u32> = 1000..=2099;

/// The parts of a text that matter for its date, in their order.
pub(super) fn tokens(text: &str) -> SmallVec<[Token; 8]> {
    let chars: SmallVec<[char; 64]> = text.chars().map(ascii_digit).collect();
    let mut scanner =
        Scanner { chars: &chars, at: 0, tokens: SmallVec::new(), next: Date::default(), not: false };
    while let Some(c) = scanner.peek(0) {
        scanner.step(c);
    }
    scanner.tokens
}

struct Scanner<'a> {
    chars: &'a [char],
    at: usize,
    tokens: SmallVec<[Token; 8]>,
    /// What was said about the date to come.
    next: Date,
    not: bool,
}

impl Scanner<'_> {
    fn step(&mut self, c: char) {
        if c.is_ascii_digit() {
            return self.number();
        }
        if c.is_alphabetic() {
            return self.word();
        }
        self.at += 1;
        match c {
            '-' | '\u{2010}'..='\u{2015}' => self.tokens.push(Token::Dash),
            '/' => self.tokens.push(Token::Slash),
            '[' | '<' => self.tokens.push(Token::Open),
            ' ' if self.tokens.last() == Some(&Token::Dash) && self.next_is_bracket() => {
                self.tokens.push(Token::Blank);
            }
            ',' | ';' => {
                self.next = Date::default();
                self.tokens.push(Token::Comma);
            }
            '.' if self.peek(0) == Some('.') => {
                self.at += 1;
                self.tokens.push(Token::Dots);
            }
            '©' | '℗' => self.next.copyright = true,
            '?' | '~' | '%' => {
                if let Some(Token::Date(date)) = self.tokens.last_mut() {
                    date.uncertain |= c != '~';
                    date.approximate |= c != '?';
                }
            }
            _ => {}
        }
    }

    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn next_is_bracket(&self) -> bool {
        self.chars.iter().skip(self.at).find(|c| **c != ' ') == Some(&'[')
    }

    fn is_digit(&self, ahead: usize) -> bool {
        self.peek(ahead).is_some_and(|c| c.is_ascii_digit())
    }

    /// The number of digits from a place on.
    fn digits(&self, ahead: usize) -> usize {
        self.chars.iter().skip(self.at + ahead).take_while(|c| c.is_ascii_digit()).count()
    }

    /// The number that digits make.
    fn value(&self, ahead: usize, digits: usize) -> u32 {
        let digits = self.chars.iter().skip(self.at + ahead).take(digits).filter_map(|c| c.to_digit(10));
        digits.fold(0, |value, digit| value * 10 + digit)
    }

    fn push(&mut self, date: Date) {
        let said = std::mem::take(&mut self.next);
        self.tokens.push(Token::Date(Date {
            uncertain: said.uncertain,
            approximate: said.approximate,
            copyright: said.copyright,
            ..date
        }));
    }

    fn number(&mut self) {
        let mut length = self.digits(0);
        let mut value = self.value(0, length.min(8));
        let supplied = self.digits(length + 1);
        // `[19]99`, `19[99]`, `19[9-?]`: a part of the year was supplied.
        let is_split = matches!(self.peek(length), Some('[' | ']'))
            && length < 4
            && match length + supplied {
                4 => true,
                2 | 3 => matches!(self.peek(length + 1 + supplied), Some('-' | '?')),
                _ => false,
            };
        if is_split {
            value = self.value(length + 1, supplied) + value * [1, 10, 100, 1000].get(supplied).unwrap_or(&1);
            length += supplied;
            self.at += 1;
        }
        self.at += length;
        match (length, value) {
            (4, year) if YEARS.contains(&year) => self.year(year),
            (3, 100..=209) if self.takes_unknown(1) => {
                self.push(Date { year: value * 10, unknown: 1, ..Date::default() });
            }
            (2, 10..=20) if self.takes_unknown(2) => {
                self.push(Date { year: value * 100, unknown: 2, ..Date::default() });
            }
            // The basic format of ISO 8601.
            (8, _) => match (value / 10_000, value / 100 % 100, value % 100) {
                (year, month, day) if YEARS.contains(&year) && is_day(year, month, day) => {
                    self.push(Date { year, month: Some(month), day: Some(day), ..Date::default() });
                }
                _ => self.tokens.push(Token::Other),
            },
            _ => self.tokens.push(Token::Other),
        }
    }

    /// Reads on after a year: month and day as ISO 8601 has them, the end of a span in two
    /// digits (`1998-99`), or the `s` of a decade.
    fn year(&mut self, year: u32) {
        let mut date = Date { year, ..Date::default() };
        let sign = self.peek(0);
        // `1505-16--` ends in a century.
        let is_unknown = |c| matches!(c, Some('-' | '?' | 'u' | 'x' | 'X'));
        let is_century = is_unknown(self.peek(3)) && is_unknown(self.peek(4));
        let two = (self.digits(1) == 2 && !is_century).then(|| self.value(1, 2));
        match (sign, two) {
            (Some('-'), Some(number @ 1..=12)) => {
                date.month = Some(number);
                self.at += 3;
                if self.peek(0) == Some('-') && self.digits(1) == 2 {
                    date.day = Some(self.value(1, 2)).filter(|day| is_day(year, number, *day));
                    self.at += 3;
                }
                self.push(date);
                // The time of day.
                if self.peek(0) == Some('T') {
                    let is_time = |c: &&char| !c.is_whitespace() && **c != '/';
                    self.at += self.chars.iter().skip(self.at).take_while(is_time).count();
                }
            }
            (Some('-' | '–' | '/'), Some(number)) if number > year % 100 && number > 12 => {
                self.at += 3;
                self.push(date);
                self.tokens.push(Token::Dash);
                self.push(Date { year: year - year % 100 + number, ..date });
            }
            _ => {
                let apostrophe = usize::from(matches!(sign, Some('\'' | '’')));
                if year.is_multiple_of(10) && self.is_alone(apostrophe, 's') {
                    self.at += 1 + apostrophe;
                    date.unknown = if year.is_multiple_of(100) { 2 } else { 1 };
                }
                self.push(date);
            }
        }
    }

    /// Whether a letter that ends a word stands there.
    fn is_alone(&self, ahead: usize, letter: char) -> bool {
        self.peek(ahead) == Some(letter) && !self.peek(ahead + 1).is_some_and(char::is_alphanumeric)
    }

    /// Whether signs for so many unknown digits stand here, which are then read: `199-`,
    /// `199?`, `19--`, and `19uu` or `19XX` from coded data.
    fn takes_unknown(&mut self, digits: usize) -> bool {
        let bracket = usize::from(matches!(self.peek(0), Some('[' | ']')));
        let is_unknown = |c: Option<char>| matches!(c, Some('-' | '?' | 'u' | 'x' | 'X'));
        let taken = (0..digits).all(|digit| is_unknown(self.peek(bracket + digit)))
            && !self.peek(bracket + digits).is_some_and(char::is_alphanumeric);
        if taken {
            self.at += bracket + digits;
        }
        taken
    }

    fn word(&mut self) {
        if let Some((year, length)) = self.roman_year() {
            self.at += length;
            return self.push(Date { year, ..Date::default() });
        }
        let mut word: SmallVec<[char; 16]> = SmallVec::new();
        while let Some(c) = self.peek(0) {
            let inner_stop = c == '.' && self.peek(1).is_some_and(char::is_alphabetic);
            if c.is_alphabetic() {
                word.extend(c.to_lowercase());
            } else if !inner_stop {
                break;
            }
            self.at += 1;
        }
        match Word::known(&word) {
            // `c1850` is copyright, `c. 1850` is circa.
            Some(Word::Copyright) if word.len() == 1 && self.peek(0) == Some('.') => {
                self.next.approximate |= word.first() == Some(&'c');
            }
            Some(Word::Approximate) => self.next.approximate = true,
            Some(Word::Uncertain) => self.next.uncertain = true,
            Some(Word::Copyright) => self.next.copyright = true,
            Some(Word::Not) => self.not = true,
            Some(Word::Is(token)) => {
                let not = std::mem::take(&mut self.not);
                self.tokens.push(match token {
                    Token::Before if not => Token::After,
                    Token::After if not => Token::Before,
                    token => token,
                });
            }
            // A number that a word runs into is a shelfmark or a model, no year.
            None if self.is_digit(0) && word.iter().all(char::is_ascii) => {
                self.at += self.digits(0);
                self.tokens.push(Token::Other);
            }
            // Eras and initials (`1410 H. [1989]`) do not part dates that belong together.
            None if word.len() > 2 => self.tokens.push(Token::Other),
            None => {}
        }
    }

    /// A year in Roman numerals and how many characters it has. Old printers put stops and
    /// blanks between its parts: `M. DCC. LIV`.
    fn roman_year(&self) -> Option<(u32, usize)> {
        if !matches!(self.peek(0), Some('M' | 'm')) {
            return None;
        }
        let is_numeral = |c: char| matches!(c, 'M' | 'D' | 'C' | 'L' | 'X' | 'V' | 'I');
        let mut numerals = String::new();
        let mut found = None;
        let mut ahead = 0;
        while let Some(c) = self.peek(ahead) {
            if is_numeral(c.to_ascii_uppercase()) {
                numerals.push(c);
            } else if !matches!(c, '.' | ' ') || !numerals.chars().all(is_numeral) {
                break;
            }
            ahead += 1;
            let ends = !self.peek(ahead).is_some_and(char::is_alphanumeric);
            if c.is_alphabetic() && ends && numerals.len() >= 4 {
                match roman(&numerals).filter(|year| YEARS.contains(year)) {
                    Some(year) => found = Some((year, ahead)),
                    None => break,
                }
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dates(text: &str) -> Vec<(u32, u32)> {
        let dates = tokens(text).into_iter().filter_map(|token| match token {
            Token::Date(date) => Some((date.year, date.unknown)),
            _ => None,
        });
        dates.collect()
    }

    #[test]
    fn years_are_found_in_all_their_forms() {
        for text in [
            "1999",
            "c1999",
            "©1999",
            "[19]99",
            "19[99]",
            "199[9]",
            "MCMXCIX",
            "M.CM.XC.IX.",
            "M CM XCIX",
            "١٩٩٩",
        ] {
            assert_eq!(dates(text), [(1999, 0)], "of {text}");
        }
        for text in ["199-", "199-?", "[199-]", "19[9-?]", "199?", "199u", "199X", "1990s", "1990's"] {
            assert_eq!(dates(text), [(1990, 1)], "of {text}");
        }
        for text in ["19--", "[19--?]", "19[--]", "19uu", "19XX", "1900s"] {
            assert_eq!(dates(text), [(1900, 2)], "of {text}");
        }
        for text in ["1998-99", "1998/99", "1998–99", "1998-1999"] {
            assert_eq!(dates(text), [(1998, 0), (1999, 0)], "of {text}");
        }
    }

    #[test]
    fn other_numbers_are_no_years() {
        for text in
            ["", "19999", "999", "12", "5748", "0999", "2100", "LP1999", "ISBN 0140390448", "150-160", "MILD"]
        {
            assert_eq!(dates(text), [], "of {text}");
        }
    }
}
