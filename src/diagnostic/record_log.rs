//! What is said of one record, within bounds.
//!
//! A record may hold a fault in each of its millions of bytes. The first of them are told one by
//! one, and the first of each code wherever it comes; of the others every code keeps one diagnostic
//! that says how many more there were, so that reports count all of them and memory holds a few.
//! This is the one place that decides how many a few are.

use super::{Code, Diagnostic};
use std::collections::BTreeMap;

/// Faults of one record that are told one by one, those that are the first of their code apart.
pub const SHOWN: usize = 24;

/// The diagnostics of one record while it is read.
#[derive(Debug, Default)]
pub struct RecordLog {
    shown: Vec<Diagnostic>,
    /// How many there were besides those shown.
    more: BTreeMap<Code, u64>,
    /// Why the record is refused.
    refusal: Option<Box<Diagnostic>>,
}

impl RecordLog {
    /// Takes a fault of a record that is kept all the same.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        if self.shown.len() < SHOWN || self.is_first(diagnostic.code) {
            self.shown.push(diagnostic);
        } else {
            *self.more.entry(diagnostic.code).or_default() += diagnostic.count;
        }
    }

    fn is_first(&self, code: Code) -> bool {
        !self.more.contains_key(&code) && self.shown.iter().all(|shown| shown.code != code)
    }

    /// Takes the reason why the record is refused. It is never among those left out, and the last
    /// to be told. `None` is what a reader of a refused record returns.
    pub fn refuse<T>(&mut self, reason: Diagnostic) -> Option<T> {
        self.refusal = Some(Box::new(reason));
        None
    }
}

impl Extend<Diagnostic> for RecordLog {
    fn extend<I: IntoIterator<Item = Diagnostic>>(&mut self, diagnostics: I) {
        diagnostics.into_iter().for_each(|diagnostic| self.push(diagnostic));
    }
}

impl IntoIterator for RecordLog {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        let mut all = self.shown;
        all.extend(self.more.into_iter().map(|(code, count)| {
            let faults = if count == 1 { "fault" } else { "faults" };
            let message = format!("and {count} more {faults} of this kind in the record");
            Diagnostic { count, ..Diagnostic::new(code, message) }
        }));
        all.extend(self.refusal.map(|reason| *reason));
        all.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_told_by_its_beginning_and_its_size() {
        let mut log = RecordLog::default();
        log.extend((0..30).map(|n| Diagnostic::new(Code::BadField, n.to_string())));
        log.extend((0..1000).map(|n| Diagnostic::new(Code::LineSyntax, n.to_string())));
        let told: Vec<_> = log.into_iter().collect();
        assert_eq!(told.len(), SHOWN + 3);
        let count = |code| told.iter().filter(|said| said.code == code).map(|said| said.count).sum::<u64>();
        assert_eq!((count(Code::BadField), count(Code::LineSyntax)), (30, 1000));
        assert_eq!(told[SHOWN + 2].message, "and 999 more faults of this kind in the record");
    }

    /// It was once told as one more of its kind, of which nobody had seen any.
    #[test]
    fn the_first_fault_of_a_kind_is_told_however_many_came_before() {
        let mut log = RecordLog::default();
        log.extend((0..=SHOWN).map(|n| Diagnostic::new(Code::BadField, n.to_string())));
        log.push(Diagnostic::new(Code::BadLeader, "the leader is short"));
        let told: Vec<_> = log.into_iter().skip(SHOWN).map(|said| (said.code, said.message)).collect();
        assert_eq!(
            told,
            [
                (Code::BadLeader, "the leader is short".to_owned()),
                (Code::BadField, "and 1 more fault of this kind in the record".to_owned()),
            ]
        );
    }

    /// Readers of a part of a record have a log of their own.
    #[test]
    fn a_log_within_a_log_counts_the_same() {
        let mut inner = RecordLog::default();
        inner.extend((0..30).map(|_| Diagnostic::new(Code::BadField, "what")));
        inner.push(Diagnostic::new(Code::BadLeader, "first"));
        let mut outer = RecordLog::default();
        outer.extend(inner);
        let told: Vec<_> = outer.into_iter().map(|said| (said.code, said.count)).skip(SHOWN).collect();
        assert_eq!(told, [(Code::BadLeader, 1), (Code::BadField, 6)]);
    }

    #[test]
    fn the_reason_of_a_refusal_is_told_last_whatever_came_before() {
        let mut log = RecordLog::default();
        assert_eq!(log.refuse::<()>(Diagnostic::new(Code::NotARecord, "why")), None);
        log.extend((0..100).map(|_| Diagnostic::new(Code::BadField, "what")));
        assert_eq!(log.into_iter().last().map(|said| said.code), Some(Code::NotARecord));
    }
}
