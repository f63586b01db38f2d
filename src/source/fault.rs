//! What is wrong with one field of a description.

use crate::diagnostic::{Code, Diagnostic, Lines, Problem};
use std::ops::Range;

/// Where a fault is that has no better place.
pub(super) const WHOLE_FILE: Range<usize> = 0..0;

/// A problem, and the field it is about as people write it: `access.delay`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    pub field: String,
    pub problem: Problem,
}

impl Fault {
    pub fn new(code: Code, field: &str, at: Range<usize>, message: impl Into<String>) -> Self {
        Self { field: field.to_owned(), problem: Problem::new(code, at, message) }
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.problem = self.problem.hint(hint);
        self
    }

    #[must_use]
    pub fn near(mut self, names: &[String]) -> Self {
        self.problem = self.problem.near(names);
        self
    }

    /// With file, line and column, the line itself, and the field.
    pub fn diagnostic(&self, key: Option<&str>, file: &str, lines: &Lines<'_>) -> Diagnostic {
        let mut diagnostic = self.problem.diagnostic(file, lines);
        diagnostic.place.source = key.map(str::to_owned);
        diagnostic.place.field = (!self.field.is_empty()).then(|| self.field.clone());
        // The message goes to terminals and logs, where a secret must not follow, be the line
        // wrong for that reason or another.
        let secret = |line: &str| self.problem.code == Code::PlainSecret || is_secretive(line);
        // And what is missing from a whole file is not to be found in its first line.
        if self.problem.at == WHOLE_FILE
            || diagnostic.excerpt.as_ref().is_some_and(|excerpt| secret(&excerpt.text))
        {
            diagnostic.excerpt = None;
        }
        diagnostic
    }
}

/// Parts of names that say their value is a secret.
const SECRETIVE: [&str; 7] = ["password", "passwd", "secret", "token", "api_key", "apikey", "api-key"];

/// Whether a name, or a line, speaks of a secret. One that ends in `_env` names a variable.
pub(super) fn is_secretive(name: &str) -> bool {
    let name = name.to_lowercase();
    SECRETIVE.iter().any(|part| name.contains(part)) && !name.ends_with("_env")
}
