//! `:direct(name)` and `:inverted(name)`: names as they are said and as they are filed.
//!
//! `Thoreau, Henry David` is filed under its surname. Turning it around needs to know which
//! part after a comma is a forename; dates, epithets (`of Assisi`), titles (`King of France`)
//! and the parts of a firm's name are not, and such a name keeps its order. Lower-case
//! particles go with the forename, as German and Dutch file them: `Beethoven, Ludwig van`.
//! Names in Chinese, Japanese and Korean characters are said surname first.

use super::isbd::isbd;
use super::roman::roman;
use super::script::script;
use std::borrow::Cow;

/// Words that begin a part that is no forename.
const TITLES: &[&str] = &[
    "Baron", "Bishop", "Count", "Duke", "Earl", "Emperor", "Empress", "Graf", "King", "Lady", "Lord", "Mrs",
    "Pope", "Prince", "Princess", "Queen", "Rabbi", "Saint", "Sir", "Sultan",
];
/// What is said after the surname.
const SUFFIXES: &[&str] = &["Jr", "Sr", "II", "III", "IV"];
/// What the name of a firm has after a comma.
const FIRMS: &[&str] = &["&", "and", "Inc", "Ltd", "LLC", "GmbH", "Co", "et", "und"];

/// The name as it is said: `Henry David Thoreau`. Dates and titles after the forename go.
pub fn direct(name: &str) -> Cow<'_, str> {
    map(isbd(name), |name| {
        let Parts { surname, forename, suffix } = Parts::of(name)?;
        let is_first = is_said_surname_first(surname);
        let (said_first, said_last) = if is_first { (surname, forename) } else { (forename, surname) };
        // The particle of `Alembert, Jean d'` is written to its name.
        let blank = if said_first.ends_with(['\'', '’']) { "" } else { " " };
        Some(match suffix {
            Some(suffix) if suffix.starts_with('I') => format!("{said_first}{blank}{said_last} {suffix}"),
            Some(suffix) => format!("{said_first}{blank}{said_last}, {suffix}"),
            None => format!("{said_first}{blank}{said_last}"),
        })
    })
}

/// The name as it is filed: `Thoreau, Henry David`. A name with a comma is filed already.
pub fn inverted(name: &str) -> Cow<'_, str> {
    map(isbd(name), |name| {
        if is_said_surname_first(name) {
            return None;
        }
        let (said, suffix) = match name.rsplit_once(' ') {
            Some((said, last)) if said.contains(' ') && SUFFIXES.contains(&last.trim_end_matches('.')) => {
                (said, Some(last))
            }
            _ => (name, None),
        };
        let said = said.trim_end().trim_end_matches(',');
        let (forename, surname) = said.rsplit_once(char::is_whitespace)?;
        // `Louis XVI` has no surname.
        if forename.contains(',') || (roman(surname).is_some() && surname.chars().all(char::is_uppercase)) {
            return None;
        }
        let forename = forename.trim_end();
        Some(match suffix {
            Some(suffix) => format!("{surname}, {forename}, {suffix}"),
            None => format!("{surname}, {forename}"),
        })
    })
}

/// The parts of a filed name.
pub(super) struct Parts<'a> {
    pub surname: &'a str,
    pub forename: &'a str,
    pub suffix: Option<&'a str>,
}

impl<'a> Parts<'a> {
    /// The parts, nothing if there is no forename after a comma.
    pub fn of(name: &'a str) -> Option<Self> {
        let mut parts = name.split(',').map(str::trim);
        let surname = parts.next().filter(|surname| is_surname(surname))?;
        let forename = parts.next().map(without_addition).filter(|part| is_forename(part))?;
        let suffix = parts.find(|part| SUFFIXES.contains(&part.trim_end_matches('.')));
        Some(Self { surname, forename, suffix })
    }
}

/// Whether a part before a comma is a surname: `Agency for Development, Boston` has none, nor
/// has `Museum (Boston, Mass.)`.
fn is_surname(part: &str) -> bool {
    !part.is_empty()
        && !part.contains('(')
        && !is_firm(part)
        && !part.split(' ').any(|word| matches!(word, "of" | "for" | "für"))
}

/// Whether a part after a comma is a forename.
fn is_forename(part: &str) -> bool {
    let first = part.split_whitespace().next().unwrap_or_default().trim_end_matches('.');
    !first.is_empty()
        && !first.starts_with(char::is_lowercase)
        && !TITLES.contains(&first)
        && !SUFFIXES.contains(&first)
        && !is_firm(part)
        && !has_subordinate(part)
}

/// Whether a name has parts of its own, as in `United States. Congress`: a full stop after a
/// word and not after an initial.
pub(super) fn has_subordinate(name: &str) -> bool {
    name.match_indices(". ").filter_map(|(at, _)| name.get(..at)).any(|before| {
        let word = before.chars().rev().take_while(|c| c.is_alphabetic());
        word.take(4).count() == 4
    })
}

/// Whether a part of a name is that of a firm: `Rinehart & Winston`, `Inc.`
pub(super) fn is_firm(part: &str) -> bool {
    part.split_whitespace().any(|word| FIRMS.contains(&word.trim_end_matches('.')))
}

/// `H. D. (Henry David)` without what the initials stand for, `Jane 1775-1817` without dates.
fn without_addition(forename: &str) -> &str {
    let end = forename.find(|c: char| c == '(' || c.is_numeric()).unwrap_or(forename.len());
    forename.get(..end).unwrap_or(forename).trim_end()
}

fn is_said_surname_first(name: &str) -> bool {
    matches!(script(name), Some("Hani" | "Hira" | "Kana" | "Hang" | "Bopo"))
}

/// Changes a text that may be borrowed, or leaves it.
fn map<'a>(text: Cow<'a, str>, change: impl FnOnce(&str) -> Option<String>) -> Cow<'a, str> {
    match change(&text) {
        Some(changed) => Cow::Owned(changed),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_direct(name: &str, said: &str) {
        assert_eq!(direct(name), said);
    }

    #[track_caller]
    fn check_inverted(name: &str, filed: &str) {
        assert_eq!(inverted(name), filed);
    }

    #[test]
    fn the_forename_is_said_first() {
        check_direct("Thoreau, Henry David,", "Henry David Thoreau");
        check_direct("Thoreau, Henry David, 1817-1862.", "Henry David Thoreau");
        check_direct("Thoreau, H. D. (Henry David), 1817-1862", "H. D. Thoreau");
        check_direct("Thoreau, Henry David 1817-1862", "Henry David Thoreau");
        check_direct("Thoreau, Henry David (1817-1862)", "Henry David Thoreau");
        check_direct("Thoreau, Henry D.", "Henry D. Thoreau");
        check_direct("Beethoven, Ludwig van", "Ludwig van Beethoven");
        check_direct("Alembert, Jean d'", "Jean d'Alembert");
        check_direct("King, Martin Luther, Jr., 1929-1968", "Martin Luther King, Jr.");
        check_direct("Gates, Bill, III", "Bill Gates III");
        check_direct("村上, 春樹", "村上 春樹");
    }

    #[test]
    fn what_is_no_forename_keeps_its_place() {
        check_direct("Louis XVI, King of France", "Louis XVI, King of France");
        check_direct("Francis, of Assisi, Saint", "Francis, of Assisi, Saint");
        check_direct("Plato.", "Plato");
        check_direct("Homer, 8th cent. B.C.", "Homer, 8th cent. B.C.");
        check_direct("Holt, Rinehart & Winston,", "Holt, Rinehart & Winston");
        check_direct("Macmillan, Inc.", "Macmillan, Inc.");
        check_direct("Agency for Development, Boston", "Agency for Development, Boston");
        check_direct("Museum (Boston, Mass.)", "Museum (Boston, Mass.)");
        check_direct("Academia, Boston. Inst. of Science", "Academia, Boston. Inst. of Science");
        check_direct("Henry David Thoreau", "Henry David Thoreau");
        check_direct("", "");
    }

    #[test]
    fn the_surname_is_filed_first() {
        check_inverted("Henry David Thoreau", "Thoreau, Henry David");
        check_inverted("Ludwig van Beethoven", "Beethoven, Ludwig van");
        check_inverted("Martin Luther King, Jr.", "King, Martin Luther, Jr.");
        check_inverted("Bill Gates III", "Gates, Bill, III");
        check_inverted("Thoreau, Henry David,", "Thoreau, Henry David");
        check_inverted("Plato", "Plato");
        check_inverted("Henry II", "Henry II");
        check_inverted("Louis XVI", "Louis XVI");
        check_inverted("村上 春樹", "村上 春樹");
        check_inverted("", "");
    }

    #[test]
    fn turning_a_name_around_twice_gives_it_back() {
        for name in
            ["Henry David Thoreau", "Ludwig van Beethoven", "Martin Luther King, Jr.", "Bill Gates III"]
        {
            assert_eq!(direct(&inverted(name)), name);
        }
    }

    #[test]
    fn names_that_keep_their_order_are_borrowed() {
        assert!(matches!(direct("Plato."), Cow::Borrowed("Plato")));
        assert!(matches!(inverted("Thoreau, Henry David,"), Cow::Borrowed("Thoreau, Henry David")));
    }
}
