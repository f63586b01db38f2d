//! What is a vector of levels worth?
//!
//! Fellegi and Sunter, with more than one way to be different. Two records that share a key and
//! are *not* one thing are mostly not unrelated: they are editions of one work, or siblings by
//! one author at one publisher. Such pairs agree in many features at once, and a model that
//! knows only "same" and "different" takes that for proof. So the profile names *rivals* of the
//! hypothesis "same", each with its own expected frequencies, and the evidence of a pair is
//! weighed against all of them.
//!
//! Where they start is a file of weights, learned from labelled sets ([`fit`]). A catalogue then moves them,
//! without labels, by expectation maximization over the *histogram* of vectors, so the cost does not grow
//! with the number of pairs. Where duplicates are rare, which is the normal case, such learning fits
//! something else than duplicates; so it is held back three ways. The weights of the file count as many
//! pairs already seen, so that few duplicates move nothing. No level moves further than [`DRIFT`] bits, so
//! that another title always weighs much. And the share of duplicates is estimated within bounds.

mod exact;
pub mod fit;
mod text;

pub use self::text::ModelError;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::compare::vector::Slot;
use super::compare::{Crowded, Vector, Weights};
use super::fold::mix;
use super::profile::Profile;

/// How often each vector occurred.
pub type Histogram = BTreeMap<Vector, u64>;

/// What was learned. Written beside the catalogue, it makes later runs comparable.
#[derive(Clone, Serialize, Deserialize)]
pub struct Model {
    /// The share of pairs under each hypothesis, among those that no veto forbids: "same" first,
    /// then the rivals.
    #[serde(with = "exact")]
    pub shares: Vec<f64>,
    /// What is left of all evidence because features depend on each other.
    #[serde(with = "exact")]
    pub scale: f64,
    pub(crate) factors: Vec<Factor>,
    /// How rare words were when the model was made.
    pub weights: Weights,
    /// Identifiers that too many records carried then.
    pub crowded: Crowded,
    /// How many vectors and rounds it took.
    pub vectors: usize,
    pub rounds: usize,
}

/// One comparison, or two whose levels depend on each other.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Factor {
    pub(crate) first: usize,
    pub(crate) second: Option<usize>,
    /// Where vectors have the levels of the first and of the second.
    pub(crate) slots: (Slot, Slot),
    /// Levels of the second comparison, with "missing".
    pub(crate) width: usize,
    /// By hypothesis; then by level of the first, then of the second. Level 0 is "missing".
    #[serde(with = "exact")]
    pub(crate) chances: Vec<Vec<f64>>,
    /// By rival: log2 of the chance under "same" over the chance under the rival.
    #[serde(with = "exact")]
    pub(crate) bits: Vec<Vec<f64>>,
}

const MOST_ROUNDS: usize = 80;
/// No level weighs more, whatever was counted.
const MOST_BITS: f64 = 14.0;

/// How far a catalogue may move a level from the weights that were shipped, in bits.
const DRIFT: f64 = 4.0;
/// How much of what speaks against a merge it may take away: where nearly all that is alike is not one,
/// learning would have it say nothing.
const FORGIVEN: f64 = 2.0;

/// How far it may move the odds of a duplicate, down and up.
const RARER: f64 = 64.0;
const COMMONER: f64 = 256.0;

/// What one pair's evidence comes to.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// log2 of the odds for "same"; 0 is even.
    pub weight: f64,
    /// The likeliest rival, counted from 0.
    pub rival: usize,
    /// What the shares of "same" and of this rival are worth, with what the other rivals take.
    pub prior: f64,
    /// For each factor: its comparisons, and its bits against the likeliest rival.
    pub parts: Vec<(usize, Option<usize>, f64)>,
}

impl Model {
    /// What the profile expects, before anything was counted.
    pub fn expected(profile: &Profile) -> Self {
        let mut factors = Vec::new();
        let in_second = |at: usize| profile.interactions.iter().any(|pair| pair.1 == at);
        for at in (0..profile.compare.len()).filter(|at| !in_second(*at)) {
            let second = profile.interactions.iter().find(|pair| pair.0 == at).map(|pair| pair.1);
            let width = second.map_or(1, |second| profile.compare[second].levels.len() + 1);
            let chances =
                (0..=profile.rivals.len()).map(|class| expectations(profile, class, at, second)).collect();
            let slot = |at: usize| profile.compare[at].slot;
            let slots = (slot(at), second.map_or_else(Slot::default, slot));
            let mut factor = Factor { first: at, second, slots, width, chances, bits: Vec::new() };
            factor.weigh(profile.scale);
            factors.push(factor);
        }
        Self {
            shares: profile.shares.clone(),
            scale: profile.scale,
            factors,
            weights: Weights::new(),
            crowded: Crowded::new(),
            vectors: 0,
            rounds: 0,
        }
    }

    /// Takes up identifiers that too many records carry by now; says whether any of them is new.
    pub fn distrust(&mut self, crowded: Crowded) -> bool {
        let mut is_new = false;
        for (feature, values) in crowded {
            let known = self.crowded.entry(feature).or_default();
            for value in values {
                is_new |= known.insert(value);
            }
        }
        is_new
    }

    /// Learns from the pairs of one run, and from those of which people said whether they are one.
    pub fn learn(
        profile: &Profile,
        histogram: &Histogram,
        labels: &[(Vector, bool)],
        weights: Weights,
        crowded: Crowded,
    ) -> Self {
        let mut model = Self::expected(profile);
        model.weights = weights;
        model.crowded = crowded;
        model.vectors = histogram.len();
        if histogram.is_empty() && labels.is_empty() {
            return model;
        }
        let mut learned = Learned::new(profile, &model, histogram);
        learned.add_labels(&model, labels);
        let expected = model.clone();
        for round in 0..MOST_ROUNDS {
            let sums = learned.expect(&model);
            let mut moved = model.estimate_shares(&expected, &sums.masses);
            for (at, (factor, before)) in model.factors.iter_mut().zip(&expected.factors).enumerate() {
                moved += factor.update(before, &sums.levels[at], profile.confidence, model.scale);
            }
            model.rounds = round + 1;
            if moved < 5e-3 {
                break;
            }
        }
        model
    }

    /// Shares from counted pairs. The expected ones count as a hundred more, so that no share is ever 0 or
    /// 1, and the odds of "same" stay within bounds; how far they moved.
    fn estimate_shares(&mut self, expected: &Self, masses: &[f64]) -> f64 {
        const SEEN: f64 = 100.0;
        let total: f64 = masses.iter().sum();
        let mut shares: Vec<f64> = masses
            .iter()
            .zip(&expected.shares)
            .map(|(mass, share)| (mass + SEEN * share) / (total + SEEN))
            .collect();
        let odds = |share: f64| share / (1.0 - share);
        let before = odds(expected.shares[0]);
        let bounded = odds(shares[0]).clamp(before / RARER, before * COMMONER);
        let same = bounded / (1.0 + bounded);
        let others = (1.0 - same) / (1.0 - shares[0]);
        shares[0] = same;
        shares.iter_mut().skip(1).for_each(|share| *share *= others);
        let moved = shares.iter().zip(&self.shares).map(|(now, then)| (now - then).abs()).sum();
        self.shares = shares;
        moved
    }

    /// Evidence against one rival, in bits, without the shares.
    fn bits(&self, vector: Vector, rival: usize) -> f64 {
        self.factors.iter().map(|factor| factor.bits[rival][factor.place(vector)]).sum()
    }

    /// Evidence against the likeliest rival, without the shares.
    pub(crate) fn least_bits(&self, vector: Vector) -> f64 {
        (0..self.shares.len() - 1).map(|rival| self.bits(vector, rival)).fold(f64::INFINITY, f64::min)
    }

    /// The most that [`least_bits`](Self::least_bits) can come to when only the levels of some
    /// comparisons, a bit for each, are known.
    pub(crate) fn most_bits(&self, vector: Vector, known: u64) -> f64 {
        let is_known = |at: usize| known >> at & 1 == 1;
        let against = |rival: usize| {
            let most = |factor: &Factor| match is_known(factor.first) && factor.second.is_none_or(is_known) {
                true => factor.bits[rival][factor.place(vector)],
                false => factor.bits[rival].iter().copied().fold(0.0, f64::max),
            };
            self.factors.iter().map(most).sum()
        };
        (0..self.shares.len() - 1).map(against).fold(f64::INFINITY, f64::min)
    }

    /// Evidence and shares together, in bits: 0 is even.
    pub fn weight(&self, vector: Vector) -> f64 {
        let rivals = 1..self.shares.len();
        let odds: f64 = rivals
            .map(|class| self.shares[class] / self.shares[0] * (-self.bits(vector, class - 1)).exp2())
            .sum();
        -odds.log2()
    }

    pub fn probability(&self, vector: Vector) -> f64 {
        probability(self.weight(vector))
    }

    /// The evidence of a vector, taken apart.
    pub fn verdict(&self, vector: Vector) -> Verdict {
        let odds = |rival: usize| (self.shares[0] / self.shares[rival + 1]).log2() + self.bits(vector, rival);
        let rival = (0..self.shares.len() - 1).min_by(|a, b| odds(*a).total_cmp(&odds(*b))).unwrap_or(0);
        let weight = self.weight(vector);
        let parts = self
            .factors
            .iter()
            .map(|factor| (factor.first, factor.second, factor.bits[rival][factor.place(vector)]))
            .collect();
        let sum: f64 = self.factors.iter().map(|factor| factor.bits[rival][factor.place(vector)]).sum();
        Verdict { weight, rival, prior: weight - sum, parts }
    }

    /// Of a level of a comparison that is in no interaction: the chances by hypothesis and the
    /// bits by rival.
    pub fn level(&self, comparison: usize, level: u8) -> Option<(Vec<f64>, Vec<f64>)> {
        let factor =
            self.factors.iter().find(|factor| factor.first == comparison && factor.second.is_none())?;
        let at = usize::from(level);
        let pick =
            |lists: &[Vec<f64>]| lists.iter().map(|list| list.get(at).copied()).collect::<Option<Vec<f64>>>();
        Some((pick(&factor.chances)?, pick(&factor.bits)?))
    }
}

/// No more vectors than this are learned from.
const MOST_VECTORS: usize = 1 << 15;

/// A histogram made ready for many rounds.
struct Learned {
    /// For each vector and factor its place in the factor's lists.
    places: Vec<u8>,
    counts: Vec<f64>,
    known: Vec<Known>,
}

/// What is known of pairs of one vector before anything is learned.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Known {
    Nothing,
    /// A veto forbids them.
    Forbidden,
    /// A person said so.
    Same,
    Apart,
}

/// A pair that a person looked at counts like so many others.
const LABEL: f64 = 20.0;

/// How much of the pairs each hypothesis has, in all and on each level of each factor.
struct Sums {
    masses: Vec<f64>,
    levels: Vec<Vec<Vec<f64>>>,
}

impl Learned {
    /// Frequent vectors are all taken. Of the rare ones, if there are too many, some stand for
    /// the others: which, their content decides.
    fn new(profile: &Profile, model: &Model, histogram: &Histogram) -> Self {
        let mut counts: Vec<u64> = histogram.values().copied().collect();
        counts.sort_unstable_by(|left, right| right.cmp(left));
        let frequent = counts.get(MOST_VECTORS / 2).map_or(0, |count| count + 1);
        let rare = counts.iter().filter(|count| **count < frequent).count();
        let every = (rare / (MOST_VECTORS / 2)).max(1) as u64;
        let mut learned = Self { places: Vec::new(), counts: Vec::new(), known: Vec::new() };
        for (vector, count) in histogram {
            let weight = match *count < frequent {
                true if !mix((*vector >> 64) as u64, *vector as u64).is_multiple_of(every) => continue,
                true => *count * every,
                false => *count,
            };
            learned.places.extend(model.factors.iter().map(|factor| factor.place(*vector) as u8));
            learned.counts.push(weight as f64);
            let is_forbidden = profile.veto(*vector).is_some();
            learned.known.push(if is_forbidden { Known::Forbidden } else { Known::Nothing });
        }
        learned
    }

    fn add_labels(&mut self, model: &Model, labels: &[(Vector, bool)]) {
        for (vector, same) in labels {
            self.places.extend(model.factors.iter().map(|factor| factor.place(*vector) as u8));
            self.counts.push(LABEL);
            self.known.push(if *same { Known::Same } else { Known::Apart });
        }
    }

    fn expect(&self, model: &Model) -> Sums {
        let classes = model.shares.len();
        let lists = |factor: &Factor| vec![vec![0.0; factor.size()]; classes];
        let mut sums = Sums { masses: vec![0.0; classes], levels: model.factors.iter().map(lists).collect() };
        let mut odds = vec![0.0; classes];
        for ((places, count), known) in
            self.places.chunks(model.factors.len()).zip(&self.counts).zip(&self.known)
        {
            odds[0] = match known {
                Known::Nothing | Known::Same => model.shares[0],
                Known::Forbidden | Known::Apart => 0.0,
            };
            for (rival, odd) in odds.iter_mut().skip(1).enumerate() {
                let parts = model.factors.iter().zip(places);
                let bits: f64 = parts.map(|(factor, at)| factor.bits[rival][usize::from(*at)]).sum();
                *odd = match known {
                    Known::Same => 0.0,
                    _ => model.shares[rival + 1] * (-bits).exp2(),
                };
            }
            let sum: f64 = odds.iter().sum();
            for (class, odd) in odds.iter().enumerate() {
                let mass = odd / sum * count;
                // Vetoes have dealt with their pairs, and people chose theirs: shares are those
                // among the others.
                if *known == Known::Nothing {
                    sums.masses[class] += mass;
                }
                for (levels, at) in sums.levels.iter_mut().zip(places) {
                    levels[class][usize::from(*at)] += mass;
                }
            }
        }
        sums
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

fn expectations(profile: &Profile, class: usize, first: usize, second: Option<usize>) -> Vec<f64> {
    let chances = |at: usize| {
        let levels = profile.compare[at].levels.iter();
        std::iter::once(0.0).chain(levels.map(|level| level.chances[class])).collect::<Vec<f64>>()
    };
    let one = chances(first);
    let Some(second) = second else { return one };
    let other = chances(second);
    let mut joint = Vec::with_capacity(one.len() * other.len());
    for (i, x) in one.iter().enumerate() {
        for (j, y) in other.iter().enumerate() {
            joint.push(match (i, j) {
                (0, 0) => 0.0,
                (0, _) => *y,
                (_, 0) => *x,
                _ => x * y,
            });
        }
    }
    joint
}

impl Factor {
    fn place(&self, vector: Vector) -> usize {
        let first = usize::from(self.slots.0.level(vector));
        match self.second {
            None => first,
            Some(_) => first * self.width + usize::from(self.slots.1.level(vector)),
        }
    }

    fn size(&self) -> usize {
        self.chances.first().map_or(0, Vec::len)
    }

    /// As [`count`](Self::count), and weighs them again: no level moves further than [`DRIFT`].
    fn update(&mut self, expected: &Self, sums: &[Vec<f64>], confidence: f64, scale: f64) -> f64 {
        let moved = self.count(expected, sums, confidence);
        self.weigh(scale);
        self.bound(expected);
        moved
    }

    /// Holds every level to what the shipped weights allow.
    fn bound(&mut self, expected: &Self) {
        for (bits, expected) in self.bits.iter_mut().zip(&expected.bits) {
            for (bits, expected) in bits.iter_mut().zip(expected) {
                let most = if *expected < 0.0 { FORGIVEN } else { DRIFT };
                *bits = bits.clamp(expected - DRIFT, expected + most);
            }
        }
    }

    /// Chances from counts, of which those expected are worth `confidence`; how far they moved.
    fn count(&mut self, expected: &Self, sums: &[Vec<f64>], confidence: f64) -> f64 {
        let mut moved = 0.0;
        // What is missing on one side is a population of its own.
        for group in self.groups() {
            for (class, sums) in sums.iter().enumerate() {
                let mass: f64 = group.iter().map(|at| sums[*at]).sum();
                for at in &group {
                    let chance =
                        (sums[*at] + confidence * expected.chances[class][*at]) / (mass + confidence);
                    moved += (chance - self.chances[class][*at]).abs();
                    self.chances[class][*at] = chance;
                }
            }
        }
        moved
    }

    /// Levels among which chances add up to one.
    fn groups(&self) -> Vec<Vec<usize>> {
        if self.second.is_none() {
            return vec![(1..self.size()).collect()];
        }
        let (height, width) = (self.size() / self.width, self.width);
        vec![
            (1..height).flat_map(|i| (1..width).map(move |j| i * width + j)).collect(),
            (1..width).collect(),
            (1..height).map(|i| i * width).collect(),
        ]
    }

    /// Levels of which each is at least as good as the next.
    fn ladders(&self) -> Vec<Vec<usize>> {
        if self.second.is_none() {
            return vec![(1..self.size()).collect()];
        }
        let (height, width) = (self.size() / self.width, self.width);
        let rows = (0..height).map(|i| (1..width).map(|j| i * width + j).collect());
        rows.chain(std::iter::once((1..height).map(|i| i * width).collect())).collect()
    }

    /// Bits from chances. Where a worse level would weigh more than a better one, the two are
    /// taken together.
    fn weigh(&mut self, scale: f64) {
        let same = &self.chances[0];
        let ladders = self.ladders();
        self.bits = self
            .chances
            .iter()
            .skip(1)
            .map(|rival| {
                let mut bits = vec![0.0; same.len()];
                for ladder in &ladders {
                    let mut pools: Vec<(f64, f64, usize)> = Vec::new();
                    for at in ladder {
                        pools.push((same[*at].max(1e-9), rival[*at].max(1e-9), 1));
                        while let [.., before, last] = &pools[..]
                            && last.0 / last.1 > before.0 / before.1
                        {
                            let pooled = (before.0 + last.0, before.1 + last.1, before.2 + last.2);
                            pools.truncate(pools.len() - 2);
                            pools.push(pooled);
                        }
                    }
                    let mut places = ladder.iter();
                    for (same, rival, count) in pools {
                        for at in places.by_ref().take(count) {
                            bits[*at] = (scale * (same / rival).log2()).clamp(-MOST_BITS, MOST_BITS);
                        }
                    }
                }
                bits
            })
            .collect();
    }
}
