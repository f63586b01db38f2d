//! What is wrong in `pinakes.toml`, as a sentence: which key, what is wanted, what was found.

use crate::diagnostic::render::excerpt;
use crate::diagnostic::{Lines, near};
use std::ops::Range;

/// Characters of a wrong value that are repeated.
const SHOWN: usize = 60;

/// Says what the parser found wrong, and where.
pub(super) fn explain(text: &str, error: &toml::de::Error) -> String {
    let message = error.message();
    if let Some(field) = message.strip_prefix("missing field ") {
        return format!("{field} is missing; `pinakes init` writes a file with all that is needed");
    }
    let Some(at) = error.span().filter(|at| at.start <= text.len()) else { return message.to_owned() };
    let (line, column) = Lines::of(text).position(at.start);
    let line_text = text.lines().nth(line - 1).unwrap_or_default();
    let key = key(text, line, line_text);
    let (what, hint) = sentence(message, &key, found(text, &at));
    let width = text.get(at).map_or(1, |marked| marked.lines().next().unwrap_or_default().chars().count());
    let mut out = format!("line {line}, column {column}: {what}");
    out.push_str(&excerpt(line_text, line, column, width, ""));
    if let Some(hint) = hint {
        out.push_str(&format!("\nhint: {hint}"));
    }
    out
}

/// What is wrong, and perhaps what to do.
fn sentence(message: &str, key: &str, found: String) -> (String, Option<String>) {
    if let Some(rest) = message.strip_prefix("unknown field ") {
        let mut names = rest.split('`').skip(1).step_by(2);
        let unknown = names.next().unwrap_or_default();
        let known: Vec<&str> = names.collect();
        let hint = match near(unknown, known.iter().copied()).first() {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are {}", known.join(", ")),
        };
        return (format!("there is no setting `{unknown}` here"), Some(hint));
    }
    let wrong = message.strip_prefix("invalid type: ").or_else(|| message.strip_prefix("invalid value: "));
    let expected = wrong.and_then(|wrong| wrong.rsplit_once(", expected ")).map(|(_, expected)| expected);
    match expected {
        Some(expected) => (format!("{key} must be {}, and is `{found}`", wanted(expected)), None),
        None => (format!("this is no TOML: {message}"), None),
    }
}

/// What a type of ours is to who writes settings.
fn wanted(expected: &str) -> &str {
    match expected {
        "u32" | "u64" | "usize" => "a whole number from 0 on",
        "i64" => "a whole number",
        "f64" => "a number",
        "a string" => "a text in quotes",
        "a boolean" => "`true` or `false`",
        "a sequence" => "a list, `[…]`",
        "a map" => "a table",
        table if table.starts_with("struct ") => "a table",
        other => other,
    }
}

/// The key on a line, and the table it stands in.
fn key(text: &str, line: usize, line_text: &str) -> String {
    let key = line_text.split('=').next().unwrap_or_default().trim();
    if key.starts_with('[') || !line_text.contains('=') {
        return format!("`{}`", line_text.trim());
    }
    let above = text.lines().take(line.saturating_sub(1)).filter(|line| line.trim_start().starts_with('['));
    match above.last() {
        Some(table) => format!("`{key}` in `{}`", table.trim()),
        None => format!("`{key}`"),
    }
}

/// The wrong value as it is written.
fn found(text: &str, at: &Range<usize>) -> String {
    let written = text.get(at.clone()).unwrap_or_default();
    let first = written.lines().next().unwrap_or_default();
    let shown: String = first.chars().take(SHOWN).collect();
    if shown.len() < written.len() { shown + " …" } else { shown }
}

#[cfg(test)]
mod tests {
    use crate::config::Settings;

    #[track_caller]
    fn check(more: &str, expected: &str) {
        let text = format!("version = 1\nbase = \"http://x/\"\n{more}\n");
        assert_eq!(Settings::read(&text).unwrap_err(), expected);
    }

    #[test]
    fn a_value_of_the_wrong_kind_is_named_with_what_is_wanted() {
        check(
            "[limits]\n# in seconds\nquery_seconds = \"sixty\"",
            "line 5, column 17: `query_seconds` in `[limits]` must be a whole number from 0 on, and is `\"sixty\"`\n  |\n\
             5 | query_seconds = \"sixty\"\n  |                 ^^^^^^^",
        );
        check(
            "[limits]\nquery_rows = -1",
            "line 4, column 14: `query_rows` in `[limits]` must be a whole number from 0 on, and is `-1`\n  |\n\
             4 | query_rows = -1\n  |              ^^",
        );
        check(
            "oai = 3",
            "line 3, column 7: `oai` must be a table, and is `3`\n  |\n3 | oai = 3\n  |       ^",
        );
        check(
            "[oai]\nname = true",
            "line 4, column 8: `name` in `[oai]` must be a text in quotes, and is `true`\n  |\n\
             4 | name = true\n  |        ^^^^",
        );
    }

    #[test]
    fn a_misspelt_setting_is_named_with_the_one_that_was_meant() {
        check(
            "[limits]\nquery_second = 3",
            "line 4, column 1: there is no setting `query_second` here\n  |\n\
             4 | query_second = 3\n  | ^^^^^^^^^^^^\nhint: did you mean `query_seconds`?",
        );
        check(
            "colour = 3",
            "line 3, column 1: there is no setting `colour` here\n  |\n3 | colour = 3\n  | ^^^^^^\n\
             hint: there are version, base, limits, records, oai, federation, source",
        );
    }

    #[test]
    fn what_is_missing_is_named() {
        let said = Settings::read("version = 1\n").unwrap_err();
        assert!(said.starts_with("`base` is missing"), "{said}");
    }

    #[test]
    fn what_is_no_toml_is_said_to_be() {
        let said = Settings::read("version = 1\nbase = http://x/\n").unwrap_err();
        assert!(said.starts_with("line 2, column 8: this is no TOML: "), "{said}");
        assert!(said.contains("2 | base = http://x/"), "{said}");
    }
}
