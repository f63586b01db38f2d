//! Which records describe one thing?
//!
//! Feature rows in, groups with explained decisions out: [`feature`] holds what records say,
//! [`profile`] what makes two of them one, [`block`] proposes pairs, [`compare`] grades them,
//! [`score`] weighs the grades, [`cluster`] unites, [`explain`] says why. [`evaluate`] measures a
//! result against a truth, [`increment`] takes up what changed, [`agents`] look for one entry among
//! those already merged. The engine knows no triplestore, no archive and no command line: rows
//! come from queries, and whoever runs the stage writes what it returns.
//!
//! Everything is a function of the names and contents of records: neither the order of arrival
//! nor the number of threads changes a result.

pub mod agents;
pub mod block;
pub mod cluster;
pub mod compare;
pub mod evaluate;
pub mod explain;
pub mod feature;
pub mod fold;
pub mod increment;
pub mod profile;
pub mod score;
pub mod spill;
pub mod split;
pub mod words;

use std::io;

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use self::block::{Blocker, Blocking, Keyed, Pair, unpack};
use self::cluster::{Across, Clusters, Decisions, Edge, Reason};
use self::compare::{Comparer, Vector};
use self::feature::{FeatureTable, Id};
use self::profile::Profile;
use self::score::{Histogram, Model, weight_of};
use self::spill::Sorted;

/// How much memory sorting may take, in numbers of 8 to 16 bytes.
pub const BUDGET: usize = 1 << 25;

/// What a run starts from besides records and profile.
#[derive(Default)]
pub struct Given<'a> {
    /// Keys of queries: (key, record). The profile's own are computed.
    pub keys: &'a [(&'a str, Id)],
    pub decisions: Decisions,
    /// Pairs of which people said whether they are one; a model that is learned learns from them.
    pub labels: &'a [(Id, Id, bool)],
    /// A model made earlier; without one it is learned from this run's pairs.
    pub model: Option<Model>,
    /// How many keys or pairs sorting holds in memory; 0 for [`BUDGET`].
    pub budget: usize,
}

/// What a run found.
pub struct Resolution {
    pub model: Model,
    pub clusters: Clusters,
    /// Every pair from the review band upwards, strongest first: also those of which there is too little
    /// to go by, and those that are related and not one.
    pub edges: Vec<Edge>,
    pub blocking: Blocking,
    /// Pairs compared.
    pub compared: u64,
}

impl Resolution {
    /// Pairs that a person should look at, the likeliest first: between the bands, refused, or likely with
    /// too little to go by. What people have said never of, or what would bring such two together, they need
    /// not see again.
    pub fn review(&self, profile: &Profile, decisions: &Decisions) -> Vec<&Edge> {
        let merge = weight_of(profile.bands.merge);
        let veto = |edge: &Edge| profile.veto(edge.vector);
        let apart = |edge: &&Edge| {
            self.clusters.of.get(edge.left as usize) != self.clusters.of.get(edge.right as usize)
        };
        let nevers: FxHashSet<(Id, Id)> = decisions.settled().1.into_iter().collect();
        let refused: FxHashMap<(Id, Id), &Reason> = self
            .clusters
            .refused
            .iter()
            .map(|refusal| ((refusal.left, refusal.right), &refusal.reason))
            .collect();
        self.edges
            .iter()
            .filter(apart)
            .filter(|edge| !nevers.contains(&(edge.left, edge.right)))
            .filter(|edge| veto(edge).is_none_or(|veto| veto.lacking))
            .filter(|edge| match refused.get(&(edge.left, edge.right)) {
                Some(reason) => !matches!(reason, Reason::Never(..)),
                None => edge.weight < merge || veto(edge).is_some(),
            })
            .collect()
    }
}

/// Finds the groups of a table.
pub fn resolve(table: &FeatureTable, profile: &Profile, given: Given<'_>) -> io::Result<Resolution> {
    let comparer = Comparer::new(table, profile, given.model.as_ref());
    let budget = if given.budget == 0 { BUDGET } else { given.budget };
    let blocker = Blocker::new(&comparer, budget);
    let rows: Vec<Keyed> = given.keys.iter().map(|(key, record)| (blocker.row_key(key), *record)).collect();
    let keys = blocker.sorted_keys(&rows)?;
    let (pairs, blocking) = blocker.pairs(keys)?;
    let (histogram, kept, compared) = compare_all(&comparer, pairs)?;
    let model = match given.model {
        Some(mut model) => {
            // A model that people wrote or read says nothing of words.
            for (feature, terms) in comparer.weights() {
                model.weights.entry(feature.clone()).or_insert_with(|| terms.clone());
            }
            model
        }
        None => {
            let labels: Vec<(Vector, bool)> = given
                .labels
                .iter()
                .map(|(left, right, same)| (comparer.vector(*left.min(right), *left.max(right)), *same))
                .collect();
            Model::learn(profile, &histogram, &labels, comparer.weights().clone(), comparer.crowded().clone())
        }
    };
    let edges = weigh(profile, &model, &kept);
    let clusters = unite(&comparer, &blocker, &model, &edges, &given.decisions);
    let mut blocking = blocking;
    blocking.pairs = compared;
    Ok(Resolution { model, clusters, edges, blocking, compared })
}

type Compared = (Pair, Vector);

/// Compares every pair. All are counted; kept are those that the profile's expectations do not
/// rule out by far, for no learning brings the others back.
pub(crate) fn compare_all(
    comparer: &Comparer<'_>,
    pairs: Sorted<Pair>,
) -> io::Result<(Histogram, Vec<Compared>, u64)> {
    // So many pieces of pairs are compared at once.
    const STEP: usize = 512;
    let floor = Floor::new(comparer.profile());
    let mut counts: FxHashMap<Vector, u64> = FxHashMap::default();
    let mut kept = Vec::new();
    let mut compared = 0;
    let mut pieces = pairs.pieces();
    loop {
        let some = pieces.by_ref().take(STEP).collect::<io::Result<Vec<Vec<Pair>>>>()?;
        if some.is_empty() {
            break;
        }
        compared += some.iter().map(|pairs| pairs.len() as u64).sum::<u64>();
        let parts: Vec<Outcome> = some
            .into_par_iter()
            .with_min_len(32)
            .fold(Outcome::default, |mut outcome, pairs| {
                outcome.compare(comparer, &floor, &pairs);
                outcome
            })
            .collect();
        for part in parts {
            for (vector, count) in part.counts {
                *counts.entry(vector).or_default() += count;
            }
            kept.extend(part.kept);
        }
    }
    Ok((counts.into_iter().collect(), kept, compared))
}

/// What comparing some pairs came to.
#[derive(Default)]
struct Outcome {
    counts: FxHashMap<Vector, u64>,
    kept: Vec<Compared>,
    /// Of cheap comparisons: whether nothing can come of them.
    hopeless: FxHashMap<Vector, bool>,
    /// Of all comparisons: whether the pair is kept.
    admitted: FxHashMap<Vector, bool>,
}

impl Outcome {
    fn compare(&mut self, comparer: &Comparer<'_>, floor: &Floor, pairs: &[Pair]) {
        // As many as can be looked at together without one driving the other out of the cache.
        const TOGETHER: usize = 128;
        let known = comparer.known();
        let mut records: Vec<Id> = Vec::with_capacity(2 * TOGETHER);
        let mut open: Vec<(Pair, Vector, bool)> = Vec::with_capacity(TOGETHER);
        let both = |pair: Pair| <[Id; 2]>::from(unpack(pair));
        for pairs in pairs.chunks(TOGETHER) {
            records.clear();
            records.extend(pairs.iter().flat_map(|pair| both(*pair)));
            comparer.fetch_cards(&records);
            open.clear();
            for pair in pairs {
                let (left, right) = unpack(*pair);
                let cheap = comparer.cheap(left, right);
                let judge = || comparer.is_forbidden(cheap) || !floor.may_admit(cheap, known);
                let is_hopeless = *self.hopeless.entry(cheap).or_insert_with(judge);
                if !is_hopeless || comparer.stands_for_others(left, right) {
                    open.push((*pair, cheap, is_hopeless));
                }
            }
            records.clear();
            records.extend(open.iter().flat_map(|(pair, ..)| both(*pair)));
            comparer.fetch_values(&records);
            for (pair, cheap, is_hopeless) in &open {
                let (left, right) = unpack(*pair);
                let early = if *is_hopeless { None } else { comparer.early(*cheap, left, right) };
                match early {
                    Some(early) => {
                        let vector = comparer.late(early, left, right);
                        *self.counts.entry(vector).or_default() += 1;
                        if *self.admitted.entry(vector).or_insert_with(|| floor.admits(vector)) {
                            self.kept.push((*pair, vector));
                        }
                    }
                    // Nothing brings these two together. What else can be said of such pairs is
                    // learned from a few, chosen by content.
                    None if *is_hopeless || comparer.stands_for_others(left, right) => {
                        *self.counts.entry(comparer.vector(left, right)).or_default() += comparer.sampled();
                    }
                    None => {}
                }
            }
        }
    }
}

/// Below this many bits of expected evidence a pair is not kept.
const FLOOR: f64 = -12.0;

/// The expected evidence, to leave out what is hopeless.
pub(crate) struct Floor {
    expected: Model,
}

impl Floor {
    pub(crate) fn new(profile: &Profile) -> Self {
        Self { expected: Model::expected(profile) }
    }

    /// Whether a pair may be kept of which only some comparisons are known.
    pub(crate) fn may_admit(&self, vector: Vector, known: u64) -> bool {
        self.expected.most_bits(vector, known) >= FLOOR
    }

    pub(crate) fn admits(&self, vector: Vector) -> bool {
        self.expected.least_bits(vector) >= FLOOR
    }
}

/// The pairs from the review band upwards, but for those that are known to differ.
pub(crate) fn weigh(profile: &Profile, model: &Model, kept: &[Compared]) -> Vec<Edge> {
    let review = weight_of(profile.bands.review);
    let mut known: FxHashMap<Vector, Option<f64>> = FxHashMap::default();
    let mut edges = Vec::new();
    for (pair, vector) in kept {
        let weight = *known.entry(*vector).or_insert_with(|| {
            let weight = model.weight(*vector);
            let is_kept = profile.veto(*vector).is_none_or(|veto| veto.lacking || veto.related);
            (weight >= review && is_kept).then_some(weight)
        });
        if let Some(weight) = weight {
            let (left, right) = unpack(*pair);
            edges.push(Edge { left, right, vector: *vector, weight });
        }
    }
    strongest_first(&mut edges);
    edges
}

/// Equal ones in the order of their records.
pub(crate) fn strongest_first(edges: &mut [Edge]) {
    edges.sort_unstable_by(|a, b| {
        b.weight.total_cmp(&a.weight).then((a.left, a.right).cmp(&(b.left, b.right)))
    });
}

pub(crate) fn unite(
    comparer: &Comparer<'_>,
    blocker: &Blocker<'_>,
    model: &Model,
    edges: &[Edge],
    decisions: &Decisions,
) -> Clusters {
    let profile = comparer.profile();
    let merge = weight_of(profile.bands.merge);
    let is_strong = |edge: &&Edge| edge.weight >= merge && profile.veto(edge.vector).is_none();
    let mut strong: Vec<Edge> = edges.iter().filter(is_strong).copied().collect();
    let mut across = |left: Id, right: Id| {
        if blocker.is_excluded(left, right) {
            return Across::Veto("one source without duplicates".into());
        }
        let vector = comparer.vector(left, right);
        match profile.conflict(vector) {
            Some(veto) => Across::Veto(veto.name.clone()),
            None => Across::Weight(model.weight(vector)),
        }
    };
    cluster::cluster(comparer.table().len(), &mut strong, decisions, &mut across)
}

#[cfg(test)]
mod tests;
