//! A model as people read it.
//!
//! ```toml
//! profile = "instance"
//! scale = 0.8
//!
//! [shares]
//! same = 0.3
//! edition = 0.2
//!
//! [[comparison]]
//! of = ["year"]
//! [comparison.levels]
//! same = [0.93, 0.05]
//! ```
//!
//! The numbers of a level are chances, of "same" first and then of the rivals in the order of the
//! profile, as there. What they weigh follows from them. How rare words are is left out: it is
//! counted from the records.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Deserialize;

use super::{Factor, Model};
use crate::compare::Crowded;
use crate::profile::Profile;

/// Why a text is no model of a profile.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    #[error("{0}")]
    Syntax(String),
    #[error("the model is of profile `{found}`, and not of `{expected}`; train it again")]
    Profile { found: String, expected: String },
    #[error("the model has no {0}; train it again")]
    Missing(String),
    #[error("the chances of {0} are not one between 0 and 1 for each of \"same\" and the rivals")]
    Chances(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    profile: String,
    #[serde(default)]
    vectors: usize,
    #[serde(default)]
    rounds: usize,
    scale: f64,
    shares: BTreeMap<String, f64>,
    #[serde(default)]
    comparison: Vec<RawComparison>,
    #[serde(default)]
    crowded: BTreeMap<String, Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawComparison {
    of: Vec<String>,
    levels: BTreeMap<String, Vec<f64>>,
}

impl Model {
    /// Writes what was learned with the names that the profile gives.
    pub fn to_toml(&self, profile: &Profile) -> String {
        let mut out = String::new();
        let name = |text: &str| toml::Value::from(text).to_string();
        // Writing to a string does not fail.
        let _ = writeln!(out, "# Chances by level: of records that are one, then of each rival.");
        let _ = writeln!(
            out,
            "profile = {}\nvectors = {}\nrounds = {}\nscale = {:?}",
            name(&profile.name),
            self.vectors,
            self.rounds,
            self.scale
        );
        let _ = writeln!(out, "\n[shares]");
        for (hypothesis, share) in profile.hypotheses().zip(&self.shares) {
            let _ = writeln!(out, "{} = {share:?}", name(hypothesis));
        }
        for factor in &self.factors {
            let of: Vec<String> = comparisons(factor).map(|at| name(&profile.compare[at].name)).collect();
            let _ = writeln!(out, "\n[[comparison]]\nof = [{}]\n[comparison.levels]", of.join(", "));
            for (at, level) in places(profile, factor) {
                let chances: Vec<String> =
                    factor.chances.iter().map(|list| format!("{:?}", list[at])).collect();
                let _ = writeln!(out, "{} = [{}]", name(&level), chances.join(", "));
            }
        }
        if !self.crowded.is_empty() {
            let _ = writeln!(out, "\n# Identifiers that too many records carry.\n[crowded]");
            for (feature, values) in &self.crowded {
                let values: Vec<String> = values.iter().map(|value| name(value)).collect();
                let _ = writeln!(out, "{} = [{}]", name(feature), values.join(", "));
            }
        }
        out
    }

    /// Reads what [`to_toml`](Self::to_toml) wrote, or a person changed.
    pub fn from_toml(text: &str, profile: &Profile) -> Result<Self, ModelError> {
        let raw: Raw = toml::from_str(text).map_err(|error| ModelError::Syntax(error.to_string()))?;
        if *raw.profile != *profile.name {
            return Err(ModelError::Profile { found: raw.profile, expected: profile.name.to_string() });
        }
        let is_chance = |chance: f64| (0.0..=1.0).contains(&chance);
        let mut model = Self::expected(profile);
        (model.vectors, model.rounds, model.scale) = (raw.vectors, raw.rounds, raw.scale);
        for (hypothesis, share) in profile.hypotheses().zip(&mut model.shares) {
            let found = raw.shares.get(hypothesis).copied();
            *share = found.ok_or_else(|| ModelError::Missing(format!("share of `{hypothesis}`")))?;
            if !is_chance(*share) || *share == 0.0 {
                return Err(ModelError::Chances(format!("`{hypothesis}`")));
            }
        }
        let expected = model.factors.clone();
        for (factor, expected) in model.factors.iter_mut().zip(&expected) {
            let of: Vec<&str> = comparisons(factor).map(|at| &*profile.compare[at].name).collect();
            let own = raw.comparison.iter().find(|comparison| comparison.of == of);
            let own = own.ok_or_else(|| ModelError::Missing(format!("comparison `{}`", of.join("`, `"))))?;
            for (at, level) in places(profile, factor) {
                let told = || format!("level `{level}` of `{}`", of.join("`, `"));
                let chances = own.levels.get(&level).ok_or_else(|| ModelError::Missing(told()))?;
                if chances.len() != factor.chances.len() || !chances.iter().all(|chance| is_chance(*chance)) {
                    return Err(ModelError::Chances(told()));
                }
                for (list, chance) in factor.chances.iter_mut().zip(chances) {
                    list[at] = *chance;
                }
            }
            factor.weigh(raw.scale);
            factor.bound(expected);
        }
        let boxed = |values: Vec<String>| values.into_iter().map(String::into_boxed_str).collect();
        model.crowded = raw
            .crowded
            .into_iter()
            .map(|(feature, values)| (feature.into(), boxed(values)))
            .collect::<Crowded>();
        Ok(model)
    }
}

fn comparisons(factor: &Factor) -> impl Iterator<Item = usize> {
    std::iter::once(factor.first).chain(factor.second)
}

/// The places of a factor's lists with the names of their levels; "missing" alone weighs nothing.
fn places(profile: &Profile, factor: &Factor) -> Vec<(usize, String)> {
    let level = |comparison: usize, level: usize| profile.compare[comparison].level_name(level as u8);
    let all = 1..factor.size();
    all.map(|at| {
        let name = match factor.second {
            None => level(factor.first, at).to_owned(),
            Some(second) => {
                format!("{} and {}", level(factor.first, at / factor.width), level(second, at % factor.width))
            }
        };
        (at, name)
    })
    .collect()
}
