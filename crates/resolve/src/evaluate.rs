//! How good is a result, against a truth?
//!
//! Pairs: precision, recall, F1. Groups: the share of true groups that came out exactly
//! (cluster F1), and B³, which asks of every record how much of its group is right.

use rustc_hash::{FxHashMap, FxHashSet};

use super::block::{Pair, pack};
use super::feature::Id;

/// Precision, recall and their harmonic mean.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Quality {
    pub precision: f64,
    pub recall: f64,
    pub f1: f64,
}

impl Quality {
    pub fn of(right: f64, proposed: f64, true_: f64) -> Self {
        let precision = if proposed > 0.0 { right / proposed } else { 1.0 };
        let recall = if true_ > 0.0 { right / true_ } else { 1.0 };
        Self::from(precision, recall)
    }

    fn from(precision: f64, recall: f64) -> Self {
        let sum = precision + recall;
        Self { precision, recall, f1: if sum > 0.0 { 2.0 * precision * recall / sum } else { 0.0 } }
    }
}

/// All measures of one result.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Evaluation {
    pub pairs: Quality,
    pub clusters: Quality,
    pub b_cubed: Quality,
}

/// Compares groups with true groups. Records that the truth does not know are left out.
pub fn clusters(found: &[Id], truth: &FxHashMap<Id, u32>) -> Evaluation {
    let mut by_found: FxHashMap<Id, Vec<Id>> = FxHashMap::default();
    let mut by_truth: FxHashMap<u32, Vec<Id>> = FxHashMap::default();
    for (record, group) in truth {
        by_truth.entry(*group).or_default().push(*record);
        if let Some(cluster) = found.get(*record as usize) {
            by_found.entry(*cluster).or_default().push(*record);
        }
    }
    let two = |count: usize| (count * count.saturating_sub(1) / 2) as f64;
    let (mut right, mut proposed, mut exact) = (0.0, 0.0, 0.0);
    let (mut b_precision, mut b_recall) = (0.0, 0.0);
    for members in by_found.values() {
        proposed += two(members.len());
        let mut counts: FxHashMap<u32, usize> = FxHashMap::default();
        for member in members {
            *counts.entry(truth[member]).or_default() += 1;
        }
        for (group, count) in &counts {
            right += two(*count);
            let true_size = by_truth.get(group).map_or(1, Vec::len);
            b_precision += (*count * *count) as f64 / members.len() as f64;
            b_recall += (*count * *count) as f64 / true_size as f64;
            if counts.len() == 1 && *count == true_size {
                exact += 1.0;
            }
        }
    }
    let true_pairs: f64 = by_truth.values().map(|members| two(members.len())).sum();
    let records = truth.len().max(1) as f64;
    Evaluation {
        pairs: Quality::of(right, proposed, true_pairs),
        clusters: Quality::of(exact, by_found.len() as f64, by_truth.len() as f64),
        b_cubed: Quality::from(b_precision / records, b_recall / records),
    }
}

/// Quality over labelled pairs alone, by what was said of each.
pub fn labelled(labels: &[(Id, Id, bool)], is_same: impl Fn(Id, Id) -> bool) -> Quality {
    let (mut right, mut proposed, mut true_) = (0.0, 0.0, 0.0);
    for (left, right_one, label) in labels {
        let same = is_same(*left, *right_one);
        proposed += f64::from(u8::from(same));
        true_ += f64::from(u8::from(*label));
        right += f64::from(u8::from(same && *label));
    }
    Quality::of(right, proposed, true_)
}

/// The share of true pairs that were proposed for comparison at all.
pub fn blocking_recall(proposed: &FxHashSet<Pair>, true_pairs: &[(Id, Id)]) -> f64 {
    let found = true_pairs.iter().filter(|(left, right)| proposed.contains(&pack(*left, *right))).count();
    if true_pairs.is_empty() { 1.0 } else { found as f64 / true_pairs.len() as f64 }
}

/// Quality of the scored pairs at every weight, strongest first: (weight, quality).
pub fn by_threshold(scored: &mut [(f64, bool)], true_: usize) -> Vec<(f64, Quality)> {
    scored.sort_by(|left, right| right.0.total_cmp(&left.0));
    let mut curve = Vec::new();
    let mut right = 0.0;
    for (at, (weight, label)) in scored.iter().enumerate() {
        right += f64::from(u8::from(*label));
        if scored.get(at + 1).is_none_or(|next| next.0 < *weight) {
            curve.push((*weight, Quality::of(right, at as f64 + 1.0, true_ as f64)));
        }
    }
    curve
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measures_are_those_worked_out_by_hand() {
        // Truth: {0,1,2} {3} ; found: {0,1} {2,3}
        let truth: FxHashMap<Id, u32> = [(0, 0), (1, 0), (2, 0), (3, 1)].into_iter().collect();
        let found = clusters(&[0, 0, 2, 2], &truth);
        assert_eq!(found.pairs, Quality::of(1.0, 2.0, 3.0));
        assert_eq!(found.clusters, Quality::of(0.0, 2.0, 2.0));
        let precision = (1.0 + 1.0 + 0.5 + 0.5) / 4.0;
        let recall = (2.0 / 3.0 + 2.0 / 3.0 + 1.0 / 3.0 + 1.0) / 4.0;
        assert_eq!(found.b_cubed, Quality::from(precision, recall));
    }

    #[test]
    fn thresholds_are_told_apart_only_where_weights_differ() {
        let mut scored = [(1.0, true), (3.0, true), (1.0, false)];
        let curve = by_threshold(&mut scored, 2);
        assert_eq!(curve.len(), 2);
        assert_eq!(curve[0], (3.0, Quality::of(1.0, 1.0, 2.0)));
        assert_eq!(curve[1], (1.0, Quality::of(2.0, 3.0, 2.0)));
    }
}
