//! What is wrong in a file that a person wrote, and where: a rule, a source description.

use super::{Code, Diagnostic, Excerpt};
use std::num::NonZeroU32;
use std::ops::Range;

/// One thing wrong in a file of rules, codes, queries or sources. Places are bytes of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub code: Code,
    pub message: String,
    pub at: Range<usize>,
    /// What stands below the underlined text.
    pub label: String,
    pub hint: Option<String>,
}

impl Problem {
    pub fn new(code: Code, at: Range<usize>, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), at, label: String::new(), hint: None }
    }

    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The hint "did you mean", when there is something near.
    #[must_use]
    pub fn near(self, names: &[String]) -> Self {
        match names {
            [] => self,
            names => {
                let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
                self.hint(format!("did you mean {}?", names.join(" or ")))
            }
        }
    }

    /// As a diagnostic, with the line it is about.
    pub fn diagnostic(&self, file: &str, lines: &Lines<'_>) -> Diagnostic {
        let text = lines.text;
        let (line, column) = lines.position(self.at.start);
        let start = lines.start_of(line);
        let source = text.get(start..).unwrap_or_default().lines().next().unwrap_or_default();
        // Of a very long line the part around the place is enough.
        let source: String = source.chars().take(column + 120).collect();
        let width = text
            .get(self.at.clone())
            .map_or(1, |marked| marked.lines().next().unwrap_or_default().trim_end().chars().count().max(1));
        let mut diagnostic = Diagnostic::new(self.code, self.message.clone());
        diagnostic.place.origin = Some(file.to_owned());
        diagnostic.place.line = counted(line);
        diagnostic.place.column = counted(column);
        diagnostic.hint.clone_from(&self.hint);
        diagnostic.excerpt = Some(Box::new(Excerpt {
            text: source.to_owned(),
            width: width as u64,
            label: self.label.clone(),
        }));
        diagnostic
    }
}

/// Lines and columns count from 1.
fn counted(number: usize) -> Option<NonZeroU32> {
    u32::try_from(number).ok().and_then(NonZeroU32::new)
}

/// Where the lines of a text begin, so that a place is found without counting from the start:
/// files may have thousands of rules.
#[derive(Debug, Clone)]
pub struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    pub fn of(text: &'a str) -> Self {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Self { text, starts }
    }

    /// The line of a place, from 1.
    pub fn line(&self, at: usize) -> usize {
        self.starts.partition_point(|start| *start <= at.min(self.text.len()))
    }

    /// Line and column, both from 1; columns count characters.
    pub fn position(&self, at: usize) -> (usize, usize) {
        let line = self.line(at);
        let before = self.text.get(self.start_of(line)..at.min(self.text.len())).unwrap_or_default();
        (line, before.chars().count() + 1)
    }

    fn start_of(&self, line: usize) -> usize {
        self.starts.get(line.saturating_sub(1)).copied().unwrap_or(0)
    }
}

/// Names that somebody may have meant, the nearest first, at most three.
pub fn near<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Vec<String> {
    let lower = name.to_lowercase();
    let mut found: Vec<(usize, &str)> = known
        .map(|known| (strsim::damerau_levenshtein(&lower, &known.to_lowercase()), known))
        // What is there already was not misspelt.
        .filter(|(distance, known)| *known != name && *distance <= (known.len().max(name.len()) / 3).max(1))
        .collect();
    found.sort_unstable();
    found.dedup();
    found.into_iter().take(3).map(|(_, known)| known.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_count_from_one_and_in_characters() {
        let lines = Lines::of("é=1\n\nab");
        let places: Vec<_> = [0, 2, 4, 5, 6, 7, 99].map(|at| lines.position(at)).to_vec();
        assert_eq!(places, [(1, 1), (1, 2), (1, 4), (2, 1), (3, 1), (3, 2), (3, 3)]);
    }
}
