//! Which source comes first.

use super::descriptor::Source;
use super::registry::Registry;
use std::cmp::Ordering;

impl Registry {
    /// The sources that are relevant to a subject, the most relevant first; of equally
    /// relevant ones the more important.
    pub fn ranked(&self, subject: &str) -> Vec<&Source> {
        let mut ranked: Vec<&Source> = self.iter().filter(|source| source.relevance(subject) > 0.0).collect();
        ranked.sort_by(|left, right| {
            let relevance = right.relevance(subject).total_cmp(&left.relevance(subject));
            relevance.then_with(|| importance(left, right)).then_with(|| left.key.cmp(&right.key))
        });
        ranked
    }

    /// The enabled sources in the order in which a run harvests them: the important first, of
    /// equally important ones those that are done soonest, then the simpler.
    pub fn in_order(&self) -> Vec<&Source> {
        let mut ordered: Vec<&Source> = self.iter().filter(|source| source.enabled).collect();
        let cost = |source: &Source| (source.estimate().unwrap_or(u64::MAX), source.complexity);
        ordered.sort_by(|left, right| {
            importance(left, right)
                .then_with(|| cost(left).cmp(&cost(right)))
                .then_with(|| left.key.cmp(&right.key))
        });
        ordered
    }

    /// Every subject that a source names.
    pub fn subjects(&self) -> Vec<&str> {
        let mut subjects: Vec<&str> = self
            .iter()
            .flat_map(|source| source.subjects.iter().map(|subject| subject.name.as_str()))
            .collect();
        subjects.sort_unstable();
        subjects.dedup();
        subjects
    }
}

fn importance(left: &Source, right: &Source) -> Ordering {
    right.importance.total_cmp(&left.importance)
}
