//! How much of a source its rules carry, tag by tag.
//!
//! An occurrence is a subfield, or the text of a field, with something in it. It is *carried* when
//! a part of it reached a statement, *ignored* when a rule leaves it out with a reason, and
//! *kept* by the fallback otherwise. A value of which only some positions were carried counts as
//! carried and is kept as well.

use crate::concordance::run::{Outcome, Paths, View};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Counts of one subfield, or of all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Loss {
    pub occurrences: u64,
    pub carried: u64,
    pub ignored: u64,
    pub kept: u64,
}

impl Loss {
    pub fn add(&mut self, other: &Self) {
        self.occurrences += other.occurrences;
        self.carried += other.carried;
        self.ignored += other.ignored;
        self.kept += other.kept;
    }

    /// The share carried, in per cent.
    pub fn share(&self) -> f64 {
        if self.occurrences == 0 { 100.0 } else { self.carried as f64 * 100.0 / self.occurrences as f64 }
    }
}

/// The counts of many records.
#[derive(Debug, Clone, Default)]
pub struct Coverage {
    pub records: u64,
    /// Statements of each record, the fallback apart.
    pub statements: Vec<u32>,
    /// By tag and subfield code; the code is empty for a text.
    pub by_subfield: BTreeMap<(String, String), Loss>,
    /// Why subfields were left out, and how often.
    pub reasons: BTreeMap<(String, String, String), u64>,
}

impl Coverage {
    /// Counts one record.
    pub fn count(&mut self, view: &View<'_>, outcome: &Outcome, reason: impl Fn(usize, usize) -> String) {
        self.records += 1;
        self.statements.push(u32::try_from(outcome.triples.len()).unwrap_or(u32::MAX));
        let reasons: FxHashMap<u32, (usize, usize)> = outcome.ignored_by.iter().copied().collect();
        let mut one = |tag: &str, code: &str, value: &str, item: u32| {
            if !value.chars().any(|c| !c.is_whitespace() && c != '|') {
                return;
            }
            let carried = outcome.carried.get(item as usize).copied().unwrap_or_default() != 0;
            let ignored = outcome.ignored.get(item as usize).copied().unwrap_or_default();
            let loss = self.by_subfield.entry((tag.to_owned(), code.to_owned())).or_default();
            loss.occurrences += 1;
            if carried {
                loss.carried += 1;
            } else if ignored != 0 {
                loss.ignored += 1;
                if let Some((rule, number)) = reasons.get(&item) {
                    let key = (tag.to_owned(), code.to_owned(), reason(*rule, *number));
                    *self.reasons.entry(key).or_default() += 1;
                }
            } else {
                loss.kept += 1;
            }
        };
        one("LDR", "", view.leader, view.leader_item);
        let paths = Paths::new(view);
        for (index, field) in view.fields.iter().enumerate() {
            let tag = paths.of_field(index);
            one(&tag, "", field.text, field.item);
            for sub in view.subs(&field.subs) {
                one(&tag, sub.code, sub.value, sub.item);
            }
        }
    }

    pub fn merge(&mut self, other: Self) {
        self.records += other.records;
        self.statements.extend(other.statements);
        for (key, loss) in other.by_subfield {
            self.by_subfield.entry(key).or_default().add(&loss);
        }
        for (key, count) in other.reasons {
            *self.reasons.entry(key).or_default() += count;
        }
    }

    /// All subfields of some tags together.
    pub fn total(&self, tags: impl Fn(&str) -> bool) -> Loss {
        let mut total = Loss::default();
        for ((_, _), loss) in self.by_subfield.iter().filter(|((tag, _), _)| tags(tag)) {
            total.add(loss);
        }
        total
    }

    pub fn median_statements(&self) -> u32 {
        let mut sorted = self.statements.clone();
        sorted.sort_unstable();
        sorted.get(sorted.len() / 2).copied().unwrap_or_default()
    }
}

/// Whether a MARC tag is free for local use: 9XX, X9X and XX9, but 490 is not, and neither is
/// what is no number.
pub fn is_local(tag: &str) -> bool {
    tag != "490" && tag != "LDR" && (tag.contains('9') || !tag.bytes().all(|b| b.is_ascii_digit()))
}
