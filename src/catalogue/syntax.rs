//! Saying where a query does not parse, and what was probably meant.
//!
//! The parser names the furthest place it came to and every character class it could have gone on
//! with, and that place may be behind the fault. Users want the word that is wrong: one that is no
//! word of SPARQL, a prefix that nothing declares, or else the place itself and the words among what was expected.

use crate::diagnostic::near;
use crate::diagnostic::render::excerpt;
use crate::ontology::Prefixes;
use std::ops::Range;

const WORDS: &str = include_str!("sparql-words.tsv");
/// Words that are shown of those expected.
const EXPECTED: usize = 8;

/// What is wrong with a query or an update, given the parser's own message
/// (`error at 1:26: expected …`). `called` is what the text is: a query or an update.
pub fn explain(called: &str, query: &str, message: &str) -> String {
    let Some((line, column, expected)) = place(message) else { return message.to_owned() };
    let text = |line: usize| query.lines().nth(line - 1).unwrap_or_default();
    let fault = if expected.contains("Prefix not found") {
        let text: Vec<char> = text(line).chars().collect();
        undeclared(query, &text, column - 1).map(|fault| (line, fault))
    } else {
        misspelt(query)
    };
    let (line, fault) = fault.unwrap_or_else(|| (line, unexpected(column - 1, expected)));
    let Fault { at, what, hint } = fault;
    let (column, width) = (at.start + 1, at.len());
    let mut out = format!("the {called} cannot be parsed at line {line}, column {column}");
    if !what.is_empty() {
        out.push_str(&format!(": {what}"));
    }
    out.push_str(&excerpt(text(line), line, column, width, ""));
    if !hint.is_empty() {
        out.push_str(&format!("\nhint: {hint}"));
    }
    out
}

/// What is wrong, where in the line, and what to do.
struct Fault {
    at: Range<usize>,
    what: String,
    hint: String,
}

/// Nothing is known but the place.
fn unexpected(at: usize, expected: &str) -> Fault {
    let words: Vec<&str> = expected
        .trim_start_matches("expected ")
        .trim_start_matches("one of ")
        .split(", ")
        .filter(|word| {
            !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || " {}().;?\"".contains(c))
        })
        .take(EXPECTED)
        .collect();
    let hint = if words.is_empty() { String::new() } else { format!("expected {}", words.join(", ")) };
    Fault { at: at..at + 1, what: String::new(), hint }
}

/// The first word of the query that is none of SPARQL. All bare words are, so it is wrong wherever
/// the parser stumbled.
fn misspelt(query: &str) -> Option<(usize, Fault)> {
    let known = || WORDS.lines().filter(|line| !line.starts_with('#'));
    let mut open = None;
    for (line, text) in query.lines().enumerate() {
        let text: Vec<char> = text.chars().collect();
        for at in bare_words(&text, &mut open) {
            let word: String = text.get(at.clone())?.iter().collect();
            if known().any(|known| known.eq_ignore_ascii_case(&word)) {
                continue;
            }
            let near = near(&word.to_uppercase(), known());
            let hint = near.first().map_or_else(String::new, |near| format!("did you mean `{near}`?"));
            return Some((line + 1, Fault { at, what: format!("`{word}` is no word of SPARQL"), hint }));
        }
    }
    None
}

/// The words of a line that are no part of a variable, a name, an IRI, a string or a comment.
/// `open` is the quote of a long string that an earlier line began and none has ended; it is left
/// as the next line needs it. Of a short string that does not end, the rest of its line is a part.
fn bare_words(text: &[char], open: &mut Option<char>) -> Vec<Range<usize>> {
    let is_name = |c: char| c.is_alphanumeric() || "_-.:%\\".contains(c);
    let mut found = Vec::new();
    let mut at = 0;
    if let Some(quote) = *open {
        let Some(end) = end_of_string(text, quote, true) else { return found };
        *open = None;
        at = end;
    }
    while let Some(first) = text.get(at).copied() {
        let rest = text.get(at + 1..).unwrap_or_default();
        let run = |belongs: &dyn Fn(char) -> bool| rest.iter().take_while(|c| belongs(**c)).count();
        at += 1;
        match first {
            '#' => break,
            '"' | '\'' => {
                let long = rest.starts_with(&[first, first]);
                at += if long { 2 } else { 0 };
                match end_of_string(text.get(at..).unwrap_or_default(), first, long) {
                    Some(end) => at += end,
                    None => {
                        *open = long.then_some(first);
                        break;
                    }
                }
            }
            '<' => {
                let length = run(&|c| !c.is_whitespace() && !"<>\"{}|^`".contains(c));
                // Without a `>` it is less than something.
                if rest.get(length) == Some(&'>') {
                    at += length + 1;
                }
            }
            '?' | '$' | '@' | ':' => at += run(&is_name),
            c if c.is_ascii_digit() => at += run(&is_name),
            c if c.is_alphabetic() || c == '_' => {
                let end = at + run(&is_name);
                let word = text.get(at - 1..end).unwrap_or_default();
                let plain = word.iter().take_while(|c| c.is_alphanumeric() || **c == '_').count();
                if !word.contains(&':') {
                    found.push(at - 1..at - 1 + plain);
                }
                at = end;
            }
            _ => {}
        }
    }
    found
}

/// How far it is behind the end of a string whose first quotes are passed; `None` if it does not end
/// in this line. A long string ends with three quotes.
fn end_of_string(rest: &[char], quote: char, long: bool) -> Option<usize> {
    let mut at = 0;
    loop {
        match rest.get(at)? {
            '\\' => at += 2,
            c if *c == quote && !long => return Some(at + 1),
            c if *c == quote && rest.get(at..at + 3) == Some(&[quote; 3]) => return Some(at + 3),
            _ => at += 1,
        }
    }
}

/// The prefixed name that ends before the place, whose prefix nothing declares.
fn undeclared(query: &str, text: &[char], at: usize) -> Option<Fault> {
    let is_name = |c: char| c.is_alphanumeric() || "_-.:%".contains(c);
    // The parser has passed the name, and perhaps blanks after it.
    let blanks = text.get(..at)?.iter().rev().take_while(|c| c.is_whitespace()).count();
    let name = touching(text, at - blanks, is_name)?;
    let written: String = text.get(name.clone())?.iter().collect();
    let (prefix, _) = written.split_once(':')?;
    let what = format!("nothing declares the prefix `{prefix}:`");
    let near = near(prefix, declared(query).chain(Prefixes::shipped().iter().map(|row| row.name.as_str())));
    let hint = match near.first() {
        Some(near) => format!("did you mean `{near}:`? Else declare it: `PREFIX {prefix}: <…>`"),
        None => format!("add a line `PREFIX {prefix}: <…>` before the query"),
    };
    Some(Fault { at: name.start..name.start + prefix.chars().count() + 1, what, hint })
}

/// The prefixes that a query declares itself.
fn declared(query: &str) -> impl Iterator<Item = &str> {
    let mut words = query.split_whitespace();
    std::iter::from_fn(move || {
        words.find(|word| word.eq_ignore_ascii_case("prefix"))?;
        words.next().map(|word| word.split(':').next().unwrap_or_default())
    })
}

/// The run of such characters that begins at a place, is around it, or ends right before it.
fn touching(text: &[char], at: usize, belongs: impl Fn(char) -> bool) -> Option<Range<usize>> {
    let at = at.min(text.len());
    let (before, after) = text.split_at_checked(at)?;
    let start = at - before.iter().rev().take_while(|c| belongs(**c)).count();
    let end = at + after.iter().take_while(|c| belongs(**c)).count();
    (start < end).then_some(start..end)
}

fn place(message: &str) -> Option<(usize, usize, &str)> {
    let (place, expected) = message.strip_prefix("error at ")?.split_once(": ")?;
    let (line, column) = place.split_once(':')?;
    let (line, column) = (line.parse().ok()?, column.parse().ok()?);
    (line > 0 && column > 0).then_some((line, column, expected))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ontology::sparql_parser;

    #[track_caller]
    fn check(query: &str, expected: &str) {
        let error = sparql_parser().parse_query(query).expect_err("a fault").to_string();
        assert_eq!(explain("query", query, &error), expected, "{error}");
    }

    #[test]
    fn the_place_is_underlined_and_character_classes_are_left_out() {
        let said = explain(
            "query",
            "SELECT *\n{ ?s ?p }",
            "error at 2:9: expected one of UNION, ['a'..='z'], FILTER",
        );
        assert_eq!(
            said,
            "the query cannot be parsed at line 2, column 9\n  |\n2 | { ?s ?p }\n  |         ^\nhint: expected UNION, FILTER"
        );
        assert_eq!(explain("query", "x", "something else"), "something else");
    }

    #[test]
    fn a_misspelt_word_is_named_with_the_one_that_was_meant() {
        check(
            "SELCT ?s WHERE { ?s ?p ?o }",
            "the query cannot be parsed at line 1, column 1: `SELCT` is no word of SPARQL\n  |\n\
             1 | SELCT ?s WHERE { ?s ?p ?o }\n  | ^^^^^\nhint: did you mean `SELECT`?",
        );
        check(
            "SELECT ?s\nWHRE { ?s ?p ?o }",
            "the query cannot be parsed at line 2, column 1: `WHRE` is no word of SPARQL\n  |\n\
             2 | WHRE { ?s ?p ?o }\n  | ^^^^\nhint: did you mean `WHERE`?",
        );
        check(
            "SELECT * { ?s ?p ?o . FILTR (?o > 1) }",
            "the query cannot be parsed at line 1, column 23: `FILTR` is no word of SPARQL\n  |\n\
             1 | SELECT * { ?s ?p ?o . FILTR (?o > 1) }\n  |                       ^^^^^\nhint: did you mean `FILTER`?",
        );
    }

    #[test]
    fn a_prefix_that_nothing_declares_is_named() {
        check(
            "SELECT * { ?s bff:title ?o }",
            "the query cannot be parsed at line 1, column 15: nothing declares the prefix `bff:`\n  |\n\
             1 | SELECT * { ?s bff:title ?o }\n  |               ^^^^\n\
             hint: did you mean `bf:`? Else declare it: `PREFIX bff: <…>`",
        );
        check(
            "PREFIX mine: <http://mine.example/>\nSELECT * {\n\t?s min:title ?o }",
            "the query cannot be parsed at line 3, column 5: nothing declares the prefix `min:`\n  |\n\
             3 | \t?s min:title ?o }\n  | \t   ^^^^\n\
             hint: did you mean `mine:`? Else declare it: `PREFIX min: <…>`",
        );
        check(
            "ASK { ?s entirely:unknown ?o }",
            "the query cannot be parsed at line 1, column 10: nothing declares the prefix `entirely:`\n  |\n\
             1 | ASK { ?s entirely:unknown ?o }\n  |          ^^^^^^^^^\n\
             hint: add a line `PREFIX entirely: <…>` before the query",
        );
    }

    #[test]
    fn only_bare_words_are_judged() {
        let words = |line: &str| {
            let text: Vec<char> = line.chars().collect();
            let word = |at: Range<usize>| text[at].iter().collect::<String>();
            bare_words(&text, &mut None).into_iter().map(word).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(
            words("SELECT (COUNT(*) AS ?n) { ?s a bf:Work ; :p _:b . # not this"),
            "SELECT COUNT AS a"
        );
        assert_eq!(
            words("FILTER(?x<10 && ?y > 1e5) <http://a/select> 'it\\'s' \"\"\"x \" y\"\"\"@en IN"),
            "FILTER IN"
        );
        assert_eq!(words("BIND(xsd:integer(\"1\"^^xsd:string) AS ?é) . \"open SELCT"), "BIND AS");
    }

    /// Each line was once read afresh, so that a word in a string was named for any other fault.
    #[test]
    fn words_in_a_string_of_several_lines_are_not_judged() {
        for quotes in ["\"\"\"", "'''"] {
            let query = format!(
                "SELECT * {{\n  ?s ?p {quotes}once # upon\n  a \"time\" 'ther' was \\{quotes}\n  no end{quotes} .\n  FILTR(?s)\n}}"
            );
            check(
                &query,
                "the query cannot be parsed at line 5, column 3: `FILTR` is no word of SPARQL\n  |\n\
                 5 |   FILTR(?s)\n  |   ^^^^^\nhint: did you mean `FILTER`?",
            );
        }
        let said =
            explain("query", "ASK { ?s ?p '''one\ntwo''' ", "error at 2:8: expected one of FILTER, UNION");
        assert!(said.starts_with("the query cannot be parsed at line 2, column 8\n"), "{said}");
        // A short string may not go on in the next line; the words there are judged.
        let said = explain("query", "ASK { ?s ?p 'one\nFILTR two", "error at 1:13: expected one of FILTER");
        assert!(said.contains("`FILTR` is no word"), "{said}");
    }

    #[test]
    fn of_a_line_without_end_the_part_around_the_place_is_shown() {
        let query = format!("SELECT * {{ {} FILTR(1) }}", "?s ?p ?o . ".repeat(1000));
        let error = sparql_parser().parse_query(&query).expect_err("a fault").to_string();
        let said = explain("query", &query, &error);
        assert!(said.contains("FILTR") && said.len() < 700, "{said}");
    }
}
