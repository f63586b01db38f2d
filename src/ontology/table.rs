//! Reads the tables under `ontologies/`: tab-separated, with a header line.
//!
//! A table is written by people as well as by scripts, so a bad line is a [`Mistake`] with its
//! place, and reading goes on: one pass finds them all.

use std::fmt;

/// Something wrong in a vocabulary file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    pub file: String,
    /// Counted from 1.
    pub line: usize,
    pub reason: String,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.reason)
    }
}

/// A line with the expected number of cells.
pub(super) struct Row<'a, const N: usize> {
    file: &'a str,
    line: usize,
    pub(super) cells: [&'a str; N],
}

impl<const N: usize> Row<'_, N> {
    pub(super) fn mistake(&self, reason: String) -> Mistake {
        Mistake { file: self.file.to_owned(), line: self.line, reason }
    }
}

/// The rows of a table. Cells missing at the end of a line are empty, since editors like to
/// strip trailing tabs; empty lines are skipped.
pub(super) fn rows<'a, const N: usize>(
    file: &'a str,
    text: &'a str,
    header: [&str; N],
    mistakes: &mut Vec<Mistake>,
) -> Vec<Row<'a, N>> {
    let mut lines = text.lines().enumerate();
    let found = lines.next().map_or("", |(_, line)| line);
    if found.split('\t').ne(header) {
        let expected = header.join(" ");
        let reason = format!("expected the columns `{expected}`, separated by tabs, found `{found}`");
        mistakes.push(Mistake { file: file.to_owned(), line: 1, reason });
        return Vec::new();
    }
    let mut rows = Vec::new();
    for (index, line) in lines {
        if line.trim().is_empty() {
            continue;
        }
        let mut row = Row { file, line: index + 1, cells: [""; N] };
        let mut parts = line.split('\t').map(str::trim);
        for cell in &mut row.cells {
            *cell = parts.next().unwrap_or("");
        }
        if parts.next().is_some() {
            mistakes.push(row.mistake(format!("expected {N} columns, found more")));
        } else {
            rows.push(row);
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_stripped_from_the_end_of_a_line_are_empty() {
        let mut mistakes = Vec::new();
        let rows = rows("t.tsv", "a\tb\tc\n\n1\t2\n", ["a", "b", "c"], &mut mistakes);
        assert_eq!(rows.iter().map(|row| row.cells).collect::<Vec<_>>(), [["1", "2", ""]]);
        assert_eq!(mistakes, []);
    }

    #[test]
    fn a_line_with_too_many_cells_is_a_mistake_at_its_place() {
        let mut mistakes = Vec::new();
        assert!(rows("t.tsv", "a\n1\t2\n", ["a"], &mut mistakes).is_empty());
        assert_eq!(mistakes[0].to_string(), "t.tsv:2: expected 1 columns, found more");
    }

    #[test]
    fn a_table_without_its_header_is_not_read() {
        let mut mistakes = Vec::new();
        assert!(rows("t.tsv", "1\t2\n3\t4\n", ["a", "b"], &mut mistakes).is_empty());
        assert_eq!(
            mistakes[0].to_string(),
            "t.tsv:1: expected the columns `a b`, separated by tabs, found `1\t2`"
        );
    }
}
