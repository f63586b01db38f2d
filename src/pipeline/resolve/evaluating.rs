//! How good is the result, against what is known to be true?
//!
//! Nothing is written: the comparison runs on what is kept, with the weights in force.

use super::cache::Cache;
use super::entities::{Entities, Number};
use super::entity::Kind;
use super::grouping::{Basis, Level};
use super::labels::Labels;
use super::scope::Scope;
use super::truth::{Truth, every_two};
use super::{PipelineError, ResolveError, decisions, models, reading, texts_of};
use crate::pipeline::{Session, Watch};
use crate::resolve::block::Blocker;
use crate::resolve::compare::Comparer;
use crate::resolve::evaluate::{self, Quality};
use crate::resolve::score::{probability, weight_of};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;

/// What is to be measured.
#[derive(Debug, Clone)]
pub struct EvaluateRequest {
    /// The text of the table.
    pub truth: String,
    /// What its records are compared as.
    pub kind: Kind,
    /// The column that names groups; by default the kind, or `cluster`, or the last one.
    pub column: Option<String>,
}

/// Precision, recall and F1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Measured {
    pub precision: f64,
    pub recall: f64,
    pub f1: f64,
}

impl From<Quality> for Measured {
    fn from(quality: Quality) -> Self {
        Self { precision: quality.precision, recall: quality.recall, f1: quality.f1 }
    }
}

/// What was measured.
#[derive(Debug, Clone, Serialize)]
pub struct Evaluated {
    /// Records or pairs of the truth that are in the catalogue, and rows that are not.
    pub known: u64,
    pub unknown: u64,
    pub pairs: Measured,
    /// Of judged pairs, how many stand in which relation to the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judged: Option<Judged>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clusters: Option<Measured>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub b_cubed: Option<Measured>,
    /// The share of true pairs that have a key in common.
    pub blocking_recall: f64,
    /// Pairs at other thresholds: the probability from which on they count as one.
    pub by_threshold: Vec<(f64, Measured)>,
    /// The most that is found at a precision: the precision asked for, and from which probability on.
    pub at_precision: Vec<(f64, f64, Measured)>,
    /// What probabilities are worth: of the pairs from one bound to the next, how many are one.
    pub calibration: Vec<Calibrated>,
    /// Wrong merges and missed ones, a few of each.
    pub wrong: Vec<[String; 2]>,
    pub missed: Vec<[String; 2]>,
}

/// Pairs that were judged, counted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Judged {
    /// Merged, and one.
    pub right: u64,
    /// Merged, and not one.
    pub wrong: u64,
    /// One, and not merged.
    pub missed: u64,
    /// Neither.
    pub apart: u64,
    /// Within these bounds the precision of all merges lies, with 95 % confidence, if the judged ones were
    /// drawn from them at random.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub precision_between: Option<[f64; 2]>,
}

/// Pairs of about one probability.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Calibrated {
    /// The least probability of these pairs, the next bound, and their mean.
    pub from: f64,
    pub to: f64,
    pub mean: f64,
    pub pairs: u64,
    pub one: u64,
}

/// Bounds of probabilities that are counted together.
const BOUNDS: [f64; 9] = [0.1, 0.3, 0.5, 0.7, 0.9, 0.95, 0.99, 0.999, 1.0];

/// Compares what was said with what is true, by weights in bits.
fn calibration(scored: &[(f64, bool)]) -> Vec<Calibrated> {
    let between = |bounds: &[f64]| {
        let [from, to] = [bounds[0], bounds[1]];
        let is_here = |said: f64| said >= from && (said < to || to == 1.0);
        let here: Vec<(f64, bool)> = scored
            .iter()
            .map(|(weight, is_one)| (probability(*weight), *is_one))
            .filter(|(said, _)| is_here(*said))
            .collect();
        let one = here.iter().filter(|(_, is_one)| *is_one).count() as u64;
        let mean = here.iter().map(|(said, _)| said).sum::<f64>() / here.len().max(1) as f64;
        Calibrated { from, to, mean, pairs: here.len() as u64, one }
    };
    BOUNDS.windows(2).map(between).filter(|bin| bin.pairs > 0).collect()
}

/// Wilson's interval for a share that was counted in a sample, with 95 % confidence.
fn wilson(count: u64, of: u64) -> Option<[f64; 2]> {
    const Z: f64 = 1.96;
    if of == 0 {
        return None;
    }
    let (n, share) = (of as f64, count as f64 / of as f64);
    let middle = share + Z * Z / (2.0 * n);
    let spread = Z * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + Z * Z / n;
    Some([((middle - spread) / scale).max(0.0), ((middle + spread) / scale).min(1.0)])
}

/// How many different pairs were judged.
fn distinct(pairs: &[(Number, Number, bool)]) -> usize {
    let all = pairs.iter().map(|(left, right, _)| (left.min(right), left.max(right)));
    all.collect::<FxHashSet<_>>().len()
}

/// How many examples of mistakes are named.
const EXAMPLES: usize = 50;
/// Thresholds that are shown.
const THRESHOLDS: [f64; 9] = [0.999, 0.99, 0.95, 0.9, 0.8, 0.7, 0.5, 0.3, 0.1];
/// Precisions that are asked for.
const PRECISIONS: [f64; 3] = [0.99, 0.997, 0.999];

/// Measures the result against a truth.
pub fn evaluate_truth(
    session: &Session,
    request: &EvaluateRequest,
    watch: &mut dyn Watch,
) -> Result<Evaluated, PipelineError> {
    let texts = texts_of(session)?;
    let cache = Cache::open(&session.home)?;
    let read = reading::refresh(session, &texts, &cache, watch)?;
    let (entities, tables) = Entities::read(&cache)?;
    let (truth, strangers) = Truth::read(&request.truth, request.kind, request.column.as_deref(), &entities)?;
    if truth.is_empty() {
        let example = match &*strangers.example {
            "" => String::new(),
            name => format!(", `{name}` for one is none"),
        };
        let hint = "name records as SOURCE/ID, or have columns for sources";
        let message = format!("the truth speaks of no record of this catalogue{example}; {hint}");
        return Err(ResolveError::Unknown(message).into());
    }
    let (rulings, _) = decisions::rulings(&decisions::decisions(session)?, &entities);
    let known = models::read(session, &texts, read.records, false)?;
    watch.begin("comparing", None);
    let groups = Basis {
        entities: &entities,
        tables: &tables,
        texts: &texts,
        rulings: &rulings,
        labels: &Labels::read(session, &entities)?,
        last: None,
    }
    .group(known)?;
    watch.end();
    let (compared, profile, level): (_, _, &Level) = match request.kind {
        Kind::Work | Kind::Hub => (&tables.work, &texts.work, &groups.work),
        Kind::Agent => (&tables.agent, &texts.agent, &groups.agent),
        _ => (&tables.instance, &texts.instance, &groups.instance),
    };
    // Works are one hub when the profile says so, whatever expression they are.
    let root = |number: Number| -> Number {
        let number = match request.kind {
            Kind::Work | Kind::Hub => entities.hub_of(number).unwrap_or(number),
            _ => number,
        };
        groups.of.get(number as usize).copied().unwrap_or(number)
    };
    let scope = Scope::of(&truth, &entities, request.kind);
    let true_pairs = truth.pairs().into_iter().filter(|pair| pair.2);
    let true_pairs: FxHashSet<(Number, Number)> =
        true_pairs.map(|(left, right, _)| (left.min(right), left.max(right))).collect();
    let mut by_root: FxHashMap<Number, Vec<Number>> = FxHashMap::default();
    for number in scope.things() {
        by_root.entry(root(number)).or_default().push(number);
    }
    // Large groups have many pairs: only the wrong ones are kept.
    let (mut merged, mut wrong): (u64, Vec<(Number, Number)>) = (0, Vec::new());
    by_root.values().for_each(|members| {
        every_two(members, &mut |(left, right)| {
            if scope.about(left, right) {
                merged += 1;
                if !true_pairs.contains(&(left, right)) {
                    wrong.push((left, right));
                }
            }
        });
    });
    let mut missed: Vec<(Number, Number)> =
        true_pairs.iter().filter(|(left, right)| root(*left) != root(*right)).copied().collect();
    let right = merged - wrong.len() as u64;
    let pairs = Quality::of(right as f64, merged as f64, true_pairs.len() as f64);
    let judged = match &truth {
        Truth::Pairs(pairs) => Some(Judged {
            right,
            wrong: wrong.len() as u64,
            missed: missed.len() as u64,
            apart: (distinct(pairs) as u64).saturating_sub(merged + missed.len() as u64),
            precision_between: wilson(right, merged),
        }),
        _ => None,
    };
    let (clusters, b_cubed, known) = match &truth {
        Truth::Groups(of) => {
            let mut roots: Vec<u32> = (0..entities.len() as u32).collect();
            for number in of.keys() {
                roots[*number as usize] = root(*number);
            }
            let measured = evaluate::clusters(&roots, of);
            (Some(measured.clusters.into()), Some(measured.b_cubed.into()), of.len())
        }
        Truth::Pairs(pairs) => (None, None, pairs.len()),
        Truth::Matches(pairs) => (None, None, pairs.len()),
    };
    let comparer = Comparer::new(&compared.table, &profile.profile, Some(&level.model));
    let blocker = Blocker::new(&comparer, usize::MAX);
    let share = |(left, right): &&(Number, Number)| match (compared.id(*left), compared.id(*right)) {
        (Some(left), Some(right)) => !blocker.shared_rules(left, right).is_empty(),
        _ => false,
    };
    let found = true_pairs.iter().filter(share).count();
    // What is alike enough to be merged and was refused stands in both lists.
    let merge = weight_of(profile.profile.bands.merge);
    let mut scored: Vec<(f64, bool)> = level
        .edges
        .iter()
        .chain(level.review.iter().filter(|edge| edge.weight < merge))
        .map(|edge| (edge.weight, (edge.left.min(edge.right), edge.left.max(edge.right))))
        .filter(|(_, (left, right))| scope.about(*left, *right))
        .map(|(weight, pair)| (weight, true_pairs.contains(&pair)))
        .collect();
    let calibration = calibration(&scored);
    let curve = evaluate::by_threshold(&mut scored, true_pairs.len());
    let by_threshold = THRESHOLDS
        .iter()
        .filter_map(|threshold| {
            let at = curve.iter().rev().find(|(weight, _)| probability(*weight) >= *threshold)?;
            Some((*threshold, at.1.into()))
        })
        .collect();
    let name = |number: Number| {
        let (source, id, _) = entities.name(number);
        format!("{source}/{id}")
    };
    let named = |pairs: &mut Vec<(Number, Number)>| -> Vec<[String; 2]> {
        pairs.sort_unstable();
        pairs.iter().take(EXAMPLES).map(|(left, right)| [name(*left), name(*right)]).collect()
    };
    let at_precision = PRECISIONS
        .iter()
        .filter_map(|precision| {
            let sure = curve.iter().rev().find(|(_, quality)| quality.precision >= *precision)?;
            Some((*precision, probability(sure.0), sure.1.into()))
        })
        .collect();
    Ok(Evaluated {
        known: known as u64,
        unknown: strangers.rows,
        pairs: pairs.into(),
        judged,
        clusters,
        b_cubed,
        blocking_recall: if true_pairs.is_empty() { 1.0 } else { found as f64 / true_pairs.len() as f64 },
        by_threshold,
        at_precision,
        calibration,
        wrong: named(&mut wrong),
        missed: named(&mut missed),
    })
}

#[cfg(test)]
mod tests {
    use super::{calibration, wilson};
    use crate::resolve::score::weight_of;

    #[test]
    fn intervals_narrow_with_what_was_judged() {
        let [low, high] = wilson(47, 50).unwrap();
        assert!((low - 0.838).abs() < 0.001 && (high - 0.979).abs() < 0.001, "{low} {high}");
        let [low, high] = wilson(50, 50).unwrap();
        assert!((low - 0.929).abs() < 0.001 && high == 1.0, "{low} {high}");
        assert_eq!(wilson(0, 0), None);
    }

    #[test]
    fn probabilities_are_compared_with_what_is_true() {
        let scored = [(0.6, true), (0.65, false), (0.9991, true), (1.0, true), (0.05, true)];
        let scored = scored.map(|(said, is_one)| (weight_of(said), is_one));
        let bins: Vec<_> = calibration(&scored).iter().map(|bin| (bin.from, bin.pairs, bin.one)).collect();
        assert_eq!(bins, [(0.5, 2, 1), (0.999, 2, 2)]);
    }
}
