//! `:nonsorting(text)` and its counterpart for sorting: titles with marks around the words that
//! are not sorted under.
//!
//! UNIMARC and MARC put U+0098 and U+009C around them, older data U+0088 and U+0089; files that
//! were typed have `<<Der>> Zauberberg` or `¬Der¬ Zauberberg`. A control character without its
//! partner goes too, since it shows nothing; other marks stay then, they may mean themselves.

use std::borrow::Cow;

/// Marks that open and close.
const MARKS: [(&str, &str); 4] = [("\u{98}", "\u{9C}"), ("\u{88}", "\u{89}"), ("<<", ">>"), ("¬", "¬")];
/// What a mark begins with, and the closing control characters.
const SIGNS: [char; 6] = ['\u{98}', '\u{9C}', '\u{88}', '\u{89}', '<', '¬'];

/// The title as it is read: without the marks, with the words.
pub fn nonsorting(text: &str) -> Cow<'_, str> {
    without_marks(text, true)
}

/// The title as it is sorted: without the marks and the words between them.
pub fn sorting(text: &str) -> Cow<'_, str> {
    without_marks(text, false)
}

fn without_marks(text: &str, keep_words: bool) -> Cow<'_, str> {
    let mut out = String::new();
    // Up to where the text is in `out`, and from where marks are looked for.
    let (mut done, mut from) = (0, 0);
    // A mark that is never closed again need not be looked for again.
    let mut closes = [true; 4];
    while let Some(found) = text.get(from..).and_then(|rest| rest.find(SIGNS)) {
        let at = from + found;
        let rest = text.get(at..).unwrap_or_default();
        let pair = MARKS.iter().zip(&mut closes).find_map(|((open, close), closes)| {
            let inside = rest.strip_prefix(open).filter(|_| *closes)?;
            let pair = inside.split_once(close);
            *closes = pair.is_some();
            pair
        });
        let sign = rest.chars().next().map_or(1, char::len_utf8);
        let (words, after) = match pair {
            Some((words, after)) => (words, text.len() - after.len()),
            None if rest.starts_with(char::is_control) => ("", at + sign),
            None => {
                from = at + sign;
                continue;
            }
        };
        push(&mut out, text.get(done..at).unwrap_or_default());
        if keep_words {
            push(&mut out, words);
        }
        (done, from) = (after, after);
    }
    if done == 0 {
        return Cow::Borrowed(text);
    }
    push(&mut out, text.get(done..).unwrap_or_default());
    Cow::Owned(out)
}

/// Where a mark stood between two blanks, one is left.
fn push(out: &mut String, text: &str) {
    let text = if out.is_empty() || out.ends_with(' ') { text.trim_start_matches(' ') } else { text };
    out.push_str(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, read: &str, sorted: &str) {
        assert_eq!((&*nonsorting(text), &*sorting(text)), (read, sorted), "of {text:?}");
    }

    #[test]
    fn marks_go_and_words_stay_for_reading_only() {
        check("\u{98}Der \u{9C}Zauberberg", "Der Zauberberg", "Zauberberg");
        check("\u{98}Der\u{9C} Zauberberg", "Der Zauberberg", "Zauberberg");
        check("\u{88}L'\u{89}été", "L'été", "été");
        check("<<Der>> Zauberberg", "Der Zauberberg", "Zauberberg");
        check("<<Der >> Zauberberg", "Der Zauberberg", "Zauberberg");
        check("¬Der ¬Zauberberg", "Der Zauberberg", "Zauberberg");
        check("Mann: <<Der>> Zauberberg", "Mann: Der Zauberberg", "Mann: Zauberberg");
        check("¬The¬ hare and ¬the¬ tortoise", "The hare and the tortoise", "hare and tortoise");
    }

    #[test]
    fn marks_without_a_partner_are_control_characters_or_text() {
        check("\u{98}Der Zauberberg", "Der Zauberberg", "Der Zauberberg");
        check("\u{98}Der Zauberberg\u{89}", "Der Zauberberg", "Der Zauberberg");
        check("a << b", "a << b", "a << b");
        check("a < b <<Der>> Berg", "a < b Der Berg", "a < b Berg");
        check("¬p", "¬p", "¬p");
    }

    #[test]
    fn texts_without_marks_are_borrowed() {
        assert!(matches!(nonsorting("Der  Zauberberg"), Cow::Borrowed("Der  Zauberberg")));
        assert!(matches!(sorting("Walden"), Cow::Borrowed("Walden")));
    }
}
