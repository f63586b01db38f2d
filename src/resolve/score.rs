//! What is a vector of levels worth?
//!
//! Fellegi and Sunter: each level weighs log2(m / u), where m is how often records of one thing
//! are on it and u how often records of different things are. Both are learned without labels
//! by expectation maximization over the *histogram* of vectors, so the cost does not grow with
//! the number of pairs. Three things keep the learning on its way: the profile's expectations
//! count as pairs already seen; pairs that a veto forbids are known to be different; and a
//! better level never weighs less than a worse one.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::compare::{Vector, Weights, level_at};
use super::profile::Profile;

/// How often each vector occurred.
pub type Histogram = BTreeMap<Vector, u64>;

/// What was learned. Written beside the catalogue, it makes later runs comparable.
#[derive(Clone, Serialize, Deserialize)]
pub struct Model {
    /// The share of pairs that are of one thing.
    pub share: f64,
    factors: Vec<Factor>,
    /// How rare words were when the model was made.
    pub weights: Weights,
    /// How many vectors and rounds it took.
    pub vectors: usize,
    pub rounds: usize,
}

/// One comparison, or two whose levels depend on each other.
#[derive(Clone, Serialize, Deserialize)]
struct Factor {
    first: usize,
    second: Option<usize>,
    /// By level of the first, then of the second; level 0 is "missing".
    m: Vec<f64>,
    u: Vec<f64>,
    bits: Vec<f64>,
    /// Levels of the second comparison, with "missing".
    width: usize,
}

const MOST_ROUNDS: usize = 60;
/// No level weighs more, whatever was counted.
const MOST_BITS: f64 = 14.0;

impl Model {
    /// What the profile expects, before anything was counted.
    pub fn expected(profile: &Profile) -> Self {
        let mut factors = Vec::new();
        let in_second = |at: usize| profile.interactions.iter().any(|pair| pair.1 == at);
        for at in (0..profile.compare.len()).filter(|at| !in_second(*at)) {
            let second = profile.interactions.iter().find(|pair| pair.0 == at).map(|pair| pair.1);
            let (m, u) = expectations(profile, at, second);
            let width = second.map_or(1, |second| profile.compare[second].levels.len() + 1);
            let mut factor = Factor { first: at, second, bits: Vec::new(), m, u, width };
            factor.weigh();
            factors.push(factor);
        }
        Self { share: 0.1, factors, weights: Weights::new(), vectors: 0, rounds: 0 }
    }

    /// Learns from the pairs of one run.
    pub fn learn(profile: &Profile, histogram: &Histogram, weights: Weights) -> Self {
        let mut model = Self::expected(profile);
        model.weights = weights;
        model.vectors = histogram.len();
        let total: u64 = histogram.values().sum();
        if total == 0 {
            return model;
        }
        let forbidden: Vec<bool> = histogram.keys().map(|vector| profile.veto(*vector).is_some()).collect();
        let expected = model.clone();
        for round in 0..MOST_ROUNDS {
            let mut sums: Vec<(Vec<f64>, Vec<f64>)> =
                model.factors.iter().map(|factor| (vec![0.0; factor.m.len()], vec![0.0; factor.u.len()])).collect();
            let mut same = 0.0;
            for ((vector, count), forbidden) in histogram.iter().zip(&forbidden) {
                let chance = if *forbidden { 0.0 } else { model.probability(*vector) };
                let count = *count as f64;
                same += chance * count;
                for (factor, (m, u)) in model.factors.iter().zip(&mut sums) {
                    let at = factor.place(*vector);
                    m[at] += chance * count;
                    u[at] += (1.0 - chance) * count;
                }
            }
            // A Beta prior worth a hundred pairs: no share is ever exactly 0 or 1.
            let share = (same + 10.0) / (total as f64 + 100.0);
            let mut moved = (share - model.share).abs();
            model.share = share;
            for ((factor, before), (m, u)) in model.factors.iter_mut().zip(&expected.factors).zip(sums) {
                moved += factor.update(before, &m, &u, profile.confidence);
            }
            model.rounds = round + 1;
            if moved < 1e-4 {
                break;
            }
        }
        model
    }

    /// Evidence of a vector in bits; positive speaks for one thing. Without the share.
    pub fn bits(&self, vector: Vector) -> f64 {
        self.factors.iter().map(|factor| factor.bits[factor.place(vector)]).sum()
    }

    /// Evidence and share together, in bits: 0 is even.
    pub fn weight(&self, vector: Vector) -> f64 {
        self.bits(vector) + self.prior()
    }

    /// What the share alone is worth.
    pub fn prior(&self) -> f64 {
        (self.share / (1.0 - self.share)).log2()
    }

    pub fn probability(&self, vector: Vector) -> f64 {
        probability(self.weight(vector))
    }

    /// What each comparison contributes; the two of an interaction share theirs, at the first.
    pub fn contributions(&self, vector: Vector) -> Vec<(usize, Option<usize>, f64)> {
        self.factors.iter().map(|factor| (factor.first, factor.second, factor.bits[factor.place(vector)])).collect()
    }

    /// m, u and bits of a level of a comparison that is in no interaction.
    pub fn level(&self, comparison: usize, level: u8) -> Option<(f64, f64, f64)> {
        let factor = self.factors.iter().find(|factor| factor.first == comparison && factor.second.is_none())?;
        let at = usize::from(level);
        Some((*factor.m.get(at)?, *factor.u.get(at)?, *factor.bits.get(at)?))
    }
}

/// The probability that evidence of so many bits stands for.
pub fn probability(weight: f64) -> f64 {
    1.0 / (1.0 + (-weight).exp2())
}

/// The bits that stand for a probability.
pub fn weight_of(probability: f64) -> f64 {
    (probability / (1.0 - probability)).log2()
}

fn expectations(profile: &Profile, first: usize, second: Option<usize>) -> (Vec<f64>, Vec<f64>) {
    let chances = |at: usize| {
        let levels = &profile.compare[at].levels;
        let m = std::iter::once(0.0).chain(levels.iter().map(|level| level.m)).collect::<Vec<_>>();
        let u = std::iter::once(0.0).chain(levels.iter().map(|level| level.u)).collect::<Vec<_>>();
        (m, u)
    };
    let (m1, u1) = chances(first);
    let Some(second) = second else { return (m1, u1) };
    let (m2, u2) = chances(second);
    let joint = |a: &[f64], b: &[f64]| {
        let mut out = Vec::with_capacity(a.len() * b.len());
        for (i, x) in a.iter().enumerate() {
            for (j, y) in b.iter().enumerate() {
                out.push(match (i, j) {
                    (0, 0) => 0.0,
                    (0, _) => *y,
                    (_, 0) => *x,
                    _ => x * y,
                });
            }
        }
        out
    };
    (joint(&m1, &m2), joint(&u1, &u2))
}

impl Factor {
    fn place(&self, vector: Vector) -> usize {
        let first = usize::from(level_at(vector, self.first));
        match self.second {
            None => first,
            Some(second) => first * self.width + usize::from(level_at(vector, second)),
        }
    }

    /// Chances from counts and expectations; how far they moved.
    fn update(&mut self, expected: &Self, m: &[f64], u: &[f64], confidence: f64) -> f64 {
        let mut moved = 0.0;
        // What is missing on one side is a population of its own.
        for group in self.groups() {
            let (sum_m, sum_u): (f64, f64) = group.iter().fold((0.0, 0.0), |(x, y), at| (x + m[*at], y + u[*at]));
            for at in group {
                let new_m = (m[at] + confidence * expected.m[at]) / (sum_m + confidence);
                let new_u = (u[at] + confidence * expected.u[at]) / (sum_u + confidence);
                moved += (new_m - self.m[at]).abs() + (new_u - self.u[at]).abs();
                self.m[at] = new_m;
                self.u[at] = new_u;
            }
        }
        self.weigh();
        moved
    }

    /// Levels among which chances add up to one.
    fn groups(&self) -> Vec<Vec<usize>> {
        if self.second.is_none() {
            return vec![(1..self.m.len()).collect()];
        }
        let height = self.m.len() / self.width;
        let both = (1..height).flat_map(|i| (1..self.width).map(move |j| (i, j)));
        let place = |(i, j): (usize, usize)| i * self.width + j;
        vec![
            both.map(place).collect(),
            (1..self.width).collect(),
            (1..height).map(|i| i * self.width).collect(),
        ]
    }

    /// Bits from chances; a better level never weighs less than a worse one.
    fn weigh(&mut self) {
        self.bits = vec![0.0; self.m.len()];
        let lines: Vec<Vec<usize>> = match self.second {
            None => vec![(1..self.m.len()).collect()],
            // In an interaction the second's levels are ordered within each level of the first.
            Some(_) => {
                let height = self.m.len() / self.width;
                let rows = (0..height).map(|i| (usize::from(i == 0)..self.width).filter(|j| i == 0 || *j > 0).map(|j| i * self.width + j).collect());
                rows.chain(std::iter::once((1..height).map(|i| i * self.width).collect())).collect()
            }
        };
        for line in lines {
            let mut pools: Vec<(f64, f64, usize)> = Vec::new();
            for at in &line {
                pools.push((self.m[*at].max(1e-9), self.u[*at].max(1e-9), 1));
                while let [.., before, last] = &pools[..]
                    && last.0 / last.1 > before.0 / before.1
                {
                    let pooled = (before.0 + last.0, before.1 + last.1, before.2 + last.2);
                    pools.truncate(pools.len() - 2);
                    pools.push(pooled);
                }
            }
            let mut places = line.iter();
            for (m, u, count) in pools {
                for at in places.by_ref().take(count) {
                    self.bits[*at] = (m / u).log2().clamp(-MOST_BITS, MOST_BITS);
                }
            }
        }
    }
}
