//! Why are two records one, or not?
//!
//! For any two records, proposed or not: every comparison with its level, what it weighs, what
//! both sides say, the veto if there is one, the sum, and where the bands lie.

use super::block::Blocker;
use super::compare::Comparer;
use super::feature::Id;
use super::profile::Bands;
use super::score::{Model, probability, weight_of};

/// One comparison of an explained pair.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Comparison {
    pub name: String,
    pub level: String,
    /// Evidence in bits. Of two comparisons that depend on each other the first has that of both.
    pub bits: f64,
    /// The comparison it was weighed together with.
    pub with: Option<String>,
    pub left: Vec<String>,
    pub right: Vec<String>,
}

/// What becomes of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Band {
    Merge,
    Review,
    Apart,
}

impl Band {
    pub fn of(weight: f64, bands: Bands) -> Self {
        if weight >= weight_of(bands.merge) {
            Self::Merge
        } else if weight >= weight_of(bands.review) {
            Self::Review
        } else {
            Self::Apart
        }
    }
}

/// All that can be said about a pair.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Explanation {
    pub comparisons: Vec<Comparison>,
    /// What else the pair could be: the likeliest rival, against which all bits are counted.
    pub rival: String,
    /// What the shares of "same" and of the rivals among the proposed pairs are worth.
    pub prior: f64,
    pub weight: f64,
    pub probability: f64,
    pub veto: Option<String>,
    /// Rules under which both have a key in common.
    pub shared_keys: Vec<String>,
    pub merge_from: f64,
    pub review_from: f64,
    pub band: Band,
}

/// Explains a pair of records.
pub fn explain(
    comparer: &Comparer<'_>,
    blocker: &Blocker<'_>,
    model: &Model,
    left: Id,
    right: Id,
) -> Explanation {
    let profile = comparer.profile();
    let table = comparer.table();
    let vector = comparer.vector(left, right);
    let verdict = model.verdict(vector);
    let contributions = &verdict.parts;
    let values =
        |record, feature: &str| table.values(record, feature).into_iter().map(str::to_owned).collect();
    let comparisons = profile
        .compare
        .iter()
        .enumerate()
        .map(|(at, compare)| {
            let own = contributions.iter().find(|(first, _, _)| *first == at);
            let partner = own.and_then(|(_, second, _)| *second).or_else(|| {
                contributions.iter().find(|(_, second, _)| *second == Some(at)).map(|(first, _, _)| *first)
            });
            Comparison {
                name: compare.name.to_string(),
                level: compare.level_name(compare.slot.level(vector)).to_owned(),
                bits: own.map_or(0.0, |(_, _, bits)| *bits),
                with: partner.map(|partner| profile.compare[partner].name.to_string()),
                left: values(left, &compare.feature),
                right: values(right, &compare.feature),
            }
        })
        .collect();
    let excluded = blocker.is_excluded(left, right).then(|| "one source without duplicates".to_owned());
    let found = profile.veto(vector);
    let veto = excluded.clone().or_else(|| found.map(|veto| veto.name.to_string()));
    let weight = verdict.weight;
    let band = match (Band::of(weight, profile.bands), found) {
        _ if excluded.is_some() => Band::Apart,
        (band, None) => band,
        (Band::Merge | Band::Review, Some(veto)) if veto.lacking => Band::Review,
        _ => Band::Apart,
    };
    Explanation {
        comparisons,
        rival: profile.rivals.get(verdict.rival).map_or_else(String::new, ToString::to_string),
        prior: verdict.prior,
        weight,
        probability: probability(weight),
        veto,
        shared_keys: blocker.shared_rules(left, right),
        merge_from: weight_of(profile.bands.merge),
        review_from: weight_of(profile.bands.review),
        band,
    }
}
