//! `:isbd(text)`: an element of a description without the punctuation that introduces the next.
//!
//! ISBD puts ` : `, ` / `, ` ; `, ` = `, ` + ` and `. -- ` between elements, and MARC keeps
//! them at the end of the subfield before. They go, with blanks and with brackets whose partner
//! stands in another subfield (`[London ; New York]`); a pair around the whole stays, since it
//! says that a cataloguer supplied the text. Marks that belong to the text (`?`, `!`, `...`,
//! the hyphen of `1946-`) stay. Whether a full stop belongs to it is the hard part, for
//! [`abbreviation`].

mod abbreviation;
mod bracket;

use abbreviation::is_abbreviated;
use bracket::without_unmatched;
use std::borrow::Cow;

/// The text without ISBD punctuation at its ends.
pub fn isbd(text: &str) -> Cow<'_, str> {
    let mut text = ends(text);
    // A bracket may hide punctuation, which may hide a bracket. Real data have two such layers
    // at most, and what was made to have thousands must not cost their square.
    for _ in 0..4 {
        if !text.bytes().any(|byte| matches!(byte, b'[' | b']' | b'(' | b')')) {
            break;
        }
        let paired = match without_unmatched(text) {
            // A stop before a closing bracket is no stop of the field.
            Cow::Borrowed(paired) => start(end(paired, text.ends_with([']', ')']))),
            Cow::Owned(paired) => return Cow::Owned(ends(&paired).to_owned()),
        };
        if paired.len() == text.len() {
            return within(text);
        }
        text = paired;
    }
    Cow::Borrowed(text)
}

/// The text in its brackets, without punctuation inside them: `[Boston : ]`.
fn within(text: &str) -> Cow<'_, str> {
    let Some(inside) = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) else {
        return Cow::Borrowed(text);
    };
    match start(end(inside, true)) {
        _ if inside.contains(['[', ']']) => Cow::Borrowed(text),
        "" => Cow::Borrowed(""),
        bare if bare.len() == inside.len() => Cow::Borrowed(text),
        bare => Cow::Owned(format!("[{bare}]")),
    }
}

fn ends(text: &str) -> &str {
    start(end(text, false))
}

/// The text without punctuation before it.
fn start(text: &str) -> &str {
    let mut text = text.trim_start();
    loop {
        let Some(first) = text.chars().next().filter(|first| is_mark(*first)) else { return text };
        let rest = text.trim_start_matches(first);
        let spaced = rest.is_empty() || rest.starts_with(char::is_whitespace);
        let strip = match first {
            ',' | ';' | ':' | '،' | '؛' => true,
            '/' | '=' | '+' | '-' | '–' | '—' => spaced,
            // `.NET` and `... and justice for all` begin so.
            '.' => {
                let dots = text.len() - rest.len();
                dots < 3 && !text.starts_with(". . .") && (spaced || rest.starts_with(['-', '–', '—']))
            }
            _ => false,
        };
        if !strip {
            return text;
        }
        text = rest.trim_start();
    }
}

/// The text without punctuation after it. Whether other punctuation followed tells what a full
/// stop is.
fn end(text: &str, mut followed: bool) -> &str {
    let mut text = text.trim_end();
    let mut address = None;
    loop {
        let Some(last) = text.chars().next_back().filter(|last| is_mark(*last)) else { return text };
        let stem = text.trim_end_matches(last);
        let bare = stem.trim_end();
        let count = text.chars().rev().take_while(|c| *c == last).count();
        let spaced = bare.len() != stem.len() || bare.is_empty();
        match last {
            ',' | ';' | ':' | '،' | '؛' => followed = true,
            // The slash at the end of an address is part of it.
            '/' | '=' if spaced || !*address.get_or_insert_with(|| text.contains("://")) => followed = true,
            // `C++` is a title.
            '+' if spaced => followed = true,
            // `1946-` and `19--` are dates that are not complete, `1946 -` too.
            '-' | '–' | '—' if is_dash(bare, spaced, count > 1 || last == '—') => followed = false,
            '.' if text.ends_with(". . .") => return text,
            '.' if count > 2 => return text.get(..stem.len() + 3).unwrap_or(text),
            // The stop of the field after the stop of an abbreviation.
            '.' if count == 2 => {
                followed = true;
                text = text.strip_suffix('.').unwrap_or(text);
                continue;
            }
            '.' if !spaced && is_abbreviated(stem, followed) => return text,
            '.' => followed = false,
            _ => return text,
        }
        text = bare;
    }
}

/// What may introduce an element.
fn is_mark(c: char) -> bool {
    matches!(c, ',' | ';' | ':' | '،' | '؛' | '/' | '=' | '+' | '-' | '–' | '—' | '.')
}

fn is_dash(before: &str, spaced: bool, long: bool) -> bool {
    let after_number = before.ends_with(|c: char| c.is_numeric());
    match (spaced || before.ends_with('.'), long) {
        (true, true) => true,
        (true, false) | (false, true) => !after_number,
        (false, false) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(cases: &[(&str, &str)]) {
        for (given, gives) in cases {
            assert_eq!(isbd(given), *gives, "of {given:?}");
        }
    }

    #[test]
    fn punctuation_before_the_next_element_goes() {
        check(&[
            ("Walden :", "Walden"),
            ("Walden ;", "Walden"),
            ("Walden /", "Walden"),
            ("Walden/", "Walden"),
            ("Walden =", "Walden"),
            ("Walden +", "Walden"),
            ("Walden,", "Walden"),
            ("Walden.", "Walden"),
            ("Walden .", "Walden"),
            ("Walden. --", "Walden"),
            ("Walden.--", "Walden"),
            ("Walden. -", "Walden"),
            ("Walden --", "Walden"),
            ("Walden. —", "Walden"),
            ("Walden ; /", "Walden"),
            ("  Walden  ", "Walden"),
            ("Melville, Herman,", "Melville, Herman"),
            ("Holt, Rinehart & Winston,", "Holt, Rinehart & Winston"),
            ("or, Life in the woods /", "or, Life in the woods"),
            ("1993.", "1993"),
            ("c1985.", "c1985"),
            ("1818-1893.", "1818-1893"),
            ("1910?.", "1910?"),
            ("24 cm.", "24 cm"),
            ("24 cm. +", "24 cm"),
            ("p. ix-xv.", "p. ix-xv"),
            ("Children's.", "Children's"),
            ("GmbH.", "GmbH"),
            ("p. cm.", "p. cm"),
            ("Washington (State).", "Washington (State)"),
            ("محمد،", "محمد"),
        ]);
    }

    #[test]
    fn punctuation_after_the_element_before_goes() {
        check(&[
            (": or, Life in the woods", "or, Life in the woods"),
            ("/ Henry D. Thoreau.", "Henry D. Thoreau"),
            ("= Walden", "Walden"),
            (". -- Boston", "Boston"),
            (".-- Boston", "Boston"),
            (". Part 2", "Part 2"),
            (", c1985", "c1985"),
            ("- Boston", "Boston"),
        ]);
    }

    #[test]
    fn stops_of_abbreviations_and_initials_stay() {
        check(&[
            ("Thoreau, Henry D.", "Thoreau, Henry D."),
            ("Thoreau, Henry D.,", "Thoreau, Henry D."),
            ("Na, T. Y.", "Na, T. Y."),
            ("Sartre, J.-P.", "Sartre, J.-P."),
            ("221 p.", "221 p."),
            ("221 p. :", "221 p."),
            ("3 v. :", "3 v."),
            ("287 с. :", "287 с."),
            ("New York, N.Y.", "New York, N.Y."),
            ("New York, N.Y. :", "New York, N.Y."),
            ("Washington, D.C. :", "Washington, D.C."),
            ("tables, etc.", "tables, etc."),
            ("tables, etc..", "tables, etc."),
            ("Macmillan, Inc.", "Macmillan, Inc."),
            ("Little, Brown & co.,", "Little, Brown & co."),
            ("2nd ed.", "2nd ed."),
            ("2nd ed. --", "2nd ed."),
            ("3. durchgesehene Aufl.", "3. durchgesehene Aufl."),
            ("Nouv. éd.", "Nouv. éd."),
            ("Hrsg.", "Hrsg."),
            ("2 Bd.", "2 Bd."),
            ("King, Martin Luther, Jr.,", "King, Martin Luther, Jr."),
            ("Ph.D.", "Ph.D."),
            ("B.Sc.", "B.Sc."),
            ("M. Herlihy ... [et al.].", "M. Herlihy ... [et al.]"),
            ("ill. ;", "ill."),
            ("и др.", "и др."),
        ]);
    }

    #[test]
    fn a_stop_before_other_punctuation_is_an_abbreviation() {
        check(&[
            ("Boston, Mass.,", "Boston, Mass."),
            ("Boston, Mass. :", "Boston, Mass."),
            ("Montréal, Qué. :", "Montréal, Qué."),
            ("Худож. лит.,", "Худож. лит."),
            ("Minneapolis. ;", "Minneapolis"),
        ]);
    }

    #[test]
    fn stops_of_sentences_and_fields_go() {
        check(&[
            ("Moby Dick.", "Moby Dick"),
            ("Austen, Jane.", "Austen, Jane"),
            ("Faust.", "Faust"),
            ("Plato.", "Plato"),
            ("Elizabeth I.", "Elizabeth I"),
            ("Richard II.", "Richard II"),
            ("BBC.", "BBC"),
            ("Thoreau, Henry David, 1817-1862.", "Thoreau, Henry David, 1817-1862"),
            ("Пушкин.", "Пушкин"),
            ("प्रथम संस्करण.", "प्रथम संस्करण"),
            ("1999..", "1999"),
        ]);
    }

    #[test]
    fn marks_that_belong_to_the_text_stay() {
        check(&[
            ("What is to be done?", "What is to be done?"),
            ("What is to be done? /", "What is to be done?"),
            ("O pioneers!", "O pioneers!"),
            ("by Egerton Castle ...", "by Egerton Castle ..."),
            ("And then ....", "And then ..."),
            ("And then . . .", "And then . . ."),
            ("... and justice for all", "... and justice for all"),
            (".NET in a nutshell", ".NET in a nutshell"),
            ("C++", "C++"),
            ("1946-", "1946-"),
            ("1946-,", "1946-"),
            ("19--", "19--"),
            ("Jazz-", "Jazz-"),
            ("http://example.org/", "http://example.org/"),
        ]);
    }

    #[test]
    fn brackets_stay_in_pairs() {
        check(&[
            ("[1999]", "[1999]"),
            ("[1999].", "[1999]"),
            ("[1999?] :", "[1999?]"),
            ("New York]", "New York"),
            ("New York] :", "New York"),
            ("[London ;", "London"),
            ("London, [England :", "London, England"),
            ("1999],", "1999"),
            ("s.n.],", "s.n."),
            ("[S.l. :", "S.l."),
            ("(Bārāṇasī :", "Bārāṇasī"),
            ("Kāthalika Presa)", "Kāthalika Presa"),
            ("[Kalakattā : ]", "[Kalakattā]"),
            ("Cambridge, Mass.],", "Cambridge, Mass."),
            ("[Cambridge, Mass.]", "[Cambridge, Mass.]"),
            ("[Walden] : [a life]", "[Walden] : [a life]"),
            ("a) one b) two", "a) one b) two"),
            ("[1999)", "1999"),
            ("[]", ""),
        ]);
    }

    #[test]
    fn punctuation_alone_is_nothing() {
        check(&[("", ""), (" ", ""), (" : ", ""), ("/", ""), (".", ""), ("...", "..."), ("?", "?")]);
    }

    #[test]
    fn what_needs_no_change_is_borrowed() {
        for text in ["Walden", "Walden :", "[1999]", "New York]", "Thoreau, Henry D.,"] {
            assert!(matches!(isbd(text), Cow::Borrowed(_)), "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_ends_with_what_introduces_the_next(text in "[A-Ca-c1 .,:;/=+\\[\\]?-]{0,12}|\\PC{0,8}") {
            let bare = isbd(&text);
            prop_assert_eq!(bare.trim(), &*bare);
            prop_assert!(!bare.ends_with([',', ';', ':']) && !bare.starts_with([',', ';', ':']), "{}", bare);
        }
    }
}
