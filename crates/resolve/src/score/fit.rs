//! Weights from labelled pairs, to be shipped.
//!
//! Chances of "same" are counted over the pairs that are one, those of a rival over the pairs that show its
//! signs: a pair of one title and another year with the same pages is a reprint (`[[sign]]` in the profile).
//! Each set counts the same, however many pairs it has: otherwise the largest would speak for all.
//!
//! Features depend on each other: who has the publisher in common mostly has the place in common, too. Summed
//! up, such evidence is too sure of itself. How much too sure is measured on the labelled pairs: the *scale*
//! makes probabilities mean what they say.

use super::{Factor, Known, Learned, Model, probability};
use crate::compare::Vector;
use crate::profile::Profile;

/// Labelled pairs of one set.
pub struct LabelledSet {
    pub pairs: Vec<(Vector, bool)>,
    /// What the set counts beside others.
    pub weight: f64,
}

/// Pairs that each set amounts to, of each kind.
const PAIRS: f64 = 2000.0;
/// What one pair of a small set counts at most: a single odd one must not speak for many.
const MOST: f64 = 4.0;
/// Pairs that what was expected amounts to.
const EXPECTED: f64 = 40.0;
const ROUNDS: usize = 60;

/// Learns chances, shares and scale; the profile has what was expected, and has the weights afterwards.
pub fn fit(profile: &mut Profile, sets: &[LabelledSet]) {
    profile.scale = 1.0;
    let model = chances(profile, sets);
    for factor in model.factors.iter().filter(|factor| factor.second.is_none()) {
        let compare = &mut profile.compare[factor.first];
        let expected = compare.clone();
        let mut learned = 1.0;
        loop {
            for (place, level) in compare.levels.iter_mut().enumerate() {
                let was = expected.levels[place].chances.iter();
                let now = factor.chances.iter().map(|chances| chances[place + 1]);
                let chance =
                    |(now, was): (f64, &f64)| (learned * now + (1.0 - learned) * was).clamp(1e-5, 1.0 - 1e-5);
                level.chances = now.zip(was).map(chance).collect();
            }
            compare.normalize();
            // Sets may be too few to know that agreement speaks for a merge.
            if compare.check().is_ok() || learned < 0.1 {
                break;
            }
            learned /= 2.0;
        }
    }
    let scales = (6..=24).map(|step| f64::from(step) * 0.05);
    let mut losses: Vec<(f64, f64)> = scales.map(|scale| (loss(profile, sets, scale), scale)).collect();
    losses.sort_by(|one, other| one.0.total_cmp(&other.0));
    profile.scale = losses.first().map_or(1.0, |(_, scale)| *scale);
    let shares: Vec<Vec<f64>> = sets.iter().map(|set| shares_in(profile, set)).collect();
    let rivals = profile.rivals.len();
    // Labelled sets have far more of "same" than catalogues, so its share stays what was expected.
    let same = profile.shares[0];
    let mut all = vec![same];
    for class in 1..=rivals {
        let of = |shares: &Vec<f64>| shares[class] / (1.0 - shares[0]);
        let mean = shares.iter().map(of).sum::<f64>() / shares.len().max(1) as f64;
        all.push((1.0 - same) * mean);
    }
    profile.shares = all;
}

/// Chances by counting. Pairs that a veto forbids are never weighed, so nothing is learned from them.
fn chances(profile: &Profile, sets: &[LabelledSet]) -> Model {
    let mut model = Model::expected(profile);
    let expected = model.clone();
    let classes = model.shares.len();
    let lists = |factor: &Factor| vec![vec![0.0; factor.size()]; classes];
    let mut sums: Vec<Vec<Vec<f64>>> = model.factors.iter().map(lists).collect();
    for set in sets {
        for same in [true, false] {
            let open = set.pairs.iter().filter(|pair| pair.1 == same && profile.veto(pair.0).is_none());
            let each = set.weight * (PAIRS / open.clone().count().max(1) as f64).min(MOST);
            for (vector, _) in open {
                let class = if same { 0 } else { 1 + profile.rival_of(*vector) };
                for (factor, sums) in model.factors.iter().zip(&mut sums) {
                    sums[class][factor.place(*vector)] += each;
                }
            }
        }
    }
    for (at, factor) in model.factors.iter_mut().enumerate() {
        factor.count(&expected.factors[at], &sums[at], EXPECTED);
    }
    model
}

/// The shares that fit a set, with the chances of the profile.
fn shares_in(profile: &Profile, set: &LabelledSet) -> Vec<f64> {
    let mut model = Model::expected(profile);
    let open: Vec<Vector> =
        set.pairs.iter().map(|pair| pair.0).filter(|vector| profile.veto(*vector).is_none()).collect();
    let mut learned = Learned { places: Vec::new(), counts: Vec::new(), known: Vec::new() };
    for vector in open {
        learned.places.extend(model.factors.iter().map(|factor| factor.place(vector) as u8));
        learned.counts.push(1.0);
        learned.known.push(Known::Nothing);
    }
    for _ in 0..ROUNDS {
        let masses = learned.expect(&model).masses;
        let total: f64 = masses.iter().sum::<f64>() + masses.len() as f64;
        model.shares = masses.iter().map(|mass| (mass + 1.0) / total).collect();
    }
    model.shares
}

/// How far probabilities are from what people said, by the logarithm, each set and each kind of pair
/// counting the same.
fn loss(profile: &mut Profile, sets: &[LabelledSet], scale: f64) -> f64 {
    let before = std::mem::replace(&mut profile.scale, scale);
    let mut sum = 0.0;
    for set in sets {
        let mut model = Model::expected(profile);
        model.shares = shares_in(profile, set);
        let open = set.pairs.iter().filter(|(vector, _)| profile.veto(*vector).is_none());
        let (mut lost, mut count) = (0.0, 0.0);
        for (vector, same) in open {
            let chance = probability(model.weight(*vector)).clamp(1e-6, 1.0 - 1e-6);
            lost -= if *same { chance } else { 1.0 - chance }.ln();
            count += 1.0;
        }
        sum += set.weight * lost / f64::max(count, 1.0);
    }
    profile.scale = before;
    sum
}
