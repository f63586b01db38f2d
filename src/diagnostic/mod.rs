//! What is wrong with the data, said once and rendered three ways.
//!
//! A broken disk is an error and stops the run; a broken record is a [`Diagnostic`] and does
//! not. Each names its [`Code`], the place it was found and, where there is one, the next thing
//! to do. [`render`] turns the same value into human, short and JSON output.

mod code;
mod place;
mod problem;
pub mod render;

pub use code::{Code, Severity};
pub use place::Place;
pub use problem::{Lines, Problem, near};

use serde::{Deserialize, Serialize};

/// One thing wrong with the data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    pub code: Code,
    /// Lower case, no full stop, the operand in backquotes, what was expected and found.
    pub message: String,
    #[serde(flatten)]
    pub place: Place,
    /// The line it is about, where a person wrote that line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excerpt: Option<Box<Excerpt>>,
    /// One thing to do next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// A line of a rule file, with what is wrong in it underlined.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Excerpt {
    pub text: String,
    /// How many characters from the column on.
    pub width: u64,
    /// What stands below them.
    pub label: String,
}

impl Diagnostic {
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), place: Place::default(), excerpt: None, hint: None }
    }

    pub fn severity(&self) -> Severity {
        self.code.severity()
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The byte the problem was noticed at: in the payload when a decoder says it; whoever
    /// knows where the payload began adds that.
    #[must_use]
    pub fn at(mut self, offset: usize) -> Self {
        self.place.offset = Some(offset as u64);
        self
    }

    /// The field it was noticed in.
    #[must_use]
    pub fn in_field(mut self, field: impl Into<String>) -> Self {
        self.place.field = Some(field.into());
        self
    }
}
