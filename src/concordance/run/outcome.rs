//! What comes of running rules over a record.

use super::frame::Frame;
use super::value::Touch;
use crate::diagnostic::Code;
use oxrdf::Triple;

/// No record gives more notices.
const MOST_NOTICES: usize = 100;

/// Something a rule could not do with a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    pub code: Code,
    pub message: String,
    /// `650`
    pub tag: String,
    /// The index of the rule.
    pub rule: usize,
    /// Its file, line and name.
    pub rule_place: Option<String>,
}

#[derive(Debug, Default)]
pub struct Notices {
    pub list: Vec<Notice>,
    /// The rule at work.
    pub rule: usize,
}

impl Notices {
    pub fn add(&mut self, code: Code, message: String, frame: &Frame<'_>) {
        if self.list.len() >= MOST_NOTICES {
            return;
        }
        let notice = Notice { code, message, tag: frame.tag.to_owned(), rule: self.rule, rule_place: None };
        if !self.list.contains(&notice) {
            self.list.push(notice);
        }
    }
}

/// What rules made of a record.
#[derive(Debug, Default)]
pub struct Outcome {
    pub triples: Vec<Triple>,
    /// For each item of the [`View`], the positions that reached a statement.
    pub carried: Vec<u64>,
    /// For each item, the positions left out on purpose,
    pub ignored: Vec<u64>,
    /// and which `ignore` of which rule says why.
    pub ignored_by: Vec<(u32, (usize, usize))>,
    /// Which rule made which statements from which field.
    pub fires: Vec<Fire>,
    pub statements: Vec<Statement>,
    pub reads: Vec<Touch>,
    pub notices: Vec<Notice>,
    /// More statements were due than a record may have.
    pub cut: bool,
}

impl Outcome {
    /// The statements of a fire.
    pub fn made(&self, fire: &Fire) -> &[Statement] {
        self.statements.get(fire.made.0 as usize..fire.made.1 as usize).unwrap_or_default()
    }

    /// What was read for a statement.
    pub fn reads(&self, made: &Statement) -> &[Touch] {
        self.reads.get(made.reads.0 as usize..(made.reads.0 + made.reads.1) as usize).unwrap_or_default()
    }
}

/// A rule that made something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fire {
    pub rule: usize,
    /// The field's index; `None` for rules over the record or its leader.
    pub field: Option<usize>,
    /// The statements, also those made before by another: a part of [`Outcome::statements`].
    pub made: (u32, u32),
}

/// A statement of a fire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Statement {
    /// Its position in [`Outcome::triples`].
    pub triple: u32,
    /// What was read for it: a part of [`Outcome::reads`], empty for a constant.
    pub reads: (u32, u32),
    pub subject: Whose,
    pub object: Whose,
}

/// After what a thing is named: who made it knows, and whoever writes it down need not compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// A node of the rule that made the statement.
    Rule,
    /// The record, or what it describes.
    Record,
    /// Anything else, texts included.
    Other,
}
