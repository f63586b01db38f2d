//! Volume, issue and pages out of a text such as `Vol. 3, no. 1 (July 1842), p. 19-40`.

use crate::publish::table::rows;
use regex::Regex;
use std::sync::LazyLock;

/// What a text says of the place of an article.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Part {
    pub volume: Option<String>,
    pub issue: Option<String>,
    pub pages: Option<String>,
}

impl Part {
    pub fn of(text: &str) -> Self {
        Self { volume: find("volume", text), issue: find("issue", text), pages: find("pages", text) }
    }
}

fn find(what: &str, text: &str) -> Option<String> {
    static PATTERNS: LazyLock<Vec<(String, Regex)>> = LazyLock::new(|| {
        let row = |cells: Vec<String>| Some((cells.first()?.clone(), Regex::new(cells.get(1)?).ok()?));
        rows(include_str!("part.tsv")).into_iter().filter_map(row).collect()
    });
    let mut matches =
        PATTERNS.iter().filter(|(of, _)| of == what).filter_map(|(_, pattern)| pattern.captures(text));
    let found = matches.next()?.get(1)?.as_str();
    Some(found.split_whitespace().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_found_in_many_languages() {
        let cases = [
            ("Vol. 3, no. 1 (July 1842), p. 19-40", ["3", "1", "19-40"]),
            ("3:1<19", ["3", "1", "19"]),
            ("Bd. 12 (1999), Heft 4, S. 100 – 120", ["12", "4", "100–120"]),
            ("T. 7, n° 2, pp. 5-9", ["7", "2", "5-9"]),
            ("12(3), p. e101", ["12", "3", "e101"]),
            ("1999, p. 7", ["", "", "7"]),
            ("Т. 5, № 6, с. 7-8", ["5", "6", "7-8"]),
            ("", ["", "", ""]),
        ];
        for (text, [volume, issue, pages]) in cases {
            let some = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
            let expected = Part { volume: some(volume), issue: some(issue), pages: some(pages) };
            assert_eq!(Part::of(text), expected, "{text}");
        }
    }

    #[test]
    fn every_pattern_can_be_read() {
        let table = rows(include_str!("part.tsv"));
        assert!(table.iter().all(|row| row.len() == 2 && Regex::new(&row[1]).is_ok()));
    }
}
