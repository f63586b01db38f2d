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
    pub fn diagnostic(&self, file: &str, text: &str) -> Diagnostic {
        let (line, column) = position(text, self.at.start);
        let start = text.get(..self.at.start).map_or(0, |before| before.rfind('\n').map_or(0, |at| at + 1));
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

/// Line and column, both from 1; columns count characters.
pub fn position(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (line, before.get(start..).unwrap_or_default().chars().count() + 1)
}

/// Names that somebody may have meant, the nearest first, at most three.
pub fn near<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Vec<String> {
    let name = name.to_lowercase();
    let mut found: Vec<(usize, &str)> = known
        .map(|known| (strsim::damerau_levenshtein(&name, &known.to_lowercase()), known))
        .filter(|(distance, known)| *distance <= (known.len().max(name.len()) / 3).max(1))
        .collect();
    found.sort_unstable();
    found.dedup();
    found.into_iter().take(3).map(|(_, known)| known.to_owned()).collect()
}
