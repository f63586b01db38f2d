//! The tokens of an expression or template, with their places.
//!
//! `spargebra` keeps no positions, so what is said about a piece of SPARQL (an unknown term, a
//! variable that nothing binds) is found here, in the token stream.

use std::ops::Range;

/// One token and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    pub kind: Kind,
    pub at: Range<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `$main` or `?main`
    Variable,
    /// `bf:title`, `:isbd`, `_:node`
    Name,
    /// `<http://…>`
    Iri,
    /// A string with its quotes.
    Text,
    /// A keyword or a bare function name.
    Word,
    Number,
    /// `( ) [ ] { } , ; .` and operators
    Sign,
}

/// The tokens of a text; comments and blanks are left out. What is no SPARQL becomes signs.
pub fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) {
        let rest = text.get(at..).unwrap_or_default();
        let (kind, length) = match c {
            c if c.is_whitespace() => {
                at += c.len_utf8();
                continue;
            }
            '#' => {
                at += rest.find('\n').unwrap_or(rest.len());
                continue;
            }
            '$' | '?' => match name_length(rest.get(1..).unwrap_or_default()) {
                0 => (Kind::Sign, 1),
                length => (Kind::Variable, 1 + length),
            },
            '"' | '\'' => (Kind::Text, string_length(rest, c)),
            '<' => match iri_length(rest) {
                Some(length) => (Kind::Iri, length),
                None if rest.starts_with("<=") => (Kind::Sign, 2),
                None => (Kind::Sign, 1),
            },
            c if c.is_ascii_digit() => {
                let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.' && c != 'e' && c != 'E');
                let number = rest.get(..end.unwrap_or(rest.len())).unwrap_or(rest);
                // `1 .` ends a triple; the stop is no part of the number.
                (Kind::Number, number.trim_end_matches('.').len().max(1))
            }
            c if c.is_alphabetic() || c == '_' || c == ':' => word(rest),
            _ if ["&&", "||", "!=", ">=", "^^"].iter().any(|sign| rest.starts_with(sign)) => (Kind::Sign, 2),
            c => (Kind::Sign, c.len_utf8()),
        };
        tokens.push(Token { kind, at: at..at + length });
        at += length;
    }
    tokens
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn name_length(text: &str) -> usize {
    text.find(|c| !is_name(c)).unwrap_or(text.len())
}

/// A keyword, or a prefixed name.
fn word(text: &str) -> (Kind, usize) {
    let is_prefix = |c: char| is_name(c) || c == '-';
    let prefix = text.find(|c| !is_prefix(c)).unwrap_or(text.len());
    let Some(local) = text.get(prefix..).and_then(|rest| rest.strip_prefix(':')) else {
        // Without a colon a hyphen is a minus.
        return (Kind::Word, name_length(text).max(1));
    };
    let is_local = |c: char| is_name(c) || matches!(c, '-' | '.' | ':' | '%');
    let end = local.find(|c| !is_local(c)).unwrap_or(local.len());
    // A full stop at the end closes the triple.
    let end = local.get(..end).unwrap_or_default().trim_end_matches('.').len();
    (Kind::Name, prefix + 1 + end)
}

fn string_length(text: &str, quote: char) -> usize {
    let long: String = [quote; 3].iter().collect();
    let (open, close) = if text.starts_with(&long) { (3, long.as_str()) } else { (1, &long[..1]) };
    let mut escaped = false;
    let body = text.get(open..).unwrap_or_default();
    for (at, c) in body.char_indices() {
        if escaped {
            escaped = false;
        } else if c == '\\' {
            escaped = true;
        } else if body.get(at..).is_some_and(|rest| rest.starts_with(close)) {
            return open + at + close.len();
        }
    }
    text.len()
}

fn iri_length(text: &str) -> Option<usize> {
    let end = text.find('>')?;
    let body = text.get(1..end)?;
    (!body.contains(|c: char| c.is_whitespace() || matches!(c, '"' | '<' | '{' | '}'))).then_some(end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<(Kind, &str)> {
        tokens(text).into_iter().map(|token| (token.kind, &text[token.at])).collect()
    }

    #[test]
    fn a_dollar_inside_a_string_is_no_variable() {
        assert_eq!(
            kinds(r#"REPLACE($a, "(\\d)", "$1") # $b"#),
            [
                (Kind::Word, "REPLACE"),
                (Kind::Sign, "("),
                (Kind::Variable, "$a"),
                (Kind::Sign, ","),
                (Kind::Text, r#""(\\d)""#),
                (Kind::Sign, ","),
                (Kind::Text, "\"$1\""),
                (Kind::Sign, ")"),
            ]
        );
    }

    #[test]
    fn names_end_before_the_full_stop_of_a_triple() {
        assert_eq!(
            kinds("$instance bf:title $0. _:n a <http://x/y> ; :isbd"),
            [
                (Kind::Variable, "$instance"),
                (Kind::Name, "bf:title"),
                (Kind::Variable, "$0"),
                (Kind::Sign, "."),
                (Kind::Name, "_:n"),
                (Kind::Word, "a"),
                (Kind::Iri, "<http://x/y>"),
                (Kind::Sign, ";"),
                (Kind::Name, ":isbd"),
            ]
        );
    }

    #[test]
    fn comparison_signs_are_no_iris() {
        assert_eq!(kinds("$a < 3 && $b >= 2").len(), 7);
    }
}
