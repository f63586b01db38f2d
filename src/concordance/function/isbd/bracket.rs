//! Brackets whose partner stands in another subfield.

use smallvec::SmallVec;
use std::borrow::Cow;

/// The text without brackets that have no partner. Round ones go only at the ends: a list of
/// `a) … b) …` has them inside on purpose.
pub(super) fn without_unmatched(text: &str) -> Cow<'_, str> {
    let lone = unmatched(text);
    let at_end = |at: usize| at == 0 || at + 1 == text.len();
    if lone.is_empty() {
        return Cow::Borrowed(text);
    }
    if lone.iter().all(|at| at_end(*at)) {
        let first = usize::from(lone.first() == Some(&0));
        let last = text.len() - usize::from(lone.last().is_some_and(|at| *at + 1 == text.len()));
        return Cow::Borrowed(text.get(first..last).unwrap_or_default());
    }
    let mut lone = lone.into_iter().peekable();
    let stays = |(at, _): &(usize, char)| lone.next_if_eq(at).is_none();
    Cow::Owned(text.char_indices().filter(stays).map(|(_, c)| c).collect())
}

/// Where the brackets to take out are, in their order.
fn unmatched(text: &str) -> SmallVec<[usize; 8]> {
    let mut square: SmallVec<[usize; 8]> = SmallVec::new();
    let mut round: SmallVec<[usize; 8]> = SmallVec::new();
    let mut lone: SmallVec<[usize; 8]> = SmallVec::new();
    let at_end = |at: usize| at == 0 || at + 1 == text.len();
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'[' => square.push(at),
            b'(' => round.push(at),
            b']' if square.pop().is_none() => lone.push(at),
            b')' if round.pop().is_none() && at_end(at) => lone.push(at),
            _ => {}
        }
    }
    lone.extend(square);
    lone.extend(round.into_iter().filter(|at| at_end(*at)));
    lone.sort_unstable();
    lone
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partners_stay_and_others_go() {
        let cases = [
            ("[a] (b)", "[a] (b)"),
            ("[a", "a"),
            ("a]", "a"),
            ("(a", "a"),
            ("a)", "a"),
            ("[a)", "a"),
            ("a [b", "a b"),
            ("a] b", "a b"),
            ("[[a]", "[a]"),
            ("a) b) c", "a) b) c"),
            ("[(a])", "[(a])"),
            ("[", ""),
            ("][", ""),
        ];
        for (given, gives) in cases {
            assert_eq!(without_unmatched(given), gives, "of {given}");
        }
    }

    #[test]
    fn only_brackets_inside_cost_a_copy() {
        assert!(matches!(without_unmatched("[a"), Cow::Borrowed("a")));
        assert!(matches!(without_unmatched("a [b"), Cow::Owned(_)));
    }
}
