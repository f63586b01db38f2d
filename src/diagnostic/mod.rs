//! What is wrong with the data, said once and rendered three ways.
//!
//! A broken disk is an error and stops the run; a broken record is a [`Diagnostic`] and does
//! not. Each names its [`Code`], the place it was found and, where there is one, the next thing
//! to do. [`render`] turns the same value into human, short and JSON output; [`RecordLog`] bounds
//! what is said of one record.

mod code;
mod place;
mod problem;
mod record_log;
pub mod render;

pub use code::{Code, Severity};
pub use place::Place;
pub use problem::{Lines, Problem, near};
pub use record_log::RecordLog;

use serde::{Deserialize, Serialize};
use std::borrow::Cow;

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
    /// How many faults it stands for: one, unless it tells how many more there were.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub count: u64,
}

fn one() -> u64 {
    1
}

fn is_one(count: &u64) -> bool {
    *count == 1
}

/// Characters of a message, and of the names of a field and a record, that are kept. All of them
/// may quote what a record holds, which may be all of it.
const LONGEST: usize = 400;

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
        let message = message.into();
        let cut = match beginning(&message) {
            Cow::Owned(cut) => Some(cut),
            Cow::Borrowed(_) => None,
        };
        let message = cut.unwrap_or(message);
        Self { code, message, place: Place::default(), excerpt: None, hint: None, count: 1 }
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
    pub fn in_field(mut self, field: impl AsRef<str>) -> Self {
        // Cut before it is copied: a long field may have a fault in each of its values.
        self.place.field = Some(beginning(field.as_ref()).into_owned());
        self
    }
}

/// A text, or the beginning of one that is too long to be read. What a message quotes goes
/// through here before the message is made.
pub fn beginning(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => Cow::Owned(format!("{}…", text.get(..end).unwrap_or_default())),
        None => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_message_quotes_is_cut() {
        let long = "ä".repeat(1 << 20);
        let diagnostic = Diagnostic::new(Code::BadField, long.clone()).in_field(long);
        assert_eq!(diagnostic.message.chars().count(), LONGEST + 1);
        assert!(diagnostic.message.ends_with('…'));
        assert_eq!(diagnostic.place.field.map(|field| field.chars().count()), Some(LONGEST + 1));
    }
}
