//! `:nonfiling(text, count)`: a title without the article it is not sorted under.
//!
//! MARC counts the characters to leave out in an indicator. The count is often wrong, or made
//! before the accents were composed; one that would cut a word in two is not believed.

/// The text after `count` characters (`0` to `9`), or all of it if the count cannot be right.
pub fn nonfiling<'a>(text: &'a str, count: &str) -> &'a str {
    skip(text, count).unwrap_or(text)
}

fn skip<'a>(text: &'a str, count: &str) -> Option<&'a str> {
    let mut digits = count.trim().chars();
    let (Some(digit), None) = (digits.next(), digits.next()) else { return None };
    let count = usize::try_from(digit.to_digit(10)?).ok()?;
    let last = text.char_indices().nth(count.checked_sub(1)?)?;
    let rest = text.get(last.0 + last.1.len_utf8()..)?;
    let cuts_word = last.1.is_alphanumeric() && rest.starts_with(char::is_alphanumeric);
    // Whoever forgot to count the blank meant the article all the same.
    let rest = rest.trim_start();
    (!cuts_word && !rest.is_empty()).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, count: &str, rest: &str) {
        assert_eq!(nonfiling(text, count), rest);
    }

    #[test]
    fn articles_are_left_out() {
        check("The Maine woods", "4", "Maine woods");
        check("L'été", "2", "été");
        check("L’été", "2", "été");
        check("al-Kitāb", "3", "Kitāb");
        check("[The Maine woods]", "5", "Maine woods]");
        check("\"A\" is for alibi", "1", "A\" is for alibi");
        check("Der Zauberberg", "3", "Zauberberg");
        check("Walden", "0", "Walden");
    }

    #[test]
    fn counts_that_cannot_be_right_change_nothing() {
        check("Walden", "4", "Walden");
        check("The", "4", "The");
        check("The ", "4", "The ");
        check("The Maine woods", " ", "The Maine woods");
        check("The Maine woods", "", "The Maine woods");
        check("The Maine woods", "x", "The Maine woods");
        check("The Maine woods", "44", "The Maine woods");
        check("", "2", "");
    }
}
