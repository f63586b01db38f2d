//! Saying where a query does not parse.
//!
//! The parser names a place and every character class it could have gone on with. Users want
//! the place underlined and the words among what was expected.

/// What is wrong with `query`, given the parser's own message (`error at 1:26: expected …`).
pub(super) fn explain(query: &str, message: &str) -> String {
    let Some((line, column, expected)) = place(message) else { return message.to_owned() };
    let text = query.lines().nth(line - 1).unwrap_or_default();
    let margin = line.to_string().len();
    let mut out = format!(
        "the query cannot be parsed at line {line}, column {column}\n\
         {:margin$} |\n{line} | {text}\n{:margin$} | {:>column$}",
        "", "", "^"
    );
    if expected.contains("Prefix not found") {
        out.push_str("\nhint: a prefix here is not declared; add a `PREFIX` line, or mend its name");
    } else {
        let words: Vec<&str> = expected
            .trim_start_matches("expected ")
            .trim_start_matches("one of ")
            .split(", ")
            .filter(|word| {
                !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || " {}().;?\"".contains(c))
            })
            .take(8)
            .collect();
        if !words.is_empty() {
            out.push_str(&format!("\nhint: expected {}", words.join(", ")));
        }
    }
    out
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

    #[test]
    fn the_place_is_underlined_and_character_classes_are_left_out() {
        let said = explain("SELECT *\n{ ?s ?p }", "error at 2:9: expected one of UNION, ['a'..='z'], FILTER");
        assert_eq!(
            said,
            "the query cannot be parsed at line 2, column 9\n  |\n2 | { ?s ?p }\n  |         ^\nhint: expected UNION, FILTER"
        );
        assert_eq!(explain("x", "something else"), "something else");
    }
}
